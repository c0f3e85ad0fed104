/* Per-instruction counts of an SM for a profile, and why each of its warps waits. Stages call the
 * functions below only if SmContext.profile is not NULL; otherwise the cost is one test of that
 * pointer.
 *
 * The stall reason of a warp changes rarely compared with the number of cycles. So the reasons of
 * all warps are numbers in bit planes (SmStallReasons), one word per bit. A few word operations per
 * step find the warps whose reason has changed, and only for those warps cycles are added. */
#ifndef TYTO_SM_PROFILE_H
#define TYTO_SM_PROFILE_H

#include "base/arena.h"
#include "partition/request.h"
#include "sm/inst.h"
#include "stats/profile.h"
#include "tyto/policy.h"

enum {
    SM_STALL_REASON_BITS = 5,
    SM_PROFILE_ROWS = 64 /* instructions per chunk */
};
_Static_assert(PROFILE_CAUSE_COUNT <= 1 << SM_STALL_REASON_BITS, "each cause has a number");

/* Why each warp waits: bit w of bit[b] is bit b of the cause of warp w. */
typedef struct SmStallReasons {
    uint64_t bit[SM_STALL_REASON_BITS];
} SmStallReasons;

/* Gives a constant cause to those of `warps` that have none yet. */
static inline __attribute__((always_inline)) void
stall_reasons_take(SmStallReasons *reasons, uint64_t *left, uint64_t warps, ProfileColumn cause) {
    warps &= *left;
    *left &= ~warps;
    for (int b = 0; b < SM_STALL_REASON_BITS; b++)
        if ((uint32_t)cause >> b & 1) reasons->bit[b] |= warps;
}

static inline ProfileColumn stall_reason_of(const SmStallReasons *reasons, int warp) {
    uint32_t cause = 0;
    for (int b = 0; b < SM_STALL_REASON_BITS; b++)
        cause |= (uint32_t)(reasons->bit[b] >> warp & 1) << b;
    return (ProfileColumn)cause;
}

/* A chunk of rows is allocated when the first of its instructions is counted, and then kept. */
typedef struct SmProfile {
    SmStallReasons reasons;
    uint64_t since[TYTO_MAX_WARPS];  /* first cycle in which the current reason held */
    uint32_t pc[TYTO_MAX_WARPS];     /* pc at which the warp waits */
    uint64_t divergent;              /* divergent branches of the SM so far */
    uint64_t has_issued;             /* warps that issued when the schedulers last picked */
    uint32_t issued[TYTO_MAX_WARPS]; /* pc of the instruction that the warp last issued */
    uint64_t *issue_cycle;           /* issue cycle of each instruction in flight, by its index */
    uint32_t *request_pc;            /* pc of each request in flight, by its index */
    MemOutcome *outcomes;            /* L2's outcome of each request, by its index */
    ProfileCounts **chunks;          /* by pc / SM_PROFILE_ROWS; NULL: nothing counted */
    uint32_t chunk_count;
    ProfileCounts nobody; /* events that no instruction caused */
} SmProfile;

SmProfile *sm_profile_new(uint32_t requests, Arena *arena);
void sm_profile_free(SmProfile *profile); /* NULL is allowed */
/* Starts a kernel of a program with `inst_count` instructions: clears everything. */
void sm_profile_start(SmProfile *profile, uint32_t inst_count);

ProfileCounts *sm_profile_new_chunk(SmProfile *profile, uint32_t chunk);
static inline ProfileCounts *sm_profile_row(SmProfile *profile, uint32_t pc) {
    if (pc == SM_NO_PC) return &profile->nobody;
    ProfileCounts *rows = profile->chunks[pc / SM_PROFILE_ROWS];
    if (!rows) rows = sm_profile_new_chunk(profile, pc / SM_PROFILE_ROWS);
    return &rows[pc % SM_PROFILE_ROWS];
}

static inline void sm_profile_count(SmProfile *profile, uint32_t pc, ProfileColumn column,
                                    uint64_t count) {
    sm_profile_row(profile, pc)->of[column] += count;
}

/* ---- Calls from stages ---- */

/* The warps wait at `pc` for instructions, from `cycle` on. */
void sm_profile_launched(SmProfile *profile, uint64_t warps, uint32_t pc, uint64_t cycle);
/* An instruction has issued; `divergent`: the SM's current count of divergent branches. */
void sm_profile_issued(SmProfile *profile, const SmInst *inst, uint64_t divergent);
/* An instruction that takes no issue slot has been executed. */
void sm_profile_passed(SmProfile *profile, uint32_t pc, uint32_t lanes, uint64_t divergent);
/* A warp took an issue slot for the instruction at `pc`, on a machine that issues its own
 * instructions. */
void sm_profile_slot(SmProfile *profile, int warp, uint32_t pc);
/* Stores the instruction's pc in its accesses. */
static inline void sm_profile_accesses(SmMemory *memory, uint32_t pc) {
    for (uint16_t i = 0; i < memory->count; i++)
        memory->access[i].pc = pc & SM_NO_PC;
}
/* The cause or the pc of one of these warps has changed; `pc`: of its next instruction. */
void sm_profile_move(SmProfile *profile, int warp, uint32_t pc, uint64_t cycle);
/* Counts the wait of these warps until `cycle`; they may retire now. */
void sm_profile_settle(SmProfile *profile, uint64_t warps, uint64_t cycle);
/* A shared-memory instruction left the latch; `memory` holds its cycles. */
void sm_profile_shared(SmProfile *profile, uint32_t pc, const SmMemory *memory);
/* An instruction has completed; `inst` is its record, `index` its index. */
void sm_profile_done(SmProfile *profile, const SmInst *inst, uint16_t index, uint64_t cycle);
/* A request of an instruction was sent; its last reply was received. */
void sm_profile_sent(SmProfile *profile, const MemRequest *request, uint32_t pc);
void sm_profile_answered(SmProfile *profile, const MemRequest *request, uint64_t cycle);

#endif
