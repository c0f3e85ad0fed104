/* cuSPARSE's generic interface as implemented by Tyto. Names, values and signatures are those of
 * CUDA 13 (cuSPARSE 12.6), so a program compiles against this header or against the vendor's.
 * docs/libraries.md lists the supported formats, types and operations. The library also exports the
 * vendor's other names, which print a message and return CUSPARSE_STATUS_NOT_SUPPORTED. Source:
 * cuSPARSE library reference, NVIDIA. */
#ifndef TYTO_CUSPARSE_H
#define TYTO_CUSPARSE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tyto/cuda_library_types.h"
#include "tyto/cuda_runtime_api.h"

#define CUSPARSEAPI
#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 6
#define CUSPARSE_VER_PATCH 3
#define CUSPARSE_VERSION   (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library hides what public headers do not declare */

typedef enum {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4,
    CUSPARSE_STATUS_MAPPING_ERROR = 5,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6,
    CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSPARSE_STATUS_ZERO_PIVOT = 9,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;

typedef enum {
    CUSPARSE_POINTER_MODE_HOST = 0,
    CUSPARSE_POINTER_MODE_DEVICE = 1
} cusparsePointerMode_t;

typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;

typedef enum {
    CUSPARSE_MATRIX_TYPE_GENERAL = 0,
    CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1,
    CUSPARSE_MATRIX_TYPE_HERMITIAN = 2,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3
} cusparseMatrixType_t;

typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;

typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
    CUSPARSE_OPERATION_TRANSPOSE = 1,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;

typedef enum { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 } cusparseDirection_t;

typedef enum {
    CUSPARSE_FORMAT_CSR = 1,
    CUSPARSE_FORMAT_CSC = 2,
    CUSPARSE_FORMAT_COO = 3,
    CUSPARSE_FORMAT_BLOCKED_ELL = 5,   /* not supported */
    CUSPARSE_FORMAT_BSR = 6,           /* not supported */
    CUSPARSE_FORMAT_SLICED_ELLPACK = 7 /* not supported */
} cusparseFormat_t;

typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;

typedef enum {
    CUSPARSE_INDEX_16U = 1, /* not supported */
    CUSPARSE_INDEX_32I = 2,
    CUSPARSE_INDEX_64I = 3
} cusparseIndexType_t;

typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;

/* The algorithms of an operation give the same result here, in the same way. */
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 } cusparseCsr2CscAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;

typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3,
    CUSPARSE_SPMV_COO_ALG2 = 4,
    CUSPARSE_SPMV_SELL_ALG1 = 5,
    CUSPARSE_SPMV_BSR_ALG1 = 6
} cusparseSpMVAlg_t;

typedef enum {
    CUSPARSE_SPMM_ALG_DEFAULT = 0,
    CUSPARSE_SPMM_COO_ALG1 = 1,
    CUSPARSE_SPMM_COO_ALG2 = 2,
    CUSPARSE_SPMM_COO_ALG3 = 3,
    CUSPARSE_SPMM_CSR_ALG1 = 4,
    CUSPARSE_SPMM_COO_ALG4 = 5,
    CUSPARSE_SPMM_CSR_ALG2 = 6,
    CUSPARSE_SPMM_CSR_ALG3 = 12,
    CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13,
    CUSPARSE_SPMM_BSR_ALG1 = 14
} cusparseSpMMAlg_t;

typedef enum {
    CUSPARSE_SPGEMM_DEFAULT = 0,
    CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1,
    CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
    CUSPARSE_SPGEMM_ALG1 = 3,
    CUSPARSE_SPGEMM_ALG2 = 4,
    CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;

typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef struct cusparseSpVecDescr const *cusparseConstSpVecDescr_t;
typedef struct cusparseDnVecDescr const *cusparseConstDnVecDescr_t;
typedef struct cusparseSpMatDescr const *cusparseConstSpMatDescr_t;
typedef struct cusparseDnMatDescr const *cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;

typedef void (*cusparseLoggerCallback_t)(int level, const char *function, const char *message);

/* ---- Handles, settings ---- */

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version);
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value);
const char *cusparseGetErrorName(cusparseStatus_t status);
const char *cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *stream);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode);

/* There is nothing to log: these check their arguments only. */
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback);
cusparseStatus_t cusparseLoggerSetFile(FILE *file);
cusparseStatus_t cusparseLoggerOpenFile(const char *name);
cusparseStatus_t cusparseLoggerSetLevel(int level);
cusparseStatus_t cusparseLoggerSetMask(int mask);
cusparseStatus_t cusparseLoggerForceDisable(void);

/* Descriptors of the interface before the generic one; no supported operation reads them. */
cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descr);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descr, cusparseMatrixType_t type);
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descr, cusparseFillMode_t mode);
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descr, cusparseDiagType_t type);
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descr, cusparseIndexBase_t base);
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descr);

