/* The storage that a warp scheduler adds to the hardware, by its paper's own formula. */
#ifndef TYTO_SCHED_COST_H
#define TYTO_SCHED_COST_H

#include "base/text.h"
#include "sched/registry.h"

/* The sizes of a machine that the formulas ask for. */
typedef struct CostMachine {
    uint32_t sms;            /* SMs */
    uint32_t warps;          /* per SM */
    uint32_t ctas;           /* per SM */
    uint32_t l1d_lines;      /* per SM */
    uint32_t l1d_line_bytes; /* bytes */
    uint32_t channels;       /* memory controllers */
    uint32_t banks;          /* per channel */
    uint32_t row_bytes;      /* of a DRAM bank */
    uint32_t prefetch_bytes; /* of a row that one prefetch brings: an L2 line, or part of it */
    uint32_t queue;          /* requests that a memory controller holds */
} CostMachine;

typedef struct CostRow {
    const char *what;     /* one line */
    const char *source;   /* paper and section, or that the width is ours */
    uint64_t per_sm;      /* bits */
    uint64_t per_channel; /* bits */
} CostRow;

enum { COST_MAX_ROWS = 8 };

/* What the policy adds, written to rows[]; the result is how many there are: 0 for one that needs
 * no more than any scheduler, or says nothing of it. */
int sched_cost(const SchedPolicy *policy, const CostMachine *machine, CostRow rows[COST_MAX_ROWS]);

/* As `tyto cost` prints it: the rows, and their sums per SM, per channel and for the GPU. */
void sched_cost_text(const SchedPolicy *policy, const CostMachine *machine, Text *out);

#endif
