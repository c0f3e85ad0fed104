/* Shared part of the workloads' host programs. */
#include "workload.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_MISMATCH = 1, STATUS_ERROR = 2, PATH_BYTES = 4096 };

__attribute__((noreturn, format(printf, 2, 3))) static void fail(const char *name,
                                                                 const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(STATUS_ERROR);
}

/* Ends the program unless the driver call named `call` succeeded. */
static void check(CUresult result, const char *call) {
    if (result == CUDA_SUCCESS) return;
    const char *name = NULL, *text = NULL;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    fail(call, "%s: %s", name ? name : "unknown error", text ? text : "");
}

static void print_help(const WorkloadInfo *info) {
    printf("usage: %s [--size N] [--seed S]\n"
           "%s\n\n"
           "  --size N  %s (default %u, at most %u)\n"
           "  --seed S  seed of the random input (default %u)\n\n"
           "Exit status: 0 the result is right, 1 it is not, 2 an option or a CUDA call failed.\n",
           info->name, info->summary, info->size_meaning, info->default_size, info->largest_size,
           info->default_seed);
}

static uint64_t parse_number(const WorkloadInfo *info, const char *option, const char *text,
                             uint64_t smallest, uint64_t largest) {
    char *end = NULL;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    if (!text || *text < '0' || *text > '9' || *end || value < smallest || value > largest)
        fail(info->name, "%s: needs a whole number from %llu to %llu, got '%s'", option,
             (unsigned long long)smallest, (unsigned long long)largest, text ? text : "");
    return value;
}

static void parse_options(Workload *workload, int argc, char **argv) {
    const WorkloadInfo *info = workload->info;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0) {
            print_help(info);
            exit(0);
        } else if (strcmp(argv[i], "--size") == 0) {
            workload->size = (uint32_t)parse_number(info, argv[i++], value, 1, info->largest_size);
        } else if (strcmp(argv[i], "--seed") == 0) {
            workload->random_state = parse_number(info, argv[i++], value, 0, UINT64_MAX);
        } else {
            fail(info->name, "unknown option '%s' (try --help)", argv[i]);
        }
    }
}

/* The path of NAME.ptx into `path` (PATH_BYTES). */
static void find_ptx(const WorkloadInfo *info, char *path) {
    char folder[PATH_BYTES];
    const char *chosen = getenv("TYTO_WORKLOAD_DIR");
    if (!chosen) {
        ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
        if (length <= 0) fail(info->name, "/proc/self/exe: cannot read where this program lies");
        folder[length] = '\0';
        *strrchr(folder, '/') = '\0';
        chosen = folder;
    }
    if (snprintf(path, PATH_BYTES, "%s/%s.ptx", chosen, info->name) >= PATH_BYTES)
        fail(info->name, "the path of %s.ptx is too long", info->name);
}

static void load_kernel(Workload *workload) {
    CUdevice device;
    CUcontext context;
    char path[PATH_BYTES];
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    find_ptx(workload->info, path);
    check(cuModuleLoad(&workload->module, path), path);
    check(cuModuleGetFunction(&workload->kernel, workload->module, workload->info->name),
          workload->info->name);
}

Workload workload_open(const WorkloadInfo *info, int argc, char **argv) {
    Workload workload = {
        .info = info, .size = info->default_size, .random_state = info->default_seed};
    parse_options(&workload, argc, argv);
    load_kernel(&workload);
    return workload;
}

int workload_finish(const Workload *workload, bool is_right, const char *what, size_t count) {
    check(cuModuleUnload(workload->module), "cuModuleUnload");
    if (!is_right) return STATUS_MISMATCH;
    printf("%s: %zu %s verified\n", workload->info->name, count, what);
    return 0;
}

uint32_t workload_random(Workload *workload, uint32_t limit) {
    /* Knuth's MMIX multiplier and increment. */
    workload->random_state = workload->random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(workload->random_state >> 33) % limit;
}

float *workload_random_floats(Workload *workload, size_t count, uint32_t limit) {
    float *values = workload_host_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)workload_random(workload, limit);
    return values;
}

void *workload_host_alloc(size_t count, size_t element_bytes) {
    void *memory = calloc(count ? count : 1, element_bytes);
    if (!memory) fail("workload", "out of host memory");
    return memory;
}

CUdeviceptr workload_device_alloc(size_t size_bytes) {
    CUdeviceptr buffer = 0;
    check(cuMemAlloc(&buffer, size_bytes), "cuMemAlloc");
    return buffer;
}

CUdeviceptr workload_upload(const void *data, size_t size_bytes) {
    CUdeviceptr buffer = workload_device_alloc(size_bytes);
    workload_copy_to_device(buffer, data, size_bytes);
    return buffer;
}

void workload_copy_to_device(CUdeviceptr to, const void *from, size_t size_bytes) {
    check(cuMemcpyHtoD(to, from, size_bytes), "cuMemcpyHtoD");
}

void workload_copy_to_host(void *to, CUdeviceptr from, size_t size_bytes) {
    check(cuMemcpyDtoH(to, from, size_bytes), "cuMemcpyDtoH");
}

void workload_launch(const Workload *workload, WorkloadShape shape, void **parameters) {
    check(cuLaunchKernel(workload->kernel, shape.grid_x, shape.grid_y, 1, shape.block_x,
                         shape.block_y, 1, 0, NULL, parameters, NULL),
          "cuLaunchKernel");
    check(cuCtxSynchronize(), workload->info->name);
}

bool workload_compare_floats(const Workload *workload, const float *got, const float *expected,
                             size_t count, float tolerance) {
    for (size_t i = 0; i < count; i++) {
        if (fabsf(got[i] - expected[i]) <= tolerance * fabsf(expected[i])) continue;
        fprintf(stderr, "%s: element %zu: got %.9g, expected %.9g\n", workload->info->name, i,
                (double)got[i], (double)expected[i]);
        return false;
    }
    return true;
}

bool workload_compare_words(const Workload *workload, const uint32_t *got, const uint32_t *expected,
                            size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (got[i] == expected[i]) continue;
        fprintf(stderr, "%s: element %zu: got %u, expected %u\n", workload->info->name, i, got[i],
                expected[i]);
        return false;
    }
    return true;
}

unsigned workload_divide_up(unsigned value, unsigned divisor) {
    return (value + divisor - 1) / divisor;
}
