/* Measuring tensor cores (see the header). */
#include "common/tensor.h"

#include <math.h>
#include <stdio.h>

enum { BOX_COLUMNS = 64 }; /* halves of the 128 bytes of the swizzle */

int tensor_attribute(CUdevice_attribute which) {
    CUdevice device = 0;
    int value = 0;
    workload_check(cuCtxGetDevice(&device), "cuCtxGetDevice");
    workload_check(cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
}

void tensor_ask_room(const WorkloadInfo *info, unsigned shared_bytes, const char *machine) {
    int room = tensor_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if ((unsigned)room >= shared_bytes) return;
    workload_fail(info->name,
                  "its tiles take %u bytes of shared memory, and a block of this GPU has %d; the "
                  "%s has enough (tyto run --machine %s)",
                  shared_bytes, room, machine, machine);
}

/* The launch in the driver's form, whose attribute is `cluster`. */
static CUlaunchConfig config_of(const TensorLaunch *launch, CUlaunchAttribute *cluster) {
    *cluster = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster->value.clusterDim.x = launch->cluster;
    cluster->value.clusterDim.y = cluster->value.clusterDim.z = 1;
    return (CUlaunchConfig){.gridDimX = launch->grid_x,
                            .gridDimY = launch->grid_y,
                            .gridDimZ = 1,
                            .blockDimX = launch->threads,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .sharedMemBytes = launch->shared_bytes,
                            .attrs = cluster,
                            .numAttrs = launch->cluster > 1};
}

static CUfunction function_of(const Workload *workload, const TensorLaunch *launch) {
    CUfunction function = NULL;
    workload_check(cuModuleGetFunction(&function, workload->module, launch->kernel),
                   "cuModuleGetFunction");
    workload_check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)launch->shared_bytes),
                   "cuFuncSetAttribute");
    return function;
}

unsigned tensor_ctas_at_once(const Workload *workload, const TensorLaunch *launch) {
    CUlaunchAttribute cluster;
    CUlaunchConfig config = config_of(launch, &cluster);
    int count = 0;
    if (launch->cluster <= 1)
        return (unsigned)tensor_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    workload_check(cuOccupancyMaxActiveClusters(&count, function_of(workload, launch), &config),
                   "cuOccupancyMaxActiveClusters");
    return (unsigned)count * launch->cluster;
}

static double cycles_of(const Workload *workload, const TensorLaunch *launch) {
    CUfunction function = function_of(workload, launch);
    CUlaunchAttribute cluster;
    CUlaunchConfig config = config_of(launch, &cluster);
    CUevent start, end;
    float milliseconds = 0;
    workload_check(cuEventCreate(&start, CU_EVENT_DEFAULT), "cuEventCreate");
    workload_check(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
    workload_check(cuEventRecord(start, NULL), "cuEventRecord");
    workload_check(cuLaunchKernelEx(&config, function, launch->arguments, NULL),
                   "cuLaunchKernelEx");
    workload_check(cuEventRecord(end, NULL), "cuEventRecord");
    workload_check(cuEventSynchronize(end), "cuEventSynchronize");
    workload_check(cuEventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
    workload_check(cuEventDestroy(start), "cuEventDestroy");
    workload_check(cuEventDestroy(end), "cuEventDestroy");
    return (double)milliseconds * tensor_attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
}

double tensor_time(const Workload *workload, const TensorLaunch *launch) {
    TensorLaunch empty = {.kernel = "nothing", .grid_x = 1, .grid_y = 1, .threads = 32};
    double launching = cycles_of(workload, &empty);
    return cycles_of(workload, launch) - launching;
}

/* Products of halves that the tensor cores of an SM add up per cycle: NVIDIA's white papers of the
 * V100, the Turing TU102, the A100, the GA102, AD102 and the H100. */
static double peak(void) {
    int major = tensor_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = tensor_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (major == 9) return 2048;
    return major == 8 && minor == 0 ? 1024 : 512;
}

void tensor_print_share(double products, double cycles, unsigned sms) {
    if (cycles > 0)
        printf("%.1f%% of the tensor cores' peak, of %u SMs\n",
               100 * products / cycles / peak() / sms, sms);
}

uint16_t tensor_half(float value) {
    int exponent;
    float mantissa = frexpf(fabsf(value), &exponent); /* in [0.5, 1), or 0 */
    if (mantissa == 0) return 0;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                      ((int)(mantissa * 2048) & 1023));
}

float tensor_float(uint16_t half) {
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float value =
        exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);
    return half >> 15 ? -value : value;
}

CUtensorMap tensor_map(CUdeviceptr matrix, unsigned rows, unsigned columns, unsigned box_rows) {
    CUtensorMap map;
    const uint64_t sizes[] = {columns, rows}, strides[] = {(uint64_t)columns * sizeof(uint16_t)};
    const uint32_t box[] = {BOX_COLUMNS, box_rows}, steps[] = {1, 1};
    workload_check(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                                          (void *)(uintptr_t)matrix, sizes, strides, box, steps,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                   "cuTensorMapEncodeTiled");
    return map;
}
