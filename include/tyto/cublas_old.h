/* cuBLAS without handles, as programs of CUDA 3 and before use it (cublas.h, cublasInit). The
 * functions take factors by value and letters for operations ('N', 'T', 'C'; 'U', 'L'), and report
 * their status through cublasGetError. Each passes its arguments to the function of the same name
 * with a handle (tyto/cublas.h). A row of TYTO_CUBLAS_OLD_ROWS declares and defines it. A program
 * includes either this header or tyto/cublas.h, in which the same names mean the functions with a
 * handle.
 *
 * Left out: rotations of complex numbers, which return CUBLAS_STATUS_NOT_SUPPORTED. Source: cuBLAS
 * library reference, NVIDIA, "Using the cuBLAS Legacy API". */
#ifndef TYTO_CUBLAS_OLD_H
#define TYTO_CUBLAS_OLD_H

#ifdef TYTO_CUBLAS_NAMES_H
#error "cublas.h and cublas_v2.h give the same names to different functions: include one of them"
#endif
#define TYTO_CUBLAS_WITHOUT_NAMES
#include "tyto/cublas.h"

/* ROW(name, parameters, arguments...): the function cublasNAME, and the arguments that it passes
 * after the handle. GET(Type, name, parameters, arguments...): a function that returns a number;
 * the address for it is passed as the last argument. X and x are the letter of the type T in upper
 * and lower case. N and B are the prefixes of names that take or return the real type R. */
