/* Launches through the driver API: all forms of parameters, simulated time, faults that stay with
 * their context, textures, and two simulators in one process in addition to the driver's. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tyto/cuda.h"
#include "tyto/tyto.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

#define HEADER ".version 7.5\n.target sm_75\n.address_size 64\n"

/* out[thread] = thread * factor + small, with parameters of three sizes and padding between
 * them. */
static const char scale_ptx[] =
    HEADER ".visible .entry scale(.param .u64 out, .param .u8 small, .param .u32 factor) {\n"
           "  .reg .b32 %r<5>;\n  .reg .b64 %rd<4>;\n  .reg .b16 %h<2>;\n"
           "  ld.param.u64 %rd1, [out];\n  ld.param.u8 %h1, [small];\n"
           "  ld.param.u32 %r1, [factor];\n"
           "  mov.u32 %r2, %tid.x;\n  mul.lo.u32 %r3, %r2, %r1;\n  cvt.u32.u16 %r4, %h1;\n"
           "  add.u32 %r3, %r3, %r4;\n  mul.wide.u32 %rd2, %r2, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
           "  st.global.u32 [%rd3], %r3;\n  ret;\n}\n";

/* store: writes through the given pointer; stop: traps; empty; big: 200,000 bytes of shared
 * memory. */
static const char faults_ptx[] = HEADER
    ".visible .entry store(.param .u64 where) {\n"
    "  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [where];\n  st.global.u32 [%rd1], 1;\n  ret;\n}\n"
    ".visible .entry stop() { trap; }\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry big() { .shared .align 4 .b8 s[200000]; .reg .b32 %r<2>;\n"
    "  mov.u32 %r1, s; st.shared.u32 [%r1], 0; ret; }\n";

/* out[thread] = texel (thread, 1) of a texture. */
static const char texture_ptx[] =
    HEADER ".visible .entry fetch(.param .u64 texture, .param .u64 out) {\n"
           "  .reg .b32 %r<4>;\n  .reg .f32 %f<6>;\n  .reg .b64 %rd<5>;\n"
           "  ld.param.u64 %rd1, [texture];\n  ld.param.u64 %rd2, [out];\n"
           "  mov.u32 %r1, %tid.x;\n  cvt.rn.f32.u32 %f1, %r1;\n  mov.f32 %f2, 0f3F800000;\n"
           "  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f2}];\n"
           "  mul.wide.u32 %rd3, %r1, 4;\n  add.u64 %rd4, %rd2, %rd3;\n"
           "  st.global.f32 [%rd4], %f2;\n  ret;\n}\n";

static CUcontext context;
static CUmodule module;

static CUfunction function_of(const char *ptx, const char *name) {
    CUfunction function;
    assert_cuda(cuModuleLoadData(&module, ptx));
    assert_cuda(cuModuleGetFunction(&function, module, name));
    return function;
}

static int set_up(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

static int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, unsigned threads, void **parameters) {
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
}

static void check_scaled(CUdeviceptr out, unsigned factor, unsigned small) {
    uint32_t values[40];
    assert_cuda(cuMemcpyDtoH(values, out, sizeof values));
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(values[i], i * factor + small);
}

/* ---- Parameters ---- */

static void test_parameter_forms(void **state) {
    (void)state;
    CUfunction scale = function_of(scale_ptx, "scale");
    CUdeviceptr out;
    uint8_t small = 200;
    uint32_t factor = 3;
    assert_cuda(cuMemAlloc(&out, 160));
    assert_cuda(launch(scale, 40, (void *[]){&out, &small, &factor}));
    check_scaled(out, 3, 200);

    struct {
        CUdeviceptr out;
        uint8_t small;
        uint32_t factor;
    } packed = {out, 7, 5};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    assert_cuda(cuLaunchKernel(scale, 1, 1, 1, 40, 1, 1, 0, NULL, NULL, extra));
    check_scaled(out, 5, 7);

    factor = 11;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {1, 1, 1, 40, 1, 1, 0, NULL, &attribute, 1};
    assert_cuda(cuLaunchKernelEx(&config, scale, (void *[]){&out, &small, &factor}, NULL));
    check_scaled(out, 11, 200);
}

