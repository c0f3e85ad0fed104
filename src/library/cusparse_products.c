/* cuSPARSE: products of sparse matrices with dense vectors and matrices, products that are computed
 * at the elements of a sparse matrix. */
#include "library/sparse.h"

static const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

/* Rows and columns of op(matrix). */
typedef struct Shape {
    int64_t rows, columns;
} Shape;

static Shape shape_of(int64_t rows, int64_t columns, cusparseOperation_t op) {
    return op == as_is ? (Shape){rows, columns} : (Shape){columns, rows};
}

/* The smallest power of two that is at least `n`, up to a warp. */
static int32_t lanes_for(int64_t n) {
    int32_t lanes = 1;
    while (lanes < n && lanes < 32)
        lanes *= 2;
    return lanes;
}

/* ---- Matrix times vector ---- */

/* Checks what all functions of a product have in common. `*name` is the suffix of its kernel. */
static cusparseStatus_t check_vector(cusparseHandle_t handle, cusparseOperation_t op,
                                     const void *alpha, cusparseConstSpMatDescr_t a,
                                     cusparseConstDnVecDescr_t x, const void *beta,
                                     cusparseDnVecDescr_t y, cudaDataType compute,
                                     cusparseSpMVAlg_t algorithm, const char **name) {
    if (!handle || !alpha || !a || !x || !beta || !y || !sparse_is_operation(op))
        return CUSPARSE_STATUS_INVALID_VALUE;
    Shape shape = shape_of(a->rows, a->columns, op);
    if (x->size != shape.columns || y->size != shape.rows) return CUSPARSE_STATUS_INVALID_VALUE;
    if ((unsigned)algorithm > CUSPARSE_SPMV_BSR_ALG1) return CUSPARSE_STATUS_INVALID_VALUE;
    *name = sparse_product_name(a->type, y->type, compute);
    if (!*name || x->type != a->type || a->batch_count != 1 || !sparse_is_matrix_size(a))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t algorithm, size_t *bytes) {
    const char *name;
    cusparseStatus_t status =
        check_vector(handle, op, alpha, a, x, beta, y, compute, algorithm, &name);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = sparse_lines_bytes(a, op);
    return CUSPARSE_STATUS_SUCCESS;
}

/* Nothing is prepared: a program may use the buffer for other matrices too. */
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t algorithm, void *buffer) {
    const char *name;
    (void)buffer;
    return check_vector(handle, op, alpha, a, x, beta, y, compute, algorithm, &name);
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                              const void *beta, cusparseDnVecDescr_t y, cudaDataType compute,
                              cusparseSpMVAlg_t algorithm, void *buffer) {
    const char *name;
    cusparseStatus_t status =
        check_vector(handle, op, alpha, a, x, beta, y, compute, algorithm, &name);
    if (status || y->size == 0) return status;
    SparseMultiply multiply = {
        .b = sparse_dense_vector(x),
        .c = sparse_dense_vector(y),
        .columns = 1,
        .lanes = lanes_for((a->count + y->size - 1) / y->size),
        .alpha = sparse_scalar(handle, alpha, compute),
        .beta = sparse_scalar(handle, beta, compute),
    };
    status = sparse_lines(handle, a, op, buffer, &multiply.a);
    return status ? status : sparse_each(handle, "spmv", name, y->size * multiply.lanes, &multiply);
}

/* ---- Matrix times matrix ---- */

/* The number of matrices of a batch; an operand with one matrix is shared. */
static int batch_of(cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                    cusparseConstDnMatDescr_t c) {
    bool fits = (a->batch_count == 1 || a->batch_count == c->batch_count) &&
                (b->batch_count == 1 || b->batch_count == c->batch_count);
    return fits ? c->batch_count : 0;
}

