/* cuSPARSE: products of two sparse matrices. All terms of the product are written to memory, sorted
 * by row and column, and added in this order; so results do not depend on the schedule. The first
 * buffer counts the terms, the second holds them. */
#include "library/sparse.h"

#include <stdlib.h>

#include "base/arena.h"

struct cusparseSpGEMMDescr {
    int64_t term_count; /* -1: not counted yet */
    int64_t elements;   /* of C; -1: not computed yet */
    CUdeviceptr ends;   /* in the first buffer */
    SparseMerge merge;  /* lists in the second buffer */
};

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr) {
    if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
    *descr = base_calloc(1, sizeof **descr);
    (*descr)->term_count = (*descr)->elements = -1;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr) {
    free(descr);
    return CUSPARSE_STATUS_SUCCESS;
}

static bool is_csr(cusparseConstSpMatDescr_t m, cudaDataType type) {
    return m->format == CUSPARSE_FORMAT_CSR && m->type == type && m->batch_count == 1 &&
           sparse_is_matrix_size(m);
}

static cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                              const void *beta, cusparseConstSpMatDescr_t c, cudaDataType compute,
                              cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr) {
    if (!handle || !alpha || !a || !b || !beta || !c || !descr || !sparse_is_operation(op_a) ||
        !sparse_is_operation(op_b) || (unsigned)algorithm > CUSPARSE_SPGEMM_ALG3 ||
        a->columns != b->rows || a->rows != c->rows || b->columns != c->columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (op_a || op_b || !sparse_product_name(compute, compute, compute) || !is_csr(a, compute) ||
        !is_csr(b, compute) || !is_csr(c, compute))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

/* The sum of a list that sparse_scan has changed: the item behind its `count` items. */
static cusparseStatus_t read_total(cusparseHandle_t handle, CUdeviceptr list, int64_t count,
                                   int64_t *total) {
    int32_t value = 0;
    CUresult result = cuStreamSynchronize(handle->device.stream);
    if (result == CUDA_SUCCESS)
        result = cuMemcpyDtoH(&value, list + (uint64_t)count * sizeof value, sizeof value);
    *total = value;
    return sparse_status(result);
}

cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta,
    cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
    cusparseSpGEMMDescr_t descr, size_t *bytes, void *buffer) {
    cusparseStatus_t status =
        check(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descr);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    if (!buffer) {
        *bytes = ((size_t)a->count + 1) * sizeof(int32_t);
        return CUSPARSE_STATUS_SUCCESS;
    }
    SparseTerms terms = {
        .a = sparse_entries(a), .b = sparse_entries(b), .ends = device_address(buffer)};
    descr->ends = terms.ends;
    status = sparse_each(handle, "terms_count", NULL, a->count + 1, &terms);
    if (!status)
        status = sparse_scan(handle, terms.ends, sparse_plain_list(terms.ends), a->count + 1);
    return status ? status : read_total(handle, terms.ends, a->count, &descr->term_count);
}

cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr, int64_t *count) {
    if (!descr || !count || descr->term_count < 0) return CUSPARSE_STATUS_INVALID_VALUE;
    *count = descr->term_count;
    return CUSPARSE_STATUS_SUCCESS;
}

/* The second buffer: values first, then rows, columns, places, and the lists of the sort. */
typedef struct Parts {
    CUdeviceptr values, rows, columns, places;
    SparseLists lists;
} Parts;

static Parts parts_of(CUdeviceptr buffer, int64_t terms, cudaDataType type) {
    uint64_t list = (uint64_t)terms * sizeof(int32_t);
    Parts parts = {.values = buffer};
    parts.rows = buffer + (uint64_t)terms * sparse_type_bytes(type);
    parts.columns = parts.rows + list;
    parts.places = parts.columns + list;
    parts.lists = sparse_lists(parts.places + list + sizeof(int32_t), terms);
    return parts;
}

/* Sorts the terms by column, then by row. */
static cusparseStatus_t sort_terms(cusparseHandle_t handle, Parts *parts, int64_t rows,
                                   int64_t columns) {
    SparseEntries entries = {.major = sparse_plain_list(parts->rows),
                             .minor = sparse_plain_list(parts->columns),
                             .count = (int32_t)parts->lists.count};
    cusparseStatus_t status = sparse_set_keys(handle, &parts->lists, &entries, true);
    if (!status) status = sparse_sort(handle, &parts->lists, columns);
    if (!status) status = sparse_set_keys(handle, &parts->lists, &entries, false);
    return status ? status : sparse_sort(handle, &parts->lists, rows);
}

cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                        cusparseOperation_t op_b, const void *alpha,
                                        cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void *beta, cusparseSpMatDescr_t c,
                                        cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                        cusparseSpGEMMDescr_t descr, size_t *bytes, void *buffer) {
    cusparseStatus_t status =
        check(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descr);
    if (status) return status;
    int64_t count = descr->term_count;
    if (!bytes || count < 0) return CUSPARSE_STATUS_INVALID_VALUE;
    if (!sparse_is_size(count)) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    if (!buffer) {
        *bytes = (size_t)parts_of(0, count, compute).lists.end;
        return CUSPARSE_STATUS_SUCCESS;
    }
    Parts parts = parts_of(device_address(buffer), count, compute);
    SparseTerms terms = {.a = sparse_entries(a),
                         .b = sparse_entries(b),
                         .ends = descr->ends,
                         .rows = parts.rows,
                         .columns = parts.columns,
                         .values = parts.values,
                         .count = (int32_t)count};
    status = sparse_each(handle, "terms", sparse_type_name(compute), count, &terms);
    if (!status) status = sort_terms(handle, &parts, a->rows, b->columns);
    descr->merge = (SparseMerge){.rows = parts.lists.keys,
                                 .order = parts.lists.order,
                                 .columns = parts.columns,
                                 .values = parts.values,
                                 .places = parts.places,
                                 .count = (int32_t)count};
    if (!status) status = sparse_each(handle, "merge_mark", NULL, count + 1, &descr->merge);
    if (!status)
        status = sparse_scan(handle, parts.places, sparse_plain_list(parts.places), count + 1);
    if (!status) status = read_total(handle, parts.places, count, &descr->elements);
    if (!status) c->count = descr->elements;
    return status;
}

cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a,
                                     cusparseOperation_t op_b, const void *alpha,
                                     cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr) {
    cusparseStatus_t status =
        check(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descr);
    if (status) return status;
    if (descr->elements < 0 || descr->elements != c->count) return CUSPARSE_STATUS_INVALID_VALUE;
    SparseMerge merge = descr->merge;
    merge.c = sparse_entries(c);
    merge.alpha = sparse_scalar(handle, alpha, compute);
    merge.beta = sparse_scalar(handle, beta, compute);
    status = sparse_each(handle, "merge_offsets", NULL, c->rows + 1, &merge);
    return status ? status
                  : sparse_each(handle, "merge", sparse_type_name(compute), merge.count, &merge);
}
