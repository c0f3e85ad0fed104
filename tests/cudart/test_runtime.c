/* The runtime API as a program's compiled code uses it: registration, launches, errors, memory. */
#include "tyto/cuda_runtime_api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fatbin_maker.h"

/* scale multiplies every element of `data` by `factor`; fault stores to address 8. */
static const char ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .b8 table[16];\n"
    ".visible .entry scale(.param .u64 data, .param .u32 factor)\n{\n"
    ".reg .u32 %r<4>; .reg .u64 %rd<4>;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [factor]; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r3, [%rd3]; mul.lo.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}\n"
    ".visible .entry fault()\n{\n.reg .u64 %rd<2>;\n"
    "mov.u64 %rd1, 8; st.global.u64 [%rd1], %rd1; ret;\n}\n";

static Maker binary, broken;
static MakerWrapper wrapper, broken_wrapper;
static void **handle;
static void scale_host(void) {}
static void fault_host(void) {}
static void broken_host(void) {}
static void unknown_host(void) {}
static char counter_host, table_host, unknown_symbol;

static const void *key(void (*function)(void)) {
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static void add_kernel(void **to, void (*host)(void), const char *name) {
    __cudaRegisterFunction(to, key(host), (char *)(size_t)name, name, -1, NULL, NULL, NULL, NULL,
                           NULL);
}

static int setup(void **state) {
    (void)state;
    maker_begin(&binary);
    maker_add(&binary, MAKER_PLAIN, 75, ptx, sizeof ptx, 0);
    wrapper = maker_wrap(&binary);
    handle = __cudaRegisterFatBinary(&wrapper);
    add_kernel(handle, scale_host, "scale");
    add_kernel(handle, fault_host, "fault");
    __cudaRegisterVar(handle, &counter_host, &counter_host, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &table_host, &table_host, "table", 0, 16, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
    maker_begin(&broken);
    maker_add(&broken, MAKER_CUBIN, 75, "ELF", 3, 0);
    broken_wrapper = maker_wrap(&broken);
    void **other = __cudaRegisterFatBinary(&broken_wrapper);
    add_kernel(other, broken_host, "scale");
    __cudaRegisterFatBinaryEnd(other);
    return 0;
}

static cudaError_t launch(void (*host)(void), unsigned threads, void **arguments) {
    return cudaLaunchKernel(key(host), (dim3){1, 1, 1}, (dim3){threads, 1, 1}, arguments, 0, NULL);
}

static void test_a_kernel_runs(void **state) {
    (void)state;
    unsigned data[4] = {1, 2, 3, 4}, factor = 5;
    void *device;
    assert_int_equal(cudaMalloc(&device, sizeof data), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, data, sizeof data, cudaMemcpyHostToDevice), cudaSuccess);
    void *arguments[] = {&device, &factor};
    assert_int_equal(launch(scale_host, 4, arguments), cudaSuccess);
    cudaKernel_t kernel;
    assert_int_equal(__cudaGetKernel(&kernel, key(scale_host)), cudaSuccess);
    assert_int_equal(
        __cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){4, 1, 1}, arguments, 0, NULL),
        cudaSuccess);
    assert_int_equal(cudaMemcpy(data, device, sizeof data, cudaMemcpyDefault), cudaSuccess);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(data[i], (i + 1) * 25);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* A library with kernels and variables is loaded, used, and closed. */
