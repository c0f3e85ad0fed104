/* Counts the visitors of every page in a log of lines "address, tab, visitor, tab, cookie", made at
 * random as in the suite: 1,000 pages, any visitor and cookie. */
#include "common/mapreduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, COOKIES = 1024 };

enum { VIEWS, PAGES, VISITORS, PHASES, RUNS };

static const WorkloadInfo INFO = {
    .name = "pageviewcount",
    .summary = "Counts the visitors of every page in a log with MapReduce.",
    .parameters =
        {
            [VIEWS] = {"views", "lines of the log", {500, 2048, 65536}, 1u << 20, 0},
            [PAGES] = {"pages", "that may be viewed", {40, 200, 1000}, 100000, 0},
            [VISITORS] =
                {"visitors", "that may view them; 0: any address", {20, 60, 0}, 1u << 20, 0},
            [PHASES] = MAPREDUCE_PHASES(MAPREDUCE_RUNS),
            [RUNS] = MAPREDUCE_SORTED_RUNS(77),
        },
};

/* The same layout as in the kernels. */
typedef struct Line {
    uint32_t bytes; /* with the zero at its end */
    uint32_t pass;
} Line;

typedef struct Log {
    uint8_t *text; /* lines end with a zero */
    size_t bytes;
    CUdeviceptr device_text;
    uint32_t *lines; /* where each starts, and the end of the last */
} Log;

/* One of the possible visitors, as its address and a cookie. */
static void draw_visitor(Workload *workload, uint8_t address[4], uint32_t *cookie) {
    uint32_t visitors = workload->values[VISITORS];
    if (visitors) {
        uint32_t visitor = workload_random(workload, visitors);
        memcpy(address, &visitor, sizeof visitor);
        *cookie = visitor % COOKIES;
        return;
    }
    for (uint32_t i = 0; i < 4; i++)
        address[i] = (uint8_t)workload_random(workload, 256);
    *cookie = workload_random(workload, COOKIES);
}

static Log generate_log(Workload *workload) {
    uint32_t views = workload->values[VIEWS];
    Log log = {.text = workload_host_alloc(workload, (size_t)views * LINE_BYTES, 1),
               .lines = workload_host_alloc(workload, (size_t)views + 1, sizeof *log.lines)};
    for (uint32_t i = 0; i < views; i++) {
        uint32_t page = workload_random(workload, workload->values[PAGES]), cookie;
        uint8_t address[4];
        draw_visitor(workload, address, &cookie);
        log.lines[i] = (uint32_t)log.bytes;
        log.bytes += 1 + (size_t)snprintf((char *)log.text + log.bytes, LINE_BYTES,
                                          "http://www.abcdefg.com/%u.html\t%u.%u.%u.%u\t%u", page,
                                          address[0], address[1], address[2], address[3], cookie);
    }
    log.lines[views] = (uint32_t)log.bytes;
    log.device_text = workload_upload(log.text, log.bytes);
    return log;
}

static TextKey text_key(const RecordSet *set, const Record *record) {
    TextKey key;
    memcpy(&key, set->keys + record->key, sizeof key);
    return key;
}

/* True if the first pass has emitted each line with its hash. */
static bool verify_map(Workload *workload, const Log *log, const RecordSet *emitted) {
    uint32_t count = workload->values[VIEWS];
    bool is_right = workload_compare_words(workload, &emitted->count, &count, 1);
    for (uint32_t i = 0; i < count && is_right; i++) {
        Line line = {log->lines[i + 1] - log->lines[i], 0};
        TextKey key = {log->device_text, log->lines[i],
                       mapreduce_hash(log->text + log->lines[i], line.bytes)};
        is_right = workload_compare_bytes(workload, emitted->keys + emitted->records[i].key,
                                          (uint8_t *)&key, sizeof key) &&
                   workload_compare_bytes(workload, emitted->values + emitted->records[i].value,
                                          (uint8_t *)&line, sizeof line);
    }
    return is_right;
}

/* The remaining lines, one of each group of equal lines. */
static RecordSet reduce(Workload *workload, const DeviceRecords *device, const uint32_t *starts,
                        uint32_t groups) {
    RecordSet left = mapreduce_records(workload, groups, sizeof(TextKey), sizeof(Line));
    CUdeviceptr keys = device->keys, values = device->values;
    CUdeviceptr records = device->records + (device->padded - device->count) * sizeof(Record);
    CUdeviceptr device_starts = workload_upload(starts, groups * sizeof *starts);
    CUdeviceptr left_keys = workload_device_alloc(left.key_bytes);
    CUdeviceptr left_values = workload_device_alloc(left.value_bytes);
    workload_launch(
        workload, "pageviewcount_reduce", workload_cover(groups, MAPREDUCE_RUN),
        (void *[]){&records, &device_starts, &keys, &values, &left_keys, &left_values, &groups});
    workload_copy_to_host(left.keys, left_keys, left.key_bytes);
    workload_copy_to_host(left.values, left_values, left.value_bytes);
    return left;
}