static void test_parameter_mistakes(void **state) {
    (void)state;
    CUfunction scale = function_of(scale_ptx, "scale");
    uint64_t buffer[2] = {0};
    size_t size = 15; /* the kernel's parameters take 16 bytes */
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    void *odd[] = {(void *)7, buffer, CU_LAUNCH_PARAM_END};
    void *missing[] = {buffer, NULL, buffer};
    assert_fails(launch(scale, 1, NULL), INVALID_VALUE);
    assert_fails(launch(scale, 1, missing), INVALID_VALUE);
    assert_fails(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), INVALID_VALUE);
    assert_fails(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, odd), INVALID_VALUE);
    assert_fails(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, missing, extra), INVALID_VALUE);
    assert_fails(launch((CUfunction)module, 1, NULL), INVALID_HANDLE);
    assert_cuda(cuCtxSynchronize()); /* none of these errors affects the context */
}

static void test_shapes(void **state) {
    (void)state;
    CUfunction empty = function_of(faults_ptx, "empty");
    assert_cuda(launch(empty, 1024, NULL));
    assert_fails(launch(empty, 1025, NULL), INVALID_VALUE);
    assert_fails(launch(empty, 0, NULL), INVALID_VALUE);
    assert_fails(cuLaunchKernel(empty, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL), INVALID_VALUE);
    assert_fails(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 1 << 30, NULL, NULL, NULL), INVALID_VALUE);
    assert_fails(cuLaunchCooperativeKernel(empty, 100000, 1, 1, 1024, 1, 1, 0, NULL, NULL),
                 COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_cuda(cuCtxSynchronize());
}

/* ---- Faults ---- */

static void test_faults_stay(void **state) {
    (void)state;
    CUfunction store = function_of(faults_ptx, "store");
    CUdeviceptr address = 0, other;
    uint32_t word;
    CUevent event;
    CUcontext current;
    assert_cuda(cuMemAlloc(&other, 4));
    assert_cuda(cuEventCreate(&event, 0));
    assert_fails(launch(store, 1, (void *[]){&address}), ILLEGAL_ADDRESS);
    assert_fails(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    assert_fails(cuMemcpyDtoH(&word, other, 4), ILLEGAL_ADDRESS);
    assert_fails(cuEventQuery(event), ILLEGAL_ADDRESS);
    assert_fails(launch(store, 1, (void *[]){&other}), ILLEGAL_ADDRESS);
    assert_cuda(cuCtxGetCurrent(&current)); /* calls that need no device still work */
    /* another context is not affected */
    CUcontext fresh;
    assert_cuda(cuCtxCreate(&fresh, NULL, 0, 0));
    store = function_of(faults_ptx, "store");
    assert_cuda(cuMemAlloc(&other, 4));
    assert_cuda(launch(store, 1, (void *[]){&other}));
    assert_cuda(cuMemcpyDtoH(&word, other, 4));
    assert_int_equal(word, 1);
    assert_cuda(cuCtxDestroy(fresh));
}

static void test_fault_codes(void **state) {
    (void)state;
    CUcontext fresh;
    CUdeviceptr address;
    assert_cuda(cuMemAlloc(&address, 8));
    address += 2; /* misaligned for four bytes */
    assert_cuda(cuCtxCreate(&fresh, NULL, 0, 0));
    assert_fails(launch(function_of(faults_ptx, "store"), 1, (void *[]){&address}),
                 MISALIGNED_ADDRESS);
    assert_cuda(cuCtxDestroy(fresh));
    assert_cuda(cuCtxCreate(&fresh, NULL, 0, 0));
    assert_fails(launch(function_of(faults_ptx, "stop"), 1, NULL), LAUNCH_FAILED);
    assert_cuda(cuCtxDestroy(fresh));
}

static void test_primary_reset_mends(void **state) {
    (void)state;
    CUcontext primary;
    CUdeviceptr address = 4096;
    assert_cuda(cuDevicePrimaryCtxRetain(&primary, 0));
    assert_cuda(cuCtxPushCurrent(primary));
    assert_fails(launch(function_of(faults_ptx, "store"), 1, (void *[]){&address}),
                 ILLEGAL_ADDRESS);
    assert_fails(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    assert_cuda(cuDevicePrimaryCtxReset(0));
    assert_cuda(cuCtxSynchronize());
    assert_cuda(cuCtxPopCurrent(NULL));
    assert_cuda(cuDevicePrimaryCtxRelease(0));
}

/* ---- Time, occupancy, textures ---- */

static void test_elapsed_time(void **state) {
    (void)state;
    CUfunction empty = function_of(faults_ptx, "empty");
    CUevent start, middle, end;
    float once, thrice;
    assert_cuda(cuEventCreate(&start, 0));
    assert_cuda(cuEventCreate(&middle, 0));
    assert_cuda(cuEventCreate(&end, 0));
    assert_cuda(cuEventRecord(start, NULL));
    assert_cuda(launch(empty, 1024, NULL));
    assert_cuda(cuEventRecord(middle, NULL));
    for (int i = 0; i < 3; i++)
        assert_cuda(launch(empty, 1024, NULL));
    assert_cuda(cuEventRecord(end, NULL));
    assert_cuda(cuEventElapsedTime(&once, start, middle));
    assert_cuda(cuEventElapsedTime(&thrice, middle, end));
    assert_true(once > 0);
    assert_true(thrice > 2.9f * once && thrice < 3.1f * once);
    assert_cuda(cuEventElapsedTime(&once, end, start));
    assert_true(once < 0);
}

static size_t shared_of(int block_size) { return 64 * (size_t)block_size; }

static void test_occupancy(void **state) {
    (void)state;
    CUfunction empty = function_of(faults_ptx, "empty"), big;
    int blocks, grid, block;
    size_t shared;
    assert_cuda(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, 0));
    assert_int_equal(blocks, 2); /* 2048 threads per SM */
    assert_cuda(cuModuleGetFunction(&big, module, "big"));
    assert_cuda(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 32, 0));
    assert_int_equal(blocks, 1);
    assert_cuda(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 264); /* two on each of 132 SMs */
    assert_cuda(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, NULL, 0, 96));
    assert_int_equal(block, 64); /* 32 blocks of 64 threads fill an SM, 21 of 96 do not */
    assert_cuda(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, shared_of, 0, 0));
    assert_true(block > 0 && block <= 1024);
    assert_cuda(cuOccupancyAvailableDynamicSMemPerBlock(&shared, big, 1, 32));
    assert_int_equal(shared, (227 << 10) - 200000);
    assert_fails(cuOccupancyAvailableDynamicSMemPerBlock(&shared, big, 2, 32), INVALID_VALUE);
    assert_fails(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 0, 0), INVALID_VALUE);
}

