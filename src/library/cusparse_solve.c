/* cuSPARSE: triangular systems with one right side. The analysis finds the rows of op(A) and keeps
 * them in its buffer; the solution reads the values of A as they are then. */
#include "library/sparse.h"

#include <stdlib.h>

#include "base/arena.h"

struct cusparseSpSVDescr {
    SparseLines lines;      /* of op(A), as analyzed */
    cusparseOperation_t op; /* of the analysis */
    bool is_ready;
};

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *descr) {
    if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
    *descr = base_calloc(1, sizeof **descr);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr) {
    free(descr);
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                    const void *alpha, cusparseConstSpMatDescr_t a,
                                    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                    cusparseSpSVDescr_t descr) {
    if (!handle || !alpha || !a || !x || !y || !descr || !sparse_is_operation(op) ||
        algorithm != CUSPARSE_SPSV_ALG_DEFAULT || a->rows != a->columns || x->size != a->rows ||
        y->size != a->rows)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (a->type != compute || x->type != compute || y->type != compute || a->batch_count != 1 ||
        !sparse_product_name(compute, compute, compute) || !sparse_is_matrix_size(a))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                         cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                         cusparseSpSVDescr_t descr, size_t *bytes) {
    cusparseStatus_t status = check_solve(handle, op, alpha, a, x, y, compute, algorithm, descr);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = sparse_lines_bytes(a, op);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op,
                                       const void *alpha, cusparseConstSpMatDescr_t a,
                                       cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                       cusparseSpSVDescr_t descr, void *buffer) {
    cusparseStatus_t status = check_solve(handle, op, alpha, a, x, y, compute, algorithm, descr);
    if (status) return status;
    status = sparse_lines(handle, a, op, buffer, &descr->lines);
    descr->op = op;
    descr->is_ready = status == CUSPARSE_STATUS_SUCCESS;
    return status;
}

cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                    const void *alpha, cusparseConstSpMatDescr_t a,
                                    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                    cusparseSpSVDescr_t descr) {
    cusparseStatus_t status = check_solve(handle, op, alpha, a, x, y, compute, algorithm, descr);
    if (status) return status;
    if (!descr->is_ready || descr->op != op || descr->lines.count != a->rows)
        return CUSPARSE_STATUS_INVALID_VALUE;
    SparseSolve solve = {
        .a = descr->lines,
        .x = sparse_dense_vector(x),
        .y = sparse_dense_vector(y),
        .is_lower =
            (a->fill_mode == CUSPARSE_FILL_MODE_LOWER) == (op == CUSPARSE_OPERATION_NON_TRANSPOSE),
        .has_unit = a->diag_type == CUSPARSE_DIAG_TYPE_UNIT,
        .alpha = sparse_scalar(handle, alpha, compute),
    };
    solve.a.values = device_address(a->values);
    return sparse_launch(handle, "solve", sparse_type_name(compute), y->size > 0, 1, 32, &solve);
}
