/* A warp scheduler on one SM: its state, and the calls of its functions. All calls of a policy's
 * functions are in this file and agent.c. A function that the policy does not have gets the default
 * that the interface defines. */
#ifndef TYTO_SCHED_AGENT_H
#define TYTO_SCHED_AGENT_H

#include "sched/call.h"
#include "sched/greedy.h"
#include "sched/registry.h"
#include "sched/state.h"
#include "tyto/policy.h"

typedef struct SchedAgent {
    const TytoPolicy *policy; /* functions of the chosen policy */
    void *state;              /* state of this SM: bytes of `memory` */
    Greedy *greedy;    /* same as `state` if the policy is built in and needs only a Greedy; it is
                          then called inline; else NULL */
    bool limits;       /* it allows only some warps to issue or load; the set may change over
                          time */
    bool sees_stalls;  /* it wants to know which warps find which units full (TYTO_NEEDS_STALLS) */
    bool shapes_l1d;   /* it decides what happens to lines of the L1D */
    uint64_t paused;   /* warps of CTAs that the CTA scheduler has paused */
    uint64_t events;   /* events that the policy wants */
    SchedState memory; /* owned */
    SchedCall *call;   /* call in progress; borrowed, or `own` */
    SchedCall own;     /* used if the caller gave no SchedCall */
    const SchedPolicy *chosen; /* borrowed */
} SchedAgent;

/* Allocates the state; `view` must have the machine's sizes. Calls are recorded in `call`, which
 * must outlive the agent; NULL: not wanted. The agent must not be moved in memory. */
void sched_agent_init(SchedAgent *agent, const SchedPolicy *chosen, const TytoSmView *view,
                      SchedCall *call);
void sched_agent_free(SchedAgent *agent);

/* Starts a kernel: zeroes the state and calls the policy's start function. */
void sched_agent_start(SchedAgent *agent, const TytoSmView *view);

/* Lets the policy report its statistics. */
void sched_agent_report(SchedAgent *agent, const TytoSmView *view, const TytoReport *out);

static inline bool sched_agent_wants(const SchedAgent *agent, TytoEventKind kind) {
    return agent->events & TYTO_WANTS(kind);
}

/* From now on exactly these warps are paused. */
static inline void sched_agent_pause(SchedAgent *agent, uint64_t warps) {
    agent->paused = warps;
    agent->limits = warps || agent->policy->may_issue || agent->policy->may_load;
}

/* Whether the policy wants to know the elapsed time. */
static inline bool sched_agent_hears_time(const SchedAgent *agent) {
    return agent->policy->elapsed != NULL;
}

/* Whether its SM must run every step completely, even if only the load/store unit has work. Such a
 * policy needs current information about full units, and its wrong answers must be detected. */
static inline bool sched_agent_always_steps(const SchedAgent *agent) {
    return sched_agent_hears_time(agent) || agent->sees_stalls || agent->shapes_l1d;
}

/* Whether the policy has written only to its own state. If not, writes an explanation to `text` (of
 * `size` bytes). */
void sched_agent_explain_overrun(const SchedAgent *agent, const TytoSmView *view, char *text,
                                 size_t size);
static inline bool sched_agent_keeps_to_its_state(const SchedAgent *agent, const TytoSmView *view,
                                                  char *text, size_t size) {
    if (sched_state_is_whole(&agent->memory, view->cycle)) return true;
    sched_agent_explain_overrun(agent, view, text, size);
    return false;
}

/* Whether its picks need no check. */
static inline bool sched_agent_is_trusted(const SchedAgent *agent) { return agent->greedy != NULL; }

static inline int sched_agent_pick(SchedAgent *agent, const TytoSmView *view, int scheduler,
                                   uint64_t ready) {
    if (agent->greedy) return greedy_pick(agent->greedy, view, scheduler, ready);
    sched_call_begin(agent->call, SCHED_CALL_pick, view->cycle);
    int warp = agent->policy->pick(agent->state, view, scheduler, ready);
    sched_call_end(agent->call);
    return warp;
}

