/* Number types, launches, and the rows of a matrix in any format. */
#include "library/sparse.h"

#include <string.h>

/* ---- Number types ---- */

static const struct {
    cudaDataType type, sum;
    uint32_t bytes;
    const char *name;
} types[] = {
    {CUDA_R_32F, CUDA_R_32F, 4, "f32"}, {CUDA_R_64F, CUDA_R_64F, 8, "f64"},
    {CUDA_C_32F, CUDA_C_32F, 8, "c32"}, {CUDA_C_64F, CUDA_C_64F, 16, "c64"},
    {CUDA_R_16F, CUDA_R_32F, 2, "f16"}, {CUDA_R_16BF, CUDA_R_32F, 2, "bf16"},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* The row of a type; TYPE_COUNT: not supported. */
static int row_of(cudaDataType type) {
    int row = 0;
    while (row < TYPE_COUNT && types[row].type != type)
        row++;
    return row;
}

const char *sparse_type_name(cudaDataType type) {
    int row = row_of(type);
    return row < TYPE_COUNT ? types[row].name : NULL;
}

size_t sparse_type_bytes(cudaDataType type) {
    int row = row_of(type);
    return row < TYPE_COUNT ? types[row].bytes : 0;
}

cudaDataType sparse_sum_type(cudaDataType type) {
    int row = row_of(type);
    return row < TYPE_COUNT ? types[row].sum : type;
}

const char *sparse_product_name(cudaDataType in, cudaDataType out, cudaDataType compute) {
    static const struct {
        cudaDataType in, out, sum;
        const char *name;
    } products[] = {
        {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, "f32"},
        {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, "f64"},
        {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, "c32"},
        {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, "c64"},
        {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, "f16_f16"},
        {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, "f16_f32"},
        {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, "bf16_bf16"},
        {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, "bf16_f32"},
    };
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        if (products[i].in == in && products[i].out == out && products[i].sum == compute)
            return products[i].name;
    return NULL;
}

SparseScalar sparse_scalar(cusparseHandle_t handle, const void *pointer, cudaDataType type) {
    float single[2] = {0};
    double number[2] = {0};
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
        return (SparseScalar){.pointer = device_address(pointer)};
    if (type == CUDA_R_64F || type == CUDA_C_64F) {
        memcpy(number, pointer, sparse_type_bytes(type));
    } else {
        memcpy(single, pointer, sparse_type_bytes(type));
        number[0] = (double)single[0];
        number[1] = (double)single[1];
    }
    return (SparseScalar){.value = number[0], .imaginary = number[1]};
}

/* ---- Launches ---- */

cusparseStatus_t sparse_status(CUresult result) {
    if (result == CUDA_SUCCESS) return CUSPARSE_STATUS_SUCCESS;
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CUSPARSE_STATUS_ALLOC_FAILED
                                              : CUSPARSE_STATUS_EXECUTION_FAILED;
}

cusparseStatus_t sparse_launch(cusparseHandle_t handle, const char *kernel, const char *type,
                               int64_t x, int64_t y, uint32_t block, void *parameters) {
    enum { MOST_IN_Y = 65535 }; /* kernels loop if blocks are too few */
    const uint32_t grid[3] = {(uint32_t)x, (uint32_t)(y < MOST_IN_Y ? y : MOST_IN_Y), 1};
    if (x == 0 || y == 0) return CUSPARSE_STATUS_SUCCESS;
    return sparse_status(device_launch(&handle->device, kernel, type, grid, block, parameters));
}

cusparseStatus_t sparse_each(cusparseHandle_t handle, const char *kernel, const char *type,
                             int64_t count, void *parameters) {
    return sparse_launch(handle, kernel, type, (count + 255) / 256, 1, 256, parameters);
}

/* ---- Descriptors for kernels ---- */

SparseIndices sparse_indices(const void *items, cusparseIndexType_t type,
                             cusparseIndexBase_t base) {
    return (SparseIndices){device_address(items), type == CUSPARSE_INDEX_64I, (int32_t)base};
}

SparseEntries sparse_entries(cusparseConstSpMatDescr_t a) {
    bool is_by_column = a->format == CUSPARSE_FORMAT_CSC;
    return (SparseEntries){
        .major = sparse_indices(a->major, a->index_type, a->base),
        .minor = sparse_indices(a->minor, a->index_type, a->base),
        .values = device_address(a->values),
        .count = (int32_t)a->count,
        .lines = (int32_t)(is_by_column ? a->columns : a->rows),
        .has_offsets = a->format != CUSPARSE_FORMAT_COO,
        .is_by_column = is_by_column,
    };
}

SparseDense sparse_dense_vector(cusparseConstDnVecDescr_t x) {
    return (SparseDense){.items = device_address(x->values), .row = 1};
}

SparseDense sparse_dense_matrix(cusparseConstDnMatDescr_t a, cusparseOperation_t op) {
    bool is_by_row = a->order == CUSPARSE_ORDER_ROW;
    bool is_transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
    return (SparseDense){
        .items = device_address(a->values),
        .row = is_by_row != is_transposed ? a->lead : 1,
        .column = is_by_row != is_transposed ? 1 : a->lead,
        .is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
    };
}

/* ---- Sums over lists, sorted lists ---- */

cusparseStatus_t sparse_scan(cusparseHandle_t handle, CUdeviceptr items, SparseIndices out,
                             int64_t count) {
    SparseScan scan = {.items = items, .out = out, .count = (int32_t)count};
    return sparse_launch(handle, "scan", NULL, 1, 1, 256, &scan);
}

cusparseStatus_t sparse_bounds(cusparseHandle_t handle, SparseIndices sorted, int64_t count,
                               SparseIndices out, int64_t lines) {
    SparseBounds bounds = {
        .sorted = sorted, .out = out, .count = (int32_t)count, .lines = (int32_t)lines};
    return sparse_each(handle, "bounds", NULL, lines + 1, &bounds);
}

static int64_t tiles_of(int64_t count) { return (count + SPARSE_TILE - 1) / SPARSE_TILE; }

SparseLists sparse_lists(CUdeviceptr buffer, int64_t count) {
    uint64_t bytes = (uint64_t)count * sizeof(int32_t);
    uint64_t digits = (uint64_t)SPARSE_DIGITS * (uint64_t)tiles_of(count) * sizeof(int32_t);
    return (SparseLists){
        .keys = buffer,
        .order = buffer + bytes,
        .spare_keys = buffer + 2 * bytes,
        .spare_order = buffer + 3 * bytes,
        .counts = buffer + 4 * bytes,
        .end = buffer + 4 * bytes + digits,
        .count = count,
    };
}

size_t sparse_sort_bytes(int64_t count, int64_t lines) {
    return (size_t)sparse_lists(0, count).end + ((size_t)lines + 1) * sizeof(int32_t);
}

cusparseStatus_t sparse_set_keys(cusparseHandle_t handle, SparseLists *lists,
                                 const SparseEntries *from, bool wants_minor) {
    SparsePick pick = {.from = *from,
                       .order = lists->has_order ? lists->order : 0,
                       .out = sparse_plain_list(lists->keys),
                       .wants_minor = wants_minor};
    return sparse_each(handle, "pick", NULL, lists->count, &pick);
}

/* With offsets, the rows are first found in memory order, where the searches of neighbouring
 * threads read the same offsets. */
cusparseStatus_t sparse_get_lines(cusparseHandle_t handle, const SparseLists *lists,
                                  const SparseEntries *from, SparseIndices out) {
    cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
    SparsePick pick = {.from = *from, .order = lists->order, .out = out};
    if (from->has_offsets) {
        SparsePick find = {.from = *from, .out = sparse_plain_list(lists->spare_order)};
        status = sparse_each(handle, "pick", NULL, lists->count, &find);
        pick.from = (SparseEntries){.major = find.out, .count = from->count};
    }
    return status ? status : sparse_each(handle, "pick", NULL, lists->count, &pick);
}

/* One pass, by one digit. */
static cusparseStatus_t sort_digit(cusparseHandle_t handle, const SparseLists *lists, int shift) {
    int64_t tiles = tiles_of(lists->count), counts = SPARSE_DIGITS * tiles;
    SparseSort sort = {
        .keys = lists->keys,
        .order = lists->has_order ? lists->order : 0,
        .keys_out = lists->spare_keys,
        .order_out = lists->spare_order,
        .counts = lists->counts,
        .count = (int32_t)lists->count,
        .tiles = (int32_t)tiles,
        .shift = shift,
    };
    cusparseStatus_t status = sparse_launch(handle, "sort_count", NULL, tiles, 1, 256, &sort);
    if (!status)
        status = sparse_scan(handle, lists->counts, sparse_plain_list(lists->counts), counts);
    return status ? status : sparse_launch(handle, "sort_move", NULL, tiles, 1, 256, &sort);
}

cusparseStatus_t sparse_sort(cusparseHandle_t handle, SparseLists *lists, int64_t limit) {
    enum { DIGIT_BITS = 8, KEY_BITS = 32 };
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        cusparseStatus_t status = sort_digit(handle, lists, shift);
        if (status) return status;
        const SparseLists before = *lists;
        lists->keys = before.spare_keys;
        lists->order = before.spare_order;
        lists->spare_keys = before.keys;
        lists->spare_order = before.order;
        lists->has_order = true;
        if ((limit - 1) >> shift < SPARSE_DIGITS) break;
    }
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- Rows of op(A) ---- */

/* Whether the format stores the elements of op(A) row by row, except COO without offsets. */
static bool is_in_order(cusparseConstSpMatDescr_t a, cusparseOperation_t op) {
    return (a->format == CUSPARSE_FORMAT_CSC) != (op == CUSPARSE_OPERATION_NON_TRANSPOSE);
}

static int64_t line_count(cusparseConstSpMatDescr_t a, cusparseOperation_t op) {
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? a->rows : a->columns;
}

size_t sparse_lines_bytes(cusparseConstSpMatDescr_t a, cusparseOperation_t op) {
    if (a->count == 0) return 0;
    if (!is_in_order(a, op)) return sparse_sort_bytes(a->count, line_count(a, op));
    return a->format == CUSPARSE_FORMAT_COO ? (size_t)(a->rows + 1) * sizeof(int32_t) : 0;
}

/* Sorts the elements of the matrix by column; by row if it is stored by column. The other index of
 * each then takes the place of the spare keys. */
static cusparseStatus_t sort_lines(cusparseHandle_t handle, const SparseEntries *entries,
                                   const void *buffer, SparseLines *lines) {
    SparseLists lists = sparse_lists(device_address(buffer), entries->count);
    cusparseStatus_t status = sparse_set_keys(handle, &lists, entries, true);
    if (!status) status = sparse_sort(handle, &lists, lines->count);
    lines->offsets = sparse_plain_list(lists.end);
    if (!status)
        status = sparse_bounds(handle, sparse_plain_list(lists.keys), lists.count, lines->offsets,
                               lines->count);
    lines->indices = sparse_plain_list(lists.spare_keys);
    lines->order = lists.order;
    return status ? status : sparse_get_lines(handle, &lists, entries, lines->indices);
}

cusparseStatus_t sparse_lines(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                              cusparseOperation_t op, const void *buffer, SparseLines *lines) {
    SparseEntries entries = sparse_entries(a);
    *lines = (SparseLines){
        .values = entries.values,
        .count = (int32_t)line_count(a, op),
        .is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
    };
    if (a->count == 0) return CUSPARSE_STATUS_SUCCESS;
    if (!buffer && sparse_lines_bytes(a, op) != 0) return CUSPARSE_STATUS_INVALID_VALUE;
    if (!is_in_order(a, op)) return sort_lines(handle, &entries, buffer, lines);
    lines->indices = entries.minor;
    lines->offsets =
        entries.has_offsets ? entries.major : sparse_plain_list(device_address(buffer));
    return entries.has_offsets
               ? CUSPARSE_STATUS_SUCCESS
               : sparse_bounds(handle, entries.major, a->count, lines->offsets, lines->count);
}
