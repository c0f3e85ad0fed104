/* Shared by the programs that measure a GPU: kernels that store the SM's clock for each warp, and
 * lines of figures, `name value unit`, which scripts/tune reads. */
#ifndef WORKLOADS_FIGURES_H
#define WORKLOADS_FIGURES_H

#include "common/workload.h"

typedef struct Figures {
    Workload *workload;
    CUdeviceptr cycles; /* 2 words for each warp: its start and its end */
    unsigned count;     /* number of figures printed */
} Figures;

/* Allocates room for the clocks of the most warps of a CTA. */
Figures figures_open(Workload *workload);
/* Runs a kernel of one CTA, whose first argument is `cycles`. Returns the cycles of the SM from its
 * first warp's start to its last warp's end. */
double figures_run(const Figures *figures, const char *kernel, unsigned threads, void **arguments);
/* The name consists of both parts. */
void figures_print(Figures *figures, const char *name, const char *of, double value,
                   const char *unit);

#endif
