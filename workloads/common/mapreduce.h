/* The host side of the MapReduce workloads: records whose keys and values lie in pools, the
 * launches that map them, which count, sum up and emit, and the bitonic sort. A
 * program's kernels include common/mapreduce.cuh; they are NAME_count and NAME_map. */
#ifndef TYTO_WORKLOAD_MAPREDUCE_H
#define TYTO_WORKLOAD_MAPREDUCE_H

#include "workload.h"

enum { MAPREDUCE_RUN = 256 /* threads of a CTA, and records that it sorts */ };

/* How far to go. Size paper goes only as far as the papers' simulations, which end after a number
 * of instructions, with the suite's inputs. */
enum { MAPREDUCE_COUNT = 1, MAPREDUCE_MAP, MAPREDUCE_RUNS, MAPREDUCE_ALL };
#define MAPREDUCE_PHASES(paper)                                                                    \
    {"phases",                                                                                     \
     "1: count; 2: emit too; 3: sort runs of 256 records; 4: sort and group all",                  \
     {MAPREDUCE_ALL, MAPREDUCE_ALL, paper},                                                        \
     MAPREDUCE_ALL,                                                                                \
     0}
#define MAPREDUCE_SORTED_RUNS(paper)                                                               \
    {"runs",                                                                                       \
     "of 256 records that phase 3 sorts, the first ones; 0: all",                                  \
     {0, 0, paper},                                                                                \
     1u << 15,                                                                                     \
     0}

/* As the kernels have it: offsets in the pools, and sizes. */
typedef struct Record {
    uint32_t key, key_bytes, value, value_bytes;
} Record;

/* A key that is text up to a zero, as the kernels have it. */
typedef struct TextKey {
    CUdeviceptr text;
    uint32_t offset, hash; /* from `text` */
} TextKey;

/* Records and the pools that they lie in, on the host. */
typedef struct RecordSet {
    uint32_t count;
    uint32_t key_bytes, value_bytes; /* of the pools */
    uint8_t *keys, *values;
    Record *records;
} RecordSet;

/* Records on the device that a map phase reads, and what it will emit: for each thread the bytes of
 * keys and of values and the records of those before it, and of all. */
typedef struct MapCounts {
    uint32_t threads;
    CUdeviceptr keys, values, records; /* that it reads */
    CUdeviceptr first_key, first_value, first_record;
    uint32_t key_bytes, value_bytes, emitted;
} MapCounts;

/* Records and their pools on the device; before its `count` records are those that fill up to
 * `padded`, once they are sorted, and behind them before. */
typedef struct DeviceRecords {
    uint32_t count, padded;
    uint32_t key_bytes, value_bytes;
    CUdeviceptr keys, values, records;
} DeviceRecords;

/* Less than, equal to or greater than 0 as the key at `a` comes before, with, or after `b`'s.
 * `texts`: what TextKey.text refers to, on the host. */
typedef int CompareKeys(const void *a, const void *b, const uint8_t *texts);

/* Room for `count` records with a key and a value of these sizes each. */
RecordSet mapreduce_records(Workload *workload, uint32_t count, uint32_t key_bytes,
                            uint32_t value_bytes);
/* A map phase's first kernel: what each thread will emit. */
MapCounts mapreduce_count(Workload *workload, const RecordSet *input);
/* Its second one: what they emit. */
DeviceRecords mapreduce_map(Workload *workload, const MapCounts *counts);
/* A copy for the host, of the unsorted records or of the sorted ones. */
RecordSet mapreduce_fetch(Workload *workload, const DeviceRecords *device, bool is_sorted);
/* Sorts on the device, the first `runs` runs alone or, if 0, all records, and does the same with
 * `emitted`; true when both agree and are in order. */
bool mapreduce_sort(Workload *workload, DeviceRecords *device, RecordSet *emitted, uint32_t runs,
                    CompareKeys *compare, const uint8_t *texts);
/* The number of runs for these phases, when `runs` runs are asked for. */
uint32_t mapreduce_runs(const DeviceRecords *device, uint32_t phases, uint32_t runs);
/* Where each key's records begin, among the sorted ones, as the device finds it, and their count at
 * the end. NULL when `sorted` says otherwise. */
uint32_t *mapreduce_group(Workload *workload, const DeviceRecords *device, const RecordSet *sorted,
                          CompareKeys *compare, const uint8_t *texts, uint32_t *groups);
/* For TextKey. */
uint32_t mapreduce_hash(const uint8_t *text, uint32_t bytes);
CompareKeys mapreduce_compare_texts;

#endif
