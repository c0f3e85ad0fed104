/* libcudart.so.12: the version, device properties as CUDA 12's programs expect them, and errors
 * that only CUDA 12 has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fatbin_maker.h"

/* Our header is CUDA 13's and does not declare these. */
int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaGetDeviceProperties(void *properties, int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaThreadSynchronize(void);
int cudaLaunchCooperativeKernelMultiDevice(void);
int cudaMemAdvise(const void *pointer, size_t size, int advice, int device);
int cudaMallocManaged(void **pointer, size_t size, unsigned flags);
typedef struct Size {
    unsigned x, y, z;
} Size;
int cudaLaunchKernel(const void *function, Size grid, Size block, void **arguments,
                     size_t shared_bytes, void *stream);
typedef struct EdgeData {
    unsigned char from_port, to_port, type, reserved[5];
} EdgeData;
int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphAddEmptyNode(void **node, void *graph, void *const *before, size_t count);
int cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to,
                                const EdgeData *edges, size_t count);
int cudaGraphRemoveDependencies_v2(void *graph, void *const *from, void *const *to,
                                   const EdgeData *edges, size_t count);
int cudaGraphGetEdges_v2(void *graph, void **from, void **to, EdgeData *edges, size_t *count);
int cudaGraphNodeGetDependencies_v2(void *node, void **nodes, EdgeData *edges, size_t *count);
int cudaGraphNodeGetDependentNodes_v2(void *node, void **nodes, EdgeData *edges, size_t *count);
int cudaStreamUpdateCaptureDependencies_v2(void *stream, void **nodes, const EdgeData *edges,
                                           size_t count, unsigned flags);
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *thread, void *block, Size *threads, Size *blocks,
                            int *warp_size);

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

static void test_launches_have_the_codes_of_the_manual(void **state) {
    (void)state;
    static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry nothing()\n{\nret;\n}\n";
    static Maker binary;
    static MakerWrapper wrapper;
    static char kernel, unknown;
    const Size one = {1, 1, 1}, many = {2048, 1, 1};
    maker_begin(&binary);
    maker_add(&binary, MAKER_PLAIN, 75, ptx, sizeof ptx, 0);
    wrapper = maker_wrap(&binary);
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &kernel, NULL, "nothing", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
    assert_int_equal(cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL), 0);
    assert_int_equal(cudaLaunchKernel(&kernel, one, many, NULL, 0, NULL), 9);
    assert_int_equal(cudaLaunchKernel(&kernel, one, one, NULL, 50000, NULL), 1);
    assert_int_equal(cudaLaunchKernel(&unknown, one, one, NULL, 0, NULL), 98);
}

/* Since 12.3, programs call the forms with data of dependencies by these names. */
static void test_dependencies_have_data(void **state) {
    (void)state;
    static const EdgeData full, programmatic = {1, 0, 1, {0}};
    EdgeData found = programmatic;
    void *graph, *a, *b, *node = NULL;
    size_t count = 1;
    assert_int_equal(cudaGraphCreate(&graph, 0), 0);
    assert_int_equal(cudaGraphAddEmptyNode(&a, graph, NULL, 0), 0);
    assert_int_equal(cudaGraphAddEmptyNode(&b, graph, NULL, 0), 0);
    assert_int_equal(cudaGraphAddDependencies_v2(graph, &a, &b, &programmatic, 1), 1);
    assert_int_equal(cudaGraphAddDependencies_v2(graph, &a, &b, &full, 1), 0);
    assert_int_equal(cudaGraphNodeGetDependencies_v2(b, &node, &found, &count), 0);
    assert_ptr_equal(node, a);
    assert_memory_equal(&found, &full, sizeof found);
    assert_int_equal(cudaGraphNodeGetDependentNodes_v2(a, &node, &found, &count), 0);
    assert_ptr_equal(node, b);
    assert_int_equal(cudaGraphGetEdges_v2(graph, NULL, NULL, NULL, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(cudaGraphRemoveDependencies_v2(graph, &a, &b, &programmatic, 1), 1);
    assert_int_equal(cudaGraphRemoveDependencies_v2(graph, &a, &b, &full, 1), 0);
    assert_int_equal(cudaStreamUpdateCaptureDependencies_v2(NULL, &a, &full, 1, 0), 401);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties_lie_where_cuda_12_has_them),
        cmocka_unit_test(test_old_signatures_and_names),
        cmocka_unit_test(test_launches_have_the_codes_of_the_manual),
        cmocka_unit_test(test_dependencies_have_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
