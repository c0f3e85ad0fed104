/* Prefix sums on the device; kernels that use them include common/scan.cuh. */
#ifndef TYTO_WORKLOAD_SCAN_H
#define TYTO_WORKLOAD_SCAN_H

#include "workload.h"

/* Writes to `out`, which may be `in`, for each of the `count` words of `in` the sum of all words
 * before it: first within blocks, then for the blocks' totals, and so on until one block is left.
 */
void scan(const Workload *workload, CUdeviceptr in, CUdeviceptr out, unsigned count);

#endif
