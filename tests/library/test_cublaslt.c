/* Compares our cuBLASLt with plain loops: layouts, batches, epilogues. */
#include "tyto/cublasLt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

enum { M = 40, N = 21, K = 12 };

static cublasLtHandle_t handle;

static void check(cublasStatus_t status) {
    assert_string_equal(cublasLtGetStatusName(status), "CUBLAS_STATUS_SUCCESS");
}

static int next_number(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return (int)(*seed >> 24) % 7 - 3;
}

static float *put(const float *numbers, int count) {
    CUdeviceptr address;
    assert_int_equal(cuMemAlloc(&address, (size_t)count * sizeof *numbers), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyHtoD(address, numbers, (size_t)count * sizeof *numbers), CUDA_SUCCESS);
    return (float *)(uintptr_t)address;
}

static void fetch(void *to, const void *from, size_t bytes) {
    assert_int_equal(cuMemcpyDtoH(to, (CUdeviceptr)(uintptr_t)from, bytes), CUDA_SUCCESS);
}

static void drop(const void *pointer) {
    assert_int_equal(cuMemFree((CUdeviceptr)(uintptr_t)pointer), CUDA_SUCCESS);
}

/* A product in single precision, on the host and on the device. */
typedef struct Product {
    float a[M * K], b[K * N], c[M * N], bias[M], raw[M * N]; /* raw: alpha A B + beta C */
    float *da, *db, *dc, *dd, *dbias, *daux;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulDesc_t desc;
} Product;

static void set(Product *p, cublasLtMatmulDescAttributes_t which, const void *value, size_t size) {
    check(cublasLtMatmulDescSetAttribute(p->desc, which, value, size));
}

static int start_product(void **state) {
    Product *p = calloc(1, sizeof *p);
    uint32_t seed = 7;
    for (int i = 0; i < M * K; i++)
        p->a[i] = (float)next_number(&seed);
    for (int i = 0; i < K * N; i++)
        p->b[i] = (float)next_number(&seed);
    for (int i = 0; i < M * N; i++)
        p->c[i] = (float)next_number(&seed);
    for (int i = 0; i < M; i++)
        p->bias[i] = (float)next_number(&seed);
    for (int e = 0; e < M * N; e++) {
        p->raw[e] = -p->c[e];
        for (int k = 0; k < K; k++)
            p->raw[e] += 0.25f * p->a[e % M + k * M] * p->b[k + e / M * K];
    }
    p->da = put(p->a, M * K);
    p->db = put(p->b, K * N);
    p->dc = put(p->c, M * N);
    p->dd = put(p->c, M * N);
    p->daux = put(p->c, M * N);
    p->dbias = put(p->bias, M);
    check(cublasLtMatrixLayoutCreate(&p->la, CUDA_R_32F, M, K, M));
    check(cublasLtMatrixLayoutCreate(&p->lb, CUDA_R_32F, K, N, K));
    check(cublasLtMatrixLayoutCreate(&p->lc, CUDA_R_32F, M, N, M));
    check(cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    *state = p;
    return 0;
}

static int end_product(void **state) {
    Product *p = *state;
    drop(p->da), drop(p->db), drop(p->dc), drop(p->dd), drop(p->daux), drop(p->dbias);
    check(cublasLtMatrixLayoutDestroy(p->la));
    check(cublasLtMatrixLayoutDestroy(p->lb));
    check(cublasLtMatrixLayoutDestroy(p->lc));
    check(cublasLtMatmulDescDestroy(p->desc));
    free(p);
    return 0;
}

static cublasStatus_t multiply(Product *p) {
    float alpha = 0.25f, beta = -1;
    return cublasLtMatmul(handle, p->desc, &alpha, p->da, p->la, p->db, p->lb, &beta, p->dc, p->lc,
                          p->dd, p->lc, NULL, NULL, 0, NULL);
}

static void expect(const float *device, const float *expected, int count, double bound) {
    float *got = malloc((size_t)count * sizeof *got);
    fetch(got, device, (size_t)count * sizeof *got);
    for (int i = 0; i < count; i++)
        if (fabs((double)(got[i] - expected[i])) > bound)
            fail_msg("number %d: %g, not %g", i, (double)got[i], (double)expected[i]);
    free(got);
}

static double gelu(double x) {
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static void epilogues_are_applied_to_the_sum(void **state) {
    Product *p = *state;
    static const int epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU,
                                    CUBLASLT_EPILOGUE_BIAS,    CUBLASLT_EPILOGUE_RELU_BIAS,
                                    CUBLASLT_EPILOGUE_GELU,    CUBLASLT_EPILOGUE_GELU_BIAS};
    set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->dbias, sizeof p->dbias);
    for (size_t e = 0; e < sizeof epilogues / sizeof epilogues[0]; e++) {
        float expected[M * N];
        for (int i = 0; i < M * N; i++) {
            double x = (double)p->raw[i] +
                       (epilogues[e] & CUBLASLT_EPILOGUE_BIAS ? (double)p->bias[i % M] : 0);
            if (epilogues[e] & CUBLASLT_EPILOGUE_RELU) x = fmax(x, 0);
            if (epilogues[e] & CUBLASLT_EPILOGUE_GELU) x = gelu(x);
            expected[i] = (float)x;
        }
        set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogues[e], sizeof epilogues[e]);
        check(multiply(p));
        expect(p->dd, expected, M * N, epilogues[e] & CUBLASLT_EPILOGUE_GELU ? 1e-4 : 0);
    }
}

