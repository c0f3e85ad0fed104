/* Dividing a unified store: the driver's rule, preferences, and machines without a unified
 * store. */
#include "sm/carve_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { KIB = 1024 };

static const SmConfig volta = {
    .shared = {.size_bytes = 96 * KIB, .granularity_bytes = 1},
    .l1d_own = {.unified_bytes = 128 * KIB,
                .carve_outs = {.count = 6, .items = {0, 8, 16, 32, 64, 96}}}};

static void a_kernel_gets_the_least_that_holds_its_ctas(void **state) {
    (void)state;
    static const struct {
        uint32_t cta_bytes, ctas, kib;
    } rows[] = {{0, 32, 0},     {1024, 8, 8},      {1025, 8, 16},  {2048, 6, 16},
                {4096, 16, 64}, {96 * KIB, 1, 96}, {65536, 1, 64}, {65537, 1, 96},
                {1, 1, 8},      {33 * KIB, 2, 96}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            carve_out_bytes(&volta, rows[i].cta_bytes, rows[i].ctas, CARVE_OUT_DEFAULT),
            rows[i].kib * KIB);
        assert_int_equal(carve_out_ctas(&volta, rows[i].cta_bytes, rows[i].ctas, CARVE_OUT_DEFAULT),
                         rows[i].ctas);
    }
}

static void a_preference_is_of_the_most_and_holds_one_cta_at_least(void **state) {
    (void)state;
    static const struct {
        uint32_t cta_bytes, ctas;
        int percent;
        uint32_t kib, fit;
    } rows[] = {
        {0, 16, 0, 0, 16},        /* all to the L1D */
        {0, 16, 100, 96, 16},     /* all to shared memory, needed or not */
        {1024, 16, 50, 64, 16},   /* 48 KiB are not available */
        {6 * KIB, 16, 0, 8, 1},   /* one CTA fits, and no second one */
        {6 * KIB, 16, 33, 32, 5}, /* 31.7 KiB */
        {70 * KIB, 1, 0, 96, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(carve_out_bytes(&volta, rows[i].cta_bytes, rows[i].ctas, rows[i].percent),
                         rows[i].kib * KIB);
        assert_int_equal(carve_out_ctas(&volta, rows[i].cta_bytes, rows[i].ctas, rows[i].percent),
                         rows[i].fit);
    }
}

static void a_store_of_its_own_is_never_divided(void **state) {
    (void)state;
    SmConfig fermi = volta;
    fermi.l1d_own.unified_bytes = 0;
    assert_int_equal(carve_out_bytes(&fermi, 1024, 8, 0), 96 * KIB);
    assert_int_equal(carve_out_ctas(&fermi, 6 * KIB, 16, 0), 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_gets_the_least_that_holds_its_ctas),
        cmocka_unit_test(a_preference_is_of_the_most_and_holds_one_cta_at_least),
        cmocka_unit_test(a_store_of_its_own_is_never_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
