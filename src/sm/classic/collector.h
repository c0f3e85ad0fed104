/* Operand collector: issued instructions wait in collector units while single-ported register banks
 * serve their reads, one per bank and step; complete ones go on to the pipelines' input. A cycle is
 * one step, or several.
 *
 * While no two reads want one bank, and no write is in their way, all are served at once, and it
 * does not matter which read belongs to which unit. Only reads behind another one are queued.
 *
 * The record holds the queues on both sides, of each kind of pipeline: in, from issue, and out,
 * from which pipelines and load/store unit take. Each sub-core has a record of its own. Its units
 * are each for one kind of pipeline, or for all kinds.
 *
 * Reads of others: the instructions under way and their rows (SmContext). */
#ifndef TYTO_SM_COLLECTOR_H
#define TYTO_SM_COLLECTOR_H

#include "sm/context.h"
#include "sm/queue.h"

enum { SM_MAX_BANKS = 64 /* register banks */ };

/* The operands of the instruction that issued last, as far as they can be used again. */
typedef struct SmKept {
    int warp; /* slot, TYTO_NO_WARP */
    uint32_t count;
    uint32_t place[8]; /* IsaReg.number, SM_NO_REG where it is being written */
} SmKept;
enum { SM_NO_REG = 0xFFFFFFFF };

/* Written by collector.c (and the functions below) alone. */
typedef struct SmCollector {
    uint32_t in_kinds;             /* kinds of pipeline with something in `in`, bit per SmUnit */
    uint32_t out_kinds;            /* and in `out` */
    uint32_t busy;                 /* units with an instruction, bit each */
    uint32_t ready;                /* those among them with all operands */
    uint32_t waiting_reads;        /* reads not granted yet */
    uint64_t asked;                /* banks with a read first in line, bit each */
    uint64_t behind;               /* those among them with reads queued behind it */
    uint64_t written;              /* banks written in this cycle, bit each */
    bool is_stuck;                 /* a step moves nothing before something comes in or goes out */
    uint32_t full_kinds;           /* kinds of pipeline without a place in `in`, bit per SmUnit */
    uint32_t steps;                /* SmCollectorConfig */
    bool reuses;                   /* likewise */
    bool has_own_units;            /* each kind has units of its own; else all are for every kind */
    uint32_t bank_warp_mask;       /* all ones when a bank depends on the warp, else 0 */
    uint64_t banks;                /* all of them, bit each */
    uint64_t blockable;            /* those in which a write is in the way of reads: all or none */
    uint32_t slots_free[SM_UNITS]; /* places of the queues in */
    uint32_t open_to[SM_UNITS];    /* units that each kind may take, bit each */
    uint16_t last[SM_UNITS];       /* unit that dispatched last */
    uint16_t most_in[SM_UNITS];    /* instructions of a kind that may enter in a step, ... */
    uint16_t most_out[SM_UNITS];   /* ... and leave, ... */
    uint16_t places_out[SM_UNITS]; /* ... and places of the queue behind (SmUnitConfig) */
    SmFew in[SM_UNITS];            /* issued, not yet in a unit */
    SmFew out[SM_UNITS];           /* operands read, not yet in a pipeline */
    uint16_t inst[SM_MAX_COLLECTORS];     /* instruction of each unit */
    uint16_t kind_of[SM_MAX_COLLECTORS];  /* its SmUnit */
    uint16_t operands[SM_MAX_COLLECTORS]; /* its reads still to be granted, and ... */
    uint64_t front[SM_MAX_COLLECTORS];    /* ... banks in which one is first in line */
    SmKept kept;                          /* where it reuses operands */
    const SmConfig *config;
    SmQueue queue[SM_MAX_BANKS]; /* of each bank: unit of each read behind the first */
} SmCollector;

void collector_init(SmCollector *collector, const SmConfig *config, Arena *arena);
/* The work of a step. (A function of its own for the host's processor: within sm_step it would have
 * too few of its registers. So are issue's and the pipelines'.) */
__attribute__((noinline)) void collector_do_step(SmCollector *collector, SmContext *sm);
static inline void collector_step(SmCollector *collector, SmContext *sm) {
    if (!collector->is_stuck) collector_do_step(collector, sm);
}
static inline bool collector_is_empty(const SmCollector *collector) {
    return !(collector->in_kinds | collector->out_kinds | collector->busy);
}
/* Something can move, now or in the cycle to come. `lsu_is_free`: so is the load/store unit. */
bool collector_can_move(const SmCollector *collector, bool lsu_is_free);

/* ---- In and out ---- */

/* Takes an instruction that has issued; there must be a free slot for its kind. */
static inline void collector_put(SmCollector *collector, SmUnit unit, uint16_t inst) {
    collector->is_stuck = false;
    collector->full_kinds |= (uint32_t)bits_if(--collector->slots_free[unit] == 0, (int)unit);
    collector->in_kinds |= 1u << unit;
    sm_few_push(&collector->in[unit], inst);
}
/* Says of an instruction about to be put in which of its operands the last one has read already. */
void collector_keep_operands(SmCollector *collector, const SmContext *sm, SmInst *inst);
/* Whether an instruction waits for such a pipeline; the oldest; taking it. */
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

/* The cycle is over: banks that were written can be written and read again. */
static inline void collector_forget_writes(SmCollector *collector) { collector->written = 0; }
/* The banks of an instruction's registers: what SmInst.reads and SmInst.writes have to be. */
static inline uint64_t collector_banks_of(const SmCollector *collector, uint64_t for_warp_0,
                                          int warp) {
    return sm_op_banks(for_warp_0, (uint32_t)warp & collector->bank_warp_mask, collector->banks);
}
/* Results are written to these banks in this cycle. */
static inline void collector_write(SmCollector *collector, uint64_t banks) {
    collector->written |= banks;
}
/* Whether they could be: none of the banks was written already. */
static inline bool collector_can_write(const SmCollector *collector, uint64_t banks) {
    return !(banks & collector->written);
}

/* ---- Those of all sub-cores ---- */

typedef struct SmCollectors {
    SmCollector *of[SM_MAX_SUBCORES];
    uint64_t warps[SM_MAX_SUBCORES]; /* slots of each sub-core */
    uint32_t mask;                   /* sub-cores - 1 */
} SmCollectors;

static inline SmCollector *collectors_of(const SmCollectors *collectors, int warp) {
    return collectors->of[(uint32_t)warp & collectors->mask];
}

#endif
