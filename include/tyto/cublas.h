/* cuBLAS as implemented by Tyto. Names, values and signatures are those of CUDA 13, so a program
 * compiles against this header or against the vendor's. docs/libraries.md lists the functions and
 * what is supported of each. The library also exports the vendor's other names, which print a
 * message and return CUBLAS_STATUS_NOT_SUPPORTED.
 *
 * Matrices are stored by columns. Scalars are in host or device memory, according to the pointer
 * mode. Source: cuBLAS library reference, NVIDIA. */
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
struct float2;
struct double2;
extern "C" {
#else
typedef struct __half __half;
#endif
typedef struct float2 cuComplex;
typedef struct double2 cuDoubleComplex;
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

/* Every value is accepted and means the same: there is only one algorithm. */
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

#define TYTO_CUBLAS_COPIES(INT, END)                                                               \
    cublasStatus_t cublasSetVector##END(INT n, INT size, const void *x, INT incx, void *y,         \
                                        INT incy);                                                 \
    cublasStatus_t cublasGetVector##END(INT n, INT size, const void *x, INT incx, void *y,         \
                                        INT incy);                                                 \
    cublasStatus_t cublasSetMatrix##END(INT rows, INT columns, INT size, const void *a, INT lda,   \
                                        void *b, INT ldb);                                         \
    cublasStatus_t cublasGetMatrix##END(INT rows, INT columns, INT size, const void *a, INT lda,   \
                                        void *b, INT ldb);                                         \
    cublasStatus_t cublasSetVectorAsync##END(INT n, INT size, const void *x, INT incx, void *y,    \
                                             INT incy, cudaStream_t stream);                       \
    cublasStatus_t cublasGetVectorAsync##END(INT n, INT size, const void *x, INT incx, void *y,    \
                                             INT incy, cudaStream_t stream);                       \
    cublasStatus_t cublasSetMatrixAsync##END(INT rows, INT columns, INT size, const void *a,       \
                                             INT lda, void *b, INT ldb, cudaStream_t stream);      \
    cublasStatus_t cublasGetMatrixAsync##END(INT rows, INT columns, INT size, const void *a,       \
                                             INT lda, void *b, INT ldb, cudaStream_t stream);
TYTO_CUBLAS_COPIES(int, )
TYTO_CUBLAS_COPIES(int64_t, _64)

/* ---- Levels 1 to 3 ---- */

/* The functions for one number type T. X is the letter of the type in names, x the same in lower
 * case, N the letter in asum and nrm2, B the letter in products with real factors. R is the real
 * type of T. INT is the type of sizes, and END the suffix of names for that type. */
#define TYTO_CUBLAS_LEVEL_1(X, x, N, T, R, INT, END)                                               \
    cublasStatus_t cublasI##x##amax_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,   \
                                            INT *result);                                          \
    cublasStatus_t cublasI##x##amin_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,   \
                                            INT *result);                                          \
    cublasStatus_t cublas##N##asum_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,    \
                                           R *result);                                             \
    cublasStatus_t cublas##N##nrm2_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,    \
                                           R *result);                                             \
    cublasStatus_t cublas##X##axpy_v2##END(cublasHandle_t handle, INT n, const T *alpha,           \
                                           const T *px, INT incx, T *py, INT incy);                \
    cublasStatus_t cublas##X##scal_v2##END(cublasHandle_t handle, INT n, const T *alpha, T *px,    \
                                           INT incx);                                              \
    cublasStatus_t cublas##X##copy_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,    \
                                           T *py, INT incy);                                       \
    cublasStatus_t cublas##X##swap_v2##END(cublasHandle_t handle, INT n, T *px, INT incx, T *py,   \
                                           INT incy);

#define TYTO_CUBLAS_LEVEL_1_REAL(X, T, INT, END)                                                   \
    cublasStatus_t cublas##X##dot_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,     \
                                          const T *py, INT incy, T *result);                       \
    cublasStatus_t cublas##X##rot_v2##END(cublasHandle_t handle, INT n, T *px, INT incx, T *py,    \
                                          INT incy, const T *c, const T *s);                       \
    cublasStatus_t cublas##X##rotm_v2##END(cublasHandle_t handle, INT n, T *px, INT incx, T *py,   \
                                           INT incy, const T *parameters);

