/* Loads through the read-only path, written and implied by const __restrict__. */
#include "kernel.h"

extern "C" __global__ void read_only_loads(const unsigned *__restrict__ in,
                                           unsigned *__restrict__ out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned word = __ldg(&in[(i * 17) % n]);
    float number = __ldg((const float *)&in[i]);
    unsigned char byte = __ldg((const unsigned char *)in + i);
    out[i] = word + in[n - 1 - i] * 3 + (__float_as_uint(number) ^ byte);
}
