/* cuBLAS level 3: products of a matrix with itself or with another one; the result is a triangle.
 * Each is one or two BlasProducts. */
#include "library/blas.h"

typedef struct Rank {
    cublasFillMode_t fill;
    cublasOperation_t op;
    int64_t n, k;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    bool is_hermitian;
} Rank;

static cublasStatus_t check(cublasHandle_t handle, const Rank *r) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    const int64_t rows = r->op == CUBLAS_OP_N ? r->n : r->k;
    const bool is_right =
        (r->fill == CUBLAS_FILL_MODE_LOWER || r->fill == CUBLAS_FILL_MODE_UPPER) &&
        (unsigned)r->op <= CUBLAS_OP_C && !(r->is_hermitian && r->op == CUBLAS_OP_T) &&
        blas_is_size(r->n) && blas_is_size(r->k) && blas_is_lead(r->lda, rows) &&
        blas_is_lead(r->ldb, rows) && blas_is_lead(r->ldc, r->n);
    return is_right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* C = alpha op(A) op(B)' + beta C. */
static cublasStatus_t add(cublasHandle_t handle, BlasType type, const Rank *r, BlasScalar alpha,
                          BlasScalar beta) {
    const bool is_plain = r->op == CUBLAS_OP_N;
    const BlasOperand c = {device_address(r->c), 1, r->ldc, 0};
    BlasProduct p = {.a = {device_address(r->a), is_plain ? 1 : r->lda, is_plain ? r->lda : 1, 0},
                     .b = {device_address(r->b), is_plain ? r->ldb : 1, is_plain ? 1 : r->ldb, 0},
                     .c = c,
                     .d = c,
                     .m = (int32_t)r->n,
                     .n = (int32_t)r->n,
                     .k = (int32_t)r->k,
                     .conjugates_a = r->is_hermitian && !is_plain,
                     .conjugates_b = r->is_hermitian && is_plain,
                     .part = r->fill == CUBLAS_FILL_MODE_LOWER ? BLAS_LOWER : BLAS_UPPER,
                     .is_hermitian = r->is_hermitian,
                     .alpha = alpha,
                     .beta = beta};
    return blas_multiply(handle, type, type, &p, 1);
}

/* The same for both sides: also with A and B exchanged, and alpha conjugated if C is Hermitian. */
static cublasStatus_t update(cublasHandle_t handle, BlasType type, Rank r, bool has_two_sides,
                             BlasScalar alpha, BlasScalar beta) {
    cublasStatus_t status = add(handle, type, &r, alpha, beta);
    if (status || !has_two_sides) return status;
    const Rank other = {r.fill, r.op, r.n, r.k, r.b, r.a, r.c, r.ldb, r.lda, r.ldc, r.is_hermitian};
    alpha.is_conjugated = r.is_hermitian;
    return add(handle, type, &other, alpha, blas_one());
}

#define FN(name)           FN_(LETTER, name, END)
#define FN_(X, name, end)  FN__(X, name, end)
#define FN__(X, name, end) cublas##X##name##end

#define INT int
#define END
#include "library/cublas_level3_types.def"
#undef INT
#undef END
#define INT int64_t
#define END _64
#include "library/cublas_level3_types.def"
