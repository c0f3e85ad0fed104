/* Batches of more products than one launch has room for (65,535 blocks in z). */
#include "tyto/cublasLt.h"
#include "tyto/cublas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tyto/cuda.h"

enum { COUNT = 65540, ROWS = 2, AUX_BITS = 128 }; /* AUX_BITS: least distance of bits' columns */

static void check(cublasStatus_t status) { assert_int_equal(status, CUBLAS_STATUS_SUCCESS); }
static void check_driver(CUresult result) { assert_int_equal(result, CUDA_SUCCESS); }

static CUdeviceptr put(const void *data, size_t bytes) {
    CUdeviceptr memory;
    check_driver(cuMemAlloc(&memory, bytes));
    check_driver(cuMemcpyHtoD(memory, data, bytes));
    return memory;
}

/* Numbers with both signs. */
static float number(int i) { return (float)(i % 7 - 3); }

static CUdeviceptr numbers(size_t count) {
    float *all = malloc(count * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = number((int)i);
    const CUdeviceptr memory = put(all, count * sizeof *all);
    free(all);
    return memory;
}

static void *at(CUdeviceptr memory) { return (void *)(uintptr_t)memory; }

/* c = a b + 2 c, of single numbers. */
static void expect_products(CUdeviceptr c) {
    float *got = malloc(COUNT * sizeof *got);
    check_driver(cuMemcpyDtoH(got, c, COUNT * sizeof *got));
    for (int i = 0; i < COUNT; i++)
        assert_float_equal(got[i], number(i) * number(i) + 2 * number(i), 0);
    free(got);
    check_driver(cuMemFree(c));
}

static void strides(void **unused) {
    (void)unused;
    cublasHandle_t handle;
    const float alpha = 1, beta = 2;
    CUdeviceptr a = numbers(COUNT), c = numbers(COUNT);
    check(cublasCreate(&handle));
    check(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, at(a), 1, 1,
                                    at(a), 1, 1, &beta, at(c), 1, 1, COUNT));
    expect_products(c);
    check_driver(cuMemFree(a));
    check(cublasDestroy(handle));
}

static void lists(void **unused) {
    (void)unused;
    cublasHandle_t handle;
    const float alpha = 1, beta = 2;
    CUdeviceptr a = numbers(COUNT), c = numbers(COUNT);
    CUdeviceptr *of_a = malloc(COUNT * sizeof *of_a), *of_c = malloc(COUNT * sizeof *of_c);
    for (int i = 0; i < COUNT; i++) {
        of_a[i] = a + (CUdeviceptr)i * sizeof(float);
        of_c[i] = c + (CUdeviceptr)i * sizeof(float);
    }
    CUdeviceptr list_a = put(of_a, COUNT * sizeof *of_a), list_c = put(of_c, COUNT * sizeof *of_c);
    check(cublasCreate(&handle));
    check(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, at(list_a), 1,
                             at(list_a), 1, &beta, at(list_c), 1, COUNT));
    expect_products(c);
    check_driver(cuMemFree(a));
    check_driver(cuMemFree(list_a));
    check_driver(cuMemFree(list_c));
    free(of_a);
    free(of_c);
    check(cublasDestroy(handle));
}

static cublasLtMatrixLayout_t layout(int rows, int columns) {
    const int32_t count = COUNT;
    const int64_t stride = rows * columns;
    cublasLtMatrixLayout_t made;
    check(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, (uint64_t)rows, (uint64_t)columns, rows));
    check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                           sizeof count));
    check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &stride, sizeof stride));
    return made;
}

static void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which, int64_t value,
                size_t size) {
    check(cublasLtMatmulDescSetAttribute(desc, which, &value, size));
}

/* d = max(a b + bias, 0), and the bits of what is above 0. */
static void epilogues(void **unused) {
    (void)unused;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    const float alpha = 1, beta = 0;
    float(*got)[ROWS] = malloc(COUNT * sizeof *got);
    uint8_t(*bits)[AUX_BITS / 8] = calloc(COUNT, sizeof *bits);
    CUdeviceptr a = numbers(COUNT * ROWS), b = numbers(COUNT), bias = numbers(COUNT * ROWS),
                d = numbers(COUNT * ROWS), aux = put(bits, COUNT * sizeof *bits);
    cublasLtMatrixLayout_t of_a = layout(ROWS, 1), of_b = layout(1, 1), of_d = layout(ROWS, 1);
    check(cublasLtCreate(&handle));
    check(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, sizeof(int32_t));
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, (int64_t)bias, sizeof bias);
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, ROWS, sizeof(int64_t));
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, (int64_t)aux, sizeof aux);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, AUX_BITS, sizeof(int64_t));
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, AUX_BITS, sizeof(int64_t));
    check(cublasLtMatmul(handle, desc, &alpha, at(a), of_a, at(b), of_b, &beta, at(d), of_d, at(d),
                         of_d, NULL, NULL, 0, NULL));
    check_driver(cuMemcpyDtoH(got, d, COUNT * sizeof *got));
    check_driver(cuMemcpyDtoH(bits, aux, COUNT * sizeof *bits));
    for (int i = 0; i < COUNT * ROWS; i++) {
        const int item = i / ROWS, row = i % ROWS;
        const float sum = number(i) * number(item) + number(i);
        assert_float_equal(got[item][row], sum > 0 ? sum : 0, 0);
        assert_int_equal(bits[item][0] >> row & 1, sum > 0);
    }
    check(cublasLtMatmulDescDestroy(desc));
    cublasLtMatrixLayout_t const layouts[] = {of_a, of_b, of_d};
    for (int i = 0; i < 3; i++)
        check(cublasLtMatrixLayoutDestroy(layouts[i]));
    CUdeviceptr const memory[] = {a, b, bias, d, aux};
    for (int i = 0; i < 5; i++)
        check_driver(cuMemFree(memory[i]));
    check(cublasLtDestroy(handle));
    free(got);
    free(bits);
}

static int start(void **unused) {
    (void)unused;
    CUcontext context;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strides), cmocka_unit_test(lists),
                                       cmocka_unit_test(epilogues)};
    return cmocka_run_group_tests(tests, start, NULL);
}
