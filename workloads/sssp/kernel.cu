/* Shortest paths from one node of a weighted graph in CSR form, one node per thread. Two kernels
 * alternate: the active nodes propose paths to their neighbours, then each node with a shorter
 * proposed path takes it and becomes active. */
#include "tyto_device.h"

extern "C" __global__ void sssp_propose(const unsigned *row_offsets, const unsigned *neighbours,
                                        const unsigned *lengths, unsigned *is_active,
                                        const unsigned *distances, unsigned *proposals,
                                        unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !is_active[node]) return;
    is_active[node] = 0;
    unsigned distance = distances[node], end = row_offsets[node + 1];
    for (unsigned edge = row_offsets[node]; edge < end; edge++)
        atomicMin(&proposals[neighbours[edge]], distance + lengths[edge]);
}

extern "C" __global__ void sssp_settle(unsigned *is_active, unsigned *distances,
                                       const unsigned *proposals, unsigned *has_changed,
                                       unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || proposals[node] >= distances[node]) return;
    distances[node] = proposals[node];
    is_active[node] = 1;
    *has_changed = 1;
}
