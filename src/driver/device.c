/* The start of the driver, and the single device with its attributes. */
#include "driver/driver.h"

#include <limits.h>
#include <string.h>

static const char device_name[] = "Tyto simulated GPU";
static const char bus_id[] = "0000:01:00.0";

enum {
    WINDOW_BYTES = 128 << 20, /* an assumption: no NVIDIA document gives the size */
    /* CUDA C++ Programming Guide, "Memory Synchronization Domains": 4 from compute capability 9.0
     * on, 1 before. They have no effect. */
    SYNC_DOMAINS = 4
};

/* The facts that attributes depend on. */
typedef struct Facts {
    GpuLimits limits;
    uint32_t window_bytes;    /* most bytes of a launch's window; 0: L2 ignores hints */
    uint32_t has_managed;     /* 1: the host can use device memory by device addresses */
    uint32_t has_clusters;    /* 1: thread blocks can be launched in clusters */
    uint32_t has_tensor_maps; /* 1: kernels can copy by tensor maps */
    uint32_t sync_domains;    /* memory synchronization domains of launches */
    uint32_t overlaps;        /* 1: kernels of different streams overlap in simulated time */
} Facts;

/* An attribute: a fixed number, or a fact of the simulated GPU with an optional upper limit. */
typedef struct AttributeRow {
    CUdevice_attribute attribute;
    int value;   /* the fixed number; for a fact: the largest value that is reported */
    size_t fact; /* 1 + offset of a uint32_t in Facts, or 0 */
} AttributeRow;

