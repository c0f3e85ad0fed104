/* The start of the driver, and the one device with its attributes. */
#include "driver/driver.h"

#include <limits.h>
#include <string.h>

static const char device_name[] = "Tyto simulated GPU";
static const char bus_id[] = "0000:01:00.0";

/* An attribute is a fixed number, or a limit of the simulated GPU, possibly cut. */
typedef struct AttributeRow {
    CUdevice_attribute attribute;
    int value;    /* fixed; of a limit: the most that is told */
    size_t limit; /* 1 + offset of a uint32_t in GpuLimits, or 0 */
} AttributeRow;

#define FIXED(name, value) {CU_DEVICE_ATTRIBUTE_##name, value, 0}
#define LIMIT(name, field) LIMIT_TO(name, field, INT_MAX)
#define LIMIT_TO(name, field, most)                                                                \
    {CU_DEVICE_ATTRIBUTE_##name, most, 1 + offsetof(GpuLimits, field)}

/* Attributes not listed are 0: the device has no such feature. Texture sizes are those of compute
 * capabilities 7.0 to 8.9 (CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability").
 */
static const AttributeRow attributes[] = {
    LIMIT(MAX_THREADS_PER_BLOCK, max_threads_per_cta),
    LIMIT(MAX_BLOCK_DIM_X, max_block[0]),
    LIMIT(MAX_BLOCK_DIM_Y, max_block[1]),
    LIMIT(MAX_BLOCK_DIM_Z, max_block[2]),
    FIXED(MAX_GRID_DIM_X, 2147483647),
    FIXED(MAX_GRID_DIM_Y, 65535),
    FIXED(MAX_GRID_DIM_Z, 65535),
    LIMIT_TO(MAX_SHARED_MEMORY_PER_BLOCK, shared_per_cta, 48 << 10), /* more: by opting in */
    LIMIT(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared_per_cta),
    LIMIT(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_per_sm),
    FIXED(TOTAL_CONSTANT_MEMORY, 65536),
    FIXED(WARP_SIZE, ISA_LANES),
    FIXED(MAX_PITCH, 2147483647),
    LIMIT(MAX_REGISTERS_PER_BLOCK, registers_per_sm),
    LIMIT(MAX_REGISTERS_PER_MULTIPROCESSOR, registers_per_sm),
    LIMIT(CLOCK_RATE, clock_khz),
    LIMIT(MEMORY_CLOCK_RATE, memory_clock_khz),
    LIMIT(GLOBAL_MEMORY_BUS_WIDTH, bus_width_bits),
    LIMIT(L2_CACHE_SIZE, l2_bytes),
    LIMIT(MULTIPROCESSOR_COUNT, sms),
    LIMIT(MAX_THREADS_PER_MULTIPROCESSOR, threads_per_sm),
    LIMIT(MAX_BLOCKS_PER_MULTIPROCESSOR, ctas_per_sm),
    FIXED(TEXTURE_ALIGNMENT, 512),
    FIXED(TEXTURE_PITCH_ALIGNMENT, 32),
    FIXED(SURFACE_ALIGNMENT, 512),
    FIXED(MAXIMUM_TEXTURE1D_WIDTH, 131072),
    FIXED(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456),
    FIXED(MAXIMUM_TEXTURE2D_WIDTH, 131072),
    FIXED(MAXIMUM_TEXTURE2D_HEIGHT, 65536),
    FIXED(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072),
    FIXED(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000),
    FIXED(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120),
    FIXED(CAN_MAP_HOST_MEMORY, 1),
    FIXED(COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT),
    FIXED(PCI_BUS_ID, 1),
    LIMIT(COMPUTE_CAPABILITY_MAJOR, capability_major),
    LIMIT(COMPUTE_CAPABILITY_MINOR, capability_minor),
    FIXED(GLOBAL_L1_CACHE_SUPPORTED, 1),
    FIXED(LOCAL_L1_CACHE_SUPPORTED, 1),
    FIXED(UNIFIED_ADDRESSING, 1),
    LIMIT(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, single_to_double),
    FIXED(COOPERATIVE_LAUNCH, 1),
    FIXED(HOST_REGISTER_SUPPORTED, 1),
    FIXED(MANAGED_MEMORY, 1),
};

static CUresult attribute_of(const Gpu *gpu, CUdevice_attribute attribute, int *value) {
    *value = 0;
    if (attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    GpuLimits limits = gpu_limits(gpu);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        const AttributeRow *row = &attributes[i];
        if (row->attribute != attribute) continue;
        uint32_t limit = UINT32_MAX;
        if (row->limit) memcpy(&limit, (char *)&limits + row->limit - 1, sizeof limit);
        *value = limit < (uint32_t)row->value ? (int)limit : row->value;
        break;
    }
    return CUDA_SUCCESS;
}

/* ---- Start ---- */

CUresult CUDAAPI cuInit(unsigned int flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : driver_start();
}

CUresult CUDAAPI cuDriverGetVersion(int *version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

/* Profilers mark regions with these; there is nothing to switch. */
CUresult CUDAAPI cuProfilerStart(void) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuProfilerStop(void) { return CUDA_SUCCESS; }

/* ---- Devices ---- */

/* Begins a call about `device` that writes to `out`. */
static CUresult begin(Call *call, CUdevice device, const void *out) {
    CUresult status = call_begin_driver(call);
    if (status) return status;
    if (!out) return call_end(call, CUDA_ERROR_INVALID_VALUE);
    return device == 0 ? CUDA_SUCCESS : call_end(call, CUDA_ERROR_INVALID_DEVICE);
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
    Call call;
    CUresult status = begin(&call, ordinal, device);
    if (status) return status;
    *device = 0;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetCount(int *count) {
    Call call;
    CUresult status = begin(&call, 0, count);
    if (status) return status;
    *count = 1;
    return call_end(&call, CUDA_SUCCESS);
}

/* Copies text into a caller's array, cut to its length. */
static CUresult copy_text(Call *call, char *out, int length, const char *text) {
    if (length <= 0) return call_end(call, CUDA_ERROR_INVALID_VALUE);
    snprintf(out, (size_t)length, "%s", text);
    return call_end(call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, name);
    return status ? status : copy_text(&call, name, length, device_name);
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, uuid);
    if (status) return status;
    memcpy(uuid->bytes, "Tyto-simulation", sizeof uuid->bytes);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, bytes);
    if (status) return status;
    *bytes = mem_capacity(call.memory);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, value);
    if (status) return status;
    return call_end(&call, attribute_of(call.gpu, attribute, value));
}

