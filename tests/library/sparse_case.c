/* Reference matrices on the host, and copies of them on the device. */
#include "sparse_case.h"

/* ---- Numbers ---- */

Number number(double x) { return (Number){x, 0}; }
Number plus(Number a, Number b) { return (Number){a.x + b.x, a.y + b.y}; }
Number times(Number a, Number b) { return (Number){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
bool is_zero(Number a) { return a.x == 0 && a.y == 0; }

const Types all_types[TYPE_COUNT] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},   {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},   {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},   {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F}, {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
};

size_t bytes_of(cudaDataType type) {
    switch (type) {
    case CUDA_C_64F: return 16;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_R_32F: return 4;
    default: return 2;
    }
}
static bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

/* The half of a number that it can represent, and NaN. */
static uint16_t half_of(double value) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent); /* from 0.5 to 1 */
    uint16_t sign = value < 0 ? 0x8000 : 0;
    if (isnan(value)) return 0x7e00;
    if (value == 0) return sign;
    return (uint16_t)(sign | ((exponent + 14) << 10) | ((int)(fraction * 2048) - 1024));
}

static double value_of(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
    return half & 0x8000 ? -value : value;
}

void store(void *items, size_t i, cudaDataType type, Number value) {
    char *to = (char *)items + i * bytes_of(type);
    float single[2] = {(float)value.x, (float)value.y};
    uint16_t half;
    switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F: memcpy(to, &value, bytes_of(type)); break;
    case CUDA_R_16F:
        half = half_of(value.x);
        memcpy(to, &half, sizeof half);
        break;
    case CUDA_R_16BF: memcpy(to, (char *)single + 2, 2); break; /* exact for small whole numbers */
    default: memcpy(to, single, bytes_of(type)); break;
    }
}

Number load(const void *items, size_t i, cudaDataType type) {
    const char *from = (const char *)items + i * bytes_of(type);
    float single[2] = {0};
    uint16_t half;
    Number value = {0};
    switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F: memcpy(&value, from, bytes_of(type)); return value;
    case CUDA_R_16F: memcpy(&half, from, sizeof half); return number(value_of(half));
    case CUDA_R_16BF: memcpy((char *)single + 2, from, 2); break;
    default: memcpy(single, from, bytes_of(type)); break;
    }
    return (Number){(double)single[0], (double)single[1]};
}

static uint32_t random_state = 1;
uint32_t next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}
/* A whole number from -limit to limit, with an imaginary part if the type has one. */
Number small_number(cudaDataType type, int limit) {
    int range = 2 * limit + 1;
    Number value = number((int)(next_random() % (unsigned)range) - limit);
    if (is_complex(type)) value.y = (int)(next_random() % (unsigned)range) - limit;
    return value;
}

/* ---- Device memory: each case frees all that it allocated ---- */

static CUdeviceptr allocations[4096];
static int allocation_count;

void *device_alloc(size_t bytes) {
    CUdeviceptr address;
    assert_true(allocation_count < 4096);
    assert_int_equal(cuMemAlloc(&address, bytes ? bytes : 1), CUDA_SUCCESS);
    allocations[allocation_count++] = address;
    return (void *)(uintptr_t)address;
}

void *upload(const void *data, size_t bytes) {
    void *copy = device_alloc(bytes);
    if (bytes)
        assert_int_equal(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)copy, data, bytes), CUDA_SUCCESS);
    return copy;
}

void download(void *data, const void *items, size_t bytes) {
    if (bytes)
        assert_int_equal(cuMemcpyDtoH(data, (CUdeviceptr)(uintptr_t)items, bytes), CUDA_SUCCESS);
}

void free_all(void) {
    while (allocation_count)
        assert_int_equal(cuMemFree(allocations[--allocation_count]), CUDA_SUCCESS);
}

cusparseHandle_t handle;

void check(cusparseStatus_t status) { assert_int_equal(status, CUSPARSE_STATUS_SUCCESS); }

/* A factor where the pointer mode of the handle says. */
void *factor(Number value, cudaDataType type, bool is_on_device) {
    static char places[4][16];
    static int next;
    char *place = places[next++ % 4];
    store(place, 0, type, value);
    return is_on_device ? upload(place, bytes_of(type)) : place;
}

/* ---- Matrices: element (i, j) is items[i * columns + j] ---- */

Number *at(Matrix m, int i, int j) { return &m.items[(size_t)i * (size_t)m.columns + (size_t)j]; }

Matrix new_matrix(int rows, int columns) {
    size_t count = (size_t)rows * (size_t)columns;
    return (Matrix){rows, columns, calloc(count ? count : 1, sizeof(Number))};
}

