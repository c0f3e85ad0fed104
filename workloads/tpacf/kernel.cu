/* Histograms of the angles between points on the sphere. blockIdx.x chooses the pair of sets: the
 * data against each random set, each random set against itself, the data against themselves. Tiles
 * of one set are staged in shared memory; every thread of 256 compares its points with them, finds
 * the bin by binary search in constant memory and counts in its warp's own histogram. */
#include "tyto_device.h"

enum { THREADS = 256, WARPS = THREADS / 32, BINS = 20 };

struct Point {
    float x, y, z;
};

/* Cosines that bound the bins, falling; bin i is between bounds i and i + 1. */
__constant__ float bounds[BINS + 1];

static __device__ unsigned find_bin(float cosine) {
    unsigned low = 0, high = BINS;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (cosine > bounds[middle]) high = middle;
        else low = middle;
    }
    return low;
}

/* Set 0 holds the data, sets 1 to `random_sets` the random points. */
extern "C" __global__ void tpacf(const Point *points, unsigned *histograms, unsigned set_points,
                                 unsigned random_sets) {
    __shared__ unsigned count[WARPS][BINS];
    __shared__ Point tile[THREADS];
    unsigned thread = threadIdx.x, warp = thread / 32, pair = blockIdx.x;
    bool is_mixed = pair < random_sets;
    const Point *first =
        points + (is_mixed ? 0 : (pair - random_sets + 1) % (random_sets + 1)) * set_points;
    const Point *second = is_mixed ? points + (pair + 1) * set_points : first;
    for (unsigned i = thread; i < WARPS * BINS; i += THREADS)
        count[i / BINS][i % BINS] = 0;

    for (unsigned start = 0; start < set_points; start += THREADS) {
        __syncthreads();
        if (start + thread < set_points) tile[thread] = first[start + thread];
        __syncthreads();
        unsigned staged = min(set_points - start, (unsigned)THREADS);
        /* A set against itself counts each pair once. */
        for (unsigned i = thread + (is_mixed ? 0 : start); i < set_points; i += THREADS) {
            Point own = second[i];
            unsigned compared = is_mixed ? staged : min(staged, i - start);
            for (unsigned j = 0; j < compared; j++) {
                Point other = tile[j];
                float cosine = own.x * other.x + own.y * other.y + own.z * other.z;
                atomicAdd(&count[warp][find_bin(cosine)], 1u);
            }
        }
    }
    __syncthreads();
    if (thread >= BINS) return;
    unsigned sum = 0;
    for (unsigned i = 0; i < WARPS; i++)
        sum += count[i][thread];
    histograms[pair * BINS + thread] = sum;
}
