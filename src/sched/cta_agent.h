/* A CTA scheduler at work: its state, and the calls of its functions. Nothing else calls them. A
 * function that the policy does not have does what the interface says that it means. */
#ifndef TYTO_SCHED_CTA_AGENT_H
#define TYTO_SCHED_CTA_AGENT_H

#include "sched/call.h"
#include "sched/cta_policy.h"
#include "sched/state.h"

typedef struct CtaAgent {
    const TytoCtaPolicy *policy; /* the chosen one's functions; never NULL */
    void *state;                 /* bytes of `memory` */
    SchedState memory;           /* owned */
    SchedCall *call;             /* what is under way; borrowed, or `own` */
    SchedCall own;               /* of an agent without a caller's SchedCall */
    const CtaSched *chosen;      /* borrowed; NULL: CTAs go round the SMs, as many as fit */
} CtaAgent;

/* Memory for the state; `view` must have the machine's sizes. The calls are noted in `call`, which
 * must outlive the agent; NULL: not wanted. The agent must not move. */
void cta_agent_init(CtaAgent *agent, const CtaSched *chosen, const TytoGridView *view,
                    SchedCall *call);
void cta_agent_free(CtaAgent *agent);

/* Begins a kernel: zeroes the state and lets the policy start. */
void cta_agent_start(CtaAgent *agent, const TytoGridView *view);

uint32_t cta_agent_limit(CtaAgent *agent, const TytoGridView *view, uint32_t sm);
void cta_agent_dispatched(CtaAgent *agent, const TytoGridView *view, uint32_t sm);
void cta_agent_finished(CtaAgent *agent, const TytoGridView *view, uint32_t sm,
                        const TytoSmMeasurement *measured);
void cta_agent_report(CtaAgent *agent, const TytoGridView *view, const TytoReport *out);

/* Whether the policy chooses the SM. If so: its choice, a member of `room` or none, in *sm; false
 * when it is neither or the policy has written past its state, with policy, cycle and what is wrong
 * in `text` (of `size` bytes). */
static inline bool cta_agent_chooses(const CtaAgent *agent) { return agent->policy->choose; }
bool cta_agent_choose(CtaAgent *agent, const TytoGridView *view, const TytoSmSet *room, int *sm,
                      char *text, size_t size);

/* Whether the policy chooses the CTA; and the one that it sends to an SM, which may be none that
 * can go. */
static inline bool cta_agent_orders(const CtaAgent *agent) { return agent->policy->order; }
uint64_t cta_agent_order(CtaAgent *agent, const TytoGridView *view, uint32_t sm);

/* SM cycles until the policy wants to look at the SMs; 0: never. And its look. */
uint64_t cta_agent_sample_every(CtaAgent *agent, const TytoGridView *view);
void cta_agent_sample(CtaAgent *agent, const TytoGridView *view);

/* A load of the SM has looked for a line in its L1D. */
void cta_agent_l1d_load(CtaAgent *agent, const TytoGridView *view, uint32_t sm, uint64_t address);
static inline bool cta_agent_wants_loads(const CtaAgent *agent) {
    return agent->policy->watched_sm;
}

#endif
