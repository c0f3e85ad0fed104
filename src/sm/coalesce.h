/* Coalescing: turns the addresses of a warp's lanes into the fewest accesses that cover them.
 *
 * An access lies within one segment. A segment is the L1D's fill unit (narrower for 1- and 2-byte
 * elements if the machine is so configured), or the bypass segment for accesses that bypass the
 * L1D. An access requests the sectors that lanes touch. Atomic operations on the same word become
 * separate accesses, one after the other.
 *
 * Local memory is laid out so that the words at one offset are contiguous across all threads.
 *
 * coalesce() depends on its arguments only and keeps no state between instructions. */
#ifndef TYTO_SM_COALESCE_H
#define TYTO_SM_COALESCE_H

#include "isa/info.h"
#include "partition/request.h"
#include "sm/inst.h"

/* What coalescing needs from the machine's configuration; never changes. */
typedef struct SmCoalescer {
    const SmLsuConfig *lsu;
    const SmSharedConfig *shared;
    uint32_t l2_sector_bytes; /* the size of the parts that a partition splits requests into */
    uint32_t least_bytes;     /* the smallest size of an access */
    uint32_t l1d_bytes;       /* fill unit of the L1D; this and the next two are powers of two */
    uint32_t l1c_bytes;
    uint32_t l1t_bytes;
    uint32_t sm, sms;    /* this SM's number, and the number of SMs */
    bool has_word_banks; /* shared memory: 32 banks of 4 bytes, for all lanes at once */
    bool l1_takes_hints; /* whether the L1D takes hints, as in sm_config.h */
    bool l2_takes_hints; /* the same for L2; the owner sets it */
} SmCoalescer;

/* Addresses of a grid's local memory and parameters, as caches and DRAM see them. */
typedef struct SmLayout {
    uint64_t local_base, parameter_base; /* addresses */
    uint32_t cta_threads;                /* threads of a CTA, rounded up to whole warps */
    uint64_t local_threads; /* threads of the grid that can be resident on the whole machine */
} SmLayout;

/* A memory instruction that has just executed. */
typedef struct SmOperation {
    const SmLayout *layout; /* of the instruction's grid */
    const IsaInfo *info;
    const uint64_t *address; /* of each lane, in the instruction's own state space */
    const uint8_t *space;    /* generic accesses: PtxSpace of each lane */
    uint32_t lanes;          /* lanes that executed it */
    uint32_t pattern;        /* WarpStep.pattern */
    uint32_t warp;           /* its warp's number in the CTA */
    uint32_t cta_slot;       /* the CTA's slot */
} SmOperation;

void coalescer_init(SmCoalescer *coalescer, const SmConfig *config, uint32_t l2_sector_bytes,
                    uint32_t sm, uint32_t sms);
/* The layout of a grid with at most `cta_limit` CTAs resident per SM. Grids with different `number`
 * get separate memory. */
SmLayout coalesce_layout(const SmCoalescer *coalescer, uint32_t cta_warps, uint32_t cta_limit,
                         uint32_t number);

/* ---- Patterns (WarpStep.pattern) ---- */

/* Whether the pattern of both halves is known. */
static inline bool coalesce_knows(uint32_t pattern) {
    const uint32_t half = ISA_HALF_RUN | ISA_HALF_ONE;
    return pattern & half && pattern >> ISA_HALF_BITS & half;
}

/* Number of words that half a warp accesses, given its known pattern. */
static inline uint32_t coalesce_words_of_half(uint32_t pattern) {
    return pattern & ISA_HALF_RUN ? ISA_LANES / 2 : 1;
}

/* Whether no two different words of the two halves share one of 32 banks. Word i of the lower half
 * and word j of the upper half share a bank if i - j equals their distance modulo 32. They are the
 * same word if i - j equals the distance itself. */
static inline bool coalesce_halves_fit(uint32_t pattern, const uint64_t *address) {
    uint32_t low = coalesce_words_of_half(pattern);
    uint32_t high = coalesce_words_of_half(pattern >> ISA_HALF_BITS);
    int64_t distance = ((int64_t)address[ISA_LANES / 2] - (int64_t)address[0]) >> 2;
    int64_t rest = distance & 31;
    return (rest >= low || distance == rest) && (32 - rest >= high || distance == rest - 32);
}

/* Whether the pattern shows that an instruction is a single pass through shared memory, as most
 * are. */
static inline bool coalesce_is_one_pass(const SmCoalescer *coalescer, const IsaInfo *info,
                                        const uint64_t *address, uint32_t pattern) {
    return info->space == PTX_SPACE_SHARED && coalescer->has_word_banks &&
           coalesce_knows(pattern) && coalesce_halves_fit(pattern, address);
}
/* The result of coalesce() for such an instruction. */
static inline void coalesce_one_pass(const IsaInfo *info, SmMemory *memory) {
    memory->count = 1;
    memory->done = 0;
    memory->cycles = memory->least = 1;
    memory->path = SM_PATH_SHARED;
    memory->is_store = info->memory == ISA_MEMORY_STORE;
    memory->is_atomic = memory->is_local = memory->is_parameter = false;
    memory->advice = MEM_ADVICE_NONE;
}

/* Writes the accesses of an instruction into `memory`; leaves its `next` unchanged. */
void coalesce(const SmCoalescer *coalescer, const SmOperation *operation, SmMemory *memory);

#endif
