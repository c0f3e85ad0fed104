/* Shared part of the MapReduce workloads. */
#include "mapreduce.h"

#include "scan.h"

#include <stdio.h>
#include <string.h>

enum { NO_KEY = -1 };

/* The same layout as in the kernels. */
typedef struct Input {
    CUdeviceptr keys, values, records;
    uint32_t count;
} Input;

typedef struct Totals {
    CUdeviceptr key_bytes, value_bytes, records;
} Totals;

typedef struct Output {
    CUdeviceptr first_key, first_value, first_record;
    CUdeviceptr used, emitted;
    CUdeviceptr keys, values, records;
} Output;

RecordSet mapreduce_records(Workload *workload, uint32_t count, uint32_t key_bytes,
                            uint32_t value_bytes) {
    RecordSet set = {.count = count,
                     .key_bytes = count * key_bytes,
                     .value_bytes = count * value_bytes,
                     .keys = workload_host_alloc(workload, count, key_bytes),
                     .values = workload_host_alloc(workload, count, value_bytes),
                     .records = workload_host_alloc(workload, count, sizeof(Record))};
    for (uint32_t i = 0; i < count; i++)
        set.records[i] = (Record){i * key_bytes, key_bytes, i * value_bytes, value_bytes};
    return set;
}

/* Replaces each count in `device` by the sum of the counts before it; returns the sum of all. */
static uint32_t sum_up(const Workload *workload, CUdeviceptr device, uint32_t count) {
    uint32_t last, sum;
    CUdeviceptr at_last = device + (count - 1) * sizeof last;
    workload_copy_to_host(&last, at_last, sizeof last);
    scan(workload, device, device, count);
    workload_copy_to_host(&sum, at_last, sizeof sum);
    return sum + last;
}

static void launch_phase(const Workload *workload, const char *phase, const MapCounts *counts,
                         void *output) {
    char name[64];
    Input input = {counts->keys, counts->values, counts->records, counts->threads};
    snprintf(name, sizeof name, "%s_%s", workload->info->name, phase);
    workload_launch(workload, name, workload_cover(counts->threads, MAPREDUCE_RUN),
                    (void *[]){&input, output});
}

MapCounts mapreduce_count(Workload *workload, const RecordSet *input) {
    size_t word_bytes = input->count * sizeof(uint32_t);
    MapCounts counts = {.threads = input->count,
                        .keys = workload_upload(input->keys, input->key_bytes),
                        .values = workload_upload(input->values, input->value_bytes),
                        .records = workload_upload(input->records, input->count * sizeof(Record)),
                        .first_key = workload_upload_zeros(word_bytes),
                        .first_value = workload_upload_zeros(word_bytes),
                        .first_record = workload_upload_zeros(word_bytes)};
    Totals totals = {counts.first_key, counts.first_value, counts.first_record};
    launch_phase(workload, "count", &counts, &totals);
    counts.key_bytes = sum_up(workload, counts.first_key, input->count);
    counts.value_bytes = sum_up(workload, counts.first_value, input->count);
    counts.emitted = sum_up(workload, counts.first_record, input->count);
    return counts;
}

DeviceRecords mapreduce_map(Workload *workload, const MapCounts *counts) {
    DeviceRecords emitted = {.count = counts->emitted,
                             .padded = MAPREDUCE_RUN,
                             .key_bytes = counts->key_bytes,
                             .value_bytes = counts->value_bytes};
    while (emitted.padded < emitted.count)
        emitted.padded *= 2;
    Record *records = workload_host_alloc(workload, emitted.padded, sizeof *records);
    for (uint32_t i = emitted.count; i < emitted.padded; i++)
        records[i].key = (uint32_t)NO_KEY;
    emitted.keys = workload_device_alloc(emitted.key_bytes);
    emitted.values = workload_device_alloc(emitted.value_bytes);
    emitted.records = workload_upload(records, emitted.padded * sizeof *records);
    Output output = {.first_key = counts->first_key,
                     .first_value = counts->first_value,
                     .first_record = counts->first_record,
                     .used = workload_upload_zeros(counts->threads * 2 * sizeof(uint32_t)),
                     .emitted = workload_upload_zeros(counts->threads * sizeof(uint32_t)),
                     .keys = emitted.keys,
                     .values = emitted.values,
                     .records = emitted.records};
    launch_phase(workload, "map", counts, &output);
    return emitted;
}

static size_t fill_bytes(const DeviceRecords *device) {
    return (device->padded - device->count) * sizeof(Record);
}

RecordSet mapreduce_fetch(Workload *workload, const DeviceRecords *device, bool is_sorted) {
    RecordSet set = {.count = device->count,
                     .key_bytes = device->key_bytes,
                     .value_bytes = device->value_bytes,
                     .keys = workload_host_alloc(workload, device->key_bytes, 1),
                     .values = workload_host_alloc(workload, device->value_bytes, 1),
                     .records = workload_host_alloc(workload, device->count, sizeof(Record))};
    workload_copy_to_host(set.keys, device->keys, set.key_bytes);
    workload_copy_to_host(set.values, device->values, set.value_bytes);
    workload_copy_to_host(set.records, device->records + (is_sorted ? fill_bytes(device) : 0),
                          set.count * sizeof(Record));
    return set;
}

