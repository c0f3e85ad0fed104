/* Compares products on tensor cores with the same products without them, bit by bit: elements are
 * small whole numbers, whose sums are exact in any order. The chosen kernel is read from a captured
 * graph, which then runs. */
#include "tyto/cublasLt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

static cublasLtHandle_t handle;
static CUstream stream;

static void check(cublasStatus_t status) {
    assert_string_equal(cublasLtGetStatusName(status), "CUBLAS_STATUS_SUCCESS");
}
static void check_driver(CUresult result) { assert_int_equal(result, CUDA_SUCCESS); }

static uint32_t next_number(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

/* A product of op(A) of m x k and op(B) of k x n. */
typedef struct Case {
    int m, n, k;
    bool transposes_a, transposes_b, is_by_row; /* by row: all matrices are */
    cudaDataType in, out;
    float alpha, beta;
    int epilogue, batches;
    int pad;    /* elements between lines of a matrix, in addition to rounding up to 8 */
    int offset; /* elements by which matrices are moved */
    bool expects_tensor;
    int width; /* expected, of tiles; 0: any */
} Case;

/* A matrix in device memory, and its layout. */
typedef struct Matrix {
    cublasLtMatrixLayout_t layout;
    CUdeviceptr memory;
    size_t bytes;
    void *first;
} Matrix;

/* A whole number from -3 to 3 as the high bits of a number of this type, in `to`. */
static void put_number(char *to, cudaDataType type, int number) {
    static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200};
    const float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint16_t half = (uint16_t)(halves[abs(number)] | (number < 0 ? 0x8000 : 0));
    const uint16_t bfloat = (uint16_t)(bits >> 16);
    if (type == CUDA_R_32F) memcpy(to, &bits, 4);
    else memcpy(to, type == CUDA_R_16F ? &half : &bfloat, 2);
}

static Matrix make(const Case *c, int rows, int columns, cudaDataType type, uint32_t seed) {
    const size_t size = type == CUDA_R_32F ? 4 : 2;
    const int line = c->is_by_row ? columns : rows, lines = c->is_by_row ? rows : columns;
    const int64_t lead = (line + 7) / 8 * 8 + c->pad, stride = lead * lines;
    const size_t count = (size_t)(c->offset + stride * c->batches);
    Matrix matrix = {.bytes = count * size};
    char *numbers = calloc(count, size);
    for (size_t i = 0; i < count; i++)
        put_number(numbers + i * size, type, (int)next_number(&seed, 7) - 3);
    check_driver(cuMemAlloc(&matrix.memory, matrix.bytes));
    check_driver(cuMemcpyHtoD(matrix.memory, numbers, matrix.bytes));
    free(numbers);
    matrix.first = (void *)(uintptr_t)(matrix.memory + (size_t)c->offset * size);
    const int32_t order = c->is_by_row ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    check(
        cublasLtMatrixLayoutCreate(&matrix.layout, type, (uint64_t)rows, (uint64_t)columns, lead));
    check(cublasLtMatrixLayoutSetAttribute(matrix.layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                           sizeof order));
    check(cublasLtMatrixLayoutSetAttribute(matrix.layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                           &c->batches, sizeof c->batches));
    check(cublasLtMatrixLayoutSetAttribute(
        matrix.layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    return matrix;
}

static void drop(Matrix *matrix) {
    check(cublasLtMatrixLayoutDestroy(matrix->layout));
    check_driver(cuMemFree(matrix->memory));
}

/* Runs a captured graph of one kernel, and returns the kernel's name. */
static const char *run_graph(CUgraph graph) {
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS node_parameters;
    CUgraphExec executable;
    const char *name = NULL;
    size_t count = 1;
    check_driver(cuGraphGetNodes(graph, &node, &count));
    assert_int_equal(count, 1);
    check_driver(cuGraphKernelNodeGetParams(node, &node_parameters));
    check_driver(cuFuncGetName(&name, node_parameters.func));
    check_driver(cuGraphInstantiate(&executable, graph, 0));
    check_driver(cuGraphLaunch(executable, stream));
    check_driver(cuStreamSynchronize(stream));
    check_driver(cuGraphExecDestroy(executable));
    check_driver(cuGraphDestroy(graph));
    return name;
}

/* Computes D of the case; the caller frees it. */
static char *multiply(const Case *c, cublasComputeType_t compute, char kernel[64], size_t *bytes) {
    cublasLtMatmulDesc_t desc;
    CUgraph graph;
    Matrix a = make(c, c->transposes_a ? c->k : c->m, c->transposes_a ? c->m : c->k, c->in, 1);
    Matrix b = make(c, c->transposes_b ? c->n : c->k, c->transposes_b ? c->k : c->n, c->in, 2);
    Matrix d = make(c, c->m, c->n, c->out, 3), bias = make(c, c->m, 1, c->out, 4);
    const int32_t opa = c->transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t opb = c->transposes_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescCreate(&desc, compute, CUDA_R_32F));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &opa, sizeof opa));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &opb, sizeof opb));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &c->epilogue,
                                         sizeof c->epilogue));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.first,
                                         sizeof bias.first));
    check_driver(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    check(cublasLtMatmul(handle, desc, &c->alpha, a.first, a.layout, b.first, b.layout, &c->beta,
                         d.first, d.layout, d.first, d.layout, NULL, NULL, 0, stream));
    check_driver(cuStreamEndCapture(stream, &graph));
    snprintf(kernel, 64, "%s", run_graph(graph));
    char *result = malloc(d.bytes);
    check_driver(cuMemcpyDtoH(result, d.memory, *bytes = d.bytes));
    drop(&a), drop(&b), drop(&d), drop(&bias);
    check(cublasLtMatmulDescDestroy(desc));
    return result;
}

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Compares a case with the pedantic one. */
static void compare(const Case *c) {
    char kernel[64], plain[64];
    size_t bytes, plain_bytes;
    char *got = multiply(c, CUBLAS_COMPUTE_32F, kernel, &bytes);
    char *expected = multiply(c, CUBLAS_COMPUTE_32F_PEDANTIC, plain, &plain_bytes);
    const bool is_tensor = starts_with(kernel, "wgmma_");
    if (is_tensor != c->expects_tensor || !starts_with(plain, "gemm_"))
        fail_msg("%d x %d x %d ran %s, and without tensor cores %s", c->m, c->n, c->k, kernel,
                 plain);
    if (c->width) assert_int_equal(atoi(strrchr(kernel, '_') + 1), c->width);
    assert_int_equal(bytes, plain_bytes);
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != expected[i])
            fail_msg("%s, %d x %d x %d, transposes %d %d, by row %d, beta %g, epilogue %d, %d "
                     "batches: byte %zu differs",
                     kernel, c->m, c->n, c->k, c->transposes_a, c->transposes_b, c->is_by_row,
                     (double)c->beta, c->epilogue, c->batches, i);
    free(got);
    free(expected);
}

