/* How many CTAs fit on an SM: each limit alone, with what is rounded up before it is shared out.
 * Machine gtx480: 1536 threads, 8 CTAs, 32768 registers by fours, 48 KiB of shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "timed.h"

/* CTAs of `threads` threads with `registers` each and `shared` bytes. */
static uint32_t occupancy(const char *sets, uint32_t threads, uint32_t registers, uint32_t shared) {
    static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                              ".visible .entry nothing() { ret; }\n";
    Timed timed;
    timed_start(&timed, "gtx480", sets, "lrr");
    GpuImage image = {.name = "test.ptx", .text = ptx, .length = strlen(ptx)};
    GpuModule *module = gpu_load(timed.gpu, &image, 1, timed.diag);
    assert_non_null(module);
    gpu_options(timed.gpu)->registers = registers;
    uint32_t ctas =
        gpu_occupancy(timed.gpu, module, gpu_find_function(module, "nothing"), threads, shared);
    gpu_unload(module);
    timed_stop(&timed);
    return ctas;
}

static void slots_and_threads_bound_small_and_large_ctas(void **state) {
    (void)state;
    assert_int_equal(occupancy("", 32, 8, 0), 8);
    assert_int_equal(occupancy("", 192, 8, 0), 8);
    assert_int_equal(occupancy("", 193, 8, 0), 6); /* seven warps: 224 threads */
    assert_int_equal(occupancy("", 224, 8, 0), 6);
    assert_int_equal(occupancy("", 1024, 8, 0), 1);
}

static void a_threads_registers_are_rounded_up(void **state) {
    (void)state;
    assert_int_equal(occupancy("", 256, 20, 0), 6); /* 5,120 of a CTA: 6.4, and threads for 6 */
    assert_int_equal(occupancy("", 256, 21, 0), 5); /* as 24: 6,144 of a CTA: 5.3 */
    assert_int_equal(occupancy("", 256, 24, 0), 5);
    assert_int_equal(occupancy("", 256, 25, 0), 4); /* as 28: 7,168 of a CTA: 4.6 */
    assert_int_equal(occupancy("sm.register_granularity=1", 256, 21, 0), 6);
    assert_int_equal(occupancy("sm.register_granularity=64", 256, 1, 0), 2);
    assert_int_equal(occupancy("", 1024, 33, 0), 0); /* 36,864 are more than there are */
}

static void a_ctas_shared_memory_is_rounded_up(void **state) {
    (void)state;
    assert_int_equal(occupancy("", 32, 8, 8192), 6);
    assert_int_equal(occupancy("", 32, 8, 8193), 5);
    assert_int_equal(occupancy("shared.granularity=256B", 32, 8, 7937), 6); /* as 8,192 */
    assert_int_equal(occupancy("shared.granularity=1KiB", 32, 8, 7169), 6);
    assert_int_equal(occupancy("shared.granularity=1KiB", 32, 8, 6145), 6); /* as 7,168 */
    assert_int_equal(occupancy("", 32, 8, 6145), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_and_threads_bound_small_and_large_ctas),
        cmocka_unit_test(a_threads_registers_are_rounded_up),
        cmocka_unit_test(a_ctas_shared_memory_is_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
