/* cuSPARSE: conversions between sparse formats, and between sparse and dense matrices; the order of
 * elements. */
#include "library/sparse.h"

static const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

/* ---- Between sparse and dense matrices ---- */

/* Checks a sparse and a dense matrix of the same size and type. */
static cusparseStatus_t check(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse,
                              cusparseConstDnMatDescr_t dense, unsigned algorithm) {
    if (!handle || !sparse || !dense || algorithm != CUSPARSE_SPARSETODENSE_ALG_DEFAULT ||
        sparse->rows != dense->rows || sparse->columns != dense->columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (!sparse_type_name(sparse->type) || sparse->type != dense->type ||
        sparse->batch_count != 1 || dense->batch_count != 1 || !sparse_is_matrix_size(sparse))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b,
                                                  cusparseSparseToDenseAlg_t algorithm,
                                                  size_t *bytes) {
    cusparseStatus_t status = check(handle, a, b, algorithm);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t algorithm,
                                       void *buffer) {
    cusparseStatus_t status = check(handle, a, b, algorithm);
    (void)buffer;
    if (status) return status;
    const char *name = sparse_type_name(a->type);
    SparseDense dense = sparse_dense_matrix(b, as_is);
    SparseScale clear = {
        .a = dense, .rows = (int32_t)b->rows, .columns = (int32_t)b->columns, .beta = {0}};
    SparseExpand expand = {.a = sparse_entries(a), .b = dense};
    status = sparse_launch(handle, "scale", name, (b->rows + 255) / 256, b->columns, 256, &clear);
    return status ? status : sparse_each(handle, "expand", name, a->count, &expand);
}

/* The lines of a dense matrix are its rows; for CSC its columns. */
static SparseCompress compress_of(cusparseConstDnMatDescr_t a, cusparseConstSpMatDescr_t b,
                                  const void *buffer) {
    bool is_by_column = b->format == CUSPARSE_FORMAT_CSC;
    return (SparseCompress){
        .a = sparse_dense_matrix(a, is_by_column ? CUSPARSE_OPERATION_TRANSPOSE : as_is),
        .b = sparse_entries(b),
        .places = (int32_t)(is_by_column ? a->rows : a->columns),
        .counts = device_address(buffer),
    };
}

static cusparseStatus_t run_compress(cusparseHandle_t handle, const char *kernel, cudaDataType type,
                                     SparseCompress *compress) {
    return sparse_each(handle, kernel, sparse_type_name(type),
                       ((int64_t)compress->b.lines + 1) * 32, compress);
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b,
                                                  cusparseDenseToSparseAlg_t algorithm,
                                                  size_t *bytes) {
    cusparseStatus_t status = check(handle, b, a, algorithm);
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = ((size_t)sparse_entries(b).lines + 1) * sizeof(int32_t);
    return CUSPARSE_STATUS_SUCCESS;
}

/* Counts the elements, and writes the position of each line's first to the buffer. */
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                cusparseDenseToSparseAlg_t algorithm,
                                                void *buffer) {
    cusparseStatus_t status = check(handle, b, a, algorithm);
    if (status || !buffer) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    SparseCompress compress = compress_of(a, b, buffer);
    int32_t total = 0, lines = compress.b.lines;
    status = run_compress(handle, "count", b->type, &compress);
    if (!status)
        status = sparse_scan(handle, compress.counts, sparse_plain_list(compress.counts),
                             (int64_t)lines + 1);
    if (!status) status = sparse_status(cuStreamSynchronize(handle->device.stream));
    CUdeviceptr end = compress.counts + (uint64_t)lines * sizeof total;
    if (!status) status = sparse_status(cuMemcpyDtoH(&total, end, sizeof total));
    if (!status) b->count = total;
    return status;
}

cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b,
                                               cusparseDenseToSparseAlg_t algorithm, void *buffer) {
    cusparseStatus_t status = check(handle, b, a, algorithm);
    if (status || !buffer) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    SparseCompress compress = compress_of(a, b, buffer);
    return run_compress(handle, "write", b->type, &compress);
}

