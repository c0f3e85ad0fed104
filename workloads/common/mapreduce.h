/* The host side of the MapReduce workloads: records whose keys and values are in pools, the
 * launches of the map phase (count, prefix sums, emit), and the bitonic sort. A program's kernels
 * include common/mapreduce.cuh; they are NAME_count and NAME_map. */
#ifndef TYTO_WORKLOAD_MAPREDUCE_H
#define TYTO_WORKLOAD_MAPREDUCE_H

#include "workload.h"

enum { MAPREDUCE_RUN = 256 /* threads of a CTA, and records that a CTA sorts */ };

/* How many phases to run. Size paper runs only as far as the papers' simulations, which end after a
 * number of instructions, with the suite's inputs. */
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

/* The same layout as in the kernels: offsets in the pools, and sizes. */
typedef struct Record {
    uint32_t key, key_bytes, value, value_bytes;
} Record;

/* A key that is text up to a zero; the same layout as in the kernels. */
typedef struct TextKey {
    CUdeviceptr text;
    uint32_t offset, hash; /* from `text` */
} TextKey;

/* Records and their pools, on the host. */
typedef struct RecordSet {
    uint32_t count;
    uint32_t key_bytes, value_bytes; /* of the pools */
    uint8_t *keys, *values;
    Record *records;
} RecordSet;

/* Records on the device that a map phase reads, and the amounts that it will emit: for each thread,
 * the bytes of keys, the bytes of values and the records of the threads before it, and of all
 * threads. */
typedef struct MapCounts {
    uint32_t threads;
    CUdeviceptr keys, values, records; /* that it reads */
    CUdeviceptr first_key, first_value, first_record;
    uint32_t key_bytes, value_bytes, emitted;
} MapCounts;

/* Records and their pools on the device. Padding records fill them up to `padded`: after the
 * `count` records before the sort, and before them after the sort. */
typedef struct DeviceRecords {
    uint32_t count, padded;
    uint32_t key_bytes, value_bytes;
    CUdeviceptr keys, values, records;
} DeviceRecords;

/* Less than, equal to or greater than 0 if the key at `a` comes before, is equal to, or comes after
 * the key at `b`. `texts`: the base of TextKey.text, on the host. */
typedef int CompareKeys(const void *a, const void *b, const uint8_t *texts);

/* Allocates room for `count` records, each with a key and a value of these sizes. */
RecordSet mapreduce_records(Workload *workload, uint32_t count, uint32_t key_bytes,
                            uint32_t value_bytes);
/* Runs a map phase's first kernel, which counts what each thread will emit. */
MapCounts mapreduce_count(Workload *workload, const RecordSet *input);
/* Runs its second kernel, which emits. */
DeviceRecords mapreduce_map(Workload *workload, const MapCounts *counts);
/* Copies the unsorted or the sorted records to the host. */
RecordSet mapreduce_fetch(Workload *workload, const DeviceRecords *device, bool is_sorted);
/* Sorts on the device, only the first `runs` runs or, if 0, all records. Sorts `emitted` in the
 * same way; true if both agree and are in order. */
bool mapreduce_sort(Workload *workload, DeviceRecords *device, RecordSet *emitted, uint32_t runs,
                    CompareKeys *compare, const uint8_t *texts);
/* The number of runs for these phases, if the user asks for `runs`. */
uint32_t mapreduce_runs(const DeviceRecords *device, uint32_t phases, uint32_t runs);
/* The start of each key's records among the sorted records, as the device finds it, and their count
 * at the end. NULL if `sorted` disagrees. */
uint32_t *mapreduce_group(Workload *workload, const DeviceRecords *device, const RecordSet *sorted,
                          CompareKeys *compare, const uint8_t *texts, uint32_t *groups);
/* For TextKey. */
uint32_t mapreduce_hash(const uint8_t *text, uint32_t bytes);
CompareKeys mapreduce_compare_texts;

#endif