static cusparseStatus_t check_matrix(cusparseHandle_t handle, cusparseOperation_t op_a,
                                     cusparseOperation_t op_b, const void *alpha,
                                     cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                     const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                     cusparseSpMMAlg_t algorithm, const char **name) {
    if (!handle || !alpha || !a || !b || !beta || !c || !sparse_is_operation(op_a) ||
        !sparse_is_operation(op_b) || (unsigned)algorithm > CUSPARSE_SPMM_BSR_ALG1)
        return CUSPARSE_STATUS_INVALID_VALUE;
    Shape left = shape_of(a->rows, a->columns, op_a), right = shape_of(b->rows, b->columns, op_b);
    if (left.rows != c->rows || left.columns != right.rows || right.columns != c->columns ||
        batch_of(a, b, c) == 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *name = sparse_product_name(a->type, c->type, compute);
    if (!*name || b->type != a->type || !sparse_is_matrix_size(a) || !sparse_is_size(c->columns))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c,
                                         cudaDataType compute, cusparseSpMMAlg_t algorithm,
                                         size_t *bytes) {
    const char *name;
    cusparseStatus_t status =
        check_matrix(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, &name);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = sparse_lines_bytes(a, op_a);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c,
                                         cudaDataType compute, cusparseSpMMAlg_t algorithm,
                                         void *buffer) {
    const char *name;
    (void)buffer;
    return check_matrix(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, &name);
}

static void *move(void *items, int64_t count, size_t bytes) {
    return (void *)((uintptr_t)items + (uintptr_t)count * bytes);
}

/* Matrix `i` of a batch. */
static struct cusparseSpMatDescr sparse_item(cusparseConstSpMatDescr_t a, int i) {
    struct cusparseSpMatDescr item = *a;
    size_t index_bytes = a->index_type == CUSPARSE_INDEX_64I ? sizeof(int64_t) : sizeof(int32_t);
    item.major = move(a->major, i * a->major_stride, index_bytes);
    item.minor = move(a->minor, i * a->element_stride, index_bytes);
    item.values = move(a->values, i * a->element_stride, sparse_type_bytes(a->type));
    return item;
}

static SparseDense dense_item(cusparseConstDnMatDescr_t b, cusparseOperation_t op, int i) {
    SparseDense dense = sparse_dense_matrix(b, op);
    dense.items += (uint64_t)(i * b->batch_stride) * sparse_type_bytes(b->type);
    return dense;
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void *buffer) {
    const char *name;
    cusparseStatus_t status =
        check_matrix(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, &name);
    if (status) return status;
    SparseMultiply multiply = {
        .columns = (int32_t)c->columns,
        .lanes = lanes_for(c->columns),
        .alpha = sparse_scalar(handle, alpha, compute),
        .beta = sparse_scalar(handle, beta, compute),
    };
    int64_t blocks = (c->rows * multiply.lanes + 255) / 256;
    int64_t stripes = (c->columns + multiply.lanes - 1) / multiply.lanes;
    for (int i = 0; i < c->batch_count && !status; i++) {
        struct cusparseSpMatDescr item = sparse_item(a, a->batch_count == 1 ? 0 : i);
        multiply.b = dense_item(b, op_b, b->batch_count == 1 ? 0 : i);
        multiply.c = dense_item(c, as_is, i);
        status = sparse_lines(handle, &item, op_a, buffer, &multiply.a);
        if (!status) status = sparse_launch(handle, "spmm", name, blocks, stripes, 256, &multiply);
    }
    return status;
}

/* ---- Products at the elements of a sparse matrix ---- */

static cusparseStatus_t check_sample(cusparseHandle_t handle, cusparseOperation_t op_a,
                                     cusparseOperation_t op_b, const void *alpha,
                                     cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                     const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSDDMMAlg_t algorithm, const char **name) {
    if (!handle || !alpha || !a || !b || !beta || !c || !sparse_is_operation(op_a) ||
        !sparse_is_operation(op_b) || algorithm != CUSPARSE_SDDMM_ALG_DEFAULT)
        return CUSPARSE_STATUS_INVALID_VALUE;
    Shape left = shape_of(a->rows, a->columns, op_a), right = shape_of(b->rows, b->columns, op_b);
    if (left.rows != c->rows || left.columns != right.rows || right.columns != c->columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *name = sparse_product_name(a->type, c->type, compute);
    if (!*name || b->type != a->type || a->batch_count != 1 || b->batch_count != 1 ||
        c->batch_count != 1 || !sparse_is_matrix_size(c) || !sparse_is_size(left.columns))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void *alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c,
                                          cudaDataType compute, cusparseSDDMMAlg_t algorithm,
                                          size_t *bytes) {
    const char *name;
    cusparseStatus_t status =
        check_sample(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, &name);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void *alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c,
                                          cudaDataType compute, cusparseSDDMMAlg_t algorithm,
                                          void *buffer) {
    const char *name;
    (void)buffer;
    return check_sample(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, &name);
}

cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                               cusparseOperation_t op_b, const void *alpha,
                               cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                               cusparseSDDMMAlg_t algorithm, void *buffer) {
    const char *name;
    cusparseStatus_t status =
        check_sample(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, &name);
    (void)buffer;
    if (status) return status;
    SparseSample sample = {
        .c = sparse_entries(c),
        .a = sparse_dense_matrix(a, op_a),
        .b = sparse_dense_matrix(b, op_b),
        .depth = (int32_t)(op_a == as_is ? a->columns : a->rows),
        .alpha = sparse_scalar(handle, alpha, compute),
        .beta = sparse_scalar(handle, beta, compute),
    };
    return sparse_each(handle, "sddmm", name, c->count, &sample);
}
