/* Compares device attributes with what works: each feature is tried, and the attribute must say
 * whether it works. Also tests memory pools, which an attribute claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <unistd.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)

/* set: *p = 42. meet: all CTAs of a grid wait for each other. answer: p[0] = 1, then waits until
 * the host sets p[1], and copies it to p[2]. gather: reads four texels. */
static const char kernels[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry set(.param .u64 p) {\n"
    "  .reg .u64 %a;\n"
    "  ld.param.u64 %a, [p];\n  st.global.u32 [%a], 42;\n  ret;\n}\n"
    ".visible .entry meet(.param .u64 p) {\n"
    "  .reg .u64 %a;\n  .reg .u32 %n, %m;\n  .reg .pred %q;\n"
    "  ld.param.u64 %a, [p];\n  mov.u32 %m, %nctaid.x;\n  red.global.add.u32 [%a], 1;\n"
    "again:\n  ld.volatile.global.u32 %n, [%a];\n  setp.lt.u32 %q, %n, %m;\n  @%q bra again;\n  "
    "ret;\n}\n"
    ".visible .entry answer(.param .u64 p) {\n"
    "  .reg .u64 %a;\n  .reg .u32 %n;\n  .reg .pred %q;\n"
    "  ld.param.u64 %a, [p];\n  st.volatile.global.u32 [%a], 1;\n"
    "again:\n  ld.volatile.global.u32 %n, [%a+4];\n  setp.eq.u32 %q, %n, 0;\n  @%q bra again;\n"
    "  st.volatile.global.u32 [%a+8], %n;\n  ret;\n}\n"
    ".visible .entry gather(.param .u64 out, .param .u64 texture) {\n"
    "  .reg .u64 %a, %t;\n  .reg .u32 %r<4>;\n  .reg .f32 %x;\n"
    "  ld.param.u64 %a, [out];\n  ld.param.u64 %t, [texture];\n  mov.f32 %x, 0f3F800000;\n"
    "  tld4.r.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%t, {%x, %x}];\n"
    "  st.global.v4.u32 [%a], {%r0, %r1, %r2, %r3};\n  ret;\n}\n";

static CUmodule module;

static int start(void **state) {
    CUcontext context;
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, kernels);
}

static CUfunction function(const char *name) {
    CUfunction found;
    assert_cuda(cuModuleGetFunction(&found, module, name));
    return found;
}

static CUresult launch(const char *name, unsigned ctas, CUdeviceptr address, CUstream stream) {
    void *parameters[] = {&address};
    return cuLaunchKernel(function(name), ctas, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

static CUdeviceptr zeros(size_t size) {
    CUdeviceptr address;
    assert_cuda(cuMemAlloc(&address, size));
    assert_cuda(cuMemsetD8(address, 0, size));
    return address;
}

/* ---- Features: whether each one works ---- */

static bool memory_pools(void) {
    CUmemoryPool pool;
    CUdeviceptr address;
    cuuint64_t used = 0;
    if (cuDeviceGetDefaultMemPool(&pool, 0)) return false;
    assert_cuda(cuMemAllocAsync(&address, 256, NULL));
    assert_cuda(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_cuda(launch("set", 1, address, NULL));
    assert_cuda(cuMemFreeAsync(address, NULL));
    return used == 256;
}

static bool mapped_host_memory(void) {
    unsigned *host;
    CUdeviceptr address;
    if (cuMemHostAlloc((void **)&host, 64, CU_MEMHOSTALLOC_DEVICEMAP)) return false;
    assert_cuda(cuMemHostGetDevicePointer(&address, host, 0));
    assert_cuda(launch("set", 1, address, NULL));
    bool is_seen = *host == 42;
    assert_cuda(cuMemFreeHost(host));
    return is_seen;
}

static bool registered_memory(void) {
    static unsigned host[16];
    CUdeviceptr address = zeros(sizeof host);
    host[3] = 1;
    if (cuMemHostRegister(host, sizeof host, 0)) return false;
    assert_cuda(cuMemcpyDtoHAsync(host, address, sizeof host, NULL));
    assert_cuda(cuMemHostUnregister(host));
    assert_cuda(cuMemFree(address));
    return host[3] == 0;
}

/* A kernel works in registered memory, through the host's address. */
static bool registered_pointer(void) {
    static unsigned host[16];
    CUdeviceptr address;
    host[3] = 1;
    assert_cuda(cuMemHostRegister(host, sizeof host, CU_MEMHOSTREGISTER_DEVICEMAP));
    assert_cuda(cuMemHostGetDevicePointer(&address, &host[3], 0));
    assert_cuda(launch("set", 1, address, NULL));
    assert_int_equal(host[3], 42);
    assert_cuda(cuMemHostUnregister(host));
    return address == (CUdeviceptr)(uintptr_t)&host[3];
}

static bool read_only_registration(void) {
    static const unsigned host[16] = {[3] = 8};
    unsigned there = 0;
    CUdeviceptr address;
    if (cuMemHostRegister((void *)(uintptr_t)host, sizeof host, CU_MEMHOSTREGISTER_READ_ONLY))
        return false;
    assert_cuda(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)&host[3], 0));
    assert_cuda(cuMemcpyDtoH(&there, address, sizeof there));
    assert_cuda(cuMemHostUnregister((void *)(uintptr_t)host));
    return there == 8;
}

/* Memory that is not registered: neither a copy nor a kernel can access it. */
static bool pageable_memory(void) {
    static unsigned host;
    return cuMemcpyDtoD((CUdeviceptr)(uintptr_t)&host, (CUdeviceptr)(uintptr_t)&host, 4) ==
           CUDA_SUCCESS;
}

/* cuMemcpy determines the memory of its pointers itself. */
static bool unified_addresses(void) {
    unsigned there = 7, back = 0;
    CUdeviceptr address = zeros(64);
    assert_cuda(cuMemcpy(address, (CUdeviceptr)(uintptr_t)&there, 4));
    CUresult status = cuMemcpy((CUdeviceptr)(uintptr_t)&back, address, 4);
    assert_cuda(cuMemFree(address));
    return status == CUDA_SUCCESS && back == 7;
}

static bool managed_memory(void) {
    CUdeviceptr address;
    if (cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL)) return false;
    assert_cuda(launch("set", 1, address, NULL));
    bool is_seen = *(unsigned *)(uintptr_t)address == 42;
    assert_cuda(cuMemFree(address));
    return is_seen;
}

static void *ask(void *argument) {
    _Atomic unsigned *words = argument;
    while (atomic_load(&words[0]) == 0)
        sched_yield();
    atomic_store(&words[1], 9);
    return NULL;
}

/* Host and kernel write to each other while the kernel runs. */
static bool concurrent_managed_access(void) {
    CUdeviceptr address;
    pthread_t host;
    if (cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL)) return false;
    unsigned *words = (unsigned *)(uintptr_t)address;
    memset(words, 0, 64);
    pthread_create(&host, NULL, ask, words);
    assert_cuda(launch("answer", 1, address, NULL));
    pthread_join(host, NULL);
    bool is_seen = words[2] == 9;
    assert_cuda(cuMemFree(address));
    return is_seen;
}

