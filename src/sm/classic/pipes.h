/* The pipelines and their write-back. A pipeline is fully pipelined apart from its initiation
 * interval. When an instruction enters, the cycle of its result is known, and the result bus is
 * reserved for that cycle. Each sub-core has one record. Several sub-cores may share pipelines of a
 * kind; these accept from whichever sub-core comes first in the cycle.
 *
 * Takes instructions from the collector's `out` queues, writes registers through the collector's
 * banks, and posts SM_EVENT_INST_DONE. */
#ifndef TYTO_SM_PIPES_H
#define TYTO_SM_PIPES_H

#include "sm/classic/collector.h"
#include "sm/op.h"

/* Results that are due in the same cycle: a list of instructions, linked by SmInst.next. */
typedef struct SmResults {
    uint16_t first, last;
    uint32_t count : 8;
    uint32_t finishing : 24; /* pipelines with a result in this cycle, one bit each; for shared
                                pipelines only the first sub-core's record has the bit */
} SmResults;
_Static_assert(sizeof(SmResults) == 8, "a ring of them passes through the host's caches");
_Static_assert(SM_MAX_PIPELINES <= 24 && SM_MAX_RESULTS < 256, "fields of SmResults");

/* A pipeline; sub-cores may share it. */
typedef struct SmPipeline {
    uint64_t free_at; /* first cycle in which it accepts another instruction */
    SmResults *ends;  /* ring by cycle; `finishing` has a bit for this pipeline */
} SmPipeline;

/* Written only by pipes.c. The rings have an entry for each of the next `horizon_mask` + 1
 * cycles. */
typedef struct SmPipes {
    uint64_t next;                  /* cycle of the next result; UINT64_MAX: none */
    bool lends;                     /* other sub-cores share its pipelines */
    uint32_t under_way;             /* results pending */
    uint32_t count;                 /* number of pipelines */
    uint16_t first[SM_UNITS];       /* index of the first pipeline of each kind */
    uint32_t horizon_mask;          /* length of the rings in cycles - 1 */
    uint32_t places;                /* most results due in one cycle */
    uint32_t write_back;            /* SmConfig.write_back, in cycles */
    uint64_t *due;                  /* one bit per cycle: a result is due */
    SmResults *results;             /* by cycle */
    uint32_t beats[SM_UNITS];       /* cycles that a warp needs to enter a pipeline of this kind */
    uint8_t unit[SM_MAX_PIPELINES]; /* SmUnit of each pipeline, in ascending order */
    SmPipeline *pipeline[SM_MAX_PIPELINES];
} SmPipes;

void pipes_init(SmPipes *pipes, const SmConfig *config, Arena *arena);
/* From now on, its pipelines of this kind are those of `other`. pipes_forget must be called for
 * `other` in every cycle that is stepped. */
void pipes_share(SmPipes *pipes, SmPipes *other, SmUnit unit);
/* Clears what other sub-cores recorded for this cycle about the pipelines that they share. */
static inline void pipes_forget(SmPipes *pipes, uint64_t cycle) {
    if (pipes->lends) pipes->results[(uint32_t)cycle & pipes->horizon_mask].finishing = 0;
}
/* Retires the results that are due. */
void pipes_retire(SmPipes *pipes, SmContext *sm, SmCollector *collector);
static inline void pipes_write_back(SmPipes *pipes, SmContext *sm, SmCollector *collector) {
    if (sm->cycle == pipes->next) pipes_retire(pipes, sm, collector);
}
/* Lets instructions with complete operands enter. */
__attribute__((noinline)) void pipes_do_step(SmPipes *pipes, const SmContext *sm,
                                             SmCollector *collector);
static inline void pipes_step(SmPipes *pipes, const SmContext *sm, SmCollector *collector) {
    if (collector->out_kinds & ~(1u << SM_UNIT_LDST)) pipes_do_step(pipes, sm, collector);
}

#endif
