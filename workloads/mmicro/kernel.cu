/* Microbenchmarks of mma, which need compute capability 8.0: the latency and throughput of each
 * shape and type. host.c explains the use of the numbers. */
#include "tyto_device.h"

typedef unsigned long long u64;

#define TIMES4(text)  text text text text
#define TIMES16(text) TIMES4(TIMES4(text))

static __device__ inline u64 clock_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

static __device__ inline void note(u64 *cycles, u64 start, u64 end) {
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32) return;
    cycles[2 * warp] = start;
    cycles[2 * warp + 1] = end;
}

/* Two or four registers of one factor; their values do not matter. */
#define TWO  "{%4, %4}"
#define FOUR "{%4, %4, %4, %4}"

/* Adds a product to c. `form` is the text before the operands, `more` the text after them. */
#define PRODUCT(kind, form, a, b, more, c)                                                         \
    asm volatile(form " {%0, %1, %2, %3}, " a ", " b ", {%0, %1, %2, %3}" more ";"                 \
                 : "+" kind(c[0]), "+" kind(c[1]), "+" kind(c[2]), "+" kind(c[3])                  \
                 : "r"(factor));

/* A chain of 64 products, where each needs the previous sum; and three chains of 16 in every warp.
 * They run twice, so that the second run finds its code cached. */
#define MEASURE(name, type, kind, form, a, b, more)                                                \
    extern "C" __global__ void latency_##name(u64 *cycles, type *sink, unsigned factor) {          \
        type c[4] = {};                                                                            \
        u64 start = 0, end = 0;                                                                    \
        for (int pass = 0; pass < 2; pass++) {                                                     \
            start = clock_now();                                                                   \
            TIMES4(TIMES16(PRODUCT(kind, form, a, b, more, c)))                                    \
            end = clock_now();                                                                     \
        }                                                                                          \
        sink[threadIdx.x] = c[0];                                                                  \
        note(cycles, start, end);                                                                  \
    }                                                                                              \
    extern "C" __global__ void throughput_##name(u64 *cycles, type *sink, unsigned factor) {       \
        type c[4] = {}, d[4] = {}, e[4] = {};                                                      \
        u64 start = 0, end = 0;                                                                    \
        for (int pass = 0; pass < 2; pass++) {                                                     \
            __syncthreads();                                                                       \
            start = clock_now();                                                                   \
            TIMES16(PRODUCT(kind, form, a, b, more, c) PRODUCT(kind, form, a, b, more, d)          \
                        PRODUCT(kind, form, a, b, more, e))                                        \
            end = clock_now();                                                                     \
        }                                                                                          \
        sink[threadIdx.x] = c[0] + d[0] + e[0];                                                    \
        note(cycles, start, end);                                                                  \
    }

#define DENSE(shape, types)  "mma.sync.aligned." shape ".row.col." types
#define SPARSE(shape, types) "mma.sp.sync.aligned." shape ".row.col." types
#define PLACES               ", %4, 0x0" /* positions of the stored factors of a sparse A */

MEASURE(f16_m16n8k16, float, "f", DENSE("m16n8k16", "f32.f16.f16.f32"), FOUR, TWO, "")
MEASURE(f16_m16n8k8, float, "f", DENSE("m16n8k8", "f32.f16.f16.f32"), TWO, "{%4}", "")
MEASURE(bf16_m16n8k16, float, "f", DENSE("m16n8k16", "f32.bf16.bf16.f32"), FOUR, TWO, "")
MEASURE(tf32_m16n8k8, float, "f", DENSE("m16n8k8", "f32.tf32.tf32.f32"), FOUR, TWO, "")
MEASURE(s8_m16n8k32, int, "r", DENSE("m16n8k32", "s32.s8.s8.s32"), FOUR, TWO, "")
MEASURE(s4_m16n8k64, int, "r", DENSE("m16n8k64", "s32.s4.s4.s32"), FOUR, TWO, "")
MEASURE(b1_m16n8k256, int, "r", DENSE("m16n8k256", "s32.b1.b1.s32.and.popc"), FOUR, TWO, "")
MEASURE(sparse_f16_m16n8k32, float, "f", SPARSE("m16n8k32", "f32.f16.f16.f32"), FOUR, FOUR, PLACES)
MEASURE(sparse_f16_m16n8k16, float, "f", SPARSE("m16n8k16", "f32.f16.f16.f32"), TWO, TWO, PLACES)
MEASURE(sparse_tf32_m16n8k16, float, "f", SPARSE("m16n8k16", "f32.tf32.tf32.f32"), FOUR, FOUR,
        PLACES)
MEASURE(sparse_tf32_m16n8k8, float, "f", SPARSE("m16n8k8", "f32.tf32.tf32.f32"), TWO, TWO, PLACES)
MEASURE(sparse_s8_m16n8k64, int, "r", SPARSE("m16n8k64", "s32.s8.s8.s32"), FOUR, FOUR, PLACES)
MEASURE(sparse_s8_m16n8k32, int, "r", SPARSE("m16n8k32", "s32.s8.s8.s32"), TWO, TWO, PLACES)