/* ---- Sparse vectors ---- */

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *descr, int64_t size, int64_t nnz,
                                     void *indices, void *values, cusparseIndexType_t index_type,
                                     cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *descr, int64_t size,
                                          int64_t nnz, const void *indices, const void *values,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type);
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t descr);
cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t descr, int64_t *size, int64_t *nnz,
                                  void **indices, void **values, cusparseIndexType_t *index_type,
                                  cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t descr, int64_t *size, int64_t *nnz,
                                       const void **indices, const void **values,
                                       cusparseIndexType_t *index_type, cusparseIndexBase_t *base,
                                       cudaDataType *type);
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t descr,
                                           cusparseIndexBase_t *base);
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t descr, void **values);
cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t descr, const void **values);
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t descr, void *values);

/* ---- Dense vectors ---- */

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *descr, int64_t size, void *values,
                                     cudaDataType type);
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *descr, int64_t size,
                                          const void *values, cudaDataType type);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t descr);
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t descr, int64_t *size, void **values,
                                  cudaDataType *type);
cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t descr, int64_t *size,
                                       const void **values, cudaDataType *type);
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t descr, void **values);
cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t descr, const void **values);
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t descr, void *values);

/* ---- Sparse matrices ---- */

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *descr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *row_offsets, void *columns, void *values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *descr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *row_offsets,
                                        const void *columns, const void *values,
                                        cusparseIndexType_t offset_type,
                                        cusparseIndexType_t column_type, cusparseIndexBase_t base,
                                        cudaDataType type);
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *descr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *column_offsets, void *row_indices,
                                   void *values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t row_type, cusparseIndexBase_t base,
                                   cudaDataType type);
cusparseStatus_t cusparseCreateConstCsc(cusparseConstSpMatDescr_t *descr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *column_offsets,
                                        const void *row_indices, const void *values,
                                        cusparseIndexType_t offset_type,
                                        cusparseIndexType_t row_type, cusparseIndexBase_t base,
                                        cudaDataType type);
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *descr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *row_indices, void *columns, void *values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type);
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *descr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *row_indices,
                                        const void *columns, const void *values,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t descr);

cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                int64_t *nnz, void **row_offsets, void **columns, void **values,
                                cusparseIndexType_t *offset_type, cusparseIndexType_t *column_type,
                                cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                     int64_t *nnz, const void **row_offsets, const void **columns,
                                     const void **values, cusparseIndexType_t *offset_type,
                                     cusparseIndexType_t *column_type, cusparseIndexBase_t *base,
                                     cudaDataType *type);
cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                int64_t *nnz, void **column_offsets, void **row_indices,
                                void **values, cusparseIndexType_t *offset_type,
                                cusparseIndexType_t *row_type, cusparseIndexBase_t *base,
                                cudaDataType *type);
cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                     int64_t *nnz, const void **column_offsets,
                                     const void **row_indices, const void **values,
                                     cusparseIndexType_t *offset_type,
                                     cusparseIndexType_t *row_type, cusparseIndexBase_t *base,
                                     cudaDataType *type);
cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                int64_t *nnz, void **row_indices, void **columns, void **values,
                                cusparseIndexType_t *index_type, cusparseIndexBase_t *base,
                                cudaDataType *type);
cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                     int64_t *nnz, const void **row_indices, const void **columns,
                                     const void **values, cusparseIndexType_t *index_type,
                                     cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t descr, void *row_offsets,
                                        void *columns, void *values);
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t descr, void *column_offsets,
                                        void *row_indices, void *values);
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t descr, void *row_indices,
                                        void *columns, void *values);

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t descr, cusparseFormat_t *format);
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t descr,
                                           cusparseIndexBase_t *base);
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t descr, void **values);
cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t descr, const void **values);
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t descr, void *values);
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                      int64_t *nnz);
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t descr, int *count);
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t descr, int count, int64_t stride);
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t descr, int count,
                                            int64_t offsets_stride, int64_t elements_stride);
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t descr,
                                           cusparseSpMatAttribute_t attribute, void *data,
                                           size_t bytes);
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t descr,
                                           cusparseSpMatAttribute_t attribute, void *data,
                                           size_t bytes);

/* ---- Dense matrices ---- */

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *descr, int64_t rows, int64_t cols,
                                     int64_t lead, void *values, cudaDataType type,
                                     cusparseOrder_t order);
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *descr, int64_t rows,
                                          int64_t cols, int64_t lead, const void *values,
                                          cudaDataType type, cusparseOrder_t order);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t descr);
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t descr, int64_t *rows, int64_t *cols,
                                  int64_t *lead, void **values, cudaDataType *type,
                                  cusparseOrder_t *order);
cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t descr, int64_t *rows,
                                       int64_t *cols, int64_t *lead, const void **values,
                                       cudaDataType *type, cusparseOrder_t *order);
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t descr, void **values);
cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t descr, const void **values);
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t descr, void *values);
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t descr, int count,
                                              int64_t stride);
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t descr, int *count,
                                              int64_t *stride);

/* ---- Operations on vectors ---- */

/* y = alpha * x + beta * y */
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha,
                               cusparseConstSpVecDescr_t x, const void *beta,
                               cusparseDnVecDescr_t y);
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                cusparseSpVecDescr_t x);
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                 cusparseDnVecDescr_t y);
/* result = op(x) . y */
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                         const void *result, cudaDataType compute, size_t *bytes);
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op,
                              cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                              void *result, cudaDataType compute, void *buffer);

/* ---- Products ---- */

/* y = alpha * op(A) x + beta * y */
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t algorithm, size_t *bytes);
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                              const void *beta, cusparseDnVecDescr_t y, cudaDataType compute,
                              cusparseSpMVAlg_t algorithm, void *buffer);

/* C = alpha * op(A) op(B) + beta * C, with dense B and C */
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c,
                                         cudaDataType compute, cusparseSpMMAlg_t algorithm,
                                         size_t *bytes);
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c,
                                         cudaDataType compute, cusparseSpMMAlg_t algorithm,
                                         void *buffer);
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void *buffer);

/* C = alpha * op(A) op(B) + beta * C at the elements of C, with dense A and B */
cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void *alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c,
                                          cudaDataType compute, cusparseSDDMMAlg_t algorithm,
                                          size_t *bytes);
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void *alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c,
                                          cudaDataType compute, cusparseSDDMMAlg_t algorithm,
                                          void *buffer);
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                               cusparseOperation_t op_b, const void *alpha,
                               cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                               cusparseSDDMMAlg_t algorithm, void *buffer);

/* C = alpha * A B + beta * C, all CSR. The estimation and the computation are called twice: without
 * a buffer they return its size. The computation sets the number of elements of C; then the program
 * sets the pointers of C, and the copy fills it. */
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta,
    cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
    cusparseSpGEMMDescr_t descr, size_t *bytes, void *buffer);
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr, int64_t *count);
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                        cusparseOperation_t op_b, const void *alpha,
                                        cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void *beta, cusparseSpMatDescr_t c,
                                        cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                        cusparseSpGEMMDescr_t descr, size_t *bytes, void *buffer);
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a,
                                     cusparseOperation_t op_b, const void *alpha,
                                     cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr);

/* ---- Triangular systems: op(A) y = alpha * x ---- */

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *descr);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr);
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                         cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                         cusparseSpSVDescr_t descr, size_t *bytes);
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op,
                                       const void *alpha, cusparseConstSpMatDescr_t a,
                                       cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                       cusparseSpSVDescr_t descr, void *buffer);
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                    const void *alpha, cusparseConstSpMatDescr_t a,
                                    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                    cusparseSpSVDescr_t descr);

/* ---- Conversions ---- */

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b,
                                                  cusparseSparseToDenseAlg_t algorithm,
                                                  size_t *bytes);
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t algorithm,
                                       void *buffer);
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b,
                                                  cusparseDenseToSparseAlg_t algorithm,
                                                  size_t *bytes);
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                cusparseDenseToSparseAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b,
                                               cusparseDenseToSparseAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *row_indices, int nnz,
                                  int rows, int *row_offsets, cusparseIndexBase_t base);
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *row_offsets, int nnz,
                                  int rows, int *row_indices, cusparseIndexBase_t base);
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int rows, int cols, int nnz,
                                               const void *csr_values, const int *row_offsets,
                                               const int *columns, void *csc_values,
                                               int *column_offsets, int *row_indices,
                                               cudaDataType type, cusparseAction_t action,
                                               cusparseIndexBase_t base,
                                               cusparseCsr2CscAlg_t algorithm, size_t *bytes);
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int cols, int nnz,
                                    const void *csr_values, const int *row_offsets,
                                    const int *columns, void *csc_values, int *column_offsets,
                                    int *row_indices, cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t algorithm,
                                    void *buffer);

/* ---- Order of elements ---- */

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n,
                                                   int *permutation);
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int rows, int cols,
                                                int nnz, const int *row_indices, const int *columns,
                                                size_t *bytes);
/* Sorts the row and column indices, and permutes `permutation` (may be NULL) in the same way. */
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int rows, int cols, int nnz,
                                       int *row_indices, int *columns, int *permutation,
                                       void *buffer);
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int rows, int cols, int nnz,
                                          int *row_indices, int *columns, int *permutation,
                                          void *buffer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
