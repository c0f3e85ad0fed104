/* The parameters of the kernels of blas_kernels.cu. Both compilers, for kernels and for their
 * callers, lay them out identically. */
#ifndef TYTO_LIBRARY_BLAS_DEVICE_H
#define TYTO_LIBRARY_BLAS_DEVICE_H

#include <stdint.h>

/* How numbers are stored. */
typedef enum BlasType {
    BLAS_F32,
    BLAS_F64,
    BLAS_F16,
    BLAS_BF16,
    BLAS_S8,
    BLAS_S32,
    BLAS_C32,  /* complex numbers of two floats */
    BLAS_C64,  /* complex numbers of two doubles */
    BLAS_E4M3, /* 8-bit floats; only in products of cuBLASLt */
    BLAS_E5M2,
    BLAS_NO_TYPE
} BlasType;

/* A factor: its value, or the address on the device, where it has the type that the call computes
 * in. */
typedef struct BlasScalar {
    double value, imaginary;
    uint64_t pointer; /* 0: `value` and `imaginary` are used */
    int64_t is_conjugated;
} BlasScalar;

/* Vectors: element i of vector r is items[start + i * step + r * lead]. */
typedef struct BlasVector {
    uint64_t items; /* device address */
    int64_t start, step, lead;
} BlasVector;

/* Level 1, element by element: x and y, factors c and s. */
typedef struct BlasMap {
    BlasVector x, y;
    int64_t n;
    BlasScalar c, s;
    uint64_t parameters; /* for rotm: 5 numbers on the device */
} BlasMap;

/* Level 1, reduction to one number: `partial` receives a pair of value and index for each CTA,
 * `out` the result. */
typedef struct BlasReduce {
    BlasVector x, y;
    int64_t n;
    uint64_t partial, out;
    int32_t parts;
    int32_t has_wide_index; /* amax, amin: the result is a 64-bit index */
} BlasReduce;

enum { BLAS_DENSE, BLAS_BAND, BLAS_PACKED };
enum { BLAS_WHOLE, BLAS_LOWER, BLAS_UPPER };

/* A matrix in a storage format of level 2, by columns. */
typedef struct BlasMatrix {
    uint64_t items;
    int64_t lead;          /* distance from column to column */
    int32_t storage, part; /* one of the constants above */
    int32_t is_symmetric, has_unit, is_transposed;
    int32_t below, above;  /* BAND: number of diagonals below and above the main one */
    int32_t order;         /* PACKED: number of rows and columns */
    int32_t is_hermitian;  /* with is_symmetric: the other triangle is conjugated, and the diagonal
                              is real */
    int32_t is_conjugated; /* elements are conjugated before use */
} BlasMatrix;

/* y = alpha * A x + beta * y, for `count` pairs of x and y. */
typedef struct BlasMultiply {
    BlasMatrix a;
    BlasVector x, y;
    int32_t rows, columns; /* of A after the transposition */
    int32_t count;
    BlasScalar alpha, beta;
} BlasMultiply;

/* A x = alpha * b in place, for each x. */
typedef struct BlasSolve {
    BlasMatrix a;
    BlasVector x;
    int32_t rows;
    int32_t is_lower; /* A is lower triangular after the transposition */
    int32_t is_list;  /* `items` of both are lists of addresses (a batch) */
    BlasScalar alpha;
} BlasSolve;

/* A += alpha * x y'; with has_two_sides, A += alpha * (x y' + y x'). */
typedef struct BlasUpdate {
    BlasMatrix a;
    BlasVector x, y;
    int32_t rows, columns;
    int32_t has_two_sides;
    int32_t is_conjugated; /* y' is conjugated; with two sides, alpha of the second term too */
    BlasScalar alpha;
} BlasUpdate;

enum {
    BLAS_ACTIVATION_NONE,
    BLAS_ACTIVATION_RELU,
    BLAS_ACTIVATION_GELU,
    BLAS_ACTIVATION_DRELU,
    BLAS_ACTIVATION_DGELU
};

/* A matrix of a product: element (i, j) of item b of a batch is items[b * batch + i * row + j *
 * column]. */
typedef struct BlasOperand {
    uint64_t items; /* address of the first item, or with `is_list` of a list of addresses */
    int64_t row, column, batch;
} BlasOperand;

/* D = activation(alpha * A B + beta * C + bias). */
typedef struct BlasProduct {
    BlasOperand a, b, c, d;
    int32_t m, n, k;
    int32_t is_list;
    int32_t conjugates_a, conjugates_b;
    int32_t is_pedantic;  /* not on tensor cores */
    int32_t allows_tf32;  /* floats may be rounded to TF32 */
    int32_t part;         /* part of D that is written: BLAS_WHOLE, or a triangle */
    int32_t is_hermitian; /* the diagonal of D is real */
    BlasScalar alpha, beta;
    uint64_t alpha_vector; /* a factor for each row of D; 0: none */
    uint64_t bias; /* a number for each row of D, in the type of D, or as float with bias_is_f32 */
    int64_t bias_batch;
    int32_t bias_is_f32;
    int32_t activation;
    uint64_t aux; /* the activation's input, in the type of D (GELU), or as a bit each (RELU) */
    int64_t aux_lead, aux_batch;
} BlasProduct;

