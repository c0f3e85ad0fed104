/* Asynchronous copies and barriers in memory (mbarriers): the fields of their instructions
 * (IsaInst.sub) and the layout of an mbarrier. */
#ifndef TYTO_ISA_ASYNC_H
#define TYTO_ISA_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/source.h"

/* cp.async */
enum {
    ISA_COPY_TO_IS_32 = 1,   /* the destination's base has 32 bits */
    ISA_COPY_HAS_SIZE = 2,   /* operand[2]: bytes to read; the rest is filled with zeros */
    ISA_COPY_HAS_IGNORE = 4, /* operand[2]: a predicate; if true, nothing is read */
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
    ISA_MBARRIER_EXPECT,   /* operand[2]: further transactions that the phase waits for */
    ISA_MBARRIER_COMPLETE, /* operand[2]: transactions that have completed */
    ISA_MBARRIER_LOOK      /* only checks that there is an mbarrier */
};
enum { /* IsaInst.flags */
       ISA_MBARRIER_NO_COMPLETE = 1 << 2 /* an arrival that must not end the phase */,
       ISA_MBARRIER_TRIES = 1 << 2 /* a wait that may keep the warp waiting for a limited time */,
       ISA_MBARRIER_WAITS = 1 << 5,  /* machine code: a wait of either kind */
       ISA_MBARRIER_EXPECTS = 1 << 3 /* one arrival; first expects operand[2] transactions */
};

/* An mbarrier object: 64 bits that the PTX ISA leaves opaque. Bits 0..19: arrivals that the phase
 * still waits for. Bits 20..39: arrivals that each phase expects. Bits 40..60: transactions (bytes
 * of bulk copies) that the phase still waits for, signed. Bit 61: parity of the phase. Bits 62 and
 * 63: a mark that distinguishes an mbarrier from memory that was never initialised. A state token
 * is the value of the object before the arrival. */
#define ISA_MBARRIER_MARK      UINT64_C(2)
#define ISA_MBARRIER_MAX_COUNT UINT64_C(0xfffff) /* PTX ISA: 2^20 - 1; also limits transactions */
enum { ISA_MBARRIER_TX_BITS = 21 };

/* Machine code has its own layouts of an mbarrier object, and programs compute with its bits.
 * Counts are stored negated, so that the last arrival carries into the phase, bit 63. */
enum {                          /* PHASE_ARRIVE */
       ISA_PHASE_90 = 1,        /* the layout from sm_90 on; otherwise the older one */
       ISA_PHASE_DROP = 2,      /* the arrivals also leave the barrier */
       ISA_PHASE_OF_LANES = 4,  /* result: the lower word holds the lanes that arrive at the same
                                 * barrier, the upper word the state before these arrivals */
       ISA_PHASE_STAYS = 8,     /* no arrival, only operand[3] transactions */
       ISA_PHASE_COMPLETES = 16 /* the transactions complete; otherwise they are expected */
};

/* Positions of the two counts in an object: the arrivals that the phase still waits for, and those
 * that each phase expects. Both are stored as 2^bits minus the count. Found from the code that
 * ptxas generates for mbarrier.init and .pending_count. The transaction count is in bits between
 * these; no program computes with it. */
typedef struct IsaPhaseLayout {
    uint8_t pending_at, pending_bits, expected_at, expected_bits;
    uint8_t transactions_at; /* 0: no transaction count */
} IsaPhaseLayout;
enum { ISA_PHASE_AT = 63 };
static const IsaPhaseLayout isa_phase_of_80 = {32, 31, 0, 30, 0};
static const IsaPhaseLayout isa_phase_of_90 = {43, 20, 1, 20, 21};

/* One change to an object. */
typedef struct IsaPhaseStep {
    uint64_t arrivals;
    int64_t transactions; /* positive: expected; negative: completed */
    bool drops;           /* the arrivals also leave the barrier */
} IsaPhaseStep;

