/* Prefix sums on the device. */
#include "scan.h"

enum { THREADS = 256, ELEMENTS_PER_CTA = 2 * THREADS };

void scan(const Workload *workload, CUdeviceptr in, CUdeviceptr out, unsigned count) {
    unsigned ctas = workload_divide_up(count, ELEMENTS_PER_CTA);
    WorkloadShape shape = {ctas, 1, THREADS, 1};
    CUdeviceptr totals = workload_device_alloc(ctas * sizeof(uint32_t));
    workload_launch(workload, "scan_blocks", shape, (void *[]){&in, &out, &totals, &count});
    if (ctas == 1) return;
    CUdeviceptr sums = workload_device_alloc(ctas * sizeof(uint32_t));
    scan(workload, totals, sums, ctas);
    workload_launch(workload, "scan_add", shape, (void *[]){&out, &sums, &count});
}
