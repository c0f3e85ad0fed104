/* cudaGetDeviceProperties: the device's attributes as one struct, in the forms of CUDA 13 and CUDA
 * 12. CUDA 11's form is the beginning of CUDA 12's. */
#include "cudart/runtime.h"

#include <assert.h>
#include <string.h>

/* The form before CUDA 13; members that say nothing about the device are part of the padding. */
struct Properties12 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int maxTexture1D;
    int maxTexture1DMipmap;
    int maxTexture1DLinear;
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int padding[63];
};
static_assert(sizeof(Properties12) == 1032, "as CUDA 12's programs allocate it");

/* ROW(member, attribute of the driver) of both structs. Other members are 0, as are those of
 * features that the device lacks. */
#define PROPERTIES(ROW)                                                                            \
    ROW(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)                                            \
    ROW(regsPerBlock, MAX_REGISTERS_PER_BLOCK)                                                     \
    ROW(warpSize, WARP_SIZE)                                                                       \
    ROW(memPitch, MAX_PITCH)                                                                       \
    ROW(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                                 \
    ROW(maxThreadsDim[0], MAX_BLOCK_DIM_X)                                                         \
    ROW(maxThreadsDim[1], MAX_BLOCK_DIM_Y)                                                         \
    ROW(maxThreadsDim[2], MAX_BLOCK_DIM_Z)                                                         \
    ROW(maxGridSize[0], MAX_GRID_DIM_X)                                                            \
    ROW(maxGridSize[1], MAX_GRID_DIM_Y)                                                            \
    ROW(maxGridSize[2], MAX_GRID_DIM_Z)                                                            \
    ROW(totalConstMem, TOTAL_CONSTANT_MEMORY)                                                      \
    ROW(major, COMPUTE_CAPABILITY_MAJOR)                                                           \
    ROW(minor, COMPUTE_CAPABILITY_MINOR)                                                           \
    ROW(textureAlignment, TEXTURE_ALIGNMENT)                                                       \
    ROW(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT)                                            \
    ROW(multiProcessorCount, MULTIPROCESSOR_COUNT)                                                 \
    ROW(integrated, INTEGRATED)                                                                    \
    ROW(canMapHostMemory, CAN_MAP_HOST_MEMORY)                                                     \
    ROW(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH)                                                     \
    ROW(maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH)                                                  \
    ROW(maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT)                                                 \
    ROW(maxTexture2DLinear[0], MAXIMUM_TEXTURE2D_LINEAR_WIDTH)                                     \
    ROW(maxTexture2DLinear[1], MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)                                    \
    ROW(maxTexture2DLinear[2], MAXIMUM_TEXTURE2D_LINEAR_PITCH)                                     \
    ROW(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)                                     \
    ROW(maxTexture2DMipmap[0], MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH)                                  \
    ROW(maxTexture2DMipmap[1], MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)                                 \
    ROW(maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH)                                                  \
    ROW(maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT)                                                 \
    ROW(maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH)                                                  \
    ROW(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH)                                           \
    ROW(maxTexture1DLayered[0], MAXIMUM_TEXTURE1D_LAYERED_WIDTH)                                   \
    ROW(maxTexture1DLayered[1], MAXIMUM_TEXTURE1D_LAYERED_LAYERS)                                  \
    ROW(maxTexture2DLayered[0], MAXIMUM_TEXTURE2D_LAYERED_WIDTH)                                   \
    ROW(maxTexture2DLayered[1], MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)                                  \
    ROW(maxTexture2DLayered[2], MAXIMUM_TEXTURE2D_LAYERED_LAYERS)                                  \
    ROW(maxTextureCubemapLayered[0], MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)                         \
    ROW(maxTextureCubemapLayered[1], MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)                        \
    ROW(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH)                                                     \
    ROW(maxSurface2D[0], MAXIMUM_SURFACE2D_WIDTH)                                                  \
    ROW(maxSurface2D[1], MAXIMUM_SURFACE2D_HEIGHT)                                                 \
    ROW(maxSurface3D[0], MAXIMUM_SURFACE3D_WIDTH)                                                  \
    ROW(maxSurface3D[1], MAXIMUM_SURFACE3D_HEIGHT)                                                 \
    ROW(maxSurface3D[2], MAXIMUM_SURFACE3D_DEPTH)                                                  \
    ROW(maxSurface1DLayered[0], MAXIMUM_SURFACE1D_LAYERED_WIDTH)                                   \
    ROW(maxSurface1DLayered[1], MAXIMUM_SURFACE1D_LAYERED_LAYERS)                                  \
    ROW(maxSurface2DLayered[0], MAXIMUM_SURFACE2D_LAYERED_WIDTH)                                   \
    ROW(maxSurface2DLayered[1], MAXIMUM_SURFACE2D_LAYERED_HEIGHT)                                  \
    ROW(maxSurface2DLayered[2], MAXIMUM_SURFACE2D_LAYERED_LAYERS)                                  \
    ROW(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH)                                           \
    ROW(maxSurfaceCubemapLayered[0], MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)                         \
    ROW(maxSurfaceCubemapLayered[1], MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)                        \
    ROW(surfaceAlignment, SURFACE_ALIGNMENT)                                                       \
    ROW(concurrentKernels, CONCURRENT_KERNELS)                                                     \
    ROW(ECCEnabled, ECC_ENABLED)                                                                   \
    ROW(pciBusID, PCI_BUS_ID)                                                                      \
    ROW(pciDeviceID, PCI_DEVICE_ID)                                                                \
    ROW(pciDomainID, PCI_DOMAIN_ID)                                                                \
    ROW(asyncEngineCount, ASYNC_ENGINE_COUNT)                                                      \
    ROW(unifiedAddressing, UNIFIED_ADDRESSING)                                                     \
    ROW(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)                                                   \
    ROW(l2CacheSize, L2_CACHE_SIZE)                                                                \
    ROW(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE)                                    \
    ROW(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE)                                  \
    ROW(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)                               \
    ROW(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED)                                    \
    ROW(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED)                                         \
    ROW(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED)                                           \
    ROW(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                          \
    ROW(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                                   \
    ROW(managedMemory, MANAGED_MEMORY)                                                             \
    ROW(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)                                        \
    ROW(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED)                          \
    ROW(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES)                            \
    ROW(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)                \
    ROW(cooperativeLaunch, COOPERATIVE_LAUNCH)                                                     \
    ROW(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                                 \
    ROW(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK)                               \
    ROW(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                                 \
    ROW(hostRegisterSupported, HOST_REGISTER_SUPPORTED)                                            \
    ROW(maxTexture2DGather[0], MAXIMUM_TEXTURE2D_GATHER_WIDTH)                                     \
    ROW(maxTexture2DGather[1], MAXIMUM_TEXTURE2D_GATHER_HEIGHT)                                    \
    ROW(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)                       \
    ROW(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED)                                              \
    ROW(ipcEventSupported, IPC_EVENT_SUPPORTED)                                                    \
    ROW(clusterLaunch, CLUSTER_LAUNCH)

/* The same, only for CUDA 13's struct. */
#define PROPERTIES_13(ROW)                                                                         \
    ROW(deviceNumaId, NUMA_ID)                                                                     \
    ROW(hostNumaId, HOST_NUMA_ID)

/* The same, only for CUDA 12's struct. */
#define PROPERTIES_12(ROW)                                                                         \
    ROW(clockRate, CLOCK_RATE)                                                                     \
    ROW(deviceOverlap, GPU_OVERLAP)                                                                \
    ROW(kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT)                                             \
    ROW(computeMode, COMPUTE_MODE)                                                                 \
    ROW(maxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH)                                        \
    ROW(memoryClockRate, MEMORY_CLOCK_RATE)                                                        \
    ROW(singleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)

static int attribute(CUdevice_attribute which, int device) {
    int value = 0;
    cuDeviceGetAttribute(&value, which, device);
    return value;
}

#define FILL(member, name)                                                                         \
    properties->member =                                                                           \
        (__typeof__(properties->member))attribute(CU_DEVICE_ATTRIBUTE_##name, device);

int properties_read(struct cudaDeviceProp *properties, int device) {
    if (!properties) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    memset(properties, 0, sizeof *properties);
    PROPERTIES(FILL)
    PROPERTIES_13(FILL)
    int status = (int)cuDeviceGetName(properties->name, sizeof properties->name, device);
    if (status == 0) status = (int)cuDeviceGetUuid(&properties->uuid, device);
    if (status == 0) status = (int)cuDeviceTotalMem(&properties->totalGlobalMem, device);
    return status;
}

int properties_read_12(void *out, size_t size, int device) {
    struct cudaDeviceProp now;
    Properties12 all = {0}, *properties = &all;
    if (!out) return cudaErrorInvalidValue;
    int status = properties_read(&now, device);
    if (status) return status;
    PROPERTIES(FILL)
    PROPERTIES_12(FILL)
    memcpy(all.name, now.name, sizeof all.name);
    all.uuid = now.uuid;
    all.totalGlobalMem = now.totalGlobalMem;
    memcpy(out, &all, size);
    return cudaSuccess;
}
