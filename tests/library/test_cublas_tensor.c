/* Compares products on tensor cores with the same products without them, bit by bit: elements are
 * small whole numbers, whose sums are exact in any order, or also numbers that TF32 rounds. The
 * chosen kernel is read from a captured graph, which then runs. */
#include "tyto/cublasLt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../thin.h"
#include "tyto/cuda.h"

static cublasLtHandle_t handle;
static const char *kernels; /* how the names of the device's kernels for tensor cores begin */
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
    cublasComputeType_t compute;
    float alpha, beta;
    int epilogue, batches;
    bool shares_b; /* all products of a batch have the same B */
    int multiple;  /* of elements, to which lines of a matrix are rounded up */
    int pad;       /* elements between lines of a matrix, in addition */
    int offset;    /* elements by which matrices are moved */
    bool expects_tensor;
    bool is_by_mma;      /* on every device: the type has no other kernels for tensor cores */
    int width;           /* expected, of tiles; 0: any */
    bool needs_rounding; /* A and B have numbers that TF32 rounds; the product to compare with has
                            those after rounding */
} Case;

/* A matrix in device memory, and its layout. */
typedef struct Matrix {
    cublasLtMatrixLayout_t layout;
    CUdeviceptr memory;
    size_t bytes;
    void *first;
} Matrix;

/* What is added to the whole numbers of a matrix. */
enum Excess { NO_EXCESS, EXCESS, ROUNDED_EXCESS };

static size_t size_of(cudaDataType type) {
    return type == CUDA_R_32F || type == CUDA_R_32I ? 4 : type == CUDA_R_8I ? 1 : 2;
}

/* A whole number from -3 to 3 as a number of this type, in `to`. */
static void put_number(char *to, cudaDataType type, int number) {
    static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200};
    const float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint16_t half = (uint16_t)(halves[abs(number)] | (number < 0 ? 0x8000 : 0));
    const uint16_t bfloat = (uint16_t)(bits >> 16);
    if (type == CUDA_R_8I) *to = (char)number;
    else if (type == CUDA_R_32I) memcpy(to, &number, 4);
    else if (type == CUDA_R_32F) memcpy(to, &bits, 4);
    else memcpy(to, type == CUDA_R_16F ? &half : &bfloat, 2);
}

/* Adds to the lowest 13 bits of a float, which TF32 lacks. `is_rounded`: the sum is rounded to
 * TF32, to nearest, ties away from zero. */
static void put_excess(char *to, uint32_t excess, bool is_rounded) {
    uint32_t bits;
    memcpy(&bits, to, 4);
    if (bits << 1 == 0) return;
    bits += excess;
    if (is_rounded) bits = (bits + 0x1000) & ~0x1fffU;
    memcpy(to, &bits, 4);
}

static Matrix make(const Case *c, int rows, int columns, cudaDataType type, uint32_t seed,
                   enum Excess excess) {
    const size_t size = size_of(type);
    const int line = c->is_by_row ? columns : rows, lines = c->is_by_row ? rows : columns;
    const int64_t lead = (line + c->multiple - 1) / c->multiple * c->multiple + c->pad,
                  stride = lead * lines;
    const size_t count = (size_t)(c->offset + stride * c->batches);
    Matrix matrix = {.bytes = count * size};
    char *numbers = calloc(count, size);
    /* A's excess is below half of the last place, B's may be half of it: sums stay exact. */
    const uint32_t most = seed == 1 ? 0x0fff : 0x1000;
    for (size_t i = 0; i < count; i++) {
        put_number(numbers + i * size, type, (int)next_number(&seed, 7) - 3);
        if (excess)
            put_excess(numbers + i * size, most * next_number(&seed, 2), excess == ROUNDED_EXCESS);
    }
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
static char *multiply(const Case *c, cublasComputeType_t compute, enum Excess excess,
                      char kernel[64], size_t *bytes) {
    cublasLtMatmulDesc_t desc;
    CUgraph graph;
    Matrix a =
        make(c, c->transposes_a ? c->k : c->m, c->transposes_a ? c->m : c->k, c->in, 1, excess);
    Matrix b =
        make(c, c->transposes_b ? c->n : c->k, c->transposes_b ? c->k : c->n, c->in, 2, excess);
    Matrix d = make(c, c->m, c->n, c->out, 3, NO_EXCESS);
    Matrix bias = make(c, c->m, 1, c->out, 4, NO_EXCESS);
    if (c->shares_b)
        check(cublasLtMatrixLayoutSetAttribute(
            b.layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &(int64_t){0}, sizeof(int64_t)));
    const int32_t whole[] = {(int32_t)c->alpha, (int32_t)c->beta};
    const bool is_whole = c->out == CUDA_R_32I;
    const void *alpha = is_whole ? (const void *)&whole[0] : &c->alpha;
    const void *beta = is_whole ? (const void *)&whole[1] : &c->beta;
    const int32_t opa = c->transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t opb = c->transposes_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescCreate(&desc, compute, is_whole ? CUDA_R_32I : CUDA_R_32F));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &opa, sizeof opa));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &opb, sizeof opb));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &c->epilogue,
                                         sizeof c->epilogue));
    check(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.first,
                                         sizeof bias.first));
    check_driver(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    check(cublasLtMatmul(handle, desc, alpha, a.first, a.layout, b.first, b.layout, beta, d.first,
                         d.layout, d.first, d.layout, NULL, NULL, 0, stream));
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
    char *got = multiply(c, c->compute, c->needs_rounding ? EXCESS : NO_EXCESS, kernel, &bytes);
    char *expected =
        multiply(c, c->in == CUDA_R_8I ? CUBLAS_COMPUTE_32I_PEDANTIC : CUBLAS_COMPUTE_32F_PEDANTIC,
                 c->needs_rounding ? ROUNDED_EXCESS : NO_EXCESS, plain, &plain_bytes);
    const bool is_tensor = starts_with(kernel, c->is_by_mma ? "mma_" : kernels);
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
                  .compute = CUBLAS_COMPUTE_32F,
                  .alpha = 1,
                  .multiple = 8,
                  .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                  .batches = 1,
                  .expects_tensor = true};
}

