/* Products and triangular systems of our cuSPARSE, compared with plain loops over dense matrices on
 * the host. Numbers are small and whole, so results must be exact, except where a test says
 * otherwise. */
#include "sparse_case.h"

/* ---- Products ---- */

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
        cmocka_unit_test(nothing_can_be_multiplied),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
