/* Instructions that compilers rarely write, by inline assembly: lop3 with three tables, bit-field
 * extract and insert, bfind, bit-field masks, dot products of bytes, and cnot. */
#include "kernel.h"

extern "C" __global__ void logic_asm(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], y = in[(i + 1) % n], z = in[(i + 2) % n], *row = out + 12 * i;
    unsigned position = i % 40, length = (i / 2) % 36;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(row[0]) : "r"(x), "r"(y), "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(row[1]) : "r"(x), "r"(y), "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0x1b;" : "=r"(row[2]) : "r"(x), "r"(y), "r"(z));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(row[3]) : "r"(x), "r"(position), "r"(length));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(row[4]) : "r"(x), "r"(position), "r"(length));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(row[5]) : "r"(x), "r"(y), "r"(position), "r"(length));
    asm("bfind.u32 %0, %1;" : "=r"(row[6]) : "r"(x >> (position & 31)));
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(row[7]) : "r"(x));
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(row[8]) : "r"(x), "r"(y), "r"(z));
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(row[9]) : "r"(x), "r"(y), "r"(z));
    asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(row[10]) : "r"(x), "r"(y), "r"(z));
    asm("cnot.b32 %0, %1;" : "=r"(row[11]) : "r"(x & (i & 1 ? 0u : ~0u)));
}
