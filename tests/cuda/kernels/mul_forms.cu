/* Products: high words, wide, 24-bit with multiply-add, and sums of absolute differences. */
#include "kernel.h"

extern "C" __global__ void mul_forms(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], y = in[(i + 1) % n];
    int sx = (int)x, sy = (int)y, multiplied_added;
    unsigned unsigned_added;
    asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(multiplied_added) : "r"(sx), "r"(sy), "r"(5));
    asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(unsigned_added) : "r"(x), "r"(y), "r"(9));
    unsigned long long wide = (unsigned long long)x * y, wide_x = wide * 0x9e3779b97f4a7c15ull;
    long long signed_wide = (long long)sx * sy;
    unsigned sum = (unsigned)__mulhi(sx, sy) + __umulhi(x, y);
    sum ^= (unsigned)(__umul64hi(wide, wide_x) >> 7);
    sum += (unsigned)(__mul64hi(signed_wide, (long long)wide_x) >> 9);
    sum ^= (unsigned)__mul24(sx, sy) + __umul24(x, y);
    sum += __sad(sx, sy, 3) * 5 + __usad(x, y, 4) * 7;
    out[i] = sum + (unsigned)multiplied_added * 3 + unsigned_added * 11;
}
