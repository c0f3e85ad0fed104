/* The pipelines, and their write-back. A pipeline is fully pipelined apart from its initiation
 * interval; when an instruction enters, the cycle of its result is known, and the result bus is
 * booked for it. One of what a sub-core has of its own; several may share pipelines of a kind,
 * which then take from whichever sub-core comes first in the cycle.
 *
 * Takes instructions from the collector's queues out, writes registers through its banks, and posts
 * SM_EVENT_INST_DONE. */
#ifndef TYTO_SM_PIPES_H
#define TYTO_SM_PIPES_H

#include "sm/classic/collector.h"
#include "sm/op.h"

/* Results that are due in one cycle: a list of instructions, by SmInst.next. */
typedef struct SmResults {
    uint16_t first, last;
    uint32_t count : 8;
    uint32_t finishing : 24; /* pipelines with one, bit each; those that others share with this
                                sub-core are noted in the first one's record */
} SmResults;
_Static_assert(sizeof(SmResults) == 8, "a ring of them passes through the host's caches");
_Static_assert(SM_MAX_PIPELINES <= 24 && SM_MAX_RESULTS < 256, "fields of SmResults");

/* A pipeline, which sub-cores may share. */
typedef struct SmPipeline {
    uint64_t free_at; /* cycle from which its input takes another instruction */
    SmResults *ends;  /* by cycle, whose `finishing` has a bit for it */
} SmPipeline;

/* Written by pipes.c alone. The rings have a place for each of the next `horizon_mask` + 1 cycles.
 */
typedef struct SmPipes {
    uint64_t next;                  /* cycle of the next result, UINT64_MAX */
    bool lends;                     /* other sub-cores share its pipelines */
    uint32_t under_way;             /* results to come */
    uint32_t count;                 /* pipelines, ... */
    uint16_t first[SM_UNITS];       /* ... the first of each kind, and where the next kind begins */
    uint32_t horizon_mask;          /* cycles of the rings - 1 */
    uint32_t places;                /* results that can be due in one cycle */
    uint32_t write_back;            /* SmConfig, cycles */
    uint64_t *due;                  /* bit per cycle: some result is */
    SmResults *results;             /* by cycle */
    uint32_t beats[SM_UNITS];       /* cycles in which a warp enters such a pipeline */
    uint8_t unit[SM_MAX_PIPELINES]; /* SmUnit of each; they come in the order of SmUnit */
    SmPipeline *pipeline[SM_MAX_PIPELINES];
} SmPipes;

void pipes_init(SmPipes *pipes, const SmConfig *config, Arena *arena);
/* Its pipelines of a kind are those of another sub-core from now on, which pipes_forget is to be
 * called for in every cycle that is stepped. */
void pipes_share(SmPipes *pipes, SmPipes *other, SmUnit unit);
/* Nothing of this cycle is due any more: what others noted of the pipelines that they share. */
static inline void pipes_forget(SmPipes *pipes, uint64_t cycle) {
    if (pipes->lends) pipes->results[(uint32_t)cycle & pipes->horizon_mask].finishing = 0;
}
/* Retires the results that are due. */
void pipes_retire(SmPipes *pipes, SmContext *sm, SmCollector *collector);
static inline void pipes_write_back(SmPipes *pipes, SmContext *sm, SmCollector *collector) {
    if (sm->cycle == pipes->next) pipes_retire(pipes, sm, collector);
}
/* Lets instructions enter that have their operands. */
__attribute__((noinline)) void pipes_do_step(SmPipes *pipes, const SmContext *sm,
                                             SmCollector *collector);
static inline void pipes_step(SmPipes *pipes, const SmContext *sm, SmCollector *collector) {
    if (collector->out_kinds & ~(1u << SM_UNIT_LDST)) pipes_do_step(pipes, sm, collector);
}

#endif
