/* cuBLAS as Tyto has it: names, values and signatures are those of CUDA 13, so a program compiles
 * against this header or against the vendor's. docs/libraries.md lists the functions and what of
 * them is supported; the library exports the vendor's other names too, which return
 * CUBLAS_STATUS_NOT_SUPPORTED after a message.
 *
 * Matrices are stored by columns. Scalars lie where the pointer mode says. Source: cuBLAS library
 * reference, NVIDIA. */
#ifndef TYTO_CUBLAS_H
#define TYTO_CUBLAS_H

#include <stddef.h>
#include <stdint.h>

#include "tyto/cuda_library_types.h"
#include "tyto/cuda_runtime_api.h"

#define CUBLASWINAPI
#define CUBLASAPI
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION   (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

#ifdef __cplusplus
struct __half;
extern "C" {
#else
typedef struct __half __half;
#endif
#pragma GCC visibility push(default) /* the library hides what public headers do not declare */

typedef struct cublasContext *cublasHandle_t;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;

/* Any value is taken: there is one algorithm. */
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
    CUBLAS_GEMM_AUTOTUNE = 999
} cublasGemmAlgo_t;

typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;

typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

typedef void (*cublasLogCallback)(const char *message);

/* ---- Handles and settings ---- */

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
size_t cublasGetCudartVersion(void);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count);
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int *count);
cublasStatus_t cublasLoggerConfigure(int is_on, int to_stdout, int to_stderr, const char *file);
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback);
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *callback);

/* ---- Copies ---- */

cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *b,
                               int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *a, int lda, void *b,
                               int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *a, int lda,
                                    void *b, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *a, int lda,
                                    void *b, int ldb, cudaStream_t stream);

/* ---- Levels 1 to 3 in single and double precision ---- */

/* The functions of one precision: X is its letter, x the same in small, T its type. */
#define TYTO_CUBLAS_LEVEL_1(X, x, T)                                                               \
    cublasStatus_t cublasI##x##amax_v2(cublasHandle_t handle, int n, const T *px, int incx,        \
                                       int *result);                                               \
    cublasStatus_t cublasI##x##amin_v2(cublasHandle_t handle, int n, const T *px, int incx,        \
                                       int *result);                                               \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t handle, int n, const T *px, int incx,         \
                                      T *result);                                                  \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t handle, int n, const T *px, int incx,         \
                                      T *result);                                                  \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t handle, int n, const T *px, int incx,          \
                                     const T *py, int incy, T *result);                            \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *px,   \
                                      int incx, T *py, int incy);                                  \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *px,         \
                                      int incx);                                                   \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T *px, int incx, T *py,  \
                                      int incy);                                                   \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t handle, int n, T *px, int incx, T *py,        \
                                      int incy);                                                   \
    cublasStatus_t cublas##X##rot_v2(cublasHandle_t handle, int n, T *px, int incx, T *py,         \
                                     int incy, const T *c, const T *s);                            \
    cublasStatus_t cublas##X##rotg_v2(cublasHandle_t handle, T *a, T *b, T *c, T *s);              \
    cublasStatus_t cublas##X##rotm_v2(cublasHandle_t handle, int n, T *px, int incx, T *py,        \
                                      int incy, const T *parameters);                              \
    cublasStatus_t cublas##X##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1, const T *y1,    \
                                       T *parameters);

