/* Atomics on shared memory, on words and on doubles, under heavy contention; the CTA's results go
 * to global memory with the CTA-wide scope. */
#include "kernel.h"

extern "C" __global__ void atomics_shared(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned counts[4], smallest, seen;
    __shared__ unsigned long long wide;
    __shared__ double sum;
    __shared__ float single;
    unsigned thread = threadIdx.x, x = in[global_index() % n];
    if (thread < 4) counts[thread] = 0;
    if (thread == 0) smallest = 0xffffffffu, seen = 0, wide = 0, sum = 0.0, single = 0.0f;
    __syncthreads();
    atomicAdd(&counts[x % 4], 1u);
    atomicMin(&smallest, x);
    atomicOr(&seen, 1u << (x % 32));
    atomicAdd(&wide, (unsigned long long)x << 8);
    atomicAdd(&sum, (double)x);
    atomicAdd(&single, 0.5f);
    __syncthreads();
    unsigned *row = out + 8 * blockIdx.x;
    if (thread < 4) row[thread] = counts[thread];
    if (thread == 0) {
        row[4] = smallest;
        row[5] = seen;
        row[6] = (unsigned)(wide >> 8) + (unsigned)(long long)(sum / 16.0);
    }
    if (thread < 7) atomicAdd_block(&row[7], (unsigned)single);
}
