/* A program that makes one mistake with device memory: `careless NAME` calls NAME below. Each
 * function makes its mistake itself, so that the backtrace of the message names it. */
#include <tyto/cuda.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANT(name)                                                                                \
    __attribute__((noinline)) void name(void);                                                     \
    void name(void)

static void check(CUresult status, const char *what) {
    if (status == CUDA_SUCCESS) return;
    fprintf(stderr, "careless: %s: %d\n", what, (int)status);
    exit(9);
}
#define CHECK(call) check(call, #call)

static uint32_t host[256];
static CUdeviceptr a, b;
static const CUDA_ARRAY_DESCRIPTOR plane = {
    .Width = 8, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};

/* ---- Leaks: these functions use what they allocate, and never free it ---- */

PLANT(leak_one) {
    CHECK(cuMemAlloc(&a, 64));
    CHECK(cuMemsetD8(a, 1, 64));
}
PLANT(leak_large) {
    CHECK(cuMemAlloc(&a, 64 << 20));
    CHECK(cuMemsetD8(a, 1, 64));
}
PLANT(leak_first_of_two) {
    CHECK(cuMemAlloc(&a, 64));
    CHECK(cuMemsetD8(a, 1, 64));
    b = a;
    CUdeviceptr other;
    if (cuMemAlloc(&other, 64)) exit(9);
    CHECK(cuMemsetD8(other, 1, 64));
    CHECK(cuMemFree(other));
}
PLANT(leak_in_loop) {
    for (int i = 0; i < 3; i++) {
        CHECK(cuMemAlloc(&a, 64));
        CHECK(cuMemsetD8(a, 1, 64));
    }
    CHECK(cuMemFree(a));
}
PLANT(leak_overwritten) {
    CHECK(cuMemAlloc(&a, 64));
    CHECK(cuMemsetD8(a, 1, 64));
    a = 0;
    CHECK(cuMemFree(a));
}
PLANT(leak_pitched) {
    size_t pitch;
    CHECK(cuMemAllocPitch(&a, &pitch, 40, 3, 4));
    CHECK(cuMemsetD8(a, 1, 40));
}
PLANT(leak_managed) {
    CHECK(cuMemAllocManaged(&a, 64, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemsetD8(a, 1, 64));
}
PLANT(leak_of_stream) {
    CHECK(cuMemAllocAsync(&a, 64, NULL));
    CHECK(cuMemsetD8(a, 1, 64));
}
PLANT(leak_host) {
    void *pointer;
    CHECK(cuMemAllocHost(&pointer, 64));
    memset(pointer, 1, 64);
}
PLANT(leak_mapped) {
    void *pointer;
    CHECK(cuMemHostAlloc(&pointer, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(pointer, 1, 64);
}
PLANT(leak_line) {
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR line = plane;
    line.Height = 0;
    CHECK(cuArrayCreate(&array, &line));
    CHECK(cuMemcpyHtoA(array, 0, host, 32));
}
PLANT(leak_plane) {
    CUarray array;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = 32,
                          .Height = 4};
    CHECK(cuArrayCreate(&array, &plane));
    copy.dstArray = array;
    CHECK(cuMemcpy2D(&copy));
}
PLANT(leak_box) {
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR box = {
        .Width = 4, .Height = 2, .Depth = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = 16,
                          .Height = 2,
                          .Depth = 2};
    CHECK(cuArray3DCreate(&array, &box));
    copy.dstArray = array;
    CHECK(cuMemcpy3D(&copy));
}
PLANT(leak_of_context) { /* it ends before the program does */
    CUcontext context, before;
    CHECK(cuCtxGetCurrent(&before));
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuMemAlloc(&a, 64));
    CHECK(cuMemsetD8(a, 1, 64));
    CHECK(cuCtxDestroy(context));
    CHECK(cuCtxSetCurrent(before));
}
PLANT(leak_by_reset) {
    CHECK(cuMemAlloc(&a, 64));
    CHECK(cuMemsetD8(a, 1, 64));
    CHECK(cuDevicePrimaryCtxReset(0));
}

/* ---- Bytes that are never written, and allocations that are never used ---- */

static void allocate(void) {
    CHECK(cuMemAlloc(&a, sizeof host));
    CHECK(cuMemAlloc(&b, sizeof host));
}
static void release(void) {
    CHECK(cuMemsetD8(a, 0, 4));
    CHECK(cuMemsetD8(b, 0, 4));
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
}

PLANT(init_to_host) { CHECK(cuMemcpyDtoH(host, a, sizeof host)); }
PLANT(init_to_buffer) { CHECK(cuMemcpyDtoD(b, a, sizeof host)); }
PLANT(init_of_any_kind) { CHECK(cuMemcpy((CUdeviceptr)(uintptr_t)host, a, sizeof host)); }
PLANT(init_in_stream) { CHECK(cuMemcpyDtoHAsync(host, a, sizeof host, NULL)); }
PLANT(init_last_byte) {
    CHECK(cuMemsetD8(a, 1, sizeof host - 1));
    CHECK(cuMemcpyDtoH(host, a, sizeof host));
}
PLANT(init_second_half) {
    CHECK(cuMemcpyHtoD(a, host, sizeof host / 2));
    CHECK(cuMemcpyDtoH(host, a + sizeof host / 2, 4));
}
PLANT(init_rows) {
    CHECK(cuMemsetD2D8(a, 64, 1, 16, 4));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = a,
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .WidthInBytes = 20,
                          .Height = 4};
    CHECK(cuMemcpy2D(&copy));
}
PLANT(init_unused) {
    CUdeviceptr unused;
    CHECK(cuMemAlloc(&unused, 64));
    CHECK(cuMemFree(unused));
}
PLANT(init_unused_array) {
    CUarray array;
    CHECK(cuArrayCreate(&array, &plane));
    CHECK(cuArrayDestroy(array));
}

/* ---- Nothing wrong ---- */

PLANT(right) {
    CHECK(cuMemcpyHtoD(a, host, sizeof host));
    CHECK(cuMemcpyDtoD(b, a, sizeof host));
    CHECK(cuMemcpyDtoH(host, b, sizeof host));
}

#define ROW(name) {#name, name}
static const struct {
    const char *name;
    void (*call)(void);
} plants[] = {
    ROW(leak_one),       ROW(leak_large),       ROW(leak_first_of_two),
    ROW(leak_in_loop),   ROW(leak_overwritten), ROW(leak_pitched),
    ROW(leak_managed),   ROW(leak_of_stream),   ROW(leak_host),
    ROW(leak_mapped),    ROW(leak_line),        ROW(leak_plane),
    ROW(leak_box),       ROW(leak_of_context),  ROW(leak_by_reset),
    ROW(init_to_host),   ROW(init_to_buffer),   ROW(init_of_any_kind),
    ROW(init_in_stream), ROW(init_last_byte),   ROW(init_second_half),
    ROW(init_rows),      ROW(init_unused),      ROW(init_unused_array),
    ROW(right),
};
enum { PLANTS = sizeof plants / sizeof plants[0] };

int main(int argc, char **argv) {
    CUcontext context;
    if (argc != 2) { /* available modes */
        for (int i = 0; i < PLANTS; i++)
            puts(plants[i].name);
        return 0;
    }
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < PLANTS; i++) {
        if (strcmp(plants[i].name, argv[1])) continue;
        int is_leak = strncmp(argv[1], "leak", 4) == 0;
        if (!is_leak) allocate();
        plants[i].call();
        if (!is_leak) release();
        return 0;
    }
    return 9;
}