static void test_a_closed_librarys_kernels_are_gone(void **state) {
    (void)state;
    static char late_kernel, late_symbol;
    void **late = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(late, &late_kernel, NULL, "scale", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(late, &late_symbol, &late_symbol, "counter", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(late);
    cudaKernel_t kernel;
    size_t size;
    assert_int_equal(cudaGetKernel(&kernel, &late_kernel), cudaSuccess);
    assert_int_equal(cudaGetSymbolSize(&size, &late_symbol), cudaSuccess);
    __cudaUnregisterFatBinary(late);
    assert_int_equal(cudaGetKernel(&kernel, &late_kernel), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaGetSymbolSize(&size, &late_symbol), cudaErrorInvalidSymbol);
    cudaGetLastError();
}

static void test_configurations_stack(void **state) {
    (void)state;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
                     cudaErrorMissingConfiguration);
    for (unsigned i = 1; i <= 2; i++)
        assert_int_equal(__cudaPushCallConfiguration((dim3){i, 2, 3}, (dim3){4, 5, 6}, 7 * i,
                                                     cudaStreamPerThread),
                         0);
    for (unsigned i = 2; i >= 1; i--) {
        assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
        assert_int_equal(grid.x, i);
        assert_int_equal(block.z, 6);
        assert_int_equal(shared, 7 * i);
        assert_ptr_equal(stream, cudaStreamPerThread);
    }
    assert_int_equal(cudaGetLastError(), cudaErrorMissingConfiguration);
}

static void test_symbols(void **state) {
    (void)state;
    unsigned value = 0;
    size_t size;
    assert_int_equal(cudaMemcpyFromSymbol(&value, &counter_host, 4, 0, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(value, 7);
    assert_int_equal(cudaGetSymbolSize(&size, &table_host), cudaSuccess);
    assert_int_equal(size, 16);
    assert_int_equal(cudaMemcpyToSymbol(&table_host, &value, 4, 12, cudaMemcpyHostToDevice),
                     cudaSuccess);
    assert_int_equal(cudaMemcpyToSymbol(&table_host, &value, 4, 13, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaGetSymbolSize(&size, &unknown_symbol), cudaErrorInvalidSymbol);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidSymbol);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void test_bad_launches_have_their_codes(void **state) {
    (void)state;
    void *arguments[] = {NULL, NULL};
    assert_int_equal(launch(unknown_host, 1, arguments), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaLaunchKernel(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL),
                     cudaErrorInvalidDeviceFunction);
    assert_int_equal(launch(broken_host, 1, arguments), cudaErrorNoKernelImageForDevice);
    assert_int_equal(launch(scale_host, 1, arguments), cudaErrorInvalidValue);
    unsigned factor = 1;
    void *device = NULL, *good[] = {&device, &factor};
    assert_int_equal(launch(scale_host, 4096, good), cudaErrorInvalidValue);
    assert_int_equal(launch(scale_host, 0, good), cudaErrorInvalidValue);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

static void test_a_fault_sticks_until_the_reset(void **state) {
    (void)state;
    void *device;
    assert_int_equal(launch(fault_host, 1, NULL), cudaSuccess); /* as if the kernel still ran */
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaMalloc(&device, 4), cudaErrorIllegalAddress);
    assert_int_equal(launch(fault_host, 1, NULL), cudaErrorIllegalAddress);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
    unsigned value = 0;
    assert_int_equal(cudaMemcpyFromSymbol(&value, &counter_host, 4, 0, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(value, 7);
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    assert_int_equal(launch(fault_host, 1, NULL), cudaErrorIllegalAddress);
    unsetenv("CUDA_LAUNCH_BLOCKING");
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
}

static void test_boxes_are_copied(void **state) {
    (void)state;
    enum { WIDTH = 5, HEIGHT = 4, DEPTH = 3 };
    unsigned char from[DEPTH][HEIGHT][WIDTH], to[DEPTH][HEIGHT][WIDTH] = {0};
    for (int i = 0; i < WIDTH * HEIGHT * DEPTH; i++)
        ((unsigned char *)from)[i] = (unsigned char)(i + 1);
    struct cudaExtent extent = {WIDTH, HEIGHT, DEPTH};
    struct cudaPitchedPtr device;
    assert_int_equal(cudaMalloc3D(&device, extent), cudaSuccess);
    struct cudaMemcpy3DParms in = {.srcPtr = {from, WIDTH, WIDTH, HEIGHT},
                                   .dstPtr = device,
                                   .extent = extent,
                                   .kind = cudaMemcpyHostToDevice};
    struct cudaMemcpy3DParms out = {.srcPtr = device,
                                    .dstPtr = {to, WIDTH, WIDTH, HEIGHT},
                                    .extent = extent,
                                    .kind = cudaMemcpyDeviceToHost};
    assert_int_equal(cudaMemcpy3D(&in), cudaSuccess);
    assert_int_equal(cudaMemcpy3D(&out), cudaSuccess);
    assert_memory_equal(from, to, sizeof from);
    assert_int_equal(cudaMemset3D(device, 9, extent), cudaSuccess);
    assert_int_equal(cudaMemcpy3D(&out), cudaSuccess);
    assert_int_equal(to[2][3][4], 9);
    out.kind = (enum cudaMemcpyKind)77;
    assert_int_equal(cudaMemcpy3D(&out), cudaErrorInvalidMemcpyDirection);
    assert_int_equal(
        cudaMemcpy2D(to, 2, device.ptr, device.pitch, WIDTH, 2, cudaMemcpyDeviceToHost),
        cudaErrorInvalidPitchValue);
    assert_int_equal(cudaFree(device.ptr), cudaSuccess);
    cudaGetLastError();
}

static void test_arrays_take_runs_and_rectangles(void **state) {
    (void)state;
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(16, 16, 0, 0,
                                                                cudaChannelFormatKindUnsigned),
                                 found;
    struct cudaExtent extent;
    unsigned from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {0}; /* 3 x 2 elements of 4 bytes */
    cudaArray_t array;
    assert_int_equal(cudaMallocArray(&array, &format, 3, 2, cudaArrayDefault), cudaSuccess);
    assert_int_equal(cudaArrayGetInfo(&found, &extent, NULL, array), cudaSuccess);
    assert_memory_equal(&found, &format, sizeof format);
    assert_int_equal(extent.width, 3);
    assert_int_equal(extent.height, 2);
    assert_int_equal(cudaMemcpyToArray(array, 0, 0, from, sizeof from, cudaMemcpyHostToDevice),
                     cudaSuccess);
    assert_int_equal(cudaMemcpyFromArray(to, array, 4, 0, 16, cudaMemcpyDeviceToHost), cudaSuccess);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(to[i], i + 2);
    assert_int_equal(cudaMemcpy2DFromArray(to, 8, array, 4, 0, 8, 2, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_int_equal(to[2], 5);
    assert_int_equal(cudaMemcpyToArray(array, 0, 0, from, 28, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    format.y = 8;
    assert_int_equal(cudaMallocArray(&array, &format, 3, 2, 0), cudaErrorInvalidChannelDescriptor);
    assert_int_equal(cudaFreeArray(array), cudaSuccess);
    cudaGetLastError();
}

static void test_pointers_tell_their_kind(void **state) {
    (void)state;
    struct cudaPointerAttributes attributes;
    int plain = 0;
    void *device, *pinned;
    assert_int_equal(cudaPointerGetAttributes(&attributes, &plain), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    cudaMalloc(&device, 64);
    cudaMallocHost(&pinned, 64);
    assert_int_equal(cudaPointerGetAttributes(&attributes, (char *)device + 5), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_null(attributes.hostPointer);
    assert_int_equal(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    assert_ptr_equal(attributes.hostPointer, pinned);
    assert_int_equal(cudaFree(device), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaMalloc(&device, 0), cudaSuccess);
    assert_null(device);
}

static void test_pools_keep_their_settings(void **state) {
    (void)state;
    struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                          .location = {cudaMemLocationTypeDevice, 0}};
    cudaMemPool_t pool, current;
    unsigned long long threshold = 123, read = 0;
    void *pointer;
    assert_int_equal(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
    assert_int_equal(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                     cudaSuccess);
    assert_int_equal(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read),
                     cudaSuccess);
    assert_int_equal(read, 123);
    assert_int_equal(cudaDeviceSetMemPool(0, pool), cudaSuccess);
    assert_int_equal(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
    assert_ptr_equal(current, pool);
    assert_int_equal(cudaMallocFromPoolAsync(&pointer, 64, pool, NULL), cudaSuccess);
    assert_int_equal(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &read),
                     cudaSuccess);
    assert_int_equal(read, 64);
    assert_int_equal(cudaFreeAsync(pointer, NULL), cudaSuccess);
    assert_int_equal(cudaMemPoolDestroy(pool), cudaSuccess);
    assert_int_equal(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void test_properties_and_attributes_agree(void **state) {
    (void)state;
    struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;
    int value, blocks;
    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0),
                     cudaSuccess);
    assert_int_equal(properties.multiProcessorCount, value);
    assert_int_equal(properties.major * 10 + properties.minor, 75);
    assert_int_equal(properties.memoryPoolsSupported, 1);
    assert_int_equal(properties.hostNumaId, -1);
    assert_int_equal(properties.ipcEventSupported, 1);
    assert_int_equal(properties.clusterLaunch, 0);
    assert_int_equal(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
    assert_int_equal(cudaFuncGetAttributes(&attributes, key(scale_host)), cudaSuccess);
    assert_int_equal(attributes.ptxVersion, 75);
    assert_true(attributes.numRegs > 0);
    assert_int_equal(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, key(scale_host), 128, 0),
        cudaSuccess);
    assert_true(blocks > 0);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    cudaGetLastError();
}

/* The library exports it, but no header declares it. */
cudaError_t cudaDeviceGetNvSciSyncAttributes(void *list, int device, int flags);

static void test_missing_functions_say_so(void **state) {
    (void)state;
    assert_int_equal(cudaDeviceGetNvSciSyncAttributes(NULL, 0, 0), cudaErrorNotSupported);
    assert_int_equal(cudaGetLastError(), cudaErrorNotSupported);
}

static void test_errors_have_names(void **state) {
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidConfiguration),
                        "cudaErrorInvalidConfiguration");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorString(cudaErrorAssert), "device-side assert triggered");
    assert_string_equal(cudaGetErrorString(cudaErrorInvalidPitchValue), "invalid pitch argument");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    for (int code = 0; code < 1000; code++) {
        if (strncmp(cudaGetErrorName((cudaError_t)code), "cuda", 4) == 0)
            assert_true(strlen(cudaGetErrorString((cudaError_t)code)) > 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_runs),
        cmocka_unit_test(test_a_closed_librarys_kernels_are_gone),
        cmocka_unit_test(test_configurations_stack),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_bad_launches_have_their_codes),
        cmocka_unit_test(test_a_fault_sticks_until_the_reset),
        cmocka_unit_test(test_boxes_are_copied),
        cmocka_unit_test(test_arrays_take_runs_and_rectangles),
        cmocka_unit_test(test_pointers_tell_their_kind),
        cmocka_unit_test(test_pools_keep_their_settings),
        cmocka_unit_test(test_properties_and_attributes_agree),
        cmocka_unit_test(test_missing_functions_say_so),
        cmocka_unit_test(test_errors_have_names),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
