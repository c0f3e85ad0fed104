/* Measures and prints figures of a GPU (see the header). */
#include "common/figures.h"

#include <stdio.h>

enum { MOST_WARPS = 32 };

Figures figures_open(Workload *workload) {
    return (Figures){.workload = workload,
                     .cycles = workload_upload_zeros(2 * MOST_WARPS * sizeof(uint64_t))};
}

double figures_run(const Figures *figures, const char *kernel, unsigned threads, void **arguments) {
    uint64_t cycles[2 * MOST_WARPS], start = UINT64_MAX, end = 0;
    unsigned warps = workload_divide_up(threads, 32);
    workload_launch(figures->workload, kernel, (WorkloadShape){1, 1, threads, 1}, arguments);
    workload_copy_to_host(cycles, figures->cycles, 2 * warps * sizeof *cycles);
    for (unsigned warp = 0; warp < warps; warp++) {
        if (cycles[2 * warp] < start) start = cycles[2 * warp];
        if (cycles[2 * warp + 1] > end) end = cycles[2 * warp + 1];
    }
    return (double)(end - start);
}

void figures_print(Figures *figures, const char *name, const char *of, double value,
                   const char *unit) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, of);
    printf("%-32s %10.2f %s\n", whole, value, unit);
    figures->count++;
}
