/* Our cuSPARSE, compared with plain loops over dense matrices on the host. Numbers are small and
 * whole, so results must be exact, except where a test says otherwise. */
#include "tyto/cusparse.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

/* ---- Numbers ---- */

typedef struct Number {
    double x, y; /* real and imaginary part */
} Number;

static Number number(double x) { return (Number){x, 0}; }
static Number plus(Number a, Number b) { return (Number){a.x + b.x, a.y + b.y}; }
static Number times(Number a, Number b) {
    return (Number){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
static bool is_zero(Number a) { return a.x == 0 && a.y == 0; }

/* Types of the operands and of the result, and of factors. */
typedef struct Types {
    cudaDataType in, out, compute;
} Types;
static const Types all_types[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},   {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},   {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},   {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F}, {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
};
enum { TYPE_COUNT = sizeof all_types / sizeof all_types[0] };

static size_t bytes_of(cudaDataType type) {
    switch (type) {
    case CUDA_C_64F: return 16;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_R_32F: return 4;
    default: return 2;
    }
}
static bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

static void store(void *items, size_t i, cudaDataType type, Number value) {
    char *to = (char *)items + i * bytes_of(type);
    float single[2] = {(float)value.x, (float)value.y};
    _Float16 half = (_Float16)value.x;
    switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F: memcpy(to, &value, bytes_of(type)); break;
    case CUDA_R_16F: memcpy(to, &half, sizeof half); break;
    case CUDA_R_16BF: memcpy(to, (char *)single + 2, 2); break; /* exact for small whole numbers */
    default: memcpy(to, single, bytes_of(type)); break;
    }
}

static Number load(const void *items, size_t i, cudaDataType type) {
    const char *from = (const char *)items + i * bytes_of(type);
    float single[2] = {0};
    _Float16 half;
    Number value = {0};
    switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F: memcpy(&value, from, bytes_of(type)); return value;
    case CUDA_R_16F: memcpy(&half, from, sizeof half); return number((double)half);
    case CUDA_R_16BF: memcpy((char *)single + 2, from, 2); break;
    default: memcpy(single, from, bytes_of(type)); break;
    }
    return (Number){(double)single[0], (double)single[1]};
}

static uint32_t random_state = 1;
static uint32_t next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}
/* A whole number from -limit to limit, with an imaginary part if the type has one. */
static Number small_number(cudaDataType type, int limit) {
    int range = 2 * limit + 1;
    Number value = number((int)(next_random() % (unsigned)range) - limit);
    if (is_complex(type)) value.y = (int)(next_random() % (unsigned)range) - limit;
    return value;
}

/* ---- Device memory: each case frees all that it allocated ---- */

static CUdeviceptr allocations[4096];
static int allocation_count;

static void *device_alloc(size_t bytes) {
    CUdeviceptr address;
    assert_true(allocation_count < 4096);
    assert_int_equal(cuMemAlloc(&address, bytes ? bytes : 1), CUDA_SUCCESS);
    allocations[allocation_count++] = address;
    return (void *)(uintptr_t)address;
}

static void *upload(const void *data, size_t bytes) {
    void *copy = device_alloc(bytes);
    if (bytes)
        assert_int_equal(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)copy, data, bytes), CUDA_SUCCESS);
    return copy;
}

static void download(void *data, const void *items, size_t bytes) {
    if (bytes)
        assert_int_equal(cuMemcpyDtoH(data, (CUdeviceptr)(uintptr_t)items, bytes), CUDA_SUCCESS);
}

static void free_all(void) {
    while (allocation_count)
        assert_int_equal(cuMemFree(allocations[--allocation_count]), CUDA_SUCCESS);
}

static cusparseHandle_t handle;

static void check(cusparseStatus_t status) { assert_int_equal(status, CUSPARSE_STATUS_SUCCESS); }

/* A factor where the pointer mode of the handle says. */
static void *factor(Number value, cudaDataType type, bool is_on_device) {
    static char places[4][16];
    static int next;
    char *place = places[next++ % 4];
    store(place, 0, type, value);
    return is_on_device ? upload(place, bytes_of(type)) : place;
}

/* ---- Matrices: element (i, j) is items[i * columns + j] ---- */

typedef struct Matrix {
    int rows, columns;
    Number *items;
} Matrix;

static Number *at(Matrix m, int i, int j) {
    return &m.items[(size_t)i * (size_t)m.columns + (size_t)j];
}

static Matrix new_matrix(int rows, int columns) {
    size_t count = (size_t)rows * (size_t)columns;
    return (Matrix){rows, columns, calloc(count ? count : 1, sizeof(Number))};
}

/* About `percent` of the elements are not 0; each fifth row is empty. */
static Matrix random_matrix(int rows, int columns, cudaDataType type, unsigned percent) {
    Matrix m = new_matrix(rows, columns);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            if (percent < 100 && (i % 5 == 3 || next_random() % 100 >= percent)) continue;
            *at(m, i, j) = small_number(type, 3);
        }
    }
    return m;
}

/* Element (i, j) of op(M). */
static Number element(Matrix m, int i, int j, cusparseOperation_t op) {
    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return *at(m, i, j);
    Number value = *at(m, j, i);
    if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) value.y = -value.y;
    return value;
}
static int rows_of(Matrix m, cusparseOperation_t op) { return op ? m.columns : m.rows; }
static int columns_of(Matrix m, cusparseOperation_t op) { return op ? m.rows : m.columns; }

/* op(A) op(B) */
static Matrix product(Matrix a, cusparseOperation_t op_a, Matrix b, cusparseOperation_t op_b) {
    Matrix c = new_matrix(rows_of(a, op_a), columns_of(b, op_b));
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.columns; j++)
            for (int k = 0; k < columns_of(a, op_a); k++)
                *at(c, i, j) =
                    plus(*at(c, i, j), times(element(a, i, k, op_a), element(b, k, j, op_b)));
    return c;
}

/* alpha * P + beta * C */
static Number combine(Number alpha, Number p, Number beta, Number c) {
    Number scaled = times(alpha, p);
    return is_zero(beta) ? scaled : plus(scaled, times(beta, c));
}

/* ---- Sparse matrices on the device ---- */

typedef struct Layout {
    cusparseFormat_t format;
    cusparseIndexType_t index;
    cusparseIndexBase_t base;
} Layout;

static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC,
                                           CUSPARSE_FORMAT_COO};

/* Layout number i of 12. */
static Layout layout_of(int i) {
    return (Layout){formats[i % 3], i / 3 % 2 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                    i / 6 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO};
}

static size_t index_bytes(Layout l) { return l.index == CUSPARSE_INDEX_64I ? 8 : 4; }

static void store_index(Layout l, void *list, int64_t i, int64_t value) {
    value += l.base;
    if (l.index == CUSPARSE_INDEX_64I) ((int64_t *)list)[i] = value;
    else ((int32_t *)list)[i] = (int32_t)value;
}

static int64_t load_index(Layout l, const void *list, int64_t i) {
    return (l.index == CUSPARSE_INDEX_64I ? ((const int64_t *)list)[i]
                                          : ((const int32_t *)list)[i]) -
           l.base;
}

static cusparseStatus_t create(cusparseSpMatDescr_t *descr, Layout l, int rows, int columns,
                               int64_t count, void *major, void *minor, void *values,
                               cudaDataType type) {
    if (l.format == CUSPARSE_FORMAT_COO)
        return cusparseCreateCoo(descr, rows, columns, count, major, minor, values, l.index, l.base,
                                 type);
    return (l.format == CUSPARSE_FORMAT_CSR ? cusparseCreateCsr : cusparseCreateCsc)(
        descr, rows, columns, count, major, minor, values, l.index, l.index, l.base, type);
}

/* Uploads the elements that are not 0. With base 1, those of a row are stored from last to first,
 * which is allowed. */
