/* Surface objects: arrays that kernels read and write by coordinates. As on a GPU, it is not
 * checked that an array was made for that (CUDA_ARRAY3D_SURFACE_LDST). */
#include "driver/driver.h"

CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!out || !resource || resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    const Array *array = CALL_GET(&call, HANDLE_ARRAY, resource->res.array.hArray);
    if (!array) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    MemTexture description = {.is_surface = true};
    array_describe(array, &description);
    const Texture texture = {.context = call.context, .resource = *resource, .is_surface = true};
    *out = texture_add(&call, &description, &texture);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject handle) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    if (!texture_find(&call, handle, true)) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    texture_end(call.driver, handle);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Texture *texture = texture_find(&call, handle, true);
    if (!resource || !texture) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *resource = texture->resource;
    return call_end(&call, CUDA_SUCCESS);
}
