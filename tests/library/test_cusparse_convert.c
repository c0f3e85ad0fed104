/* Sparse vectors and conversions of our cuSPARSE, compared with plain loops on the host. Numbers
 * are small and whole, so results must be exact. */
#include "sparse_case.h"

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
    Matrix other = new_matrix(ROWS, COLUMNS); /* its content must not be read */
    for (int i = 0; i < ROWS * COLUMNS; i++)
        other.items[i].x = (double)NAN;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_vectors_meet_dense_ones),
        cmocka_unit_test(dense_matrices_become_sparse_and_dense_again),
        cmocka_unit_test(csr_becomes_csc),
        cmocka_unit_test(large_transposes_are_multiplied),
        cmocka_unit_test(offsets_become_row_indices_and_offsets_again),
        cmocka_unit_test(elements_are_sorted_by_row_or_column),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
