/* The storage that a warp scheduler adds to the hardware, by its paper's own formula. */
#ifndef TYTO_SCHED_COST_H
#define TYTO_SCHED_COST_H

#include "base/text.h"
#include "sched/registry.h"

typedef struct CostRow {
    const char *what;     /* one line */
    const char *source;   /* paper and section, or that the width is ours */
    uint64_t per_sm;      /* bits */
    uint64_t per_channel; /* bits */
} CostRow;

enum { COST_MAX_ROWS = 8 };

/* Writes the storage that the policy reports to rows[]. Returns the number of rows; 0 if the policy
 * needs no more than any scheduler, or reports nothing. The size field of `machine` need not be
 * set. */
int sched_cost(const SchedPolicy *policy, const TytoMachineSizes *machine,
               CostRow rows[COST_MAX_ROWS]);

/* As `tyto cost` prints it: the rows, and their sums per SM, per channel and for the GPU. */
void sched_cost_text(const SchedPolicy *policy, const TytoMachineSizes *machine, Text *out);

#endif