static int compare_records(const Record *a, const Record *b, const RecordSet *set,
                           CompareKeys *compare, const uint8_t *texts) {
    if (a->key == (uint32_t)NO_KEY || b->key == (uint32_t)NO_KEY)
        return (int)(b->key == (uint32_t)NO_KEY) - (int)(a->key == (uint32_t)NO_KEY);
    return compare(set->keys + a->key, set->keys + b->key, texts);
}

uint32_t mapreduce_runs(const DeviceRecords *device, uint32_t phases, uint32_t runs) {
    if (phases == MAPREDUCE_ALL) return 0;
    uint32_t all = device->padded / MAPREDUCE_RUN;
    return runs == 0 || runs > all ? all : runs;
}

/* Sorts as the device does: runs of up to `longest` of the first `count` records. */
static void sort_on_host(Record *records, uint32_t count, uint32_t longest, const RecordSet *set,
                         CompareKeys *compare, const uint8_t *texts) {
    for (uint32_t run = 2; run <= longest; run *= 2)
        for (uint32_t distance = run / 2; distance > 0; distance /= 2)
            for (uint32_t i = 0; i < count; i++) {
                Record *low = &records[i], *high = &records[i ^ distance];
                if (high < low) continue;
                int difference = compare_records(low, high, set, compare, texts);
                if ((i & run) == 0 ? difference <= 0 : difference >= 0) continue;
                Record record = *low;
                *low = *high;
                *high = record;
            }
}

bool mapreduce_sort(Workload *workload, DeviceRecords *device, RecordSet *emitted, uint32_t runs,
                    CompareKeys *compare, const uint8_t *texts) {
    uint32_t padded = device->padded, longest = runs ? MAPREDUCE_RUN : padded;
    uint32_t count = runs ? runs * MAPREDUCE_RUN : padded;
    size_t bytes = padded * sizeof(Record);
    Record *expected = workload_host_alloc(workload, padded, sizeof(Record));
    workload_copy_to_host(expected, device->records, bytes);

    WorkloadShape shape = workload_cover(count, MAPREDUCE_RUN);
    CUdeviceptr records = device->records, keys = device->keys;
    workload_launch(workload, "mapreduce_sort_runs", shape, (void *[]){&records, &keys});
    for (uint32_t run = 2 * MAPREDUCE_RUN; run <= longest; run *= 2) {
        for (uint32_t distance = run / 2; distance >= MAPREDUCE_RUN; distance /= 2)
            workload_launch(workload, "mapreduce_sort_step", shape,
                            (void *[]){&records, &keys, &distance, &run});
        workload_launch(workload, "mapreduce_sort_last", shape, (void *[]){&records, &keys, &run});
    }

    sort_on_host(expected, count, longest, emitted, compare, texts);
    for (uint32_t i = 1; i < count; i++) {
        int difference = compare_records(&expected[i - 1], &expected[i], emitted, compare, texts);
        if (i % longest != 0 && ((i & longest) == 0 ? difference > 0 : difference < 0))
            workload_fail(workload->info->name, "records %u and %u are out of order", i - 1, i);
    }
    memcpy(emitted->records, expected + padded - device->count, device->count * sizeof(Record));
    return workload_verify_words(workload, records, &expected->key, bytes / sizeof(uint32_t));
}

uint32_t *mapreduce_group(Workload *workload, const DeviceRecords *device, const RecordSet *sorted,
                          CompareKeys *compare, const uint8_t *texts, uint32_t *groups) {
    uint32_t count = device->count;
    CUdeviceptr records = device->records + fill_bytes(device), keys = device->keys;
    CUdeviceptr device_is_first = workload_device_alloc(count * sizeof(uint32_t));
    workload_launch(workload, "mapreduce_group", workload_cover(count, MAPREDUCE_RUN),
                    (void *[]){&records, &keys, &device_is_first, &count});
    uint32_t *is_first = workload_host_alloc(workload, count, sizeof *is_first);
    uint32_t *starts = workload_host_alloc(workload, (size_t)count + 1, sizeof *starts);
    *groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Record *record = &sorted->records[i];
        is_first[i] = i == 0 || compare_records(record - 1, record, sorted, compare, texts) != 0;
        if (is_first[i]) starts[(*groups)++] = i;
    }
    starts[*groups] = count;
    return workload_verify_words(workload, device_is_first, is_first, count) ? starts : NULL;
}

uint32_t mapreduce_hash(const uint8_t *text, uint32_t bytes) {
    uint32_t hash = bytes;
    for (uint32_t i = 0; i < bytes; i++)
        hash = (hash << 4) ^ (hash >> 28) ^ text[i];
    return hash;
}

int mapreduce_compare_texts(const void *a, const void *b, const uint8_t *texts) {
    const TextKey *key_a = a, *key_b = b;
    if (key_a->hash != key_b->hash) return key_a->hash < key_b->hash ? -1 : 1;
    return strcmp((const char *)texts + key_a->offset, (const char *)texts + key_b->offset);
}
