/* cuBLAS's products of matrices: every form is one BlasProduct, whose operands say how elements
 * lie. */
#include "library/blas.h"

/* A call of any of them. */
typedef struct Gemm {
    cublasOperation_t opa, opb;
    int m, n, k;
    const void *alpha, *a, *b, *beta;
    void *c;
    int lda, ldb, ldc;
    BlasType type_a, type_b, type_c, scalars;
    long long stride_a, stride_b, stride_c; /* of a batch */
    bool is_list;                           /* a, b and c are lists of addresses on the device */
    int count;                              /* products */
} Gemm;

static bool is_right(const Gemm *g) {
    const int least_a = g->opa == CUBLAS_OP_N ? g->m : g->k,
              least_b = g->opb == CUBLAS_OP_N ? g->k : g->n;
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->count < 0) return false;
    if ((unsigned)g->opa > CUBLAS_OP_C || (unsigned)g->opb > CUBLAS_OP_C) return false;
    return g->lda >= 1 && g->ldb >= 1 && g->ldc >= 1 && g->lda >= least_a && g->ldb >= least_b &&
           g->ldc >= g->m;
}

static BlasOperand operand(const void *items, cublasOperation_t op, int lead, long long stride) {
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
                     .m = g.m,
                     .n = g.n,
                     .k = g.k,
                     .is_list = g.is_list,
                     .alpha = blas_scalar(handle, g.alpha, g.scalars, sum),
                     .beta = blas_scalar(handle, g.beta, g.scalars, sum)};
    return blas_multiply(handle, g.type_a, g.type_c, &p, g.count);
}

/* ---- One type ---- */

#define GEMM(name, T, type)                                                                        \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,       \
                        int m, int n, int k, const T *alpha, const T *a, int lda, const T *b,      \
                        int ldb, const T *beta, T *c, int ldc) {                                   \
        return run(handle, (Gemm){opa, opb, m, n, k, alpha, a, b, beta, c, lda, ldb, ldc, type,    \
                                  type, type, type, .count = 1});                                  \
    }
GEMM(cublasSgemm_v2, float, BLAS_F32)
GEMM(cublasDgemm_v2, double, BLAS_F64)
GEMM(cublasHgemm, __half, BLAS_F16)

#define GEMM_BATCHED(name, T, type)                                                                \
    cublasStatus_t name##Batched(cublasHandle_t handle, cublasOperation_t opa,                     \
                                 cublasOperation_t opb, int m, int n, int k, const T *alpha,       \
                                 const T *const a[], int lda, const T *const b[], int ldb,         \
                                 const T *beta, T *const c[], int ldc, int count) {                \
        return run(handle,                                                                         \
                   (Gemm){opa, opb, m, n, k, alpha, a, b, beta, (void *)(uintptr_t)c, lda, ldb,    \
                          ldc, type, type, type, type, .is_list = true, .count = count});          \
    }                                                                                              \
    cublasStatus_t name##StridedBatched(                                                           \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb,              \
        long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int count) {         \
        return run(handle,                                                                         \
                   (Gemm){opa,  opb,  m,    n,        k,        alpha,    a,                       \
                          b,    beta, c,    lda,      ldb,      ldc,      type,                    \
                          type, type, type, stride_a, stride_b, stride_c, .count = count});        \
    }
GEMM_BATCHED(cublasSgemm, float, BLAS_F32)
GEMM_BATCHED(cublasDgemm, double, BLAS_F64)
GEMM_BATCHED(cublasHgemm, __half, BLAS_F16)

/* ---- Any types ---- */

/* The type of the scalars. */
static BlasType scalar_type(cublasComputeType_t compute) {
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
    /* before CUDA 11 a type of data stood in its place */
    return blas_type_of((cudaDataType)compute);
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                             int m, int n, int k, const float *alpha, const void *a,
                             cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                             int ldb, const float *beta, void *c, cudaDataType c_type, int ldc) {
    return run(handle,
               (Gemm){opa, opb, m, n, k, alpha, a, b, beta, c, lda, ldb, ldc, blas_type_of(a_type),
                      blas_type_of(b_type), blas_type_of(c_type), BLAS_F32, .count = 1});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
    (void)algorithm;
    return run(handle, (Gemm){opa, opb, m, n, k, alpha, a, b, beta, c, lda, ldb, ldc,
                              blas_type_of(a_type), blas_type_of(b_type), blas_type_of(c_type),
                              scalar_type(compute), .count = 1});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                   cublasOperation_t opb, int m, int n, int k, const void *alpha,
                                   const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb,
                                   const void *beta, void *const c[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
    (void)algorithm;
    return run(handle, (Gemm){opa, opb, m, n, k, alpha, a, b, beta, (void *)(uintptr_t)c, lda, ldb,
                              ldc, blas_type_of(a_type), blas_type_of(b_type), blas_type_of(c_type),
                              scalar_type(compute), .is_list = true, .count = count});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                          cublasOperation_t opb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
    (void)algorithm;
    return run(handle, (Gemm){opa,
                              opb,
                              m,
                              n,
                              k,
                              alpha,
                              a,
                              b,
                              beta,
                              c,
                              lda,
                              ldb,
                              ldc,
                              blas_type_of(a_type),
                              blas_type_of(b_type),
                              blas_type_of(c_type),
                              scalar_type(compute),
                              stride_a,
                              stride_b,
                              stride_c,
                              .count = count});
}