static void test_texture(void **state) {
    (void)state;
    enum { WIDTH = 8, HEIGHT = 2 };
    float texels[HEIGHT][WIDTH], got[WIDTH];
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ((float *)texels)[i] = 0.5f * (float)i;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    assert_cuda(cuArrayCreate(&array, &shape));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof texels[0],
                          .Height = HEIGHT};
    assert_cuda(cuMemcpy2D(&copy));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC sampling = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP}};
    CUtexObject texture;
    CUdeviceptr out;
    assert_cuda(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    assert_cuda(cuMemAlloc(&out, sizeof got));
    assert_cuda(launch(function_of(texture_ptx, "fetch"), WIDTH, (void *[]){&texture, &out}));
    assert_cuda(cuMemcpyDtoH(got, out, sizeof got));
    assert_memory_equal(got, texels[1], sizeof got);
}

static void test_texture_of_freed_memory(void **state) {
    (void)state;
    CUdeviceptr buffer, out;
    CUtexObject texture;
    assert_cuda(cuMemAlloc(&buffer, 64));
    assert_cuda(cuMemAlloc(&out, 64));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                   .res.pitch2D = {.devPtr = buffer,
                                                   .format = CU_AD_FORMAT_FLOAT,
                                                   .numChannels = 1,
                                                   .width = 4,
                                                   .height = 2,
                                                   .pitchInBytes = 32}};
    CUDA_TEXTURE_DESC sampling = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP}};
    assert_cuda(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    CUfunction fetch = function_of(texture_ptx, "fetch");
    assert_cuda(launch(fetch, 4, (void *[]){&texture, &out}));
    assert_cuda(cuMemFree(buffer));
    assert_fails(launch(fetch, 4, (void *[]){&texture, &out}), ILLEGAL_ADDRESS);
}

