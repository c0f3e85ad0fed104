/* usage: bench_cudart [CALLS]
 *        bench_cudart --launches N
 *
 * Measures the host's cost of calls of the runtime API, in nanoseconds of processor time. Each
 * figure is the least of several rounds of CALLS calls. The budget in a functional run is 2
 * microseconds for a call, without the time to copy bytes. With --launches, the program makes N
 * launches of one thread that adds 1. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/cudart/fatbin_maker.h"
#include "calls.h"
#include "tyto/cuda_runtime_api.h"

enum { DEFAULT_CALLS = 100000 };

static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry step(.param .u64 value) {\n.reg .u64 %a; .reg .u32 %v;\n"
    "ld.param.u64 %a, [value]; ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v;\n"
    "ret;\n}\n"
    ".visible .entry empty() { ret; }\n";

static int step_host, empty_host; /* the addresses that identify the kernels */
static int *device;
static cudaEvent_t event;
static cudaStream_t stream;

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "bench_cudart: a call failed: %s\n", cudaGetErrorString(status));
    exit(1);
}

static void register_kernels(void) {
    static Maker binary;
    static MakerWrapper wrapper;
    maker_begin(&binary);
    maker_add(&binary, MAKER_PLAIN, 75, ptx, sizeof ptx, 0);
    wrapper = maker_wrap(&binary);
    void **handle = __cudaRegisterFatBinary(&wrapper);
    static const struct {
        int *host;
        const char *name;
    } kernels[] = {{&step_host, "step"}, {&empty_host, "empty"}};
    for (int i = 0; i < 2; i++)
        __cudaRegisterFunction(handle, (const char *)kernels[i].host,
                               (char *)(uintptr_t)kernels[i].name, kernels[i].name, -1, NULL, NULL,
                               NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

/* ---- Calls ---- */

static void get_device(void) {
    int index;
    check(cudaGetDevice(&index));
}

static void get_last_error(void) { check(cudaGetLastError()); }

static void allocate_and_free(void) {
    void *memory;
    check(cudaMalloc(&memory, 4096));
    check(cudaFree(memory));
}

static void copy_to_device(void) {
    int value = 1;
    check(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
}

static void copy_from_device(void) {
    int value;
    check(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, stream));
}

static void set_memory(void) { check(cudaMemset(device, 0, sizeof *device)); }

static void record_event(void) { check(cudaEventRecord(event, stream)); }

static void synchronize(void) { check(cudaDeviceSynchronize()); }

static void launch_empty(void) {
    dim3 one = {1, 1, 1};
    check(cudaLaunchKernel(&empty_host, one, one, NULL, 0, stream));
}

/* The compiled form of `kernel<<<1, 1>>>(device)`. */
static void launch_step(void) {
    dim3 grid = {1, 1, 1}, block = {1, 1, 1};
    size_t shared;
    void *of_stream, *arguments[] = {&device};
    if (__cudaPushCallConfiguration(grid, block, 0, NULL)) exit(1);
    check(__cudaPopCallConfiguration(&grid, &block, &shared, &of_stream));
    check(cudaLaunchKernel(&step_host, grid, block, arguments, shared, of_stream));
}

static int run_launches(int count) {
    int value = 0;
    check(cudaMemset(device, 0, sizeof *device));
    for (int i = 0; i < count; i++)
        launch_step();
    check(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    if (value != count) fprintf(stderr, "bench_cudart: %d launches added %d\n", count, value);
    return value != count;
}

int main(int argc, char **argv) {
    static const BenchCall rows[] = {
        {"cudaGetDevice", get_device},
        {"cudaGetLastError", get_last_error},
        {"cudaMalloc + cudaFree, 4 KiB", allocate_and_free},
        {"cudaMemcpy to the device, 4 bytes", copy_to_device},
        {"cudaMemcpyAsync to the host, 4 bytes", copy_from_device},
        {"cudaMemset, 4 bytes", set_memory},
        {"cudaEventRecord", record_event},
        {"cudaDeviceSynchronize", synchronize},
        {"cudaLaunchKernel, 1 warp of 1 instruction", launch_empty},
    };
    register_kernels();
    check(cudaMalloc((void **)&device, sizeof *device));
    if (argc > 2 && strcmp(argv[1], "--launches") == 0) return run_launches(atoi(argv[2]));
    int calls = argc > 1 ? atoi(argv[1]) : DEFAULT_CALLS;
    check(cudaEventCreate(&event));
    check(cudaStreamCreate(&stream));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%-42s %8.0f ns\n", rows[i].name, bench_nanoseconds(rows[i].call, calls));
    return 0;
}
