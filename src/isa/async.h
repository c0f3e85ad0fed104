/* Asynchronous copies and barriers in memory: what their instructions are told (IsaInst.sub), and
 * how an mbarrier looks. */
#ifndef TYTO_ISA_ASYNC_H
#define TYTO_ISA_ASYNC_H

#include <stdint.h>

/* cp.async */
enum {
    ISA_COPY_TO_IS_32 = 1,   /* the destination's base has 32 bits */
    ISA_COPY_HAS_SIZE = 2,   /* operand[2]: bytes to read, the rest is zero */
    ISA_COPY_HAS_IGNORE = 4, /* operand[2]: predicate, true: read nothing */
    ISA_COPY_IGNORE_NEGATED = 8
};

/* mbarrier */
enum {
    ISA_MBARRIER_INIT,
    ISA_MBARRIER_INVAL,
    ISA_MBARRIER_ARRIVE,
    ISA_MBARRIER_DROP,
    ISA_MBARRIER_WAIT,
    ISA_MBARRIER_WAIT_PARITY,
    ISA_MBARRIER_LOOK /* no effect but that there must be one */
};
enum { ISA_MBARRIER_NO_COMPLETE = 1 << 2 }; /* IsaInst.flags: must not end the phase */
enum { ISA_MBARRIER_TRIES = 1 << 2 };       /* the same of a wait: the warp waits for a while */

/* An mbarrier object, 64 bits that the PTX ISA calls opaque: bits 0..19 arrivals that the phase
 * still waits for, 20..39 those that a phase expects, 40..47 number of the phase, 48..63 a mark
 * that tells one from memory that never was one. A state token is the object before the arrival. */
#define ISA_MBARRIER_MARK      UINT64_C(0x6d62)
#define ISA_MBARRIER_MAX_COUNT UINT64_C(0xfffff) /* PTX ISA: 2^20 - 1 */

/* Machine code has its own layouts of an mbarrier object, whose bits programs compute with: counts
 * are negated, so that the last arrival carries into the phase, bit 63. */
enum {                        /* PHASE_ARRIVE */
       ISA_PHASE_90 = 1,      /* the layout from sm_90 on, else that before */
       ISA_PHASE_DROP = 2,    /* the arrivals leave the barrier */
       ISA_PHASE_OF_LANES = 4 /* the result: in the lower word the lanes that arrive at that
                               * barrier, the state before any of them in the upper one */
};

typedef struct IsaMbarrier {
    uint64_t pending, expected, phase;
} IsaMbarrier;

static inline uint64_t isa_mbarrier_bits(IsaMbarrier barrier) {
    return barrier.pending | barrier.expected << 20 | (barrier.phase & 255) << 40 |
           ISA_MBARRIER_MARK << 48;
}
static inline IsaMbarrier isa_mbarrier_of(uint64_t bits) {
    return (IsaMbarrier){bits & ISA_MBARRIER_MAX_COUNT, bits >> 20 & ISA_MBARRIER_MAX_COUNT,
                         bits >> 40 & 255};
}

#endif
