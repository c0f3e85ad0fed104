/* An SM's record: its parts, which any core has, and the core. Cores include it; others see sm.h.
 */
#ifndef TYTO_SM_PARTS_H
#define TYTO_SM_PARTS_H

#include <stdalign.h>

#include "sm/bulk.h"
#include "sm/context.h"
#include "sm/core.h"
#include "sm/l1d.h"
#include "sm/lsu.h"
#include "sm/port.h"
#include "sm/remote.h"
#include "sm/products.h"

/* Up to which cycle, itself not included, cycles are counted. */
typedef struct SmCycles {
    uint64_t settled;  /* by the core, and refusals of the L1D */
    uint64_t resident; /* with the CTAs and warps that were resident */
} SmCycles;

enum { SM_HOST_LINE = 64 /* bytes that most hosts' caches fetch at once; only layout needs it */ };

/* In each record, what a step of a quiet SM looks at comes first, so that few lines of the host's
 * cache have to be there. */
struct Sm {
    alignas(SM_HOST_LINE) SmCycles cycles;
    bool is_quiet;   /* only the load/store unit has anything to do until it, a line of
                        instructions or a CTA brings more; its instructions have not failed */
    bool foresees;   /* its policy tells when it changes its mind */
    bool has_agents; /* sm/agent.h */
    const SmCore *core;
    void *record; /* the core's */
    SmContext context;
    alignas(SM_HOST_LINE) SmLsu lsu;
    alignas(SM_HOST_LINE) SmL1d l1d;
    alignas(SM_HOST_LINE) SmPort port;
    SmBulk bulk;
    SmRemote remote;
    SmProducts products;
};

/* Accounts the cycles up to, not including, `cycle` as ones in which nothing has changed. */
static inline void sm_count_cycles(Sm *sm, uint64_t cycle) {
    if (cycle <= sm->cycles.settled) return;
    uint64_t cycles = cycle - sm->cycles.settled;
    sm->cycles.settled = cycle;
    sm->core->count_cycles(sm, cycles);
}

/* Warps that have exited and have nothing under way. */
static inline uint64_t sm_retirable(const Sm *sm) {
    return sm->context.view.exited & sm->context.warps.drained;
}
/* Counts the cycles up to, not including, `cycle` with what is resident, which is about to change.
 */
void sm_count_residents(Sm *sm, uint64_t cycle);
/* Retires warps, which must be retirable, and CTAs with their last one. */
void sm_retire(Sm *sm, uint64_t warps);

/* The reasons that any core has: warps that issued (`paying`: and those that take further slots),
 * and what residency holds. */
void sm_take_warp_reasons(SmStallReasons *reasons, uint64_t *left, const SmContext *context,
                          uint64_t paying);
/* Reports to the profile, which must exist, the warps whose cause to wait has changed. `now` is why
 * each warp waits, after the core's turn in this cycle. */
void sm_note_stall_reasons(SmContext *context, SmStallReasons now);

/* The next cycle in which something is known to happen to what cores share, while nothing is to do;
 * UINT64_MAX. */
uint64_t sm_next_event(Sm *sm);

/* The agents of the SM make their step, right after the load/store unit. */
static inline void sm_step_agents(Sm *sm) {
    if (__builtin_expect(sm->has_agents, false))
        agents_step(&sm->port.agents, &sm->context, &sm->port);
}

/* Others may issue, where threads step the SMs. */
static inline void sm_tell_issued(const Sm *sm) {
    const SmEnvironment *env = &sm->context.env;
    if (__builtin_expect(env->order != NULL, false)) order_issued(env->order, env->index);
}

#endif
