/* C = A B on tensor cores, in the style of compute capability 8.0 and later: asynchronous copies
 * bring the next tiles into shared memory while the current ones are multiplied, ldmatrix loads
 * them from there, and mma of m16n8k16 multiplies. A is stored by rows, B by columns, both of
 * `depth` halves.
 *
 * A CTA of 8 warps computes a tile of 128 x 256, a warp one of 64 x 64: 32 products for 8 loads of
 * ldmatrix.x4, which take half of the time of the products. Three tiles are in shared memory: one
 * is multiplied, two are being loaded. Rows of a tile are 128 bytes there. Their contents are
 * permuted by the row's number, so that the 8 rows of a matrix are in 8 different groups of banks,
 * unless `conflicts` selects the plain order. The loads of a step, and the copies, are between the
 * products of the previous step. */
#include "tyto_device.h"

enum {
    ROWS = 128,
    COLUMNS = 256,
    DEPTH = 64, /* of a tile: four steps of an mma */
    STAGES = 3,
    STEPS = DEPTH / 16,
    PARTS = (ROWS + COLUMNS) / 32, /* of the copies of a tile */
    PIECES = 8,                    /* of the operands of a step */
    ROW_BYTES = 2 * DEPTH,
    A_BYTES = ROWS * ROW_BYTES,                /* of A's tile, ... */
    TILE_BYTES = A_BYTES + COLUMNS * ROW_BYTES /* ... and of both */
};

/* The operands of a step. */
struct Operands {
    unsigned a[4][4], b[4][4];
};

/* The place of the 16 bytes `chunk` of a row in a tile. */
static __device__ inline unsigned place(unsigned row, unsigned chunk, unsigned mask) {
    return row * ROW_BYTES + ((chunk ^ (row & mask)) << 4);
}

static __device__ inline void copy16(unsigned to, const char *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/* Starts the copy of part `part` of the tiles from `k` on, if there are any: eight threads copy a
 * row. */
static __device__ inline void fetch(unsigned tiles, const char *a, const char *b, unsigned depth,
                                    unsigned k, unsigned part, unsigned mask) {
    unsigned row = threadIdx.x / 8 + 32 * part, chunk = threadIdx.x % 8;
    unsigned to = tiles + k / DEPTH % STAGES * TILE_BYTES;
    unsigned long long pitch = 2ull * depth, at = 2ull * k + chunk * 16;
    const char *from = 32 * part < ROWS ? a + row * pitch : b + (row - ROWS) * pitch;
    if (k < depth) copy16(to + place(row, chunk, mask), from + at);
}

static __device__ inline void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

static __device__ inline void load4(unsigned (&to)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

static __device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                       unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Loads a piece of the operands of step `number`, counted over all tiles: 16 rows of A, or 16
 * columns of B. */
static __device__ inline void load(Operands &to, unsigned tiles, unsigned number, unsigned row,
                                   unsigned column, unsigned piece, unsigned mask) {
    unsigned lane = threadIdx.x % 32, chunk = number % 4 * 2, i = piece % 4;
    unsigned from = tiles + number / 4 % STAGES * TILE_BYTES;
    if (piece < 4) load4(to.a[i], from + place(row + 16 * i + lane % 16, chunk + lane / 16, mask));
    else
        load4(to.b[i],
              from + A_BYTES +
                  place(column + 16 * i + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2, mask));
}

/* Four of a step's 32 products: those with the same 8 columns of B. */
static __device__ inline void multiply(float (&c)[4][8][4], const Operands &by, unsigned j) {
    _Pragma("unroll") for (unsigned i = 0; i < 4; i++)
        multiply(c[i][j], by.a[i], by.b[j / 2][j % 2 * 2], by.b[j / 2][j % 2 * 2 + 1]);
}

/* Waits until the next tile has arrived for all warps, and all have read the last one. */
static __device__ inline void meet() {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
}

extern "C" __global__ void gemm(const char *a, const char *b, float *c, unsigned columns,
                                unsigned depth, unsigned conflicts) {
    extern __shared__ __attribute__((aligned(128))) char shared[]; /* STAGES tiles */
    unsigned tiles, warp = threadIdx.x / 32, lane = threadIdx.x % 32, mask = conflicts ? 0 : 7;
    unsigned row = warp % 2 * 64, column = warp / 2 * 64; /* of the warp's tile in the CTA's */
    float sums[4][8][4] = {};
    Operands operands[2]; /* of a step and the next one */
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
                 : "=r"(tiles)
                 : "l"(shared));
    a += 2ull * depth * ROWS * blockIdx.y;
    b += 2ull * depth * COLUMNS * blockIdx.x;

    _Pragma("unroll") for (unsigned part = 0; part < PARTS; part++)
        fetch(tiles, a, b, depth, 0, part, mask);
    close_group();
    _Pragma("unroll") for (unsigned part = 0; part < PARTS; part++)
        fetch(tiles, a, b, depth, DEPTH, part, mask);
    close_group();
    meet();
    _Pragma("unroll") for (unsigned piece = 0; piece < PIECES; piece++)
        load(operands[0], tiles, 0, row, column, piece, mask);
    for (unsigned k = 0, number = 0; k < depth; k += DEPTH) {
        _Pragma("unroll") for (unsigned step = 0; step < STEPS; step++, number++) {
            if (step == STEPS - 1) {
                close_group();
                meet();
            }
            bool has_next = step < STEPS - 1 || k + DEPTH < depth;
            _Pragma("unroll") for (unsigned j = 0; j < PIECES; j++) {
                if (has_next) load(operands[~step & 1], tiles, number + 1, row, column, j, mask);
                if (step < STEPS - 1 && j < PARTS / (STEPS - 1))
                    fetch(tiles, a, b, depth, k + 2 * DEPTH, step * PARTS / (STEPS - 1) + j, mask);
                multiply(sums, operands[step & 1], j);
            }
        }
    }

    c += ((unsigned long long)blockIdx.y * ROWS + row + lane / 4) * columns + blockIdx.x * COLUMNS +
         column + lane % 4 * 2;
    _Pragma("unroll") for (unsigned i = 0; i < 4; i++) _Pragma("unroll") for (unsigned j = 0; j < 8;
                                                                              j++)
        _Pragma("unroll") for (unsigned half = 0; half < 2; half++) asm volatile(
            "st.global.v2.f32 [%0], {%1, %2};" ::"l"(c + (16ull * i + 8 * half) * columns + 8 * j),
            "f"(sums[i][j][2 * half]), "f"(sums[i][j][2 * half + 1]) : "memory");
}

extern "C" __global__ void nothing() {}