/* The forward pass stores in aux what the backward pass needs. */
static void gradients_of_activations_undo_them(void **state) {
    Product *p = *state;
    int64_t lead = 64; /* in bits for RELU: a multiple of 32, at least M */
    float expected[M * N], sums[M];
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p->daux, sizeof p->daux);
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &lead, sizeof lead);
    set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->dbias, sizeof p->dbias);
    int epilogue = CUBLASLT_EPILOGUE_RELU_AUX;
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    check(multiply(p));
    epilogue = CUBLASLT_EPILOGUE_DRELU_BGRAD;
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    check(multiply(p));
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < M * N; i++)
        sums[i % M] += expected[i] = p->raw[i] > 0 ? p->raw[i] : 0;
    expect(p->dd, expected, M * N, 0);
    expect(p->dbias, sums, M, 0);

    lead = M;
    epilogue = CUBLASLT_EPILOGUE_GELU_AUX;
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &lead, sizeof lead);
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    check(multiply(p));
    expect(p->daux, p->raw, M * N, 0);
    epilogue = CUBLASLT_EPILOGUE_DGELU;
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    check(multiply(p));
    for (int i = 0; i < M * N; i++) {
        double x = (double)p->raw[i], slope = (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
        expected[i] = (float)(x * slope);
    }
    expect(p->dd, expected, M * N, 1e-2);
}

static void gradients_of_biases_are_sums_of_an_operand(void **state) {
    Product *p = *state;
    float sums[M] = {0}, column_sums[N] = {0};
    for (int i = 0; i < M * K; i++)
        sums[i % M] += p->a[i];
    for (int i = 0; i < K * N; i++)
        column_sums[i / K] += p->b[i];
    int epilogue = CUBLASLT_EPILOGUE_BGRADA;
    set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->dbias, sizeof p->dbias);
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    check(multiply(p));
    expect(p->dbias, sums, M, 0);
    expect(p->dd, p->raw, M * N, 0);
    epilogue = CUBLASLT_EPILOGUE_BGRADB;
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    check(multiply(p));
    expect(p->dbias, column_sums, N, 0);
}

/* A stored by rows, B transposed: the same product. */
static void layouts_say_how_elements_lie(void **state) {
    Product *p = *state;
    float by_row[M * K], turned[K * N];
    int32_t order = CUBLASLT_ORDER_ROW, op = CUBLAS_OP_T;
    uint64_t rows = N, columns = K;
    int64_t lead_a = K, lead_b = N;
    for (int i = 0; i < M * K; i++)
        by_row[i / M + i % M * K] = p->a[i];
    for (int i = 0; i < K * N; i++)
        turned[i / K + i % K * N] = p->b[i];
    drop(p->da), drop(p->db);
    p->da = put(by_row, M * K);
    p->db = put(turned, K * N);
    check(cublasLtMatrixLayoutSetAttribute(p->la, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                           sizeof order));
    check(
        cublasLtMatrixLayoutSetAttribute(p->la, CUBLASLT_MATRIX_LAYOUT_LD, &lead_a, sizeof lead_a));
    check(cublasLtMatrixLayoutSetAttribute(p->lb, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows));
    check(cublasLtMatrixLayoutSetAttribute(p->lb, CUBLASLT_MATRIX_LAYOUT_COLS, &columns,
                                           sizeof columns));
    check(
        cublasLtMatrixLayoutSetAttribute(p->lb, CUBLASLT_MATRIX_LAYOUT_LD, &lead_b, sizeof lead_b));
    set(p, CUBLASLT_MATMUL_DESC_TRANSB, &op, sizeof op);
    check(multiply(p));
    expect(p->dd, p->raw, M * N, 0);
    size_t written;
    check(cublasLtMatrixLayoutGetAttribute(p->la, CUBLASLT_MATRIX_LAYOUT_LD, &lead_b, sizeof lead_b,
                                           &written));
    assert_int_equal(lead_b, K);
    assert_int_equal(written, sizeof lead_b);
}

