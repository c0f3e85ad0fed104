/* Counts the views of every page in a web server's log, as MapReduce: an item is a line, its key
 * the address before the first tab. */
#include "../common/mapreduce.cuh"

/* How long the key of every line is. */
extern "C" __global__ void pageviewcount_measure(const unsigned char *log, const unsigned *lines,
                                                 unsigned *key_bytes, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned length = 0;
    while (log[lines[i] + length] != '\t')
        length++;
    key_bytes[i] = length;
}

/* Copies every key to its place in the pool, and emits it with the value 1. */
extern "C" __global__ void pageviewcount_map(const unsigned char *log, const unsigned *lines,
                                             const unsigned *places, unsigned char *pool,
                                             Record *records, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned length = 0;
    for (; log[lines[i] + length] != '\t'; length++)
        pool[places[i] + length] = log[lines[i] + length];
    records[i] = {places[i], length, 1, i};
}

/* Adds up the values of each group of records with one key: group i ends where i + 1 starts. */
extern "C" __global__ void pageviewcount_reduce(const Record *records, const unsigned *starts,
                                                unsigned *views, unsigned groups) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    unsigned sum = 0;
    for (unsigned record = starts[i]; record < starts[i + 1]; record++)
        sum += records[record].value;
    views[i] = sum;
}
