/* Constant tables of structs with padding, floats, doubles and nested arrays, indexed by data. */
#include "kernel.h"

struct Entry {
    char tag;
    double weight;
    short pair[2];
    float bias;
};

static __constant__ Entry constant_entries[4] = {
    {'a', 1.5, {1, -2}, 0.25f},
    {'b', -2.25, {300, 4}, -8.0f},
    {'c', 1e10, {-32768, 32767}, 3.0f},
    {'d', 0.0, {0, 0}, 0.5f},
};

static __device__ const unsigned char device_bytes[2][3] = {{1, 2, 3}, {250, 251, 252}};

extern "C" __global__ void const_tables(const unsigned *in, double *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i];
    const Entry &entry = constant_entries[x & 3];
    out[i] = entry.tag + entry.weight + entry.pair[(x >> 2) & 1] + entry.bias +
             device_bytes[(x >> 3) & 1][x % 3];
}
