/* The driver API without kernels: states, handles, memory, copies, modules, streams and events, and
 * the errors for mistakes. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "driver/api.h"
#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

static CUcontext context;

static int set_up(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

static int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* ---- States ---- */

static void test_before_init(void **state) {
    (void)state;
    int count;
    CUdeviceptr address;
    assert_fails(cuDeviceGetCount(&count), NOT_INITIALIZED);
    assert_fails(cuMemAlloc(&address, 4), NOT_INITIALIZED);
    assert_fails(cuInit(1), INVALID_VALUE);
    assert_cuda(cuInit(0));
    assert_cuda(cuInit(0));
    assert_fails(cuMemAlloc(&address, 4), INVALID_CONTEXT);
}

static void test_device(void **state) {
    (void)state;
    CUdevice device;
    int value, major, minor;
    char name[64], small[5];
    size_t bytes;
    assert_cuda(cuDeviceGet(&device, 0));
    assert_fails(cuDeviceGet(&device, 1), INVALID_DEVICE);
    assert_fails(cuDeviceGet(NULL, 0), INVALID_VALUE);
    assert_cuda(cuDeviceGetCount(&value));
    assert_int_equal(value, 1);
    assert_cuda(cuDeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "Tyto simulated GPU");
    assert_cuda(cuDeviceGetName(small, sizeof small, 0));
    assert_string_equal(small, "Tyto");
    assert_cuda(cuDeviceTotalMem(&bytes, 0));
    assert_int_equal(bytes, UINT64_C(1536) << 20); /* of gtx480 */
    assert_cuda(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    assert_int_equal(value, 32);
    assert_cuda(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
    assert_int_equal(value, 1024);
    assert_cuda(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0));
    assert_int_equal(value, 0);
    assert_fails(cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0), INVALID_VALUE);
    assert_cuda(cuDeviceComputeCapability(&major, &minor, 0));
    assert_int_equal(10 * major + minor, 75);
    CUdevprop properties;
    assert_cuda(cuDeviceGetProperties(&properties, 0));
    assert_int_equal(properties.SIMDWidth, 32);
    assert_int_equal(properties.maxGridSize[1], 65535);
}

