/* cuBLAS's matrix products. Every form is one BlasProduct, whose operands describe the layout of
 * elements. */
#include "library/blas.h"

/* The arguments of any of these functions. */
typedef struct Gemm {
    cublasOperation_t opa, opb;
    int64_t m, n, k;
    const void *alpha, *a, *b, *beta;
    void *c;
    int64_t lda, ldb, ldc;
    BlasType type_a, type_b, type_c, scalars;
    long long stride_a, stride_b, stride_c; /* distances in a batch */
    bool is_list;                           /* a, b and c are lists of addresses on the device */
    cublasComputeType_t compute;            /* 0: that of the function */
    int64_t count;                          /* number of products */
} Gemm;

static bool is_right(const Gemm *g) {
    if (!blas_is_size(g->m) || !blas_is_size(g->n) || !blas_is_size(g->k) ||
        !blas_is_size(g->count))
        return false;
    if ((unsigned)g->opa > CUBLAS_OP_C || (unsigned)g->opb > CUBLAS_OP_C) return false;
    return blas_is_lead(g->lda, g->opa == CUBLAS_OP_N ? g->m : g->k) &&
           blas_is_lead(g->ldb, g->opb == CUBLAS_OP_N ? g->k : g->n) && blas_is_lead(g->ldc, g->m);
}

static BlasOperand operand(const void *items, cublasOperation_t op, int64_t lead,
                           long long stride) {
    bool is_plain = op == CUBLAS_OP_N;
    return (BlasOperand){device_address(items), is_plain ? 1 : lead, is_plain ? lead : 1, stride};
}

static cublasStatus_t run(cublasHandle_t handle, Gemm g) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    BlasType sum = g.type_a == g.type_b ? blas_product_type(g.type_a, g.type_c) : BLAS_NO_TYPE;
    if (!is_right(&g)) return CUBLAS_STATUS_INVALID_VALUE;
    if (sum == BLAS_NO_TYPE || g.scalars == BLAS_NO_TYPE) return CUBLAS_STATUS_NOT_SUPPORTED;
    BlasProduct p = {.a = operand(g.a, g.opa, g.lda, g.stride_a),
                     .b = operand(g.b, g.opb, g.ldb, g.stride_b),
                     .c = operand(g.c, CUBLAS_OP_N, g.ldc, g.stride_c),
                     .d = operand(g.c, CUBLAS_OP_N, g.ldc, g.stride_c),
                     .m = (int32_t)g.m,
                     .n = (int32_t)g.n,
                     .k = (int32_t)g.k,
                     .is_list = g.is_list,
                     .is_pedantic = blas_is_pedantic(g.compute),
                     .allows_tf32 = blas_allows_tf32(g.compute) ||
                                    blas_math_mode(handle) == CUBLAS_TF32_TENSOR_OP_MATH,
                     .conjugates_a = g.opa == CUBLAS_OP_C,
                     .conjugates_b = g.opb == CUBLAS_OP_C,
                     .alpha = blas_scalar(handle, g.alpha, g.scalars, sum),
                     .beta = blas_scalar(handle, g.beta, g.scalars, sum)};
    return blas_multiply(handle, g.type_a, g.type_c, &p, (int)g.count);
}

/* ---- One type ---- */

#define GEMM(name, T, type, INT)                                                                   \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,       \
                        INT m, INT n, INT k, const T *alpha, const T *a, INT lda, const T *b,      \
                        INT ldb, const T *beta, T *c, INT ldc) {                                   \
        return run(handle, (Gemm){opa, opb, m, n, k, alpha, a, b, beta, c, lda, ldb, ldc, type,    \
                                  type, type, type, .count = 1});                                  \
    }
#define GEMM_BATCHED(X, T, type, INT, END)                                                         \
    cublasStatus_t cublas##X##gemmBatched##END(                                                    \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const T *alpha, const T *const a[], INT lda, const T *const b[], INT ldb, const T *beta,   \
        T *const c[], INT ldc, INT count) {                                                        \
        return run(handle,                                                                         \
                   (Gemm){opa, opb, m, n, k, alpha, a, b, beta, (void *)(uintptr_t)c, lda, ldb,    \
                          ldc, type, type, type, type, .is_list = true, .count = count});          \
    }                                                                                              \
    cublasStatus_t cublas##X##gemmStridedBatched##END(                                             \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const T *alpha, const T *a, INT lda, long long stride_a, const T *b, INT ldb,              \
        long long stride_b, const T *beta, T *c, INT ldc, long long stride_c, INT count) {         \
        return run(handle,                                                                         \
                   (Gemm){opa,  opb,  m,    n,        k,        alpha,    a,                       \
                          b,    beta, c,    lda,      ldb,      ldc,      type,                    \
                          type, type, type, stride_a, stride_b, stride_c, .count = count});        \
    }

