/* An iteration of PageRank on an undirected graph in CSR form. It pulls: each node sums the shares
 * of its neighbours, so no atomics are needed. Three kernels sum for a list of nodes with a thread,
 * a warp or a CTA for each. The shares for the next iteration are in another array, as other
 * threads still read this one. */
#include "tyto_device.h"

enum : unsigned { WARP = 32, THREADS = 256, ALL_LANES = 0xffffffffu };

/* The chance that a walker follows an edge, as in GAP. */
static const float DAMPING = 0.85f;

/* Stores a node's rank, and the share of it that each neighbour gets. Ranks have a mean of at most
 * 1. The fused product and sum are exact on the CPU too. */
static __device__ void settle(unsigned node, unsigned degree, float sum,
                              float *__restrict__ next_shares, float *__restrict__ ranks) {
    float rank = fmaf(DAMPING, sum, 1.0f - DAMPING);
    ranks[node] = rank;
    next_shares[node] = degree ? rank / (float)degree : 0.0f;
}

/* Sums the shares of every `step`-th neighbour of a node. */
static __device__ float pull(const unsigned *__restrict__ neighbours,
                             const float *__restrict__ shares, unsigned first, unsigned end,
                             unsigned step) {
    float sum = 0.0f;
    for (unsigned edge = first; edge < end; edge += step)
        sum += shares[neighbours[edge]];
    return sum;
}

extern "C" __global__ void
pagerank_thread(const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ neighbours,
                const unsigned *__restrict__ list, const float *__restrict__ shares,
                float *__restrict__ next_shares, float *__restrict__ ranks, unsigned count) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    unsigned node = list[thread], first = row_offsets[node], end = row_offsets[node + 1];
    float sum = pull(neighbours, shares, first, end, 1);
    settle(node, end - first, sum, next_shares, ranks);
}

extern "C" __global__ void
pagerank_warp(const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ neighbours,
              const unsigned *__restrict__ list, const float *__restrict__ shares,
              float *__restrict__ next_shares, float *__restrict__ ranks, unsigned count) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % WARP;
    if (thread / WARP >= count) return;
    unsigned node = list[thread / WARP], first = row_offsets[node], end = row_offsets[node + 1];
    float sum = pull(neighbours, shares, first + lane, end, WARP);
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, (int)distance);
    if (lane == 0) settle(node, end - first, sum, next_shares, ranks);
}

extern "C" __global__ void
pagerank_cta(const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ neighbours,
             const unsigned *__restrict__ list, const float *__restrict__ shares,
             float *__restrict__ next_shares, float *__restrict__ ranks) {
    __shared__ float sums[THREADS];
    unsigned thread = threadIdx.x, node = list[blockIdx.x];
    unsigned first = row_offsets[node], end = row_offsets[node + 1];
    sums[thread] = pull(neighbours, shares, first + thread, end, THREADS);
    for (unsigned distance = THREADS / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (thread < distance) sums[thread] += sums[thread + distance];
    }
    if (thread == 0) settle(node, end - first, sums[0], next_shares, ranks);
}
