/* libcudart.so.12: the version, and device properties where CUDA 12's programs look for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Not declared by our header, which is CUDA 13's. */
int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaGetDeviceProperties(void *properties, int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaThreadSynchronize(void);
int cudaLaunchCooperativeKernelMultiDevice(void);
int cudaMemAdvise(const void *pointer, size_t size, int advice, int device);
int cudaMallocManaged(void **pointer, size_t size, unsigned flags);

enum {
    SIZE = 1032,
    SIZE_11 = 712,
    WARP_SIZE_AT = 308,
    CLOCK_AT = 348,
    MAJOR_AT = 360,
    SMS_AT = 388
};

static int int_at(const unsigned char *bytes, size_t at) {
    int value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static void test_properties_lie_where_cuda_12_has_them(void **state) {
    (void)state;
    unsigned char properties[SIZE + 8];
    int sms, clock;
    memset(properties, 0xee, sizeof properties);
    assert_int_equal(cudaGetDeviceProperties_v2(properties, 0), 0);
    assert_int_equal(cudaDeviceGetAttribute(&clock, 13, 0), 0);
    assert_int_equal(cudaDeviceGetAttribute(&sms, 16, 0), 0);
    assert_int_equal(int_at(properties, WARP_SIZE_AT), 32);
    assert_int_equal(int_at(properties, CLOCK_AT), clock);
    assert_int_equal(int_at(properties, MAJOR_AT), 7);
    assert_int_equal(int_at(properties, SMS_AT), sms);
    assert_int_equal(properties[SIZE], 0xee);
    memset(properties, 0xee, sizeof properties);
    assert_int_equal(cudaGetDeviceProperties(properties, 0), 0);
    assert_int_equal(int_at(properties, SMS_AT), sms);
    assert_int_equal(properties[SIZE_11], 0xee);
}

static void test_old_signatures_and_names(void **state) {
    (void)state;
    int version = 0;
    void *pointer;
    assert_int_equal(cudaRuntimeGetVersion(&version), 0);
    assert_int_equal(version / 1000, 12);
    assert_int_equal(cudaThreadSynchronize(), 0);
    assert_int_equal(cudaLaunchCooperativeKernelMultiDevice(), 801);
    if (cudaMallocManaged(&pointer, 64, 1) == 0)
        assert_int_equal(cudaMemAdvise(pointer, 64, 3, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties_lie_where_cuda_12_has_them),
        cmocka_unit_test(test_old_signatures_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
