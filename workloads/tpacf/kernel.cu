/* Histograms of the angles between points on the sphere. blockIdx.x selects the pair of sets: each
 * set with itself, the data first, then the data with each random set. Each of 256 threads keeps a
 * point of the second set. All of them read the first set's points one after another, find the bin
 * by binary search in constant memory, count, and wait for each other. Two neighbouring threads
 * share a histogram, in which they take turns by means of a tag that the last one has left in a
 * word. */
#include "../common/tagged_count.cuh"

enum { THREADS = 256, PER_HISTOGRAM = 2, HISTOGRAMS = THREADS / PER_HISTOGRAM, BINS = 20 };

/* Cosines at the bounds of the bins, descending; bin i is between bounds i and i + 1. */
__constant__ float bounds[BINS + 1];

/* Set 0 holds the data, sets 1 to `random_sets` the random points. */
extern "C" __global__ void tpacf(const float *xs, const float *ys, const float *zs,
                                 unsigned *histograms, unsigned set_points, unsigned random_sets) {
    __shared__ unsigned counts[BINS][HISTOGRAMS];
    unsigned thread = threadIdx.x, pair = blockIdx.x;
    bool is_mixed = pair > random_sets;
    unsigned second = (is_mixed ? pair - random_sets : pair) * set_points;
    unsigned first = is_mixed ? 0 : second;
    for (unsigned i = thread; i < BINS * HISTOGRAMS; i += THREADS)
        counts[i / HISTOGRAMS][i % HISTOGRAMS] = 0;
    __syncthreads();

    for (unsigned i = 0; i < set_points; i += THREADS)
        for (unsigned j = is_mixed ? 0 : i + 1; j < set_points; j += THREADS) {
            unsigned own = j + thread;
            float x = 0.0f, y = 0.0f, z = 0.0f;
            if (own < set_points) {
                x = xs[second + own];
                y = ys[second + own];
                z = zs[second + own];
            }
            for (unsigned k = i; k < i + THREADS && k < set_points; k++) {
                float cosine = xs[first + k] * x + ys[first + k] * y + zs[first + k] * z;
                unsigned low = 0, high = BINS;
                while (high > low + 1) {
                    unsigned middle = (low + high) / 2;
                    if (cosine >= bounds[middle]) high = middle;
                    else low = middle;
                }
                /* A set with itself counts each pair once. */
                if (cosine < bounds[low] && cosine >= bounds[high] && (is_mixed || own > k) &&
                    own < set_points)
                    tagged_count(&counts[low][thread / PER_HISTOGRAM], thread << TAG_SHIFT);
                __syncthreads();
            }
        }

    /* Adds half of the histograms to the others, with one bin for each thread at a time. */
    unsigned histogram = thread % (HISTOGRAMS / 2), bin = thread / (HISTOGRAMS / 2);
    for (unsigned half = HISTOGRAMS / 2; half > 0; half /= 2)
        for (unsigned start = 0; start < BINS; start += THREADS / (HISTOGRAMS / 2)) {
            __syncthreads();
            if (histogram < half && start + bin < BINS) {
                unsigned *sums = counts[start + bin];
                sums[histogram] =
                    (sums[histogram] & COUNT_MASK) + (sums[histogram + half] & COUNT_MASK);
            }
        }
    __syncthreads();
    if (thread < BINS) histograms[pair * BINS + thread] = counts[thread][0] & COUNT_MASK;
}