static cusparseSpMatDescr_t sparse_of(Matrix m, Layout l, cudaDataType type) {
    bool is_by_column = l.format == CUSPARSE_FORMAT_CSC;
    int lines = is_by_column ? m.columns : m.rows, places = is_by_column ? m.rows : m.columns;
    size_t most = (size_t)lines * (size_t)places + (size_t)lines + 1;
    char *major = calloc(most, 8), *minor = calloc(most, 8), *values = calloc(most, 16);
    int64_t count = 0;
    for (int line = 0; line < lines; line++) {
        if (l.format != CUSPARSE_FORMAT_COO) store_index(l, major, line, count);
        for (int step = 0; step < places; step++) {
            int place = l.base ? places - 1 - step : step;
            Number value = is_by_column ? *at(m, place, line) : *at(m, line, place);
            if (is_zero(value)) continue;
            if (l.format == CUSPARSE_FORMAT_COO) store_index(l, major, count, line);
            store_index(l, minor, count, place);
            store(values, (size_t)count++, type, value);
        }
    }
    if (l.format != CUSPARSE_FORMAT_COO) store_index(l, major, lines, count);
    cusparseSpMatDescr_t descr;
    size_t major_items = l.format == CUSPARSE_FORMAT_COO ? (size_t)count : (size_t)lines + 1;
    check(create(&descr, l, m.rows, m.columns, count, upload(major, major_items * index_bytes(l)),
                 upload(minor, (size_t)count * index_bytes(l)),
                 upload(values, (size_t)count * bytes_of(type)), type));
    free(major);
    free(minor);
    free(values);
    return descr;
}

/* A dense matrix on the device, with 3 unused places between its lines. */
static cusparseDnMatDescr_t dense_of(Matrix m, cusparseOrder_t order, cudaDataType type) {
    int lead = (order == CUSPARSE_ORDER_COL ? m.rows : m.columns) + 3;
    int lines = order == CUSPARSE_ORDER_COL ? m.columns : m.rows;
    char *items = calloc((size_t)lead * (size_t)lines + 1, bytes_of(type));
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < m.columns; j++)
            store(items, (size_t)(order == CUSPARSE_ORDER_COL ? i + j * lead : i * lead + j), type,
                  *at(m, i, j));
    cusparseDnMatDescr_t descr;
    check(cusparseCreateDnMat(&descr, m.rows, m.columns, lead,
                              upload(items, (size_t)lead * (size_t)lines * bytes_of(type)), type,
                              order));
    free(items);
    return descr;
}

static Matrix read_dense(cusparseDnMatDescr_t descr) {
    int64_t rows, columns, lead;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    check(cusparseDnMatGet(descr, &rows, &columns, &lead, &values, &type, &order));
    bool is_by_column = order == CUSPARSE_ORDER_COL;
    size_t count = (size_t)(lead * (is_by_column ? columns : rows));
    char *items = malloc(count * bytes_of(type) + 1);
    Matrix m = new_matrix((int)rows, (int)columns);
    download(items, values, count * bytes_of(type));
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < m.columns; j++)
            *at(m, i, j) = load(items, (size_t)(is_by_column ? i + j * lead : i * lead + j), type);
    free(items);
    return m;
}

static cusparseDnVecDescr_t vector_of(const Number *items, int count, cudaDataType type) {
    char *copy = calloc((size_t)count + 1, 16);
    for (int i = 0; i < count; i++)
        store(copy, (size_t)i, type, items[i]);
    cusparseDnVecDescr_t descr;
    check(cusparseCreateDnVec(&descr, count, upload(copy, (size_t)count * bytes_of(type)), type));
    free(copy);
    return descr;
}

static void read_vector(cusparseDnVecDescr_t descr, Number *items) {
    int64_t count;
    void *values;
    cudaDataType type;
    check(cusparseDnVecGet(descr, &count, &values, &type));
    char *copy = malloc((size_t)count * bytes_of(type) + 1);
    download(copy, values, (size_t)count * bytes_of(type));
    for (int64_t i = 0; i < count; i++)
        items[i] = load(copy, (size_t)i, type);
    free(copy);
}

static void assert_number(Number got, Number expected) {
    if (got.x == expected.x && got.y == expected.y) return;
    fail_msg("%g%+gi instead of %g%+gi", got.x, got.y, expected.x, expected.y);
}

static void assert_matrix(Matrix got, Matrix expected) {
    assert_int_equal(got.rows, expected.rows);
    assert_int_equal(got.columns, expected.columns);
    for (int i = 0; i < got.rows; i++)
        for (int j = 0; j < got.columns; j++)
            assert_number(*at(got, i, j), *at(expected, i, j));
}

/* ---- Products ---- */

