/* State of a policy, and functions that are called rarely (see the header). */
#include "sched/agent.h"

#include <stdio.h>

#include "sched/policies.h"

static bool is_no_more_than_greedy(const TytoPolicy *policy) {
    return policy == &sched_gto || policy == &sched_lrr || policy == &sched_cggty ||
           policy == &sched_oldest || policy == &sched_youngest;
}

void sched_agent_init(SchedAgent *agent, const SchedPolicy *chosen, const TytoSmView *view,
                      SchedCall *call) {
    const TytoPolicy *policy = chosen->policy;
    size_t extra = policy->extra_bytes ? policy->extra_bytes(view, chosen->values) : 0;
    *agent = (SchedAgent){.policy = policy, .chosen = chosen};
    agent->call = call ? call : &agent->own;
    sched_state_init(&agent->memory, policy->state_bytes, extra, chosen->is_loaded);
    agent->state = agent->memory.bytes;
    agent->limits = policy->may_issue || policy->may_load;
    agent->sees_stalls = policy->needs & TYTO_NEEDS_STALLS;
    agent->shapes_l1d = policy->insert || policy->victim;
    agent->events = policy->events;
    if (is_no_more_than_greedy(policy)) agent->greedy = agent->state;
}

void sched_agent_free(SchedAgent *agent) { sched_state_free(&agent->memory); }

void sched_agent_explain_overrun(const SchedAgent *agent, const TytoSmView *view, char *text,
                                 size_t size) {
    snprintf(text, size,
             "warp scheduler %s: cycle %llu, SM %u: has written %s its state (state_bytes = %zu)",
             agent->chosen->text, (unsigned long long)view->cycle, view->sm,
             sched_state_overrun(&agent->memory), agent->policy->state_bytes);
}

void sched_agent_start(SchedAgent *agent, const TytoSmView *view) {
    sched_state_clear(&agent->memory);
    sched_agent_pause(agent, 0);
    if (!agent->policy->start) return;
    sched_call_begin(agent->call, SCHED_CALL_start, view->cycle);
    agent->policy->start(agent->state, view, agent->chosen->values);
    sched_call_end(agent->call);
}

TytoInsertion sched_agent_insert(SchedAgent *agent, const TytoSmView *view, const TytoMiss *miss) {
    if (!agent->policy->insert) return TYTO_INSERT_NORMAL;
    sched_call_begin(agent->call, SCHED_CALL_insert, view->cycle);
    TytoInsertion answer = agent->policy->insert(agent->state, view, miss);
    sched_call_end(agent->call);
    return answer;
}

int sched_agent_victim(SchedAgent *agent, const TytoSmView *view, const TytoMiss *miss,
                       const TytoLines *lines) {
    if (!agent->policy->victim) return TYTO_ANY_LINE;
    sched_call_begin(agent->call, SCHED_CALL_victim, view->cycle);
    int line = agent->policy->victim(agent->state, view, miss, lines);
    sched_call_end(agent->call);
    return line;
}

void sched_agent_report(SchedAgent *agent, const TytoSmView *view, const TytoReport *out) {
    if (!agent->policy->report) return;
    sched_call_begin(agent->call, SCHED_CALL_report, view->cycle);
    agent->policy->report(agent->state, view, out);
    sched_call_end(agent->call);
}