#define TYTO_CUBLAS_OLD_ALL(ROW, GET, X, x, N, T, R)                                               \
    GET(int, I##x##amax, (int n, const T *px, int incx), n, px, incx)                              \
    GET(int, I##x##amin, (int n, const T *px, int incx), n, px, incx)                              \
    GET(R, N##asum, (int n, const T *px, int incx), n, px, incx)                                   \
    GET(R, N##nrm2, (int n, const T *px, int incx), n, px, incx)                                   \
    ROW(X##scal, (int n, T alpha, T *px, int incx), n, &alpha, px, incx)                           \
    ROW(X##axpy, (int n, T alpha, const T *px, int incx, T *py, int incy), n, &alpha, px, incx,    \
        py, incy)                                                                                  \
    ROW(X##copy, (int n, const T *px, int incx, T *py, int incy), n, px, incx, py, incy)           \
    ROW(X##swap, (int n, T *px, int incx, T *py, int incy), n, px, incx, py, incy)                 \
    ROW(X##gemv,                                                                                   \
        (char op, int m, int n, T alpha, const T *a, int lda, const T *px, int incx, T beta,       \
         T *py, int incy),                                                                         \
        OP(op), m, n, &alpha, a, lda, px, incx, &beta, py, incy)                                   \
    ROW(X##gbmv,                                                                                   \
        (char op, int m, int n, int kl, int ku, T alpha, const T *a, int lda, const T *px,         \
         int incx, T beta, T *py, int incy),                                                       \
        OP(op), m, n, kl, ku, &alpha, a, lda, px, incx, &beta, py, incy)                           \
    ROW(X##trmv, (char fill, char op, char diag, int n, const T *a, int lda, T *px, int incx),     \
        FILL(fill), OP(op), DIAG(diag), n, a, lda, px, incx)                                       \
    ROW(X##trsv, (char fill, char op, char diag, int n, const T *a, int lda, T *px, int incx),     \
        FILL(fill), OP(op), DIAG(diag), n, a, lda, px, incx)                                       \
    ROW(X##tbmv,                                                                                   \
        (char fill, char op, char diag, int n, int k, const T *a, int lda, T *px, int incx),       \
        FILL(fill), OP(op), DIAG(diag), n, k, a, lda, px, incx)                                    \
    ROW(X##tbsv,                                                                                   \
        (char fill, char op, char diag, int n, int k, const T *a, int lda, T *px, int incx),       \
        FILL(fill), OP(op), DIAG(diag), n, k, a, lda, px, incx)                                    \
    ROW(X##tpmv, (char fill, char op, char diag, int n, const T *ap, T *px, int incx), FILL(fill), \
        OP(op), DIAG(diag), n, ap, px, incx)                                                       \
    ROW(X##tpsv, (char fill, char op, char diag, int n, const T *ap, T *px, int incx), FILL(fill), \
        OP(op), DIAG(diag), n, ap, px, incx)                                                       \
    ROW(X##gemm,                                                                                   \
        (char opa, char opb, int m, int n, int k, T alpha, const T *a, int lda, const T *b,        \
         int ldb, T beta, T *c, int ldc),                                                          \
        OP(opa), OP(opb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)                          \
    ROW(X##syrk,                                                                                   \
        (char fill, char op, int n, int k, T alpha, const T *a, int lda, T beta, T *c, int ldc),   \
        FILL(fill), OP(op), n, k, &alpha, a, lda, &beta, c, ldc)                                   \
    ROW(X##syr2k,                                                                                  \
        (char fill, char op, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb,      \
         T beta, T *c, int ldc),                                                                   \
        FILL(fill), OP(op), n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)                           \
    ROW(X##symm,                                                                                   \
        (char side, char fill, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb,    \
         T beta, T *c, int ldc),                                                                   \
        SIDE(side), FILL(fill), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc)                       \
    ROW(X##trsm,                                                                                   \
        (char side, char fill, char op, char diag, int m, int n, T alpha, const T *a, int lda,     \
         T *b, int ldb),                                                                           \
        SIDE(side), FILL(fill), OP(op), DIAG(diag), m, n, &alpha, a, lda, b, ldb)                  \
    ROW(X##trmm,                                                                                   \
        (char side, char fill, char op, char diag, int m, int n, T alpha, const T *a, int lda,     \
         T *b, int ldb),                                                                           \
        SIDE(side), FILL(fill), OP(op), DIAG(diag), m, n, &alpha, a, lda, b, ldb, b, ldb)

#define TYTO_CUBLAS_OLD_REAL(ROW, GET, X, x, T)                                                    \
    TYTO_CUBLAS_OLD_ALL(ROW, GET, X, x, X, T, T)                                                   \
    GET(T, X##dot, (int n, const T *px, int incx, const T *py, int incy), n, px, incx, py, incy)   \
    ROW(X##rot, (int n, T *px, int incx, T *py, int incy, T c, T s), n, px, incx, py, incy, &c,    \
        &s)                                                                                        \
    ROW(X##rotg, (T * a, T * b, T * c, T * s), a, b, c, s)                                         \
    ROW(X##rotm, (int n, T *px, int incx, T *py, int incy, const T *parameters), n, px, incx, py,  \
        incy, parameters)                                                                          \
    ROW(X##rotmg, (T * d1, T * d2, T * x1, const T *y1, T *parameters), d1, d2, x1, y1,            \
        parameters)                                                                                \
    ROW(X##symv,                                                                                   \
        (char fill, int n, T alpha, const T *a, int lda, const T *px, int incx, T beta, T *py,     \
         int incy),                                                                                \
        FILL(fill), n, &alpha, a, lda, px, incx, &beta, py, incy)                                  \
    ROW(X##sbmv,                                                                                   \
        (char fill, int n, int k, T alpha, const T *a, int lda, const T *px, int incx, T beta,     \
         T *py, int incy),                                                                         \
        FILL(fill), n, k, &alpha, a, lda, px, incx, &beta, py, incy)                               \
    ROW(X##spmv,                                                                                   \
        (char fill, int n, T alpha, const T *ap, const T *px, int incx, T beta, T *py, int incy),  \
        FILL(fill), n, &alpha, ap, px, incx, &beta, py, incy)                                      \
    ROW(X##ger,                                                                                    \
        (int m, int n, T alpha, const T *px, int incx, const T *py, int incy, T *a, int lda), m,   \
        n, &alpha, px, incx, py, incy, a, lda)                                                     \
    ROW(X##syr, (char fill, int n, T alpha, const T *px, int incx, T *a, int lda), FILL(fill), n,  \
        &alpha, px, incx, a, lda)                                                                  \
    ROW(X##spr, (char fill, int n, T alpha, const T *px, int incx, T *ap), FILL(fill), n, &alpha,  \
        px, incx, ap)                                                                              \
    ROW(X##syr2,                                                                                   \
        (char fill, int n, T alpha, const T *px, int incx, const T *py, int incy, T *a, int lda),  \
        FILL(fill), n, &alpha, px, incx, py, incy, a, lda)                                         \
    ROW(X##spr2, (char fill, int n, T alpha, const T *px, int incx, const T *py, int incy, T *ap), \
        FILL(fill), n, &alpha, px, incx, py, incy, ap)

#define TYTO_CUBLAS_OLD_COMPLEX(ROW, GET, X, x, N, B, T, R)                                        \
    TYTO_CUBLAS_OLD_ALL(ROW, GET, X, x, N, T, R)                                                   \
    GET(T, X##dotu, (int n, const T *px, int incx, const T *py, int incy), n, px, incx, py, incy)  \
    GET(T, X##dotc, (int n, const T *px, int incx, const T *py, int incy), n, px, incx, py, incy)  \
    ROW(B##scal, (int n, R alpha, T *px, int incx), n, &alpha, px, incx)                           \
    ROW(X##hemv,                                                                                   \
        (char fill, int n, T alpha, const T *a, int lda, const T *px, int incx, T beta, T *py,     \
         int incy),                                                                                \
        FILL(fill), n, &alpha, a, lda, px, incx, &beta, py, incy)                                  \
    ROW(X##hbmv,                                                                                   \
        (char fill, int n, int k, T alpha, const T *a, int lda, const T *px, int incx, T beta,     \
         T *py, int incy),                                                                         \
        FILL(fill), n, k, &alpha, a, lda, px, incx, &beta, py, incy)                               \
    ROW(X##hpmv,                                                                                   \
        (char fill, int n, T alpha, const T *ap, const T *px, int incx, T beta, T *py, int incy),  \
        FILL(fill), n, &alpha, ap, px, incx, &beta, py, incy)                                      \
    ROW(X##geru,                                                                                   \
        (int m, int n, T alpha, const T *px, int incx, const T *py, int incy, T *a, int lda), m,   \
        n, &alpha, px, incx, py, incy, a, lda)                                                     \
    ROW(X##gerc,                                                                                   \
        (int m, int n, T alpha, const T *px, int incx, const T *py, int incy, T *a, int lda), m,   \
        n, &alpha, px, incx, py, incy, a, lda)                                                     \
    ROW(X##her, (char fill, int n, R alpha, const T *px, int incx, T *a, int lda), FILL(fill), n,  \
        &alpha, px, incx, a, lda)                                                                  \
    ROW(X##hpr, (char fill, int n, R alpha, const T *px, int incx, T *ap), FILL(fill), n, &alpha,  \
        px, incx, ap)                                                                              \
    ROW(X##her2,                                                                                   \
        (char fill, int n, T alpha, const T *px, int incx, const T *py, int incy, T *a, int lda),  \
        FILL(fill), n, &alpha, px, incx, py, incy, a, lda)                                         \
    ROW(X##hpr2, (char fill, int n, T alpha, const T *px, int incx, const T *py, int incy, T *ap), \
        FILL(fill), n, &alpha, px, incx, py, incy, ap)                                             \
    ROW(X##hemm,                                                                                   \
        (char side, char fill, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb,    \
         T beta, T *c, int ldc),                                                                   \
        SIDE(side), FILL(fill), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc)                       \
    ROW(X##herk,                                                                                   \
        (char fill, char op, int n, int k, R alpha, const T *a, int lda, R beta, T *c, int ldc),   \
        FILL(fill), OP(op), n, k, &alpha, a, lda, &beta, c, ldc)                                   \
    ROW(X##her2k,                                                                                  \
        (char fill, char op, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb,      \
         R beta, T *c, int ldc),                                                                   \
        FILL(fill), OP(op), n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)

#define TYTO_CUBLAS_OLD_ROWS(ROW, GET)                                                             \
    TYTO_CUBLAS_OLD_REAL(ROW, GET, S, s, float)                                                    \
    TYTO_CUBLAS_OLD_REAL(ROW, GET, D, d, double)                                                   \
    TYTO_CUBLAS_OLD_COMPLEX(ROW, GET, C, c, Sc, Cs, cuComplex, float)                              \
    TYTO_CUBLAS_OLD_COMPLEX(ROW, GET, Z, z, Dz, Zd, cuDoubleComplex, double)

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef cublasStatus_t cublasStatus;

cublasStatus cublasInit(void);
cublasStatus cublasShutdown(void);
/* The last error since the previous call of this function; success if there was none. */
cublasStatus cublasGetError(void);
cublasStatus cublasGetVersion(int *version);
/* Allocates device memory for n elements. */
cublasStatus cublasAlloc(int n, int element_bytes, void **pointer);
cublasStatus cublasFree(void *pointer);
cublasStatus cublasSetKernelStream(cudaStream_t stream);

#define TYTO_DECLARE_ROW(name, parameters, ...)       void cublas##name parameters;
#define TYTO_DECLARE_GET(Type, name, parameters, ...) Type cublas##name parameters;
TYTO_CUBLAS_OLD_ROWS(TYTO_DECLARE_ROW, TYTO_DECLARE_GET)
#undef TYTO_DECLARE_ROW
#undef TYTO_DECLARE_GET

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
