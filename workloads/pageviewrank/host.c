/* Ranks pages by their views, most viewed first. */
#include "common/mapreduce.h"

#include <stdlib.h>

enum { THREADS = MAPREDUCE_THREADS, KEY_BYTES = 4 };

enum { PAGES };

static const WorkloadInfo INFO = {
    .name = "pageviewrank",
    .summary = "Ranks pages by their views, as MapReduce.",
    .parameters =
        {
            [PAGES] = {"pages", "to rank", {500, 4096, 32768}, 1u << 20, 0},
        },
};

static int compare_views(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left > right ? -1 : left < right;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[PAGES];
    uint32_t *views = workload_random_words(&workload, count, 1u << 20);
    MapReduce m = mapreduce_open(&workload, count, count * KEY_BYTES);

    CUdeviceptr device_views = workload_upload(views, count * sizeof *views);
    workload_launch(&workload, "pageviewrank_map", workload_cover(count, THREADS),
                    (void *[]){&device_views, &m.pool, &m.records, &count});
    mapreduce_fetch(&m);
    mapreduce_sort(&workload, &m);

    bool is_right = mapreduce_verify(&workload, &m);
    uint32_t *ranked = workload_host_alloc(&workload, count, sizeof *ranked);
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = views[m.host_records[i].value];
    qsort(views, count, sizeof *views, compare_views);
    is_right &= workload_compare_words(&workload, ranked, views, count);
    return workload_finish(&workload, is_right, "ranks", count);
}
