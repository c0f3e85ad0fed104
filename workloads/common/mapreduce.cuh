/* The device side of the MapReduce workloads: records that refer to keys in a pool of bytes, and
 * the kernels that sort and group them, whatever the map phase of a program put into them. */
#ifndef TYTO_WORKLOAD_MAPREDUCE_CUH
#define TYTO_WORKLOAD_MAPREDUCE_CUH

#include "tyto_device.h"

enum : unsigned {
    NO_KEY = 0xffffffffu
}; /* as a length: a record that only fills up, sorted last */

struct __align__(16) Record {
    unsigned key;    /* offset of its bytes in the pool */
    unsigned length; /* of the key in bytes, or NO_KEY */
    unsigned value;
    unsigned order; /* of its emission; decides between equal keys */
};

/* Less than, equal to or greater than 0 as key a comes before, is, or comes after key b. */
static __device__ int compare_keys(const unsigned char *pool, Record a, Record b) {
    if (a.length == NO_KEY || b.length == NO_KEY)
        return (int)(a.length == NO_KEY) - (int)(b.length == NO_KEY);
    unsigned shared = min(a.length, b.length);
    for (unsigned i = 0; i < shared; i++) {
        int difference = (int)pool[a.key + i] - (int)pool[b.key + i];
        if (difference != 0) return difference;
    }
    return (int)a.length - (int)b.length;
}

/* One step of a bitonic sort: compares records `distance` apart, of runs of `run` records that are
 * to rise and fall in turn. */
extern "C" __global__ void mapreduce_sort(Record *records, const unsigned char *pool,
                                          unsigned distance, unsigned run) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = i ^ distance;
    if (other < i) return;
    Record a = records[i], b = records[other];
    int difference = compare_keys(pool, a, b);
    if (difference == 0) difference = a.order < b.order ? -1 : 1;
    bool is_rising = (i & run) == 0;
    if ((difference > 0) != is_rising) return;
    records[i] = b;
    records[other] = a;
}

/* Marks the first record of each key. */
extern "C" __global__ void mapreduce_group(const Record *records, const unsigned char *pool,
                                           unsigned *is_first, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    is_first[i] = i == 0 || compare_keys(pool, records[i - 1], records[i]) != 0;
}

#endif