static Case plain_case(void) {
    return (Case){.m = 128,
                  .n = 64,
                  .k = 64,
                  .in = CUDA_R_16F,
                  .out = CUDA_R_16F,
                  .alpha = 1,
                  .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                  .batches = 1,
                  .expects_tensor = true};
}

static void every_layout_and_type(void **unused) {
    (void)unused;
    for (int bits = 0; bits < 32; bits++) {
        Case c = plain_case();
        c.m = 200, c.n = 136, c.k = 72;
        c.transposes_a = bits & 1, c.transposes_b = bits & 2, c.is_by_row = bits & 4;
        if (bits & 8) c.in = c.out = CUDA_R_16BF;
        if (bits & 16) c.out = CUDA_R_32F;
        compare(&c);
    }
}

static void tiles_and_clusters_of_every_size(void **unused) {
    (void)unused;
    static const int sizes[][3] = {{16, 64, 64},   {64, 16, 80},   {257, 129, 64}, {128, 384, 64},
                                   {300, 520, 65}, {64, 1000, 64}, {511, 65, 200}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Case c = plain_case();
        c.m = sizes[i][0], c.n = sizes[i][1], c.k = sizes[i][2];
        compare(&c);
    }
}

/* The 16 SMs that the test sets would need two rounds for the 25 narrow tiles of a product. */
static void wide_tiles(void **unused) {
    (void)unused;
    for (int transposes = 0; transposes < 2; transposes++) {
        Case c = plain_case();
        c.m = c.n = 600, c.width = 256;
        c.transposes_a = c.transposes_b = transposes;
        compare(&c);
    }
}

static void scalars_epilogues_and_batches(void **unused) {
    (void)unused;
    static const int epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
                                    CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS};
    for (int bits = 0; bits < 16; bits++) {
        Case c = plain_case();
        c.m = 100, c.n = 70;
        c.epilogue = epilogues[bits % 4];
        c.alpha = 0.5F, c.beta = bits & 4 ? -2 : 0;
        c.batches = bits & 8 ? 3 : 1;
        c.is_by_row = bits & 1;
        compare(&c);
    }
}

/* Tensor maps need addresses and distances of 16 bytes. */
static void unaligned_products_use_other_kernels(void **unused) {
    (void)unused;
    Case c = plain_case();
    c.expects_tensor = false;
    c.pad = 4;
    compare(&c);
    c.pad = 0, c.offset = 4;
    compare(&c);
    c.offset = 0, c.k = 63;
    compare(&c);
    c.k = 64, c.in = c.out = CUDA_R_32F;
    compare(&c);
}

/* Random cases; a result by columns may begin anywhere, so its last stores are narrow. */
static void random_products(void **unused) {
    (void)unused;
    uint32_t seed = 53;
    for (int i = 0; i < 12; i++) {
        Case c = plain_case();
        c.m = 64 + (int)next_number(&seed, 400), c.n = 16 + (int)next_number(&seed, 300);
        c.k = 64 + (int)next_number(&seed, 140);
        c.transposes_a = next_number(&seed, 2), c.transposes_b = next_number(&seed, 2);
        c.is_by_row = next_number(&seed, 2);
        c.pad = 8 * (int)next_number(&seed, 2);
        c.beta = (float)next_number(&seed, 2);
        c.batches = 1 + (int)next_number(&seed, 3);
        if (next_number(&seed, 2)) c.in = CUDA_R_16BF;
        c.out = next_number(&seed, 2) ? c.in : CUDA_R_32F;
        compare(&c);
    }
}

static int start(void **unused) {
    (void)unused;
    if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) return -1;
    return cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS ? 0 : -1;
}

static int end(void **unused) {
    (void)unused;
    return cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_and_type),
        cmocka_unit_test(tiles_and_clusters_of_every_size),
        cmocka_unit_test(wide_tiles),
        cmocka_unit_test(scalars_epilogues_and_batches),
        cmocka_unit_test(unaligned_products_use_other_kernels),
        cmocka_unit_test(random_products),
    };
    return cmocka_run_group_tests(tests, start, end);
}
