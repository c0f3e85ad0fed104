/* Colouring of an undirected graph in CSR form, one node per thread, as in Pannotia's color_max
 * (Che et al., IISWC 2013). Two kernels alternate: nodes without a colour find the largest weight
 * among their neighbours without one, then the nodes with a larger weight take the round's colour.
 */
#include "tyto_device.h"

enum : unsigned { NO_COLOUR = 0xffffffffu };

extern "C" __global__ void colouring_find(const unsigned *row_offsets, const unsigned *neighbours,
                                          const unsigned *weights, const unsigned *colours,
                                          unsigned *largest, unsigned *is_unfinished,
                                          unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || colours[node] != NO_COLOUR) return;
    *is_unfinished = 1;
    unsigned most = 0, end = row_offsets[node + 1];
    for (unsigned edge = row_offsets[node]; edge < end; edge++) {
        unsigned neighbour = neighbours[edge];
        if (colours[neighbour] == NO_COLOUR) most = max(most, weights[neighbour]);
    }
    largest[node] = most;
}

/* An edge from a node to itself is no obstacle: then the largest weight is the node's own. */
extern "C" __global__ void colouring_take(const unsigned *weights, const unsigned *largest,
                                          unsigned *colours, unsigned colour, unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || colours[node] != NO_COLOUR || weights[node] < largest[node]) return;
    colours[node] = colour;
}
