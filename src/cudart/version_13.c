/* What libcudart.so.13 has otherwise than its predecessors. */
#include "cudart/runtime.h"

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *version) {
    if (!version) return runtime_leave(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    return RUNTIME_CALL(properties_read(properties, device));
}

/* The driver's location is the runtime's. */
static CUmemLocation location_of(struct cudaMemLocation location) {
    return (CUmemLocation){(CUmemLocationType)location.type, location.id};
}

cudaError_t CUDARTAPI cudaMemAdvise(const void *pointer, size_t size, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location) {
    return RUNTIME_CALL(
        cuMemAdvise(address_of(pointer), size, (CUmem_advise)advice, location_of(location)));
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *pointer, size_t size,
                                           struct cudaMemLocation location, unsigned int flags,
                                           cudaStream_t stream) {
    return RUNTIME_CALL(
        cuMemPrefetchAsync(address_of(pointer), size, location_of(location), flags, stream));
}
