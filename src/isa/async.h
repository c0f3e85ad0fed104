/* Asynchronous copies and barriers in memory: the fields of their instructions (IsaInst.sub), and
 * the layout of an mbarrier. */
#ifndef TYTO_ISA_ASYNC_H
#define TYTO_ISA_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/source.h"

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
    ISA_MBARRIER_EXPECT,   /* operand[2]: transactions that the phase waits for in addition */
    ISA_MBARRIER_COMPLETE, /* ... that are over */
    ISA_MBARRIER_LOOK      /* no effect but that there must be one */
};
enum { /* IsaInst.flags */
       ISA_MBARRIER_NO_COMPLETE = 1 << 2 /* an arrival that must not end the phase */,
       ISA_MBARRIER_TRIES = 1 << 2 /* a wait in which the warp stays for a while */,
       ISA_MBARRIER_WAITS = 1 << 5,  /* of machine code: a wait of either kind */
       ISA_MBARRIER_EXPECTS = 1 << 3 /* one arrival, which expects operand[2] transactions first */
};

/* An mbarrier object, 64 bits that the PTX ISA calls opaque: bits 0..19 arrivals that the phase
 * still waits for, 20..39 those that a phase expects, 40..60 the transactions (bytes of bulk
 * copies) that it still waits for as a signed number, 61 the parity of the phase, 62 and 63 a mark
 * that tells one from memory that was never initialised. A state token is the object before the
 * arrival. */
#define ISA_MBARRIER_MARK      UINT64_C(2)
#define ISA_MBARRIER_MAX_COUNT UINT64_C(0xfffff) /* PTX ISA: 2^20 - 1, of transactions too */
enum { ISA_MBARRIER_TX_BITS = 21 };

/* Machine code has its own layouts of an mbarrier object, whose bits programs compute with: counts
 * are negated, so that the last arrival carries into the phase, bit 63. */
enum {                          /* PHASE_ARRIVE */
       ISA_PHASE_90 = 1,        /* the layout from sm_90 on, else that before */
       ISA_PHASE_DROP = 2,      /* the arrivals leave the barrier */
       ISA_PHASE_OF_LANES = 4,  /* the result: in the lower word the lanes that arrive at that
                                 * barrier, the state before any of them in the upper one */
       ISA_PHASE_STAYS = 8,     /* no arrival, only the transactions of operand[3] */
       ISA_PHASE_COMPLETES = 16 /* those are over, else expected */
};

/* Where an object has its counts, of arrivals that the phase waits for and that a phase expects:
 * 2^bits minus the count. Found by what ptxas computes for mbarrier.init and .pending_count. The
 * transactions have bits between these that no program computes with. */
typedef struct IsaPhaseLayout {
    uint8_t pending_at, pending_bits, expected_at, expected_bits;
    uint8_t transactions_at; /* 0: there are none */
} IsaPhaseLayout;
enum { ISA_PHASE_AT = 63 };
static const IsaPhaseLayout isa_phase_of_80 = {32, 31, 0, 30, 0};
static const IsaPhaseLayout isa_phase_of_90 = {43, 20, 1, 20, 21};

/* What happens to an object. */
typedef struct IsaPhaseStep {
    uint64_t arrivals;
    int64_t transactions; /* expected, or negative ones completed */
    bool drops;           /* the arrivals leave the barrier */
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
/* A transaction count, in the bits from bit `at` on. */
static inline int64_t isa_mbarrier_transactions(uint64_t bits, int at) {
    return (int64_t)(bits << (64 - ISA_MBARRIER_TX_BITS - at)) >> (64 - ISA_MBARRIER_TX_BITS);
}
static inline IsaMbarrier isa_mbarrier_of(uint64_t bits) {
    return (IsaMbarrier){bits & ISA_MBARRIER_MAX_COUNT, bits >> 20 & ISA_MBARRIER_MAX_COUNT,
                         bits >> 61 & 1, isa_mbarrier_transactions(bits, 40)};
}

#define ISA_MBARRIER_OVERFLOW "more than 2^20 - 1 transactions are under way"
/* Adds transactions to wait for, or removes some; false: more than an mbarrier can count. */
static inline bool isa_mbarrier_add(IsaMbarrier *barrier, int64_t transactions) {
    const int64_t most = (int64_t)ISA_MBARRIER_MAX_COUNT;
    barrier->transactions += transactions;
    return barrier->transactions >= -most && barrier->transactions <= most;
}
/* Counts arrivals, which leave the barrier if it `drops` them. Returns what is wrong with them, or
 * NULL. */
static inline const char *isa_mbarrier_arrive(IsaMbarrier *barrier, uint64_t arrivals, bool drops) {
    if (arrivals > barrier->pending) return "more threads arrive than the phase waits for";
    if (drops && arrivals > barrier->expected) return "more threads leave than it expects";
    barrier->pending -= arrivals;
    if (drops) barrier->expected -= arrivals;
    return NULL;
}
/* The phase ends with the last arrival and the last transaction. */
static inline void isa_mbarrier_end_phase(IsaMbarrier *barrier) {
    if (barrier->pending || barrier->transactions) return;
    barrier->pending = barrier->expected;
    barrier->phase ^= 1;
}

/* ---- Bulk copies ---- */

enum { /* IsaInst.sub */
       ISA_BULK_KIND = 7,
       ISA_BULK_SHARED_IS_32 = 8,   /* the base of the shared address has 32 bits */
       ISA_BULK_SOURCE_IS_32 = 16,  /* ISA_BULK_LOCAL: that of the source */
       ISA_BULK_BARRIER_IS_32 = 32, /* that of the mbarrier */
       ISA_BULK_IN_16 = 64,         /* the size counts 16 bytes: machine code */
       ISA_BULK_ONCE = 128          /* one copy for all lanes: machine code */
};
enum {                              /* IsaInst.flags */
       ISA_BULK_MULTICAST = 1 << 4, /* loads: the copy goes to several CTAs. operand[4], by a tensor
                                       map the first more row, is that of their ranks, bit each */
       ISA_BULK_IM2COL = 1 << 5 /* by an im2col map; loads and prefetches: the next more rows are
                                   those of the offsets, two fewer than dimensions */
};
enum { ISA_BULK_UNIT = 16 }; /* bytes: alignment and granularity of bulk copies */

#endif