/* ---- Between sparse formats ---- */

static bool are_sizes(int rows, int columns, int nnz, cusparseIndexBase_t base) {
    return sparse_is_size(rows) && sparse_is_size(columns) && sparse_is_size(nnz) &&
           (unsigned)base <= CUSPARSE_INDEX_BASE_ONE;
}

static SparseIndices list_of(const int *items, cusparseIndexBase_t base) {
    return sparse_indices(items, CUSPARSE_INDEX_32I, base);
}

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *row_indices, int nnz,
                                  int rows, int *row_offsets, cusparseIndexBase_t base) {
    if (!handle || !row_offsets || (!row_indices && nnz) || !are_sizes(rows, 0, nnz, base))
        return CUSPARSE_STATUS_INVALID_VALUE;
    return sparse_bounds(handle, list_of(row_indices, base), nnz, list_of(row_offsets, base), rows);
}

static SparseEntries csr_of(const int *row_offsets, const int *columns, int nnz, int rows,
                            cusparseIndexBase_t base) {
    return (SparseEntries){.major = list_of(row_offsets, base),
                           .minor = list_of(columns, base),
                           .count = nnz,
                           .lines = rows,
                           .has_offsets = true};
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *row_offsets, int nnz,
                                  int rows, int *row_indices, cusparseIndexBase_t base) {
    if (!handle || !row_offsets || (!row_indices && nnz) || !are_sizes(rows, 0, nnz, base))
        return CUSPARSE_STATUS_INVALID_VALUE;
    SparsePick pick = {.from = csr_of(row_offsets, NULL, nnz, rows, base),
                       .out = list_of(row_indices, base)};
    return sparse_each(handle, "pick", NULL, nnz, &pick);
}

static cusparseStatus_t check_transposition(cusparseHandle_t handle, int rows, int cols, int nnz,
                                            cudaDataType type, cusparseAction_t action,
                                            cusparseIndexBase_t base,
                                            cusparseCsr2CscAlg_t algorithm) {
    enum { LAST_ALGORITHM = 2 }; /* of CUDA 11 */
    if (!handle || !are_sizes(rows, cols, nnz, base) ||
        (unsigned)action > CUSPARSE_ACTION_NUMERIC || (int)algorithm < CUSPARSE_CSR2CSC_ALG1 ||
        (int)algorithm > LAST_ALGORITHM)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return sparse_type_name(type) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int rows, int cols, int nnz,
                                               const void *csr_values, const int *row_offsets,
                                               const int *columns, void *csc_values,
                                               int *column_offsets, int *row_indices,
                                               cudaDataType type, cusparseAction_t action,
                                               cusparseIndexBase_t base,
                                               cusparseCsr2CscAlg_t algorithm, size_t *bytes) {
    cusparseStatus_t status =
        check_transposition(handle, rows, cols, nnz, type, action, base, algorithm);
    (void)csr_values, (void)row_offsets, (void)columns;
    (void)csc_values, (void)column_offsets, (void)row_indices;
    if (status || !bytes) return status ? status : CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = sparse_sort_bytes(nnz, cols);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int cols, int nnz,
                                    const void *csr_values, const int *row_offsets,
                                    const int *columns, void *csc_values, int *column_offsets,
                                    int *row_indices, cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t algorithm,
                                    void *buffer) {
    bool has_values = action == CUSPARSE_ACTION_NUMERIC;
    cusparseStatus_t status =
        check_transposition(handle, rows, cols, nnz, type, action, base, algorithm);
    if (status) return status;
    if (!column_offsets || (nnz && (!row_offsets || !columns || !row_indices || !buffer ||
                                    (has_values && (!csr_values || !csc_values)))))
        return CUSPARSE_STATUS_INVALID_VALUE;
    SparseEntries entries = csr_of(row_offsets, columns, nnz, rows, base);
    SparseLists lists = sparse_lists(device_address(buffer), nnz);
    status = sparse_set_keys(handle, &lists, &entries, true);
    if (!status) status = sparse_sort(handle, &lists, cols);
    SparsePermute permute = {device_address(csr_values), lists.order, device_address(csc_values),
                             nnz};
    if (!status) status = sparse_get_lines(handle, &lists, &entries, list_of(row_indices, base));
    if (!status && has_values)
        status = sparse_each(handle, "permute", sparse_type_name(type), nnz, &permute);
    return status ? status
                  : sparse_bounds(handle, sparse_plain_list(lists.keys), nnz,
                                  list_of(column_offsets, base), cols);
}