#define TYTO_CUBLAS_LEVEL_1_COMPLEX(X, B, T, R, INT, END)                                          \
    cublasStatus_t cublas##X##dotu_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,    \
                                           const T *py, INT incy, T *result);                      \
    cublasStatus_t cublas##X##dotc_v2##END(cublasHandle_t handle, INT n, const T *px, INT incx,    \
                                           const T *py, INT incy, T *result);                      \
    cublasStatus_t cublas##B##scal_v2##END(cublasHandle_t handle, INT n, const R *alpha, T *px,    \
                                           INT incx);

#define TYTO_CUBLAS_LEVEL_2(X, T, INT, END)                                                        \
    cublasStatus_t cublas##X##gemv_v2##END(cublasHandle_t handle, cublasOperation_t op, INT m,     \
                                           INT n, const T *alpha, const T *a, INT lda,             \
                                           const T *px, INT incx, const T *beta, T *py, INT incy); \
    cublasStatus_t cublas##X##gbmv_v2##END(                                                        \
        cublasHandle_t handle, cublasOperation_t op, INT m, INT n, INT kl, INT ku, const T *alpha, \
        const T *a, INT lda, const T *px, INT incx, const T *beta, T *py, INT incy);               \
    cublasStatus_t cublas##X##symv_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *a, INT lda, const T *px,       \
                                           INT incx, const T *beta, T *py, INT incy);              \
    cublasStatus_t cublas##X##trmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, cublasDiagType_t diag, INT n,     \
                                           const T *a, INT lda, T *px, INT incx);                  \
    cublasStatus_t cublas##X##tbmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, cublasDiagType_t diag, INT n,     \
                                           INT k, const T *a, INT lda, T *px, INT incx);           \
    cublasStatus_t cublas##X##tpmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, cublasDiagType_t diag, INT n,     \
                                           const T *ap, T *px, INT incx);                          \
    cublasStatus_t cublas##X##trsv_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, cublasDiagType_t diag, INT n,     \
                                           const T *a, INT lda, T *px, INT incx);                  \
    cublasStatus_t cublas##X##tbsv_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, cublasDiagType_t diag, INT n,     \
                                           INT k, const T *a, INT lda, T *px, INT incx);           \
    cublasStatus_t cublas##X##tpsv_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, cublasDiagType_t diag, INT n,     \
                                           const T *ap, T *px, INT incx);                          \
    cublasStatus_t cublas##X##syr_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,     \
                                          const T *alpha, const T *px, INT incx, T *a, INT lda);   \
    cublasStatus_t cublas##X##syr2_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *px, INT incx, const T *py,     \
                                           INT incy, T *a, INT lda);                               \
    cublasStatus_t cublas##X##symm_v2##END(                                                        \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, INT m, INT n,         \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc);   \
    cublasStatus_t cublas##X##trsm_v2##END(                                                        \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
        cublasDiagType_t diag, INT m, INT n, const T *alpha, const T *a, INT lda, T *b, INT ldb);  \
    cublasStatus_t cublas##X##trmm_v2##END(                                                        \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
        cublasDiagType_t diag, INT m, INT n, const T *alpha, const T *a, INT lda, const T *b,      \
        INT ldb, T *c, INT ldc);                                                                   \
    cublasStatus_t cublas##X##geam##END(                                                           \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n,         \
        const T *alpha, const T *a, INT lda, const T *beta, const T *b, INT ldb, T *c, INT ldc);   \
    cublasStatus_t cublas##X##dgmm##END(cublasHandle_t handle, cublasSideMode_t side, INT m,       \
                                        INT n, const T *a, INT lda, const T *px, INT incx, T *c,   \
                                        INT ldc);