static void a_batch_may_share_an_operand(void **state) {
    Product *p = *state;
    int32_t count = 2;
    int64_t stride = M * N;
    float both[2 * M * N], expected[2 * M * N];
    memcpy(both, p->c, sizeof p->c);
    memset(both + M * N, 0, sizeof p->c);
    for (int i = 0; i < M * N; i++) {
        expected[i] = p->raw[i];
        expected[M * N + i] = p->raw[i] + p->c[i];
    }
    drop(p->dc), drop(p->dd);
    p->dc = put(both, 2 * M * N);
    p->dd = put(both, 2 * M * N);
    cublasLtMatrixLayout_t const layouts[] = {p->la, p->lb, p->lc};
    for (int i = 0; i < 3; i++)
        check(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                               &count, sizeof count));
    check(cublasLtMatrixLayoutSetAttribute(p->lc, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &stride, sizeof stride));
    check(multiply(p));
    expect(p->dd, expected, 2 * M * N, 0);
}

static void the_heuristic_knows_what_can_be_done(void **state) {
    Product *p = *state;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    size_t room = 1 << 20;
    int found = -1, type = CUDA_R_8F_E4M3;
    check(cublasLtMatmulPreferenceCreate(&preference));
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &room, sizeof room));
    check(cublasLtMatmulAlgoGetHeuristic(handle, p->desc, p->la, p->lb, p->lc, p->lc, preference, 1,
                                         &result, &found));
    assert_int_equal(found, 1);
    assert_int_equal(result.state, CUBLAS_STATUS_SUCCESS);
    assert_int_equal(result.workspaceSize, 0);
    check(cublasLtMatrixLayoutSetAttribute(p->la, CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof type));
    assert_int_equal(cublasLtMatmulAlgoGetHeuristic(handle, p->desc, p->la, p->lb, p->lc, p->lc,
                                                    preference, 1, &result, &found),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(found, 0);
    assert_int_equal(multiply(p), CUBLAS_STATUS_NOT_SUPPORTED);
    check(cublasLtMatmulPreferenceDestroy(preference));
}

static void what_does_not_fit_is_refused(void **state) {
    Product *p = *state;
    uint64_t rows = K + 1;
    int epilogue = 0;
    assert_int_equal(
        cublasLtMatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 1),
        CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(
        cublasLtMatmulDescSetAttribute(p->desc, (cublasLtMatmulDescAttributes_t)99, &epilogue, 4),
        CUBLAS_STATUS_NOT_SUPPORTED);
    check(cublasLtMatrixLayoutSetAttribute(p->lb, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows));
    assert_int_equal(multiply(p), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasLtCreate(NULL), CUBLAS_STATUS_INVALID_VALUE);
}

static void a_transform_adds_and_transposes(void **state) {
    Product *p = *state;
    cublasLtMatrixTransformDesc_t desc;
    float alpha = 2, expected[M * N];
    int32_t op = CUBLAS_OP_T;
    cublasLtMatrixLayout_t turned;
    check(cublasLtMatrixLayoutCreate(&turned, CUDA_R_32F, N, M, N));
    check(cublasLtMatrixTransformDescCreate(&desc, CUDA_R_32F));
    check(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &op,
                                                  sizeof op));
    check(cublasLtMatrixTransform(handle, desc, &alpha, p->dc, p->lc, NULL, NULL, NULL, p->dd,
                                  turned, NULL));
    for (int i = 0; i < M * N; i++)
        expected[i / M + i % M * N] = 2 * p->c[i];
    expect(p->dd, expected, M * N, 0);
    check(cublasLtMatrixLayoutDestroy(turned));
    check(cublasLtMatrixTransformDescDestroy(desc));
}

static int start(void **state) {
    (void)state;
    return cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS;
}

static int end(void **state) {
    (void)state;
    return cublasLtDestroy(handle) != CUBLAS_STATUS_SUCCESS;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_product, end_product)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(epilogues_are_applied_to_the_sum),
        TEST(gradients_of_activations_undo_them),
        TEST(gradients_of_biases_are_sums_of_an_operand),
        TEST(layouts_say_how_elements_lie),
        TEST(a_batch_may_share_an_operand),
        TEST(the_heuristic_knows_what_can_be_done),
        TEST(what_does_not_fit_is_refused),
        TEST(a_transform_adds_and_transposes),
    };
    return cmocka_run_group_tests(tests, start, end);
}
