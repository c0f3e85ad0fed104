/* State and calls of a CTA scheduler (see the header). */
#include "sched/cta_agent.h"

#include <stdio.h>

void cta_agent_init(CtaAgent *agent, const CtaSched *chosen, const TytoGridView *view,
                    SchedCall *call) {
    const TytoCtaPolicy *policy = chosen ? chosen->policy : &cta_round_robin;
    size_t extra = policy->extra_bytes ? policy->extra_bytes(view, chosen->values) : 0;
    *agent = (CtaAgent){.policy = policy, .chosen = chosen};
    agent->call = call ? call : &agent->own;
    sched_state_init(&agent->memory, policy->state_bytes, extra, chosen && chosen->content);
    agent->state = agent->memory.bytes;
}

void cta_agent_free(CtaAgent *agent) { sched_state_free(&agent->memory); }

void cta_agent_start(CtaAgent *agent, const TytoGridView *view) {
    sched_state_clear(&agent->memory);
    if (!agent->policy->start) return;
    sched_call_begin(agent->call, SCHED_CALL_start, view->cycle);
    agent->policy->start(agent->state, view, agent->chosen->values);
    sched_call_end(agent->call);
}

uint32_t cta_agent_limit(CtaAgent *agent, const TytoGridView *view, uint32_t sm) {
    if (!agent->policy->limit) return view->capacity;
    sched_call_begin(agent->call, SCHED_CALL_limit, view->cycle);
    uint32_t ctas = agent->policy->limit(agent->state, view, sm);
    sched_call_end(agent->call);
    return ctas;
}

void cta_agent_dispatched(CtaAgent *agent, const TytoGridView *view, uint32_t sm) {
    if (!agent->policy->dispatched) return;
    sched_call_begin(agent->call, SCHED_CALL_dispatched, view->cycle);
    agent->policy->dispatched(agent->state, view, sm);
    sched_call_end(agent->call);
}

void cta_agent_finished(CtaAgent *agent, const TytoGridView *view, uint32_t sm,
                        const TytoSmMeasurement *measured) {
    if (!agent->policy->finished) return;
    sched_call_begin(agent->call, SCHED_CALL_finished, view->cycle);
    agent->policy->finished(agent->state, view, sm, measured);
    sched_call_end(agent->call);
}

void cta_agent_report(CtaAgent *agent, const TytoGridView *view, const TytoReport *out) {
    if (!agent->policy->report) return;
    sched_call_begin(agent->call, SCHED_CALL_report, view->cycle);
    agent->policy->report(agent->state, out);
    sched_call_end(agent->call);
}

bool cta_agent_choose(CtaAgent *agent, const TytoGridView *view, const TytoSmSet *room, int *sm,
                      char *text, size_t size) {
    sched_call_begin(agent->call, SCHED_CALL_choose, view->cycle);
    int chosen = *sm = agent->policy->choose(agent->state, view, room);
    sched_call_end(agent->call);
    const char *overrun = sched_state_overrun(&agent->memory);
    if (overrun) {
        snprintf(text, size,
                 "CTA scheduler %s: cycle %llu: has written %s its state (state_bytes = %zu)",
                 agent->chosen->text, (unsigned long long)view->cycle, overrun,
                 agent->policy->state_bytes);
        return false;
    }
    bool is_sm = chosen >= 0 && chosen < (int)view->sms;
    if (chosen == TYTO_NO_SM || (is_sm && tyto_sm_has(room, chosen))) return true;
    snprintf(text, size, "CTA scheduler %s: cycle %llu: chose SM %d for CTA %llu, which %s",
             agent->chosen->text, (unsigned long long)view->cycle, chosen,
             (unsigned long long)view->next, is_sm ? "has no room for it" : "is none");
    return false;
}

uint64_t cta_agent_order(CtaAgent *agent, const TytoGridView *view, uint32_t sm) {
    sched_call_begin(agent->call, SCHED_CALL_order, view->cycle);
    uint64_t cta = agent->policy->order(agent->state, view, sm);
    sched_call_end(agent->call);
    return cta;
}

uint64_t cta_agent_sample_every(CtaAgent *agent, const TytoGridView *view) {
    if (!agent->policy->sample_every) return 0;
    sched_call_begin(agent->call, SCHED_CALL_sample_every, view->cycle);
    uint64_t cycles = agent->policy->sample_every(agent->state, view);
    sched_call_end(agent->call);
    return cycles;
}

void cta_agent_sample(CtaAgent *agent, const TytoGridView *view) {
    sched_call_begin(agent->call, SCHED_CALL_sample, view->cycle);
    agent->policy->sample(agent->state, view);
    sched_call_end(agent->call);
}

void cta_agent_l1d_load(CtaAgent *agent, const TytoGridView *view, uint32_t sm, uint64_t address) {
    sched_call_begin(agent->call, SCHED_CALL_watched_sm, view->cycle);
    bool is_watched = agent->policy->watched_sm(agent->state) == (int)sm;
    sched_call_end(agent->call);
    if (!is_watched) return;
    sched_call_begin(agent->call, SCHED_CALL_l1d_load, view->cycle);
    agent->policy->l1d_load(agent->state, address);
    sched_call_end(agent->call);
}
