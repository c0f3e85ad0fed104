/* Breadth-first search with masks: nodes of the frontier, one per thread, give their neighbours a
 * cost and mark them; a second kernel makes the marked ones the next frontier. */
#include "tyto_device.h"

/* The start and the number of a node's edges. */
struct Node {
    unsigned first, count;
};

extern "C" __global__ void bfsr_expand(const Node *nodes, const unsigned *neighbours,
                                       unsigned char *is_frontier, unsigned char *is_marked,
                                       const unsigned char *is_visited, unsigned *costs,
                                       unsigned count) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !is_frontier[node]) return;
    is_frontier[node] = 0;
    for (unsigned edge = nodes[node].first; edge < nodes[node].first + nodes[node].count; edge++) {
        unsigned neighbour = neighbours[edge];
        if (is_visited[neighbour]) continue;
        costs[neighbour] = costs[node] + 1;
        is_marked[neighbour] = 1;
    }
}

extern "C" __global__ void bfsr_advance(unsigned char *is_frontier, unsigned char *is_marked,
                                        unsigned char *is_visited, unsigned *has_grown,
                                        unsigned count) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !is_marked[node]) return;
    is_frontier[node] = 1;
    is_visited[node] = 1;
    is_marked[node] = 0;
    *has_grown = 1;
}
