/* Memory and events of other processes, and attributes of managed memory: passed to the driver. */
#include "cudart/runtime.h"

#include <string.h>

cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer) {
    return RUNTIME_CALL(cuIpcGetMemHandle((CUipcMemHandle *)handle, address_of(pointer)));
}

cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle,
                                           unsigned int flags) {
    CUipcMemHandle given;
    memcpy(&given, &handle, sizeof given);
    return RUNTIME_CALL(cuIpcOpenMemHandle((CUdeviceptr *)pointer, given, flags));
}

cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void *pointer) {
    return RUNTIME_CALL(cuIpcCloseMemHandle(address_of(pointer)));
}

cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event) {
    return RUNTIME_CALL(cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
    CUipcEventHandle given;
    memcpy(&given, &handle, sizeof given);
    return RUNTIME_CALL(cuIpcOpenEventHandle(event, given));
}

/* (the attributes have the driver's numbers) */
cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void *value, size_t value_bytes,
                                               enum cudaMemRangeAttribute attribute,
                                               const void *pointer, size_t size) {
    return RUNTIME_CALL(cuMemRangeGetAttribute(value, value_bytes, (CUmem_range_attribute)attribute,
                                               address_of(pointer), size));
}

cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void **values, size_t *sizes,
                                                enum cudaMemRangeAttribute *attributes,
                                                size_t count, const void *pointer, size_t size) {
    return RUNTIME_CALL(cuMemRangeGetAttributes(values, sizes, (CUmem_range_attribute *)attributes,
                                                count, address_of(pointer), size));
}
