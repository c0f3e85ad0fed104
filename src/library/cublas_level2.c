/* cuBLAS level 2, and the functions of level 3 that are level 2 for many vectors: symm, hemm, trmm,
 * trsm. Also the sums and scalings of whole matrices, geam and dgmm. */
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

/* x = A x: the kernel reads a contiguous copy of x. */
static cublasStatus_t multiply_in_place(cublasHandle_t handle, BlasType type, BlasMatrix a, void *x,
                                        int64_t n, int64_t increment) {
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
                                   .rows = (int32_t)n,
                                   .columns = (int32_t)n,
                                   .count = 1,
                                   .alpha = blas_one()});
}

static cublasStatus_t solve(cublasHandle_t handle, BlasType type, BlasMatrix a, BlasVector x,
                            int64_t n, int64_t count, BlasScalar alpha) {
    if (n <= 0 || count <= 0) return CUBLAS_STATUS_SUCCESS;
    BlasSolve p = {.a = a,
                   .x = x,
                   .rows = (int32_t)n,
                   .alpha = alpha,
                   .is_lower = (a.part == BLAS_LOWER) != (a.is_transposed != 0)};
    return blas_launch(handle, "solve", blas_type_names[type], count, 1, 1, &p);
}

static cublasStatus_t update(cublasHandle_t handle, BlasType type, BlasUpdate p) {
    if (p.rows <= 0 || p.columns <= 0) return CUBLAS_STATUS_SUCCESS;
    return blas_launch(handle, "update", blas_type_names[type], blas_blocks(p.rows), p.columns, 1,
                       &p);
}

/* Copies `lines` rows of `bytes` bytes to contiguous scratch memory of the device. Returns the
 * address; 0: no room. */
static CUdeviceptr copy_matrix(cublasHandle_t handle, const void *items, size_t pitch, size_t bytes,
                               size_t lines) {
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device_address(items),
                          .srcPitch = pitch,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device_scratch(&handle->device, bytes * lines),
                          .dstPitch = bytes,
                          .WidthInBytes = bytes,
                          .Height = lines};
    if (!copy.dstDevice) return 0;
    return cuMemcpy2DAsync(&copy, handle->device.stream) == CUDA_SUCCESS ? copy.dstDevice : 0;
}

/* ---- Matrices ---- */

static BlasMatrix dense(const void *a, int64_t lda, cublasOperation_t op) {
    return (BlasMatrix){.items = device_address(a),
                        .lead = lda,
                        .is_transposed = op != CUBLAS_OP_N,
                        .is_conjugated = op == CUBLAS_OP_C};
}

static BlasMatrix symmetric(const void *a, int64_t lda, cublasFillMode_t fill) {
    return (BlasMatrix){
        .items = device_address(a), .lead = lda, .part = part_of(fill), .is_symmetric = 1};
}

static BlasMatrix hermitian(const void *a, int64_t lda, cublasFillMode_t fill) {
    BlasMatrix matrix = symmetric(a, lda, fill);
    matrix.is_hermitian = 1;
    return matrix;
}

static BlasMatrix triangular(const void *a, int64_t lda, cublasFillMode_t fill,
                             cublasOperation_t op, cublasDiagType_t diag) {
    return (BlasMatrix){.items = device_address(a),
                        .lead = lda,
                        .part = part_of(fill),
                        .is_transposed = op != CUBLAS_OP_N,
                        .is_conjugated = op == CUBLAS_OP_C,
                        .has_unit = diag == CUBLAS_DIAG_UNIT};
}

/* The same, stored as a band of the main diagonal and k more. */
static BlasMatrix banded(BlasMatrix a, int64_t k) {
    a.storage = BLAS_BAND;
    a.below = a.part == BLAS_LOWER ? (int32_t)k : 0;
    a.above = a.part == BLAS_UPPER ? (int32_t)k : 0;
    return a;
}

/* The same, stored without the other triangle. */
static BlasMatrix packed(BlasMatrix a, int64_t n) {
    a.storage = BLAS_PACKED;
    a.order = (int32_t)n;
    return a;
}

#define MULTIPLY(matrix, m, n)                                                                     \
    multiply(handle, TYPE,                                                                         \
             (BlasMultiply){.a = matrix,                                                           \
                            .x = blas_vector(px, n, incx),                                         \
                            .y = blas_vector(py, m, incy),                                         \
                            .rows = (int32_t)(m),                                                  \
                            .columns = (int32_t)(n),                                               \
                            .count = 1,                                                            \
                            .alpha = blas_scalar(handle, alpha, TYPE, TYPE),                       \
                            .beta = blas_scalar(handle, beta, TYPE, TYPE)})
#define UPDATE_BY(factor_type, matrix, other, increment, m, n, ...)                                \
    update(handle, TYPE,                                                                           \
           (BlasUpdate){.a = matrix,                                                               \
                        .x = blas_vector(px, m, incx),                                             \
                        .y = blas_vector(other, n, increment),                                     \
                        .rows = (int32_t)(m),                                                      \
                        .columns = (int32_t)(n),                                                   \
                        .alpha = blas_scalar(handle, alpha, factor_type, TYPE),                    \
                        __VA_ARGS__})
#define UPDATE(...)   UPDATE_BY(TYPE, __VA_ARGS__)
#define SOLVE(matrix) solve(handle, TYPE, matrix, blas_vector(px, n, incx), n, 1, blas_one())
#define TRIANGLE      triangular(a, lda, fill, op, diag)
#define REFUSE_VECTORS                                                                             \
    CHECK_HANDLE;                                                                                  \
    REFUSE_UNLESS(incx != 0 && incy != 0)
#define REFUSE_TRIANGLE                                                                            \
    CHECK_HANDLE;                                                                                  \
    REFUSE_UNLESS(is_part(fill) && is_operation(op) && blas_is_size(n) && incx != 0)

#define FN(name)           FN_(LETTER, name, END)
#define FN_(X, name, end)  FN__(X, name, end)
#define FN__(X, name, end) cublas##X##name##end

#define INT int
#define END
#include "library/cublas_level2_types.def"
#undef INT
#undef END
#define INT int64_t
#define END _64
#include "library/cublas_level2_types.def"
