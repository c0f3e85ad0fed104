/* Internals shared by the files of Tyto's cuSPARSE: the handle, descriptors, number types, launches
 * of kernels, and the rows of a matrix in any format. */
#ifndef TYTO_LIBRARY_SPARSE_H
#define TYTO_LIBRARY_SPARSE_H

#include "library/device.h"
#include "library/sparse_device.h"
#include "tyto/cusparse.h"

struct cusparseContext {
    Device device;
    cusparsePointerMode_t pointer_mode; /* where factors and results are */
};

struct cusparseSpVecDescr {
    int64_t size, count; /* of the whole vector; its elements */
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};

struct cusparseDnVecDescr {
    int64_t size;
    void *values;
    cudaDataType type;
};

struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, count; /* count: of its elements */
    void *major;                  /* CSR: row offsets; CSC: column offsets; COO: row indices */
    void *minor;                  /* CSC: row indices; otherwise column indices */
    void *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill_mode;
    cusparseDiagType_t diag_type;
    int batch_count;
    int64_t major_stride, element_stride; /* from matrix to matrix of a batch, in items */
};

struct cusparseDnMatDescr {
    int64_t rows, columns, lead;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    int batch_count;
    int64_t batch_stride; /* in numbers */
};

extern const char sparse_kernels[]; /* PTX text of sparse_kernels.cu */

/* ---- Number types ---- */

/* The suffix of the kernels for a type, and its size; NULL: not supported. */
const char *sparse_type_name(cudaDataType type);
size_t sparse_type_bytes(cudaDataType type);
/* The type of sums of numbers of this type. */
cudaDataType sparse_sum_type(cudaDataType type);
/* The suffix of the kernels of products of numbers of type `in`, with results of type `out`; NULL:
 * not supported. */
const char *sparse_product_name(cudaDataType in, cudaDataType out, cudaDataType compute);

/* The factor at `pointer`, which has the type `type`. */
SparseScalar sparse_scalar(cusparseHandle_t handle, const void *pointer, cudaDataType type);

/* ---- Launches ---- */

cusparseStatus_t sparse_status(CUresult result);
/* Launches x * y blocks of `block` threads; none if x or y is 0. `type` is the kernel's suffix, or
 * NULL. */
cusparseStatus_t sparse_launch(cusparseHandle_t handle, const char *kernel, const char *type,
                               int64_t x, int64_t y, uint32_t block, void *parameters);
/* Launches a thread for each of `count` items. */
cusparseStatus_t sparse_each(cusparseHandle_t handle, const char *kernel, const char *type,
                             int64_t count, void *parameters);

/* ---- Descriptors for kernels ---- */

/* Whether kernels support this size: 64-bit sizes are accepted up to 2^30. */
static inline bool sparse_is_size(int64_t n) { return n >= 0 && n <= INT64_C(1) << 30; }
static inline bool sparse_is_matrix_size(cusparseConstSpMatDescr_t a) {
    return sparse_is_size(a->rows) && sparse_is_size(a->columns) && sparse_is_size(a->count);
}
static inline bool sparse_is_operation(cusparseOperation_t op) {
    return (unsigned)op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

SparseIndices sparse_indices(const void *items, cusparseIndexType_t type, cusparseIndexBase_t base);
/* A list that this library made: 32 bits, from 0. */
static inline SparseIndices sparse_plain_list(CUdeviceptr items) {
    return (SparseIndices){.items = items};
}
SparseEntries sparse_entries(cusparseConstSpMatDescr_t a);
SparseDense sparse_dense_vector(cusparseConstDnVecDescr_t x);
/* op(A) of a dense matrix. */
SparseDense sparse_dense_matrix(cusparseConstDnMatDescr_t a, cusparseOperation_t op);

/* ---- Sums over lists, sorted lists ---- */

/* Writes the sum of the items before each of `count` 32-bit items. */
cusparseStatus_t sparse_scan(cusparseHandle_t handle, CUdeviceptr items, SparseIndices out,
                             int64_t count);
/* Writes the offsets of `lines` rows, given the row of each of `count` elements, sorted. */
cusparseStatus_t sparse_bounds(cusparseHandle_t handle, SparseIndices sorted, int64_t count,
                               SparseIndices out, int64_t lines);

/* Items that are sorted by keys; items with equal keys keep their order. All lists are parts of a
 * buffer that the caller of the library provides, and have 32-bit items. */
typedef struct SparseLists {
    CUdeviceptr keys;
    CUdeviceptr order;                   /* for each key the number of its item */
    CUdeviceptr spare_keys, spare_order; /* room for both lists */
    CUdeviceptr counts;                  /* room for the digits */
    CUdeviceptr end;                     /* of the buffer's part that this uses */
    int64_t count;
    bool has_order; /* false before the first sort: item k is k */
} SparseLists;

SparseLists sparse_lists(CUdeviceptr buffer, int64_t count);
/* Sorts by keys from 0 to limit - 1. */
cusparseStatus_t sparse_sort(cusparseHandle_t handle, SparseLists *lists, int64_t limit);
/* Sets the keys to the rows (or columns) of the elements, in the order of the lists. */
cusparseStatus_t sparse_set_keys(cusparseHandle_t handle, SparseLists *lists,
                                 const SparseEntries *from, bool wants_minor);

/* Writes the row of each element, in the order of sorted lists; `out` may be the spare keys. */
cusparseStatus_t sparse_get_lines(cusparseHandle_t handle, const SparseLists *lists,
                                  const SparseEntries *from, SparseIndices out);

/* Bytes of a buffer for the lists of `count` elements, and the offsets of `lines` rows. */
size_t sparse_sort_bytes(int64_t count, int64_t lines);

/* ---- Rows of op(A) ---- */

/* Bytes of the buffer that sparse_lines needs. */
size_t sparse_lines_bytes(cusparseConstSpMatDescr_t a, cusparseOperation_t op);
/* The rows of op(A). CSR, and transposed CSC, are used as they are; for transposed CSR or COO, and
 * for CSC, the elements are sorted first. */
cusparseStatus_t sparse_lines(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                              cusparseOperation_t op, const void *buffer, SparseLines *lines);

#endif
