/* Every 32-bit atomic operation on global memory by all threads: the results do not depend on the
 * order. One word per operation; then the low bytes of a counter's old values, each seen once. */
#include "kernel.h"

extern "C" __global__ void atomics32(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i];
    atomicAdd(&out[0], x);
    atomicSub(&out[1], x);
    atomicMin((int *)&out[2], (int)x);
    atomicMax((int *)&out[3], (int)x);
    atomicMin(&out[4], ~x);
    atomicMax(&out[5], x);
    atomicAnd(&out[6], x | 0xffff0000u);
    atomicOr(&out[7], x & 0x1111u);
    atomicXor(&out[8], x);
    atomicInc(&out[9], 36);
    atomicDec(&out[10], 36);
    unsigned mine = atomicAdd(&out[11], 1u);
    atomicAdd(&out[16 + (mine & 255)], 1u);
    unsigned seen = *(volatile unsigned *)&out[12], expected; // others write it meanwhile
    do {
        expected = seen;
        seen = atomicCAS(&out[12], expected, expected * 3 + 1);
    } while (seen != expected);
    atomicAdd(&out[13], atomicExch(&out[14], 7u));
    asm volatile("red.global.add.u32 [%0], %1;" : : "l"(&out[15]), "r"(x) : "memory");
}