static bool cooperative_launch(void) {
    CUdeviceptr address = zeros(64);
    void *parameters[] = {&address};
    CUresult status =
        cuLaunchCooperativeKernel(function("meet"), 8, 1, 1, 1, 1, 1, 0, NULL, parameters);
    unsigned count = 0;
    assert_cuda(cuMemcpyDtoH(&count, address, 4));
    assert_cuda(cuMemFree(address));
    return status == CUDA_SUCCESS && count == 8;
}

static float elapsed(CUevent from, CUevent to) {
    float ms = -1;
    assert_cuda(cuEventSynchronize(to));
    assert_cuda(cuEventElapsedTime(&ms, from, to));
    return ms;
}

/* Copies in both directions, concurrent with a kernel in another stream, do not delay the end of
 * the kernel. */
static bool copies_beside_kernels(void) {
    static char bytes[1 << 16];
    CUstream stream;
    CUevent first, last;
    CUdeviceptr address = zeros(sizeof bytes);
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuEventCreate(&first, 0));
    assert_cuda(cuEventCreate(&last, 0));
    assert_cuda(launch("set", 1, address, NULL));
    assert_cuda(cuEventRecord(first, NULL));
    assert_cuda(cuMemcpyHtoDAsync(address, bytes, sizeof bytes, stream));
    assert_cuda(cuMemcpyDtoHAsync(bytes, address, sizeof bytes, stream));
    assert_cuda(cuEventRecord(last, NULL));
    assert_cuda(cuStreamDestroy(stream));
    assert_cuda(cuMemFree(address));
    return elapsed(first, last) == 0;
}

