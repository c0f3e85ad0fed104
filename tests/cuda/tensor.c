/* CPU references for the kernels with tensor cores, asynchronous copies and barriers in memory. */
#include "kernel_test.h"

#include <math.h>

enum { SIZE = 64 };

static int small(Data in, unsigned i) { return (int)(in.words[i] % 9) - 4; }
static int signed_byte(Data in, unsigned i) { return (int8_t)in.words[i]; }

/* Element (row, column) of the product of the first half of `in` and the second half, 64 x 64
 * each. */
static int dot(Data in, unsigned n, unsigned row, unsigned column, int (*element)(Data, unsigned)) {
    int sum = 0;
    for (unsigned k = 0; k < SIZE; k++)
        sum += element(in, row * SIZE + k) * element(in, n / 2 + k * SIZE + column);
    return sum;
}

static void gemm(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < SIZE * SIZE; i++)
        out.floats[i] = (float)dot(in, n, i / SIZE, i % SIZE, small);
}

static void wmma_gemm(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < 2 * SIZE * SIZE; i++)
        out.floats[i] = 2.0f * (float)dot(in, n, i / SIZE % SIZE, i % SIZE, small);
}

static void int8_gemm(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < SIZE * SIZE; i++)
        out.ints[i] = dot(in, n, i / SIZE, i % SIZE, signed_byte);
}

static void copy_pipeline(Data in, Data out, unsigned n) {
    enum { TILE = 256, THREADS = 64 };
    for (unsigned thread = 0; thread < THREADS; thread++) {
        out.words[thread] = 0;
        for (unsigned first = 0; first < n; first += TILE)
            for (unsigned k = 0; k < 4; k++) {
                unsigned at = first + (thread * 5 + k * 64) % TILE;
                if (at < n) out.words[thread] += in.words[at] * (first / TILE + 1);
            }
    }
}

static void barrier_object(Data in, Data out, unsigned n) {
    enum { TILE = 64, ROUNDS = 6 };
    for (unsigned i = 0; i < TILE; i++) {
        out.words[i] = 0;
        for (unsigned round = 0; round < ROUNDS; round++)
            out.words[i] = out.words[i] * 3 + in.words[(round * TILE + (i + 7 * round) % TILE) % n];
    }
}

/* Reference for both libcu++ kernels, which process tiles of 128 words. */
static void libcu_tiles(Data in, Data out, unsigned n) {
    enum { TILE = 128, THREADS = 64 };
    for (unsigned thread = 0; thread < THREADS; thread++) {
        out.words[thread] = 0;
        for (unsigned first = 0; first < n; first += TILE)
            out.words[thread] = out.words[thread] * 5 + in.words[first + (thread * 3 + 1) % TILE];
    }
}

static void flash_attention(Data in, Data out, unsigned n) {
    enum { ROWS = 64, WIDTH = 16 };
    const float *q = in.floats, *k = q + n / 3, *v = q + 2 * (n / 3);
    for (unsigned row = 0; row < ROWS; row++) {
        double scores[ROWS], most = -INFINITY, total = 0, sums[WIDTH] = {0};
        for (unsigned key = 0; key < ROWS; key++) {
            scores[key] = 0;
            for (unsigned i = 0; i < WIDTH; i++)
                scores[key] += (double)q[row * WIDTH + i] * (double)k[key * WIDTH + i] / 64;
            most = fmax(most, scores[key]);
        }
        for (unsigned key = 0; key < ROWS; key++) {
            const double weight = exp(scores[key] - most);
            total += weight;
            for (unsigned i = 0; i < WIDTH; i++)
                sums[i] += weight * ((double)v[key * WIDTH + i] + 9);
        }
        for (unsigned i = 0; i < WIDTH; i++)
            out.floats[row * WIDTH + i] = (float)(sums[i] / total);
    }
}

/* Four warps multiply 64 x 64 matrices. */
#define GEMM(output, ctas)                                                                         \
    .shape = {.grid = {ctas}, .block = {128}}, .in = {KIND_WORDS, 2 * SIZE * SIZE},                \
    .out = {output, (ctas) * SIZE * SIZE}

const KernelTest TENSOR_TESTS[] = {
    {.name = "mma_gemm", GEMM(KIND_FLOATS, 1), .reference = gemm},
    {.name = "bfloat_gemm", GEMM(KIND_FLOATS, 1), .reference = gemm},
    {.name = "int8_gemm", GEMM(KIND_WORDS, 1), .reference = int8_gemm},
    {.name = "wmma_gemm", GEMM(KIND_FLOATS, 2), .reference = wmma_gemm},
    {.name = "copy_pipeline",
     .shape = {.grid = {1}, .block = {64}},
     .in = {KIND_WORDS, 1999},
     .out = {KIND_WORDS, 64},
     .reference = copy_pipeline},
    {.name = "barrier_object",
     .shape = {.grid = {1}, .block = {128}},
     .in = {KIND_WORDS, 384},
     .out = {KIND_WORDS, 64},
     .reference = barrier_object},
    {.name = "libcu_barrier",
     .shape = {.grid = {1}, .block = {64}},
     .in = {KIND_WORDS, 1024},
     .out = {KIND_WORDS, 64},
     .reference = libcu_tiles},
    {.name = "libcu_pipeline",
     .shape = {.grid = {1}, .block = {64}},
     .in = {KIND_WORDS, 1024},
     .out = {KIND_WORDS, 64},
     .reference = libcu_tiles},
    /* halves of Q, K, V and the weights have an error of 2^-11 each; scores reach 16 */
    {.name = "flash_attention",
     .shape = {.grid = {1}, .block = {128}},
     .in = {KIND_FLOATS, 3 * 64 * 16},
     .out = {KIND_FLOATS, 64 * 16},
     .tolerance = 0.02,
     .reference = flash_attention},
    {0},
};
