/* Every 64-bit atomic operation on global memory, order-independent. */
#include "kernel.h"

extern "C" __global__ void atomics64(const unsigned long long *in, unsigned long long *out,
                                     unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned long long x = in[i];
    atomicAdd(&out[0], x);
    atomicMin((long long *)&out[1], (long long)x);
    atomicMax((long long *)&out[2], (long long)x);
    atomicMin(&out[3], ~x);
    atomicMax(&out[4], x);
    atomicAnd(&out[5], x | 0xffffffff00000000ull);
    atomicOr(&out[6], x & 0x1111000011110000ull);
    atomicXor(&out[7], x);
    unsigned long long seen = *(volatile unsigned long long *)&out[8], expected; // others write it meanwhile
    do {
        expected = seen;
        seen = atomicCAS(&out[8], expected, expected * 5 + 1);
    } while (seen != expected);
    atomicAdd(&out[9], atomicExch(&out[10], 7ull));
}