/* Whether two small kernels in two streams take less than twice the time of one. */
static bool concurrent_kernels(void) {
    CUstream streams[2];
    CUevent events[3];
    CUdeviceptr address = zeros(64);
    for (int i = 0; i < 3; i++)
        assert_cuda(cuEventCreate(&events[i], 0));
    for (int i = 0; i < 2; i++)
        assert_cuda(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 2; round++) { /* the first round loads the code of both SMs */
        assert_cuda(cuCtxSynchronize());
        assert_cuda(cuEventRecord(events[0], NULL));
        for (int i = 0; i < 2; i++) {
            assert_cuda(launch("set", 1, address, streams[i]));
            assert_cuda(cuEventRecord(events[i + 1], streams[i]));
        }
    }
    const float one = elapsed(events[0], events[1]), both = elapsed(events[0], events[2]);
    assert_true(one > 0);
    assert_cuda(cuMemFree(address));
    return both < 1.9f * one;
}

static bool stream_priorities(void) {
    int least = -1, greatest = -1;
    assert_cuda(cuCtxGetStreamPriorityRange(&least, &greatest));
    return least != greatest;
}

static bool virtual_memory(void) {
    CUdeviceptr address = 0;
    size_t grain = 2 << 20;
    CUresult status = cuMemAddressReserve(&address, grain, 0, 0, 0);
    if (status == CUDA_SUCCESS) assert_cuda(cuMemAddressFree(address, grain));
    return status == CUDA_SUCCESS;
}

static bool memory_by_descriptor(void) {
    int file = -1;
    CUmemGenericAllocationHandle memory;
    CUmemAllocationProp asked = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (cuMemCreate(&memory, 2 << 20, &asked, 0)) return false;
    CUresult status =
        cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (status == CUDA_SUCCESS) close(file);
    assert_cuda(cuMemRelease(memory));
    return status == CUDA_SUCCESS;
}

static bool clusters(void) {
    CUdeviceptr address = zeros(64);
    void *parameters[] = {&address};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 2,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    CUresult status = cuLaunchKernelEx(&config, function("set"), parameters, NULL);
    assert_cuda(cuMemFree(address));
    return status == CUDA_SUCCESS;
}

/* The four texels around (1, 1) of a 2x2 array, counter-clockwise from the lower left. */
static bool texture_gather(void) {
    static const unsigned texels[] = {1, 2, 3, 4};
    unsigned got[4] = {0};
    CUarray array;
    CUtexObject texture;
    CUDA_ARRAY_DESCRIPTOR shape = {2, 2, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = 8,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = 8,
                          .Height = 2};
    assert_cuda(cuArrayCreate(&array, &shape));
    copy.dstArray = resource.res.array.hArray = array;
    assert_cuda(cuMemcpy2D(&copy));
    assert_cuda(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    CUdeviceptr address = zeros(64);
    void *parameters[] = {&address, &texture};
    assert_cuda(cuLaunchKernel(function("gather"), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(got, address, sizeof got));
    assert_cuda(cuTexObjectDestroy(texture));
    assert_cuda(cuArrayDestroy(array));
    assert_cuda(cuMemFree(address));
    return got[0] == 3 && got[1] == 4 && got[2] == 2 && got[3] == 1;
}

static const struct {
    const char *name;
    CUdevice_attribute attribute;
    bool (*works)(void);
} features[] = {
#define FEATURE(name, works) {#name, CU_DEVICE_ATTRIBUTE_##name, works}
    FEATURE(MEMORY_POOLS_SUPPORTED, memory_pools),
    FEATURE(CAN_MAP_HOST_MEMORY, mapped_host_memory),
    FEATURE(HOST_REGISTER_SUPPORTED, registered_memory),
    FEATURE(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, registered_pointer),
    FEATURE(READ_ONLY_HOST_REGISTER_SUPPORTED, read_only_registration),
    FEATURE(PAGEABLE_MEMORY_ACCESS, pageable_memory),
    FEATURE(UNIFIED_ADDRESSING, unified_addresses),
    FEATURE(MANAGED_MEMORY, managed_memory),
    FEATURE(CONCURRENT_MANAGED_ACCESS, concurrent_managed_access),
    FEATURE(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, concurrent_managed_access),
    FEATURE(COOPERATIVE_LAUNCH, cooperative_launch),
    FEATURE(GPU_OVERLAP, copies_beside_kernels),
    FEATURE(ASYNC_ENGINE_COUNT, copies_beside_kernels),
    FEATURE(CONCURRENT_KERNELS, concurrent_kernels),
    FEATURE(STREAM_PRIORITIES_SUPPORTED, stream_priorities),
    FEATURE(CLUSTER_LAUNCH, clusters),
    FEATURE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, virtual_memory),
    FEATURE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, memory_by_descriptor),
    FEATURE(CAN_TEX2D_GATHER, texture_gather),
};