static inline uint64_t sched_agent_may_load(SchedAgent *agent, const TytoSmView *view) {
    if (!agent->policy->may_load) return ~UINT64_C(0);
    sched_call_begin(agent->call, SCHED_CALL_may_load, view->cycle);
    uint64_t warps = agent->policy->may_load(agent->state, view);
    sched_call_end(agent->call);
    return warps;
}

static inline uint64_t sched_agent_may_issue(SchedAgent *agent, const TytoSmView *view) {
    if (!agent->policy->may_issue) return ~agent->paused;
    sched_call_begin(agent->call, SCHED_CALL_may_issue, view->cycle);
    uint64_t warps = agent->policy->may_issue(agent->state, view);
    sched_call_end(agent->call);
    return warps & ~agent->paused;
}

/* If the policy only needs to know which warp issued, records that and returns true. */
static inline bool sched_agent_notes(SchedAgent *agent, int scheduler, int warp) {
    if (agent->greedy) greedy_note(agent->greedy, scheduler, warp);
    return agent->greedy != NULL;
}

/* Reports an issue to the policy; fills in the size of `issue`. */
static inline void sched_agent_issued(SchedAgent *agent, const TytoSmView *view, TytoIssue *issue) {
    if (!agent->policy->issued || sched_agent_notes(agent, issue->scheduler, issue->warp)) return;
    issue->size = sizeof *issue;
    sched_call_begin(agent->call, SCHED_CALL_issued, view->cycle);
    agent->policy->issued(agent->state, view, issue);
    sched_call_end(agent->call);
}

/* Reports an event to the policy if it wants it; fills in the size of `event`. */
static inline void sched_agent_event(SchedAgent *agent, const TytoSmView *view, TytoEvent *event) {
    if (!sched_agent_wants(agent, event->kind)) return;
    event->size = sizeof *event;
    sched_call_begin(agent->call, SCHED_CALL_event, view->cycle);
    agent->policy->event(agent->state, view, event);
    sched_call_end(agent->call);
}

static inline void sched_agent_elapsed(SchedAgent *agent, const TytoSmView *view, uint64_t count) {
    if (!agent->policy->elapsed) return;
    sched_call_begin(agent->call, SCHED_CALL_elapsed, view->cycle);
    agent->policy->elapsed(agent->state, view, count);
    sched_call_end(agent->call);
}

/* Asks the policy what happens to the line of a miss. The answer may be invalid. */
TytoInsertion sched_agent_insert(SchedAgent *agent, const TytoSmView *view, const TytoMiss *miss);

/* Asks the policy which line is replaced for a miss; TYTO_ANY_LINE: the cache chooses. */
int sched_agent_victim(SchedAgent *agent, const TytoSmView *view, const TytoMiss *miss,
                       const TytoLines *lines);

/* Whether the policy looks at only some warps. */
static inline bool sched_agent_looks(const SchedAgent *agent) {
    return agent->policy->looks_at != NULL;
}

static inline uint64_t sched_agent_looks_at(SchedAgent *agent, const TytoSmView *view) {
    sched_call_begin(agent->call, SCHED_CALL_looks_at, view->cycle);
    uint64_t warps = agent->policy->looks_at(agent->state, view);
    sched_call_end(agent->call);
    return warps;
}

/* Whether the policy reports in advance when its choice will change. */
static inline bool sched_agent_foresees(const SchedAgent *agent) {
    return agent->policy->next_change != NULL;
}

static inline uint64_t sched_agent_next_change(SchedAgent *agent, const TytoSmView *view) {
    if (!agent->policy->next_change) return UINT64_MAX;
    sched_call_begin(agent->call, SCHED_CALL_next_change, view->cycle);
    uint64_t cycles = agent->policy->next_change(agent->state, view);
    sched_call_end(agent->call);
    return cycles;
}

#endif