#define TYTO_CUBLAS_LEVEL_2(X, x, T)                                                               \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t handle, cublasOperation_t op, int m, int n,   \
                                      const T *alpha, const T *a, int lda, const T *px, int incx,  \
                                      const T *beta, T *py, int incy);                             \
    cublasStatus_t cublas##X##gbmv_v2(cublasHandle_t handle, cublasOperation_t op, int m, int n,   \
                                      int kl, int ku, const T *alpha, const T *a, int lda,         \
                                      const T *px, int incx, const T *beta, T *py, int incy);      \
    cublasStatus_t cublas##X##symv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,         \
                                      const T *alpha, const T *a, int lda, const T *px, int incx,  \
                                      const T *beta, T *py, int incy);                             \
    cublasStatus_t cublas##X##sbmv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n, int k,  \
                                      const T *alpha, const T *a, int lda, const T *px, int incx,  \
                                      const T *beta, T *py, int incy);                             \
    cublasStatus_t cublas##X##spmv_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,         \
                                      const T *alpha, const T *ap, const T *px, int incx,          \
                                      const T *beta, T *py, int incy);                             \
    cublasStatus_t cublas##X##trmv_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, cublasDiagType_t diag, int n,          \
                                      const T *a, int lda, T *px, int incx);                       \
    cublasStatus_t cublas##X##tbmv_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, cublasDiagType_t diag, int n, int k,   \
                                      const T *a, int lda, T *px, int incx);                       \
    cublasStatus_t cublas##X##tpmv_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, cublasDiagType_t diag, int n,          \
                                      const T *ap, T *px, int incx);                               \
    cublasStatus_t cublas##X##trsv_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, cublasDiagType_t diag, int n,          \
                                      const T *a, int lda, T *px, int incx);                       \
    cublasStatus_t cublas##X##tbsv_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, cublasDiagType_t diag, int n, int k,   \
                                      const T *a, int lda, T *px, int incx);                       \
    cublasStatus_t cublas##X##tpsv_v2(cublasHandle_t handle, cublasFillMode_t fill,                \
                                      cublasOperation_t op, cublasDiagType_t diag, int n,          \
                                      const T *ap, T *px, int incx);                               \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t handle, int m, int n, const T *alpha,          \
                                     const T *px, int incx, const T *py, int incy, T *a, int lda); \
    cublasStatus_t cublas##X##syr_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,          \
                                     const T *alpha, const T *px, int incx, T *a, int lda);        \
    cublasStatus_t cublas##X##syr2_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,         \
                                      const T *alpha, const T *px, int incx, const T *py,          \
                                      int incy, T *a, int lda);                                    \
    cublasStatus_t cublas##X##spr_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,          \
                                     const T *alpha, const T *px, int incx, T *ap);                \
    cublasStatus_t cublas##X##spr2_v2(cublasHandle_t handle, cublasFillMode_t fill, int n,         \
                                      const T *alpha, const T *px, int incx, const T *py,          \
                                      int incy, T *ap);

#define TYTO_CUBLAS_LEVEL_3(X, x, T)                                                               \
    cublasStatus_t cublas##X##gemm_v2(                                                             \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc);   \
    cublasStatus_t cublas##X##symm_v2(                                                             \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m, int n,         \
        const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc);   \
    cublasStatus_t cublas##X##trsm_v2(                                                             \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
        cublasDiagType_t diag, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb);  \
    cublasStatus_t cublas##X##geam(                                                                \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n,         \
        const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc);   \
    cublasStatus_t cublas##X##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n,     \
                                   const T *a, int lda, const T *px, int incx, T *c, int ldc);

#define TYTO_CUBLAS_BATCHED(X, x, T)                                                               \
    cublasStatus_t cublas##X##gemmBatched(                                                         \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta,   \
        T *const c[], int ldc, int count);                                                         \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,  \
        const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb,              \
        long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int count);

#define TYTO_CUBLAS_PRECISION(X, x, T)                                                             \
    TYTO_CUBLAS_LEVEL_1(X, x, T)                                                                   \
    TYTO_CUBLAS_LEVEL_2(X, x, T) TYTO_CUBLAS_LEVEL_3(X, x, T) TYTO_CUBLAS_BATCHED(X, x, T)
TYTO_CUBLAS_PRECISION(S, s, float)
TYTO_CUBLAS_PRECISION(D, d, double)
TYTO_CUBLAS_BATCHED(H, h, __half)

/* ---- Mixed types ---- */

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                           int m, int n, int k, const __half *alpha, const __half *a, int lda,
                           const __half *b, int ldb, const __half *beta, __half *c, int ldc);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                             int m, int n, int k, const float *alpha, const void *a,
                             cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                             int ldb, const float *beta, void *c, cudaDataType c_type, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                   cublasOperation_t opb, int m, int n, int k, const void *alpha,
                                   const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb,
                                   const void *beta, void *const c[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                          cublasOperation_t opb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha,
                            cudaDataType alpha_type, const void *x, cudaDataType x_type, int incx,
                            void *y, cudaDataType y_type, int incy, cudaDataType compute);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha,
                            cudaDataType alpha_type, void *x, cudaDataType x_type, int incx,
                            cudaDataType compute);
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type,
                           int incx, const void *y, cudaDataType y_type, int incy, void *result,
                           cudaDataType result_type, cudaDataType compute);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType x_type,
                            int incx, void *result, cudaDataType result_type, cudaDataType compute);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* ---- Names as programs write them ---- */

