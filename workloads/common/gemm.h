/* Shared by the programs that multiply matrices on tensor cores: inputs of halves, the launch, its
 * speed as a share of the cores' peak, and the check. */
#ifndef TYTO_WORKLOAD_GEMM_H
#define TYTO_WORKLOAD_GEMM_H

#include "common/workload.h"

/* Their parameters, in this order. */
enum { GEMM_ROWS, GEMM_COLUMNS, GEMM_DEPTH, GEMM_CONFLICTS };

#define GEMM_PARAMETERS                                                                            \
    {                                                                                              \
        [GEMM_ROWS] = {"rows", "of A and C", {128, 512, 1024}, 8192, 128},                         \
        [GEMM_COLUMNS] = {"columns", "of B and C", {256, 512, 1024}, 8192, 256},                   \
        [GEMM_DEPTH] = {"depth", "columns of A, rows of B", {64, 512, 1024}, 8192, 64},            \
        [GEMM_CONFLICTS] = {"conflicts",                                                           \
                            "1: tiles lie in shared memory as in global memory, and their rows "   \
                            "meet in its banks",                                                   \
                            {0, 0, 0},                                                             \
                            1,                                                                     \
                            0},                                                                    \
    }

/* Runs the kernel `gemm` of the program's PTX, whose CTAs of 256 threads with `shared_bytes` of
 * dynamic shared memory compute tiles of 128 x 256. Returns the program's exit status. */
int gemm_main(const WorkloadInfo *info, unsigned shared_bytes, int argc, char **argv);

#endif
