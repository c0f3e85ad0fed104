/* Mipmapped arrays: an array for each level, half as wide, high and deep as the previous one. The
 * number of layers and faces stays the same. */
#include "simulator/checks.h"
#include "driver/driver.h"

#include <stdlib.h>

void mipmap_free(Driver *driver, void *object) {
    (void)driver;
    free(object);
}

static size_t halved(size_t extent, unsigned times) {
    const size_t half = extent >> times;
    return extent && !half ? 1 : half;
}

/* Number of levels down to one element. */
static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    const bool has_slices = descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    size_t longest =
        descriptor->Width > descriptor->Height ? descriptor->Width : descriptor->Height;
    if (!has_slices && descriptor->Depth > longest) longest = descriptor->Depth;
    unsigned levels = 1;
    while (longest >> levels && levels < MEM_MAX_LEVELS)
        levels++;
    return levels;
}

static void remove_levels(Call *call, const Mipmap *mipmap) {
    for (unsigned i = 0; i < mipmap->levels; i++) {
        Array *array = handles_remove(&call->driver->handles, HANDLE_ARRAY,
                                      (uint64_t)(uintptr_t)mipmap->level[i]);
        checks_releasing(call->driver->simulator, array->address, false);
        array_free(call->driver, array);
    }
}

static CUresult make(Call *call, CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                     unsigned levels) {
    const bool has_slices = descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    if (!array_is_possible(call->gpu, descriptor) || levels == 0) return CUDA_ERROR_INVALID_VALUE;
    const unsigned most = most_levels(descriptor);
    Mipmap mipmap = {.context = call->context, .descriptor = *descriptor};
    for (unsigned i = 0; i < (levels < most ? levels : most); i++) {
        CUDA_ARRAY3D_DESCRIPTOR level = *descriptor;
        level.Width = halved(descriptor->Width, i);
        level.Height = halved(descriptor->Height, i);
        if (!has_slices) level.Depth = halved(descriptor->Depth, i);
        const CUresult status = array_make(call, &mipmap.level[i], &level, true);
        if (status) {
            remove_levels(call, &mipmap);
            return status;
        }
        mipmap.levels++;
    }
    Mipmap *kept = base_malloc(sizeof *kept);
    *kept = mipmap;
    *out = driver_add(call->driver, HANDLE_MIPMAP, kept);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray *array,
                                        const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                        unsigned int levels) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!array || !descriptor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, make(&call, array, descriptor, levels));
}

CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray handle,
                                          unsigned int number) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Mipmap *mipmap = CALL_GET(&call, HANDLE_MIPMAP, handle);
    if (!mipmap) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (!level || number >= mipmap->levels) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    *level = mipmap->level[number];
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray handle) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    Mipmap *mipmap =
        handles_remove(&call.driver->handles, HANDLE_MIPMAP, (uint64_t)(uintptr_t)handle);
    if (!mipmap) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    remove_levels(&call, mipmap);
    mipmap_free(call.driver, mipmap);
    return call_end(&call, CUDA_SUCCESS);
}

/* Memory of all levels; each level has its own. */
CUresult CUDAAPI cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                                       CUmipmappedArray handle, CUdevice device) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Mipmap *mipmap = CALL_GET(&call, HANDLE_MIPMAP, handle);
    if (!out) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!mipmap) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.alignment = MEM_ALLOC_ALIGN};
    for (unsigned i = 0; i < mipmap->levels; i++) {
        const Array *level = CALL_GET(&call, HANDLE_ARRAY, mipmap->level[i]);
        out->size += level->pitch_bytes * level->rows * level->slices;
    }
    return call_end(&call, CUDA_SUCCESS);
}

CUresult mipmap_describe(const Call *call, CUmipmappedArray handle, MemTexture *texture) {
    const Mipmap *mipmap = CALL_GET(call, HANDLE_MIPMAP, handle);
    if (!mipmap) return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < mipmap->levels; i++) {
        MemTexture level = {.levels = 1};
        const Array *array = CALL_GET(call, HANDLE_ARRAY, mipmap->level[i]);
        array_describe(array, &level);
        if (i == 0) *texture = level;
        texture->level[i] = level.level[0];
    }
    texture->levels = (uint8_t)mipmap->levels;
    return CUDA_SUCCESS;
}
