/* Atomic sums of floats, doubles and half pairs: whole numbers, so that the order does not matter;
 * and a maximum of floats by compare-and-swap. */
#include "kernel.h"

extern "C" __global__ void atomics_float(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i] % 256;
    atomicAdd((float *)&out[0], (float)x);
    atomicAdd((double *)&out[2], x * 1e9);
    unsigned seen = *(volatile unsigned *)&out[1], expected; // others write it meanwhile
    do {
        expected = seen;
        float larger = fmaxf(__uint_as_float(expected), (float)in[i]);
        seen = atomicCAS(&out[1], expected, __float_as_uint(larger));
    } while (seen != expected);
    unsigned old_pair;
    asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;"
                 : "=r"(old_pair)
                 : "l"(&out[4]), "r"(0x40003c00u)
                 : "memory");
    atomicAdd(&out[5], old_pair == 0 ? 1u : 0u);
}