#define TYTO_CUBLAS_LEVEL_2_REAL(X, T, INT, END)                                                   \
    cublasStatus_t cublas##X##sbmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           INT k, const T *alpha, const T *a, INT lda,             \
                                           const T *px, INT incx, const T *beta, T *py, INT incy); \
    cublasStatus_t cublas##X##spmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *ap, const T *px, INT incx,     \
                                           const T *beta, T *py, INT incy);                        \
    cublasStatus_t cublas##X##ger_v2##END(cublasHandle_t handle, INT m, INT n, const T *alpha,     \
                                          const T *px, INT incx, const T *py, INT incy, T *a,      \
                                          INT lda);                                                \
    cublasStatus_t cublas##X##spr_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,     \
                                          const T *alpha, const T *px, INT incx, T *ap);           \
    cublasStatus_t cublas##X##spr2_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *px, INT incx, const T *py,     \
                                           INT incy, T *ap);

#define TYTO_CUBLAS_LEVEL_2_COMPLEX(X, T, R, INT, END)                                             \
    cublasStatus_t cublas##X##geru_v2##END(cublasHandle_t handle, INT m, INT n, const T *alpha,    \
                                           const T *px, INT incx, const T *py, INT incy, T *a,     \
                                           INT lda);                                               \
    cublasStatus_t cublas##X##gerc_v2##END(cublasHandle_t handle, INT m, INT n, const T *alpha,    \
                                           const T *px, INT incx, const T *py, INT incy, T *a,     \
                                           INT lda);                                               \
    cublasStatus_t cublas##X##hemv_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *a, INT lda, const T *px,       \
                                           INT incx, const T *beta, T *py, INT incy);              \
    cublasStatus_t cublas##X##hbmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           INT k, const T *alpha, const T *a, INT lda,             \
                                           const T *px, INT incx, const T *beta, T *py, INT incy); \
    cublasStatus_t cublas##X##hpmv_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *ap, const T *px, INT incx,     \
                                           const T *beta, T *py, INT incy);                        \
    cublasStatus_t cublas##X##her_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,     \
                                          const R *alpha, const T *px, INT incx, T *a, INT lda);   \
    cublasStatus_t cublas##X##her2_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *px, INT incx, const T *py,     \
                                           INT incy, T *a, INT lda);                               \
    cublasStatus_t cublas##X##hpr_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,     \
                                          const R *alpha, const T *px, INT incx, T *ap);           \
    cublasStatus_t cublas##X##hpr2_v2##END(cublasHandle_t handle, cublasFillMode_t fill, INT n,    \
                                           const T *alpha, const T *px, INT incx, const T *py,     \
                                           INT incy, T *ap);                                       \
    cublasStatus_t cublas##X##hemm_v2##END(                                                        \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, INT m, INT n,         \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc);

#define TYTO_CUBLAS_LEVEL_3(X, T, INT, END)                                                        \
    cublasStatus_t cublas##X##gemm_v2##END(                                                        \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc);   \
    cublasStatus_t cublas##X##syrk_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, INT n, INT k, const T *alpha,     \
                                           const T *a, INT lda, const T *beta, T *c, INT ldc);     \
    cublasStatus_t cublas##X##syr2k_v2##END(                                                       \
        cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, INT n, INT k,          \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc);   \
    cublasStatus_t cublas##X##syrkx##END(                                                          \
        cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, INT n, INT k,          \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc);   \
    cublasStatus_t cublas##X##trsmBatched##END(                                                    \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op, \
        cublasDiagType_t diag, INT m, INT n, const T *alpha, const T *const a[], INT lda,          \
        T *const b[], INT ldb, INT count);                                                         \
    cublasStatus_t cublas##X##gemvBatched##END(cublasHandle_t handle, cublasOperation_t op, INT m, \
                                               INT n, const T *alpha, const T *const a[], INT lda, \
                                               const T *const x[], INT incx, const T *beta,        \
                                               T *const y[], INT incy, INT count);                 \
    cublasStatus_t cublas##X##gemvStridedBatched##END(                                             \
        cublasHandle_t handle, cublasOperation_t op, INT m, INT n, const T *alpha, const T *a,     \
        INT lda, long long stride_a, const T *x, INT incx, long long stride_x, const T *beta,      \
        T *y, INT incy, long long stride_y, INT count);

