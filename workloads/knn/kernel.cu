/* The nearest neighbours of queries among points in a k-d tree, one query per thread. The tree is
 * left-balanced, so that the children of node i are 2 i + 1 and 2 i + 2. A thread goes through it
 * without a stack: the node that it came from determines the next one (Wald, A stack-free traversal
 * algorithm for left-balanced k-d trees, arXiv 2210.12859, 2022). The nearest points so far are in
 * registers, in order. */
#include "tyto_device.h"

typedef unsigned long long Candidate; /* the squared distance's bits, then the point's index */

enum : Candidate { NO_CANDIDATE = ~0ull }; /* farther than all points, its index is ~0 */

/* A squared distance is a whole number below 2^24, so that it is exact, and not negative, so that
 * its bits have the same order. */
static __device__ __forceinline__ unsigned square_bits(float x, float y) {
    return __float_as_uint(x * x + y * y);
}

/* Puts a candidate at its place; the last one drops out. */
template <int COUNT>
static __device__ __forceinline__ void insert(Candidate (&nearest)[COUNT], Candidate candidate) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        Candidate nearer = min(nearest[i], candidate);
        candidate = max(nearest[i], candidate);
        nearest[i] = nearer;
    }
}

/* Visits all nodes that may have a point nearer than the last one of `nearest`. Levels of the tree
 * divide the points by x and by y in turn. A node without children goes back to its parent at once,
 * unlike in the paper. */
template <int COUNT>
static __device__ __forceinline__ void search(Candidate (&nearest)[COUNT], const float2 *points,
                                              const unsigned *indices, int count, float2 query) {
    int previous = -1, node = 0;
    while (node >= 0) {
        int next = (node + 1) / 2 - 1; /* the parent */
        if (node < count) {
            float x = query.x - points[node].x, y = query.y - points[node].y;
            bool is_first_visit = previous < node;
            unsigned square = square_bits(x, y), limit = (unsigned)(nearest[COUNT - 1] >> 32);
            if (is_first_visit && square <= limit) {
                insert(nearest, (Candidate)square << 32 | indices[node]);
                limit = (unsigned)(nearest[COUNT - 1] >> 32);
            }
            float offset = __clz(node + 1) % 2 ? x : y;
            int near_child = 2 * node + 1 + (offset > 0.0f), far_child = 4 * node + 3 - near_child;
            bool has_children = 2 * node + 1 < count;
            if (is_first_visit && has_children) next = near_child;
            else if (previous == near_child && square_bits(offset, 0.0f) <= limit) next = far_child;
        }
        previous = node;
        node = next;
    }
}

/* `neighbours`: the nearest points' indices of all queries, then the second nearest, and so on. */
template <int COUNT>
static __device__ __forceinline__ void find(const float2 *points, const unsigned *indices,
                                            int count, const float2 *queries, unsigned *neighbours,
                                            unsigned query_count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= query_count) return;
    Candidate nearest[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        nearest[k] = NO_CANDIDATE;
    search(nearest, points, indices, count, {queries[i].x, queries[i].y});
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        neighbours[(size_t)k * query_count + i] = (unsigned)nearest[k];
}

/* Points and their indices are in the order of the tree's nodes. */
extern "C" __global__ void knn_4(const float2 *points, const unsigned *indices, int count,
                                 const float2 *queries, unsigned *neighbours,
                                 unsigned query_count) {
    find<4>(points, indices, count, queries, neighbours, query_count);
}

extern "C" __global__ void knn_8(const float2 *points, const unsigned *indices, int count,
                                 const float2 *queries, unsigned *neighbours,
                                 unsigned query_count) {
    find<8>(points, indices, count, queries, neighbours, query_count);
}

extern "C" __global__ void knn_16(const float2 *points, const unsigned *indices, int count,
                                  const float2 *queries, unsigned *neighbours,
                                  unsigned query_count) {
    find<16>(points, indices, count, queries, neighbours, query_count);
}
