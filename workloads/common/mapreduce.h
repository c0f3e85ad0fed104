/* The host side of the MapReduce workloads: one launch counts what each input item will emit,
 * prefix sums give every item its place, a second launch emits, and a bitonic sort brings equal
 * keys together. A program's kernels include common/mapreduce.cuh. */
#ifndef TYTO_WORKLOAD_MAPREDUCE_H
#define TYTO_WORKLOAD_MAPREDUCE_H

#include "workload.h"

enum { MAPREDUCE_THREADS = 256 };

/* How far to go. At size paper only as far as the papers' simulations, which end after so many
 * instructions: with logs of megabytes they do not get beyond the map phase. */
enum { MAPREDUCE_MAP_ALONE = 1, MAPREDUCE_ALL };
#define MAPREDUCE_PHASES                                                                           \
    {"phases", "1: map alone; 2: sort and reduce too", {2, 2, 1}, MAPREDUCE_ALL, 0}

/* As the kernels have it. */
typedef struct Record {
    uint32_t key;    /* offset of its bytes in the pool */
    uint32_t length; /* of the key in bytes */
    uint32_t value;
    uint32_t order; /* of its emission */
} Record;

/* What a map phase emits. */
typedef struct MapReduce {
    uint32_t count;       /* records */
    uint32_t padded;      /* the same, up to a power of two and a whole CTA */
    uint32_t pool_bytes;  /* of all keys */
    CUdeviceptr records;  /* padded */
    CUdeviceptr pool;     /* of keys */
    Record *host_records; /* as the map phase left them (mapreduce_fetch) */
    uint8_t *host_pool;
} MapReduce;

/* Replaces counts by the sums of those before; returns the sum of all. */
uint32_t mapreduce_prefix_sums(uint32_t *counts, size_t items);
/* Room for `count` records with keys of `pool_bytes` in all; the padding is filled. */
MapReduce mapreduce_open(Workload *workload, uint32_t count, uint32_t pool_bytes);
/* Copies records and keys to the host, to be checked, and sorted there by mapreduce_verify. */
void mapreduce_fetch(MapReduce *m);
/* Sorts the records on the device. */
void mapreduce_sort(const Workload *workload, const MapReduce *m);
/* Sorts the fetched records too; true when the device's are in the same order. */
bool mapreduce_verify(Workload *workload, MapReduce *m);
/* The first record of each key as the device finds them, and the count of records at the end. */
uint32_t *mapreduce_group(Workload *workload, const MapReduce *m, uint32_t *groups);
/* True when these are the groups of the records sorted by mapreduce_verify. */
bool mapreduce_verify_groups(Workload *workload, const MapReduce *m, const uint32_t *starts,
                             uint32_t groups);

#endif