#define GEMMS(X, T, type)                                                                          \
    GEMM(cublas##X##gemm_v2, T, type, int)                                                         \
    GEMM(cublas##X##gemm_v2_64, T, type, int64_t)                                                  \
    GEMM_BATCHED(X, T, type, int, ) GEMM_BATCHED(X, T, type, int64_t, _64)
GEMMS(S, float, BLAS_F32)
GEMMS(D, double, BLAS_F64)
GEMMS(C, cuComplex, BLAS_C32)
GEMMS(Z, cuDoubleComplex, BLAS_C64)
GEMM(cublasHgemm, __half, BLAS_F16, int)
GEMM(cublasHgemm_64, __half, BLAS_F16, int64_t)
GEMM_BATCHED(H, __half, BLAS_F16, int, )
GEMM_BATCHED(H, __half, BLAS_F16, int64_t, _64)
/* On a GPU these compute each complex product with three real ones. */
GEMM(cublasCgemm3m, cuComplex, BLAS_C32, int)
GEMM(cublasCgemm3m_64, cuComplex, BLAS_C32, int64_t)
GEMM(cublasZgemm3m, cuDoubleComplex, BLAS_C64, int)
GEMM(cublasZgemm3m_64, cuDoubleComplex, BLAS_C64, int64_t)

/* ---- Any types ---- */

/* The type of the scalars for results of type c. */
static BlasType scalar_type(cublasComputeType_t compute, cudaDataType c) {
    if (c == CUDA_C_32F || c == CUDA_C_64F) return blas_type_of(c);
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return BLAS_F16;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return BLAS_F64;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return BLAS_S32;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: return BLAS_F32;
    }
    /* before CUDA 11 this argument was a data type */
    return blas_type_of((cudaDataType)compute);
}

#define ANY_TYPES(INT, END)                                                                        \
    cublasStatus_t cublasSgemmEx##END(                                                             \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const float *alpha, const void *a, cudaDataType a_type, INT lda, const void *b,            \
        cudaDataType b_type, INT ldb, const float *beta, void *c, cudaDataType c_type, INT ldc) {  \
        return run(handle, (Gemm){opa, opb, m, n, k, alpha, a, b, beta, c, lda, ldb, ldc,          \
                                  blas_type_of(a_type), blas_type_of(b_type),                      \
                                  blas_type_of(c_type), BLAS_F32, .count = 1});                    \
    }                                                                                              \
    cublasStatus_t cublasGemmEx##END(                                                              \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const void *alpha, const void *a, cudaDataType a_type, INT lda, const void *b,             \
        cudaDataType b_type, INT ldb, const void *beta, void *c, cudaDataType c_type, INT ldc,     \
        cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                                 \
        (void)algorithm;                                                                           \
        return run(handle,                                                                         \
                   (Gemm){opa, opb, m, n, k, alpha, a, b, beta, c, lda, ldb, ldc,                  \
                          blas_type_of(a_type), blas_type_of(b_type), blas_type_of(c_type),        \
                          scalar_type(compute, c_type), .compute = compute, .count = 1});          \
    }                                                                                              \
    cublasStatus_t cublasGemmBatchedEx##END(                                                       \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const void *alpha, const void *const a[], cudaDataType a_type, INT lda,                    \
        const void *const b[], cudaDataType b_type, INT ldb, const void *beta, void *const c[],    \
        cudaDataType c_type, INT ldc, INT count, cublasComputeType_t compute,                      \
        cublasGemmAlgo_t algorithm) {                                                              \
        (void)algorithm;                                                                           \
        return run(handle, (Gemm){opa,                                                             \
                                  opb,                                                             \
                                  m,                                                               \
                                  n,                                                               \
                                  k,                                                               \
                                  alpha,                                                           \
                                  a,                                                               \
                                  b,                                                               \
                                  beta,                                                            \
                                  (void *)(uintptr_t)c,                                            \
                                  lda,                                                             \
                                  ldb,                                                             \
                                  ldc,                                                             \
                                  blas_type_of(a_type),                                            \
                                  blas_type_of(b_type),                                            \
                                  blas_type_of(c_type),                                            \
                                  scalar_type(compute, c_type),                                    \
                                  .is_list = true,                                                 \
                                  .compute = compute,                                              \
                                  .count = count});                                                \
    }                                                                                              \
    cublasStatus_t cublasGemmStridedBatchedEx##END(                                                \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const void *alpha, const void *a, cudaDataType a_type, INT lda, long long stride_a,        \
        const void *b, cudaDataType b_type, INT ldb, long long stride_b, const void *beta,         \
        void *c, cudaDataType c_type, INT ldc, long long stride_c, INT count,                      \
        cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                                 \
        (void)algorithm;                                                                           \
        return run(handle, (Gemm){opa,                                                             \
                                  opb,                                                             \
                                  m,                                                               \
                                  n,                                                               \
                                  k,                                                               \
                                  alpha,                                                           \
                                  a,                                                               \
                                  b,                                                               \
                                  beta,                                                            \
                                  c,                                                               \
                                  lda,                                                             \
                                  ldb,                                                             \
                                  ldc,                                                             \
                                  blas_type_of(a_type),                                            \
                                  blas_type_of(b_type),                                            \
                                  blas_type_of(c_type),                                            \
                                  scalar_type(compute, c_type),                                    \
                                  stride_a,                                                        \
                                  stride_b,                                                        \
                                  stride_c,                                                        \
                                  .compute = compute,                                              \
                                  .count = count});                                                \
    }
ANY_TYPES(int, )
ANY_TYPES(int64_t, _64)
