/* Texture fetches through texture objects, in inline assembly: words by index from linear memory, a
 * two-dimensional array filtered between its elements with clamped coordinates, and one taken at
 * the nearest element with coordinates that are fractions of its size and wrap around. */
#include "kernel.h"

static __device__ unsigned fetch(unsigned long long texture, int index) {
    unsigned x;
    asm("{ .reg .u32 y, z, w; tex.1d.v4.u32.s32 {%0, y, z, w}, [%1, {%2}]; }"
        : "=r"(x)
        : "l"(texture), "r"(index));
    return x;
}

static __device__ float sample(unsigned long long texture, float u, float v) {
    float x;
    asm("{ .reg .f32 y, z, w; tex.2d.v4.f32.f32 {%0, y, z, w}, [%1, {%2, %3}]; }"
        : "=f"(x)
        : "l"(texture), "f"(u), "f"(v));
    return x;
}

extern "C" __global__ void textures(unsigned long long linear, unsigned long long filtered,
                                    unsigned long long wrapped, float *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    float u = (float)(i % 16), v = (float)(i / 16);
    float *row = out + 3 * i;
    row[0] = (float)fetch(linear, (int)(n - 1 - i));
    row[1] = sample(filtered, u * 0.625f - 1.0f, v * 0.875f - 0.5f);
    row[2] = sample(wrapped, u * 0.1875f - 0.71875f, v * 0.4375f + 0.03125f);
}
