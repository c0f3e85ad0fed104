/* cuSPARSE: descriptors of vectors and matrices. The functions for constant descriptors are the
 * same with other types of pointers. */
#include "library/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static bool is_base(cusparseIndexBase_t base) { return (unsigned)base <= CUSPARSE_INDEX_BASE_ONE; }

static bool is_index(cusparseIndexType_t type) {
    return type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}

/* Values of other types can be stored, but no operation supports them. */
static bool is_type(cudaDataType type) { return (unsigned)type <= CUDA_C_16BF; }

/* Defines a pair of functions that return the field `values`, and one that sets it. */
#define VALUES(Name, Descr, ConstDescr)                                                            \
    cusparseStatus_t cusparse##Name##GetValues(Descr descr, void **values) {                       \
        if (!descr || !values) return CUSPARSE_STATUS_INVALID_VALUE;                               \
        *values = descr->values;                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    cusparseStatus_t cusparseConst##Name##GetValues(ConstDescr descr, const void **values) {       \
        if (!descr || !values) return CUSPARSE_STATUS_INVALID_VALUE;                               \
        *values = descr->values;                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    cusparseStatus_t cusparse##Name##SetValues(Descr descr, void *values) {                        \
        if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;                                          \
        descr->values = values;                                                                    \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    cusparseStatus_t cusparseDestroy##Name(ConstDescr descr) {                                     \
        free((void *)descr);                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
VALUES(SpVec, cusparseSpVecDescr_t, cusparseConstSpVecDescr_t)
VALUES(DnVec, cusparseDnVecDescr_t, cusparseConstDnVecDescr_t)
VALUES(SpMat, cusparseSpMatDescr_t, cusparseConstSpMatDescr_t)
VALUES(DnMat, cusparseDnMatDescr_t, cusparseConstDnMatDescr_t)

