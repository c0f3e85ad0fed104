/* cuBLAS without handles, compared with expected values and with the functions that take a
 * handle. */
#include "tyto/cublas_old.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};

enum { SIDE = 3, COUNT = SIDE * SIDE };

static void *put(const void *numbers, int count, int bytes) {
    void *pointer;
    assert_int_equal(cublasAlloc(count, bytes, &pointer), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasSetVector(count, bytes, numbers, 1, pointer, 1), CUBLAS_STATUS_SUCCESS);
    return pointer;
}

static void take(void *pointer, void *numbers, int count, int bytes) {
    assert_int_equal(cublasGetVector(count, bytes, pointer, 1, numbers, 1), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasFree(pointer), CUBLAS_STATUS_SUCCESS);
}

static int start(void **state) {
    (void)state;
    return cublasInit() != CUBLAS_STATUS_SUCCESS || cublasGetError() != CUBLAS_STATUS_SUCCESS;
}

static int stop(void **state) {
    (void)state;
    return cublasGetError() != CUBLAS_STATUS_SUCCESS || cublasShutdown() != CUBLAS_STATUS_SUCCESS;
}

static void nothing_works_before_init(void **state) {
    (void)state;
    void *pointer = NULL;
    assert_int_equal(cublasAlloc(1, 4, &pointer), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_null(pointer);
    assert_int_equal(cublasSasum(1, NULL, 1), 0);
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasShutdown(), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_NOT_INITIALIZED);
}

static void mistakes_are_kept_until_they_are_asked_for(void **state) {
    (void)state;
    void *pointer;
    int version = 0;
    assert_int_equal(cublasInit(), CUBLAS_STATUS_SUCCESS); /* a second time */
    assert_int_equal(cublasAlloc(0, 4, &pointer), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasAlloc(INT32_MAX, INT32_MAX, &pointer), CUBLAS_STATUS_ALLOC_FAILED);
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_ALLOC_FAILED);
    assert_int_equal(cublasFree(NULL), CUBLAS_STATUS_SUCCESS);
    float zero[COUNT] = {0};
    float *a = put(zero, COUNT, sizeof *zero);
    static const char wrong[] = "X?\0n";
    for (int i = 0; i < 4; i++) {
        cublasSgemm(wrong[i], 'N', 1, 1, 1, 1, a, SIDE, a, SIDE, 0, a, SIDE);
        assert_int_equal(cublasGetError(),
                         wrong[i] == 'n' ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE);
    }
    cublasSsyr('N', 1, 1, a, 1, a, SIDE);
    cublasStrsv('U', 'N', 'N', 1, a, SIDE, a, 1); /* keeps the earlier status */
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasFree(a), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasGetVersion(&version), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(version, CUBLAS_VERSION);
    assert_int_equal(cublasSetKernelStream(NULL), CUBLAS_STATUS_SUCCESS);
}

static void numbers_come_back(void **state) {
    (void)state;
    const float s[] = {3, -4, 1}, other[] = {1, 2, 3};
    const double d[] = {3, -4, 0};
    const cuComplex c[] = {{1, 2}, {-3, 0}};
    const cuDoubleComplex z[] = {{0, 1}, {2, 2}};
    float *ps = put(s, 3, sizeof *s), *po = put(other, 3, sizeof *other);
    double *pd = put(d, 3, sizeof *d);
    cuComplex *pc = put(c, 2, sizeof *c);
    cuDoubleComplex *pz = put(z, 2, sizeof *z);
    assert_int_equal(cublasIsamax(3, ps, 1), 2);
    assert_int_equal(cublasIdamin(3, pd, 1), 3);
    assert_int_equal(cublasIcamax(2, pc, 1), 1);
    assert_true(cublasSasum(3, ps, 1) == 8 && cublasDnrm2(3, pd, 1) == 5);
    assert_true(cublasScasum(2, pc, 1) == 6 && cublasDznrm2(2, pz, 1) == 3);
    assert_true(cublasSdot(3, ps, 1, po, 1) == -2 && cublasSdot(2, ps, 2, po, -1) == 7);
    const cuComplex u = cublasCdotu(2, pc, 1, pc, 1), h = cublasCdotc(2, pc, 1, pc, 1);
    assert_true(u.x == 6 && u.y == 4 && h.x == 14 && h.y == 0);
    const cuDoubleComplex w = cublasZdotu(2, pz, 1, pz, 1);
    assert_true(w.x == -1 && w.y == 8);
    void *const all[] = {ps, po, pd, pc, pz};
    for (int i = 0; i < 5; i++)
        assert_int_equal(cublasFree(all[i]), CUBLAS_STATUS_SUCCESS);
}