static inline uint64_t isa_phase_after(const IsaPhaseLayout *layout, uint64_t bits,
                                       IsaPhaseStep step) {
    const uint64_t most_pending = (UINT64_C(1) << layout->pending_bits) - 1;
    const uint64_t most_expected = (UINT64_C(1) << layout->expected_bits) - 1;
    const uint64_t most_transactions =
        layout->transactions_at ? (UINT64_C(1) << ISA_MBARRIER_TX_BITS) - 1 : 0;
    uint64_t pending = bits >> layout->pending_at & most_pending;
    uint64_t expected = bits >> layout->expected_at & most_expected;
    uint64_t transactions = bits >> layout->transactions_at & most_transactions;
    if (step.drops) expected = (expected + step.arrivals) & most_expected;
    pending = (pending + step.arrivals) & most_pending;
    transactions = (transactions + (uint64_t)step.transactions) & most_transactions;
    if (pending == 0 && transactions == 0) {
        bits ^= UINT64_C(1) << ISA_PHASE_AT;
        pending = (expected - most_expected - 1) & most_pending;
    }
    bits &= ~(most_pending << layout->pending_at | most_expected << layout->expected_at |
              most_transactions << layout->transactions_at);
    return bits | pending << layout->pending_at | expected << layout->expected_at |
           transactions << layout->transactions_at;
}

typedef struct IsaMbarrier {
    uint64_t pending, expected, phase;
    int64_t transactions;
} IsaMbarrier;

static inline uint64_t isa_mbarrier_bits(IsaMbarrier barrier) {
    const uint64_t transactions =
        (uint64_t)barrier.transactions & ((UINT64_C(1) << ISA_MBARRIER_TX_BITS) - 1);
    return barrier.pending | barrier.expected << 20 | transactions << 40 |
           (barrier.phase & 1) << 61 | ISA_MBARRIER_MARK << 62;
}
/* A transaction count, stored from bit `at` on. */
static inline int64_t isa_mbarrier_transactions(uint64_t bits, int at) {
    return (int64_t)(bits << (64 - ISA_MBARRIER_TX_BITS - at)) >> (64 - ISA_MBARRIER_TX_BITS);
}
static inline IsaMbarrier isa_mbarrier_of(uint64_t bits) {
    return (IsaMbarrier){bits & ISA_MBARRIER_MAX_COUNT, bits >> 20 & ISA_MBARRIER_MAX_COUNT,
                         bits >> 61 & 1, isa_mbarrier_transactions(bits, 40)};
}

#define ISA_MBARRIER_OVERFLOW "more than 2^20 - 1 transactions are under way"
/* Adds transactions to wait for, or removes some. Returns false if the count leaves the range of an
 * mbarrier. */
static inline bool isa_mbarrier_add(IsaMbarrier *barrier, int64_t transactions) {
    const int64_t most = (int64_t)ISA_MBARRIER_MAX_COUNT;
    barrier->transactions += transactions;
    return barrier->transactions >= -most && barrier->transactions <= most;
}
/* Counts arrivals; with `drops` they also leave the barrier. Returns an error text, or NULL. */
static inline const char *isa_mbarrier_arrive(IsaMbarrier *barrier, uint64_t arrivals, bool drops) {
    if (arrivals > barrier->pending) return "more threads arrive than the phase waits for";
    if (drops && arrivals > barrier->expected) return "more threads leave than it expects";
    barrier->pending -= arrivals;
    if (drops) barrier->expected -= arrivals;
    return NULL;
}
/* The phase ends when the last arrival and the last transaction are counted. */
static inline void isa_mbarrier_end_phase(IsaMbarrier *barrier) {
    if (barrier->pending || barrier->transactions) return;
    barrier->pending = barrier->expected;
    barrier->phase ^= 1;
}

/* ---- Bulk copies ---- */

enum { /* IsaInst.sub */
       ISA_BULK_KIND = 7,
       ISA_BULK_SHARED_IS_32 = 8,   /* the base of the shared address has 32 bits */
       ISA_BULK_SOURCE_IS_32 = 16,  /* ISA_BULK_LOCAL: the base of the source has 32 bits */
       ISA_BULK_BARRIER_IS_32 = 32, /* the base of the mbarrier has 32 bits */
       ISA_BULK_IN_16 = 64,         /* machine code: the size is in units of 16 bytes */
       ISA_BULK_ONCE = 128          /* machine code: one copy for all lanes */
};
enum {                              /* IsaInst.flags */
       ISA_BULK_MULTICAST = 1 << 4, /* loads: the copy goes to several CTAs. operand[4] is the row
                                     * of their ranks, one bit each; with a tensor map it is the
                                     * first of the additional rows */
       ISA_BULK_IM2COL = 1 << 5     /* uses an im2col map. Loads and prefetches: the following
                                     * additional rows are the offsets, two fewer than dimensions */
};
enum { ISA_BULK_UNIT = 16 }; /* alignment and granularity of bulk copies, in bytes */

#endif
