/* The parameters of the kernels of sparse_kernels.cu. Both compilers, for kernels and for their
 * callers, lay them out identically. All `uint64_t` are device addresses. */
#ifndef TYTO_LIBRARY_SPARSE_DEVICE_H
#define TYTO_LIBRARY_SPARSE_DEVICE_H

#include <stdint.h>

enum {
    SPARSE_DIGITS = 256, /* values of a digit of a sort key: 8 bits */
    SPARSE_TILE = 4096   /* items that one block sorts in one pass */
};

/* A factor: its value, or the address of one that has the type of the sums. */
typedef struct SparseScalar {
    double value, imaginary;
    uint64_t pointer; /* 0: `value` and `imaginary` are used */
} SparseScalar;

/* A list of indices or offsets, of 32 or 64 bits. `base` is the index of the first row, column or
 * element. */
typedef struct SparseIndices {
    uint64_t items;
    int32_t is_wide, base;
} SparseIndices;

/* A dense matrix, or a vector as one column: element (i, j) is items[i * row + j * column]. */
typedef struct SparseDense {
    uint64_t items;
    int64_t row, column;
    int32_t is_conjugated;
} SparseDense;

/* The elements of a sparse matrix in memory order. `major` has the row of each element, or with
 * `has_offsets` the position of each row's first element and the end of the last. */
typedef struct SparseEntries {
    SparseIndices major, minor;
    uint64_t values;
    int32_t count, lines;              /* elements; rows */
    int32_t has_offsets, is_by_column; /* by column: read column for row, and row for column */
} SparseEntries;

/* The rows of a matrix that is multiplied: element k of all rows is values[order[k]], in column
 * indices[k]. */
typedef struct SparseLines {
    SparseIndices offsets; /* no items: all rows are empty */
    SparseIndices indices;
    uint64_t order; /* 0: the elements are in order */
    uint64_t values;
    int32_t count; /* rows */
    int32_t is_conjugated;
} SparseLines;

/* C = alpha * A B + beta * C, with `lanes` threads for each row. */
typedef struct SparseMultiply {
    SparseLines a;
    SparseDense b, c;
    int32_t columns; /* of C */
    int32_t lanes;   /* a power of two, at most 32 */
    SparseScalar alpha, beta;
} SparseMultiply;

/* C = alpha * A B + beta * C, at the elements that C has. */
typedef struct SparseSample {
    SparseEntries c;
    SparseDense a, b;
    int32_t depth; /* columns of A */
    SparseScalar alpha, beta;
} SparseSample;

/* The unknowns of a triangular system: A y = alpha * x. */
typedef struct SparseSolve {
    SparseLines a;
    SparseDense x, y;
    int32_t is_lower, has_unit; /* triangle of A that is used; whether its diagonal is read as 1 */
    SparseScalar alpha;
} SparseSolve;

/* A sparse vector and a dense one. */
typedef struct SparsePair {
    SparseIndices indices;
    uint64_t values, dense;
    int32_t count;
    int32_t is_conjugated; /* the sparse one is conjugated */
    uint64_t result;
    SparseScalar alpha;
} SparsePair;

/* Multiplies a dense matrix by a factor; a factor of 0 sets it to 0. */
typedef struct SparseScale {
    SparseDense a;
    int32_t rows, columns;
    SparseScalar beta;
} SparseScale;

/* Writes the elements of a sparse matrix to a dense one. */
typedef struct SparseExpand {
    SparseEntries a;
    SparseDense b;
} SparseExpand;

/* Finds the elements of a dense matrix that are not 0, line by line: rows, or columns with
 * `is_by_column` of `b`. */
typedef struct SparseCompress {
    SparseDense a; /* element (line, place) */
    SparseEntries b;
    int32_t places;  /* in each line */
    uint64_t counts; /* for each line the number of elements, or the position of the first */
} SparseCompress;

/* out[k] = the row (or column) of element order[k]. */
typedef struct SparsePick {
    SparseEntries from;
    uint64_t order; /* 0: the elements are in order */
    SparseIndices out;
    int32_t wants_minor;
} SparsePick;

/* out[i] = the position of the first item of a sorted list that is i or more, up to i = lines. */
typedef struct SparseBounds {
    SparseIndices sorted, out;
    int32_t count, lines;
} SparseBounds;

/* out[i] = the sum of the items before i. */
typedef struct SparseScan {
    uint64_t items;
    SparseIndices out;
    int32_t count;
} SparseScan;

/* Sorts by one digit of the keys; items with equal digits keep their order. */
typedef struct SparseSort {
    uint64_t keys, order; /* order 0: item k is k */
    uint64_t keys_out, order_out;
    uint64_t
        counts; /* for each digit and tile the number of items, then the position of the first */
    int32_t count, tiles, shift;
} SparseSort;

/* out[k] = in[order[k]] */
typedef struct SparsePermute {
    uint64_t in, order, out;
    int32_t count;
} SparsePermute;

/* out[k] = k */
typedef struct SparseIdentity {
    uint64_t out;
    int32_t count;
} SparseIdentity;

/* The terms of A B, for CSR: each element of A times the elements of one row of B, one after
 * another. */
typedef struct SparseTerms {
    SparseEntries a, b;
    uint64_t ends; /* for each element of A the number of its terms, or of those before */
    uint64_t rows, columns, values; /* of the terms */
    int32_t count;
} SparseTerms;

/* Adds the terms of each element of C. */
typedef struct SparseMerge {
    SparseEntries c;
    uint64_t rows;    /* of the terms, sorted */
    uint64_t order;   /* number of the term at each place */
    uint64_t columns; /* of the terms by number, like `values` */
    uint64_t values;
    uint64_t places; /* for each term whether it is the first of its element, or the number of such
                        terms before */
    int32_t count;
    SparseScalar alpha, beta;
} SparseMerge;

#endif
