/* Exclusive prefix sums of a large array: each CTA of 256 threads scans 512 elements by Blelloch's
 * up-sweep and down-sweep in shared memory and stores their total. The totals are scanned in the
 * same way and added to the elements. A padding word per 16 elements avoids bank conflicts. */
#ifndef TYTO_WORKLOAD_SCAN_CUH
#define TYTO_WORKLOAD_SCAN_CUH

#include "tyto_device.h"

enum {
    SCAN_THREADS = 256,
    SCAN_ELEMENTS = 2 * SCAN_THREADS,
    SCAN_PADDED = SCAN_ELEMENTS + SCAN_ELEMENTS / 16
};

static __device__ unsigned scan_place(unsigned i) {
    return i + i / 16;
}

extern "C" __global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *totals,
                                       unsigned count) {
    __shared__ unsigned tree[SCAN_PADDED];
    unsigned thread = threadIdx.x, first = blockIdx.x * SCAN_ELEMENTS;
    for (unsigned i = thread; i < SCAN_ELEMENTS; i += SCAN_THREADS)
        tree[scan_place(i)] = first + i < count ? in[first + i] : 0;
    unsigned stride = 1;
    for (unsigned active = SCAN_THREADS; active > 0; active /= 2, stride *= 2) {
        __syncthreads();
        if (thread < active) {
            unsigned left = stride * (2 * thread + 1) - 1;
            tree[scan_place(left + stride)] += tree[scan_place(left)];
        }
    }
    __syncthreads();
    if (thread == 0) {
        totals[blockIdx.x] = tree[scan_place(SCAN_ELEMENTS - 1)];
        tree[scan_place(SCAN_ELEMENTS - 1)] = 0;
    }
    for (unsigned active = 1; active <= SCAN_THREADS; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (thread < active) {
            unsigned left = stride * (2 * thread + 1) - 1;
            unsigned below = tree[scan_place(left)];
            tree[scan_place(left)] = tree[scan_place(left + stride)];
            tree[scan_place(left + stride)] += below;
        }
    }
    __syncthreads();
    for (unsigned i = thread; i < SCAN_ELEMENTS && first + i < count; i += SCAN_THREADS)
        out[first + i] = tree[scan_place(i)];
}

extern "C" __global__ void scan_add(unsigned *out, const unsigned *sums, unsigned count) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = sums[blockIdx.x];
    __syncthreads();
    unsigned first = blockIdx.x * SCAN_ELEMENTS + threadIdx.x;
    for (unsigned i = first; i < first + SCAN_ELEMENTS && i < count; i += SCAN_THREADS)
        out[i] += sum;
}

#endif
