/* Operand collector: issued instructions wait in collector units while single-ported register banks
 * serve their reads, one read per bank and step. Complete instructions go on to the inputs of the
 * pipelines. A cycle has one or more steps.
 *
 * As long as no two reads need the same bank and no write interferes, all reads are served at once,
 * and it does not matter which unit a read belongs to. Only reads behind another read are queued.
 *
 * The record holds the queues on both sides, for each kind of pipeline: `in`, filled at issue, and
 * `out`, from which the pipelines and the load/store unit take. Each sub-core has its own record.
 * Each of its units serves one kind of pipeline, or all kinds.
 *
 * Reads state of others: the instructions in flight and their rows (SmContext). */
#ifndef TYTO_SM_COLLECTOR_H
#define TYTO_SM_COLLECTOR_H

#include "sm/context.h"
#include "sm/queue.h"

enum { SM_MAX_BANKS = 64 /* register banks */ };

/* Operands of the instruction that issued last, as far as they can be reused. */
typedef struct SmKept {
    int warp; /* slot; TYTO_NO_WARP: none */
    uint32_t count;
    uint32_t place[8]; /* IsaReg.number; SM_NO_REG if the register is being written */
} SmKept;
enum { SM_NO_REG = 0xFFFFFFFF };

/* Written only by collector.c and the functions below. */
typedef struct SmCollector {
    uint32_t in_kinds;             /* kinds of pipeline with entries in `in`, one bit per SmUnit */
    uint32_t out_kinds;            /* the same for `out` */
    uint32_t busy;                 /* units that hold an instruction, one bit each */
    uint32_t ready;                /* busy units that have all operands */
    uint32_t waiting_reads;        /* reads that have not been granted */
    uint64_t asked;                /* banks with a read first in line, one bit each */
    uint64_t behind;               /* banks in `asked` with further reads in their queue */
    uint64_t written;              /* banks written in this cycle, one bit each */
    bool is_stuck;                 /* a step moves nothing until something enters or leaves */
    uint32_t full_kinds;           /* kinds of pipeline without a free place in `in`, one bit per
                                      SmUnit */
    uint32_t steps;                /* SmCollectorConfig */
    bool reuses;                   /* SmCollectorConfig */
    bool has_own_units;            /* each kind has its own units; false: all units serve every
                                      kind */
    uint32_t bank_warp_mask;       /* all ones if the bank depends on the warp, else 0 */
    uint64_t banks;                /* all banks, one bit each */
    uint64_t blockable;            /* banks in which writes block reads: all or none */
    uint32_t slots_free[SM_UNITS]; /* free places in each `in` queue */
    uint32_t open_to[SM_UNITS];    /* units that each kind may use, one bit each */
    uint16_t last[SM_UNITS];       /* unit that last moved an instruction out */
    uint16_t most_in[SM_UNITS];    /* instructions of a kind that may enter per step */
    uint16_t most_out[SM_UNITS];   /* instructions of a kind that may leave per step */
    uint16_t places_out[SM_UNITS]; /* places of each `out` queue (SmUnitConfig) */
    SmFew in[SM_UNITS];            /* issued, and not in a unit yet */
    SmFew out[SM_UNITS];           /* operands read, and not in a pipeline yet */
    uint16_t inst[SM_MAX_COLLECTORS];     /* instruction of each unit */
    uint16_t kind_of[SM_MAX_COLLECTORS];  /* its SmUnit */
    uint16_t operands[SM_MAX_COLLECTORS]; /* reads of each unit that have not been granted */
    uint64_t front[SM_MAX_COLLECTORS];    /* banks in which a read of the unit is first in line */
    SmKept kept;                          /* used if operands are reused */
    const SmConfig *config;
    SmQueue queue[SM_MAX_BANKS]; /* by bank: units of the reads behind the first one */
} SmCollector;

void collector_init(SmCollector *collector, const SmConfig *config, Arena *arena);
/* The work of a step. (A separate function, because within sm_step it would have too few host
 * registers. The same holds for issue and the pipelines.) */
__attribute__((noinline)) void collector_do_step(SmCollector *collector, SmContext *sm);
static inline void collector_step(SmCollector *collector, SmContext *sm) {
    if (!collector->is_stuck) collector_do_step(collector, sm);
}
static inline bool collector_is_empty(const SmCollector *collector) {
    return !(collector->in_kinds | collector->out_kinds | collector->busy);
}
/* Whether something can move, now or in the next cycle. `lsu_is_free`: the load/store unit is
 * free. */
bool collector_can_move(const SmCollector *collector, bool lsu_is_free);

/* ---- Input and output ---- */

/* Takes an instruction that has issued; there must be a free slot for its kind. */
static inline void collector_put(SmCollector *collector, SmUnit unit, uint16_t inst) {
    collector->is_stuck = false;
    collector->full_kinds |= (uint32_t)bits_if(--collector->slots_free[unit] == 0, (int)unit);
    collector->in_kinds |= 1u << unit;
    sm_few_push(&collector->in[unit], inst);
}
/* Marks the operands of an instruction that the last instruction has already read. Call it before
 * collector_put. */
void collector_keep_operands(SmCollector *collector, const SmContext *sm, SmInst *inst);
/* Whether an instruction waits for this kind of pipeline; the oldest one; its removal. */
static inline bool collector_has(const SmCollector *collector, SmUnit unit) {
    return collector->out_kinds >> unit & 1;
}
static inline uint16_t collector_peek(const SmCollector *collector, SmUnit unit) {
    return sm_few_peek(&collector->out[unit]);
}
static inline void collector_pop(SmCollector *collector, SmUnit unit) {
    collector->is_stuck = false;
    sm_few_pop(&collector->out[unit]);
    collector->out_kinds ^= (uint32_t)bits_if(!collector->out[unit].count, (int)unit);
}

/* ---- Writes of results ---- */

/* Called at the end of a cycle: banks that were written can be written and read again. */
static inline void collector_forget_writes(SmCollector *collector) { collector->written = 0; }
/* The banks of an instruction's registers: the values of SmInst.reads and SmInst.writes. */
static inline uint64_t collector_banks_of(const SmCollector *collector, uint64_t for_warp_0,
                                          int warp) {
    return sm_op_banks(for_warp_0, (uint32_t)warp & collector->bank_warp_mask, collector->banks);
}
/* Records that results are written to these banks in this cycle. */
static inline void collector_write(SmCollector *collector, uint64_t banks) {
    collector->written |= banks;
}
/* Whether results can be written to these banks: none has been written in this cycle. */
static inline bool collector_can_write(const SmCollector *collector, uint64_t banks) {
    return !(banks & collector->written);
}

/* ---- The collectors of all sub-cores ---- */

typedef struct SmCollectors {
    SmCollector *of[SM_MAX_SUBCORES];
    uint64_t warps[SM_MAX_SUBCORES]; /* warp slots of each sub-core */
    uint32_t mask;                   /* sub-cores - 1 */
} SmCollectors;

static inline SmCollector *collectors_of(const SmCollectors *collectors, int warp) {
    return collectors->of[(uint32_t)warp & collectors->mask];
}

#endif
