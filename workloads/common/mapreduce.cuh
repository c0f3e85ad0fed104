/* The device side of the MapReduce workloads, which work as Mars does (He et al., PACT 2008). A
 * first kernel counts what each thread will emit, prefix sums give each thread its places, a second
 * kernel emits byte by byte, and a bitonic sort brings equal keys together. Keys and values are in
 * pools, and records have their offsets. A program has one input record for each thread, and
 * defines compare_keys. */
#ifndef TYTO_WORKLOAD_MAPREDUCE_CUH
#define TYTO_WORKLOAD_MAPREDUCE_CUH

#include "scan.cuh"

/* The same values as in the host's program (common/mapreduce.h). */
enum : unsigned { RUN = 256, NO_KEY = 0xffffffffu /* as a key: a record that is only padding */ };

/* Offset in the pool and size of a key (x, y) and a value (z, w). */
typedef uint4 Record;

struct Input {
    unsigned char *keys, *values;
    const Record *records;
    unsigned count;
};

/* The total that each thread will emit. */
struct Totals {
    unsigned *key_bytes, *value_bytes, *records;
};

/* The start of each thread's keys, values and records, and its progress. */
struct Output {
    const unsigned *first_key, *first_value, *first_record;
    uint2 *used; /* bytes of keys and of values */
    unsigned *emitted;
    unsigned char *keys, *values;
    Record *records;
};

/* Less than, equal to or greater than 0 if key a comes before, is equal to, or comes after key b.
 */
static __device__ int compare_keys(const unsigned char *a, const unsigned char *b);

static __device__ unsigned map_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

/* Five words of shared memory for the next emission of a thread. */
[[maybe_unused]] static __device__ int *own_words() {
    __shared__ int words[RUN * 5];
    return words + threadIdx.x * 5;
}

static __device__ void count_record(Totals totals, unsigned key_bytes, unsigned value_bytes) {
    unsigned i = map_thread();
    totals.key_bytes[i] += key_bytes;
    totals.value_bytes[i] += value_bytes;
    totals.records[i]++;
}

/* Copies a key and a value to the thread's places, byte by byte, and writes their record. */
static __device__ void emit(Output output, const void *key, const void *value, unsigned key_bytes,
                            unsigned value_bytes) {
    unsigned i = map_thread();
    uint2 used = output.used[i];
    unsigned char *to_key = output.keys + output.first_key[i] + used.x;
    unsigned char *to_value = output.values + output.first_value[i] + used.y;
    for (unsigned byte = 0; byte < key_bytes; byte++)
        to_key[byte] = ((const unsigned char *)key)[byte];
    for (unsigned byte = 0; byte < value_bytes; byte++)
        to_value[byte] = ((const unsigned char *)value)[byte];
    used.x += key_bytes;
    used.y += value_bytes;
    output.used[i] = used;

    unsigned emitted = output.emitted[i], at = output.first_record[i] + emitted;
    Record record = output.records[at];
    record.x = output.first_key[i];
    record.z = output.first_value[i];
    if (emitted != 0) {
        Record before = output.records[at - 1];
        record.x = before.x + before.y;
        record.z = before.z + before.w;
    }
    record.y = key_bytes;
    record.w = value_bytes;
    output.records[at] = record;
    output.emitted[i] = emitted + 1;
}

/* Copies the parts, which the compiler keeps in registers, unlike a copy of the whole, and still
 * loads at once. */
static __device__ Record load_record(const Record *record) {
    return {record->x, record->y, record->z, record->w};
}

/* Padding records come first. */
static __device__ int compare_records(const unsigned char *keys, Record a, Record b) {
    if (a.x == NO_KEY || b.x == NO_KEY) return (int)(b.x == NO_KEY) - (int)(a.x == NO_KEY);
    return compare_keys(keys + a.x, keys + b.x);
}

/* Puts records[low] and records[high] in ascending or descending order. */
static __device__ void order_pair(Record *records, const unsigned char *keys, unsigned low,
                                  unsigned high, bool rises) {
    Record a = load_record(records + low), b = load_record(records + high);
    int difference = compare_records(keys, a, b);
    if (rises ? difference <= 0 : difference >= 0) return;
    records[low] = b;
    records[high] = a;
}

/* The steps of a bitonic sort at distances below half of `run`, among a CTA's records in shared
 * memory. */
static __device__ void order_half_runs(Record *shared, const unsigned char *keys, unsigned run,
                                       bool rises) {
    unsigned lane = threadIdx.x;
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
        unsigned other = lane ^ distance;
        if (other > lane) order_pair(shared, keys, lane, other, rises);
        __syncthreads();
    }
}

/* Sorts each CTA's records, alternately ascending and descending. */
extern "C" __global__ void mapreduce_sort_runs(Record *records, const unsigned char *keys) {
    __shared__ Record shared[RUN];
    unsigned lane = threadIdx.x, i = map_thread();
    shared[lane] = load_record(records + i);
    __syncthreads();
    for (unsigned run = 2; run <= RUN; run *= 2)
        order_half_runs(shared, keys, run, (i & run) == 0);
    records[i] = load_record(shared + lane);
}

/* The last steps of a longer run, within each CTA's records. */
extern "C" __global__ void mapreduce_sort_last(Record *records, const unsigned char *keys,
                                               unsigned run) {
    __shared__ Record shared[RUN];
    unsigned lane = threadIdx.x, i = map_thread();
    shared[lane] = load_record(records + i);
    __syncthreads();
    order_half_runs(shared, keys, RUN, (i & run) == 0);
    records[i] = load_record(shared + lane);
}

/* One step of a longer run: records `distance` apart, a CTA's width or more. */
extern "C" __global__ void mapreduce_sort_step(Record *records, const unsigned char *keys,
                                               unsigned distance, unsigned run) {
    unsigned i = map_thread(), other = i ^ distance;
    if (other > i) order_pair(records, keys, i, other, (i & run) == 0);
}

/* Marks the first record of each key. */
extern "C" __global__ void mapreduce_group(const Record *records, const unsigned char *keys,
                                           unsigned *is_first, unsigned count) {
    unsigned i = map_thread();
    if (i >= count) return;
    is_first[i] = i == 0 || compare_records(keys, records[i - 1], records[i]) != 0;
}

#endif