/* Managed memory, if the address space allows it: one pointer for host and kernel. */
static void test_managed(void **state) {
    (void)state;
    CUdeviceptr address;
    CUresult status = cuMemAllocManaged(&address, 160, CU_MEM_ATTACH_GLOBAL);
    if (status == CUDA_ERROR_NOT_SUPPORTED) skip();
    assert_cuda(status);
    uint32_t *words = (uint32_t *)(uintptr_t)address;
    memset(words, 0, 160);
    uint8_t small = 1;
    uint32_t factor = 2;
    assert_cuda(launch(function_of(scale_ptx, "scale"), 40, (void *[]){&address, &small, &factor}));
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(words[i], 2 * i + 1);
    bool is_managed = false;
    assert_cuda(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    assert_true(is_managed);
    assert_cuda(cuMemFree(address));
    assert_fails(cuMemAllocManaged(&address, 160, 0), INVALID_VALUE);
}

/* ---- Simulators in addition to the driver's ---- */

static void *run_simulator(void *argument) {
    const uint32_t *factor = argument;
    char message[256];
    const char *words[] = {"--memory", "16MiB", "--quiet", "--functional"};
    TytoSimulator *simulator = tyto_new(4, words, message, sizeof message);
    assert_non_null(simulator);
    TytoModule *loaded;
    assert_int_equal(tyto_load(simulator, "scale.ptx", scale_ptx, strlen(scale_ptx), &loaded),
                     TYTO_OK);
    uint64_t out;
    uint8_t small = 1;
    uint32_t values[32];
    assert_int_equal(tyto_alloc(simulator, sizeof values, &out), TYTO_OK);
    const void *arguments[] = {&out, &small, factor};
    TytoLaunch request = {.module = loaded,
                          .grid = {1, 1, 1},
                          .block = {32, 1, 1},
                          .arguments = arguments,
                          .argument_count = 3};
    for (int i = 0; i < 50; i++)
        assert_int_equal(tyto_launch(simulator, &request), TYTO_OK);
    assert_int_equal(tyto_read(simulator, out, values, sizeof values), TYTO_OK);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i * *factor + 1);
    assert_int_equal(tyto_result_count(simulator), 50);
    TytoResult result = tyto_result(simulator, 49);
    assert_string_equal(result.kernel, "scale");
    assert_int_equal(result.thread_instructions, 32 * result.warp_instructions);
    /* errors have messages */
    request.argument_count = 2;
    assert_int_equal(tyto_launch(simulator, &request), TYTO_BAD_LAUNCH);
    assert_non_null(strstr(tyto_message(simulator), "takes 3 arguments"));
    assert_int_equal(tyto_alloc(simulator, 1 << 30, &out), TYTO_OUT_OF_MEMORY);
    assert_non_null(strstr(tyto_message(simulator), "--memory"));
    assert_int_equal(tyto_read(simulator, 64, values, 4), TYTO_BAD_ADDRESS);
    assert_int_equal(tyto_load(simulator, "bad.ptx", "x", 1, &loaded), TYTO_BAD_PTX);
    assert_non_null(strstr(tyto_message(simulator), "bad.ptx:1:"));
    assert_null(loaded);
    char *json = tyto_report_json(simulator, "test");
    assert_non_null(strstr(json, "\"kernel\": \"scale\""));
    free(json);
    tyto_free(simulator);
    return NULL;
}

static void test_two_simulators(void **state) {
    (void)state;
    uint32_t factors[] = {3, 1000};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run_simulator, &factors[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

#define WITH_CONTEXT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_CONTEXT(test_parameter_forms), WITH_CONTEXT(test_parameter_mistakes),
        WITH_CONTEXT(test_shapes),          WITH_CONTEXT(test_faults_stay),
        WITH_CONTEXT(test_fault_codes),     WITH_CONTEXT(test_primary_reset_mends),
        WITH_CONTEXT(test_elapsed_time),    WITH_CONTEXT(test_occupancy),
        WITH_CONTEXT(test_texture),         WITH_CONTEXT(test_texture_of_freed_memory),
        WITH_CONTEXT(test_managed),         cmocka_unit_test(test_two_simulators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
