/* Batches: passed to the driver, whose structs have the same layout except for the array's
 * handle. */
#include "cudart/runtime.h"

/* Device and host pointers are addresses of the same size. */
static CUdeviceptr *addresses(const void *pointers) { return (CUdeviceptr *)(uintptr_t)pointers; }
static size_t *sizes_of(const size_t *sizes) { return (size_t *)(uintptr_t)sizes; }

cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                           const size_t *sizes, size_t count,
                                           struct cudaMemcpyAttributes *attributes, size_t *first,
                                           size_t attribute_count, cudaStream_t stream) {
    return RUNTIME_CALL(cuMemcpyBatchAsync(addresses(to), addresses(from), sizes_of(sizes), count,
                                           (CUmemcpyAttributes *)attributes, first, attribute_count,
                                           stream));
}

cudaError_t CUDARTAPI cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *copies,
                                             unsigned long long flags, cudaStream_t stream) {
    return RUNTIME_CALL(
        cuMemcpy3DBatchAsync(count, (CUDA_MEMCPY3D_BATCH_OP *)copies, flags, stream));
}

cudaError_t CUDARTAPI cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                                struct cudaMemLocation *locations, size_t *first,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream) {
    return RUNTIME_CALL(cuMemPrefetchBatchAsync(addresses(pointers), sizes, count,
                                                (CUmemLocation *)locations, first, location_count,
                                                flags, stream));
}

cudaError_t CUDARTAPI cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count,
                                               unsigned long long flags, cudaStream_t stream) {
    return RUNTIME_CALL(cuMemDiscardBatchAsync(addresses(pointers), sizes, count, flags, stream));
}

cudaError_t CUDARTAPI cudaMemDiscardAndPrefetchBatchAsync(
    void **pointers, size_t *sizes, size_t count, struct cudaMemLocation *locations, size_t *first,
    size_t location_count, unsigned long long flags, cudaStream_t stream) {
    return RUNTIME_CALL(cuMemDiscardAndPrefetchBatchAsync(addresses(pointers), sizes, count,
                                                          (CUmemLocation *)locations, first,
                                                          location_count, flags, stream));
}
