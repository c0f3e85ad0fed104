/* The single device: its selection, its attributes and limits, versions, profiling. */
#include "cudart/runtime.h"

#include <stddef.h>

/* ---- Versions, the driver ---- */

cudaError_t CUDARTAPI cudaDriverGetVersion(int *version) {
    return runtime_leave((int)cuDriverGetVersion(version));
}

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned int version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *status) {
    CUresult found = cuGetProcAddress(symbol, function, (int)version, flags,
                                      (CUdriverProcAddressQueryResult *)status);
    /* a missing function is no error: the pointer and the status show it */
    return RUNTIME_CALL(found == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : found);
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char *symbol, void **function,
                                              unsigned long long flags,
                                              enum cudaDriverEntryPointQueryResult *status) {
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

cudaError_t CUDARTAPI cudaProfilerStart(void) { return RUNTIME_CALL(cuProfilerStart()); }

cudaError_t CUDARTAPI cudaProfilerStop(void) { return RUNTIME_CALL(cuProfilerStop()); }

/* ---- Selection ---- */

static int check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

cudaError_t CUDARTAPI cudaGetDeviceCount(int *count) {
    return RUNTIME_CALL(cuDeviceGetCount(count));
}

cudaError_t CUDARTAPI cudaGetDevice(int *device) {
    if (!device) return runtime_leave(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaSetDevice(int device) {
    if (device > 0 && runtime_tells_first("cudaSetDevice"))
        runtime_say(
            "warning: cudaSetDevice(%d) fails: there is one device, 0. Programs for several GPUs "
            "run on it when they ask cudaGetDeviceCount, or when they are set to use one GPU",
            device);
    return RUNTIME_CALL(check_device(device));
}

cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    if (flags & ~(unsigned)cudaInitDeviceFlagsAreValid) return runtime_leave(cudaErrorInvalidValue);
    if (device == 0 && flags) return cudaSetDeviceFlags(device_flags);
    return RUNTIME_CALL(check_device(device));
}

cudaError_t CUDARTAPI cudaSetValidDevices(int *devices, int count) {
    if (count < 0 || (count > 0 && !devices)) return runtime_leave(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++) {
        if (devices[i] != 0) return runtime_leave(cudaErrorInvalidDevice);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaChooseDevice(int *device, const struct cudaDeviceProp *properties) {
    (void)properties; /* there is nothing to choose from */
    return cudaGetDevice(device);
}

cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags) {
    return RUNTIME_CALL(cuDevicePrimaryCtxSetFlags(0, flags));
}

cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int *flags) {
    const cudaError_t status = RUNTIME_CALL(cuCtxGetFlags(flags));
    if (status == cudaSuccess) *flags |= cudaDeviceMapHost; /* it always can */
    return status;
}

/* ---- Attributes ---- */

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute,
                                             int device) {
    return RUNTIME_CALL(cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                                int source, int destination) {
    return RUNTIME_CALL(
        cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, source, destination));
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *id, int length, int device) {
    return RUNTIME_CALL(cuDeviceGetPCIBusId(id, length, device));
}

cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int *device, const char *id) {
    return RUNTIME_CALL(cuDeviceGetByPCIBusId(device, id));
}

cudaError_t CUDARTAPI cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *elements, const struct cudaChannelFormatDesc *description, int device) {
    CUarray_format format;
    unsigned channels;
    if (!description || !format_read(description, &format, &channels))
        return runtime_leave(cudaErrorInvalidValue);
    return RUNTIME_CALL(cuDeviceGetTexture1DLinearMaxWidth(elements, format, channels, device));
}

/* ---- The whole device ---- */

cudaError_t CUDARTAPI cudaDeviceSynchronize(void) {
    return RUNTIME_CALL(runtime_synchronized((int)cuCtxSynchronize()));
}

static int reset(void) {
    int status = (int)cuDevicePrimaryCtxReset(0);
    if (status == 0) registry_unload();
    return status;
}

cudaError_t CUDARTAPI cudaDeviceReset(void) { return RUNTIME_CALL(reset()); }

cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    return RUNTIME_CALL(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    return RUNTIME_CALL(cuCtxGetLimit(value, (CUlimit)limit));
}

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    return RUNTIME_CALL(cuCtxSetCacheConfig((CUfunc_cache)config));
}

cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
    return RUNTIME_CALL(cuCtxGetCacheConfig((CUfunc_cache *)config));
}

cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    return RUNTIME_CALL(cuCtxSetSharedMemConfig((CUsharedconfig)config));
}

cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
    return RUNTIME_CALL(cuCtxGetSharedMemConfig((CUsharedconfig *)config));
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return RUNTIME_CALL(cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache(void) {
    return RUNTIME_CALL(cuCtxResetPersistingL2Cache());
}

/* ---- Peers: there are none ---- */

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int *can_access, int device, int peer) {
    return RUNTIME_CALL(cuDeviceCanAccessPeer(can_access, device, peer));
}

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    (void)flags;
    return RUNTIME_CALL(peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return RUNTIME_CALL(cudaErrorPeerAccessNotEnabled);
}