/* One pass: maps, sorts and groups; the sorted records go to `sorted`. NULL if a result is wrong.
 * The map of the second pass cuts the lines at their tabs. */
static uint32_t *sort_pass(Workload *workload, Log *log, DeviceRecords *device, RecordSet *sorted,
                           uint32_t *groups) {
    workload_copy_to_host(log->text, log->device_text, log->bytes);
    if (!mapreduce_sort(workload, device, sorted, 0, mapreduce_compare_texts, log->text))
        return NULL;
    return mapreduce_group(workload, device, sorted, mapreduce_compare_texts, log->text, groups);
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the addresses of different lines by text: `views` of them in `pages` groups. */
static uint32_t count_pages(Workload *workload, const Log *log, uint32_t *visits) {
    uint32_t views = workload->values[VIEWS], pages = 0;
    char **lines = workload_host_alloc(workload, views, sizeof *lines);
    char *copy = workload_host_alloc(workload, log->bytes, 1);
    memcpy(copy, log->text, log->bytes);
    for (uint32_t i = 0; i < views; i++)
        lines[i] = copy + log->lines[i];
    qsort(lines, views, sizeof *lines, compare_lines);
    *visits = 0;
    for (uint32_t i = 0; i < views; i++) {
        if (i > 0 && strcmp(lines[i - 1], lines[i]) == 0) continue;
        size_t length = strcspn(lines[i], "\t") + 1;
        pages += i == 0 || strncmp(lines[i - 1], lines[i], length) != 0;
        (*visits)++;
    }
    return pages;
}

/* Both passes from the first sort on. True if the numbers of lines and pages are right, and each
 * group of pages has one address. */
static bool sort_and_count(Workload *workload, Log *log, DeviceRecords *device,
                           RecordSet *emitted) {
    uint32_t lines, pages, expected_lines, expected_pages;
    expected_pages = count_pages(workload, log, &expected_lines);
    uint32_t *starts = sort_pass(workload, log, device, emitted, &lines);
    if (!starts || !workload_compare_words(workload, &lines, &expected_lines, 1)) return false;
    RecordSet left = reduce(workload, device, starts, lines);
    MapCounts counts = mapreduce_count(workload, &left);
    DeviceRecords addresses = mapreduce_map(workload, &counts);
    RecordSet visits = mapreduce_fetch(workload, &addresses, false);
    starts = sort_pass(workload, log, &addresses, &visits, &pages);
    if (!starts || !workload_compare_words(workload, &pages, &expected_pages, 1)) return false;
    for (uint32_t i = 0; i < visits.count; i++) {
        TextKey key = text_key(&visits, &visits.records[i]);
        const char *address = (char *)log->text + key.offset;
        uint32_t visitor, expected = key.offset + (uint32_t)strlen(address) + 1;
        memcpy(&visitor, visits.values + visits.records[i].value, sizeof visitor);
        if (!workload_compare_words(workload, &visitor, &expected, 1)) return false;
    }
    return true;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[VIEWS];
    Log log = generate_log(&workload);
    RecordSet input = mapreduce_records(&workload, count, sizeof(TextKey), sizeof(Line));
    for (uint32_t i = 0; i < count; i++) {
        TextKey key = {log.device_text, log.lines[i], 0};
        Line line = {log.lines[i + 1] - log.lines[i], 0};
        memcpy(input.keys + i * sizeof key, &key, sizeof key);
        memcpy(input.values + i * sizeof line, &line, sizeof line);
    }
    MapCounts counts = mapreduce_count(&workload, &input);
    DeviceRecords device = mapreduce_map(&workload, &counts);
    RecordSet emitted = mapreduce_fetch(&workload, &device, false);
    bool is_right = verify_map(&workload, &log, &emitted);
    uint32_t phases = workload.values[PHASES];
    if (is_right && phases == MAPREDUCE_RUNS)
        is_right = mapreduce_sort(&workload, &device, &emitted,
                                  mapreduce_runs(&device, phases, workload.values[RUNS]),
                                  mapreduce_compare_texts, log.text);
    if (is_right && phases == MAPREDUCE_ALL)
        is_right = sort_and_count(&workload, &log, &device, &emitted);
    return workload_finish(&workload, is_right, "views", count);
}
