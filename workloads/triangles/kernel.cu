/* Counts triangles. Each edge of an undirected graph leads from the node with fewer edges to the
 * other one, and lists of neighbours ascend, in CSR form. A triangle is then a common neighbour of
 * the two nodes of one edge. A thread merges the lists of an edge's nodes (as in Polak, arXiv
 * 1503.00576), or the lanes of a warp search the longer list for the nodes of the shorter one (as
 * in TriCore; Hu, Liu and Huang, SC 2018). */
#include "tyto_device.h"

enum : unsigned { WARP = 32, ALL_LANES = 0xffffffffu };

/* Adds what the CTA's threads found, with one atomic on global memory. All threads call it. */
static __device__ void add_up(unsigned found, unsigned long long *total) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        found += __shfl_down_sync(ALL_LANES, found, (int)distance);
    __syncthreads();
    if (threadIdx.x % WARP == 0) atomicAdd(&sum, found);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, (unsigned long long)sum);
}

/* `sources`: the node that each edge leads from; `neighbours`: the one it leads to. */
extern "C" __global__ void triangles_merge(const unsigned *__restrict__ row_offsets,
                                           const unsigned *__restrict__ neighbours,
                                           const unsigned *__restrict__ sources,
                                           unsigned long long *total, unsigned edges) {
    unsigned edge = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    if (edge < edges) {
        unsigned source = sources[edge], target = neighbours[edge];
        unsigned i = row_offsets[source], i_end = row_offsets[source + 1];
        unsigned j = row_offsets[target], j_end = row_offsets[target + 1];
        while (i < i_end && j < j_end) {
            unsigned left = neighbours[i], right = neighbours[j];
            found += left == right;
            i += left <= right;
            j += left >= right;
        }
    }
    add_up(found, total);
}

/* 1 if the ascending list of `count` nodes contains `node`, else 0. */
static __device__ unsigned contains(const unsigned *__restrict__ list, unsigned count,
                                    unsigned node) {
    unsigned low = 0, high = count;
    while (low < high) {
        unsigned middle = (low + high) / 2, value = list[middle];
        if (value == node) return 1;
        if (value < node) low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* One edge per warp. */
extern "C" __global__ void triangles_search(const unsigned *__restrict__ row_offsets,
                                            const unsigned *__restrict__ neighbours,
                                            const unsigned *__restrict__ sources,
                                            unsigned long long *total, unsigned edges) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, edge = thread / WARP, found = 0;
    if (edge < edges) {
        unsigned source = sources[edge], target = neighbours[edge];
        unsigned shorter = row_offsets[source], shorter_count = row_offsets[source + 1] - shorter;
        unsigned longer = row_offsets[target], longer_count = row_offsets[target + 1] - longer;
        if (shorter_count > longer_count) {
            unsigned first = shorter, count = shorter_count;
            shorter = longer, shorter_count = longer_count;
            longer = first, longer_count = count;
        }
        for (unsigned i = thread % WARP; i < shorter_count; i += WARP)
            found += contains(&neighbours[longer], longer_count, neighbours[shorter + i]);
    }
    add_up(found, total);
}