/* ---- Sparse vectors ---- */

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *descr, int64_t size, int64_t nnz,
                                     void *indices, void *values, cusparseIndexType_t index_type,
                                     cusparseIndexBase_t base, cudaDataType type) {
    if (!(descr && nnz >= 0 && size >= nnz && is_base(base) && is_type(type)))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (!is_index(index_type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
    *descr = base_calloc(1, sizeof **descr);
    **descr = (struct cusparseSpVecDescr){size, nnz, indices, values, index_type, base, type};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *descr, int64_t size,
                                          int64_t nnz, const void *indices, const void *values,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
    return cusparseCreateSpVec((cusparseSpVecDescr_t *)descr, size, nnz, (void *)indices,
                               (void *)values, index_type, base, type);
}

#define SPVEC_GET(name, Descr, POINTER)                                                            \
    cusparseStatus_t name(Descr descr, int64_t *size, int64_t *nnz, POINTER *indices,              \
                          POINTER *values, cusparseIndexType_t *index_type,                        \
                          cusparseIndexBase_t *base, cudaDataType *type) {                         \
        if (!descr || !size || !nnz || !indices || !values || !index_type || !base || !type)       \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                  \
        *size = descr->size;                                                                       \
        *nnz = descr->count;                                                                       \
        *indices = descr->indices;                                                                 \
        *values = descr->values;                                                                   \
        *index_type = descr->index_type;                                                           \
        *base = descr->base;                                                                       \
        *type = descr->type;                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
SPVEC_GET(cusparseSpVecGet, cusparseSpVecDescr_t, void *)
SPVEC_GET(cusparseConstSpVecGet, cusparseConstSpVecDescr_t, const void *)

cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t descr,
                                           cusparseIndexBase_t *base) {
    if (!descr || !base) return CUSPARSE_STATUS_INVALID_VALUE;
    *base = descr->base;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- Dense vectors ---- */

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *descr, int64_t size, void *values,
                                     cudaDataType type) {
    if (!(descr && size >= 0 && is_type(type))) return CUSPARSE_STATUS_INVALID_VALUE;
    *descr = base_calloc(1, sizeof **descr);
    **descr = (struct cusparseDnVecDescr){size, values, type};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *descr, int64_t size,
                                          const void *values, cudaDataType type) {
    return cusparseCreateDnVec((cusparseDnVecDescr_t *)descr, size, (void *)values, type);
}

#define DNVEC_GET(name, Descr, POINTER)                                                            \
    cusparseStatus_t name(Descr descr, int64_t *size, POINTER *values, cudaDataType *type) {       \
        if (!descr || !size || !values || !type) return CUSPARSE_STATUS_INVALID_VALUE;             \
        *size = descr->size;                                                                       \
        *values = descr->values;                                                                   \
        *type = descr->type;                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
DNVEC_GET(cusparseDnVecGet, cusparseDnVecDescr_t, void *)
DNVEC_GET(cusparseConstDnVecGet, cusparseConstDnVecDescr_t, const void *)

/* ---- Sparse matrices ---- */

/* Whether a matrix of this size has room for the elements; the product may exceed 64 bits. */
static bool has_room(int64_t rows, int64_t columns, int64_t count) {
    if (rows < 0 || columns < 0 || count < 0) return false;
    return count == 0 || (rows > 0 && columns > 0 && (count - 1) / columns < rows);
}

static cusparseStatus_t create(cusparseSpMatDescr_t *descr, struct cusparseSpMatDescr matrix,
                               cusparseIndexType_t minor_type) {
    if (!(descr && has_room(matrix.rows, matrix.columns, matrix.count)))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (!(is_base(matrix.base) && is_type(matrix.type))) return CUSPARSE_STATUS_INVALID_VALUE;
    if (!is_index(matrix.index_type) || matrix.index_type != minor_type)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    matrix.batch_count = 1;
    *descr = base_calloc(1, sizeof **descr);
    **descr = matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

/* Defines the functions of a compressed format: create, create constant. */
#define COMPRESSED(Name, format_)                                                                  \
    cusparseStatus_t cusparseCreate##Name(                                                         \
        cusparseSpMatDescr_t *descr, int64_t rows, int64_t cols, int64_t nnz, void *offsets,       \
        void *indices, void *values, cusparseIndexType_t offset_type,                              \
        cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {             \
        return create(descr,                                                                       \
                      (struct cusparseSpMatDescr){.format = format_,                               \
                                                  .rows = rows,                                    \
                                                  .columns = cols,                                 \
                                                  .count = nnz,                                    \
                                                  .major = offsets,                                \
                                                  .minor = indices,                                \
                                                  .values = values,                                \
                                                  .index_type = offset_type,                       \
                                                  .base = base,                                    \
                                                  .type = type},                                   \
                      index_type);                                                                 \
    }                                                                                              \
    cusparseStatus_t cusparseCreateConst##Name(                                                    \
        cusparseConstSpMatDescr_t *descr, int64_t rows, int64_t cols, int64_t nnz,                 \
        const void *offsets, const void *indices, const void *values,                              \
        cusparseIndexType_t offset_type, cusparseIndexType_t index_type, cusparseIndexBase_t base, \
        cudaDataType type) {                                                                       \
        return cusparseCreate##Name((cusparseSpMatDescr_t *)descr, rows, cols, nnz,                \
                                    (void *)offsets, (void *)indices, (void *)values, offset_type, \
                                    index_type, base, type);                                       \
    }
COMPRESSED(Csr, CUSPARSE_FORMAT_CSR)
COMPRESSED(Csc, CUSPARSE_FORMAT_CSC)

cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *descr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *row_indices, void *columns, void *values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) {
    return create(descr,
                  (struct cusparseSpMatDescr){.format = CUSPARSE_FORMAT_COO,
                                              .rows = rows,
                                              .columns = cols,
                                              .count = nnz,
                                              .major = row_indices,
                                              .minor = columns,
                                              .values = values,
                                              .index_type = index_type,
                                              .base = base,
                                              .type = type},
                  index_type);
}

cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *descr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *row_indices,
                                        const void *columns, const void *values,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
    return cusparseCreateCoo((cusparseSpMatDescr_t *)descr, rows, cols, nnz, (void *)row_indices,
                             (void *)columns, (void *)values, index_type, base, type);
}

