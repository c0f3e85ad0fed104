/* Prefix sums on the device; kernels that use them include common/scan.cuh. */
#ifndef TYTO_WORKLOAD_SCAN_H
#define TYTO_WORKLOAD_SCAN_H

#include "workload.h"

/* Writes the sums of all elements before each of the `count` words of `in` to `out`, which may be
 * the same: blocks, then the blocks' totals, and so on until one block holds them all. */
void scan(const Workload *workload, CUdeviceptr in, CUdeviceptr out, unsigned count);

#endif