#define TYTO_CUBLAS_LEVEL_3_COMPLEX(X, T, R, INT, END)                                             \
    cublasStatus_t cublas##X##gemm3m##END(                                                         \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc);   \
    cublasStatus_t cublas##X##herk_v2##END(cublasHandle_t handle, cublasFillMode_t fill,           \
                                           cublasOperation_t op, INT n, INT k, const R *alpha,     \
                                           const T *a, INT lda, const R *beta, T *c, INT ldc);     \
    cublasStatus_t cublas##X##her2k_v2##END(                                                       \
        cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, INT n, INT k,          \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const R *beta, T *c, INT ldc);   \
    cublasStatus_t cublas##X##herkx##END(                                                          \
        cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, INT n, INT k,          \
        const T *alpha, const T *a, INT lda, const T *b, INT ldb, const R *beta, T *c, INT ldc);

#define TYTO_CUBLAS_BATCHED(X, T, INT, END)                                                        \
    cublasStatus_t cublas##X##gemmBatched##END(                                                    \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const T *alpha, const T *const a[], INT lda, const T *const b[], INT ldb, const T *beta,   \
        T *const c[], INT ldc, INT count);                                                         \
    cublasStatus_t cublas##X##gemmStridedBatched##END(                                             \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const T *alpha, const T *a, INT lda, long long stride_a, const T *b, INT ldb,              \
        long long stride_b, const T *beta, T *c, INT ldc, long long stride_c, INT count);

#define TYTO_CUBLAS_ROTATIONS(X, T)                                                                \
    cublasStatus_t cublas##X##rotg_v2(cublasHandle_t handle, T *a, T *b, T *c, T *s);              \
    cublasStatus_t cublas##X##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1, const T *y1,    \
                                       T *parameters);

#define TYTO_CUBLAS_FACTORS(X, T)                                                                  \
    cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda,    \
                                           int *pivots, int *infos, int count);                    \
    cublasStatus_t cublas##X##getrsBatched(                                                        \
        cublasHandle_t handle, cublasOperation_t op, int n, int sides, const T *const a[],         \
        int lda, const int *pivots, T *const b[], int ldb, int *info, int count);                  \
    cublasStatus_t cublas##X##getriBatched(cublasHandle_t handle, int n, const T *const a[],       \
                                           int lda, const int *pivots, T *const c[], int ldc,      \
                                           int *infos, int count);

#define TYTO_CUBLAS_REAL(X, x, T, INT, END)                                                        \
    TYTO_CUBLAS_LEVEL_1(X, x, X, T, T, INT, END)                                                   \
    TYTO_CUBLAS_LEVEL_1_REAL(X, T, INT, END)                                                       \
    TYTO_CUBLAS_LEVEL_2(X, T, INT, END)                                                            \
    TYTO_CUBLAS_LEVEL_2_REAL(X, T, INT, END)                                                       \
    TYTO_CUBLAS_LEVEL_3(X, T, INT, END) TYTO_CUBLAS_BATCHED(X, T, INT, END)
#define TYTO_CUBLAS_COMPLEX(X, x, N, B, T, R, INT, END)                                            \
    TYTO_CUBLAS_LEVEL_1(X, x, N, T, R, INT, END)                                                   \
    TYTO_CUBLAS_LEVEL_1_COMPLEX(X, B, T, R, INT, END)                                              \
    TYTO_CUBLAS_LEVEL_2(X, T, INT, END)                                                            \
    TYTO_CUBLAS_LEVEL_2_COMPLEX(X, T, R, INT, END)                                                 \
    TYTO_CUBLAS_LEVEL_3(X, T, INT, END)                                                            \
    TYTO_CUBLAS_LEVEL_3_COMPLEX(X, T, R, INT, END) TYTO_CUBLAS_BATCHED(X, T, INT, END)
#define TYTO_CUBLAS_TYPES(INT, END)                                                                \
    TYTO_CUBLAS_REAL(S, s, float, INT, END)                                                        \
    TYTO_CUBLAS_REAL(D, d, double, INT, END)                                                       \
    TYTO_CUBLAS_COMPLEX(C, c, Sc, Cs, cuComplex, float, INT, END)                                  \
    TYTO_CUBLAS_COMPLEX(Z, z, Dz, Zd, cuDoubleComplex, double, INT, END)                           \
    TYTO_CUBLAS_BATCHED(H, __half, INT, END)
