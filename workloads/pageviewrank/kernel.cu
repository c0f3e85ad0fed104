/* Ranks pages by their views, as MapReduce: an item is a page, its key the count of views, written
 * so that bytes in rising order mean falling counts. */
#include "../common/mapreduce.cuh"

enum { KEY_BYTES = 4 };

extern "C" __global__ void pageviewrank_map(const unsigned *views, unsigned char *pool,
                                            Record *records, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned key = ~views[i];
    for (unsigned byte = 0; byte < KEY_BYTES; byte++)
        pool[i * KEY_BYTES + byte] = (unsigned char)(key >> (24 - 8 * byte));
    records[i] = {i * KEY_BYTES, KEY_BYTES, i, i};
}