/* ---- Order of elements ---- */

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n,
                                                   int *permutation) {
    if (!handle || !sparse_is_size(n) || (!permutation && n)) return CUSPARSE_STATUS_INVALID_VALUE;
    SparseIdentity identity = {device_address(permutation), n};
    return sparse_each(handle, "identity", NULL, n, &identity);
}

cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int rows, int cols,
                                                int nnz, const int *row_indices, const int *columns,
                                                size_t *bytes) {
    (void)row_indices, (void)columns;
    if (!handle || !are_sizes(rows, cols, nnz, CUSPARSE_INDEX_BASE_ZERO) || !bytes)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = sparse_sort_bytes(nnz, 0);
    return CUSPARSE_STATUS_SUCCESS;
}

/* Writes items[order[k]] to items[k]. */
static cusparseStatus_t reorder(cusparseHandle_t handle, const SparseLists *lists, int *items) {
    SparsePermute permute = {device_address(items), lists->order, lists->spare_keys,
                             (int32_t)lists->count};
    size_t bytes = (size_t)lists->count * sizeof *items;
    cusparseStatus_t status = sparse_each(handle, "permute", "f32", lists->count, &permute);
    return status ? status
                  : sparse_status(cuMemcpyDtoDAsync(device_address(items), permute.out, bytes,
                                                    handle->device.stream));
}

/* Sorts by the minor index first. The base does not matter for the order: index 0 with base 1 does
 * not exist, so keys reach up to the size. */
static cusparseStatus_t sort_coo(cusparseHandle_t handle, int major_size, int minor_size, int nnz,
                                 int *major, int *minor, int *permutation, void *buffer) {
    if (!handle || !are_sizes(major_size, minor_size, nnz, CUSPARSE_INDEX_BASE_ZERO) ||
        (nnz && (!major || !minor || !buffer)))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (nnz == 0) return CUSPARSE_STATUS_SUCCESS;
    SparseEntries entries = {.major = list_of(major, CUSPARSE_INDEX_BASE_ZERO),
                             .minor = list_of(minor, CUSPARSE_INDEX_BASE_ZERO),
                             .count = nnz};
    SparseLists lists = sparse_lists(device_address(buffer), nnz);
    cusparseStatus_t status = sparse_set_keys(handle, &lists, &entries, true);
    if (!status) status = sparse_sort(handle, &lists, (int64_t)minor_size + 1);
    if (!status) status = sparse_set_keys(handle, &lists, &entries, false);
    if (!status) status = sparse_sort(handle, &lists, (int64_t)major_size + 1);
    if (!status) status = reorder(handle, &lists, major);
    if (!status) status = reorder(handle, &lists, minor);
    return status || !permutation ? status : reorder(handle, &lists, permutation);
}

cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int rows, int cols, int nnz,
                                       int *row_indices, int *columns, int *permutation,
                                       void *buffer) {
    return sort_coo(handle, rows, cols, nnz, row_indices, columns, permutation, buffer);
}

cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int rows, int cols, int nnz,
                                          int *row_indices, int *columns, int *permutation,
                                          void *buffer) {
    return sort_coo(handle, cols, rows, nnz, columns, row_indices, permutation, buffer);
}