TYTO_CUBLAS_TYPES(int, )
TYTO_CUBLAS_TYPES(int64_t, _64)
TYTO_CUBLAS_ROTATIONS(S, float)
TYTO_CUBLAS_ROTATIONS(D, double)
TYTO_CUBLAS_FACTORS(S, float)
TYTO_CUBLAS_FACTORS(D, double)
TYTO_CUBLAS_FACTORS(C, cuComplex)
TYTO_CUBLAS_FACTORS(Z, cuDoubleComplex)

/* ---- Mixed types ---- */

#define TYTO_CUBLAS_MIXED(INT, END)                                                                \
    cublasStatus_t cublasHgemm##END(                                                               \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const __half *alpha, const __half *a, INT lda, const __half *b, INT ldb,                   \
        const __half *beta, __half *c, INT ldc);                                                   \
    cublasStatus_t cublasSgemmEx##END(                                                             \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const float *alpha, const void *a, cudaDataType a_type, INT lda, const void *b,            \
        cudaDataType b_type, INT ldb, const float *beta, void *c, cudaDataType c_type, INT ldc);   \
    cublasStatus_t cublasGemmEx##END(                                                              \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const void *alpha, const void *a, cudaDataType a_type, INT lda, const void *b,             \
        cudaDataType b_type, INT ldb, const void *beta, void *c, cudaDataType c_type, INT ldc,     \
        cublasComputeType_t compute, cublasGemmAlgo_t algorithm);                                  \
    cublasStatus_t cublasGemmBatchedEx##END(                                                       \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const void *alpha, const void *const a[], cudaDataType a_type, INT lda,                    \
        const void *const b[], cudaDataType b_type, INT ldb, const void *beta, void *const c[],    \
        cudaDataType c_type, INT ldc, INT count, cublasComputeType_t compute,                      \
        cublasGemmAlgo_t algorithm);                                                               \
    cublasStatus_t cublasGemmStridedBatchedEx##END(                                                \
        cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, INT m, INT n, INT k,  \
        const void *alpha, const void *a, cudaDataType a_type, INT lda, long long stride_a,        \
        const void *b, cudaDataType b_type, INT ldb, long long stride_b, const void *beta,         \
        void *c, cudaDataType c_type, INT ldc, long long stride_c, INT count,                      \
        cublasComputeType_t compute, cublasGemmAlgo_t algorithm);                                  \
    cublasStatus_t cublasAxpyEx##END(cublasHandle_t handle, INT n, const void *alpha,              \
                                     cudaDataType alpha_type, const void *x, cudaDataType x_type,  \
                                     INT incx, void *y, cudaDataType y_type, INT incy,             \
                                     cudaDataType compute);                                        \
    cublasStatus_t cublasScalEx##END(cublasHandle_t handle, INT n, const void *alpha,              \
                                     cudaDataType alpha_type, void *x, cudaDataType x_type,        \
                                     INT incx, cudaDataType compute);                              \
    cublasStatus_t cublasDotEx##END(cublasHandle_t handle, INT n, const void *x,                   \
                                    cudaDataType x_type, INT incx, const void *y,                  \
                                    cudaDataType y_type, INT incy, void *result,                   \
                                    cudaDataType result_type, cudaDataType compute);               \
    cublasStatus_t cublasDotcEx##END(cublasHandle_t handle, INT n, const void *x,                  \
                                     cudaDataType x_type, INT incx, const void *y,                 \
                                     cudaDataType y_type, INT incy, void *result,                  \
                                     cudaDataType result_type, cudaDataType compute);              \
    cublasStatus_t cublasNrm2Ex##END(cublasHandle_t handle, INT n, const void *x,                  \
                                     cudaDataType x_type, INT incx, void *result,                  \
                                     cudaDataType result_type, cudaDataType compute);
TYTO_CUBLAS_MIXED(int, )
TYTO_CUBLAS_MIXED(int64_t, _64)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#ifndef TYTO_CUBLAS_WITHOUT_NAMES
#include "tyto/cublas_names.h"
#endif

#endif