/* Defines a function that returns all fields of a compressed format. */
#define COMPRESSED_GET(name, Descr, POINTER, format_)                                              \
    cusparseStatus_t name(Descr descr, int64_t *rows, int64_t *cols, int64_t *nnz,                 \
                          POINTER *offsets, POINTER *indices, POINTER *values,                     \
                          cusparseIndexType_t *offset_type, cusparseIndexType_t *index_type,       \
                          cusparseIndexBase_t *base, cudaDataType *type) {                         \
        if (!(descr && descr->format == format_ && rows && cols && nnz && offsets && indices &&    \
              values && offset_type && index_type && base && type))                                \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                  \
        *rows = descr->rows;                                                                       \
        *cols = descr->columns;                                                                    \
        *nnz = descr->count;                                                                       \
        *offsets = descr->major;                                                                   \
        *indices = descr->minor;                                                                   \
        *values = descr->values;                                                                   \
        *offset_type = *index_type = descr->index_type;                                            \
        *base = descr->base;                                                                       \
        *type = descr->type;                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
COMPRESSED_GET(cusparseCsrGet, cusparseSpMatDescr_t, void *, CUSPARSE_FORMAT_CSR)
COMPRESSED_GET(cusparseConstCsrGet, cusparseConstSpMatDescr_t, const void *, CUSPARSE_FORMAT_CSR)
COMPRESSED_GET(cusparseCscGet, cusparseSpMatDescr_t, void *, CUSPARSE_FORMAT_CSC)
COMPRESSED_GET(cusparseConstCscGet, cusparseConstSpMatDescr_t, const void *, CUSPARSE_FORMAT_CSC)

#define COO_GET(name, Descr, POINTER)                                                              \
    cusparseStatus_t name(Descr descr, int64_t *rows, int64_t *cols, int64_t *nnz,                 \
                          POINTER *row_indices, POINTER *columns, POINTER *values,                 \
                          cusparseIndexType_t *index_type, cusparseIndexBase_t *base,              \
                          cudaDataType *type) {                                                    \
        if (!(descr && descr->format == CUSPARSE_FORMAT_COO && rows && cols && nnz &&              \
              row_indices && columns && values && index_type && base && type))                     \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                  \
        *rows = descr->rows;                                                                       \
        *cols = descr->columns;                                                                    \
        *nnz = descr->count;                                                                       \
        *row_indices = descr->major;                                                               \
        *columns = descr->minor;                                                                   \
        *values = descr->values;                                                                   \
        *index_type = descr->index_type;                                                           \
        *base = descr->base;                                                                       \
        *type = descr->type;                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
COO_GET(cusparseCooGet, cusparseSpMatDescr_t, void *)
COO_GET(cusparseConstCooGet, cusparseConstSpMatDescr_t, const void *)

#define SET_POINTERS(Name, format_)                                                                \
    cusparseStatus_t cusparse##Name##SetPointers(cusparseSpMatDescr_t descr, void *major,          \
                                                 void *minor, void *values) {                      \
        if (!(descr && descr->format == format_)) return CUSPARSE_STATUS_INVALID_VALUE;            \
        descr->major = major;                                                                      \
        descr->minor = minor;                                                                      \
        descr->values = values;                                                                    \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
SET_POINTERS(Csr, CUSPARSE_FORMAT_CSR)
SET_POINTERS(Csc, CUSPARSE_FORMAT_CSC)
SET_POINTERS(Coo, CUSPARSE_FORMAT_COO)

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t descr, cusparseFormat_t *format) {
    if (!descr || !format) return CUSPARSE_STATUS_INVALID_VALUE;
    *format = descr->format;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t descr,
                                           cusparseIndexBase_t *base) {
    if (!descr || !base) return CUSPARSE_STATUS_INVALID_VALUE;
    *base = descr->base;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *cols,
                                      int64_t *nnz) {
    if (!descr || !rows || !cols || !nnz) return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = descr->rows;
    *cols = descr->columns;
    *nnz = descr->count;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t descr, int *count) {
    if (!descr || !count) return CUSPARSE_STATUS_INVALID_VALUE;
    *count = descr->batch_count;
    return CUSPARSE_STATUS_SUCCESS;
}

/* A stride of 0: all matrices of the batch share the list. */
static bool is_stride(int64_t stride, int64_t items) { return stride == 0 || stride >= items; }

static cusparseStatus_t set_batch(cusparseSpMatDescr_t descr, int count, int64_t major_stride,
                                  int64_t element_stride) {
    int64_t major = descr->format == CUSPARSE_FORMAT_COO   ? descr->count
                    : descr->format == CUSPARSE_FORMAT_CSR ? descr->rows + 1
                                                           : descr->columns + 1;
    if (!(count > 0 && is_stride(major_stride, major) && is_stride(element_stride, descr->count)))
        return CUSPARSE_STATUS_INVALID_VALUE;
    descr->batch_count = count;
    descr->major_stride = major_stride;
    descr->element_stride = element_stride;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t descr, int count, int64_t stride) {
    if (!(descr && descr->format == CUSPARSE_FORMAT_COO)) return CUSPARSE_STATUS_INVALID_VALUE;
    return set_batch(descr, count, stride, stride);
}

/* Also for CSC, as in the vendor's library. */
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t descr, int count,
                                            int64_t offsets_stride, int64_t elements_stride) {
    if (!(descr && descr->format != CUSPARSE_FORMAT_COO)) return CUSPARSE_STATUS_INVALID_VALUE;
    return set_batch(descr, count, offsets_stride, elements_stride);
}

