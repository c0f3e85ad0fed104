/* Coalescing: from the addresses of a warp's lanes to the fewest accesses that cover them.
 *
 * An access lies within one segment: the L1D's fill unit (narrower for 1- and 2-byte elements where
 * the machine says so), or the bypass segment for what goes past the L1D. It asks for the sectors
 * that lanes touch. Atomic operations on one word are accesses of their own, one after the other.
 *
 * Local memory is laid out so that the words of one offset lie next to each other for all threads.
 *
 * A function of its arguments: it keeps nothing from one instruction to the next. */
#ifndef TYTO_SM_COALESCE_H
#define TYTO_SM_COALESCE_H

#include "isa/info.h"
#include "partition/request.h"
#include "sm/inst.h"

/* What it must know of the machine; never changes. */
typedef struct SmCoalescer {
    const SmLsuConfig *lsu;
    const SmSharedConfig *shared;
    uint32_t l2_sector_bytes; /* what a partition splits requests into */
    uint32_t least_bytes;     /* least that an access asks for; no more than that */
    uint32_t l1d_bytes;       /* fill unit of the L1D; as the next two a power of two */
    uint32_t l1c_bytes;
    uint32_t l1t_bytes;
    uint32_t sm, sms;    /* number of this one, and how many there are */
    bool has_word_banks; /* shared memory: 32 banks of 4 bytes, for all lanes at once */
    bool l1_takes_hints; /* as in sm_config.h, of L1D and ... */
    bool l2_takes_hints; /* ... of L2: the owner's */
} SmCoalescer;

/* Where a grid's local memory and parameters lie, as caches and DRAM see them. */
typedef struct SmLayout {
    uint64_t local_base, parameter_base; /* addresses */
    uint32_t cta_threads;                /* threads of a CTA, rounded up to whole warps */
    uint64_t local_threads; /* threads of the grid that can be resident on the whole machine */
} SmLayout;

/* A memory instruction that has just executed. */
typedef struct SmOperation {
    const SmLayout *layout; /* of its grid */
    const IsaInfo *info;
    const uint64_t *address; /* of each lane, in the instruction's own space */
    const uint8_t *space;    /* generic accesses: PtxSpace of each lane */
    uint32_t lanes;          /* that executed it */
    uint32_t pattern;        /* WarpStep.pattern */
    uint32_t warp;           /* its warp's number in the CTA */
    uint32_t cta_slot;       /* of the CTA */
} SmOperation;

void coalescer_init(SmCoalescer *coalescer, const SmConfig *config, uint32_t l2_sector_bytes,
                    uint32_t sm, uint32_t sms);
/* The layout of a grid with at most `cta_limit` CTAs resident on an SM at once. Grids of different
 * `number` have memory of their own. */
SmLayout coalesce_layout(const SmCoalescer *coalescer, uint32_t cta_warps, uint32_t cta_limit,
                         uint32_t number);

/* ---- Patterns (WarpStep.pattern) ---- */

/* Whether a pattern describes both halves. */
static inline bool coalesce_knows(uint32_t pattern) {
    const uint32_t half = ISA_HALF_RUN | ISA_HALF_ONE;
    return pattern & half && pattern >> ISA_HALF_BITS & half;
}

/* Words that half a warp accesses, of a pattern that has been found. */
static inline uint32_t coalesce_words_of_half(uint32_t pattern) {
    return pattern & ISA_HALF_RUN ? ISA_LANES / 2 : 1;
}

/* Whether no two different words of the halves lie in one of 32 banks: word i of the lower and word
 * j of the upper half do when i - j is their distance modulo 32, unless it is their distance. */
static inline bool coalesce_halves_fit(uint32_t pattern, const uint64_t *address) {
    uint32_t low = coalesce_words_of_half(pattern);
    uint32_t high = coalesce_words_of_half(pattern >> ISA_HALF_BITS);
    int64_t distance = ((int64_t)address[ISA_LANES / 2] - (int64_t)address[0]) >> 2;
    int64_t rest = distance & 31;
    return (rest >= low || distance == rest) && (32 - rest >= high || distance == rest - 32);
}

/* Whether a pattern tells that an instruction is one pass through shared memory, as most are. */
static inline bool coalesce_is_one_pass(const SmCoalescer *coalescer, const IsaInfo *info,
                                        const uint64_t *address, uint32_t pattern) {
    return info->space == PTX_SPACE_SHARED && coalescer->has_word_banks &&
           coalesce_knows(pattern) && coalesce_halves_fit(pattern, address);
}
/* What coalesce() makes of it. */
static inline void coalesce_one_pass(const IsaInfo *info, SmMemory *memory) {
    memory->count = 1;
    memory->done = 0;
    memory->cycles = memory->least = 1;
    memory->path = SM_PATH_SHARED;
    memory->is_store = info->memory == ISA_MEMORY_STORE;
    memory->is_atomic = memory->is_local = memory->is_parameter = false;
    memory->advice = MEM_ADVICE_NONE;
}

/* Writes the accesses of an instruction into `memory`, whose `next` is left alone. */
void coalesce(const SmCoalescer *coalescer, const SmOperation *operation, SmMemory *memory);

#endif
