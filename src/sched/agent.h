/* A warp scheduler at work on one SM: its state, and the calls of its functions. Nothing else calls
 * them. A function that the policy does not have does what the interface says that it means. */
#ifndef TYTO_SCHED_AGENT_H
#define TYTO_SCHED_AGENT_H

#include "sched/call.h"
#include "sched/greedy.h"
#include "sched/registry.h"
#include "sched/state.h"
#include "tyto/policy.h"

typedef struct SchedAgent {
    const TytoPolicy *policy; /* the chosen one's functions */
    void *state;              /* of this SM: bytes of `memory` */
    Greedy *greedy;    /* `state`, of a policy of the table that is no more than that: it is asked
                          without a call; else NULL */
    bool limits;       /* it lets only some warps issue, or load: which ones may change with time */
    bool sees_stalls;  /* it wants to see who finds what full (TYTO_NEEDS_STALLS) */
    bool shapes_l1d;   /* it has a say in what becomes of lines of the L1D */
    uint64_t paused;   /* warps of CTAs that the CTA scheduler has paused */
    uint64_t events;   /* the policy's */
    SchedState memory; /* owned */
    SchedCall *call;   /* what is under way; borrowed, or `own` */
    SchedCall own;     /* of an agent without a caller's SchedCall */
    const SchedPolicy *chosen; /* borrowed */
} SchedAgent;

/* Memory for one state; `view` must have the machine's sizes. The calls are noted in `call`, which
 * must outlive the agent; NULL: not wanted. The agent must not move. */
void sched_agent_init(SchedAgent *agent, const SchedPolicy *chosen, const TytoSmView *view,
                      SchedCall *call);
void sched_agent_free(SchedAgent *agent);

/* Begins a kernel: zeroes the state and lets the policy start. */
void sched_agent_start(SchedAgent *agent, const TytoSmView *view);

/* The policy tells its numbers. */
void sched_agent_report(SchedAgent *agent, const TytoSmView *view, const TytoReport *out);

static inline bool sched_agent_wants(const SchedAgent *agent, TytoEventKind kind) {
    return agent->events & TYTO_WANTS(kind);
}

/* From now on these warps, and no others, are paused. */
static inline void sched_agent_pause(SchedAgent *agent, uint64_t warps) {
    agent->paused = warps;
    agent->limits = warps || agent->policy->may_issue || agent->policy->may_load;
}

/* Whether it hears of the time that passes. */
static inline bool sched_agent_hears_time(const SchedAgent *agent) {
    return agent->policy->elapsed != NULL;
}

/* Whether its SM does the whole of each step, even where only the load/store unit has work: for its
 * sake who finds what full is brought up to date, and its wrong answers are noticed. */
static inline bool sched_agent_always_steps(const SchedAgent *agent) {
    return sched_agent_hears_time(agent) || agent->sees_stalls || agent->shapes_l1d;
}

/* Whether it has written to its state alone; if not, `text` (of `size` bytes) names it. */
void sched_agent_explain_overrun(const SchedAgent *agent, const TytoSmView *view, char *text,
                                 size_t size);
static inline bool sched_agent_keeps_to_its_state(const SchedAgent *agent, const TytoSmView *view,
                                                  char *text, size_t size) {
    if (sched_state_is_whole(&agent->memory, view->cycle)) return true;
    sched_agent_explain_overrun(agent, view, text, size);
    return false;
}

/* Whether what it picks needs no check. */
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

/* Whether all that it wants to know of an instruction that has issued is whose it was: then it
 * knows now. */
static inline bool sched_agent_notes(SchedAgent *agent, int scheduler, int warp) {
    if (agent->greedy) greedy_note(agent->greedy, scheduler, warp);
    return agent->greedy != NULL;
}

/* Fills in the size of what it tells. */
static inline void sched_agent_issued(SchedAgent *agent, const TytoSmView *view, TytoIssue *issue) {
    if (!agent->policy->issued || sched_agent_notes(agent, issue->scheduler, issue->warp)) return;
    issue->size = sizeof *issue;
    sched_call_begin(agent->call, SCHED_CALL_issued, view->cycle);
    agent->policy->issued(agent->state, view, issue);
    sched_call_end(agent->call);
}

/* Fills in the size of what it tells. */
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

/* What becomes of the line of a miss: the policy's answer, which may be none that there is. */
TytoInsertion sched_agent_insert(SchedAgent *agent, const TytoSmView *view, const TytoMiss *miss);

/* Which of the lines goes for a miss; TYTO_ANY_LINE: the cache chooses. */
int sched_agent_victim(SchedAgent *agent, const TytoSmView *view, const TytoMiss *miss,
                       const TytoLines *lines);

/* The policy has warps of its own to look at; else it looks at all. */
static inline bool sched_agent_looks(const SchedAgent *agent) {
    return agent->policy->looks_at != NULL;
}

static inline uint64_t sched_agent_looks_at(SchedAgent *agent, const TytoSmView *view) {
    sched_call_begin(agent->call, SCHED_CALL_looks_at, view->cycle);
    uint64_t warps = agent->policy->looks_at(agent->state, view);
    sched_call_end(agent->call);
    return warps;
}

/* Whether it tells when it changes its mind. */
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
