/* Breadth-first search with masks of bytes in one kernel: nodes of the frontier, one per thread,
 * give the neighbours that are not visited a cost and put them into the frontier. A thread that
 * reads its node's mask later expands the node in the same launch. So the costs depend on the order
 * of the threads, but the visited nodes do not. The accesses are relaxed atomics, because unordered
 * plain accesses would be data races. */
#include "tyto_device.h"

/* The start and the number of a node's edges. */
struct Node {
    unsigned first, count;
};

template <typename T> static __device__ T look(const T *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <typename T> static __device__ void put(T *word, T value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

extern "C" __global__ void bfsmask(const Node *nodes, const unsigned *neighbours,
                                   unsigned char *is_frontier, unsigned char *is_visited,
                                   unsigned *costs, unsigned char *has_grown, unsigned count) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !look(&is_frontier[node])) return;
    put(&is_frontier[node], static_cast<unsigned char>(0));
    put(&is_visited[node], static_cast<unsigned char>(1));
    for (unsigned edge = nodes[node].first; edge < nodes[node].first + nodes[node].count; edge++) {
        unsigned neighbour = neighbours[edge];
        if (look(&is_visited[neighbour])) continue;
        put(&costs[neighbour], look(&costs[node]) + 1);
        put(&is_frontier[neighbour], static_cast<unsigned char>(1));
        put(has_grown, static_cast<unsigned char>(1));
    }
}
