/* One level of breadth-first search on a graph in CSR form, one node per thread: a node of `level`
 * gives level + 1 to its neighbours without a level. Threads that meet at a neighbour write the
 * same value, so their order does not matter. The accesses are relaxed atomics, because unordered
 * plain accesses would be data races. */
#include "tyto_device.h"

enum : unsigned { UNREACHED = 0xffffffffu };

extern "C" __global__ void bfs(const unsigned *row_offsets, const unsigned *neighbours,
                               unsigned *levels, unsigned *has_grown, unsigned level, unsigned n) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || __atomic_load_n(&levels[node], __ATOMIC_RELAXED) != level) return;
    unsigned end = row_offsets[node + 1];
    for (unsigned edge = row_offsets[node]; edge < end; edge++) {
        unsigned neighbour = neighbours[edge];
        if (__atomic_load_n(&levels[neighbour], __ATOMIC_RELAXED) == UNREACHED) {
            __atomic_store_n(&levels[neighbour], level + 1, __ATOMIC_RELAXED);
            *has_grown = 1;
        }
    }
}