/* What cuTensorMapEncodeTiled writes. */
typedef struct BlasTensorMap {
    __attribute__((aligned(64))) uint64_t opaque[16];
} BlasTensorMap;

/* What a product of 8-bit floats has in addition. All pointers are device addresses of floats; 0:
 * not given, so a factor is 1. */
typedef struct BlasScales {
    uint64_t a, b, d;       /* factors of A, of B, and of D if it has 8-bit floats */
    uint64_t rows, columns; /* a factor for each row, and for each column, of A B */
    uint64_t most;          /* receives the largest magnitude in D before its factor */
    int32_t out, c, bias;   /* BlasType of D, C and the bias */
} BlasScales;

/* A product on the tensor cores of compute capability 9.0: tensor_kernels.cu. */
typedef struct BlasTensor {
    BlasTensorMap
        maps[3]; /* of the operand with the lines, of the other one, of D; must be first */
    BlasProduct product;
    int32_t is_by_row;  /* D is stored by rows: its lines are rows, not columns */
    int32_t out_is_f32; /* D has floats, not the type of A and B */
    int32_t has_d_map;  /* D's map can store the sums times alpha, if beta is 0 */
    uint32_t batches;
    uint32_t cluster_high,
        cluster_wide;  /* tiles of a cluster: in the direction of lines, and along */
    BlasScales scales; /* only for 8-bit floats */
} BlasTensor;

enum {
    BLAS_TENSOR_LINES = 128,       /* of a tile */
    BLAS_TENSOR_THREADS = 3 * 128, /* a warpgroup that copies, two that multiply */
    BLAS_TENSOR_BARRIERS = 256,    /* bytes, room for 16 pairs of barriers */
    BLAS_TENSOR_SHARED =
        227 * 1024 /* bytes: what a thread block of compute capability 9.0 can have */
};

/* A product on the tensor cores of compute capability 8.0 and later: mma_kernels.cu. */
typedef struct BlasMma {
    BlasProduct product;
    int32_t is_by_row;    /* D is stored by rows: its lines are rows, not columns */
    int32_t out_is_f32;   /* D has floats, not the type of A and B, or 32-bit integers for s8 */
    int32_t stores_pairs; /* if beta is 0, D gets sums times alpha, and pairs of elements that start
                             at an even one are aligned to their size */
    int32_t stages;       /* tiles in shared memory */
} BlasMma;

enum {
    BLAS_MMA_LINES = 128, /* of a tile */
    BLAS_MMA_THREADS = 128,
    BLAS_MMA_ROW_BYTES = 128,  /* of a tile in shared memory, for each line and each element along
                                  them */
    BLAS_MMA_LEAST_STAGES = 2, /* tiles in shared memory */
    BLAS_MMA_MOST_STAGES = 4
};

/* out[i] = the sum of a row of a matrix. */
typedef struct BlasRowSum {
    BlasOperand a;
    uint64_t out;
    int32_t rows, columns;
    int32_t out_is_f32;
} BlasRowSum;

/* C = alpha * A + beta * B. With a vector: C = A diag(x) or diag(x) A; a_row counts along its
 * index. */
typedef struct BlasCombine {
    BlasOperand a, b, c;
    int32_t m, n;
    int32_t conjugates_a, conjugates_b;
    BlasScalar alpha, beta;
} BlasCombine;

typedef struct BlasScaleLines {
    BlasOperand a, c;
    BlasVector x;
    int32_t m, n;
    int32_t is_by_row; /* x has a factor for each row; otherwise for each column */
} BlasScaleLines;

/* LU factors of each matrix of a list, in place; columns are `lead` apart. */
typedef struct BlasFactor {
    uint64_t items;  /* list of addresses */
    uint64_t pivots; /* `order` row numbers for each matrix, from 1; 0: rows are not swapped */
    uint64_t infos;  /* for each matrix 0, or the index of the first pivot that is 0, from 1 */
    int64_t lead;
    int32_t order;
} BlasFactor;

/* Swaps rows of each matrix of a list according to the pivots, in their order or in reverse. */
typedef struct BlasPermute {
    uint64_t items; /* list of addresses */
    uint64_t pivots;
    int64_t lead;
    int32_t order, columns;
    int32_t is_backward;
} BlasPermute;

/* Sets the matrices of a list to unit matrices, and reports whether the factors of another list
 * have an inverse. */
typedef struct BlasUnit {
    uint64_t items, factors; /* lists of addresses */
    uint64_t infos;          /* as in BlasFactor */
    int64_t lead, factor_lead;
    int32_t order;
} BlasUnit;

#endif
