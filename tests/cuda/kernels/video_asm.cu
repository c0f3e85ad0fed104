/* Scalar video instructions: sums, differences, minimum and maximum of sign- or zero-extended
 * parts, with saturation and a second operation. */
#include "kernel.h"

extern "C" __global__ void video_asm(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], y = in[(i + 1) % n], z = in[(i + 2) % n], *row = out + 6 * i;
    asm("vadd.s32.s32.s32.sat %0, %1, %2;" : "=r"(row[0]) : "r"(x), "r"(y));
    asm("vsub.s32.u32.u32 %0, %1.b1, %2.h1;" : "=r"(row[1]) : "r"(x), "r"(y));
    asm("vmin.s32.s32.s32 %0, %1.h0, %2.b3;" : "=r"(row[2]) : "r"(x), "r"(y));
    asm("vmax.u32.u32.u32.add %0, %1.b0, %2.b2, %3;" : "=r"(row[3]) : "r"(x), "r"(y), "r"(z));
    asm("vabsdiff.u32.u32.u32.add %0, %1.b3, %2.b3, %3;" : "=r"(row[4]) : "r"(x), "r"(y), "r"(z));
    asm("vadd.u32.u32.u32 %0, %1.h1, %2.h0;" : "=r"(row[5]) : "r"(x), "r"(y));
}
