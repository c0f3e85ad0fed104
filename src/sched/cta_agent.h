/* A CTA scheduler: its state, and the calls of its functions. All calls of a policy's functions are
 * in this file and cta_agent.c. A function that the policy does not have gets the default that the
 * interface defines. */
#ifndef TYTO_SCHED_CTA_AGENT_H
#define TYTO_SCHED_CTA_AGENT_H

#include "sched/call.h"
#include "sched/cta_policy.h"
#include "sched/state.h"

typedef struct CtaAgent {
    const TytoCtaPolicy *policy; /* functions of the chosen policy; never NULL */
    void *state;                 /* bytes of `memory` */
    SchedState memory;           /* owned */
    SchedCall *call;             /* call in progress; borrowed, or `own` */
    SchedCall own;               /* used if the caller gave no SchedCall */
    const CtaSched *chosen;      /* borrowed; NULL: CTAs are dealt to the SMs round robin, as many
                                    as fit */
} CtaAgent;

/* Allocates the state; `view` must have the machine's sizes. Calls are recorded in `call`, which
 * must outlive the agent; NULL: not wanted. The agent must not be moved in memory. */
void cta_agent_init(CtaAgent *agent, const CtaSched *chosen, const TytoGridView *view,
                    SchedCall *call);
void cta_agent_free(CtaAgent *agent);

/* Starts a kernel: zeroes the state and calls the policy's start function. */
void cta_agent_start(CtaAgent *agent, const TytoGridView *view);

uint32_t cta_agent_limit(CtaAgent *agent, const TytoGridView *view, uint32_t sm);
void cta_agent_dispatched(CtaAgent *agent, const TytoGridView *view, uint32_t sm);
void cta_agent_finished(CtaAgent *agent, const TytoGridView *view, uint32_t sm,
                        const TytoSmMeasurement *measured);
void cta_agent_report(CtaAgent *agent, const TytoGridView *view, const TytoReport *out);

/* Whether the policy chooses the SM. If so, cta_agent_choose sets *sm to its choice: a member of
 * `room`, or none. It returns false if the choice is neither or the policy has written past its
 * state, with an explanation (policy, cycle, error) in `text` (of `size` bytes). */
static inline bool cta_agent_chooses(const CtaAgent *agent) { return agent->policy->choose; }
bool cta_agent_choose(CtaAgent *agent, const TytoGridView *view, const TytoSmSet *room, int *sm,
                      char *text, size_t size);

/* Whether the policy chooses the CTA; and the CTA that it sends to an SM, which may be one that
 * cannot be dispatched. */
static inline bool cta_agent_orders(const CtaAgent *agent) { return agent->policy->order; }
uint64_t cta_agent_order(CtaAgent *agent, const TytoGridView *view, uint32_t sm);

/* SM cycles between samples that the policy wants of the SMs; 0: none. And one sample. */
uint64_t cta_agent_sample_every(CtaAgent *agent, const TytoGridView *view);
void cta_agent_sample(CtaAgent *agent, const TytoGridView *view);

/* Reports that a load of the SM has looked up a line in its L1D. */
void cta_agent_l1d_load(CtaAgent *agent, const TytoGridView *view, uint32_t sm, uint64_t address);
static inline bool cta_agent_wants_loads(const CtaAgent *agent) {
    return agent->policy->watched_sm;
}

#endif
