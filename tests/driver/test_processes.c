/* Memory and events of another process. Each case runs one in a child, which is forked before the
 * first CUDA call, and communicates with it through a pair of sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

enum { WORDS = 100, LAZY = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS };

/* add: at[tid] += value */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 at, .param .u32 value) {\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<3>;\n  ld.param.u64 %rd1, [at];\n"
    "  ld.param.u32 %r1, [value];\n  mov.u32 %r2, %tid.x;\n  mul.wide.u32 %rd2, %r2, 4;\n"
    "  add.u64 %rd1, %rd1, %rd2;\n  ld.global.u32 %r3, [%rd1];\n  add.u32 %r3, %r3, %r1;\n"
    "  st.global.u32 [%rd1], %r3;\n  ret;\n}\n";

/* The child's first message. */
typedef struct Gift {
    CUipcMemHandle first, second; /* `second` is in the same page of the host as `first` */
    CUipcEventHandle event;
} Gift;

static pid_t child;
static int channel; /* socket to the other process */
static Gift gift;
static CUfunction add;

static bool start(void) {
    CUcontext context;
    CUmodule module;
    return cuInit(0) == 0 && cuCtxCreate(&context, NULL, 0, 0) == 0 &&
           cuModuleLoadData(&module, ptx) == 0 && cuModuleGetFunction(&add, module, "add") == 0;
}

static CUresult launch(CUdeviceptr address, uint32_t value) {
    void *parameters[] = {&address, &value};
    return cuLaunchKernel(add, 1, 1, 1, WORDS, 1, 1, 0, NULL, parameters, NULL);
}

/* Exports memory, then executes the other process's commands, one byte each: 'a' adds 5 with a
 * kernel, 'f' frees, anything else ends it. */
static int give(void) {
    CUdeviceptr first, second, plain;
    CUevent event;
    Gift given;
    char order;
    if (!start() || cuMemAlloc(&plain, 40) || cuMemAlloc(&first, 4 * WORDS) ||
        cuMemAlloc(&second, 4 * WORDS) || cuMemsetD32(first, 7, WORDS) ||
        cuMemsetD32(second, 9, WORDS) ||
        cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING) ||
        cuIpcGetMemHandle(&given.first, first) || cuIpcGetMemHandle(&given.second, second + 8) ||
        cuIpcGetEventHandle(&given.event, event) || cuEventRecord(event, NULL))
        return 1;
    if (write(channel, &given, sizeof given) != sizeof given) return 2;
    while (read(channel, &order, 1) == 1) {
        if (order == 'a' && launch(first, 5)) return 3;
        if (order == 'f' && cuMemFree(first)) return 4;
        if (order != 'a' && order != 'f') return 0;
        if (write(channel, &order, 1) != 1) return 5;
    }
    return 0;
}

static void ask(char order) {
    assert_int_equal(write(channel, &order, 1), 1);
    assert_int_equal(read(channel, &order, 1), 1);
}

static int set_up(void **state) {
    (void)state;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    child = fork();
    channel = ends[child ? 0 : 1];
    close(ends[child ? 1 : 0]);
    if (child == 0) _exit(give());
    return !start() || read(channel, &gift, sizeof gift) != sizeof gift;
}

static void both_processes_see_each_others_kernels(void **state) {
    (void)state;
    uint32_t words[WORDS];
    CUdeviceptr first, again, second;
    assert_cuda(cuIpcOpenMemHandle(&first, gift.first, LAZY));
    assert_cuda(cuIpcOpenMemHandle(&second, gift.second, LAZY));
    assert_cuda(cuIpcOpenMemHandle(&again, gift.first, LAZY));
    assert_int_equal(again, first);
    assert_cuda(launch(first, 100));
    ask('a');
    assert_cuda(cuMemcpyDtoH(words, first, sizeof words));
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(words[i], 112);
    assert_cuda(cuMemcpyDtoH(words, second, sizeof words));
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(words[i], 9);
    /* only the bytes of the allocation */
    size_t size;
    CUdeviceptr base;
    assert_cuda(cuMemGetAddressRange(&base, &size, first + 12));
    assert_int_equal(base, first);
    assert_int_equal(size, 4 * WORDS);
    assert_fails(cuMemcpyDtoH(words, first + 4, sizeof words), INVALID_VALUE);
    assert_fails(cuMemFree(first), INVALID_VALUE);
    assert_cuda(cuIpcCloseMemHandle(first));
    assert_cuda(cuMemcpyDtoH(words, first, 4)); /* it was opened twice */
    assert_cuda(cuIpcCloseMemHandle(again));
    assert_fails(cuMemcpyDtoH(words, first, 4), INVALID_VALUE);
    assert_fails(cuIpcCloseMemHandle(first), INVALID_VALUE);
    /* open memory is closed with its context */
}

