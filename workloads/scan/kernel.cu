/* Exclusive prefix sums of a large array: each CTA of 256 threads scans 512 elements by Blelloch's
 * up-sweep and down-sweep in shared memory and leaves their total; the totals, scanned in turn, are
 * added to the elements. A padding word per 16 elements keeps the banks free of conflicts. */
#include "tyto_device.h"

enum { THREADS = 256, ELEMENTS = 2 * THREADS, PADDED = ELEMENTS + ELEMENTS / 16 };

static __device__ unsigned padded(unsigned i) {
    return i + i / 16;
}

extern "C" __global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *totals,
                                       unsigned count) {
    __shared__ unsigned tree[PADDED];
    unsigned thread = threadIdx.x, first = blockIdx.x * ELEMENTS;
    for (unsigned i = thread; i < ELEMENTS; i += THREADS)
        tree[padded(i)] = first + i < count ? in[first + i] : 0;
    unsigned stride = 1;
    for (unsigned active = THREADS; active > 0; active /= 2, stride *= 2) {
        __syncthreads();
        if (thread < active) {
            unsigned left = stride * (2 * thread + 1) - 1;
            tree[padded(left + stride)] += tree[padded(left)];
        }
    }
    __syncthreads();
    if (thread == 0) {
        totals[blockIdx.x] = tree[padded(ELEMENTS - 1)];
        tree[padded(ELEMENTS - 1)] = 0;
    }
    for (unsigned active = 1; active <= THREADS; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (thread < active) {
            unsigned left = stride * (2 * thread + 1) - 1;
            unsigned below = tree[padded(left)];
            tree[padded(left)] = tree[padded(left + stride)];
            tree[padded(left + stride)] += below;
        }
    }
    __syncthreads();
    for (unsigned i = thread; i < ELEMENTS && first + i < count; i += THREADS)
        out[first + i] = tree[padded(i)];
}

extern "C" __global__ void scan_add(unsigned *out, const unsigned *sums, unsigned count) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = sums[blockIdx.x];
    __syncthreads();
    unsigned first = blockIdx.x * ELEMENTS + threadIdx.x;
    for (unsigned i = first; i < first + ELEMENTS && i < count; i += THREADS)
        out[i] += sum;
}
