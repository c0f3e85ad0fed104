/* Shared part of the MapReduce workloads. */
#include "mapreduce.h"

#include <stdlib.h>
#include <string.h>

uint32_t mapreduce_prefix_sums(uint32_t *counts, size_t items) {
    uint32_t sum = 0;
    for (size_t i = 0; i < items; i++) {
        uint32_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
    return sum;
}

MapReduce mapreduce_open(Workload *workload, uint32_t count, uint32_t pool_bytes) {
    MapReduce m = {.count = count, .padded = MAPREDUCE_THREADS, .pool_bytes = pool_bytes};
    while (m.padded < count)
        m.padded *= 2;
    m.host_records = workload_host_alloc(workload, m.padded, sizeof(Record));
    m.host_pool = workload_host_alloc(workload, pool_bytes, 1);
    for (uint32_t i = count; i < m.padded; i++)
        m.host_records[i] = (Record){.length = UINT32_MAX, .order = i};
    m.records = workload_upload(m.host_records, m.padded * sizeof(Record));
    m.pool = workload_device_alloc(pool_bytes);
    return m;
}

void mapreduce_fetch(MapReduce *m) {
    workload_copy_to_host(m->host_records, m->records, m->count * sizeof(Record));
    workload_copy_to_host(m->host_pool, m->pool, m->pool_bytes);
}

void mapreduce_sort(const Workload *workload, const MapReduce *m) {
    CUdeviceptr records = m->records, pool = m->pool;
    WorkloadShape shape = workload_cover(m->padded, MAPREDUCE_THREADS);
    for (uint32_t run = 2; run <= m->padded; run *= 2)
        for (uint32_t distance = run / 2; distance > 0; distance /= 2)
            workload_launch(workload, "mapreduce_sort", shape,
                            (void *[]){&records, &pool, &distance, &run});
}

static int compare_keys(const uint8_t *pool, const Record *a, const Record *b) {
    uint32_t shared = a->length < b->length ? a->length : b->length;
    int difference = memcmp(pool + a->key, pool + b->key, shared);
    if (difference != 0) return difference;
    return a->length < b->length ? -1 : a->length > b->length;
}

static int compare_records(const void *a, const void *b, void *pool) {
    const Record *left = a, *right = b;
    int difference = compare_keys(pool, left, right);
    return difference ? difference : left->order < right->order ? -1 : 1;
}

bool mapreduce_verify(Workload *workload, MapReduce *m) {
    Record *got = workload_host_alloc(workload, m->count, sizeof *got);
    workload_copy_to_host(got, m->records, m->count * sizeof *got);
    qsort_r(m->host_records, m->count, sizeof(Record), compare_records, m->host_pool);
    return workload_compare_words(workload, &got->key, &m->host_records->key,
                                  m->count * sizeof *got / sizeof(uint32_t));
}

uint32_t *mapreduce_group(Workload *workload, const MapReduce *m, uint32_t *groups) {
    uint32_t count = m->count;
    CUdeviceptr records = m->records, pool = m->pool;
    CUdeviceptr device_is_first = workload_device_alloc(count * sizeof(uint32_t));
    workload_launch(workload, "mapreduce_group", workload_cover(count, MAPREDUCE_THREADS),
                    (void *[]){&records, &pool, &device_is_first, &count});
    uint32_t *is_first = workload_host_alloc(workload, count, sizeof *is_first);
    uint32_t *starts = workload_host_alloc(workload, (size_t)count + 1, sizeof *starts);
    workload_copy_to_host(is_first, device_is_first, count * sizeof *is_first);
    *groups = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_first[i]) starts[(*groups)++] = i;
    starts[*groups] = count;
    return starts;
}

bool mapreduce_verify_groups(Workload *workload, const MapReduce *m, const uint32_t *starts,
                             uint32_t groups) {
    uint32_t *expected = workload_host_alloc(workload, m->count, sizeof *expected), count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (i == 0 || compare_keys(m->host_pool, &m->host_records[i - 1], &m->host_records[i]) != 0)
            expected[count++] = i;
    return workload_compare_words(workload, &groups, &count, 1) &&
           workload_compare_words(workload, starts, expected, count);
}