/* About `percent` of the elements are not 0; each fifth row is empty. */
Matrix random_matrix(int rows, int columns, cudaDataType type, unsigned percent) {
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
Number element(Matrix m, int i, int j, cusparseOperation_t op) {
    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return *at(m, i, j);
    Number value = *at(m, j, i);
    if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) value.y = -value.y;
    return value;
}
int rows_of(Matrix m, cusparseOperation_t op) { return op ? m.columns : m.rows; }
int columns_of(Matrix m, cusparseOperation_t op) { return op ? m.rows : m.columns; }

/* op(A) op(B) */
Matrix product(Matrix a, cusparseOperation_t op_a, Matrix b, cusparseOperation_t op_b) {
    Matrix c = new_matrix(rows_of(a, op_a), columns_of(b, op_b));
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.columns; j++)
            for (int k = 0; k < columns_of(a, op_a); k++)
                *at(c, i, j) =
                    plus(*at(c, i, j), times(element(a, i, k, op_a), element(b, k, j, op_b)));
    return c;
}

/* alpha * P + beta * C */
Number combine(Number alpha, Number p, Number beta, Number c) {
    Number scaled = times(alpha, p);
    return is_zero(beta) ? scaled : plus(scaled, times(beta, c));
}

/* ---- Sparse matrices on the device ---- */

static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC,
                                           CUSPARSE_FORMAT_COO};

/* Layout number i of 12. */
Layout layout_of(int i) {
    return (Layout){formats[i % 3], i / 3 % 2 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                    i / 6 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO};
}

size_t index_bytes(Layout l) { return l.index == CUSPARSE_INDEX_64I ? 8 : 4; }

void store_index(Layout l, void *list, int64_t i, int64_t value) {
    value += l.base;
    if (l.index == CUSPARSE_INDEX_64I) ((int64_t *)list)[i] = value;
    else ((int32_t *)list)[i] = (int32_t)value;
}

int64_t load_index(Layout l, const void *list, int64_t i) {
    return (l.index == CUSPARSE_INDEX_64I ? ((const int64_t *)list)[i]
                                          : ((const int32_t *)list)[i]) -
           l.base;
}

cusparseStatus_t create(cusparseSpMatDescr_t *descr, Layout l, int rows, int columns, int64_t count,
                        void *major, void *minor, void *values, cudaDataType type) {
    if (l.format == CUSPARSE_FORMAT_COO)
        return cusparseCreateCoo(descr, rows, columns, count, major, minor, values, l.index, l.base,
                                 type);
    return (l.format == CUSPARSE_FORMAT_CSR ? cusparseCreateCsr : cusparseCreateCsc)(
        descr, rows, columns, count, major, minor, values, l.index, l.index, l.base, type);
}

/* Uploads the elements that are not 0. With base 1, those of a row are stored from last to first,
 * which is allowed. */
cusparseSpMatDescr_t sparse_of(Matrix m, Layout l, cudaDataType type) {
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
cusparseDnMatDescr_t dense_of(Matrix m, cusparseOrder_t order, cudaDataType type) {
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

Matrix read_dense(cusparseDnMatDescr_t descr) {
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

cusparseDnVecDescr_t vector_of(const Number *items, int count, cudaDataType type) {
    char *copy = calloc((size_t)count + 1, 16);
    for (int i = 0; i < count; i++)
        store(copy, (size_t)i, type, items[i]);
    cusparseDnVecDescr_t descr;
    check(cusparseCreateDnVec(&descr, count, upload(copy, (size_t)count * bytes_of(type)), type));
    free(copy);
    return descr;
}

void read_vector(cusparseDnVecDescr_t descr, Number *items) {
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

void assert_number(Number got, Number expected) {
    if (got.x == expected.x && got.y == expected.y) return;
    fail_msg("%g%+gi instead of %g%+gi", got.x, got.y, expected.x, expected.y);
}

void assert_matrix(Matrix got, Matrix expected) {
    assert_int_equal(got.rows, expected.rows);
    assert_int_equal(got.columns, expected.columns);
    for (int i = 0; i < got.rows; i++)
        for (int j = 0; j < got.columns; j++)
            assert_number(*at(got, i, j), *at(expected, i, j));
}

void multiply_vector(cusparseOperation_t op, const void *alpha, cusparseSpMatDescr_t a,
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

/* ---- The handle ---- */

int open_handle(void **state) {
    (void)state;
    return cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS;
}

int close_handle(void **state) {
    (void)state;
    return cusparseDestroy(handle) != CUSPARSE_STATUS_SUCCESS;
}
