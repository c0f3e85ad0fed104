/* An inverted index of links: which documents link to each address. Documents are lines of words
 * and links; some addresses are linked to far more often than others. */
#include "common/mapreduce.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = MAPREDUCE_THREADS, LINE_BYTES = 192, LINES_PER_DOCUMENT = 16 };

enum { LINES, ADDRESSES, PHASES };

static const WorkloadInfo INFO = {
    .name = "invertedindex",
    .summary = "Finds the documents that link to each address, as MapReduce.",
    .parameters =
        {
            [LINES] = {"lines",
                       "of all documents, with 0 to 2 links each",
                       {300, 2000, 65536},
                       1u << 20,
                       0},
            [ADDRESSES] = {"addresses", "that may be linked to", {50, 300, 2000}, 1u << 20, 0},
            [PHASES] = MAPREDUCE_PHASES,
        },
};

/* Writes one line: words, and up to two links among them; returns its length without the zero. */
static size_t write_line(Workload *workload, char *line) {
    static const char *const words[] = {"owl ", "barn ", "night ", "hears ", "a ", "mouse "};
    char *end = line;
    uint32_t links = workload_random(workload, 3);
    for (uint32_t i = 0; i <= links; i++) {
        for (uint32_t word = workload_random(workload, 8); word > 0; word--)
            end = stpcpy(end, words[workload_random(workload, 6)]);
        uint32_t address =
            workload_random(workload, workload_random(workload, workload->values[ADDRESSES]) + 1);
        if (i < links) end += sprintf(end, "<a href=\"site%u.org/p%u\">", address % 13, address);
    }
    return (size_t)(end - line);
}

/* Copies the addresses of a line in quotes after "href=" to `pool`, counts them, returns its end.
 */
static uint8_t *collect_links(const char *line, uint8_t *pool, uint32_t *links) {
    while ((line = strstr(line, "href=\""))) {
        line += strlen("href=\"");
        size_t length = strcspn(line, "\"");
        memcpy(pool, line, length);
        pool += length;
        (*links)++;
    }
    return pool;
}

/* Sorts the links by address; true when they and the groups of equal ones are right. */
static bool sort_and_group(Workload *workload, MapReduce *m) {
    uint32_t addresses;
    mapreduce_sort(workload, m);
    uint32_t *starts = mapreduce_group(workload, m, &addresses);
    return mapreduce_verify(workload, m) && mapreduce_verify_groups(workload, m, starts, addresses);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[LINES];
    size_t word_bytes = count * sizeof(uint32_t);
    char *text = workload_host_alloc(&workload, (size_t)count * LINE_BYTES, 1), *end = text;
    uint32_t *lines = workload_host_alloc(&workload, count, sizeof *lines);
    uint32_t *documents = workload_host_alloc(&workload, count, sizeof *documents);
    for (uint32_t i = 0; i < count; i++) {
        lines[i] = (uint32_t)(end - text);
        documents[i] = i / LINES_PER_DOCUMENT;
        end += write_line(&workload, end) + 1;
    }

    WorkloadShape shape = workload_cover(count, THREADS);
    CUdeviceptr device_text = workload_upload(text, (size_t)(end - text));
    CUdeviceptr device_lines = workload_upload(lines, word_bytes);
    CUdeviceptr device_documents = workload_upload(documents, word_bytes);
    CUdeviceptr device_links = workload_device_alloc(word_bytes);
    CUdeviceptr device_key_bytes = workload_device_alloc(word_bytes);
    workload_launch(
        &workload, "invertedindex_measure", shape,
        (void *[]){&device_text, &device_lines, &device_links, &device_key_bytes, &count});
    uint32_t *links = workload_host_alloc(&workload, count, sizeof *links);
    uint32_t *key_bytes = workload_host_alloc(&workload, count, sizeof *key_bytes);
    workload_copy_to_host(links, device_links, word_bytes);
    workload_copy_to_host(key_bytes, device_key_bytes, word_bytes);
    uint32_t record_count = mapreduce_prefix_sums(links, count);
    MapReduce m = mapreduce_open(&workload, record_count, mapreduce_prefix_sums(key_bytes, count));
    workload_copy_to_device(device_links, links, word_bytes);
    workload_copy_to_device(device_key_bytes, key_bytes, word_bytes);
    workload_launch(&workload, "invertedindex_map", shape,
                    (void *[]){&device_text, &device_lines, &device_documents, &device_links,
                               &device_key_bytes, &m.pool, &m.records, &count});
    mapreduce_fetch(&m);

    uint32_t expected_count = 0;
    uint8_t *pool = workload_host_alloc(&workload, (size_t)count * LINE_BYTES, 1), *pool_end = pool;
    for (uint32_t i = 0; i < count; i++)
        pool_end = collect_links(text + lines[i], pool_end, &expected_count);
    uint32_t expected_bytes = (uint32_t)(pool_end - pool);
    bool is_right =
        workload_compare_words(&workload, &m.count, &expected_count, 1) &&
        workload_compare_words(&workload, &m.pool_bytes, &expected_bytes, 1) &&
        workload_compare_bytes(&workload, m.host_pool, pool, m.pool_bytes) &&
        (workload.values[PHASES] == MAPREDUCE_MAP_ALONE || sort_and_group(&workload, &m));
    return workload_finish(&workload, is_right, "links", m.count);
}
