/* usage: bench_driver [CALLS]
 *
 * Measures the host's cost of calls of the driver API, in nanoseconds of processor time. Each
 * figure is the least of several rounds of CALLS calls. The budget in a functional run is well
 * under 2 microseconds for a call. */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"
#include "tyto/cuda.h"

enum { DEFAULT_CALLS = 100000 };

static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                          ".visible .entry empty(.param .u64 a, .param .u32 b) { ret; }\n";

static CUfunction function;
static CUdeviceptr buffer;
static CUevent event;

static void check(CUresult status) {
    if (status == CUDA_SUCCESS) return;
    fprintf(stderr, "bench_driver: a call failed with status %d\n", (int)status);
    exit(1);
}

static void get_current(void) {
    CUcontext context;
    check(cuCtxGetCurrent(&context));
}

static void allocate_and_free(void) {
    CUdeviceptr address;
    check(cuMemAlloc(&address, 4096));
    check(cuMemFree(address));
}

static void copy_four_bytes(void) {
    int value = 1;
    check(cuMemcpyHtoD(buffer, &value, sizeof value));
}

static void record_event(void) { check(cuEventRecord(event, NULL)); }

static void launch_empty(void) {
    unsigned b = 1;
    void *parameters[] = {&buffer, &b};
    check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
}

int main(int argc, char **argv) {
    int calls = argc > 1 ? atoi(argv[1]) : DEFAULT_CALLS;
    static const BenchCall rows[] = {
        {"cuCtxGetCurrent", get_current},
        {"cuMemAlloc + cuMemFree", allocate_and_free},
        {"cuMemcpyHtoD, 4 bytes", copy_four_bytes},
        {"cuEventRecord", record_event},
        {"cuLaunchKernel, 1 warp of 1 instruction", launch_empty},
    };
    CUcontext context;
    CUmodule module;
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&function, module, "empty"));
    check(cuMemAlloc(&buffer, 4096));
    check(cuEventCreate(&event, 0));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%-42s %8.0f ns\n", rows[i].name, bench_nanoseconds(rows[i].call, calls));
    return 0;
}
