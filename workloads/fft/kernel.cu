/* One radix-2 step of Stockham's fast Fourier transform, from one buffer to another in global
 * memory, for many transforms at once: blockIdx.x is the transform, one butterfly per thread. After
 * the steps with span 1, 2, 4, ... the result is in order, with no reversal of bits. */
#include "tyto_device.h"

extern "C" __global__ void fft(const float2 *in, float2 *out, unsigned points, unsigned span) {
    unsigned half = points / 2;
    unsigned butterfly = blockIdx.y * blockDim.x + threadIdx.x;
    const float2 *from = in + blockIdx.x * points;
    float2 *to = out + blockIdx.x * points;

    unsigned low = butterfly % span;
    float angle = -3.14159265f * (float)low / (float)span;
    float cosine = __cosf(angle), sine = __sinf(angle);
    float2 a = from[butterfly], b = from[butterfly + half];
    float x = b.x * cosine - b.y * sine, y = b.x * sine + b.y * cosine;
    unsigned at = 2 * (butterfly - low) + low;
    to[at] = make_float2(a.x + x, a.y + y);
    to[at + span] = make_float2(a.x - x, a.y - y);
}
