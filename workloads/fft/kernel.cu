/* One radix-2 step of Stockham's fast Fourier transform, from one buffer to another in global
 * memory, for many transforms at once: blockIdx.x is the transform, one butterfly per thread. After
 * the steps with span 1, 2, 4, ... the result is in order, with no reversal of bits. */
#include "tyto_device.h"

enum { RADIX = 2 };

static __device__ int butterfly_of_thread() { return (int)(blockIdx.y * blockDim.x + threadIdx.x); }
/* The angle by which a butterfly rotates its second value: a quotient of doubles, as in Parboil. */
static __device__ float angle_of(int butterfly, int span) {
    return (float)(-2 * 3.14159265358979323846 * (butterfly % span) / (RADIX * span));
}
/* The place of its first value; the second goes a span further. */
static __device__ int place_of(int butterfly, int span) {
    return butterfly / span * span * RADIX + butterfly % span;
}

/* Both values are rotated, the first by 0, with the library's sines and cosines. Parboil's program
 * does so, and they are most of its instructions. */
extern "C" __global__ void fft(const float2 *in, float2 *out, int points, int span) {
    int butterfly = butterfly_of_thread();
    const float2 *from = in + (int)blockIdx.x * points;
    float2 *to = out + (int)blockIdx.x * points;
    float angle = angle_of(butterfly, span);
    float2 value[RADIX];
#pragma unroll
    for (int i = 0; i < RADIX; i++) {
        float2 read = from[butterfly + i * points / RADIX];
        float cosine = cosf((float)i * angle), sine = sinf((float)i * angle);
        value[i] = make_float2(read.x * cosine - read.y * sine, read.x * sine + read.y * cosine);
    }
    int at = place_of(butterfly, span);
    to[at] = make_float2(value[0].x + value[1].x, value[0].y + value[1].y);
    to[at + span] = make_float2(value[0].x - value[1].x, value[0].y - value[1].y);
}

/* The compiler moves no loads or stores across this point. */
static __device__ void in_turn() { asm volatile("" ::: "memory"); }

/* The same with the two values in local memory, as NVIDIA's compiler of 2011 (nvopencc 4.0)
 * compiles Parboil's source, because it does not unroll the loop over them. Its PTX, which the
 * authors of OWL used later, is public (adwaitjog/mafia). Each value is stored after it is read and
 * after it is rotated; their sums and the first of their differences are stored too. */
extern "C" __global__ void fft_local(const float2 *in, float2 *out, int points, int span) {
    int butterfly = butterfly_of_thread();
    const float2 *from = in + (int)blockIdx.x * points;
    float2 *to = out + (int)blockIdx.x * points;
    float angle = angle_of(butterfly, span);
    float value[2 * RADIX];
    asm volatile("" ::"l"(value) : "memory"); /* in memory from here on */
#pragma unroll 1
    for (int i = 0; i < RADIX; i++) {
        float2 read = from[butterfly + i * points / RADIX];
        value[2 * i] = read.x;
        in_turn();
        value[2 * i + 1] = read.y;
        in_turn();
        float cosine = cosf((float)i * angle), sine = sinf((float)i * angle);
        value[2 * i] = read.x * cosine - read.y * sine;
        in_turn();
        value[2 * i + 1] = read.x * sine + read.y * cosine;
        in_turn();
    }
    int at = place_of(butterfly, span);
    float x = value[0], y = value[1], other_x = value[2];
    value[0] = x + other_x;
    in_turn();
    float other_y = value[3];
    value[1] = y + other_y;
    in_turn();
    value[2] = x - other_x;
    in_turn();
    to[at] = make_float2(x + other_x, y + other_y);
    to[at + span] = make_float2(x - other_x, y - other_y);
}
