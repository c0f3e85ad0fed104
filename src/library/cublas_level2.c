/* cuBLAS level 2, and of level 3 what is level 2 for many vectors: symm, trsm; and the sums and
 * scalings of whole matrices, geam and dgmm. */
#include "library/blas.h"

#define CHECK_HANDLE                                                                               \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED
#define REFUSE_UNLESS(condition)                                                                   \
    if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE

static bool is_operation(cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
static int part_of(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER ? BLAS_LOWER : BLAS_UPPER;
}
static bool is_part(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER;
}

/* ---- Kernels ---- */

static cublasStatus_t multiply(cublasHandle_t handle, BlasType type, BlasMultiply p) {
    if (p.rows <= 0 || p.count <= 0) return CUBLAS_STATUS_SUCCESS;
    bool has_lines = p.a.storage == BLAS_DENSE && p.a.is_transposed && !p.a.is_symmetric;
    return has_lines ? blas_launch(handle, "multiply_lines", blas_type_names[type],
                                   blas_blocks(32LL * p.rows), p.count, 1, &p)
                     : blas_launch(handle, "multiply_rows", blas_type_names[type],
                                   blas_blocks(p.rows), p.count, 1, &p);
}

/* x = A x: the kernel reads a copy of x, side by side. */
static cublasStatus_t multiply_in_place(cublasHandle_t handle, BlasType type, BlasMatrix a, void *x,
                                        int n, int increment) {
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    CUdeviceptr copy = device_scratch(&handle->device, (size_t)n * blas_type_bytes[type]);
    if (!copy) return CUBLAS_STATUS_ALLOC_FAILED;
    BlasVector vector = blas_vector(x, n, increment), copied = {.items = copy, .step = 1};
    BlasMap map = {.x = vector, .y = copied, .n = n};
    cublasStatus_t status =
        blas_launch(handle, "copy", blas_type_names[type], blas_blocks(n), 1, 1, &map);
    if (status) return status;
    return multiply(handle, type,
                    (BlasMultiply){.a = a,
                                   .x = copied,
                                   .y = vector,
                                   .rows = n,
                                   .columns = n,
                                   .count = 1,
                                   .alpha = blas_one()});
}

static cublasStatus_t solve(cublasHandle_t handle, BlasType type, BlasMatrix a, BlasVector x, int n,
                            int count, BlasScalar alpha) {
    if (n <= 0 || count <= 0) return CUBLAS_STATUS_SUCCESS;
    BlasSolve p = {.a = a,
                   .x = x,
                   .rows = n,
                   .alpha = alpha,
                   .is_lower = (a.part == BLAS_LOWER) != (a.is_transposed != 0)};
    return blas_launch(handle, "solve", blas_type_names[type], count, 1, 1, &p);
}

static cublasStatus_t update(cublasHandle_t handle, BlasType type, BlasUpdate p) {
    if (p.rows <= 0 || p.columns <= 0) return CUBLAS_STATUS_SUCCESS;
    return blas_launch(handle, "update", blas_type_names[type], blas_blocks(p.rows), p.columns, 1,
                       &p);
}

/* ---- Matrices ---- */

static BlasMatrix dense(const void *a, int lda, cublasOperation_t op) {
    return (BlasMatrix){
        .items = device_address(a), .lead = lda, .is_transposed = op != CUBLAS_OP_N};
}

static BlasMatrix symmetric(const void *a, int lda, cublasFillMode_t fill) {
    return (BlasMatrix){
        .items = device_address(a), .lead = lda, .part = part_of(fill), .is_symmetric = 1};
}

static BlasMatrix triangular(const void *a, int lda, cublasFillMode_t fill, cublasOperation_t op,
                             cublasDiagType_t diag) {
    return (BlasMatrix){.items = device_address(a),
                        .lead = lda,
                        .part = part_of(fill),
                        .is_transposed = op != CUBLAS_OP_N,
                        .has_unit = diag == CUBLAS_DIAG_UNIT};
}

/* The same stored as a band of k diagonals beside the main one. */
static BlasMatrix banded(BlasMatrix a, int k) {
    a.storage = BLAS_BAND;
    a.below = a.part == BLAS_LOWER ? k : 0;
    a.above = a.part == BLAS_UPPER ? k : 0;
    return a;
}

/* The same stored without the other triangle. */
static BlasMatrix packed(BlasMatrix a, int n) {
    a.storage = BLAS_PACKED;
    a.order = n;
    return a;
}

#define MULTIPLY(matrix, m, n)                                                                     \
    multiply(handle, TYPE,                                                                         \
             (BlasMultiply){.a = matrix,                                                           \
                            .x = blas_vector(px, n, incx),                                         \
                            .y = blas_vector(py, m, incy),                                         \
                            .rows = m,                                                             \
                            .columns = n,                                                          \
                            .count = 1,                                                            \
                            .alpha = blas_scalar(handle, alpha, TYPE, TYPE),                       \
                            .beta = blas_scalar(handle, beta, TYPE, TYPE)})
#define UPDATE(matrix, other, increment, m, n, two_sides)                                          \
    update(handle, TYPE,                                                                           \
           (BlasUpdate){.a = matrix,                                                               \
                        .x = blas_vector(px, m, incx),                                             \
                        .y = blas_vector(other, n, increment),                                     \
                        .rows = m,                                                                 \
                        .columns = n,                                                              \
                        .has_two_sides = two_sides,                                                \
                        .alpha = blas_scalar(handle, alpha, TYPE, TYPE)})
#define SOLVE(matrix) solve(handle, TYPE, matrix, blas_vector(px, n, incx), n, 1, blas_one())
#define TRIANGLE      triangular(a, lda, fill, op, diag)
#define REFUSE_VECTORS                                                                             \
    CHECK_HANDLE;                                                                                  \
    REFUSE_UNLESS(incx != 0 && incy != 0)
#define REFUSE_TRIANGLE                                                                            \
    CHECK_HANDLE;                                                                                  \
    REFUSE_UNLESS(is_part(fill) && is_operation(op) && n >= 0 && incx != 0)
#define MOST(a, b) ((a) > (b) ? (a) : (b))

#define FN(name)      FN_(LETTER, name)
#define FN_(X, name)  FN__(X, name)
#define FN__(X, name) cublas##X##name

#define LETTER S
#define T      float
#define TYPE   BLAS_F32
#include "library/cublas_level2.def"
#undef LETTER
#undef T
#undef TYPE
#define LETTER D
#define T      double
#define TYPE   BLAS_F64
#include "library/cublas_level2.def"