static void an_event_of_another_process_is_complete(void **state) {
    (void)state;
    CUevent event, timed;
    float time;
    assert_cuda(cuIpcOpenEventHandle(&event, gift.event));
    assert_cuda(cuEventQuery(event));
    assert_cuda(cuEventSynchronize(event));
    assert_cuda(cuStreamWaitEvent(NULL, event, 0));
    assert_cuda(cuEventRecord(event, NULL));
    assert_int_not_equal(cuEventElapsedTime(&time, event, event), CUDA_SUCCESS);
    assert_cuda(cuEventDestroy(event));
    assert_fails(cuEventCreate(&timed, CU_EVENT_INTERPROCESS), INVALID_VALUE);
}

static void wrong_handles_are_refused(void **state) {
    (void)state;
    CUipcMemHandle own, wrong = gift.first;
    CUipcEventHandle event_handle;
    CUdeviceptr address, mine, managed;
    CUevent event;
    assert_fails(cuIpcOpenMemHandle(NULL, gift.first, LAZY), INVALID_VALUE);
    assert_fails(cuIpcOpenMemHandle(&address, gift.first, 0), INVALID_VALUE);
    assert_fails(cuIpcOpenMemHandle(&address, gift.first, 7), INVALID_VALUE);
    memset(&wrong, 0, sizeof wrong);
    assert_fails(cuIpcOpenMemHandle(&address, wrong, LAZY), INVALID_VALUE);
    memset(&wrong, 0xff, sizeof wrong);
    assert_fails(cuIpcOpenMemHandle(&address, wrong, LAZY), INVALID_VALUE);
    for (size_t i = 4; i < 40; i++) { /* a change of any byte must be harmless */
        wrong = gift.first;
        wrong.reserved[i] = (char)(wrong.reserved[i] + 85);
        CUresult status = cuIpcOpenMemHandle(&address, wrong, LAZY);
        if (status == CUDA_SUCCESS) assert_cuda(cuIpcCloseMemHandle(address));
        else assert_int_equal(status, CUDA_ERROR_MAP_FAILED);
    }
    assert_cuda(cuMemAlloc(&mine, 64));
    assert_fails(cuIpcGetMemHandle(NULL, mine), INVALID_VALUE);
    assert_fails(cuIpcGetMemHandle(&own, 0), INVALID_VALUE);
    assert_fails(cuIpcGetMemHandle(&own, mine + 4096), INVALID_VALUE);
    if (cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS)
        assert_fails(cuIpcGetMemHandle(&own, managed), INVALID_VALUE);
    assert_cuda(cuIpcGetMemHandle(&own, mine));
    assert_fails(cuIpcOpenMemHandle(&address, own, LAZY), INVALID_CONTEXT); /* as on a GPU */
    assert_cuda(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    assert_fails(cuIpcGetEventHandle(&event_handle, event), INVALID_HANDLE);
    assert_fails(cuIpcGetEventHandle(NULL, event), INVALID_VALUE);
    assert_fails(cuIpcOpenEventHandle(NULL, gift.event), INVALID_VALUE);
    memset(&event_handle, 0, sizeof event_handle);
    assert_fails(cuIpcOpenEventHandle(&event, event_handle), INVALID_HANDLE);
}

/* Memory keeps its contents when it becomes a file. */
static void memory_keeps_its_bytes_when_it_is_shared(void **state) {
    (void)state;
    enum { LARGE = 3 << 20 };
    static uint8_t before[LARGE], after[LARGE];
    CUipcMemHandle handle;
    CUdeviceptr large, small;
    for (size_t i = 0; i < LARGE; i++)
        before[i] = i % 8192 < 100 ? (uint8_t)(i * 7) : 0;
    assert_cuda(cuMemAlloc(&small, 4));
    assert_cuda(cuMemsetD32(small, 1234, 1));
    assert_cuda(cuMemAlloc(&large, LARGE));
    assert_cuda(cuMemcpyHtoD(large, before, LARGE));
    assert_cuda(cuIpcGetMemHandle(&handle, small));
    assert_cuda(cuMemcpyDtoH(after, large, LARGE));
    assert_memory_equal(before, after, LARGE);
    uint32_t word;
    assert_cuda(cuMemcpyDtoH(&word, small, 4));
    assert_int_equal(word, 1234);
}

static void memory_outlives_the_process_that_gave_it(void **state) {
    (void)state;
    uint32_t word;
    CUdeviceptr address;
    CUevent event;
    int status;
    assert_cuda(cuIpcOpenMemHandle(&address, gift.first, LAZY));
    ask('f');
    assert_int_equal(write(channel, "x", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_cuda(cuMemcpyDtoH(&word, address, 4));
    assert_int_equal(word, 112);
    assert_cuda(cuIpcCloseMemHandle(address));
    assert_fails(cuIpcOpenMemHandle(&address, gift.first, LAZY), MAP_FAILED);
    assert_fails(cuIpcOpenEventHandle(&event, gift.event), INVALID_HANDLE);
}

/* (tests/cudart/programs/process_pool.cu tests two processes that share a pool.) */
static void wrong_descriptors_of_pools_are_refused(void **state) {
    (void)state;
    const CUmemAllocationHandleType files = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool plain, shared, imported;
    CUmemPoolPtrExportData data, wrong;
    CUdeviceptr address, again, other;
    int file;
    assert_cuda(cuMemPoolCreate(&plain, &properties));
    properties.handleTypes = files;
    assert_cuda(cuMemPoolCreate(&shared, &properties));
    properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    assert_fails(cuMemPoolCreate(&imported, &properties), NOT_SUPPORTED);
    assert_fails(cuMemPoolExportToShareableHandle(&file, plain, files, 0), INVALID_VALUE);
    assert_fails(cuMemPoolExportToShareableHandle(&file, shared, CU_MEM_HANDLE_TYPE_NONE, 0),
                 INVALID_VALUE);
    assert_cuda(cuMemAllocFromPoolAsync(&address, 400, shared, NULL));
    assert_fails(cuMemPoolExportPointer(&wrong, address), INVALID_VALUE); /* not shared yet */
    assert_cuda(cuMemPoolExportToShareableHandle(&file, shared, files, 0));
    assert_fails(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)channel, files, 0),
                 INVALID_VALUE);
    assert_fails(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)-1, files, 0),
                 INVALID_VALUE);
    assert_cuda(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)file, files, 0));
    close(file);
    assert_cuda(cuMemAllocFromPoolAsync(&other, 400, plain, NULL));
    assert_cuda(cuMemsetD32(address, 77, 100));
    assert_cuda(cuMemPoolExportPointer(&data, address));
    assert_fails(cuMemPoolExportPointer(&wrong, address + 4), INVALID_VALUE);
    assert_fails(cuMemPoolExportPointer(&wrong, other), INVALID_VALUE);
    assert_fails(cuMemPoolImportPointer(&again, shared, &data), INVALID_VALUE);
    for (size_t i = 0; i < sizeof data; i++) { /* a change of any byte must be harmless */
        wrong = data;
        wrong.reserved[i] ^= 0x55;
        if (cuMemPoolImportPointer(&again, imported, &wrong) == CUDA_SUCCESS)
            assert_cuda(cuMemFree(again));
    }
    assert_cuda(cuMemPoolImportPointer(&again, imported, &data));
    uint32_t word;
    assert_cuda(cuMemcpyDtoH(&word, again + 396, 4));
    assert_int_equal(word, 77);
    assert_fails(cuMemcpyDtoH(&word, again + 400, 4), INVALID_VALUE);
    assert_fails(cuIpcCloseMemHandle(again), INVALID_VALUE);
    assert_cuda(cuMemFree(again));
    assert_fails(cuMemFree(again), INVALID_VALUE);
    assert_fails(cuMemAllocFromPoolAsync(&again, 4, imported, NULL), INVALID_VALUE);
    assert_fails(cuDeviceSetMemPool(0, imported), INVALID_VALUE);
    assert_cuda(cuMemPoolDestroy(imported));
    assert_cuda(cuMemPoolDestroy(shared));
    assert_cuda(cuMemPoolDestroy(plain));
}

static int end(void **state) {
    (void)state;
    close(channel);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_keeps_its_bytes_when_it_is_shared),
        cmocka_unit_test(both_processes_see_each_others_kernels),
        cmocka_unit_test(an_event_of_another_process_is_complete),
        cmocka_unit_test(wrong_handles_are_refused),
        cmocka_unit_test(wrong_descriptors_of_pools_are_refused),
        cmocka_unit_test(memory_outlives_the_process_that_gave_it),
    };
    return cmocka_run_group_tests(tests, set_up, end);
}
