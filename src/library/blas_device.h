/* What the kernels of blas_kernels.cu and their callers agree on: the parameters of each kernel,
 * laid out alike by both compilers. */
#ifndef TYTO_LIBRARY_BLAS_DEVICE_H
#define TYTO_LIBRARY_BLAS_DEVICE_H

#include <stdint.h>

/* A factor: the host's value, or where the device has it in the type that the call computes in. */
typedef struct BlasScalar {
    double value, imaginary;
    uint64_t pointer; /* 0: the value counts */
    int64_t is_conjugated;
} BlasScalar;

/* Vectors: element i of vector r is items[start + i * step + r * lead]. */
typedef struct BlasVector {
    uint64_t items; /* device address */
    int64_t start, step, lead;
} BlasVector;

/* Level 1, one element after the other: x and y, factors c and s. */
typedef struct BlasMap {
    BlasVector x, y;
    int64_t n;
    BlasScalar c, s;
    uint64_t parameters; /* of rotm: 5 numbers on the device */
} BlasMap;

/* Level 1, down to one number: `partial` takes a pair of value and index for each CTA, `out` the
 * result. */
typedef struct BlasReduce {
    BlasVector x, y;
    int64_t n;
    uint64_t partial, out;
    int32_t parts;
    int32_t has_wide_index; /* amax, amin: the result has 64 bits */
} BlasReduce;

enum { BLAS_DENSE, BLAS_BAND, BLAS_PACKED };
enum { BLAS_WHOLE, BLAS_LOWER, BLAS_UPPER };

/* A matrix as level 2 stores it, by columns. */
typedef struct BlasMatrix {
    uint64_t items;
    int64_t lead;          /* from column to column */
    int32_t storage, part; /* of the above */
    int32_t is_symmetric, has_unit, is_transposed;
    int32_t below, above; /* BAND: diagonals below and above the main one */
    int32_t order;        /* PACKED: rows and columns */
    int32_t
        is_hermitian; /* with is_symmetric: the other triangle is conjugated, the diagonal real */
    int32_t is_conjugated; /* each element as it is used */
} BlasMatrix;

/* y = alpha * A x + beta * y, for `count` pairs of x and y. */
typedef struct BlasMultiply {
    BlasMatrix a;
    BlasVector x, y;
    int32_t rows, columns; /* of A as it is used, transposed or not */
    int32_t count;
    BlasScalar alpha, beta;
} BlasMultiply;

/* A x = alpha * b in place, for each x. */
typedef struct BlasSolve {
    BlasMatrix a;
    BlasVector x;
    int32_t rows;
    int32_t is_lower; /* A as it is used */
    int32_t is_list;  /* the items of both are lists of addresses, of a batch */
    BlasScalar alpha;
} BlasSolve;

/* A += alpha * (x y' + y x' where it has two sides). */
typedef struct BlasUpdate {
    BlasMatrix a;
    BlasVector x, y;
    int32_t rows, columns;
    int32_t has_two_sides;
    int32_t is_conjugated; /* y' is; of two sides the second has alpha conjugated, too */
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
    uint64_t items; /* of the first item; with `is_list` of a list of addresses */
    int64_t row, column, batch;
} BlasOperand;

/* D = activation(alpha * A B + beta * C + bias). */
typedef struct BlasProduct {
    BlasOperand a, b, c, d;
    int32_t m, n, k;
    int32_t is_list;
    int32_t conjugates_a, conjugates_b;
    int32_t part;         /* of D that is written: BLAS_WHOLE, or a triangle */
    int32_t is_hermitian; /* D's diagonal is real */
    BlasScalar alpha, beta;
    uint64_t alpha_vector; /* one factor for each row of D; 0: none */
    uint64_t bias; /* one number for each row of D, in the type of D or, with bias_is_f32, float */
    int64_t bias_batch;
    int32_t bias_is_f32;
    int32_t activation;
    uint64_t aux; /* what the activation was given, in the type of D (GELU), or a bit each (RELU) */
    int64_t aux_lead, aux_batch;
} BlasProduct;

/* out[i] = the sum of a row of a matrix. */
typedef struct BlasRowSum {
    BlasOperand a;
    uint64_t out;
    int32_t rows, columns;
    int32_t out_is_f32;
} BlasRowSum;

/* C = alpha * A + beta * B, or C = A diag(x), diag(x) A with a vector: a_row counts along its
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
    int32_t is_by_row; /* x has a factor for each row, else for each column */
} BlasScaleLines;

/* LU of each matrix of a list in place, columns `lead` apart. */
typedef struct BlasFactor {
    uint64_t items;  /* list of addresses */
    uint64_t pivots; /* `order` rows for each matrix, counted from 1; 0: rows stay where they are */
    uint64_t infos;  /* 0 for each matrix, or the first pivot that is 0, counted from 1 */
    int64_t lead;
    int32_t order;
} BlasFactor;

/* Swaps rows of each matrix of a list as the pivots say, in their order or against it. */
typedef struct BlasPermute {
    uint64_t items; /* list of addresses */
    uint64_t pivots;
    int64_t lead;
    int32_t order, columns;
    int32_t is_backward;
} BlasPermute;

/* Makes unit matrices of the matrices of a list, and says of the factors of another whether they
 * have an inverse. */
typedef struct BlasUnit {
    uint64_t items, factors; /* lists of addresses */
    uint64_t infos;          /* as of BlasFactor */
    int64_t lead, factor_lead;
    int32_t order;
} BlasUnit;

#endif