static void multiply_vector(cusparseOperation_t op, const void *alpha, cusparseSpMatDescr_t a,
                            cusparseDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y,
                            cudaDataType compute) {
    size_t bytes;
    check(cusparseSpMV_bufferSize(handle, op, alpha, a, x, beta, y, compute,
                                  CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    void *buffer = device_alloc(bytes);
    check(cusparseSpMV_preprocess(handle, op, alpha, a, x, beta, y, compute,
                                  CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    check(
        cusparseSpMV(handle, op, alpha, a, x, beta, y, compute, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
}

/* y = alpha * op(A) x + beta * y. If beta is 0, y starts as NaN and must not be read. */
static void try_vector(Types t, Layout l, cusparseOperation_t op, int rows, int columns,
                       unsigned percent, bool is_on_device) {
    Matrix a = random_matrix(rows, columns, t.in, percent);
    Matrix x = random_matrix(columns_of(a, op), 1, t.in, 100);
    Matrix y = random_matrix(rows_of(a, op), 1, t.out, 100);
    Matrix p = product(a, op, x, CUSPARSE_OPERATION_NON_TRANSPOSE);
    Number alpha = small_number(t.compute, 2), beta = small_number(t.compute, 1);
    for (int i = 0; is_zero(beta) && i < y.rows; i++)
        y.items[i].x = (double)NAN;
    check(cusparseSetPointerMode(handle, is_on_device ? CUSPARSE_POINTER_MODE_DEVICE
                                                      : CUSPARSE_POINTER_MODE_HOST));
    cusparseSpMatDescr_t a_there = sparse_of(a, l, t.in);
    cusparseDnVecDescr_t x_there = vector_of(x.items, x.rows, t.in);
    cusparseDnVecDescr_t y_there = vector_of(y.items, y.rows, t.out);
    multiply_vector(op, factor(alpha, t.compute, is_on_device), a_there, x_there,
                    factor(beta, t.compute, is_on_device), y_there, t.compute);
    Matrix got = new_matrix(y.rows, 1);
    read_vector(y_there, got.items);
    for (int i = 0; i < y.rows; i++)
        assert_number(got.items[i], combine(alpha, p.items[i], beta, y.items[i]));
    check(cusparseDestroySpMat(a_there));
    check(cusparseDestroyDnVec(x_there));
    check(cusparseDestroyDnVec(y_there));
    free(a.items);
    free(x.items);
    free(y.items);
    free(p.items);
    free(got.items);
    free_all();
}

static void vectors_are_multiplied_in_all_types_and_layouts(void **state) {
    (void)state;
    for (int t = 0; t < TYPE_COUNT; t++)
        for (int l = 0; l < 12; l++)
            for (int op = 0; op < 3; op++)
                try_vector(all_types[t], layout_of(l), (cusparseOperation_t)op, 23, 17, 30,
                           (t + l + op) % 2 == 0);
}

/* Rows of all lengths: a thread to a whole warp for each row. */
static void vectors_are_multiplied_with_rows_of_all_lengths(void **state) {
    (void)state;
    static const int shapes[][3] = {{300, 5, 20}, {70, 90, 5},    {9, 200, 95},
                                    {1, 1, 100},  {257, 33, 100}, {3, 700, 100}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int l = 0; l < 3; l++)
            for (int op = 0; op < 2; op++)
                try_vector(all_types[1], layout_of(l), (cusparseOperation_t)op, shapes[i][0],
                           shapes[i][1], (unsigned)shapes[i][2], false);
}

typedef struct MatrixCase {
    Types types;
    Layout layout;
    cusparseOperation_t op_a, op_b;
    cusparseOrder_t order_b, order_c;
    int columns;
} MatrixCase;

static void multiply_matrix(MatrixCase m, const void *alpha, cusparseSpMatDescr_t a,
                            cusparseDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c) {
    size_t bytes;
    check(cusparseSpMM_bufferSize(handle, m.op_a, m.op_b, alpha, a, b, beta, c, m.types.compute,
                                  CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    void *buffer = device_alloc(bytes);
    check(cusparseSpMM_preprocess(handle, m.op_a, m.op_b, alpha, a, b, beta, c, m.types.compute,
                                  CUSPARSE_SPMM_ALG_DEFAULT, buffer));
    check(cusparseSpMM(handle, m.op_a, m.op_b, alpha, a, b, beta, c, m.types.compute,
                       CUSPARSE_SPMM_ALG_DEFAULT, buffer));
}

static void try_matrix(MatrixCase m, int rows, int columns) {
    Matrix a = random_matrix(rows, columns, m.types.in, 25);
    int depth = columns_of(a, m.op_a);
    Matrix b = m.op_b ? random_matrix(m.columns, depth, m.types.in, 100)
                      : random_matrix(depth, m.columns, m.types.in, 100);
    Matrix c = random_matrix(rows_of(a, m.op_a), m.columns, m.types.out, 100);
    Matrix p = product(a, m.op_a, b, m.op_b);
    Number alpha = small_number(m.types.compute, 2), beta = small_number(m.types.compute, 1);
    cusparseSpMatDescr_t a_there = sparse_of(a, m.layout, m.types.in);
    cusparseDnMatDescr_t b_there = dense_of(b, m.order_b, m.types.in);
    cusparseDnMatDescr_t c_there = dense_of(c, m.order_c, m.types.out);
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    multiply_matrix(m, factor(alpha, m.types.compute, false), a_there, b_there,
                    factor(beta, m.types.compute, false), c_there);
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.columns; j++)
            *at(c, i, j) = combine(alpha, *at(p, i, j), beta, *at(c, i, j));
    Matrix got = read_dense(c_there);
    assert_matrix(got, c);
    check(cusparseDestroySpMat(a_there));
    check(cusparseDestroyDnMat(b_there));
    check(cusparseDestroyDnMat(c_there));
    free(a.items);
    free(b.items);
    free(c.items);
    free(p.items);
    free(got.items);
    free_all();
}

static void matrices_are_multiplied_in_all_types_and_orders(void **state) {
    (void)state;
    static const int columns[] = {1, 5, 40};
    for (int t = 0; t < TYPE_COUNT; t++)
        for (int i = 0; i < 36; i++)
            try_matrix((MatrixCase){all_types[t], layout_of((i + t) % 12),
                                    (cusparseOperation_t)(i / 12), (cusparseOperation_t)(i % 3),
                                    i % 2 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL,
                                    i / 2 % 2 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL,
                                    columns[(i + i / 3) % 3]},
                       19, 11);
}

/* Three matrices C and B, and as many of A or one for all. */
static void batches_are_multiplied(void **state) {
    (void)state;
    enum { ROWS = 7, COLUMNS = 6, COUNT = 3, ELEMENTS = 9, BYTES = 4 };
    static const int32_t offsets[ROWS + 1] = {0, 2, 2, 3, 6, 7, 9, 9};
    static const int32_t indices[ELEMENTS] = {0, 5, 3, 1, 2, 4, 0, 2, 5};
    float values[COUNT * ELEMENTS], b[COUNT * COLUMNS * 2], c[COUNT * ROWS * 2], one = 1, zero = 0;
    for (int i = 0; i < COUNT * ELEMENTS; i++)
        values[i] = (float)(i + 1);
    for (int i = 0; i < COUNT * COLUMNS * 2; i++)
        b[i] = (float)(i % 7 - 3);
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        cusparseSpMatDescr_t a_there;
        cusparseDnMatDescr_t b_there, c_there;
        check(cusparseCreateCsr(&a_there, ROWS, COLUMNS, ELEMENTS, upload(offsets, sizeof offsets),
                                upload(indices, sizeof indices), upload(values, sizeof values),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                CUDA_R_32F));
        check(cusparseCreateDnMat(&b_there, COLUMNS, 2, COLUMNS, upload(b, sizeof b), CUDA_R_32F,
                                  CUSPARSE_ORDER_COL));
        check(cusparseCreateDnMat(&c_there, ROWS, 2, ROWS, device_alloc(sizeof c), CUDA_R_32F,
                                  CUSPARSE_ORDER_COL));
        check(cusparseDnMatSetStridedBatch(b_there, COUNT, COLUMNS * 2));
        check(cusparseDnMatSetStridedBatch(c_there, COUNT, ROWS * 2));
        if (!is_shared) { /* offsets are shared; columns are not, as they have the values' stride */
            int32_t repeated[COUNT * ELEMENTS];
            for (int i = 0; i < COUNT * ELEMENTS; i++)
                repeated[i] = indices[i % ELEMENTS];
            check(cusparseCsrSetPointers(a_there, upload(offsets, sizeof offsets),
                                         upload(repeated, sizeof repeated),
                                         upload(values, sizeof values)));
            check(cusparseCsrSetStridedBatch(a_there, COUNT, 0, ELEMENTS));
        }
        MatrixCase m = {.types = all_types[0]};
        multiply_matrix(m, &one, a_there, b_there, &zero, c_there);
        void *items;
        check(cusparseDnMatGetValues(c_there, &items));
        download(c, items, sizeof c);
        for (int r = 0; r < COUNT; r++)
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < 2; j++) {
                    float sum = 0;
                    for (int k = offsets[i]; k < offsets[i + 1]; k++)
                        sum += values[(is_shared ? 0 : r * ELEMENTS) + k] *
                               b[r * COLUMNS * 2 + j * COLUMNS + indices[k]];
                    assert_true(c[r * ROWS * 2 + j * ROWS + i] == sum);
                }
        check(cusparseDnMatSetStridedBatch(b_there, COUNT - 1, COLUMNS * 2));
        size_t bytes;
        assert_int_equal(cusparseSpMM_bufferSize(handle, m.op_a, m.op_b, &one, a_there, b_there,
                                                 &zero, c_there, CUDA_R_32F,
                                                 CUSPARSE_SPMM_ALG_DEFAULT, &bytes),
                         CUSPARSE_STATUS_INVALID_VALUE);
        check(cusparseDestroySpMat(a_there));
        check(cusparseDestroyDnMat(b_there));
        check(cusparseDestroyDnMat(c_there));
        free_all();
    }
}

/* Sums of fractions: each term may be rounded once, and each sum once for each of its terms. */
static void sums_of_fractions_are_within_their_bound(void **state) {
    (void)state;
    enum { ROWS = 40, COLUMNS = 300 };
    static const struct {
        Types types;
        double unit; /* half the distance of 1 and the next number */
    } rows[] = {{{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F}, 0x1p-24},
                {{CUDA_R_64F, CUDA_R_64F, CUDA_R_64F}, 0x1p-53}};
    for (int r = 0; r < 2; r++) {
        cudaDataType type = rows[r].types.in;
        for (int op = 0; op < 2; op++) {
            Matrix a = random_matrix(ROWS, COLUMNS, type, 60);
            for (int i = 0; i < ROWS * COLUMNS; i++)
                if (a.items[i].x != 0) a.items[i].x = (double)((float)next_random() * 0x1.1p-24f);
            Matrix x = new_matrix(columns_of(a, (cusparseOperation_t)op), 1);
            for (int i = 0; i < x.rows; i++)
                x.items[i].x = (double)((float)next_random() * 0x1.3p-24f - 0.5f);
            Matrix y = new_matrix(rows_of(a, (cusparseOperation_t)op), 1);
            cusparseSpMatDescr_t a_there = sparse_of(a, layout_of(0), type);
            cusparseDnVecDescr_t x_there = vector_of(x.items, x.rows, type);
            cusparseDnVecDescr_t y_there = vector_of(y.items, y.rows, type);
            multiply_vector((cusparseOperation_t)op, factor(number(1), type, false), a_there,
                            x_there, factor(number(0), type, false), y_there, type);
            read_vector(y_there, y.items);
            for (int i = 0; i < y.rows; i++) {
                long double sum = 0, size = 0;
                for (int k = 0; k < x.rows; k++) {
                    long double term = (long double)element(a, i, k, (cusparseOperation_t)op).x *
                                       (long double)x.items[k].x;
                    sum += term;
                    size += fabsl(term);
                }
                assert_true(fabsl((long double)y.items[i].x - sum) <=
                            (long double)(x.rows + 2) * (long double)rows[r].unit * size);
            }
            check(cusparseDestroySpMat(a_there));
            check(cusparseDestroyDnVec(x_there));
            check(cusparseDestroyDnVec(y_there));
            free(a.items);
            free(x.items);
            free(y.items);
            free_all();
        }
    }
}

/* ---- Products at the elements of a matrix ---- */

static void try_sample(Types t, Layout l, cusparseOperation_t op_a, cusparseOperation_t op_b) {
    enum { ROWS = 14, COLUMNS = 21, DEPTH = 5 };
    Matrix c = random_matrix(ROWS, COLUMNS, t.out, 35);
    Matrix a = op_a ? random_matrix(DEPTH, ROWS, t.in, 100) : random_matrix(ROWS, DEPTH, t.in, 100);
    Matrix b =
        op_b ? random_matrix(COLUMNS, DEPTH, t.in, 100) : random_matrix(DEPTH, COLUMNS, t.in, 100);
    Matrix p = product(a, op_a, b, op_b);
    Number alpha = small_number(t.compute, 2), beta = small_number(t.compute, 1);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        if (!is_zero(c.items[i])) p.items[i] = combine(alpha, p.items[i], beta, c.items[i]);
        else p.items[i] = number(0);
    cusparseSpMatDescr_t c_there = sparse_of(c, l, t.out);
    cusparseDnMatDescr_t a_there = dense_of(a, CUSPARSE_ORDER_ROW, t.in);
    cusparseDnMatDescr_t b_there = dense_of(b, CUSPARSE_ORDER_COL, t.in);
    cusparseDnMatDescr_t dense = dense_of(c, CUSPARSE_ORDER_ROW, t.out);
    void *alpha_there = factor(alpha, t.compute, false),
         *beta_there = factor(beta, t.compute, false);
    size_t bytes;
    check(cusparseSDDMM_bufferSize(handle, op_a, op_b, alpha_there, a_there, b_there, beta_there,
                                   c_there, t.compute, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    check(cusparseSDDMM_preprocess(handle, op_a, op_b, alpha_there, a_there, b_there, beta_there,
                                   c_there, t.compute, CUSPARSE_SDDMM_ALG_DEFAULT, NULL));
    check(cusparseSDDMM(handle, op_a, op_b, alpha_there, a_there, b_there, beta_there, c_there,
                        t.compute, CUSPARSE_SDDMM_ALG_DEFAULT, NULL));
    check(cusparseSparseToDense(handle, c_there, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, NULL));
    Matrix got = read_dense(dense);
    assert_matrix(got, p);
    check(cusparseDestroySpMat(c_there));
    check(cusparseDestroyDnMat(a_there));
    check(cusparseDestroyDnMat(b_there));
    check(cusparseDestroyDnMat(dense));
    free(a.items);
    free(b.items);
    free(c.items);
    free(p.items);
    free(got.items);
    free_all();
}

static void products_are_sampled_at_the_elements(void **state) {
    (void)state;
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (int t = 0; t < TYPE_COUNT; t++)
        for (int i = 0; i < 9; i++)
            try_sample(all_types[t], layout_of((i + t) % 12), (cusparseOperation_t)(i / 3),
                       (cusparseOperation_t)(i % 3));
}

/* ---- Products of two sparse matrices ---- */

/* C starts as the pattern of the product, with numbers of its own, if beta is not 0. */
static void try_sparse_product(cudaDataType type, Layout l, const int sizes[3], unsigned percent,
                               double beta_value) {
    const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseSpGEMMAlg_t algorithm = CUSPARSE_SPGEMM_DEFAULT;
    Matrix a = random_matrix(sizes[0], sizes[1], type, percent);
    Matrix b = random_matrix(sizes[1], sizes[2], type, percent);
    Matrix p = product(a, as_is, b, as_is), c = new_matrix(sizes[0], sizes[2]);
    cusparseSpMatDescr_t a_there = sparse_of(a, l, type), b_there = sparse_of(b, l, type), c_there;
    void *alpha = factor(number(3), type, false), *beta = factor(number(beta_value), type, false);
    cusparseSpGEMMDescr_t descr;
    size_t bytes;
    int64_t terms, expected_terms = 0, rows, columns, count, expected_count = 0;
    for (int i = 0; i < a.rows; i++)
        for (int j = 0; j < b.columns; j++) {
            int64_t found = 0;
            for (int k = 0; k < a.columns; k++)
                found += !is_zero(*at(a, i, k)) && !is_zero(*at(b, k, j));
            expected_terms += found;
            expected_count += found > 0;
            *at(c, i, j) = found ? times(number(3), *at(p, i, j)) : number(0);
            if (found) *at(c, i, j) = plus(*at(c, i, j), number(5 * beta_value));
        }
    check(create(&c_there, l, a.rows, b.columns, 0, NULL, NULL, NULL, type));
    check(cusparseSpGEMM_createDescr(&descr));
    assert_int_equal(cusparseSpGEMM_compute(handle, as_is, as_is, alpha, a_there, b_there, beta,
                                            c_there, type, algorithm, descr, &bytes, NULL),
                     CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseSpGEMM_workEstimation(handle, as_is, as_is, alpha, a_there, b_there, beta,
                                        c_there, type, algorithm, descr, &bytes, NULL));
    check(cusparseSpGEMM_workEstimation(handle, as_is, as_is, alpha, a_there, b_there, beta,
                                        c_there, type, algorithm, descr, &bytes,
                                        device_alloc(bytes)));
    check(cusparseSpGEMM_getNumProducts(descr, &terms));
    assert_int_equal(terms, expected_terms);
    check(cusparseSpGEMM_compute(handle, as_is, as_is, alpha, a_there, b_there, beta, c_there, type,
                                 algorithm, descr, &bytes, NULL));
    check(cusparseSpGEMM_compute(handle, as_is, as_is, alpha, a_there, b_there, beta, c_there, type,
                                 algorithm, descr, &bytes, device_alloc(bytes)));
    check(cusparseSpMatGetSize(c_there, &rows, &columns, &count));
    assert_int_equal(count, expected_count);
    char *values = calloc((size_t)count + 1, 16);
    for (int64_t k = 0; k < count; k++)
        store(values, (size_t)k, type, number(5));
    check(cusparseCsrSetPointers(c_there, device_alloc(((size_t)rows + 1) * 8),
                                 device_alloc((size_t)count * 8),
                                 upload(values, (size_t)count * bytes_of(type))));
    check(cusparseSpGEMM_copy(handle, as_is, as_is, alpha, a_there, b_there, beta, c_there, type,
                              algorithm, descr));
    cusparseDnMatDescr_t dense = dense_of(p, CUSPARSE_ORDER_ROW, type);
    check(cusparseSparseToDense(handle, c_there, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, NULL));
    Matrix got = read_dense(dense);
    assert_matrix(got, c);
    check(cusparseSpGEMM_destroyDescr(descr));
    check(cusparseDestroySpMat(a_there));
    check(cusparseDestroySpMat(b_there));
    check(cusparseDestroySpMat(c_there));
    check(cusparseDestroyDnMat(dense));
    free(values);
    free(a.items);
    free(b.items);
    free(c.items);
    free(p.items);
    free(got.items);
    free_all();
}

static void sparse_matrices_are_multiplied(void **state) {
    (void)state;
    static const int sizes[][3] = {{19, 23, 14}, {60, 70, 300}, {1, 40, 1}, {5, 5, 5}};
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 4; i++)
            for (int l = 0; l < 12; l += 3) /* CSR */
                try_sparse_product(all_types[t].in, layout_of(l), sizes[i], i == 3 ? 0 : 25,
                                   (t + l / 3) % 2 ? 2 : 0);
}

/* ---- Triangular systems ---- */

/* The unknowns are chosen first, and the right side computed from them. Diagonals are powers of
 * two, so that the quotients are exact. */
static void try_solve(cudaDataType type, Layout l, cusparseOperation_t op, bool is_upper,
                      bool has_unit) {
    enum { ORDER = 41 };
    Matrix a = random_matrix(ORDER, ORDER, type, 10), triangle = new_matrix(ORDER, ORDER);
    for (int i = 0; i < ORDER; i++) {
        *at(a, i, i) = number(1 << i % 3);
        for (int j = 0; j < ORDER; j++)
            if (is_upper ? j > i : j < i) *at(triangle, i, j) = *at(a, i, j);
        *at(triangle, i, i) = has_unit ? number(1) : *at(a, i, i);
    }
    Matrix y = random_matrix(ORDER, 1, type, 100);
    Matrix x = product(triangle, op, y, CUSPARSE_OPERATION_NON_TRANSPOSE);
    cusparseSpMatDescr_t a_there = sparse_of(a, l, type);
    cusparseDnVecDescr_t x_there = vector_of(x.items, ORDER, type);
    cusparseDnVecDescr_t y_there = vector_of(x.items, ORDER, type);
    cusparseFillMode_t fill = is_upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = has_unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparseSpMatSetAttribute(a_there, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparseSpMatSetAttribute(a_there, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    cusparseSpSVDescr_t descr;
    void *two = factor(number(2), type, false);
    size_t bytes;
    check(cusparseSpSV_createDescr(&descr));
    assert_int_equal(cusparseSpSV_solve(handle, op, two, a_there, x_there, y_there, type,
                                        CUSPARSE_SPSV_ALG_DEFAULT, descr),
                     CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseSpSV_bufferSize(handle, op, two, a_there, x_there, y_there, type,
                                  CUSPARSE_SPSV_ALG_DEFAULT, descr, &bytes));
    check(cusparseSpSV_analysis(handle, op, two, a_there, x_there, y_there, type,
                                CUSPARSE_SPSV_ALG_DEFAULT, descr, device_alloc(bytes)));
    check(cusparseSpSV_solve(handle, op, two, a_there, x_there, y_there, type,
                             CUSPARSE_SPSV_ALG_DEFAULT, descr));
    Number got[ORDER];
    read_vector(y_there, got);
    for (int i = 0; i < ORDER; i++)
        assert_number(got[i], times(number(2), y.items[i]));
    check(cusparseSpSV_destroyDescr(descr));
    check(cusparseDestroySpMat(a_there));
    check(cusparseDestroyDnVec(x_there));
    check(cusparseDestroyDnVec(y_there));
    free(a.items);
    free(triangle.items);
    free(x.items);
    free(y.items);
    free_all();
}

static void triangular_systems_are_solved(void **state) {
    (void)state;
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 12; i++)
            try_solve(all_types[t].in, layout_of((i + t) % 12), (cusparseOperation_t)(i % 3),
                      i / 3 % 2 != 0, i / 6 != 0);
}

/* ---- Sparse vectors ---- */

static void try_sparse_vector(Types t, bool is_wide, int base, bool is_on_device) {
    enum { SIZE = 700, COUNT = 300 };
    Layout l = {CUSPARSE_FORMAT_COO, is_wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                (cusparseIndexBase_t)base};
    Number x[COUNT], y[SIZE], got[SIZE], dot = {0}, conjugated_dot = {0};
    int64_t indices[COUNT];
    char values[COUNT * 16], result[16];
    Number alpha = small_number(t.compute, 2), beta = small_number(t.compute, 1);
    for (int i = 0; i < SIZE; i++)
        y[i] = small_number(t.in, 1);
    for (int k = 0; k < COUNT; k++) {
        int i = k * 7 % SIZE + (k >= 100) + (k >= 200); /* each index once */
        x[k] = small_number(t.in, 1);
        store(values, (size_t)k, t.in, x[k]);
        store_index(l, indices, k, i);
        dot = plus(dot, times(x[k], y[i]));
        conjugated_dot = plus(conjugated_dot, times((Number){x[k].x, -x[k].y}, y[i]));
    }
    cusparseSpVecDescr_t x_there;
    cusparseDnVecDescr_t y_there = vector_of(y, SIZE, t.in);
    check(cusparseCreateSpVec(&x_there, SIZE, COUNT, upload(indices, sizeof indices),
                              upload(values, COUNT * bytes_of(t.in)), l.index, l.base, t.in));
    check(cusparseSetPointerMode(handle, is_on_device ? CUSPARSE_POINTER_MODE_DEVICE
                                                      : CUSPARSE_POINTER_MODE_HOST));
    for (int op = 0; op < 3; op += 2) {
        void *to = is_on_device ? device_alloc(16) : result;
        size_t bytes;
        check(cusparseSpVV_bufferSize(handle, (cusparseOperation_t)op, x_there, y_there, to,
                                      t.compute, &bytes));
        check(cusparseSpVV(handle, (cusparseOperation_t)op, x_there, y_there, to, t.compute,
                           device_alloc(bytes)));
        if (is_on_device) download(result, to, bytes_of(t.compute));
        assert_number(load(result, 0, t.compute), op ? conjugated_dot : dot);
    }
    check(cusparseAxpby(handle, factor(alpha, t.compute, is_on_device), x_there,
                        factor(beta, t.compute, is_on_device), y_there));
    for (int i = 0; i < SIZE; i++)
        y[i] = times(beta, y[i]);
    for (int k = 0; k < COUNT; k++) {
        int64_t i = load_index(l, indices, k);
        y[i] = plus(y[i], times(alpha, x[k]));
    }
    read_vector(y_there, got);
    for (int i = 0; i < SIZE; i++)
        assert_number(got[i], y[i]);
    check(cusparseGather(handle, y_there, x_there));
    void *there;
    check(cusparseSpVecGetValues(x_there, &there));
    download(values, there, COUNT * bytes_of(t.in));
    for (int k = 0; k < COUNT; k++)
        assert_number(load(values, (size_t)k, t.in), y[load_index(l, indices, k)]);
    cusparseDnVecDescr_t zeros = vector_of((Number[SIZE]){0}, SIZE, t.in);
    check(cusparseScatter(handle, x_there, zeros));
    read_vector(zeros, got);
    for (int k = 0; k < COUNT; k++) {
        int64_t i = load_index(l, indices, k);
        assert_number(got[i], y[i]);
        got[i] = number(0);
    }
    for (int i = 0; i < SIZE; i++)
        assert_number(got[i], number(0));
    check(cusparseDestroySpVec(x_there));
    check(cusparseDestroyDnVec(y_there));
    check(cusparseDestroyDnVec(zeros));
    free_all();
}

static void sparse_vectors_meet_dense_ones(void **state) {
    (void)state;
    for (int t = 0; t < TYPE_COUNT; t++)
        for (int i = 0; i < 4; i++)
            try_sparse_vector(all_types[t], i % 2 != 0, i / 2, (t + i) % 2 != 0);
}

/* ---- Conversions ---- */

/* Dense to sparse, and back. */
static void try_round_trip(cudaDataType type, Layout l, cusparseOrder_t order) {
    enum { ROWS = 37, COLUMNS = 70 };
    Matrix m = random_matrix(ROWS, COLUMNS, type, 20);
    cusparseDnMatDescr_t dense = dense_of(m, order, type);
    Matrix other = random_matrix(ROWS, COLUMNS, type, 100);
    cusparseDnMatDescr_t back = dense_of(
        other, order == CUSPARSE_ORDER_COL ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL, type);
    cusparseSpMatDescr_t sparse;
    size_t bytes;
    int64_t rows, columns, count, expected = 0;
    void *major = device_alloc((COLUMNS + 1) * 8);
    check(create(&sparse, l, ROWS, COLUMNS, 0, major, NULL, NULL, type));
    check(cusparseDenseToSparse_bufferSize(handle, dense, sparse,
                                           CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    void *buffer = device_alloc(bytes);
    check(cusparseDenseToSparse_analysis(handle, dense, sparse, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                         buffer));
    check(cusparseSpMatGetSize(sparse, &rows, &columns, &count));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        expected += !is_zero(m.items[i]);
    assert_int_equal(count, expected);
    void *minor = device_alloc((size_t)count * 8),
         *values = device_alloc((size_t)count * bytes_of(type));
    if (l.format == CUSPARSE_FORMAT_COO)
        check(cusparseCooSetPointers(sparse, device_alloc((size_t)count * 8), minor, values));
    else
        check((l.format == CUSPARSE_FORMAT_CSR ? cusparseCsrSetPointers : cusparseCscSetPointers)(
            sparse, major, minor, values));
    check(cusparseDenseToSparse_convert(handle, dense, sparse, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                        buffer));
    check(cusparseSparseToDense_bufferSize(handle, sparse, back, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
                                           &bytes));
    check(cusparseSparseToDense(handle, sparse, back, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, NULL));
    Matrix got = read_dense(back);
    assert_matrix(got, m);
    char *list = malloc((size_t)count * 8);
    download(list, minor, (size_t)count * index_bytes(l));
    bool is_by_column = l.format == CUSPARSE_FORMAT_CSC;
    int64_t k = 0;
    for (int line = 0; line < (is_by_column ? COLUMNS : ROWS); line++)
        for (int place = 0; place < (is_by_column ? ROWS : COLUMNS); place++)
            if (!is_zero(is_by_column ? *at(m, place, line) : *at(m, line, place)))
                assert_int_equal(load_index(l, list, k++), place);
    free(list);
    check(cusparseDestroySpMat(sparse));
    check(cusparseDestroyDnMat(dense));
    check(cusparseDestroyDnMat(back));
    free(m.items);
    free(other.items);
    free(got.items);
    free_all();
}

static void dense_matrices_become_sparse_and_dense_again(void **state) {
    (void)state;
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
                                         CUDA_C_64F, CUDA_R_16F, CUDA_R_16BF};
    for (int t = 0; t < 6; t++)
        for (int l = 0; l < 12; l++)
            try_round_trip(types[t], layout_of(l),
                           (l + t) % 2 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
}

/* The elements of a large matrix, with a column index of up to three digits. */
typedef struct Csr {
    int rows, columns, count;
    int *offsets, *indices;
    float *values;
} Csr;

static Csr random_csr(int rows, int columns, int most, int base) {
    Csr m = {.rows = rows, .columns = columns};
    m.offsets = calloc((size_t)rows + 1, sizeof *m.offsets);
    m.indices = calloc((size_t)(rows * most), sizeof *m.indices);
    m.values = calloc((size_t)(rows * most), sizeof *m.values);
    for (int i = 0; i < rows; i++) {
        m.offsets[i] = m.count + base;
        int length = (int)(next_random() % (unsigned)(most + 1));
        if (length > columns) length = columns;
        int column = 0, step = columns / (length ? length : 1);
        for (int k = 0; k < length; k++, column += step) {
            m.indices[m.count] = column + (int)(next_random() % (unsigned)step) + base;
            m.values[m.count++] = (float)((int)(next_random() % 9) - 4);
        }
    }
    m.offsets[rows] = m.count + base;
    return m;
}

static void free_csr(Csr m) {
    free(m.offsets);
    free(m.indices);
    free(m.values);
}

static void try_transposition(int rows, int columns, int most, int base, bool has_values) {
    Csr m = random_csr(rows, columns, most, base), t = {.rows = columns};
    size_t list = (size_t)m.count * 4, ends = ((size_t)columns + 1) * 4, bytes;
    t.offsets = calloc((size_t)columns + 2, 4);
    t.indices = calloc((size_t)m.count + 1, 4);
    t.values = calloc((size_t)m.count + 1, 4);
    for (int k = 0; k < m.count; k++)
        t.offsets[m.indices[k] - base + 1]++;
    for (int j = 0; j < columns; j++)
        t.offsets[j + 1] += t.offsets[j];
    int *next = malloc(ends);
    memcpy(next, t.offsets, ends);
    for (int i = 0; i < rows; i++)
        for (int k = m.offsets[i] - base; k < m.offsets[i + 1] - base; k++) {
            int place = next[m.indices[k] - base]++;
            t.indices[place] = i + base;
            t.values[place] = has_values ? m.values[k] : 0;
        }
    for (int j = 0; j <= columns; j++)
        t.offsets[j] += base;
    float *zeros = calloc((size_t)m.count + 1, sizeof *zeros);
    void *values = upload(m.values, list), *indices = upload(m.indices, list);
    void *offsets = upload(m.offsets, ((size_t)rows + 1) * 4), *t_offsets = device_alloc(ends);
    void *t_indices = device_alloc(list), *t_values = upload(zeros, list);
    free(zeros);
    cusparseAction_t action = has_values ? CUSPARSE_ACTION_NUMERIC : CUSPARSE_ACTION_SYMBOLIC;
    check(cusparseCsr2cscEx2_bufferSize(handle, rows, columns, m.count, values, offsets, indices,
                                        t_values, t_offsets, t_indices, CUDA_R_32F, action,
                                        (cusparseIndexBase_t)base, CUSPARSE_CSR2CSC_ALG1, &bytes));
    check(cusparseCsr2cscEx2(handle, rows, columns, m.count, values, offsets, indices, t_values,
                             t_offsets, t_indices, CUDA_R_32F, action, (cusparseIndexBase_t)base,
                             CUSPARSE_CSR2CSC_ALG1, device_alloc(bytes)));
    download(next, t_offsets, ends);
    assert_memory_equal(next, t.offsets, ends);
    int *got = malloc(list + 1);
    download(got, t_indices, list);
    assert_memory_equal(got, t.indices, list);
    download(got, t_values, list);
    assert_memory_equal(got, t.values, list);
    free(got);
    free(next);
    free_csr(m);
    free_csr(t);
    free_all();
}

static void csr_becomes_csc(void **state) {
    (void)state;
    try_transposition(50, 40, 6, 0, true);
    try_transposition(50, 300, 9, 1, true);
    try_transposition(900, 70000, 30, 0, true); /* several tiles, three digits */
    try_transposition(3000, 2, 2, 1, false);    /* long columns */
    try_transposition(20, 1, 1, 0, true);
}

/* A transposed product with more elements than one block sorts, and long rows of the transpose. */
static void large_transposes_are_multiplied(void **state) {
    (void)state;
    enum { ROWS = 4000, COLUMNS = 300 };
    Csr m = random_csr(ROWS, COLUMNS, 8, 0);
    float x[ROWS], expected[COLUMNS] = {0}, y[COLUMNS], one = 1, zero = 0;
    for (int i = 0; i < ROWS; i++) {
        x[i] = (float)(i % 5 - 2);
        for (int k = m.offsets[i]; k < m.offsets[i + 1]; k++)
            expected[m.indices[k]] += m.values[k] * x[i];
    }
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t x_there, y_there;
    void *out = device_alloc(sizeof y);
    check(cusparseCreateCsr(&a, ROWS, COLUMNS, m.count, upload(m.offsets, (ROWS + 1) * 4),
                            upload(m.indices, (size_t)m.count * 4),
                            upload(m.values, (size_t)m.count * 4), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    check(cusparseCreateDnVec(&x_there, ROWS, upload(x, sizeof x), CUDA_R_32F));
    check(cusparseCreateDnVec(&y_there, COLUMNS, out, CUDA_R_32F));
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    multiply_vector(CUSPARSE_OPERATION_TRANSPOSE, &one, a, x_there, &zero, y_there, CUDA_R_32F);
    download(y, out, sizeof y);
    assert_memory_equal(y, expected, sizeof y);
    check(cusparseDestroySpMat(a));
    check(cusparseDestroyDnVec(x_there));
    check(cusparseDestroyDnVec(y_there));
    free_csr(m);
    free_all();
}

static void offsets_become_row_indices_and_offsets_again(void **state) {
    (void)state;
    for (int base = 0; base < 2; base++) {
        Csr m = random_csr(400, 50, 4, base);
        size_t list = (size_t)m.count * 4, ends = ((size_t)m.rows + 1) * 4;
        int *rows = malloc(list), *offsets = malloc(ends);
        void *rows_there = device_alloc(list), *offsets_there = device_alloc(ends);
        check(cusparseXcsr2coo(handle, upload(m.offsets, ends), m.count, m.rows, rows_there,
                               (cusparseIndexBase_t)base));
        download(rows, rows_there, list);
        for (int i = 0; i < m.rows; i++)
            for (int k = m.offsets[i] - base; k < m.offsets[i + 1] - base; k++)
                assert_int_equal(rows[k], i + base);
        check(cusparseXcoo2csr(handle, rows_there, m.count, m.rows, offsets_there,
                               (cusparseIndexBase_t)base));
        download(offsets, offsets_there, ends);
        assert_memory_equal(offsets, m.offsets, ends);
        free(rows);
        free(offsets);
        free_csr(m);
        free_all();
    }
}

static void elements_are_sorted_by_row_or_column(void **state) {
    (void)state;
    enum { ROWS = 300, COLUMNS = 70000, COUNT = 5000 };
    static int rows[COUNT], columns[COUNT], got[3][COUNT];
    for (int base = 0; base < 2; base++)
        for (int by_column = 0; by_column < 2; by_column++) {
            for (int k = 0; k < COUNT; k++) {
                rows[k] = (int)(next_random() % ROWS) + base;
                columns[k] = (int)(next_random() % (k % 3 ? COLUMNS : 50)) + base;
            }
            int *rows_there = upload(rows, sizeof rows),
                *columns_there = upload(columns, sizeof rows);
            int *order_there = device_alloc(sizeof rows);
            size_t bytes;
            check(cusparseCreateIdentityPermutation(handle, COUNT, order_there));
            check(cusparseXcoosort_bufferSizeExt(handle, ROWS, COLUMNS, COUNT, rows_there,
                                                 columns_there, &bytes));
            check((by_column ? cusparseXcoosortByColumn : cusparseXcoosortByRow)(
                handle, ROWS, COLUMNS, COUNT, rows_there, columns_there, order_there,
                device_alloc(bytes)));
            download(got[0], by_column ? columns_there : rows_there, sizeof rows);
            download(got[1], by_column ? rows_there : columns_there, sizeof rows);
            download(got[2], order_there, sizeof rows);
            for (int k = 0; k < COUNT; k++) {
                int from = got[2][k];
                assert_int_equal(got[0][k], by_column ? columns[from] : rows[from]);
                assert_int_equal(got[1][k], by_column ? rows[from] : columns[from]);
                if (k == 0) continue;
                bool is_next = got[0][k] > got[0][k - 1], is_same = got[0][k] == got[0][k - 1];
                assert_true(is_next ||
                            (is_same && (got[1][k] > got[1][k - 1] ||
                                         (got[1][k] == got[1][k - 1] && from > got[2][k - 1]))));
            }
            free_all();
        }
}

/* ---- Empty matrices and vectors ---- */

static void nothing_can_be_multiplied(void **state) {
    (void)state;
    static const int shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {5, 4}};
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 3; l++)
            for (int op = 0; op < 2; op++) {
                int rows = op ? shapes[i][1] : shapes[i][0],
                    columns = op ? shapes[i][0] : shapes[i][1];
                Number x[5] = {{1, 0}}, y[5], got[5];
                for (int k = 0; k < 5; k++)
                    y[k] = number(k + 1);
                cusparseSpMatDescr_t a;
                check(create(&a, layout_of(l), shapes[i][0], shapes[i][1], 0, NULL, NULL, NULL,
                             CUDA_R_64F));
                cusparseDnVecDescr_t x_there = vector_of(x, columns, CUDA_R_64F);
                cusparseDnVecDescr_t y_there = vector_of(y, rows, CUDA_R_64F);
                multiply_vector((cusparseOperation_t)op, factor(number(3), CUDA_R_64F, false), a,
                                x_there, factor(number(2), CUDA_R_64F, false), y_there, CUDA_R_64F);
                read_vector(y_there, got);
                for (int k = 0; k < rows; k++)
                    assert_number(got[k], number(2 * (k + 1)));
                Matrix b = new_matrix(columns, 3), c = new_matrix(rows, 3);
                for (int k = 0; k < rows * 3; k++)
                    c.items[k] = number(k);
                cusparseDnMatDescr_t b_there = dense_of(b, CUSPARSE_ORDER_COL, CUDA_R_64F);
                cusparseDnMatDescr_t c_there = dense_of(c, CUSPARSE_ORDER_ROW, CUDA_R_64F);
                MatrixCase m = {.types = all_types[1], .op_a = (cusparseOperation_t)op};
                multiply_matrix(m, factor(number(3), CUDA_R_64F, false), a, b_there,
                                factor(number(1), CUDA_R_64F, false), c_there);
                Matrix same = read_dense(c_there);
                assert_matrix(same, c);
                check(cusparseDestroySpMat(a));
                check(cusparseDestroyDnVec(x_there));
                check(cusparseDestroyDnVec(y_there));
                check(cusparseDestroyDnMat(b_there));
                check(cusparseDestroyDnMat(c_there));
                free(b.items);
                free(c.items);
                free(same.items);
                free_all();
            }
    int zero[2] = {1, 1};
    void *offsets = upload((int[2]){7, 7}, sizeof zero);
    check(cusparseCsr2cscEx2(handle, 3, 1, 0, NULL, NULL, NULL, NULL, offsets, NULL, CUDA_R_32F,
                             CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE,
                             CUSPARSE_CSR2CSC_ALG_DEFAULT, NULL));
    int got[2];
    download(got, offsets, sizeof got);
    assert_memory_equal(got, zero, sizeof got);
    free_all();
}

/* ---- Descriptors ---- */

static void descriptors_return_what_they_were_made_of(void **state) {
    (void)state;
    int64_t rows, columns, count, lead;
    void *major, *minor, *values, *const place = (void *)(uintptr_t)0x1000;
    const void *constant[3];
    cusparseIndexType_t types[2];
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseOrder_t order;
    cusparseFormat_t format;
    cusparseSpMatDescr_t a;
    cusparseConstSpMatDescr_t b;
    int batches;
    check(cusparseCreateCsr(&a, 4, 5, 6, place, NULL, NULL, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                            CUSPARSE_INDEX_BASE_ONE, CUDA_C_32F));
    check(cusparseCsrSetPointers(a, NULL, place, NULL));
    check(cusparseSpMatSetValues(a, place));
    check(cusparseCsrGet(a, &rows, &columns, &count, &major, &minor, &values, &types[0], &types[1],
                         &base, &type));
    assert_true(rows == 4 && columns == 5 && count == 6 && !major && minor == place &&
                values == place && types[0] == CUSPARSE_INDEX_64I &&
                types[1] == CUSPARSE_INDEX_64I && base == CUSPARSE_INDEX_BASE_ONE &&
                type == CUDA_C_32F);
    assert_int_equal(cusparseCscGet(a, &rows, &columns, &count, &major, &minor, &values, &types[0],
                                    &types[1], &base, &type),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCooSetPointers(a, place, place, place), CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseSpMatGetFormat(a, &format));
    check(cusparseSpMatGetIndexBase(a, &base));
    assert_true(format == CUSPARSE_FORMAT_CSR && base == CUSPARSE_INDEX_BASE_ONE);
    check(cusparseCsrSetStridedBatch(a, 2, 5, 6));
    check(cusparseSpMatGetStridedBatch(a, &batches));
    assert_int_equal(batches, 2);
    assert_int_equal(cusparseCsrSetStridedBatch(a, 2, 4, 6), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCsrSetStridedBatch(a, 2, 5, 5), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCooSetStridedBatch(a, 2, 6), CUSPARSE_STATUS_INVALID_VALUE);
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_UNIT;
    check(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    fill = CUSPARSE_FILL_MODE_LOWER;
    check(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    assert_true(fill == CUSPARSE_FILL_MODE_UPPER && diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT);
    assert_int_equal(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, 8),
                     CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseDestroySpMat(a));

    check(cusparseCreateConstCsc(&b, 4, 5, 6, place, place, place, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseConstCscGet(b, &rows, &columns, &count, &constant[0], &constant[1], &constant[2],
                              &types[0], &types[1], &base, &type));
    assert_true(constant[0] == place && constant[2] == place && type == CUDA_R_64F);
    check(cusparseDestroySpMat(b));
    check(cusparseCreateConstCoo(&b, 4, 5, 6, place, place, place, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseConstCooGet(b, &rows, &columns, &count, &constant[0], &constant[1], &constant[2],
                              &types[0], &base, &type));
    assert_true(count == 6 && constant[1] == place && types[0] == CUSPARSE_INDEX_32I);
    check(cusparseConstSpMatGetValues(b, &constant[0]));
    check(cusparseDestroySpMat(b));

    cusparseConstDnMatDescr_t c;
    check(cusparseCreateConstDnMat(&c, 4, 5, 7, place, CUDA_R_16F, CUSPARSE_ORDER_ROW));
    check(cusparseConstDnMatGet(c, &rows, &columns, &lead, &constant[0], &type, &order));
    assert_true(rows == 4 && columns == 5 && lead == 7 && constant[0] == place &&
                type == CUDA_R_16F && order == CUSPARSE_ORDER_ROW);
    check(cusparseDnMatGetStridedBatch(c, &batches, &count));
    assert_true(batches == 1 && count == 0);
    check(cusparseDestroyDnMat(c));

    cusparseConstSpVecDescr_t x;
    check(cusparseCreateConstSpVec(&x, 9, 3, place, NULL, CUSPARSE_INDEX_64I,
                                   CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    check(cusparseConstSpVecGet(x, &rows, &count, &constant[0], &constant[1], &types[0], &base,
                                &type));
    assert_true(rows == 9 && count == 3 && constant[0] == place && !constant[1] &&
                types[0] == CUSPARSE_INDEX_64I && base == CUSPARSE_INDEX_BASE_ONE);
    check(cusparseSpVecGetIndexBase(x, &base));
    check(cusparseDestroySpVec(x));

    cusparseConstDnVecDescr_t y;
    check(cusparseCreateConstDnVec(&y, 9, place, CUDA_R_32F));
    check(cusparseConstDnVecGet(y, &rows, &constant[0], &type));
    assert_true(rows == 9 && constant[0] == place && type == CUDA_R_32F);
    check(cusparseDestroyDnVec(y));

    cusparseMatDescr_t old;
    check(cusparseCreateMatDescr(&old));
    check(cusparseSetMatType(old, CUSPARSE_MATRIX_TYPE_HERMITIAN));
    check(cusparseSetMatIndexBase(old, CUSPARSE_INDEX_BASE_ONE));
    check(cusparseSetMatFillMode(old, CUSPARSE_FILL_MODE_UPPER));
    assert_int_equal(cusparseGetMatType(old), CUSPARSE_MATRIX_TYPE_HERMITIAN);
    assert_int_equal(cusparseGetMatIndexBase(old), CUSPARSE_INDEX_BASE_ONE);
    assert_int_equal(cusparseGetMatFillMode(old), CUSPARSE_FILL_MODE_UPPER);
    assert_int_equal(cusparseGetMatDiagType(old), CUSPARSE_DIAG_TYPE_NON_UNIT);
    assert_int_equal(cusparseSetMatType(old, (cusparseMatrixType_t)4),
                     CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseDestroyMatDescr(old));
}

/* As in NVIDIA's library (cuSPARSE 12.6 of CUDA 13.0). */
static void what_cannot_be_made_is_refused(void **state) {
    (void)state;
    void *const p = (void *)(uintptr_t)0x1000;
    static const struct {
        int64_t rows, columns, count;
        int offsets, indices, base, type, status;
    } rows[] = {
        {4, 5, 20, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_SUCCESS},
        {4, 5, 21, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {-1, 5, 0, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {0, 5, 1, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {INT64_MAX, INT64_MAX, 9, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_SUCCESS},
        {4, 5, 6, 3, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_NOT_SUPPORTED},
        {4, 5, 6, 1, 1, 0, CUDA_R_32F, CUSPARSE_STATUS_NOT_SUPPORTED},
        {4, 5, 6, 2, 2, 2, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {4, 5, 6, 2, 2, 0, CUDA_R_8I, CUSPARSE_STATUS_SUCCESS},
        {4, 5, 6, 2, 2, 0, 16, CUSPARSE_STATUS_INVALID_VALUE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cusparseSpMatDescr_t a = NULL;
        assert_int_equal(cusparseCreateCsr(&a, rows[i].rows, rows[i].columns, rows[i].count, p, p,
                                           p, (cusparseIndexType_t)rows[i].offsets,
                                           (cusparseIndexType_t)rows[i].indices,
                                           (cusparseIndexBase_t)rows[i].base,
                                           (cudaDataType)rows[i].type),
                         rows[i].status);
        check(cusparseDestroySpMat(a));
    }
    cusparseDnMatDescr_t b = NULL;
    cusparseDnVecDescr_t y = NULL;
    cusparseSpVecDescr_t x = NULL;
    assert_int_equal(cusparseCreateDnMat(&b, 4, 5, 3, p, CUDA_R_32F, CUSPARSE_ORDER_COL),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnMat(&b, 4, 5, 4, p, CUDA_R_32F, CUSPARSE_ORDER_ROW),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnMat(&b, 4, 5, 5, p, CUDA_R_32F, (cusparseOrder_t)3),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnVec(&y, -1, p, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnVec(NULL, 1, p, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateSpVec(&x, 5, 6, p, p, CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseSpMatGetSize(NULL, NULL, NULL, NULL), CUSPARSE_STATUS_INVALID_VALUE);
}

/* Each row changes one thing in a product that is accepted. */
static void what_cannot_be_multiplied_is_refused(void **state) {
    (void)state;
    enum {
        NOTHING,
        NO_HANDLE,
        NO_ALPHA,
        NO_MATRIX,
        SIZE,
        OPERATION,
        ALGORITHM,
        TYPE,
        COMPUTE,
        VECTOR_TYPE,
        BATCH,
        BUFFER
    };
    static const struct {
        int what, status;
    } rows[] = {
        {NOTHING, CUSPARSE_STATUS_SUCCESS},         {NO_HANDLE, CUSPARSE_STATUS_INVALID_VALUE},
        {NO_ALPHA, CUSPARSE_STATUS_INVALID_VALUE},  {NO_MATRIX, CUSPARSE_STATUS_INVALID_VALUE},
        {SIZE, CUSPARSE_STATUS_INVALID_VALUE},      {OPERATION, CUSPARSE_STATUS_INVALID_VALUE},
        {ALGORITHM, CUSPARSE_STATUS_INVALID_VALUE}, {TYPE, CUSPARSE_STATUS_NOT_SUPPORTED},
        {COMPUTE, CUSPARSE_STATUS_NOT_SUPPORTED},   {VECTOR_TYPE, CUSPARSE_STATUS_NOT_SUPPORTED},
        {BATCH, CUSPARSE_STATUS_NOT_SUPPORTED},     {BUFFER, CUSPARSE_STATUS_INVALID_VALUE},
    };
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int what = rows[i].what;
        float one = 1;
        cudaDataType type = what == TYPE ? CUDA_R_8I : CUDA_R_32F;
        int32_t lists[] = {0, 1, 1, 0, 1};
        char *there = upload(lists, sizeof lists);
        static const double zeros[8];
        void *numbers = upload(zeros, sizeof zeros);
        cusparseSpMatDescr_t a;
        cusparseDnVecDescr_t x, y;
        check(cusparseCreateCsr(&a, 2, 2, 1, there, there + 12, numbers, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
        check(cusparseCreateDnVec(&x, what == SIZE ? 3 : 2, numbers,
                                  what == VECTOR_TYPE ? CUDA_R_64F : type));
        check(cusparseCreateDnVec(&y, 2, upload(zeros, sizeof zeros), type));
        if (what == BATCH) check(cusparseCsrSetStridedBatch(a, 2, 0, 0));
        cusparseOperation_t op = what == OPERATION ? (cusparseOperation_t)3
                                 : what == BUFFER  ? CUSPARSE_OPERATION_TRANSPOSE
                                                   : CUSPARSE_OPERATION_NON_TRANSPOSE;
        assert_int_equal(
            cusparseSpMV(
                what == NO_HANDLE ? NULL : handle, op, what == NO_ALPHA ? NULL : &one,
                what == NO_MATRIX ? NULL : a, x, &one, y, what == COMPUTE ? CUDA_R_64F : CUDA_R_32F,
                what == ALGORITHM ? (cusparseSpMVAlg_t)7 : CUSPARSE_SPMV_ALG_DEFAULT, NULL),
            rows[i].status);
        check(cusparseDestroySpMat(a));
        check(cusparseDestroyDnVec(x));
        check(cusparseDestroyDnVec(y));
        free_all();
    }
}

static void handles_have_settings(void **state) {
    (void)state;
    int version = 0, part = 0;
    cudaStream_t stream = NULL;
    CUstream made;
    cusparsePointerMode_t mode;
    check(cusparseGetVersion(handle, &version));
    assert_int_equal(version, CUSPARSE_VERSION);
    check(cusparseGetProperty(MAJOR_VERSION, &part));
    assert_int_equal(part, CUSPARSE_VER_MAJOR);
    assert_int_equal(cusparseGetProperty((libraryPropertyType)7, &part),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cuStreamCreate(&made, 0), CUDA_SUCCESS);
    check(cusparseSetStream(handle, made));
    check(cusparseGetStream(handle, &stream));
    assert_ptr_equal(stream, made);
    try_vector(all_types[0], layout_of(0), CUSPARSE_OPERATION_TRANSPOSE, 9, 8, 50, false);
    check(cusparseSetStream(handle, NULL));
    assert_int_equal(cuStreamDestroy(made), CUDA_SUCCESS);
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
    check(cusparseGetPointerMode(handle, &mode));
    assert_int_equal(mode, CUSPARSE_POINTER_MODE_DEVICE);
    assert_int_equal(cusparseSetPointerMode(handle, (cusparsePointerMode_t)2),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseSetStream(NULL, NULL), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreate(NULL), CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseDestroy(NULL));
    assert_string_equal(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT),
                        "CUSPARSE_STATUS_ZERO_PIVOT");
    assert_string_equal(cusparseGetErrorString(CUSPARSE_STATUS_SUCCESS), "success");
    assert_string_equal(cusparseGetErrorName((cusparseStatus_t)12), "unknown status");
    check(cusparseLoggerSetLevel(2));
    assert_int_equal(cusparseLoggerSetLevel(6), CUSPARSE_STATUS_INVALID_VALUE);
}

static int open_handle(void **state) {
    (void)state;
    return cusparseCreate(&handle);
}

static int close_handle(void **state) {
    (void)state;
    return cusparseDestroy(handle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_multiplied_in_all_types_and_layouts),
        cmocka_unit_test(vectors_are_multiplied_with_rows_of_all_lengths),
        cmocka_unit_test(matrices_are_multiplied_in_all_types_and_orders),
        cmocka_unit_test(batches_are_multiplied),
        cmocka_unit_test(sums_of_fractions_are_within_their_bound),
        cmocka_unit_test(products_are_sampled_at_the_elements),
        cmocka_unit_test(sparse_matrices_are_multiplied),
        cmocka_unit_test(triangular_systems_are_solved),
        cmocka_unit_test(sparse_vectors_meet_dense_ones),
        cmocka_unit_test(dense_matrices_become_sparse_and_dense_again),
        cmocka_unit_test(csr_becomes_csc),
        cmocka_unit_test(large_transposes_are_multiplied),
        cmocka_unit_test(offsets_become_row_indices_and_offsets_again),
        cmocka_unit_test(elements_are_sorted_by_row_or_column),
        cmocka_unit_test(nothing_can_be_multiplied),
        cmocka_unit_test(descriptors_return_what_they_were_made_of),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(what_cannot_be_multiplied_is_refused),
        cmocka_unit_test(handles_have_settings),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
