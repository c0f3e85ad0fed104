/* Shared by the tests of cuSPARSE: numbers of all types, dense matrices on the host as a reference,
 * and copies of them on the device in each format. */
#ifndef TEST_LIBRARY_SPARSE_CASE_H
#define TEST_LIBRARY_SPARSE_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"
#include "tyto/cusparse.h"

/* ---- Numbers ---- */

typedef struct Number {
    double x, y; /* real and imaginary part */
} Number;

Number number(double x);
Number plus(Number a, Number b);
Number times(Number a, Number b);
bool is_zero(Number a);
/* alpha * p + beta * c; c is not read if beta is 0 */
Number combine(Number alpha, Number p, Number beta, Number c);
/* A whole number from -limit to limit, with an imaginary part if the type has one. */
Number small_number(cudaDataType type, int limit);
uint32_t next_random(void);

/* Types of the operands and of the result, and of factors. */
typedef struct Types {
    cudaDataType in, out, compute;
} Types;
enum { TYPE_COUNT = 8 };
extern const Types all_types[TYPE_COUNT];
size_t bytes_of(cudaDataType type);
/* Number i of a list in a type. */
void store(void *items, size_t i, cudaDataType type, Number value);
Number load(const void *items, size_t i, cudaDataType type);

/* ---- The handle; device memory: each case frees all that it allocated ---- */

extern cusparseHandle_t handle;
int open_handle(void **state);
int close_handle(void **state);
void check(cusparseStatus_t status);
void *device_alloc(size_t bytes);
void *upload(const void *data, size_t bytes);
void download(void *data, const void *items, size_t bytes);
void free_all(void);
/* A factor where the pointer mode of the handle says. */
void *factor(Number value, cudaDataType type, bool is_on_device);

/* ---- Matrices on the host: element (i, j) is items[i * columns + j] ---- */

typedef struct Matrix {
    int rows, columns;
    Number *items;
} Matrix;

Number *at(Matrix m, int i, int j);
Matrix new_matrix(int rows, int columns);
/* About `percent` of the elements are not 0; each fifth row is empty. */
Matrix random_matrix(int rows, int columns, cudaDataType type, unsigned percent);
/* Element (i, j), rows and columns of op(M). */
Number element(Matrix m, int i, int j, cusparseOperation_t op);
int rows_of(Matrix m, cusparseOperation_t op);
int columns_of(Matrix m, cusparseOperation_t op);
/* op(A) op(B) */
Matrix product(Matrix a, cusparseOperation_t op_a, Matrix b, cusparseOperation_t op_b);
void assert_number(Number got, Number expected);
void assert_matrix(Matrix got, Matrix expected);

/* ---- Matrices and vectors on the device ---- */

typedef struct Layout {
    cusparseFormat_t format;
    cusparseIndexType_t index;
    cusparseIndexBase_t base;
} Layout;

/* Layout number i of 12: CSR, CSC and COO in turn. */
Layout layout_of(int i);
size_t index_bytes(Layout l);
void store_index(Layout l, void *list, int64_t i, int64_t value);
int64_t load_index(Layout l, const void *list, int64_t i);
cusparseStatus_t create(cusparseSpMatDescr_t *descr, Layout l, int rows, int columns, int64_t count,
                        void *major, void *minor, void *values, cudaDataType type);
/* Uploads the elements that are not 0. With base 1, those of a row are stored from last to first,
 * which is allowed. */
cusparseSpMatDescr_t sparse_of(Matrix m, Layout l, cudaDataType type);
/* A dense matrix with 3 unused places between its lines. */
cusparseDnMatDescr_t dense_of(Matrix m, cusparseOrder_t order, cudaDataType type);
Matrix read_dense(cusparseDnMatDescr_t descr);
cusparseDnVecDescr_t vector_of(const Number *items, int count, cudaDataType type);
void read_vector(cusparseDnVecDescr_t descr, Number *items);
/* y = alpha * op(A) x + beta * y */
void multiply_vector(cusparseOperation_t op, const void *alpha, cusparseSpMatDescr_t a,
                     cusparseDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y,
                     cudaDataType compute);

#endif