static void test_errors_have_names(void **state) {
    (void)state;
    const char *text;
    assert_cuda(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_cuda(cuGetErrorString(CUDA_SUCCESS, &text));
    assert_string_equal(text, "no error");
    assert_cuda(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    assert_string_equal(text, "invalid argument");
    assert_cuda(cuGetErrorString(CUDA_ERROR_LAUNCH_TIMEOUT, &text));
    assert_string_equal(text, "the launch timed out and was terminated");
    assert_cuda(cuGetErrorName(CUDA_ERROR_UNKNOWN, &text));
    assert_fails(cuGetErrorName((CUresult)12345, &text), INVALID_VALUE);
    assert_null(text);
}

/* ---- Contexts ---- */

static void test_context_stack(void **state) {
    (void)state;
    CUcontext other, current;
    assert_cuda(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    assert_cuda(cuCtxCreate(&other, NULL, CU_CTX_SCHED_SPIN, 0));
    unsigned flags;
    assert_cuda(cuCtxGetFlags(&flags));
    assert_int_equal(flags, CU_CTX_SCHED_SPIN);
    assert_cuda(cuCtxPopCurrent(&current));
    assert_ptr_equal(current, other);
    assert_cuda(cuCtxPushCurrent(other));
    assert_cuda(cuCtxDestroy(other)); /* also pops it */
    assert_cuda(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    assert_fails(cuCtxPushCurrent(other), INVALID_CONTEXT);
    assert_fails(cuCtxDestroy(other), INVALID_CONTEXT);
    assert_cuda(cuCtxSetCurrent(NULL));
    assert_fails(cuCtxSynchronize(), INVALID_CONTEXT);
    assert_cuda(cuCtxSetCurrent(context));
}

/* Parameters of zeros request a context of the whole device; others are refused. */
static void test_context_parameters(void **state) {
    (void)state;
    CUcontext other = NULL, current;
    CUctxCreateParams parameters = {0};
    assert_cuda(cuCtxCreate(&other, &parameters, CU_CTX_SCHED_YIELD, 0));
    assert_cuda(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, other);
    assert_cuda(cuCtxDestroy(other));
    char set; /* members must not be dereferenced */
    const CUctxCreateParams refused[] = {
        {.execAffinityParams = (void *)&set, .numExecAffinityParams = 1},
        {.execAffinityParams = (void *)&set},
        {.numExecAffinityParams = 1},
        {.cigParams = (void *)&set},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        parameters = refused[i];
        assert_fails(cuCtxCreate(&other, &parameters, 0, 0), NOT_SUPPORTED);
    }
    assert_cuda(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context); /* no context was made */
}

/* A context releases what it owns. Another thread in which it is still current gets an error. */
static void *use_destroyed(void *argument) {
    CUdeviceptr address;
    assert_cuda(cuCtxSetCurrent(argument));
    assert_cuda(cuCtxDestroy(argument));
    assert_fails(cuMemAlloc(&address, 4), INVALID_CONTEXT); /* its end has popped it */
    return NULL;
}

static void test_context_owns(void **state) {
    (void)state;
    CUcontext other;
    CUdeviceptr address;
    CUevent event;
    CUstream stream;
    size_t before, after, total;
    assert_cuda(cuMemGetInfo(&before, &total));
    assert_cuda(cuCtxCreate(&other, NULL, 0, 0));
    assert_cuda(cuMemAlloc(&address, 1 << 20));
    assert_cuda(cuEventCreate(&event, 0));
    assert_cuda(cuStreamCreate(&stream, 0));
    pthread_t thread;
    pthread_create(&thread, NULL, use_destroyed, other);
    pthread_join(thread, NULL);
    assert_fails(cuMemAlloc(&address, 4), CONTEXT_IS_DESTROYED);
    assert_cuda(cuCtxSetCurrent(context));
    assert_cuda(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
    assert_fails(cuEventQuery(event), INVALID_HANDLE);
    assert_fails(cuStreamQuery(stream), INVALID_HANDLE);
}

static void test_primary_context(void **state) {
    (void)state;
    CUcontext first, second;
    unsigned flags;
    int is_active;
    assert_fails(cuDevicePrimaryCtxRelease(0), INVALID_CONTEXT);
    assert_cuda(cuDevicePrimaryCtxRetain(&first, 0));
    assert_cuda(cuDevicePrimaryCtxRetain(&second, 0));
    assert_ptr_equal(first, second);
    assert_fails(cuCtxDestroy(first), INVALID_CONTEXT);
    assert_cuda(cuDevicePrimaryCtxRelease(0));
    assert_cuda(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    assert_true(is_active);
    assert_cuda(cuDevicePrimaryCtxRelease(0));
    assert_cuda(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    assert_false(is_active);
    assert_fails(cuCtxPushCurrent(first), INVALID_CONTEXT);
}

static void test_limits(void **state) {
    (void)state;
    size_t value;
    assert_cuda(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    assert_int_equal(value, 8 << 20);
    assert_cuda(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    assert_cuda(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    assert_int_equal(value, 16 << 20);
    static const struct {
        CUlimit limit;
        size_t first, asked, got; /* as on a GPU */
    } rows[] = {
        {CU_LIMIT_STACK_SIZE, 1 << 10, 1000, 1008},
        {CU_LIMIT_STACK_SIZE, 1008, 100 << 10, 100 << 10},
        {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20, 5000, 512 << 10},
        {CU_LIMIT_PRINTF_FIFO_SIZE, 512 << 10, 5000000, 5000000},
        {CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20, 1000, 4 << 20},
        {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048, 4096, 4096},
        {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64, 33, 33},
        {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 33, 128, 128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_cuda(cuCtxGetLimit(&value, rows[i].limit));
        assert_int_equal(value, rows[i].first);
        assert_cuda(cuCtxSetLimit(rows[i].limit, rows[i].asked));
        assert_cuda(cuCtxGetLimit(&value, rows[i].limit));
        assert_int_equal(value, rows[i].got);
    }
    assert_fails(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40), INVALID_VALUE);
    assert_fails(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129), INVALID_VALUE);
    assert_fails(cuCtxSetLimit(CU_LIMIT_MAX, 1), INVALID_VALUE);
    assert_fails(cuCtxGetLimit(&value, CU_LIMIT_MAX), INVALID_VALUE);
    /* Available from compute capability 8.0. */
    assert_fails(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0), UNSUPPORTED_LIMIT);
    assert_fails(cuCtxGetLimit(&value, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), UNSUPPORTED_LIMIT);
    assert_cuda(cuCtxResetPersistingL2Cache());
    assert_fails(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), UNSUPPORTED_LIMIT);
}

/* ---- Memory ---- */

static void test_allocation(void **state) {
    (void)state;
    CUdeviceptr address, base;
    size_t size;
    assert_fails(cuMemAlloc(&address, 0), INVALID_VALUE);
    assert_fails(cuMemAlloc(NULL, 4), INVALID_VALUE);
    assert_fails(cuMemAlloc(&address, UINT64_C(1) << 40), OUT_OF_MEMORY);
    assert_fails(cuMemAlloc(&address, UINT64_MAX), OUT_OF_MEMORY);
    assert_cuda(cuMemAlloc(&address, 1000));
    assert_int_equal(address % 256, 0);
    assert_cuda(cuMemGetAddressRange(&base, &size, address + 999));
    assert_int_equal(base, address);
    assert_int_equal(size, 1000);
    assert_fails(cuMemGetAddressRange(&base, &size, address + 1000), NOT_FOUND);
    assert_fails(cuMemFree(address + 4), INVALID_VALUE);
    assert_cuda(cuMemFree(address));
    assert_fails(cuMemFree(address), INVALID_VALUE);
    assert_cuda(cuMemFree(0));
    size_t pitch;
    assert_cuda(cuMemAllocPitch(&address, &pitch, 1001, 7, 4));
    assert_int_equal(pitch, 1024);
    assert_cuda(cuMemFree(address));
    assert_fails(cuMemAllocPitch(&address, &pitch, SIZE_MAX - 4, 2, 4), OUT_OF_MEMORY);
    assert_fails(cuMemAllocPitch(&address, &pitch, SIZE_MAX / 4, 8, 4), OUT_OF_MEMORY);
}

static void test_linear_copies(void **state) {
    (void)state;
    unsigned char in[64], out[64];
    CUdeviceptr a, b;
    for (int i = 0; i < 64; i++)
        in[i] = (unsigned char)(i * 3);
    assert_cuda(cuMemAlloc(&a, 64));
    assert_cuda(cuMemAlloc(&b, 64));
    assert_cuda(cuMemcpyHtoD(a, in, 64));
    assert_cuda(cuMemcpyDtoD(b, a, 64));
    assert_cuda(cuMemcpyDtoH(out, b, 64));
    assert_memory_equal(in, out, 64);
    memset(out, 0, sizeof out);
    assert_cuda(cuMemcpy((CUdeviceptr)(uintptr_t)out, a, 64)); /* it finds the kinds */
    assert_memory_equal(in, out, 64);
    assert_cuda(cuMemcpyDtoD(a + 8, a, 32)); /* overlapping */
    assert_cuda(cuMemcpyDtoH(out, a, 64));
    assert_memory_equal(in, out + 8, 32);
    assert_fails(cuMemcpyHtoD(a, in, 65), INVALID_VALUE);
    assert_fails(cuMemcpyDtoH(out, a + 60, 5), INVALID_VALUE);
    assert_fails(cuMemcpyHtoD(a, NULL, 4), INVALID_VALUE);
    assert_fails(cuMemcpyHtoD(0, in, 4), INVALID_VALUE);
    assert_cuda(cuMemcpyHtoD(a, NULL, 0));
    assert_fails(cuMemcpyHtoDAsync(a, in, 4, (CUstream)(uintptr_t)12345), INVALID_HANDLE);
    assert_cuda(cuMemcpyHtoDAsync(a, in, 4, CU_STREAM_PER_THREAD));
    assert_cuda(cuMemFree(a));
    assert_cuda(cuMemFree(b));
    assert_fails(cuMemcpyDtoH(out, a, 4), INVALID_VALUE);
}

static void test_fills(void **state) {
    (void)state;
    uint32_t words[16];
    CUdeviceptr a;
    assert_cuda(cuMemAlloc(&a, 64));
    assert_cuda(cuMemsetD32(a, 0x01020304, 16));
    assert_cuda(cuMemsetD16(a + 2, 0xbeef, 1));
    assert_cuda(cuMemsetD8(a + 7, 0xff, 1));
    assert_cuda(cuMemsetD2D8(a + 8, 16, 0x11, 2, 3)); /* two bytes in each of three rows */
    assert_cuda(cuMemcpyDtoH(words, a, 64));
    assert_int_equal(words[0], 0xbeef0304);
    assert_int_equal(words[1], 0xff020304);
    assert_int_equal(words[2], 0x01021111);
    assert_int_equal(words[3], 0x01020304);
    assert_int_equal(words[6], 0x01021111);
    assert_int_equal(words[10], 0x01021111);
    assert_int_equal(words[14], 0x01020304);
    assert_fails(cuMemsetD32(a + 2, 0, 1), INVALID_VALUE); /* misaligned */
    assert_fails(cuMemsetD32(a, 0, 17), INVALID_VALUE);
    assert_fails(cuMemsetD32(a, 0, SIZE_MAX / 2), INVALID_VALUE);
    assert_cuda(cuMemFree(a));
}

static void test_boxes(void **state) {
    (void)state;
    unsigned char host[4][8], back[2][3];
    for (int i = 0; i < 32; i++)
        host[i / 8][i % 8] = (unsigned char)i;
    CUdeviceptr device;
    size_t pitch;
    assert_cuda(cuMemAllocPitch(&device, &pitch, 8, 4, 4));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = 8,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = pitch,
                          .WidthInBytes = 8,
                          .Height = 4};
    assert_cuda(cuMemcpy2D(&copy));
    CUDA_MEMCPY2D part = {.srcXInBytes = 2,
                          .srcY = 1,
                          .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device,
                          .srcPitch = pitch,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .WidthInBytes = 3,
                          .Height = 2};
    assert_cuda(cuMemcpy2D(&part));
    for (int i = 0; i < 6; i++)
        assert_int_equal(back[i / 3][i % 3], host[1 + i / 3][2 + i % 3]);
    copy.dstPitch = 4; /* narrower than a row */
    assert_fails(cuMemcpy2D(&copy), INVALID_VALUE);
    copy.dstPitch = pitch;
    copy.Height = 400;
    assert_fails(cuMemcpy2D(&copy), INVALID_VALUE);
    copy.Height = 4;
    copy.srcMemoryType = (CUmemorytype)9;
    assert_fails(cuMemcpy2D(&copy), INVALID_VALUE);
    assert_fails(cuMemcpy2D(NULL), INVALID_VALUE);
    /* rows that would wrap around to valid memory */
    part.srcPitch = (size_t)1 << 63;
    part.srcXInBytes = part.srcY = 0;
    part.Height = 3;
    assert_fails(cuMemcpy2D(&part), INVALID_VALUE);
    part.srcPitch = pitch;
    part.srcY = (size_t)-1;
    assert_fails(cuMemcpy2D(&part), INVALID_VALUE);
    assert_cuda(cuMemFree(device));
}

static void test_arrays(void **state) {
    (void)state;
    enum { WIDTH = 5, HEIGHT = 3, DEPTH = 2 };
    float in[DEPTH][HEIGHT][WIDTH], out[DEPTH][HEIGHT][WIDTH];
    for (int i = 0; i < WIDTH * HEIGHT * DEPTH; i++)
        ((float *)in)[i] = (float)i;
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {WIDTH, HEIGHT, DEPTH, CU_AD_FORMAT_FLOAT, 1, 0};
    assert_cuda(cuArray3DCreate(&array, &descriptor));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof in[0][0],
                          .Height = HEIGHT,
                          .Depth = DEPTH};
    assert_cuda(cuMemcpy3D(&copy));
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .WidthInBytes = sizeof in[0][0],
                          .Height = HEIGHT,
                          .Depth = DEPTH};
    assert_cuda(cuMemcpy3D(&back));
    assert_memory_equal(in, out, sizeof in);
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                               .srcArray = array,
                               .dstMemoryType = CU_MEMORYTYPE_HOST,
                               .dstHost = out,
                               .WidthInBytes = sizeof in[0][0],
                               .Height = HEIGHT,
                               .Depth = DEPTH};
    memset(out, 0, sizeof out);
    assert_cuda(cuMemcpy3DPeer(&peer));
    assert_memory_equal(in, out, sizeof in);
    assert_fails(cuMemcpy3DPeerAsync(NULL, NULL), INVALID_VALUE);
    back.srcZ = 1;
    assert_fails(cuMemcpy3D(&back), INVALID_VALUE); /* past the last slice */
    CUDA_ARRAY_DESCRIPTOR flat;
    assert_cuda(cuArrayGetDescriptor(&flat, array));
    assert_int_equal(flat.Width, WIDTH);
    assert_cuda(cuArrayDestroy(array));
    assert_fails(cuArrayDestroy(array), INVALID_HANDLE);
    descriptor.NumChannels = 3;
    assert_fails(cuArray3DCreate(&array, &descriptor), INVALID_VALUE);

    CUDA_ARRAY_DESCRIPTOR line = {16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    assert_cuda(cuArrayCreate(&array, &line));
    assert_cuda(cuMemcpyHtoA(array, 4, "owls", 4));
    char word[5] = "";
    assert_cuda(cuMemcpyAtoH(word, array, 4, 4));
    assert_string_equal(word, "owls");
    assert_fails(cuMemcpyHtoA(array, 13, "owls", 4), INVALID_VALUE);
    assert_cuda(cuArrayDestroy(array));
}

static void test_textures(void **state) {
    (void)state;
    CUdeviceptr buffer;
    CUtexObject texture;
    assert_cuda(cuMemAlloc(&buffer, 1024));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear.devPtr = buffer;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 1024;
    CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER};
    assert_cuda(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    CUDA_RESOURCE_DESC stored;
    assert_cuda(cuTexObjectGetResourceDesc(&stored, texture));
    assert_int_equal(stored.res.linear.sizeInBytes, 1024);
    assert_cuda(cuTexObjectDestroy(texture));
    assert_fails(cuTexObjectDestroy(texture), INVALID_VALUE);
    assert_fails(cuTexObjectGetResourceDesc(&stored, texture), INVALID_VALUE);
    resource.res.linear.devPtr = 16;
    assert_fails(cuTexObjectCreate(&texture, &resource, &sampling, NULL), INVALID_VALUE);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    assert_fails(cuTexObjectCreate(&texture, &resource, &sampling, NULL), INVALID_HANDLE);
    assert_cuda(cuMemFree(buffer));
}

static void test_host_memory(void **state) {
    (void)state;
    char *pinned, plain[64];
    CUdeviceptr address;
    unsigned flags, type;
    assert_cuda(cuMemHostAlloc((void **)&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    strcpy(pinned, "seen from both sides");
    assert_cuda(cuMemHostGetDevicePointer(&address, pinned + 5, 0));
    assert_cuda(cuMemcpyDtoH(plain, address, 16));
    assert_string_equal(plain, "from both sides");
    assert_cuda(cuMemHostGetFlags(&flags, pinned));
    assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
    CUdeviceptr pointer = (CUdeviceptr)(uintptr_t)pinned;
    assert_cuda(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    assert_cuda(cuMemFreeHost(pinned));
    assert_fails(cuMemFreeHost(pinned), INVALID_VALUE);
    assert_fails(cuMemHostGetDevicePointer(&address, plain, 0), INVALID_VALUE);
    assert_fails(cuMemHostRegister(plain, SIZE_MAX, 0), INVALID_VALUE);
    assert_cuda(cuMemHostRegister(plain, sizeof plain, 0));
    assert_fails(cuMemHostRegister(plain, 1, 0), HOST_MEMORY_ALREADY_REGISTERED);
    assert_cuda(cuMemHostUnregister(plain));
    assert_fails(cuMemHostUnregister(plain), HOST_MEMORY_NOT_REGISTERED);
}

static void test_pointer_attributes(void **state) {
    (void)state;
    CUdeviceptr address, start;
    unsigned type;
    CUcontext owner;
    int local;
    assert_cuda(cuMemAlloc(&address, 100));
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void *values[] = {&type, &owner, &start};
    assert_cuda(cuPointerGetAttributes(3, list, values, address + 50));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_ptr_equal(owner, context);
    assert_int_equal(start, address);
    CUdeviceptr unknown = (CUdeviceptr)(uintptr_t)&local;
    assert_fails(cuPointerGetAttribute(&type, list[0], unknown), INVALID_VALUE);
    assert_cuda(cuPointerGetAttributes(3, list, values, unknown));
    assert_int_equal(type, 0);
    assert_null(owner);
    assert_cuda(cuMemFree(address));
}

/* ---- Modules ---- */

static const char good_ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                               ".visible .const .align 4 .b8 table[16] = {1, 2, 3};\n"
                               ".visible .global .align 8 .u64 counter = 77;\n"
                               ".visible .entry first(.param .u64 a, .param .u32 b) { ret; }\n"
                               ".visible .entry second() .maxntid 64, 2, 1 { ret; }\n";
static const char bad_ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                              ".visible .entry broken() {\n  mov.u32 %nowhere, 1;\n}\n";

static void test_module(void **state) {
    (void)state;
    CUmodule module, owner;
    CUfunction first, again, list[2];
    CUdeviceptr address;
    size_t size, offset;
    uint64_t counter;
    unsigned count;
    int value;
    const char *name;
    assert_cuda(cuModuleLoadData(&module, good_ptx));
    assert_cuda(cuModuleGetFunction(&first, module, "first"));
    assert_cuda(cuModuleGetFunction(&again, module, "first"));
    assert_ptr_equal(first, again);
    assert_fails(cuModuleGetFunction(&again, module, "third"), NOT_FOUND);
    assert_cuda(cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 2);
    assert_cuda(cuModuleEnumerateFunctions(list, 2, module));
    assert_cuda(cuFuncGetName(&name, list[1]));
    assert_string_equal(name, "second");
    assert_cuda(cuFuncGetModule(&owner, first));
    assert_ptr_equal(owner, module);
    assert_cuda(cuFuncGetParamInfo(first, 1, &offset, &size));
    assert_int_equal(offset, 8);
    assert_int_equal(size, 4);
    assert_fails(cuFuncGetParamInfo(first, 2, &offset, &size), INVALID_VALUE);
    assert_cuda(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, list[1]));
    assert_int_equal(value, 128);
    assert_cuda(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, first));
    assert_int_equal(value, 16);
    assert_cuda(cuModuleGetGlobal(&address, &size, module, "counter"));
    assert_int_equal(size, 8);
    assert_cuda(cuMemcpyDtoH(&counter, address, 8));
    assert_int_equal(counter, 77);
    assert_fails(cuModuleGetGlobal(&address, &size, module, "nowhere"), NOT_FOUND);
    assert_cuda(cuModuleUnload(module));
    assert_fails(cuModuleUnload(module), INVALID_HANDLE);
    assert_fails(cuFuncGetName(&name, first), INVALID_HANDLE);
    assert_fails(cuModuleLoad(&module, "/nonexistent.ptx"), FILE_NOT_FOUND);
}

static void test_module_mistakes(void **state) {
    (void)state;
    char log[512], tiny[8];
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)sizeof log, (void *)3};
    assert_fails(cuModuleLoadDataEx(&module, bad_ptx, 3, options, values), INVALID_PTX);
    assert_non_null(strstr(log, ":5:")); /* the line of the mistake */
    assert_int_equal((uintptr_t)values[1], strlen(log));
    void *small[] = {tiny, (void *)sizeof tiny, (void *)3};
    assert_fails(cuModuleLoadDataEx(&module, bad_ptx, 3, options, small), INVALID_PTX);
    assert_int_equal(strlen(tiny), sizeof tiny - 1);
    values[1] = (void *)sizeof log;
    assert_fails(cuModuleLoadDataEx(&module,
                                    "\x7f"
                                    "ELF...",
                                    3, options, values),
                 INVALID_IMAGE);
    assert_non_null(strstr(log, "cubin"));
    assert_fails(cuModuleLoadDataEx(&module, good_ptx, 3, NULL, values), INVALID_VALUE);
    assert_fails(cuModuleLoadData(NULL, good_ptx), INVALID_VALUE);
}

static const char caller_ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                 ".extern .func helper();\n"
                                 ".visible .entry caller() { call helper; ret; }\n";
static const char helper_ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                 ".visible .func helper() { ret; }\n";

static void test_linker(void **state) {
    (void)state;
    CUlinkState link;
    CUmodule module;
    CUfunction function;
    void *image;
    size_t size;
    assert_cuda(cuLinkCreate(0, NULL, NULL, &link));
    assert_fails(cuLinkComplete(link, &image, &size), INVALID_VALUE); /* nothing in it */
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller_ptx, sizeof caller_ptx,
                              "caller.ptx", 0, NULL, NULL));
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)helper_ptx, sizeof helper_ptx - 1,
                              "helper.ptx", 0, NULL, NULL));
    assert_cuda(cuLinkComplete(link, &image, &size));
    assert_cuda(cuModuleLoadData(&module, image));
    assert_cuda(cuModuleGetFunction(&function, module, "caller"));
    assert_cuda(cuLinkDestroy(link));
    assert_fails(cuLinkDestroy(link), INVALID_HANDLE);
    assert_cuda(cuModuleUnload(module));
}