static void letters_say_what_enums_do(void **state) {
    (void)state;
    const float a[COUNT] = {1, 2, 3, 0, 4, 5, 7, 0, 6}, b[COUNT] = {1, -1, 2, 3, 0, 1, 5, 2, 2};
    cublasHandle_t handle;
    assert_int_equal(cublasCreate_v2(&handle), CUBLAS_STATUS_SUCCESS);
    const float alpha = 2, beta = -1;
    float got[COUNT], expected[COUNT], *pa = put(a, COUNT, sizeof *a);
/* Runs both calls on copies of b, and compares the results. */
#define ALIKE(old_call, new_call)                                                                  \
    do {                                                                                           \
        float *p = put(b, COUNT, sizeof *b), *q = put(b, COUNT, sizeof *b);                        \
        old_call;                                                                                  \
        assert_int_equal(new_call, CUBLAS_STATUS_SUCCESS);                                         \
        take(p, got, COUNT, sizeof *got);                                                          \
        take(q, expected, COUNT, sizeof *expected);                                                \
        assert_memory_equal(got, expected, sizeof got);                                            \
        assert_memory_not_equal(got, b, sizeof b);                                                 \
        assert_int_equal(cublasGetError(), CUBLAS_STATUS_SUCCESS);                                 \
    } while (0)
    static const char ops[] = "NnTtCc", fills[] = "LlUu", diags[] = "NnUu", sides[] = "LlRr";
    for (unsigned i = 0; i < 6; i++)
        for (unsigned j = 0; j < 4; j++) {
            const cublasOperation_t op = (cublasOperation_t)(i / 2);
            const cublasFillMode_t fill = (cublasFillMode_t)(j / 2);
            const cublasDiagType_t diag = (cublasDiagType_t)(j / 2);
            const cublasSideMode_t side = (cublasSideMode_t)((i + j) % 4 / 2);
            const char s = sides[(i + j) % 4];
            ALIKE(cublasSgemm(ops[i], 'T', 3, 3, 3, alpha, pa, 3, pa, 3, beta, p, 3),
                  cublasSgemm_v2(handle, op, CUBLAS_OP_T, 3, 3, 3, &alpha, pa, 3, pa, 3, &beta, q,
                                 3));
            ALIKE(cublasStrmm(s, fills[j], ops[i], diags[j], 3, 3, alpha, pa, 3, p, 3),
                  cublasStrmm_v2(handle, side, fill, op, diag, 3, 3, &alpha, pa, 3, q, 3, q, 3));
            ALIKE(cublasStrsm(s, fills[j], ops[i], diags[j], 3, 3, alpha, pa, 3, p, 3),
                  cublasStrsm_v2(handle, side, fill, op, diag, 3, 3, &alpha, pa, 3, q, 3));
            ALIKE(cublasSsyrk(fills[j], ops[i], 3, 2, alpha, pa, 3, beta, p, 3),
                  cublasSsyrk_v2(handle, fill, op, 3, 2, &alpha, pa, 3, &beta, q, 3));
            ALIKE(cublasSgbmv(ops[i], 3, 3, 1, 1, alpha, pa, 3, pa, 1, beta, p, 1),
                  cublasSgbmv_v2(handle, op, 3, 3, 1, 1, &alpha, pa, 3, pa, 1, &beta, q, 1));
        }
    ALIKE(cublasSger(3, 3, alpha, pa, 1, pa, 1, p, 3),
          cublasSger_v2(handle, 3, 3, &alpha, pa, 1, pa, 1, q, 3));
    ALIKE(cublasSrot(3, p, 1, p + 3, 1, alpha, beta),
          cublasSrot_v2(handle, 3, q, 1, q + 3, 1, &alpha, &beta));
#undef ALIKE
    assert_int_equal(cublasFree(pa), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasDestroy_v2(handle), CUBLAS_STATUS_SUCCESS);
}

static void factors_of_complex_numbers_are_passed_by_value(void **state) {
    (void)state;
    const cuComplex x[] = {{1, 2}, {3, -1}};
    cuComplex got[4], zero[4] = {0}, *px = put(x, 2, sizeof *x), *pa = put(zero, 4, sizeof *zero);
    cublasCgerc(2, 2, (cuComplex){0, 1}, px, 1, px, 1, pa, 2);
    take(pa, got, 4, sizeof *got); /* i x x' */
    static const cuComplex outer[] = {{0, 5}, {7, 1}, {-7, 1}, {0, 10}};
    assert_memory_equal(got, outer, sizeof outer);
    pa = put(zero, 4, sizeof *zero);
    cublasCher('U', 2, 2, px, 1, pa, 2);
    take(pa, got, 4, sizeof *got);
    assert_true(got[0].x == 10 && got[2].x == 2 && got[2].y == 14 && got[3].x == 20);
    cublasCsscal(2, 3, px, 1);
    take(px, got, 2, sizeof *got);
    assert_true(got[0].y == 6 && got[1].x == 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_init),
        cmocka_unit_test_setup_teardown(mistakes_are_kept_until_they_are_asked_for, start, stop),
        cmocka_unit_test_setup_teardown(numbers_come_back, start, stop),
        cmocka_unit_test_setup_teardown(letters_say_what_enums_do, start, stop),
        cmocka_unit_test_setup_teardown(factors_of_complex_numbers_are_passed_by_value, start,
                                        stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
