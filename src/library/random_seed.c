/* Initial states and jumps of XORWOW and MRG32k3a, computed as powers of their transitions; Sobol's
 * direction numbers.
 *
 * How a seed becomes a state, and the distance between streams, are those of NVIDIA's device
 * functions (curand_kernel.h). The host interface's sequences were observed to be the same, see
 * docs/libraries.md. */
#include "library/random_seed.h"

#include <string.h>

/* ---- XORWOW: a matrix over GF(2), a row of five words for each bit of the state ---- */

enum { BITS = RANDOM_XORWOW_BITS, WORDS = 5, XORWOW_LOG2_STREAM = 67 };

typedef struct BitMatrix {
    uint32_t rows[BITS][WORDS];
} BitMatrix;

static void xorwow_step(uint32_t v[WORDS]) {
    uint32_t t = v[0] ^ (v[0] >> 2);
    memmove(v, v + 1, (WORDS - 1) * sizeof *v);
    v[4] = (v[3] ^ (v[3] << 4)) ^ (t ^ (t << 1));
}

static void apply(const BitMatrix *matrix, uint32_t v[WORDS]) {
    uint32_t to[WORDS] = {0};
    for (int bit = 0; bit < BITS; bit++) {
        if (!(v[bit / 32] >> bit % 32 & 1)) continue;
        for (int w = 0; w < WORDS; w++)
            to[w] ^= matrix->rows[bit][w];
    }
    memcpy(v, to, sizeof to);
}

static void square(BitMatrix *matrix) {
    BitMatrix result = *matrix;
    for (int bit = 0; bit < BITS; bit++)
        apply(matrix, result.rows[bit]);
    *matrix = result;
}

static void xorwow_transition(BitMatrix *matrix) {
    memset(matrix, 0, sizeof *matrix);
    for (int bit = 0; bit < BITS; bit++) {
        matrix->rows[bit][bit / 32] = UINT32_C(1) << bit % 32;
        xorwow_step(matrix->rows[bit]);
    }
}

static void xorwow_start(uint64_t seed, uint64_t steps, uint32_t state[RANDOM_STATE_WORDS]) {
    uint32_t t0 = UINT32_C(1099087573) * ((uint32_t)seed ^ 0xaad26b49);
    uint32_t t1 = UINT32_C(2591861531) * ((uint32_t)(seed >> 32) ^ 0xf7dcefdd);
    state[0] = 123456789 + t0;
    state[1] = 362436069 ^ t0;
    state[2] = 521288629 + t1;
    state[3] = 88675123 ^ t1;
    state[4] = 5783321 + t0;
    state[5] = 6615241 + t1 + t0 + 362437 * (uint32_t)steps;
    BitMatrix matrix;
    xorwow_transition(&matrix);
    for (; steps; steps >>= 1) {
        if (steps & 1) apply(&matrix, state);
        if (steps > 1) square(&matrix);
    }
}

static void xorwow_jumps(uint32_t *jumps) {
    BitMatrix matrix;
    xorwow_transition(&matrix);
    for (int i = 0; i < XORWOW_LOG2_STREAM; i++)
        square(&matrix);
    for (int jump = 0; jump < RANDOM_XORWOW_JUMPS; jump++) {
        memcpy(jumps + jump * BITS * WORDS, matrix.rows, sizeof matrix.rows);
        square(&matrix);
    }
}

const RandomKind random_xorwow = {
    .streams = RANDOM_XORWOW_STREAMS,
    .jump_words = RANDOM_XORWOW_JUMPS * BITS * WORDS,
    .seed_kernel = "seed_xorwow",
    .kernel = "fill_xorwow",
    .start = xorwow_start,
    .make_jumps = xorwow_jumps,
};

/* ---- MRG32k3a: two matrices of 3 x 3, modulo m1 and m2 ---- */

enum { MRG_LOG2_STREAM = 76 };

static const uint64_t moduli[2] = {4294967087, 4294944443};

typedef struct MrgMatrix {
    uint32_t items[2][3][3];
} MrgMatrix;

static const MrgMatrix mrg_transition = {
    {{{0, 1, 0}, {0, 0, 1}, {4294967087u - 810728u, 1403580, 0}},
     {{0, 1, 0}, {0, 0, 1}, {4294944443u - 1370589u, 0, 527612}}}};

static uint32_t row_times(const uint32_t row[3], const uint32_t column[3], uint64_t modulus) {
    uint64_t sum = 0;
    for (int k = 0; k < 3; k++)
        sum = (sum + (uint64_t)row[k] * column[k] % modulus) % modulus;
    return (uint32_t)sum;
}

static void mrg_square(MrgMatrix *matrix) {
    MrgMatrix result;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const uint32_t column[3] = {matrix->items[half][0][j], matrix->items[half][1][j],
                                            matrix->items[half][2][j]};
                result.items[half][i][j] = row_times(matrix->items[half][i], column, moduli[half]);
            }
    *matrix = result;
}

static void mrg_apply(const MrgMatrix *matrix, uint32_t state[RANDOM_STATE_WORDS]) {
    uint32_t to[RANDOM_STATE_WORDS];
    for (int i = 0; i < RANDOM_STATE_WORDS; i++)
        to[i] = row_times(matrix->items[i / 3][i % 3], state + i / 3 * 3, moduli[i / 3]);
    memcpy(state, to, sizeof to);
}

