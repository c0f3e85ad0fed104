/* Compares our cuBLAS with plain loops. */
#include "tyto/cublas.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

static cublasHandle_t handle;

static void check(cublasStatus_t status) {
    assert_string_equal(cublasGetStatusName(status), "CUBLAS_STATUS_SUCCESS");
}

/* Small integers; a seed always gives the same ones. */
static int next_number(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return (int)(*seed >> 24) % 7 - 3;
}

static void *copy_to_device(const void *data, size_t bytes) {
    CUdeviceptr address;
    assert_int_equal(cuMemAlloc(&address, bytes), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyHtoD(address, data, bytes), CUDA_SUCCESS);
    return (void *)(uintptr_t)address;
}

static void drop(const void *pointer) {
    assert_int_equal(cuMemFree((CUdeviceptr)(uintptr_t)pointer), CUDA_SUCCESS);
}

/* Helpers for the tests of one precision. */
#define HELPERS(T, x)                                                                              \
    static void x##_fill(T *numbers, int count, uint32_t seed) {                                   \
        for (int i = 0; i < count; i++)                                                            \
            numbers[i] = (T)next_number(&seed);                                                    \
    }                                                                                              \
    static T *x##_put(const T *numbers, int count) {                                               \
        return copy_to_device(numbers, (size_t)count * sizeof(T));                                 \
    }                                                                                              \
    static void x##_expect(const T *device, const T *expected, int count) {                        \
        T *got = malloc((size_t)count * sizeof(T));                                                \
        assert_int_equal(                                                                          \
            cuMemcpyDtoH(got, (CUdeviceptr)(uintptr_t)device, (size_t)count * sizeof(T)), 0);      \
        for (int i = 0; i < count; i++)                                                            \
            if (got[i] != expected[i])                                                             \
                fail_msg("number %d: %g, not %g", i, (double)got[i], (double)expected[i]);         \
        free(got);                                                                                 \
    }
HELPERS(float, s)
HELPERS(double, d)

#define T                  float
#define FN(name)           s_##name
#define CUBLAS(name)       cublasS##name
#define CUBLAS_INDEX(name) cublasIs##name
#include "cublas_precision.def"
#undef T
#undef FN
#undef CUBLAS
#undef CUBLAS_INDEX
#define T                  double
#define FN(name)           d_##name
#define CUBLAS(name)       cublasD##name
#define CUBLAS_INDEX(name) cublasId##name
#include "cublas_precision.def"

/* ---- Types of half size and smaller ---- */

static uint16_t to_half(float x) { /* for small integers and multiples of 0.5 */
    if (x == 0) return 0;
    int exponent;
    float fraction = frexpf(fabsf(x), &exponent);
    return (uint16_t)((x < 0) << 15 | (exponent + 14) << 10 | ((int)(fraction * 2048) & 1023));
}

