/* Counts of random bytes, by their upper six bits and by all eight. */
#include "common/workload.h"

enum { THREADS_64 = 64, THREADS_256 = 192, CTAS_256 = 240, MERGE_THREADS = 256 };

/* Counters are bytes: a thread of the first kernel may count up to 15 groups of 16. */
enum { GROUP_BYTES = 16, CTA_64_BYTES = THREADS_64 * 15 * GROUP_BYTES };

enum { BYTES, RUNS };

static const WorkloadInfo INFO = {
    .name = "subhistograms",
    .summary = "Histograms of 64 and 256 bins by counters of threads and of warps, then merged.",
    .parameters =
        {
            [BYTES] = {"bytes", "to count", {50000, 262144, 4194304}, 1u << 28, GROUP_BYTES},
            [RUNS] = {"runs", "of each kernel", {1, 1, 1}, 100, 0},
        },
};

/* Counts with one kernel, and merges its partial histograms, one for each CTA, with the other
 * kernel. */
static CUdeviceptr count_on_device(const Workload *workload, const char *count_kernel,
                                   const char *merge_kernel, WorkloadShape shape,
                                   CUdeviceptr values, unsigned elements, unsigned bins) {
    CUdeviceptr partial = workload_device_alloc((size_t)shape.grid_x * bins * sizeof(uint32_t));
    CUdeviceptr histogram = workload_device_alloc(bins * sizeof(uint32_t));
    for (unsigned run = 0; run < workload->values[RUNS]; run++) {
        workload_launch(workload, count_kernel, shape, (void *[]){&values, &partial, &elements});
        workload_launch(workload, merge_kernel, (WorkloadShape){bins, 1, MERGE_THREADS, 1},
                        (void *[]){&partial, &histogram, &shape.grid_x});
    }
    return histogram;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned count = workload.values[BYTES];
    uint8_t *values = workload_random_bytes(&workload, count, 256);
    CUdeviceptr device_values = workload_upload(values, count);
    WorkloadShape shape_64 = {workload_divide_up(count, CTA_64_BYTES), 1, THREADS_64, 1};
    WorkloadShape shape_256 = {CTAS_256, 1, THREADS_256, 1};
    CUdeviceptr got_64 =
        count_on_device(&workload, "subhistograms_count_64", "subhistograms_merge_64", shape_64,
                        device_values, count / GROUP_BYTES, 64);
    CUdeviceptr got_256 =
        count_on_device(&workload, "subhistograms_count_256", "subhistograms_merge_256", shape_256,
                        device_values, count / sizeof(uint32_t), 256);

    uint32_t expected_64[64] = {0}, expected_256[256] = {0};
    for (size_t i = 0; i < count; i++) {
        expected_64[values[i] / 4]++;
        expected_256[values[i]]++;
    }
    bool is_right = workload_verify_words(&workload, got_64, expected_64, 64) &&
                    workload_verify_words(&workload, got_256, expected_256, 256);
    return workload_finish(&workload, is_right, "bytes counted and", count);
}
