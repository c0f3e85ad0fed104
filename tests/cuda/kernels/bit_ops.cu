/* Counting, finding and reversing bits, funnel shifts, and shifts by more than the width. */
#include "kernel.h"

extern "C" __global__ void bit_ops(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i] >> (i % 33 == 32 ? 31 : i % 33), y = in[(i + 1) % n];
    unsigned long long wide = ((unsigned long long)x << 32) | y;
    unsigned counts = __popc(x) + 64 * __clz((int)x) + 4096 * __ffs((int)x);
    unsigned wide_counts = __popcll(wide) + 128 * __clzll((long long)wide) +
                           16384 * __ffsll((long long)(wide & ~0xffull));
    unsigned shifts = __funnelshift_l(x, y, i) ^ __funnelshift_r(x, y, i + 3) ^
                      __funnelshift_lc(x, y, i) ^ __funnelshift_rc(x, y, i);
    unsigned past_width;
    int sign_filled;
    asm("shl.b32 %0, %1, %2;" : "=r"(past_width) : "r"(y), "r"(i));
    asm("shr.s32 %0, %1, %2;" : "=r"(sign_filled) : "r"(y), "r"(i));
    unsigned long long reversed = __brevll(wide) ^ __brev(y);
    out[i] = counts + wide_counts * 3 + shifts * 5 + past_width * 7 + (unsigned)sign_filled * 11 +
             (unsigned)(reversed >> 17);
}
