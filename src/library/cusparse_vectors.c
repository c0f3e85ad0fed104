/* cuSPARSE: operations on a sparse vector and a dense one. */
#include "library/sparse.h"

/* Checks what all operations have in common. */
static cusparseStatus_t check(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y) {
    if (!handle || !x || !y || x->size != y->size) return CUSPARSE_STATUS_INVALID_VALUE;
    if (!sparse_type_name(x->type) || !sparse_is_size(x->size))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

static SparsePair pair_of(cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y) {
    return (SparsePair){
        .indices = sparse_indices(x->indices, x->index_type, x->base),
        .values = device_address(x->values),
        .dense = device_address(y->values),
        .count = (int32_t)x->count,
    };
}

/* The same for operations whose vectors have one type; `kernel` is the operation. */
static cusparseStatus_t run(cusparseHandle_t handle, const char *kernel,
                            cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y) {
    cusparseStatus_t status = check(handle, x, y);
    if (status) return status;
    if (x->type != y->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
    SparsePair pair = pair_of(x, y);
    return sparse_each(handle, kernel, sparse_type_name(x->type), x->count, &pair);
}

cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                cusparseSpVecDescr_t x) {
    return run(handle, "gather", x, y);
}

cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                 cusparseDnVecDescr_t y) {
    return run(handle, "scatter", x, y);
}

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha,
                               cusparseConstSpVecDescr_t x, const void *beta,
                               cusparseDnVecDescr_t y) {
    cusparseStatus_t status = check(handle, x, y);
    if (status) return status;
    if (!alpha || !beta) return CUSPARSE_STATUS_INVALID_VALUE;
    if (x->type != y->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
    cudaDataType sum = sparse_sum_type(x->type);
    SparseScale scale = {.a = sparse_dense_vector(y),
                         .rows = (int32_t)y->size,
                         .columns = 1,
                         .beta = sparse_scalar(handle, beta, sum)};
    SparsePair pair = pair_of(x, y);
    pair.alpha = sparse_scalar(handle, alpha, sum);
    status = sparse_each(handle, "scale", sparse_type_name(y->type), y->size, &scale);
    return status ? status : sparse_each(handle, "add", sparse_type_name(x->type), x->count, &pair);
}

/* The result has the type of the sums. */
static cusparseStatus_t check_dot(cusparseHandle_t handle, cusparseOperation_t op,
                                  cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                  const void *result, cudaDataType compute, const char **name) {
    cusparseStatus_t status = check(handle, x, y);
    if (status) return status;
    if (!result || !sparse_is_operation(op)) return CUSPARSE_STATUS_INVALID_VALUE;
    *name = sparse_product_name(x->type, compute, compute);
    return *name && x->type == y->type ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                         const void *result, cudaDataType compute, size_t *bytes) {
    const char *name;
    cusparseStatus_t status = check_dot(handle, op, x, y, result, compute, &name);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = sparse_type_bytes(compute); /* for a result on the host */
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op,
                              cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                              void *result, cudaDataType compute, void *buffer) {
    const char *name;
    cusparseStatus_t status = check_dot(handle, op, x, y, result, compute, &name);
    if (status) return status;
    bool is_host = handle->pointer_mode == CUSPARSE_POINTER_MODE_HOST;
    if (is_host && !buffer) return CUSPARSE_STATUS_INVALID_VALUE;
    SparsePair pair = pair_of(x, y);
    pair.is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    pair.result = device_address(is_host ? buffer : result);
    status = sparse_launch(handle, "dot", name, 1, 1, 256, &pair);
    if (status || !is_host) return status;
    CUresult done = cuStreamSynchronize(handle->device.stream);
    if (done == CUDA_SUCCESS) done = cuMemcpyDtoH(result, pair.result, sparse_type_bytes(compute));
    return sparse_status(done);
}
