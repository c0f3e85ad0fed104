/* cuBLAS's batches of small matrices: LU factors and solutions with them, triangles, products with
 * vectors. Lists of addresses, pivots and infos are on the device. */
#include "library/blas.h"

enum { MOST_IN_Y = 65535 }; /* blocks of a grid, one for each matrix */

#define CHECK_HANDLE                                                                               \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED
#define REFUSE_UNLESS(condition)                                                                   \
    if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE

/* A list of `count` triangles and a list of right-hand sides. */
typedef struct Triangles {
    const void *a;
    void *b;
    int64_t lda, ldb;
    int64_t m, n; /* rows and columns of B */
    int64_t count;
} Triangles;

/* op(A) X = alpha B, or X op(A) = alpha B, which is op(A)' X' = B'. */
static cublasStatus_t solve(cublasHandle_t handle, BlasType type, const Triangles *t,
                            cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                            cublasDiagType_t diag, BlasScalar alpha) {
    const bool is_left = side == CUBLAS_SIDE_LEFT, is_transposed = (op != CUBLAS_OP_N) == is_left;
    const int part = fill == CUBLAS_FILL_MODE_LOWER ? BLAS_LOWER : BLAS_UPPER;
    BlasSolve p = {.a = {.items = device_address(t->a),
                         .lead = t->lda,
                         .part = part,
                         .is_transposed = is_transposed,
                         .is_conjugated = op == CUBLAS_OP_C,
                         .has_unit = diag == CUBLAS_DIAG_UNIT},
                   .x = {device_address(t->b), 0, is_left ? 1 : t->ldb, is_left ? t->ldb : 1},
                   .rows = (int32_t)(is_left ? t->m : t->n),
                   .is_lower = (part == BLAS_LOWER) != is_transposed,
                   .is_list = 1,
                   .alpha = alpha};
    if (t->m == 0 || t->n == 0 || t->count == 0) return CUBLAS_STATUS_SUCCESS;
    if (t->count > MOST_IN_Y) return CUBLAS_STATUS_NOT_SUPPORTED;
    return blas_launch(handle, "solve", blas_type_names[type], is_left ? t->n : t->m, t->count, 1,
                       &p);
}

/* Swaps rows of every B according to the factors' pivots, if they have any. */
static cublasStatus_t permute(cublasHandle_t handle, BlasType type, const Triangles *t,
                              const int *pivots, bool is_backward) {
    BlasPermute p = {.items = device_address(t->b),
                     .pivots = device_address(pivots),
                     .lead = t->ldb,
                     .order = (int32_t)t->m,
                     .columns = (int32_t)t->n,
                     .is_backward = is_backward};
    if (!pivots) return CUBLAS_STATUS_SUCCESS;
    return blas_launch(handle, "permute", blas_type_names[type], blas_blocks(t->n), t->count, 1,
                       &p);
}

/* Solves op(A) X = B with A's factors; L has a unit diagonal. */
static cublasStatus_t solve_factored(cublasHandle_t handle, BlasType type, const Triangles *t,
                                     const int *pivots, cublasOperation_t op) {
    const bool is_plain = op == CUBLAS_OP_N;
    if (t->m == 0 || t->n == 0 || t->count == 0) return CUBLAS_STATUS_SUCCESS;
    if (t->count > MOST_IN_Y) return CUBLAS_STATUS_NOT_SUPPORTED;
    cublasStatus_t status =
        is_plain ? permute(handle, type, t, pivots, false) : CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < 2 && !status; i++) {
        const bool is_lower = (i == 0) == is_plain;
        status = solve(handle, type, t, CUBLAS_SIDE_LEFT,
                       is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, op,
                       is_lower ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, blas_one());
    }
    return status || is_plain ? status : permute(handle, type, t, pivots, true);
}

/* A product with a vector is one with a matrix of one column, whose rows are an increment apart. */
typedef struct Gemv {
    cublasOperation_t op;
    int64_t m, n;
    const void *a, *x;
    void *y;
    int64_t lda, incx, incy;
    long long stride_a, stride_x, stride_y; /* distances in a batch */
    bool is_list;
    int64_t count;
} Gemv;

static cublasStatus_t multiply(cublasHandle_t handle, BlasType type, const Gemv *g,
                               const void *alpha, const void *beta) {
    const bool is_plain = g->op == CUBLAS_OP_N;
    CHECK_HANDLE;
    REFUSE_UNLESS((unsigned)g->op <= CUBLAS_OP_C && blas_is_size(g->m) && blas_is_size(g->n) &&
                  blas_is_size(g->count) && blas_is_lead(g->lda, g->m) && g->incx && g->incy);
    if (g->incx < 0 || g->incy < 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    const BlasOperand y = {device_address(g->y), g->incy, 0, g->stride_y};
    BlasProduct p = {
        .a = {device_address(g->a), is_plain ? 1 : g->lda, is_plain ? g->lda : 1, g->stride_a},
        .b = {device_address(g->x), g->incx, 0, g->stride_x},
        .c = y,
        .d = y,
        .m = (int32_t)(is_plain ? g->m : g->n),
        .n = 1,
        .k = (int32_t)(is_plain ? g->n : g->m),
        .is_list = g->is_list,
        .conjugates_a = g->op == CUBLAS_OP_C,
        .alpha = blas_scalar(handle, alpha, type, type),
        .beta = blas_scalar(handle, beta, type, type)};
    return blas_multiply(handle, type, type, &p, (int)g->count);
}

#define FN(name)           FN_(LETTER, name, END)
#define FN_(X, name, end)  FN__(X, name, end)
#define FN__(X, name, end) cublas##X##name##end

#define INT int
#define END
#define HAS_FACTORS
#include "library/cublas_small_types.def"
#undef INT
#undef END
#undef HAS_FACTORS /* which have no 64-bit sizes */
#define INT int64_t
#define END _64
#include "library/cublas_small_types.def"
