/* Arrays: rows of elements in device memory, without the hidden layout that a GPU gives them. Left
 * out: layered, cube and sparse arrays, mipmaps, surfaces. */
#include "driver/checks.h"
#include "driver/driver.h"

#include <stdlib.h>

#include "base/bits.h"

enum { ARRAY_PITCH_ALIGN = 32 }; /* bytes; the texture pitch alignment */

void array_free(Driver *driver, void *object) {
    Array *array = object;
    mem_release(simulator_memory(driver->simulator), array->address);
    free(array);
}

/* Bytes of one channel, 0 when the format is none. */
static unsigned channel_bytes(CUarray_format format) {
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static CUresult create(Call *call, CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    unsigned channels = descriptor->NumChannels;
    uint64_t element = (uint64_t)channel_bytes(descriptor->Format) * channels;
    if (!descriptor->Width || !element || (channels != 1 && channels != 2 && channels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    if (descriptor->Width > UINT32_MAX || descriptor->Height > UINT32_MAX ||
        descriptor->Depth > UINT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    Array array = {.context = call->context, .descriptor = *descriptor, .element_bytes = element};
    array.pitch_bytes = bits_align_up(descriptor->Width * element, ARRAY_PITCH_ALIGN);
    array.rows = descriptor->Height ? descriptor->Height : 1;
    array.slices = descriptor->Depth ? descriptor->Depth : 1;
    uint64_t size;
    if (__builtin_mul_overflow(array.pitch_bytes, array.rows, &size) ||
        __builtin_mul_overflow(size, array.slices, &size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    array.address = mem_alloc(call->memory, size, MEM_ALLOC_ALIGN, MEM_KIND_ARRAY, NULL);
    if (!array.address) return CUDA_ERROR_OUT_OF_MEMORY;
    checks_allocated(call->driver->simulator, array.address);
    Array *kept = base_malloc(sizeof *kept);
    *kept = array;
    *out = driver_add(call->driver, HANDLE_ARRAY, kept);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!array || !descriptor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (descriptor->Flags & ~(unsigned)CUDA_ARRAY3D_TEXTURE_GATHER) {
        call_end(&call, CUDA_SUCCESS);
        return driver_missing("cuArray3DCreate with layers, cube faces or surfaces");
    }
    return call_end(&call, create(&call, array, descriptor));
}

CUresult CUDAAPI cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor) {
    if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR box = {.Width = descriptor->Width,
                                   .Height = descriptor->Height,
                                   .Format = descriptor->Format,
                                   .NumChannels = descriptor->NumChannels};
    return cuArray3DCreate(array, &box);
}

CUresult CUDAAPI cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Array *array = CALL_GET(&call, HANDLE_ARRAY, handle);
    if (!array) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!descriptor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *descriptor = array->descriptor;
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR box;
    if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuArray3DGetDescriptor(&box, array);
    if (status == CUDA_SUCCESS)
        *descriptor = (CUDA_ARRAY_DESCRIPTOR){box.Width, box.Height, box.Format, box.NumChannels};
    return status;
}

CUresult CUDAAPI cuArrayDestroy(CUarray handle) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    Array *array = handles_remove(&call.driver->handles, HANDLE_ARRAY, (uint64_t)(uintptr_t)handle);
    if (!array) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    checks_releasing(call.driver->simulator, array->address, false);
    array_free(call.driver, array);
    return call_end(&call, CUDA_SUCCESS);
}
