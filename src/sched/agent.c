/* States of policies, and what is called seldom (see the header). */
#include "sched/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "sched/policies.h"

void *sched_state_new(size_t own_bytes, size_t extra_bytes, size_t *bytes) {
    bool is_absurd = extra_bytes > SIZE_MAX / 4; /* more than any host has; the sum must not wrap */
    *bytes = (size_t)bits_align_up(own_bytes, 64) + (is_absurd ? SIZE_MAX / 4 : extra_bytes);
    return base_alloc_lines(*bytes + 64);
}

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
    agent->state = sched_state_new(policy->state_bytes, extra, &agent->bytes);
    agent->limits = policy->may_issue || policy->may_load;
    agent->sees_stalls = policy->needs & TYTO_NEEDS_STALLS;
    agent->shapes_l1d = policy->insert || policy->victim;
    agent->events = policy->events;
    if (is_no_more_than_greedy(policy)) agent->greedy = agent->state;
}

void sched_agent_free(SchedAgent *agent) { free(agent->state); }

void sched_agent_start(SchedAgent *agent, const TytoSmView *view) {
    memset(agent->state, 0, agent->bytes);
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
