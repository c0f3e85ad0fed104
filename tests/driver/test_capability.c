/* The compute capability that programs see, and the PTX that is selected for it.
 *
 * usage: test_driver_capability MAJOR.MINOR (with TYTO_OPTIONS that select it) */
#include "cudart/fatbin_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tyto/cuda.h"

static int expected; /* for example 75 for 7.5 */

static int start(void **state) {
    CUcontext context;
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

static int attribute(CUdevice_attribute which) {
    int value = -1;
    assert_int_equal(cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    return value;
}

static void the_device_tells_the_capability_it_was_given(void **state) {
    (void)state;
    int major = 0, minor = 0;
    assert_int_equal(cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
    assert_int_equal(10 * major + minor, expected);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), major);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), minor);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED), major >= 9);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT), major >= 9 ? 4 : 1);
}

/* Each text contains one kernel; its name contains the architecture. */
static void a_fat_binary_gives_the_ptx_for_it(void **state) {
    (void)state;
    static const unsigned given[] = {89, 52, 75, 90, 70, 86, 80};
    Maker maker;
    maker_begin(&maker);
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        char text[128];
        int length = snprintf(text, sizeof text,
                              ".version 8.0\n.target sm_%u\n.address_size 64\n"
                              ".visible .entry k%u() { ret; }\n",
                              given[i], given[i]);
        maker_add(&maker, MAKER_PLAIN, given[i], text, (size_t)length + 1, 0);
    }
    CUmodule module;
    assert_int_equal(cuModuleLoadFatBinary(&module, maker.bytes), CUDA_SUCCESS);
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        char name[16];
        CUfunction function;
        snprintf(name, sizeof name, "k%u", given[i]);
        assert_int_equal(cuModuleGetFunction(&function, module, name),
                         (int)given[i] == expected ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
    }
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_tells_the_capability_it_was_given),
        cmocka_unit_test(a_fat_binary_gives_the_ptx_for_it),
    };
    int major = 0, minor = 0;
    if (count != 2 || sscanf(words[1], "%d.%d", &major, &minor) != 2) return EXIT_FAILURE;
    expected = 10 * major + minor;
    return cmocka_run_group_tests(tests, start, NULL);
}
