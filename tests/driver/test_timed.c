/* The driver API with timing, where copies also fill the L2. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tyto/cuda.h"

static int start(void **state) {
    CUcontext context;
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

/* Each of these once scanned the whole address space, while it held the lock that Ctrl-C needs. */
static void a_copy_to_a_wild_address_is_refused_at_once(void **state) {
    (void)state;
    static const struct {
        CUdeviceptr address;
        size_t size;
    } rows[] = {
        {UINT64_MAX, 4},      {UINT64_MAX, 1},         {UINT64_MAX, SIZE_MAX}, {0, 4},
        {UINT64_MAX - 63, 1}, {0xC0000000u, SIZE_MAX}, {1, UINT64_MAX},        {UINT64_MAX / 2, 1},
    };
    char bytes[8] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cuMemcpyHtoD(rows[i].address, bytes, rows[i].size),
                         CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cuMemcpyHtoD(rows[i].address, bytes, 0), CUDA_SUCCESS);
    }
}

static void a_copy_to_the_last_byte_of_memory_is_made(void **state) {
    (void)state;
    CUdeviceptr last;
    size_t free_bytes, all;
    char byte = 7, back = 0;
    assert_int_equal(cuMemGetInfo(&free_bytes, &all), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&last, free_bytes), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyHtoD(last + free_bytes - 1, &byte, 1), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyHtoD(last + free_bytes - 1, &byte, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(&back, last + free_bytes - 1, 1), CUDA_SUCCESS);
    assert_int_equal(back, 7);
    assert_int_equal(cuMemFree(last), CUDA_SUCCESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_to_a_wild_address_is_refused_at_once),
        cmocka_unit_test(a_copy_to_the_last_byte_of_memory_is_made),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
