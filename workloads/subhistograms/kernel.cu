/* Histograms of bytes without atomics in global memory: each CTA counts its grid-stride share into
 * a partial histogram, and a second kernel adds up the partial histograms, one bin per CTA. For 64
 * bins every thread counts in its own bytes, for 256 every warp in its own words. There, lanes that
 * count in the same word take turns by means of a tag that the last lane has left in it. */
#include "../common/tagged_count.cuh"

enum { THREADS_64 = 64, WARPS_256 = 6, WARP = 32, MERGE_THREADS = 256 };

/* A bin has 64 bytes, one for each thread; thread 16 r + b has byte r of word b, so that
 * neighbouring threads use different banks. A counter holds up to 255. */
static __device__ void count_64(unsigned char *own, unsigned word) {
#pragma unroll
    for (int shift = 2; shift < 32; shift += 8)
        own[(word >> shift & 63) * THREADS_64]++;
}

/* Bins by the upper six bits; `groups` of 16 bytes. There are as many threads as bins. */
extern "C" __global__ void subhistograms_count_64(const uint4 *bytes, unsigned *partial,
                                                  unsigned groups) {
    __shared__ unsigned counters[64 * THREADS_64 / 4];
    unsigned char *bytes_of = (unsigned char *)counters;
    unsigned thread = threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < THREADS_64 / 4; i++)
        counters[thread + i * 64] = 0;
    __syncthreads();

    unsigned char *own = bytes_of + (thread % 16 * 4 + thread / 16);
    for (unsigned i = blockIdx.x * THREADS_64 + thread; i < groups; i += gridDim.x * THREADS_64) {
        uint4 group = bytes[i];
        count_64(own, group.x);
        count_64(own, group.y);
        count_64(own, group.z);
        count_64(own, group.w);
    }
    __syncthreads();

    const unsigned char *bin = bytes_of + thread * THREADS_64;
    unsigned sum = 0, at = thread % 16 * 4;
#pragma unroll
    for (unsigned i = 0; i < THREADS_64 / 4; i++) {
        sum += bin[at] + bin[at + 1] + bin[at + 2] + bin[at + 3];
        at = (at + 4) % THREADS_64;
    }
    partial[blockIdx.x * 64 + thread] = sum;
}

extern "C" __global__ void subhistograms_count_256(const unsigned *words, unsigned *partial,
                                                   unsigned count) {
    __shared__ unsigned counters[WARPS_256][256];
    const unsigned threads = WARPS_256 * WARP, tag = threadIdx.x << TAG_SHIFT;
#pragma unroll
    for (unsigned i = 0; i < 256 / WARP; i++)
        (&counters[0][0])[threadIdx.x + i * threads] = 0;
    __syncthreads();

    unsigned *own = counters[threadIdx.x / WARP];
    for (unsigned i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        unsigned word = words[i];
#pragma unroll
        for (int shift = 0; shift < 32; shift += 8)
            tagged_count(&own[word >> shift & 255], tag);
    }
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < 256; bin += threads) {
        unsigned sum = 0;
        for (int warp = 0; warp < WARPS_256; warp++)
            sum += counters[warp][bin] & COUNT_MASK;
        partial[blockIdx.x * 256 + bin] = sum;
    }
}

static __device__ void merge(const unsigned *partial, unsigned *histogram, unsigned histograms,
                             unsigned bins) {
    __shared__ unsigned sums[MERGE_THREADS];
    unsigned bin = blockIdx.x, thread = threadIdx.x, sum = 0;
    for (unsigned i = thread; i < histograms; i += MERGE_THREADS)
        sum += partial[i * bins + bin];
    sums[thread] = sum;
    for (unsigned stride = MERGE_THREADS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (thread < stride) sums[thread] += sums[thread + stride];
    }
    if (thread == 0) histogram[bin] = sums[0];
}

extern "C" __global__ void subhistograms_merge_64(const unsigned *partial, unsigned *histogram,
                                                  unsigned histograms) {
    merge(partial, histogram, histograms, 64);
}

extern "C" __global__ void subhistograms_merge_256(const unsigned *partial, unsigned *histogram,
                                                   unsigned histograms) {
    merge(partial, histogram, histograms, 256);
}