/* Both attributes have the same size. */
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t descr,
                                           cusparseSpMatAttribute_t attribute, void *data,
                                           size_t bytes) {
    if (!(descr && data && (unsigned)attribute <= CUSPARSE_SPMAT_DIAG_TYPE &&
          bytes == sizeof descr->fill_mode))
        return CUSPARSE_STATUS_INVALID_VALUE;
    memcpy(data,
           attribute == CUSPARSE_SPMAT_FILL_MODE ? (const void *)&descr->fill_mode
                                                 : (const void *)&descr->diag_type,
           bytes);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t descr,
                                           cusparseSpMatAttribute_t attribute, void *data,
                                           size_t bytes) {
    if (!(descr && data && (unsigned)attribute <= CUSPARSE_SPMAT_DIAG_TYPE &&
          bytes == sizeof descr->fill_mode))
        return CUSPARSE_STATUS_INVALID_VALUE;
    memcpy(attribute == CUSPARSE_SPMAT_FILL_MODE ? (void *)&descr->fill_mode
                                                 : (void *)&descr->diag_type,
           data, bytes);
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- Dense matrices ---- */

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *descr, int64_t rows, int64_t cols,
                                     int64_t lead, void *values, cudaDataType type,
                                     cusparseOrder_t order) {
    if (!(order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (!(descr && rows >= 0 && cols >= 0 && is_type(type))) return CUSPARSE_STATUS_INVALID_VALUE;
    if (!(lead >= (order == CUSPARSE_ORDER_COL ? rows : cols)))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *descr = base_calloc(1, sizeof **descr);
    **descr = (struct cusparseDnMatDescr){.rows = rows,
                                          .columns = cols,
                                          .lead = lead,
                                          .values = values,
                                          .type = type,
                                          .order = order,
                                          .batch_count = 1};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *descr, int64_t rows,
                                          int64_t cols, int64_t lead, const void *values,
                                          cudaDataType type, cusparseOrder_t order) {
    return cusparseCreateDnMat((cusparseDnMatDescr_t *)descr, rows, cols, lead, (void *)values,
                               type, order);
}

#define DNMAT_GET(name, Descr, POINTER)                                                            \
    cusparseStatus_t name(Descr descr, int64_t *rows, int64_t *cols, int64_t *lead,                \
                          POINTER *values, cudaDataType *type, cusparseOrder_t *order) {           \
        if (!descr || !rows || !cols || !lead || !values || !type || !order)                       \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                  \
        *rows = descr->rows;                                                                       \
        *cols = descr->columns;                                                                    \
        *lead = descr->lead;                                                                       \
        *values = descr->values;                                                                   \
        *type = descr->type;                                                                       \
        *order = descr->order;                                                                     \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
DNMAT_GET(cusparseDnMatGet, cusparseDnMatDescr_t, void *)
DNMAT_GET(cusparseConstDnMatGet, cusparseConstDnMatDescr_t, const void *)

cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t descr, int count,
                                              int64_t stride) {
    if (!(descr && count > 0 && stride >= 0)) return CUSPARSE_STATUS_INVALID_VALUE;
    descr->batch_count = count;
    descr->batch_stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t descr, int *count,
                                              int64_t *stride) {
    if (!descr || !count || !stride) return CUSPARSE_STATUS_INVALID_VALUE;
    *count = descr->batch_count;
    *stride = descr->batch_stride;
    return CUSPARSE_STATUS_SUCCESS;
}