static void every_attribute_says_whether_its_feature_works(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        int value = -1;
        assert_cuda(cuDeviceGetAttribute(&value, features[i].attribute, 0));
        bool works = features[i].works();
        if ((value > 0) == works) continue;
        print_error("%s is %d, and the feature %s\n", features[i].name, value,
                    works ? "works" : "does not work");
        fail();
    }
}

/* ---- Pools ---- */

static const CUmemPoolProps plain = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static cuuint64_t count_of(CUmemoryPool pool, CUmemPool_attribute attribute) {
    cuuint64_t value = UINT64_MAX;
    assert_cuda(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void a_pool_counts_what_is_in_use_and_the_most_that_was(void **state) {
    (void)state;
    CUmemoryPool pool;
    CUdeviceptr a, b;
    cuuint64_t zero = 0;
    assert_cuda(cuMemPoolCreate(&pool, &plain));
    assert_cuda(cuMemAllocFromPoolAsync(&a, 1000, pool, NULL));
    assert_cuda(cuMemAllocFromPoolAsync(&b, 24, pool, NULL));
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1024);
    assert_cuda(cuMemFree(a)); /* plain cuMemFree returns memory to the pool too */
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 24);
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 24);
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1024);
    assert_cuda(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 24);
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 1024);
    assert_int_equal(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFreeAsync(b, NULL));
    assert_cuda(cuMemPoolDestroy(pool));
}

static void memory_outlives_its_pool(void **state) {
    (void)state;
    CUmemoryPool pool, current, standard;
    CUdeviceptr address;
    assert_cuda(cuMemPoolCreate(&pool, &plain));
    assert_cuda(cuDeviceSetMemPool(0, pool));
    assert_cuda(cuDeviceGetMemPool(&current, 0));
    assert_ptr_equal(current, pool);
    assert_cuda(cuMemAllocAsync(&address, 64, NULL));
    assert_int_equal(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 64);
    assert_cuda(cuMemPoolDestroy(pool));
    assert_int_equal(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuDeviceGetMemPool(&current, 0));
    assert_cuda(cuDeviceGetDefaultMemPool(&standard, 0));
    assert_ptr_equal(current, standard);
    assert_cuda(launch("set", 1, address, NULL));
    assert_cuda(cuMemFreeAsync(address, NULL));
    assert_int_equal(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
}

static void a_pool_holds_no_more_than_it_may(void **state) {
    (void)state;
    CUmemoryPool pool;
    CUdeviceptr a, b;
    CUmemPoolProps small = plain;
    small.maxSize = 100;
    assert_cuda(cuMemPoolCreate(&pool, &small));
    assert_cuda(cuMemAllocFromPoolAsync(&a, 60, pool, NULL));
    assert_int_equal(cuMemAllocFromPoolAsync(&b, 41, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuMemAllocFromPoolAsync(&b, SIZE_MAX, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    assert_cuda(cuMemAllocFromPoolAsync(&b, 40, pool, NULL));
    assert_cuda(cuMemFree(a));
    assert_cuda(cuMemFree(b));
    assert_cuda(cuMemPoolDestroy(pool));
}

static void what_no_pool_can_do_is_refused(void **state) {
    (void)state;
    CUmemoryPool pool;
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, there = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUmemAccessDesc access = {here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemPoolProps asked = plain;
    CUdeviceptr address;
    asked.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    assert_int_equal(cuMemPoolCreate(&pool, &asked), CUDA_ERROR_NOT_SUPPORTED);
    asked = plain;
    asked.location = there;
    assert_int_equal(cuMemPoolCreate(&pool, &asked), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemPoolCreate(NULL, &plain), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    assert_int_equal(cuMemGetMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_MANAGED),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemSetMemPool(&there, CU_MEM_ALLOCATION_TYPE_PINNED, pool),
                     CUDA_ERROR_INVALID_DEVICE);
    assert_cuda(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    assert_cuda(cuDeviceGetDefaultMemPool(&pool, 0));
    assert_int_equal(cuDeviceGetDefaultMemPool(&pool, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_cuda(cuMemPoolGetAccess(&flags, pool, &here));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_int_equal(cuMemPoolGetAccess(&flags, pool, &there), CUDA_ERROR_INVALID_DEVICE);
    assert_cuda(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    assert_int_equal(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemPoolTrimTo(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAllocFromPoolAsync(&address, 4, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAllocFromPoolAsync(&address, 0, pool, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_attribute_says_whether_its_feature_works),
        cmocka_unit_test(a_pool_counts_what_is_in_use_and_the_most_that_was),
        cmocka_unit_test(memory_outlives_its_pool),
        cmocka_unit_test(a_pool_holds_no_more_than_it_may),
        cmocka_unit_test(what_no_pool_can_do_is_refused),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