static uint16_t to_bfloat(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float from_bits(uint16_t bits, bool is_bfloat) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    if (is_bfloat) return value;
    int exponent = bits >> 10 & 31;
    float magnitude = exponent ? ldexpf((float)(1024 + (bits & 1023)), exponent - 25)
                               : ldexpf((float)(bits & 1023), -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

typedef struct Mixed {
    cudaDataType in, out;
    cublasComputeType_t compute;
} Mixed;

static void store_number(void *at, int i, cudaDataType type, int number) {
    switch (type) {
    case CUDA_R_16F: ((uint16_t *)at)[i] = to_half((float)number); break;
    case CUDA_R_16BF: ((uint16_t *)at)[i] = to_bfloat((float)number); break;
    case CUDA_R_8I: ((int8_t *)at)[i] = (int8_t)number; break;
    case CUDA_R_32I: ((int32_t *)at)[i] = number; break;
    default: ((float *)at)[i] = (float)number;
    }
}

static double load_number(const void *at, int i, cudaDataType type) {
    switch (type) {
    case CUDA_R_16F: return (double)from_bits(((const uint16_t *)at)[i], false);
    case CUDA_R_16BF: return (double)from_bits(((const uint16_t *)at)[i], true);
    case CUDA_R_32I: return ((const int32_t *)at)[i];
    default: return (double)((const float *)at)[i];
    }
}

/* The sums are integers below 256, which all types represent exactly. */
static void products_take_narrow_types(void **state) {
    (void)state;
    static const Mixed cases[] = {
        {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
        {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
        {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
        {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
        {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
        {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
        {CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F},
        {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    };
    enum { M = 20, N = 18, K = 9 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Mixed *mixed = &cases[i];
        uint32_t seed = (uint32_t)i;
        int a[M * K], b[K * N];
        uint32_t bytes_a[M * K], bytes_b[K * N], bytes_c[M * N] = {0}, one[1], zero[1] = {0};
        for (int e = 0; e < M * K; e++)
            store_number(bytes_a, e, mixed->in, a[e] = next_number(&seed));
        for (int e = 0; e < K * N; e++)
            store_number(bytes_b, e, mixed->in, b[e] = next_number(&seed));
        store_number(one, 0,
                     mixed->compute == CUBLAS_COMPUTE_16F   ? CUDA_R_16F
                     : mixed->compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
                                                            : CUDA_R_32F,
                     1);
        void *da = copy_to_device(bytes_a, sizeof bytes_a),
             *db = copy_to_device(bytes_b, sizeof bytes_b),
             *dc = copy_to_device(bytes_c, sizeof bytes_c);
        check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, one, da, mixed->in, M, db,
                           mixed->in, K, zero, dc, mixed->out, M, mixed->compute,
                           CUBLAS_GEMM_DEFAULT));
        assert_int_equal(cuMemcpyDtoH(bytes_c, (CUdeviceptr)(uintptr_t)dc, sizeof bytes_c), 0);
        for (int e = 0; e < M * N; e++) {
            int sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[e % M + k * M] * b[k + e / M * K];
            if (load_number(bytes_c, e, mixed->out) != sum)
                fail_msg("types %zu, number %d: %g, not %d", i, e,
                         load_number(bytes_c, e, mixed->out), sum);
        }
        drop(da), drop(db), drop(dc);
    }
}

/* An element of a product of floats that TF32 rounds down. */
static float product_sum(cublasMath_t mode, cublasComputeType_t compute, bool is_sgemm) {
    enum { N = 64 };
    const float one = 1, zero = 0;
    float a[N * N], b[N * N], *da, *db, sum = 0;
    for (int i = 0; i < N * N; i++)
        a[i] = 1 + ldexpf(1, -12), b[i] = 1; /* TF32 has 10 bits after the point */
    da = copy_to_device(a, sizeof a), db = copy_to_device(b, sizeof b);
    float *dc = copy_to_device(b, sizeof b);
    check(cublasSetMathMode(handle, mode));
    if (is_sgemm)
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one, da, N, db, N, &zero, dc,
                          N));
    else
        check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, da, CUDA_R_32F, N, db,
                           CUDA_R_32F, N, &zero, dc, CUDA_R_32F, N, compute, CUBLAS_GEMM_DEFAULT));
    assert_int_equal(cuMemcpyDtoH(&sum, (CUdeviceptr)(uintptr_t)dc, sizeof sum), CUDA_SUCCESS);
    check(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    drop(da), drop(db), drop(dc);
    return sum;
}

static void floats_are_rounded_only_on_request(void **state) {
    (void)state;
    const float exact = 64 + ldexpf(1, -6), rounded = 64;
    const cublasMath_t also = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    const struct {
        cublasMath_t mode;
        cublasComputeType_t compute;
        bool is_sgemm;
        float sum;
    } calls[] = {
        {CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F, true, exact},
        {CUBLAS_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F, false, exact},
        {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F, true, rounded},
        {CUBLAS_TF32_TENSOR_OP_MATH | also, CUBLAS_COMPUTE_32F, false, rounded},
        {CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_TF32, false, rounded},
        {CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_16BF, false, rounded},
        {CUBLAS_PEDANTIC_MATH, CUBLAS_COMPUTE_32F_FAST_TF32, false, exact},
        {CUBLAS_PEDANTIC_MATH | also, CUBLAS_COMPUTE_32F_FAST_TF32, false, exact},
        {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F_PEDANTIC, false, exact},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const float sum = product_sum(calls[i].mode, calls[i].compute, calls[i].is_sgemm);
        if (sum != calls[i].sum)
            fail_msg("call %zu: %.9g, not %.9g", i, (double)sum, (double)calls[i].sum);
    }
}

static void vectors_take_half_precision(void **state) {
    (void)state;
    enum { N = 50 };
    for (int is_bfloat = 0; is_bfloat < 2; is_bfloat++) {
        cudaDataType type = is_bfloat ? CUDA_R_16BF : CUDA_R_16F;
        uint16_t x[N], y[N], result;
        float factor = 2, sum = 0;
        uint32_t seed = 5;
        for (int i = 0; i < N; i++) {
            int a = next_number(&seed), b = next_number(&seed);
            store_number(x, i, type, a);
            store_number(y, i, type, b);
            sum += (float)(a * 2 * (2 * a + b));
        }
        void *dx = copy_to_device(x, sizeof x), *dy = copy_to_device(y, sizeof y);
        check(cublasAxpyEx(handle, N, &factor, CUDA_R_32F, dx, type, 1, dy, type, 1, CUDA_R_32F));
        check(cublasScalEx(handle, N, &factor, CUDA_R_32F, dx, type, 1, CUDA_R_32F));
        check(cublasDotEx(handle, N, dx, type, 1, dy, type, 1, &result, type, CUDA_R_32F));
        assert_true(fabsf(from_bits(result, is_bfloat != 0) - sum) <= fabsf(sum) / 256);
        check(cublasNrm2Ex(handle, 0, dx, type, 1, &result, type, CUDA_R_32F));
        assert_int_equal(result, 0);
        drop(dx), drop(dy);
    }
}

/* ---- Copies, settings, refusals ---- */

static void matrices_and_vectors_are_copied_there_and_back(void **state) {
    (void)state;
    float a[5 * 4], b[6 * 4] = {0}, x[9], y[4] = {0};
    s_fill(a, 20, 1);
    s_fill(x, 9, 2);
    void *device = copy_to_device(b, sizeof b);
    check(cublasSetMatrix(3, 4, sizeof(float), a, 5, device, 7 - 1));
    check(cublasGetMatrix(3, 4, sizeof(float), device, 6, b, 4));
    for (int i = 0; i < 12; i++)
        assert_true(b[i % 3 + i / 3 * 4] == a[i % 3 + i / 3 * 5]);
    check(cublasSetVector(4, sizeof(float), x, 2, device, 3));
    check(cublasGetVector(4, sizeof(float), device, 3, y, 1));
    for (int i = 0; i < 4; i++)
        assert_true(y[i] == x[2 * i]);
    drop(device);
}

static void settings_are_kept(void **state) {
    (void)state;
    cublasMath_t math;
    cublasPointerMode_t mode;
    cudaStream_t stream;
    int version;
    check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    check(cublasGetMathMode(handle, &math));
    assert_int_equal(math, CUBLAS_TF32_TENSOR_OP_MATH);
    check(cublasGetPointerMode(handle, &mode));
    assert_int_equal(mode, CUBLAS_POINTER_MODE_HOST);
    assert_int_equal(cublasSetPointerMode(handle, (cublasPointerMode_t)2),
                     CUBLAS_STATUS_INVALID_VALUE);
    check(cublasGetStream(handle, &stream));
    assert_null(stream);
    check(cublasGetVersion(handle, &version));
    assert_int_equal(version, CUBLAS_VERSION);
    check(cublasGetProperty(MAJOR_VERSION, &version));
    assert_int_equal(version, CUBLAS_VER_MAJOR);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    float one = 1, *device = copy_to_device(&one, sizeof one);
    assert_int_equal(cublasSscal(NULL, 1, &one, device, 1), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasDestroy(NULL), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, device, 1, device,
                                 1, &one, device, 2),
                     CUBLAS_STATUS_INVALID_VALUE); /* lda is too small */
    assert_int_equal(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 1, &one, device, 1,
                                 device, 1, &one, device, 2),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(
        cublasSgemv(handle, CUBLAS_OP_N, 1, 1, &one, device, 1, device, 0, &one, device, 1),
        CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, device,
                                  CUDA_R_8F_E4M3, 1, device, CUDA_R_8F_E4M3, 1, &one, device,
                                  CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(cublasCreate(NULL), CUBLAS_STATUS_INVALID_VALUE);
    drop(device);
}

/* ---- All of it ---- */

static int start(void **state) {
    (void)state;
    return cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
}

static int end(void **state) {
    (void)state;
    return cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
}

#define PRECISIONS(name) cmocka_unit_test(s_##name), cmocka_unit_test(d_##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        PRECISIONS(reductions_are_those_of_plain_loops),
        PRECISIONS(results_and_factors_may_lie_on_the_device),
        PRECISIONS(vectors_are_copied_scaled_swapped_and_turned),
        PRECISIONS(rotations_turn_their_pair_onto_an_axis),
        PRECISIONS(a_matrix_and_a_band_times_a_vector_are_right),
        PRECISIONS(symmetric_matrices_times_a_vector_are_right),
        PRECISIONS(triangles_multiply_and_solve),
        PRECISIONS(updates_of_rank_one_and_two_are_right),
        PRECISIONS(products_of_matrices_are_right_in_every_form),
        PRECISIONS(many_vectors_at_once_are_right),
        PRECISIONS(whole_matrices_are_added_and_scaled),
        cmocka_unit_test(products_take_narrow_types),
        cmocka_unit_test(floats_are_rounded_only_on_request),
        cmocka_unit_test(vectors_take_half_precision),
        cmocka_unit_test(matrices_and_vectors_are_copied_there_and_back),
        cmocka_unit_test(settings_are_kept),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, start, end);
}
