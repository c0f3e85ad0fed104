/* An SM's record: its core, and the parts that it has with every core. Cores include this file;
 * others use sm.h. */
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

/* The first cycle that is not counted yet. */
typedef struct SmCycles {
    uint64_t settled;  /* by the core, and for refusals of the L1D */
    uint64_t resident; /* for the numbers of resident CTAs and warps */
} SmCycles;

enum { SM_HOST_LINE = 64 /* bytes that most hosts' caches fetch at once; affects only layout */ };

/* In each record, the fields that a step of a quiet SM reads come first, so that few lines of the
 * host's cache are needed. */
struct Sm {
    alignas(SM_HOST_LINE) SmCycles cycles;
    bool is_quiet;   /* only the load/store unit has work, until it, an instruction line or a CTA
                        brings more; no instruction has failed */
    bool foresees;   /* its policy reports in advance when its choice will change */
    bool has_agents; /* sm/agent.h */
    const SmCore *core;
    void *record; /* the core's record */
    SmContext context;
    alignas(SM_HOST_LINE) SmLsu lsu;
    alignas(SM_HOST_LINE) SmL1d l1d;
    alignas(SM_HOST_LINE) SmPort port;
    SmBulk bulk;
    SmRemote remote;
    SmProducts products;
};

/* Accounts for the cycles before `cycle` as cycles in which nothing has changed. */
static inline void sm_count_cycles(Sm *sm, uint64_t cycle) {
    if (cycle <= sm->cycles.settled) return;
    uint64_t cycles = cycle - sm->cycles.settled;
    sm->cycles.settled = cycle;
    sm->core->count_cycles(sm, cycles);
}

/* Warps that have exited and have nothing in flight. */
static inline uint64_t sm_retirable(const Sm *sm) {
    return sm->context.view.exited & sm->context.warps.drained;
}
/* Counts the cycles before `cycle` with the current residents, which are about to change. */
void sm_count_residents(Sm *sm, uint64_t cycle);
/* Retires warps, which must be retirable, and each CTA with its last warp. */
void sm_retire(Sm *sm, uint64_t warps);

/* Sets the stall reasons that are the same for every core: of warps that issued (and of the warps
 * in `paying`, which take further issue slots), and of warps that wait in SmWarps. */
void sm_take_warp_reasons(SmStallReasons *reasons, uint64_t *left, const SmContext *context,
                          uint64_t paying);
/* Reports the warps whose stall reason has changed to the profile, which must exist. `now`: why
 * each warp waits, after the core's step in this cycle. */
void sm_note_stall_reasons(SmContext *context, SmStallReasons now);

/* The next known cycle in which something happens in the parts that cores share, if there is no
 * work before; UINT64_MAX: none. */
uint64_t sm_next_event(Sm *sm);

/* Steps the agents of the SM; called right after the load/store unit. */
static inline void sm_step_agents(Sm *sm) {
    if (__builtin_expect(sm->has_agents, false))
        agents_step(&sm->port.agents, &sm->context, &sm->port);
}

/* Lets later SMs issue, if several threads step the SMs. */
static inline void sm_tell_issued(const Sm *sm) {
    const SmEnvironment *env = &sm->context.env;
    if (__builtin_expect(env->order != NULL, false)) order_issued(env->order, env->index);
}

#endif
