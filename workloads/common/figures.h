/* What programs that measure a GPU share: kernels that note the SM's clock for each warp, and lines
 * of figures, `name value unit`, which scripts/tune reads. */
#ifndef WORKLOADS_FIGURES_H
#define WORKLOADS_FIGURES_H

#include "common/workload.h"

typedef struct Figures {
    Workload *workload;
    CUdeviceptr cycles; /* 2 words a warp: its start, its end */
    unsigned count;     /* figures printed */
} Figures;

/* Room for the clocks of as many warps as a CTA can have. */
Figures figures_open(Workload *workload);
/* Runs a kernel of one CTA, the first of whose arguments is `cycles`: cycles of the SM from its
 * first warp's start to its last one's end. */
double figures_run(const Figures *figures, const char *kernel, unsigned threads, void **arguments);
/* The name is what both parts make together. */
void figures_print(Figures *figures, const char *name, const char *of, double value,
                   const char *unit);

#endif
