/* Resident CTAs and warps, from launch to retirement, and what each warp has in flight or waits
 * for, apart from its registers. An exited warp retires when nothing of it is in flight any more,
 * including acknowledgements of its stores if the machine is so configured. */
#ifndef TYTO_SM_WARPS_H
#define TYTO_SM_WARPS_H

#include "base/bits.h"
#include "isa/source.h"
#include "sm/copies.h"
#include "sm/inst.h"
#include "tyto/policy.h"

typedef struct SmContext SmContext; /* sm/context.h; contains the record below */
typedef struct SmGrid SmGrid;       /* sm/grid.h */

typedef struct SmWarp {
    SourceWarp *handle; /* its handle in its source */
    SmGrid *grid;
    uint32_t in_flight; /* instructions that have issued and not completed */
    uint32_t stores;    /* accesses of the slot's stores that have not been acknowledged */
    uint32_t atomics;   /* atomic replies that have not arrived */
    uint16_t registers; /* registers of each of its threads */
    uint16_t wanted;    /* registers that it waits for; 0: none */
    uint8_t cta_slot;
    uint8_t index;            /* number in its CTA */
    bool is_fence_for_stores; /* its last fence reaches beyond the CTA */
    SmCopies copies;          /* asynchronous copies */
    SmCopies products;        /* products of wgmma, by group */
    uint32_t try_pc;          /* pc of the mbarrier.try_wait that it waits in */
    uint32_t try_lanes;       /* lanes of that instruction */
    uint64_t try_until;       /* cycle in which it continues in any case */
    uint64_t issued_then;     /* instructions it had issued at the last deadlock check */
} SmWarp;

typedef struct SmCta {
    uint64_t index; /* index in the grid */
    SmGrid *grid;
    uint32_t live;      /* warps that have not retired */
    uint32_t spare;     /* registers that its warps have released, counted per thread of a warp */
    bool has_triggered; /* it has let dependent grids begin */
    uint8_t first_warp; /* slot of its warp 0 */
} SmCta;

/* Written by warps.c alone. */
typedef struct SmWarps {
    uint64_t drained;       /* exited warps with nothing in flight and no acknowledgement pending */
    uint64_t held;          /* warps that issue nothing: the union of the next eight sets */
    uint64_t fenced;        /* a memory fence waits */
    uint64_t atomic_waits;  /* atomics must be answered */
    uint64_t load_waits;    /* a load must complete */
    uint64_t copy_waits;    /* asynchronous copies must complete */
    uint64_t phase_waits;   /* a phase of an mbarrier must end, or the wait must time out */
    uint64_t product_waits; /* products of a warpgroup must complete */
    uint64_t register_waits; /* its CTA must have more free registers */
    uint64_t grid_waits;     /* grids that its own depends on must end */
    bool awaits_stores;      /* a warp is not drained before its stores are acknowledged */
    bool atomics_block;      /* a warp issues nothing until its atomics are answered */
    uint64_t next_age;       /* age of the next warp launched */
    uint64_t taken;          /* warp slots of resident CTAs */
    SmCta *ctas;             /* SM_MAX_CTAS of them */
    SmWarp warp[TYTO_MAX_WARPS];
} SmWarps;

void warps_init(SmWarps *warps, const SmConfig *config, Arena *arena);

/* ---- CTAs ---- */

/* The first of `warps` consecutive free warp slots; -1: there are none. */
int warps_find_slots(const SmContext *sm, uint32_t warps);
/* Launches CTA `index` of the grid in the first free slot, which must exist. Returns its warps. */
uint64_t warps_launch(SmContext *sm, SmGrid *grid, uint64_t index);
/* Reports the launch to the policy, after the other stages know the warps. */
void warps_notify_launch(SmContext *sm, uint64_t warps);
/* Retires these warps, and each CTA with its last warp. */
void warps_retire(SmContext *sm, uint64_t retiring);

/* ---- At issue ---- */

/* Records that an instruction of the warp has issued. */
static inline void warps_issued(SmWarps *warps, int warp) { warps->warp[warp].in_flight++; }
/* Records accesses that the warp, or its retirement, waits for. */
void warps_await(SmWarps *warps, const SmInst *inst, const SmMemory *memory);
/* Records the accesses of a load/store instruction that has issued. */
static inline void warps_accesses(SmWarps *warps, const SmInst *inst, const SmMemory *memory) {
    if (memory->is_store | memory->is_atomic | inst->holds_warp) warps_await(warps, inst, memory);
}
/* Makes the warp wait at a memory fence until its loads have completed and, if the fence reaches
 * beyond the CTA, its stores are acknowledged. `has_pending`: registers of the warp wait for a
 * result. */