CUresult CUDAAPI cuDeviceGetProperties(CUdevprop *properties, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, properties);
    if (status) return status;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &properties->maxThreadsPerBlock},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &properties->maxThreadsDim[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &properties->maxThreadsDim[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &properties->maxThreadsDim[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &properties->maxGridSize[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &properties->maxGridSize[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &properties->maxGridSize[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &properties->sharedMemPerBlock},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, &properties->totalConstantMemory},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &properties->SIMDWidth},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, &properties->memPitch},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &properties->regsPerBlock},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &properties->clockRate},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, &properties->textureAlign},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        attribute_of(call.gpu, rows[i].attribute, rows[i].value);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, major);
    if (status) return status;
    if (!minor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    attribute_of(call.gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major);
    attribute_of(call.gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, id);
    return status ? status : copy_text(&call, id, length, bus_id);
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    Call call;
    CUresult status = begin(&call, 0, device);
    if (status) return status;
    if (!id) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (strcmp(id, bus_id) != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    *device = 0;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer) {
    Call call;
    CUresult status = begin(&call, device, can_access);
    if (status) return status;
    if (peer != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    *can_access = 0;
    return call_end(&call, CUDA_SUCCESS);
}

/* Relations hold between two devices; there is one. */
CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute,
                                         CUdevice source, CUdevice destination) {
    (void)attribute, (void)destination;
    Call call;
    CUresult status = begin(&call, source, value);
    return status ? status : call_end(&call, CUDA_ERROR_INVALID_DEVICE);
}

CUresult CUDAAPI cuDeviceGetTexture1DLinearMaxWidth(size_t *elements, CUarray_format format,
                                                    unsigned channels, CUdevice device) {
    (void)format, (void)channels;
    Call call;
    CUresult status = begin(&call, device, elements);
    if (status) return status;
    int width;
    attribute_of(call.gpu, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &width);
    *elements = (size_t)width;
    return call_end(&call, CUDA_SUCCESS);
}