/* Step of a loop over sets of bits; odd, so that every bit changes. */
static int odd_step(void) { return thin_step() | 1; }

static void every_layout_and_type(void **unused) {
    (void)unused;
    for (int bits = 0; bits < 32; bits += odd_step()) {
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
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i += (size_t)thin_step()) {
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
        c.m = c.n = 600, c.width = strcmp(kernels, "mma_") == 0 ? 128 : 256;
        c.transposes_a = c.transposes_b = transposes;
        compare(&c);
    }
}

static void scalars_epilogues_and_batches(void **unused) {
    (void)unused;
    static const int epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
                                    CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS};
    for (int bits = 0; bits < 16; bits += odd_step()) {
        Case c = plain_case();
        c.m = 100, c.n = 70;
        c.epilogue = epilogues[bits % 4];
        c.alpha = 0.5F, c.beta = bits & 4 ? -2 : 0;
        c.batches = bits & 8 ? 3 : 1;
        c.is_by_row = bits & 1;
        compare(&c);
    }
}

static Case tf32_case(void) {
    Case c = plain_case();
    c.in = c.out = CUDA_R_32F;
    c.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    c.is_by_mma = c.needs_rounding = true;
    return c;
}

static void tf32_in_every_layout(void **unused) {
    (void)unused;
    static const cublasComputeType_t types[] = {
        CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF};
    for (int bits = 0; bits < 16; bits += odd_step()) {
        Case c = tf32_case();
        c.m = 200, c.n = 137, c.k = 66 + bits;
        c.transposes_a = bits & 1, c.transposes_b = bits & 2, c.is_by_row = bits & 4;
        c.compute = types[bits % 3];
        c.multiple = 4;
        c.beta = (float)(bits >> 3);
        compare(&c);
    }
}

/* More stages than shared memory has room for; the depth ends within a stage, or with one. */
static void deep_products(void **unused) {
    (void)unused;
    for (int bits = 0; bits < 16; bits += odd_step()) {
        Case c = bits & 8 ? tf32_case() : plain_case();
        c.m = 260, c.n = 300, c.k = bits & 4 ? 640 : 703;
        c.transposes_a = bits & 1, c.transposes_b = bits & 2;
        c.needs_rounding = false; /* its sums would not be exact */
        compare(&c);
    }
    Case c = plain_case();
    c.in = CUDA_R_8I, c.out = CUDA_R_32I, c.compute = CUBLAS_COMPUTE_32I;
    c.m = 260, c.n = 300, c.k = 1300, c.multiple = 16;
    c.transposes_a = c.is_by_mma = true;
    compare(&c);
}

/* No tensor map has a distance of 0. */
static void batches_share_an_operand(void **unused) {
    (void)unused;
    for (int by_row = 0; by_row < 2; by_row++) {
        Case c = plain_case();
        c.batches = 3, c.shares_b = c.is_by_mma = true;
        c.is_by_row = by_row;
        compare(&c);
    }
}

static void eight_bit_integers(void **unused) {
    (void)unused;
    for (int bits = 0; bits < 16; bits += odd_step()) {
        Case c = plain_case();
        c.m = bits & 8 ? 1000 : 132, c.n = 140, c.k = 190;
        c.in = CUDA_R_8I, c.out = bits & 1 ? CUDA_R_32F : CUDA_R_32I;
        c.compute = CUBLAS_COMPUTE_32I;
        c.alpha = 2, c.beta = bits & 2 ? -1 : 0;
        c.multiple = 16;
        c.is_by_row = bits & 4;
        c.transposes_a = !c.is_by_row, c.transposes_b = c.is_by_row;
        c.is_by_mma = true;
        compare(&c);
    }
    Case c = plain_case(); /* by lines, which ldmatrix cannot transpose */
    c.in = CUDA_R_8I, c.out = CUDA_R_32I, c.compute = CUBLAS_COMPUTE_32I, c.multiple = 16;
    c.expects_tensor = false;
    compare(&c);
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
    c.k = 64, c.in = c.out = CUDA_R_32F; /* no TF32 */
    compare(&c);
    c = tf32_case();
    c.expects_tensor = c.needs_rounding = false;
    c.multiple = 4, c.pad = 2;
    compare(&c);
}

/* Random cases; a result by columns may begin anywhere, so its last stores are narrow. */
static void random_products(void **unused) {
    (void)unused;
    uint32_t seed = 53;
    for (int i = 0; i < 12; i += thin_step()) {
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
    CUdevice device;
    int major = 0;
    if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) return -1;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return -1;
    check_driver(
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    kernels = major == 9 ? "wgmma_" : "mma_";
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
        cmocka_unit_test(tf32_in_every_layout),
        cmocka_unit_test(eight_bit_integers),
        cmocka_unit_test(deep_products),
        cmocka_unit_test(batches_share_an_operand),
        cmocka_unit_test(unaligned_products_use_other_kernels),
        cmocka_unit_test(random_products),
    };
    return cmocka_run_group_tests(tests, start, end);
}
