/* What an SM counts of each instruction when a profile is wanted, and why each of its warps waits.
 * Stages call the functions below only where SmContext.profile is not NULL; otherwise they cost
 * only a look at that pointer.
 *
 * Why a warp waits changes seldom compared with the cycles that pass. So the causes of all warps
 * are kept as numbers whose bits are in planes (SmStallReasons), a word for each bit. A few
 * operations on words then find, in each step, the warps whose cause has changed, and only for
 * those are cycles added. */
#ifndef TYTO_SM_PROFILE_H
#define TYTO_SM_PROFILE_H

#include "base/arena.h"
#include "partition/request.h"
#include "sm/inst.h"
#include "stats/profile.h"
#include "tyto/policy.h"

enum {
    SM_STALL_REASON_BITS = 5,
    SM_PROFILE_ROWS = 64 /* instructions of a chunk */
};
_Static_assert(PROFILE_CAUSE_COUNT <= 1 << SM_STALL_REASON_BITS, "each cause has a number");

/* Why each warp waits: bit w of bit[b] is bit b of the cause of warp w. */
typedef struct SmStallReasons {
    uint64_t bit[SM_STALL_REASON_BITS];
} SmStallReasons;

/* Those of `warps` that have no cause yet get this one, a constant. */
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

/* A chunk of rows is made when the first of its instructions is counted, and kept. */
typedef struct SmProfile {
    SmStallReasons reasons;
    uint64_t since[TYTO_MAX_WARPS];  /* cycle from which on it holds */
    uint32_t pc[TYTO_MAX_WARPS];     /* where the warp waits */
    uint64_t divergent;              /* divergent branches of the SM so far */
    uint64_t has_issued;             /* warps that issued when the schedulers looked last */
    uint32_t issued[TYTO_MAX_WARPS]; /* pc of what it issued last */
    uint64_t *issue_cycle;           /* of each instruction under way, by its index */
    uint32_t *request_pc;            /* of each request under way, by its index */
    MemOutcome *outcomes;            /* what L2 found for it, likewise */
    ProfileCounts **chunks;          /* by pc / SM_PROFILE_ROWS; NULL: nothing counted */
    uint32_t chunk_count;
    ProfileCounts nobody; /* what no instruction caused */
} SmProfile;

SmProfile *sm_profile_new(uint32_t requests, Arena *arena);
void sm_profile_free(SmProfile *profile); /* NULL is allowed */
/* A kernel of a program of `inst_count` instructions begins: everything is 0. */
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

/* ---- What stages tell ---- */

/* The warps stand at `pc` from `cycle` on, waiting for instructions. */
void sm_profile_launched(SmProfile *profile, uint64_t warps, uint32_t pc, uint64_t cycle);
/* An instruction has issued; `divergent` is the SM's count of divergent branches now. */
void sm_profile_issued(SmProfile *profile, const SmInst *inst, uint64_t divergent);
/* One that takes no issue slot has been executed. */
void sm_profile_passed(SmProfile *profile, uint32_t pc, uint32_t lanes, uint64_t divergent);
/* A warp took an issue slot of a machine that issues instructions of its own, for the one at `pc`.
 */
void sm_profile_slot(SmProfile *profile, int warp, uint32_t pc);
/* Its accesses learn whose they are. */
static inline void sm_profile_accesses(SmMemory *memory, uint32_t pc) {
    for (uint16_t i = 0; i < memory->count; i++)
        memory->access[i].pc = pc & SM_NO_PC;
}
/* The cause or the place of one of these warps has changed; `pc` is of what it issues next. */
void sm_profile_move(SmProfile *profile, int warp, uint32_t pc, uint64_t cycle);
/* Counts until `cycle` how these warps stand, which may go now. */
void sm_profile_settle(SmProfile *profile, uint64_t warps, uint64_t cycle);
/* It went to shared memory, which it took for as many cycles as `memory` says. */
void sm_profile_shared(SmProfile *profile, uint32_t pc, const SmMemory *memory);
/* An instruction has ended; `inst` is its record, `index` its place. */
void sm_profile_done(SmProfile *profile, const SmInst *inst, uint16_t index, uint64_t cycle);
/* A request was sent for an instruction, and is answered. */
void sm_profile_sent(SmProfile *profile, const MemRequest *request, uint32_t pc);
void sm_profile_answered(SmProfile *profile, const MemRequest *request, uint64_t cycle);

#endif