static void test_linker_mistakes(void **state) {
    (void)state;
    CUlinkState link;
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *image;
    size_t size;
    assert_cuda(cuLinkCreate(2, options, values, &link));
    assert_fails(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, log, 4, "x", 0, NULL, NULL),
                 INVALID_IMAGE);
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller_ptx, sizeof caller_ptx,
                              "caller.ptx", 0, NULL, NULL));
    assert_fails(cuLinkComplete(link, &image, &size), INVALID_PTX);
    assert_non_null(strstr(log, "helper"));
    assert_cuda(cuLinkDestroy(link));
}

/* ---- Streams and events ---- */

static void note_call(CUstream stream, CUresult status, void *user) {
    (void)stream;
    *(int *)user = status == CUDA_SUCCESS;
    assert_cuda(cuCtxSynchronize()); /* a callback may call the API again */
}

static void test_streams(void **state) {
    (void)state;
    CUstream stream;
    CUevent event;
    CUcontext owner;
    int is_called = 0, priority;
    assert_cuda(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    assert_cuda(cuStreamGetPriority(stream, &priority));
    assert_int_equal(priority, -1);
    assert_cuda(cuStreamGetCtx(stream, &owner));
    assert_ptr_equal(owner, context);
    assert_cuda(cuStreamAddCallback(stream, note_call, &is_called, 0));
    assert_true(is_called);
    assert_cuda(cuEventCreate(&event, 0));
    assert_cuda(cuStreamWaitEvent(stream, event, 0));
    assert_cuda(cuStreamSynchronize(NULL));
    assert_cuda(cuStreamDestroy(stream));
    assert_fails(cuStreamDestroy(stream), INVALID_HANDLE);
    assert_fails(cuStreamDestroy(CU_STREAM_LEGACY), INVALID_HANDLE);
    assert_cuda(cuEventDestroy(event));
    assert_fails(cuStreamCreate(&stream, 8), INVALID_VALUE);
}

static void test_events(void **state) {
    (void)state;
    CUevent start, end, untimed;
    float milliseconds;
    assert_cuda(cuEventCreate(&start, 0));
    assert_cuda(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    assert_cuda(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    assert_fails(cuEventElapsedTime(&milliseconds, start, end), INVALID_HANDLE);
    assert_cuda(cuEventRecord(start, NULL));
    assert_cuda(cuEventRecord(end, NULL));
    assert_cuda(cuEventRecord(untimed, NULL));
    assert_cuda(cuEventSynchronize(end));
    assert_cuda(cuEventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds == 0.0f); /* nothing ran in between */
    assert_fails(cuEventElapsedTime(&milliseconds, start, untimed), INVALID_HANDLE);
    assert_fails(cuEventRecord(start, (CUstream)start), INVALID_HANDLE);
    assert_cuda(cuEventDestroy(start));
    assert_cuda(cuEventDestroy(end));
    assert_cuda(cuEventDestroy(untimed));
    assert_fails(cuEventQuery(start), INVALID_HANDLE);
}

/* ---- The rest ---- */

static void test_proc_address(void **state) {
    (void)state;
    void *function = NULL;
    CUdriverProcAddressQueryResult status;
    assert_cuda(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &status));
    assert_non_null(function);
    CUresult (*allocate)(CUdeviceptr *, size_t);
    memcpy(&allocate, &function, sizeof function);
    CUdeviceptr address;
    assert_cuda(allocate(&address, 16)); /* through the alias's jump */
    assert_cuda(cuMemFree(address));
    assert_fails(cuGetProcAddress("cuNothing", &function, 12000, 0, &status), NOT_FOUND);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_null(function);
    assert_cuda(cuGetProcAddress("cuMulticastCreate", &function, 12000, 0, &status));
    int (*missing)(void);
    memcpy(&missing, &function, sizeof function);
    assert_fails(missing(), NOT_SUPPORTED);
}

/* Every row of the export table is found by its name. */
static void test_every_function_is_found(void **state) {
    (void)state;
#define NAME(symbol)              #symbol,
#define MISSING_NAME(symbol, why) #symbol,
#define ALIAS_NAME(alias, symbol) #alias,
    static const char *const names[] = {API_FUNCTIONS(NAME) API_ALIASES(ALIAS_NAME)
                                            API_MISSING(MISSING_NAME)};
    int count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *function = NULL;
        assert_cuda(cuGetProcAddress(names[i], &function, 12000, 0, NULL));
        assert_non_null(function);
        count++;
    }
    assert_true(count > 600);
}

/* Many threads at once, each with its own context. */
static void *hammer(void *argument) {
    CUcontext mine;
    assert_cuda(cuCtxCreate(&mine, NULL, 0, 0));
    for (int i = 0; i < 200; i++) {
        CUdeviceptr address;
        CUevent event;
        unsigned value = (unsigned)i, back = 0;
        assert_cuda(cuMemAlloc(&address, 4096));
        assert_cuda(cuMemsetD32(address, value, 1024));
        assert_cuda(cuEventCreate(&event, 0));
        assert_cuda(cuEventRecord(event, NULL));
        assert_cuda(cuMemcpyDtoH(&back, address + 4092, 4));
        assert_int_equal(back, value);
        assert_cuda(cuEventDestroy(event));
        assert_cuda(cuMemFree(address));
    }
    assert_cuda(cuCtxDestroy(mine));
    return argument;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    size_t before, after, total;
    assert_cuda(cuMemGetInfo(&before, &total));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_cuda(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

#define WITH_CONTEXT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_init),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_errors_have_names),
        WITH_CONTEXT(test_context_stack),
        WITH_CONTEXT(test_context_parameters),
        WITH_CONTEXT(test_context_owns),
        WITH_CONTEXT(test_primary_context),
        WITH_CONTEXT(test_limits),
        WITH_CONTEXT(test_allocation),
        WITH_CONTEXT(test_linear_copies),
        WITH_CONTEXT(test_fills),
        WITH_CONTEXT(test_boxes),
        WITH_CONTEXT(test_arrays),
        WITH_CONTEXT(test_textures),
        WITH_CONTEXT(test_host_memory),
        WITH_CONTEXT(test_pointer_attributes),
        WITH_CONTEXT(test_module),
        WITH_CONTEXT(test_module_mistakes),
        WITH_CONTEXT(test_linker),
        WITH_CONTEXT(test_linker_mistakes),
        WITH_CONTEXT(test_streams),
        WITH_CONTEXT(test_events),
        WITH_CONTEXT(test_proc_address),
        WITH_CONTEXT(test_every_function_is_found),
        WITH_CONTEXT(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