void warps_fence(SmWarps *warps, int warp, bool is_for_cta, bool has_pending);
/* Records that an asynchronous copy has issued. Returns the value for its SmInst.copy. */
uint8_t warps_copy_issued(SmWarps *warps, int warp);
/* Records that a copy has completed. `copy`: what warps_copy_issued returned; 0: it is in no
 * group. */
void warps_copy_done(SmWarps *warps, int warp, uint8_t copy);
/* Executes cp.async.commit_group, wait_group or wait_all. */
void warps_copies(SmWarps *warps, int warp, const IsaInfo *info);
/* Records that a product of a warpgroup has issued. Returns the place of its group, to be passed to
 * warps_product_done. */
uint8_t warps_product_issued(SmWarps *warps, int warp);
void warps_product_done(SmWarps *warps, int warp, uint8_t group);
/* wgmma.commit_group and wgmma.wait_group. At wait_group the warp waits, as at a barrier, until at
 * most the given number of its groups are in flight and its warpgroup has committed the others. */
void warps_products_commit(SmContext *sm, int warp);
void warps_products_wait(SmContext *sm, int warp, uint32_t pending);
/* setmaxnreg: sets the number of registers of each of the warp's threads. A warp that needs more
 * waits until its CTA has them. Released registers go to waiting warps, in the order of their
 * slots. */
void warps_set_registers(SmContext *sm, int warp, uint32_t registers);
/* griddepcontrol: the warp waits while grids that its grid depends on still run, or its CTA lets
 * dependent grids begin. */
void warps_dependency(SmContext *sm, int warp, IsaDependency what);
/* The grids that this grid depends on have ended. */
void warps_end_grid_waits(SmContext *sm, SmGrid *grid);
/* Handles an mbarrier instruction that `lanes` executed at `pc`. A wait whose phase is not complete
 * holds its warp for at most the given number of cycles. Other instructions may end a phase that
 * warps of the CTA wait for. Returns the warps that continue, one bit each. */
uint64_t warps_at_mbarrier(SmContext *sm, int warp, uint32_t pc, uint32_t lanes);
/* Something other than an instruction may have ended a phase that warps of this warp's CTA wait
 * for. Sets the time limit of the warps that can continue to the current cycle. */
void warps_phase_changed(SmContext *sm, int warp);
/* Another SM may have released warps of the CTA in the slot, at a barrier or an mbarrier. */
void warps_look_again(SmContext *sm, uint32_t slot);
/* Releases the warps whose limit has come and returns them, one bit each. warps_next_try returns
 * the cycle of the next limit; UINT64_MAX: none. */
uint64_t warps_end_tries(SmContext *sm);
uint64_t warps_next_try(const SmWarps *warps);
/* Records that all threads of the warp have exited. */
void warps_exited(SmContext *sm, int warp);
/* Updates view.at_barrier for the CTA of a warp that arrived at a barrier or exited. */
void warps_update_barriers(SmContext *sm, int warp);

/* Warps that are held for something else than memory or a barrier. */
static inline uint64_t warps_other_waits(const SmWarps *warps) {
    return warps->product_waits | warps->register_waits | warps->grid_waits;
}
/* Warps that are held until memory answers. */
static inline uint64_t warps_memory_waits(const SmWarps *warps) {
    return warps->held & ~(warps->phase_waits | warps_other_waits(warps));
}

/* ---- Completions ---- */

static inline void warps_store_done(SmWarps *warps, int warp) { warps->warp[warp].stores--; }
static inline void warps_atomic_done(SmWarps *warps, int warp) { warps->warp[warp].atomics--; }
static inline void warps_wait_done(SmWarps *warps, int warp) { warps->warp[warp].in_flight--; }
/* An asynchronous copy, or a load that held its warp, has completed. Returns true for the
 * latter. */
bool warps_inst_ended(SmWarps *warps, const SmInst *inst);
/* An instruction has completed; returns the same. */
static inline bool warps_inst_done(SmWarps *warps, const SmInst *inst) {
    warps->warp[inst->warp].in_flight--;
    return inst->copy | inst->holds_warp && warps_inst_ended(warps, inst);
}
static inline void warps_note_drained(SmWarps *warps, int warp) {
    const SmWarp *w = &warps->warp[warp];
    bool awaits_stores = warps->awaits_stores & (w->stores != 0);
    warps->drained |= bits_if(!(w->in_flight | w->atomics) & !awaits_stores, warp);
}
/* Returns whether a warp that was held may issue again. */
bool warps_let_go(SmWarps *warps, int warp, bool has_pending);
/* Called after one of these completions, for a warp that has exited or is held. An exited warp may
 * now be drained. Returns whether a held warp may issue again. `has_pending` as in warps_fence. */
static inline bool warps_settle(SmWarps *warps, int warp, bool has_pending) {
    warps_note_drained(warps, warp);
    return warps->held >> warp & 1 && warps_let_go(warps, warp, has_pending);
}

#endif
