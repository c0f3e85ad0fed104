/* Counts the views of every page in a log of lines "address, tab, visitor". Few pages get most of
 * the views. */
#include "common/mapreduce.h"

#include <stdio.h>

enum { THREADS = MAPREDUCE_THREADS, LINE_BYTES = 64 };

enum { VIEWS, PAGES, PHASES };

static const WorkloadInfo INFO = {
    .name = "pageviewcount",
    .summary = "Counts the views of every page in a log, as MapReduce.",
    .parameters =
        {
            [VIEWS] = {"views", "lines of the log", {500, 2048, 65536}, 1u << 20, 0},
            [PAGES] = {"pages", "that may be viewed", {40, 200, 1000}, 1u << 20, 0},
            [PHASES] = MAPREDUCE_PHASES,
        },
};

/* The log, and in `lines` where each of its lines starts; its size goes to `size_bytes`. */
static char *generate_log(Workload *workload, uint32_t *lines, size_t *size_bytes) {
    uint32_t views = workload->values[VIEWS], pages = workload->values[PAGES];
    char *log = workload_host_alloc(workload, (size_t)views * LINE_BYTES, 1), *end = log;
    for (uint32_t i = 0; i < views; i++) {
        uint32_t page = workload_random(workload, workload_random(workload, pages) + 1);
        lines[i] = (uint32_t)(end - log);
        end += snprintf(end, LINE_BYTES, "www.site%u.org/page%u\t10.0.%u.%u\n", page % 17, page,
                        workload_random(workload, 256), workload_random(workload, 256));
    }
    *size_bytes = (size_t)(end - log);
    return log;
}

/* Sorts the records by page and adds up the views of each; true when all is as it should be. */
static bool sort_and_reduce(Workload *workload, MapReduce *m, uint32_t *pages) {
    mapreduce_sort(workload, m);
    uint32_t *starts = mapreduce_group(workload, m, pages);
    CUdeviceptr device_starts = workload_upload(starts, (*pages + 1) * sizeof *starts);
    CUdeviceptr device_views = workload_device_alloc(*pages * sizeof(uint32_t));
    workload_launch(workload, "pageviewcount_reduce", workload_cover(*pages, THREADS),
                    (void *[]){&m->records, &device_starts, &device_views, pages});
    uint32_t *views = workload_host_alloc(workload, *pages, sizeof *views);
    for (uint32_t i = 0; i < *pages; i++)
        views[i] = starts[i + 1] - starts[i];
    return mapreduce_verify(workload, m) && mapreduce_verify_groups(workload, m, starts, *pages) &&
           workload_verify_words(workload, device_views, views, *pages);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[VIEWS], pages = 0;
    uint32_t *lines = workload_host_alloc(&workload, count, sizeof *lines);
    uint32_t *places = workload_host_alloc(&workload, count, sizeof *places);
    size_t log_bytes, line_bytes = count * sizeof(uint32_t);
    char *log = generate_log(&workload, lines, &log_bytes);
    WorkloadShape shape = workload_cover(count, THREADS);

    CUdeviceptr device_log = workload_upload(log, log_bytes);
    CUdeviceptr device_lines = workload_upload(lines, line_bytes);
    CUdeviceptr device_places = workload_device_alloc(line_bytes);
    workload_launch(&workload, "pageviewcount_measure", shape,
                    (void *[]){&device_log, &device_lines, &device_places, &count});
    workload_copy_to_host(places, device_places, line_bytes);
    MapReduce m = mapreduce_open(&workload, count, mapreduce_prefix_sums(places, count));
    workload_copy_to_device(device_places, places, line_bytes);
    workload_launch(
        &workload, "pageviewcount_map", shape,
        (void *[]){&device_log, &device_lines, &device_places, &m.pool, &m.records, &count});
    mapreduce_fetch(&m);

    bool is_right = true;
    for (uint32_t i = 0; i < count && is_right; i++)
        is_right = workload_compare_bytes(&workload, m.host_pool + places[i],
                                          (uint8_t *)log + lines[i], m.host_records[i].length);
    if (workload.values[PHASES] == MAPREDUCE_MAP_ALONE)
        return workload_finish(&workload, is_right, "views", count);
    is_right = is_right && sort_and_reduce(&workload, &m, &pages);
    return workload_finish(&workload, is_right, "pages", pages);
}