static void mrg_start(uint64_t seed, uint64_t steps, uint32_t state[RANDOM_STATE_WORDS]) {
    const uint64_t x[2] = {(uint32_t)seed ^ 0x55555555, (uint32_t)(seed >> 32) ^ 0xAAAAAAAA};
    for (int i = 0; i < RANDOM_STATE_WORDS; i++)
        state[i] = seed ? (uint32_t)(x[i % 2] * 12345 % moduli[i / 3]) : 12345;
    MrgMatrix matrix = mrg_transition;
    for (; steps; steps >>= 1) {
        if (steps & 1) mrg_apply(&matrix, state);
        mrg_square(&matrix);
    }
}

static void mrg_jumps(uint32_t *jumps) {
    MrgMatrix matrix = mrg_transition;
    for (int i = 0; i < MRG_LOG2_STREAM; i++)
        mrg_square(&matrix);
    for (int jump = 0; jump < RANDOM_MRG_JUMPS; jump++) {
        memcpy(jumps + jump * 18, matrix.items, sizeof matrix.items);
        mrg_square(&matrix);
    }
}

const RandomKind random_mrg = {
    .streams = RANDOM_MRG_STREAMS,
    .jump_words = RANDOM_MRG_JUMPS * 18,
    .seed_kernel = "seed_mrg",
    .kernel = "fill_mrg",
    .start = mrg_start,
    .make_jumps = mrg_jumps,
};

/* ---- Sobol ---- */

/* The dimensions after the first: degree and inner coefficients of the primitive polynomial,
 * initial direction numbers. Source: S. Joe and F. Y. Kuo, Constructing Sobol sequences with better
 * two-dimensional projections, 2008, table new-joe-kuo-6. */
static const struct {
    uint8_t degree;
    uint8_t coefficients;
    uint16_t first[9];
} sobol[RANDOM_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
    {9, 67, {1, 1, 1, 11, 21, 53, 125, 249, 293}},
    {9, 74, {1, 1, 7, 11, 11, 7, 57, 79, 323}},
    {9, 81, {1, 1, 5, 5, 17, 13, 81, 3, 131}},
    {9, 82, {1, 1, 7, 13, 23, 7, 65, 251, 475}},
    {9, 87, {1, 3, 5, 1, 9, 43, 3, 149, 11}},
    {9, 91, {1, 1, 3, 13, 31, 13, 13, 255, 487}},
    {9, 94, {1, 3, 3, 1, 5, 63, 89, 91, 127}},
    {9, 103, {1, 1, 3, 3, 1, 19, 123, 127, 237}},
    {9, 104, {1, 1, 5, 7, 23, 31, 37, 243, 289}},
    {9, 109, {1, 1, 5, 11, 17, 53, 117, 183, 491}},
    {9, 122, {1, 1, 1, 5, 1, 13, 13, 209, 345}},
    {9, 124, {1, 1, 3, 15, 1, 57, 115, 7, 33}},
    {9, 137, {1, 3, 1, 11, 7, 43, 81, 207, 175}},
    {9, 138, {1, 3, 1, 1, 15, 27, 63, 255, 49}},
    {9, 143, {1, 3, 5, 3, 27, 61, 105, 171, 305}},
    {9, 145, {1, 1, 5, 3, 1, 3, 57, 249, 149}},
    {9, 152, {1, 1, 3, 5, 5, 57, 15, 13, 159}},
    {9, 157, {1, 1, 1, 11, 7, 11, 105, 141, 225}},
    {9, 167, {1, 3, 3, 5, 27, 59, 121, 101, 271}},
    {9, 173, {1, 3, 5, 9, 11, 49, 51, 59, 115}},
    {9, 176, {1, 1, 7, 1, 23, 45, 125, 71, 419}},
    {9, 181, {1, 1, 3, 5, 23, 5, 105, 109, 75}},
    {9, 182, {1, 1, 7, 15, 7, 11, 67, 121, 453}},
    {9, 185, {1, 3, 7, 3, 9, 13, 31, 27, 449}},
    {9, 191, {1, 3, 1, 15, 19, 39, 39, 89, 15}},
    {9, 194, {1, 1, 1, 1, 1, 33, 73, 145, 379}},
    {9, 199, {1, 3, 1, 15, 15, 43, 29, 13, 483}},
    {9, 218, {1, 1, 7, 3, 19, 27, 85, 131, 431}},
    {9, 220, {1, 3, 3, 3, 5, 35, 23, 195, 349}},
    {9, 227, {1, 3, 3, 7, 9, 27, 39, 59, 297}},
    {9, 229, {1, 1, 3, 9, 11, 17, 13, 241, 157}},
    {9, 230, {1, 3, 7, 15, 25, 57, 33, 189, 213}},
    {9, 234, {1, 1, 7, 1, 9, 55, 73, 83, 217}},
    {9, 236, {1, 3, 3, 13, 19, 27, 23, 113, 249}},
    {9, 241, {1, 3, 5, 3, 23, 43, 3, 253, 479}},
    {9, 244, {1, 1, 5, 5, 11, 5, 45, 117, 217}},
};

void random_sobol_vectors(uint32_t dimension, uint32_t vectors[32]) {
    uint32_t degree = dimension ? sobol[dimension - 1].degree : 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (dimension == 0 || i < degree) {
            vectors[i] = (dimension ? sobol[dimension - 1].first[i] : UINT32_C(1)) << (31 - i);
            continue;
        }
        vectors[i] = vectors[i - degree] ^ vectors[i - degree] >> degree;
        for (uint32_t k = 1; k < degree; k++)
            if (sobol[dimension - 1].coefficients >> (degree - 1 - k) & 1)
                vectors[i] ^= vectors[i - k];
    }
}
