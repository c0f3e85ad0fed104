/* Elements of linear textures. */
#ifndef TYTO_WORKLOAD_TEXTURE_CUH
#define TYTO_WORKLOAD_TEXTURE_CUH

#include "tyto_device.h"

typedef unsigned long long Texture;

static inline __device__ float texture_float(Texture texture, int at) {
    float element;
    asm("{ .reg .f32 y, z, w; tex.1d.v4.f32.s32 {%0, y, z, w}, [%1, {%2}]; }"
        : "=f"(element)
        : "l"(texture), "r"(at));
    return element;
}

static inline __device__ unsigned texture_word(Texture texture, int at) {
    unsigned element;
    asm("{ .reg .u32 y, z, w; tex.1d.v4.u32.s32 {%0, y, z, w}, [%1, {%2}]; }"
        : "=r"(element)
        : "l"(texture), "r"(at));
    return element;
}

#endif
