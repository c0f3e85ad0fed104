/* Our cuBLAS for each number type, real and complex, and with sizes of 32 and 64 bits, compared
 * with plain loops. */
#include "tyto/cublas.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

#ifndef CMPLX /* glibc's definition is only for gcc */
#define CMPLX(real, imaginary) __builtin_complex((double)(real), (double)(imaginary))
#endif

/* cuComplex and cuDoubleComplex are these types. */
struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};

typedef double complex Number;

static cublasHandle_t handle;

static void check(cublasStatus_t status) {
    assert_string_equal(cublasGetStatusName(status), "CUBLAS_STATUS_SUCCESS");
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

/* Within some roundings of single precision. */
static void assert_near(Number got, Number expected, const char *what, int place) {
    if (cabs(got - expected) > 2e-5 * (1 + cabs(expected)))
        fail_msg("%s, number %d: %g%+gi, not %g%+gi", what, place, creal(got), cimag(got),
                 creal(expected), cimag(expected));
}

/* Small integers; a seed always gives the same ones. */
static int next_number(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return (int)(*seed >> 24) % 7 - 3;
}

static void fill_reals(Number *numbers, int count, uint32_t seed) {
    for (int i = 0; i < count; i++)
        numbers[i] = next_number(&seed);
}

static void fill_complex(Number *numbers, int count, uint32_t seed) {
    for (int i = 0; i < count; i++) {
        const double real = next_number(&seed), imaginary = next_number(&seed);
        numbers[i] = CMPLX(real, imaginary);
    }
}

/* The size of a number, as level 1 defines it. */
static double size_of(Number x) { return fabs(creal(x)) + fabs(cimag(x)); }

/* Element (i, j) of op(A). */
static Number element(const Number *a, int lead, int op, int i, int j) {
    const Number x = op ? a[j + i * lead] : a[i + j * lead];
    return op == CUBLAS_OP_C ? conj(x) : x;
}

/* An element of a symmetric or Hermitian matrix that is stored as a triangle. */
static Number mirrored(const Number *a, int lead, bool is_lower, bool is_hermitian, int i, int j) {
    const bool is_stored = is_lower ? i >= j : i <= j;
    const Number x = is_stored ? a[i + j * lead] : a[j + i * lead];
    if (!is_hermitian) return x;
    return i == j ? creal(x) : is_stored ? x : conj(x);
}

static float s_make(Number x) { return (float)creal(x); }
static double d_make(Number x) { return creal(x); }
static cuComplex c_make(Number x) { return (cuComplex){(float)creal(x), (float)cimag(x)}; }
static cuDoubleComplex z_make(Number x) { return (cuDoubleComplex){creal(x), cimag(x)}; }
static Number s_number(float x) { return (double)x; }
static Number d_number(double x) { return x; }
static Number c_number(cuComplex x) { return CMPLX((double)x.x, (double)x.y); }
static Number z_number(cuDoubleComplex x) { return CMPLX(x.x, x.y); }

#define s_factor 3
#define d_factor 3
#define c_factor CMPLX(2, -3)
#define z_factor CMPLX(2, -3)
#define s_fill   fill_reals
#define d_fill   fill_reals
#define c_fill   fill_complex
#define z_fill   fill_complex

#define CUBLAS(name)            CUBLAS_(X, name, END)
#define CUBLAS_(X, name, end)   CUBLAS__(X, name, end)
#define CUBLAS__(X, name, end)  cublas##X##name##end
#define CUBLAS_NORM(name)       CUBLAS_(NORM, name##_v2, END)
#define CUBLAS_INDEX(name)      CUBLAS_(INDEX, name##_v2, END)
#define OF(name)                OF_(LETTER, name)
#define OF_(letter, name)       OF__(letter, name)
#define OF__(letter, name)      letter##_##name
#define FN(name)                FN_(LETTER, END, name)
#define FN_(letter, end, name)  FN__(letter, end, name)
#define FN__(letter, end, name) letter##end##_##name

#define INT int
#define END
#define HAS_FACTORS
#include "cublas_types_all.def"
#undef INT
#undef END
#undef HAS_FACTORS
#define INT int64_t
#define END _64
#include "cublas_types_all.def"

static void sizes_beyond_what_kernels_count_are_refused(void **state) {
    (void)state;
    const float one = 1;
    float *device = copy_to_device(&one, sizeof one);
    const int64_t many = INT64_C(1) << 31;
    assert_int_equal(
        cublasSgemv_64(handle, CUBLAS_OP_N, 1, many, &one, device, 1, device, 1, &one, device, 1),
        CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, many, 1, 1, &one, device,
                                    many, device, 1, &one, device, many),
                     CUBLAS_STATUS_INVALID_VALUE);
    drop(device);
}

static int start(void **state) {
    (void)state;
    return cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
}

static int end(void **state) {
    (void)state;
    return cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
}

#define TYPES(name)                                                                                \
    cmocka_unit_test(s_##name), cmocka_unit_test(d_##name), cmocka_unit_test(c_##name),            \
        cmocka_unit_test(z_##name)
#define BOTH_SIZES(name) TYPES(name), TYPES(64_##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH_SIZES(vectors_are_right),
        BOTH_SIZES(matrices_times_vectors_are_right),
        BOTH_SIZES(triangles_multiply_and_solve_on_either_side),
        BOTH_SIZES(products_and_ranks_are_right),
        BOTH_SIZES(mirrored_matrices_and_whole_ones_are_right),
        BOTH_SIZES(batches_of_products_with_vectors_are_right),
        TYPES(factors_solve_and_invert),
        cmocka_unit_test(sizes_beyond_what_kernels_count_are_refused),
    };
    return cmocka_run_group_tests(tests, start, end);
}