#define FIXED(name, value) {CU_DEVICE_ATTRIBUTE_##name, value, 0}
#define FACT(name, field)  {CU_DEVICE_ATTRIBUTE_##name, INT_MAX, 1 + offsetof(Facts, field)}
#define LIMIT(name, field) FACT(name, limits.field)
#define LIMIT_TO(name, field, most)                                                                \
    {CU_DEVICE_ATTRIBUTE_##name, most, 1 + offsetof(Facts, limits.field)}

/* Attributes that are not listed are 0: the device lacks the feature.
 * tests/driver/test_attributes.c tries each feature that is claimed. Texture sizes are those of
 * compute capabilities 7.0 to 8.9 (CUDA C++ Programming Guide, "Technical Specifications per
 * Compute Capability"). */
static const AttributeRow attributes[] = {
    LIMIT(MAX_THREADS_PER_BLOCK, max_threads_per_cta),
    LIMIT(MAX_BLOCK_DIM_X, max_block[0]),
    LIMIT(MAX_BLOCK_DIM_Y, max_block[1]),
    LIMIT(MAX_BLOCK_DIM_Z, max_block[2]),
    FIXED(MAX_GRID_DIM_X, 2147483647),
    FIXED(MAX_GRID_DIM_Y, 65535),
    FIXED(MAX_GRID_DIM_Z, 65535),
    LIMIT_TO(MAX_SHARED_MEMORY_PER_BLOCK, shared_per_cta,
             FUNCTION_SHARED_BYTES), /* more with opt-in */
    LIMIT(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared_per_cta),
    LIMIT(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_per_sm),
    LIMIT(RESERVED_SHARED_MEMORY_PER_BLOCK, shared_reserved),
    FIXED(TOTAL_CONSTANT_MEMORY, 65536),
    FIXED(WARP_SIZE, ISA_LANES),
    FIXED(MAX_PITCH, 2147483647),
    FIXED(CAN_USE_64_BIT_STREAM_MEM_OPS, 1),
    FIXED(CAN_USE_STREAM_WAIT_VALUE_NOR, 1),
    FIXED(IPC_EVENT_SUPPORTED, 1),
    FIXED(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
    FIXED(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
    LIMIT(MAX_REGISTERS_PER_BLOCK, registers_per_sm),
    LIMIT(MAX_REGISTERS_PER_MULTIPROCESSOR, registers_per_sm),
    LIMIT(CLOCK_RATE, clock_khz),
    LIMIT(MEMORY_CLOCK_RATE, memory_clock_khz),
    LIMIT(GLOBAL_MEMORY_BUS_WIDTH, bus_width_bits),
    LIMIT(L2_CACHE_SIZE, l2_bytes),
    LIMIT(MAX_PERSISTING_L2_CACHE_SIZE, persisting_bytes),
    FACT(MAX_ACCESS_POLICY_WINDOW_SIZE, window_bytes),
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
    FIXED(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048),
    FIXED(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768),
    FIXED(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048),
    FIXED(MAXIMUM_TEXTURE3D_WIDTH, 16384),
    FIXED(MAXIMUM_TEXTURE3D_HEIGHT, 16384),
    FIXED(MAXIMUM_TEXTURE3D_DEPTH, 16384),
    FIXED(MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046),
    FIXED(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768),
    FIXED(MAXIMUM_SURFACE1D_WIDTH, 32768),
    FIXED(MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768),
    FIXED(MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048),
    FIXED(MAXIMUM_SURFACE2D_WIDTH, 131072),
    FIXED(MAXIMUM_SURFACE2D_HEIGHT, 65536),
    FIXED(MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768),
    FIXED(MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768),
    FIXED(MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048),
    FIXED(MAXIMUM_SURFACE3D_WIDTH, 16384),
    FIXED(MAXIMUM_SURFACE3D_HEIGHT, 16384),
    FIXED(MAXIMUM_SURFACE3D_DEPTH, 16384),
    FIXED(MAXIMUM_SURFACECUBEMAP_WIDTH, 32768),
    FIXED(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768),
    FIXED(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046),
    FIXED(CAN_TEX2D_GATHER, 1),
    FIXED(MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768),
    FIXED(MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768),
    FACT(CONCURRENT_KERNELS, overlaps),
    FIXED(GPU_OVERLAP, 1),        /* copies take no simulated time, so none delays a kernel ... */
    FIXED(ASYNC_ENGINE_COUNT, 2), /* ... in either direction */
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
    FACT(CLUSTER_LAUNCH, has_clusters),
    FACT(TENSOR_MAP_ACCESS_SUPPORTED, has_tensor_maps),
    FACT(MEM_SYNC_DOMAIN_COUNT, sync_domains),
    FIXED(STREAM_PRIORITIES_SUPPORTED, 1), /* stored, without effect: work runs in order */
    FIXED(HOST_REGISTER_SUPPORTED, 1),
    FIXED(READ_ONLY_HOST_REGISTER_SUPPORTED, 1),
    FACT(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, has_managed),
    FIXED(PAGEABLE_MEMORY_ACCESS, 0), /* kernels can use what is allocated, managed or registered */
    FIXED(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0),
    FACT(MANAGED_MEMORY, has_managed),
    FACT(CONCURRENT_MANAGED_ACCESS, has_managed), /* host and device share one memory */
    FACT(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, has_managed),
    FIXED(MEMORY_POOLS_SUPPORTED, 1),
    FIXED(MEMPOOL_SUPPORTED_HANDLE_TYPES, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
    FIXED(NUMA_ID, -1), /* the device is not a NUMA node, and prefers none */
    FIXED(HOST_NUMA_ID, -1),
};

CUresult device_attribute(Gpu *gpu, CUdevice_attribute attribute, int *value) {
    *value = 0;
    if (attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    const GpuLimits limits = gpu_limits(gpu);
    const Facts facts = {.limits = limits,
                         .window_bytes = limits.persisting_bytes ? WINDOW_BYTES : 0,
                         .has_managed = mem_host_bias(gpu_memory(gpu)) == 0,
                         .has_clusters = limits.max_cluster > 1,
                         .has_tensor_maps = limits.capability_major >= 9,
                         .sync_domains = limits.capability_major >= 9 ? SYNC_DOMAINS : 1,
                         .overlaps = gpu_options(gpu)->machine != NULL};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        const AttributeRow *row = &attributes[i];
        if (row->attribute != attribute) continue;
        uint32_t fact = UINT32_MAX;
        if (row->fact) memcpy(&fact, (const char *)&facts + row->fact - 1, sizeof fact);
        *value = fact < (uint32_t)row->value ? (int)fact : row->value;
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

/* Profilers mark regions with these functions; they have no effect. */
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

/* Copies text into a caller's array, truncated to its length. */
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
    return call_end(&call, device_attribute(call.gpu, attribute, value));
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
        device_attribute(call.gpu, rows[i].attribute, rows[i].value);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, major);
    if (status) return status;
    if (!minor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    device_attribute(call.gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major);
    device_attribute(call.gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    Call call;
    CUresult status = begin(&call, device, id);
    if (status) return status;
    if (length < (int)sizeof bus_id) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return copy_text(&call, id, length, bus_id);
}

/* "[domain:]bus:device[.function]", in hexadecimal digits. */
static bool is_bus_id(const char *id) {
    int colons = 0, points = 0;
    for (;; id++) {
        const size_t digits = strspn(id, "0123456789abcdefABCDEF");
        if (!digits) return false;
        id += digits;
        if (!*id) return colons == 1 || colons == 2;
        if (points || (*id != ':' && *id != '.')) return false;
        *(*id == ':' ? &colons : &points) += 1;
    }
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    Call call;
    CUresult status = begin(&call, 0, device);
    if (status) return status;
    if (!id || !is_bus_id(id)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
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

/* Relations exist between two devices; there is only one. */
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
    device_attribute(call.gpu, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &width);
    *elements = (size_t)width;
    return call_end(&call, CUDA_SUCCESS);
}

/* No context can be limited to a part of the SMs. */
CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int *is_supported, CUexecAffinityType type,
                                                CUdevice device) {
    if (!is_supported || (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    *is_supported = 0;
    return CUDA_SUCCESS;
}
