/* The kernel of a solver of partial differential equations on an unstructured mesh: a sweep over
 * the nodes, one per thread, moves each node by its differences from its neighbours. */
#include "tyto_device.h"

enum : unsigned { EDGES_OF_NODE = 24 };

extern "C" __global__ void irreg(const unsigned *neighbours, const float *values, float *next,
                                 unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    float own = values[node], sum = 0.0f;
#pragma unroll 1
    for (unsigned i = 0; i < EDGES_OF_NODE; i++)
        sum += 0.5f * (values[neighbours[i * nodes + node]] - own);
    next[node] = own + sum;
}
