/* What is resident: CTAs and warps from launch to retirement, and what each warp has under way or
 * waits for beyond its registers. A warp that has exited retires when nothing of it is under way
 * any more, its stores' acknowledgements included where the machine has it so. */
#ifndef TYTO_SM_WARPS_H
#define TYTO_SM_WARPS_H

#include "base/bits.h"
#include "isa/source.h"
#include "sm/copies.h"
#include "sm/inst.h"
#include "tyto/policy.h"

typedef struct SmContext SmContext; /* sm/context.h, which holds the record below */
typedef struct SmGrid SmGrid;       /* sm/grid.h */

typedef struct SmWarp {
    SourceWarp *handle; /* as its source knows it */
    SmGrid *grid;
    uint32_t in_flight; /* instructions issued and not complete */
    uint32_t stores;    /* accesses of the slot's stores whose acknowledgement is still to come */
    uint32_t atomics;   /* atomic replies still to come */
    uint16_t registers; /* of each of its threads */
    uint16_t wanted;    /* those that it waits for; 0: it waits for none */
    uint8_t cta_slot;
    uint8_t index;            /* in its CTA */
    bool is_fence_for_stores; /* the last fence: reaches beyond the CTA */
    SmCopies copies;          /* asynchronous ones */
    SmCopies products;        /* of wgmma: their groups */
    uint32_t try_pc;          /* mbarrier.try_wait that it waits in, ... */
    uint32_t try_lanes;       /* ... its lanes, ... */
    uint64_t try_until;       /* ... and the cycle in which it goes on in any case */
    uint64_t issued_then;     /* instructions, when a look for deadlocks came last */
} SmWarp;

typedef struct SmCta {
    uint64_t index; /* in the grid */
    SmGrid *grid;
    uint32_t live;      /* warps that have not retired */
    uint32_t spare;     /* registers that its warps have given back, of a warp's threads each */
    bool has_triggered; /* it has let grids that depend on its own begin */
    uint8_t first_warp; /* slot of its warp 0 */
} SmCta;

/* Written by warps.c alone. */
typedef struct SmWarps {
    uint64_t drained; /* of warps that have exited: nothing in flight, and no acknowledgement to
                         come */
    uint64_t held;    /* warps that issue nothing until one of the next eight has ended */
    uint64_t fenced;  /* a memory fence waits */
    uint64_t atomic_waits;   /* atomics must be answered first */
    uint64_t load_waits;     /* a load must end first */
    uint64_t copy_waits;     /* asynchronous copies must end first */
    uint64_t phase_waits;    /* the phase of an mbarrier, or a wait's limit, must end first */
    uint64_t product_waits;  /* products of a warpgroup must end first */
    uint64_t register_waits; /* its CTA must have more registers first */
    uint64_t grid_waits;     /* grids that its own depends on must end first */
    bool awaits_stores;      /* a warp is not drained before its stores are acknowledged */
    bool atomics_block;      /* a warp issues nothing until its atomics are answered */
    uint64_t next_age;       /* of the next warp launched */
    uint64_t taken;          /* warp slots of resident CTAs */
    SmCta *ctas;             /* SM_MAX_CTAS of them */
    SmWarp warp[TYTO_MAX_WARPS];
} SmWarps;

void warps_init(SmWarps *warps, const SmConfig *config, Arena *arena);

/* ---- CTAs ---- */

/* First of `warps` warp slots in a row that no CTA has; -1: there are none. */
int warps_find_slots(const SmContext *sm, uint32_t warps);
/* Puts CTA `index` of the grid into the first free slot, which there must be; its warps. */
uint64_t warps_launch(SmContext *sm, SmGrid *grid, uint64_t index);
/* Tells the policy of it, once the other stages know the warps. */
void warps_notify_launch(SmContext *sm, uint64_t warps);
/* Retires warps that can, and CTAs with their last one. */
void warps_retire(SmContext *sm, uint64_t retiring);

/* ---- At issue ---- */

/* An instruction of the warp has issued. */
static inline void warps_issued(SmWarps *warps, int warp) { warps->warp[warp].in_flight++; }
/* And it makes accesses that its warp, or its end, waits for. */
void warps_await(SmWarps *warps, const SmInst *inst, const SmMemory *memory);
/* It makes these accesses: it is one of the load/store unit. */
static inline void warps_accesses(SmWarps *warps, const SmInst *inst, const SmMemory *memory) {
    if (memory->is_store | memory->is_atomic | inst->holds_warp) warps_await(warps, inst, memory);
}
/* A memory fence holds its warp until its loads are in and, where it reaches beyond the CTA, its
 * stores acknowledged. `has_pending`: registers of the warp have a result to come. */
