/* 64-bit and 32-bit division and remainder, signed and unsigned, by variables and by constants. */
#include "kernel.h"

extern "C" __global__ void division64(const unsigned long long *in, unsigned long long *out,
                                      unsigned n) {
    unsigned i = global_index();
    if (i >= n / 2) return;
    unsigned long long a = in[2 * i], b = (in[2 * i + 1] >> (i % 61)) | 1;
    long long sa = (long long)a, sb = (long long)b;
    unsigned long long sum = a / b + (a % b) * 3;
    sum ^= (unsigned long long)(sa / sb) + (unsigned long long)(sa % sb);
    sum += a / 1000003 + a % 7 + (unsigned long long)(sa / -13);
    int small = (int)a, divisor = (int)(b & 0xffff) + 1;
    out[2 * i] = sum;
    out[2 * i + 1] =
        (unsigned)(small / divisor) + (unsigned)(small % divisor) + (unsigned)a / (unsigned)divisor;
}