#define cublasCreate         cublasCreate_v2
#define cublasDestroy        cublasDestroy_v2
#define cublasGetVersion     cublasGetVersion_v2
#define cublasSetStream      cublasSetStream_v2
#define cublasGetStream      cublasGetStream_v2
#define cublasSetWorkspace   cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasIsamax         cublasIsamax_v2
#define cublasIsamin         cublasIsamin_v2
#define cublasSasum          cublasSasum_v2
#define cublasSnrm2          cublasSnrm2_v2
#define cublasSdot           cublasSdot_v2
#define cublasSaxpy          cublasSaxpy_v2
#define cublasSscal          cublasSscal_v2
#define cublasScopy          cublasScopy_v2
#define cublasSswap          cublasSswap_v2
#define cublasSrot           cublasSrot_v2
#define cublasSrotg          cublasSrotg_v2
#define cublasSrotm          cublasSrotm_v2
#define cublasSrotmg         cublasSrotmg_v2
#define cublasSgemv          cublasSgemv_v2
#define cublasSgbmv          cublasSgbmv_v2
#define cublasSsymv          cublasSsymv_v2
#define cublasSsbmv          cublasSsbmv_v2
#define cublasSspmv          cublasSspmv_v2
#define cublasStrmv          cublasStrmv_v2
#define cublasStbmv          cublasStbmv_v2
#define cublasStpmv          cublasStpmv_v2
#define cublasStrsv          cublasStrsv_v2
#define cublasStbsv          cublasStbsv_v2
#define cublasStpsv          cublasStpsv_v2
#define cublasSger           cublasSger_v2
#define cublasSsyr           cublasSsyr_v2
#define cublasSsyr2          cublasSsyr2_v2
#define cublasSspr           cublasSspr_v2
#define cublasSspr2          cublasSspr2_v2
#define cublasSgemm          cublasSgemm_v2
#define cublasSsymm          cublasSsymm_v2
#define cublasStrsm          cublasStrsm_v2
#define cublasIdamax         cublasIdamax_v2
#define cublasIdamin         cublasIdamin_v2
#define cublasDasum          cublasDasum_v2
#define cublasDnrm2          cublasDnrm2_v2
#define cublasDdot           cublasDdot_v2
#define cublasDaxpy          cublasDaxpy_v2
#define cublasDscal          cublasDscal_v2
#define cublasDcopy          cublasDcopy_v2
#define cublasDswap          cublasDswap_v2
#define cublasDrot           cublasDrot_v2
#define cublasDrotg          cublasDrotg_v2
#define cublasDrotm          cublasDrotm_v2
#define cublasDrotmg         cublasDrotmg_v2
#define cublasDgemv          cublasDgemv_v2
#define cublasDgbmv          cublasDgbmv_v2
#define cublasDsymv          cublasDsymv_v2
#define cublasDsbmv          cublasDsbmv_v2
#define cublasDspmv          cublasDspmv_v2
#define cublasDtrmv          cublasDtrmv_v2
#define cublasDtbmv          cublasDtbmv_v2
#define cublasDtpmv          cublasDtpmv_v2
#define cublasDtrsv          cublasDtrsv_v2
#define cublasDtbsv          cublasDtbsv_v2
#define cublasDtpsv          cublasDtpsv_v2
#define cublasDger           cublasDger_v2
#define cublasDsyr           cublasDsyr_v2
#define cublasDsyr2          cublasDsyr2_v2
#define cublasDspr           cublasDspr_v2
#define cublasDspr2          cublasDspr2_v2
#define cublasDgemm          cublasDgemm_v2
#define cublasDsymm          cublasDsymm_v2
#define cublasDtrsm          cublasDtrsm_v2

#endif
