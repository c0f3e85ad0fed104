/* C = A B on tensor cores, in the style of compute capability 7.0 and later: wmma of m16n16k16 and
 * tiles in shared memory; the next tiles are loaded to registers while the current ones are
 * multiplied. A is stored by rows, B by columns, both of `depth` halves.
 *
 * A CTA of 8 warps computes a tile of 128 x 256, a warp one of 64 x 64. Two tiles are in shared
 * memory: one is multiplied, the next one is stored. Rows of a tile are 64 bytes plus 16 unused
 * bytes there, so that 8 rows are in 8 different groups of banks, unless `conflicts` asks for no
 * padding. */
#include "tyto_device.h"

enum {
    ROWS = 128,
    COLUMNS = 256,
    DEPTH = 32,                  /* of a tile: two steps of a wmma */
    MOST_PITCH = 2 * DEPTH + 16, /* bytes from one row of a tile to the next */
    TILE_BYTES = (ROWS + COLUMNS) * MOST_PITCH,
    LOADS = (ROWS + COLUMNS) / 64 /* groups of 16 bytes that each thread loads for a tile */
};

/* The words that a thread loads from global memory. */
typedef unsigned Staged[LOADS][4];

/* Loads half of a thread's words, bypassing the L1 cache. */
static __device__ inline void fetch(Staged &staged, const char *a, const char *b, unsigned depth,
                                    unsigned k, unsigned half) {
    unsigned row = threadIdx.x / 4;
    unsigned long long pitch = 2ull * depth, at = 2ull * k + threadIdx.x % 4 * 16;
    _Pragma("unroll") for (unsigned part = 0; part < LOADS / 2; part++) {
        unsigned i = half * (LOADS / 2) + part;
        const char *from =
            i < ROWS / 64 ? a + (row + 64 * i) * pitch : b + (row + 64 * (i - ROWS / 64)) * pitch;
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(staged[i][0]), "=r"(staged[i][1]), "=r"(staged[i][2]),
                       "=r"(staged[i][3])
                     : "l"(from + at)
                     : "memory");
    }
}

static __device__ inline void keep(unsigned tiles, const Staged &staged, unsigned pitch) {
    unsigned to = tiles + threadIdx.x / 4 * pitch + threadIdx.x % 4 * 16;
    _Pragma("unroll") for (unsigned i = 0; i < LOADS; i++) asm volatile(
        "st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to + 64 * i * pitch), "r"(staged[i][0]),
        "r"(staged[i][1]), "r"(staged[i][2]), "r"(staged[i][3]) : "memory");
}

#define EIGHT "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define LOAD(name, role)                                                                           \
    static __device__ inline void name(unsigned(&to)[8], unsigned from, unsigned stride) {         \
        asm volatile("wmma.load." role ".shared.f16 " EIGHT ", [%8], %9;"                          \
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]), "=r"(to[4]),            \
                       "=r"(to[5]), "=r"(to[6]), "=r"(to[7])                                       \
                     : "r"(from), "r"(stride)                                                      \
                     : "memory");                                                                  \
    }
LOAD(load_a, "a.sync.aligned.row.m16n16k16")
LOAD(load_b, "b.sync.aligned.col.m16n16k16")

static __device__ inline void multiply(float (&c)[8], const unsigned (&a)[8],
                                       const unsigned (&b)[8]) {
    asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " EIGHT ", "
                 "{%8, %9, %10, %11, %12, %13, %14, %15}, "
                 "{%16, %17, %18, %19, %20, %21, %22, %23}, " EIGHT ";"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
                   "+f"(c[6]), "+f"(c[7])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]),
                   "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]),
                   "r"(b[6]), "r"(b[7]));
}

/* The place of the halves from column `k` of a warp's part of a tile. */
struct Place {
    unsigned a, b;
};
static __device__ inline Place place(unsigned tile, unsigned row, unsigned column, unsigned k,
                                     unsigned pitch) {
    return {tile + row * pitch + 2 * k, tile + (ROWS + column) * pitch + 2 * k};
}

/* The 4 x 4 products of 16 of the tiles' depth, at `here`, for which A and the first part of B are
 * loaded. It loads the next part of B before the products with the current part, and the operands
 * of the next step, at `next`, as soon as their registers are free. */
static __device__ inline void step(float (&c)[4][4][8], unsigned (&a)[4][8], unsigned (&b)[2][8],
                                   Place here, Place next, unsigned pitch) {
    _Pragma("unroll") for (unsigned j = 0; j < 4; j++) {
        load_b(b[~j & 1], j < 3 ? here.b + 16 * (j + 1) * pitch : next.b, pitch / 2);
        _Pragma("unroll") for (unsigned i = 0; i < 4; i++) {
            multiply(c[i][j], a[i], b[j & 1]);
            if (j == 3) load_a(a[i], next.a + 16 * i * pitch, pitch / 2);
        }
    }
}

extern "C" __global__ void gemm(const char *a, const char *b, float *c, unsigned columns,
                                unsigned depth, unsigned conflicts) {
    extern __shared__ __attribute__((aligned(128))) char shared[]; /* two tiles */
    unsigned tiles, warp = threadIdx.x / 32, pitch = conflicts ? 2 * DEPTH : MOST_PITCH;
    unsigned row = warp % 2 * 64, column = warp / 2 * 64; /* of the warp's tile in the CTA's */
    float sums[4][4][8] = {};
    unsigned parts_a[4][8], parts_b[2][8];
    Staged staged;
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
                 : "=r"(tiles)
                 : "l"(shared));
    a += 2ull * depth * ROWS * blockIdx.y;
    b += 2ull * depth * COLUMNS * blockIdx.x;

    fetch(staged, a, b, depth, 0, 0);
    fetch(staged, a, b, depth, 0, 1);
    keep(tiles, staged, pitch);
    __syncthreads();
    Place first = place(tiles, row, column, 0, pitch);
    load_b(parts_b[0], first.b, pitch / 2);
    _Pragma("unroll") for (unsigned i = 0; i < 4; i++)
        load_a(parts_a[i], first.a + 16 * i * pitch, pitch / 2);
    for (unsigned k = 0, turn = 0; k < depth; k += DEPTH, turn ^= 1) {
        unsigned here = tiles + turn * TILE_BYTES, there = tiles + (turn ^ 1) * TILE_BYTES;
        bool has_next = k + DEPTH < depth;
        if (has_next) fetch(staged, a, b, depth, k + DEPTH, 0);
        if (has_next) fetch(staged, a, b, depth, k + DEPTH, 1);
        step(sums, parts_a, parts_b, place(here, row, column, 0, pitch),
             place(here, row, column, 16, pitch), pitch);
        if (has_next) keep(there, staged, pitch);
        __syncthreads();
        step(sums, parts_a, parts_b, place(here, row, column, 16, pitch),
             place(has_next ? there : here, row, column, 0, pitch), pitch);
        __syncthreads();
    }

    c += ((unsigned long long)blockIdx.y * ROWS + row) * columns + blockIdx.x * COLUMNS + column;
    _Pragma("unroll") for (unsigned i = 0; i < 4; i++)
        _Pragma("unroll") for (unsigned j = 0; j < 4; j++) {
        float(&s)[8] = sums[i][j];
        asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%8], " EIGHT
                     ", %9;" ::"f"(s[0]),
                     "f"(s[1]), "f"(s[2]), "f"(s[3]), "f"(s[4]), "f"(s[5]), "f"(s[6]), "f"(s[7]),
                     "l"(c + 16ull * i * columns + 16 * j), "r"(columns)
                     : "memory");
    }
}

extern "C" __global__ void nothing() {}
