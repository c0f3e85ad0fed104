/* Pipelines SP, SFU and DP, and their write-back. A pipeline is fully pipelined apart from its
 * initiation interval; when an instruction enters, the cycle of its result is known, and the result
 * bus is booked for it. One of what a sub-core has of its own.
 *
 * Takes instructions from the collector's queues out, writes registers through its banks, and posts
 * SM_EVENT_INST_DONE. */
#ifndef TYTO_SM_PIPES_H
#define TYTO_SM_PIPES_H

#include "sm/collector.h"

/* A pipeline: SP, SFU or DP. */
typedef struct SmPipeline {
    uint64_t free_at; /* cycle from which its input takes another instruction */
    uint8_t unit;     /* SmUnit */
} SmPipeline;

/* Results that are due in one cycle. */
typedef struct SmResults {
    uint8_t count;
    uint16_t inst[SM_MAX_RESULTS];
} SmResults;

/* Written by pipes.c alone. The rings have a place for each of the next `horizon_mask` + 1 cycles.
 */
typedef struct SmPipes {
    uint32_t under_way;       /* results to come */
    uint32_t count;           /* pipelines */
    uint32_t horizon_mask;    /* cycles of the rings - 1 */
    uint32_t places;          /* results that can be due in one cycle */
    uint64_t *due;            /* bit per cycle: some result is */
    SmResults *results;       /* by cycle */
    uint32_t beats[SM_UNITS]; /* cycles in which a warp enters such a pipeline */
    SmPipeline pipeline[SM_MAX_PIPELINES];
    uint64_t *finishing[SM_MAX_PIPELINES]; /* bit per cycle: a result of this pipeline is due */
} SmPipes;

void pipes_init(SmPipes *pipes, const SmConfig *config, Arena *arena);
/* Retires the results that are due. */
void pipes_write_back(SmPipes *pipes, SmContext *sm, SmCollector *collector);
/* Lets instructions enter that have their operands. */
void pipes_step(SmPipes *pipes, const SmContext *sm, SmCollector *collector);
/* Cycle of the next result; UINT64_MAX when none is under way. */
uint64_t pipes_next_result(const SmPipes *pipes, uint64_t cycle);

#endif
