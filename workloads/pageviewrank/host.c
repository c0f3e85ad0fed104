/* Ranks pages by their views, most viewed first; views are made at random as in the suite. */
#include "common/mapreduce.h"

#include <string.h>

enum { NAME_BYTES = 40, MOST_VIEWS = 1024 };

enum { PAGES, PHASES, RUNS };

static const WorkloadInfo INFO = {
    .name = "pageviewrank",
    .summary = "Ranks pages by their views with MapReduce.",
    .parameters =
        {
            [PAGES] = {"pages", "to rank", {500, 4096, 65536}, 1u << 20, 0},
            [PHASES] = MAPREDUCE_PHASES(MAPREDUCE_RUNS),
            [RUNS] = MAPREDUCE_SORTED_RUNS(191),
        },
};

static int compare_views(const void *a, const void *b, const uint8_t *texts) {
    (void)texts;
    int32_t views_a, views_b;
    memcpy(&views_a, a, sizeof views_a);
    memcpy(&views_b, b, sizeof views_b);
    return views_a > views_b ? -1 : views_a < views_b;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[PAGES], phases = workload.values[PHASES];
    RecordSet pages = mapreduce_records(&workload, count, sizeof(uint32_t), sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page[2] = {workload_random(&workload, MOST_VIEWS), i * NAME_BYTES};
        memcpy(pages.keys + i * sizeof page[0], &page[0], sizeof page[0]);
        memcpy(pages.values + i * sizeof page[1], &page[1], sizeof page[1]);
    }

    MapCounts counts = mapreduce_count(&workload, &pages);
    DeviceRecords device = mapreduce_map(&workload, &counts);
    RecordSet emitted = mapreduce_fetch(&workload, &device, false);
    bool is_right =
        workload_compare_bytes(&workload, emitted.keys, pages.keys, pages.key_bytes) &&
        workload_compare_bytes(&workload, emitted.values, pages.values, pages.value_bytes) &&
        workload_compare_bytes(&workload, (uint8_t *)emitted.records, (uint8_t *)pages.records,
                               count * sizeof(Record));
    if (is_right && phases >= MAPREDUCE_RUNS)
        is_right = mapreduce_sort(&workload, &device, &emitted,
                                  mapreduce_runs(&device, phases, workload.values[RUNS]),
                                  compare_views, NULL);
    return workload_finish(&workload, is_right, "pages", count);
}