void warps_fence(SmWarps *warps, int warp, bool is_for_cta, bool has_pending);
/* An asynchronous copy issues: what its SmInst.copy has to be. */
uint8_t warps_copy_issued(SmWarps *warps, int warp);
/* A copy is over; `copy` as warps_copy_issued gave it, 0: it is in no group. */
void warps_copy_done(SmWarps *warps, int warp, uint8_t copy);
/* cp.async.commit_group, wait_group or wait_all. */
void warps_copies(SmWarps *warps, int warp, const IsaInfo *info);
/* A product of a warpgroup issues: the place of its group, to be given back when it is over. */
uint8_t warps_product_issued(SmWarps *warps, int warp);
void warps_product_done(SmWarps *warps, int warp, uint8_t group);
/* wgmma.commit_group; and wait_group: the warp waits, as at a barrier, until at most the given
 * number of its groups are under way and its warpgroup has committed the others. */
void warps_products_commit(SmContext *sm, int warp);
void warps_products_wait(SmContext *sm, int warp, uint32_t pending);
/* setmaxnreg: the warp wants `registers` registers for each of its threads. A warp that wants more
 * waits until its CTA has them. Registers that a warp gives back go to those that wait, in the
 * order of their slots. */
void warps_set_registers(SmContext *sm, int warp, uint32_t registers);
/* griddepcontrol: the warp waits while what its grid depends on still runs; or its CTA lets grids
 * that depend on its own begin. */
void warps_dependency(SmContext *sm, int warp, IsaDependency what);
/* What the grid depends on has ended. */
void warps_end_grid_waits(SmContext *sm, SmGrid *grid);
/* An instruction for an mbarrier has executed at `pc`, by `lanes`. One that waits, and finds its
 * phase not complete, holds its warp for at most the given number of cycles. Another may end a
 * phase that warps of its CTA wait for. Returns the warps that go on, bit each. */
uint64_t warps_at_mbarrier(SmContext *sm, int warp, uint32_t pc, uint32_t lanes);
/* Something else than an instruction may have ended a phase that warps of this one's CTA wait for:
 * the limits of those that can go on are now. */
void warps_phase_changed(SmContext *sm, int warp);
/* Others may have let warps of the CTA in the slot go on: at a barrier, or at an mbarrier. */
void warps_look_again(SmContext *sm, uint32_t slot);
/* Lets those go on whose limit has come, bit each; and the cycle of the next limit, UINT64_MAX. */
uint64_t warps_end_tries(SmContext *sm);
uint64_t warps_next_try(const SmWarps *warps);
/* All threads of the warp have exited. */
void warps_exited(SmContext *sm, int warp);
/* A warp came to a barrier or exited: brings view.at_barrier of its CTA's warps up to date. */
void warps_update_barriers(SmContext *sm, int warp);

/* Warps that are held until memory has answered. */
static inline uint64_t warps_memory_waits(const SmWarps *warps) {
    return warps->held &
           ~(warps->phase_waits | warps->product_waits | warps->register_waits | warps->grid_waits);
}

/* ---- When something is over ---- */

static inline void warps_store_done(SmWarps *warps, int warp) { warps->warp[warp].stores--; }
static inline void warps_atomic_done(SmWarps *warps, int warp) { warps->warp[warp].atomics--; }
static inline void warps_wait_done(SmWarps *warps, int warp) { warps->warp[warp].in_flight--; }
/* An asynchronous copy, or a load that held its warp, has ended. True: the latter. */
bool warps_inst_ended(SmWarps *warps, const SmInst *inst);
/* The instruction has; the same answer. */
static inline bool warps_inst_done(SmWarps *warps, const SmInst *inst) {
    warps->warp[inst->warp].in_flight--;
    return inst->copy | inst->holds_warp && warps_inst_ended(warps, inst);
}
static inline void warps_note_drained(SmWarps *warps, int warp) {
    const SmWarp *w = &warps->warp[warp];
    bool awaits_stores = warps->awaits_stores & (w->stores != 0);
    warps->drained |= bits_if(!(w->in_flight | w->atomics) & !awaits_stores, warp);
}
/* Whether a warp that is held is held no longer. */
bool warps_let_go(SmWarps *warps, int warp, bool has_pending);
/* After one of those, of a warp that has exited or is held: the one may be drained, the other held
 * no longer, which is the answer. `has_pending` as in warps_fence. */
static inline bool warps_settle(SmWarps *warps, int warp, bool has_pending) {
    warps_note_drained(warps, warp);
    return warps->held >> warp & 1 && warps_let_go(warps, warp, has_pending);
}

#endif
