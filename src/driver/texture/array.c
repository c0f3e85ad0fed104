/* Arrays: rows of elements in device memory, without the hidden layout of a GPU. Layers and the
 * faces of cubes are slices, like those of a third dimension. Not supported: sparse arrays, planes,
 * arrays whose memory is mapped later. */
#include "simulator/checks.h"
#include "driver/driver.h"

#include <stdlib.h>

#include "base/bits.h"

enum { ARRAY_PITCH_ALIGN = 32 }; /* bytes; the texture pitch alignment */

void array_free(Driver *driver, void *object) {
    Array *array = object;
    mem_release(simulator_memory(driver->simulator), array->address);
    free(array);
}

/* Flags that CUDA has, and those that have a meaning here. The last one allows graphics to render
 * to an array, which is not supported. */
enum {
    KNOWN_FLAGS = 0x1ff,
    FLAGS = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
            CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_COLOR_ATTACHMENT,
    CUBE_FACES = 6
};

unsigned array_channel_bytes(CUarray_format format) {
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

/* The attributes of the device that limit an array's extents, by its geometry. */
typedef struct Bounds {
    bool is_layered, is_cube;
    int dimensions;                          /* dimensions of a layer or a face */
    CUdevice_attribute width, height, depth; /* 0: unused */
} Bounds;

#define BOUND(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##name
static const Bounds bounds[] = {
    {false, false, 1, BOUND(1D_WIDTH), 0, 0},
    {false, false, 2, BOUND(2D_WIDTH), BOUND(2D_HEIGHT), 0},
    {false, false, 3, BOUND(3D_WIDTH), BOUND(3D_HEIGHT), BOUND(3D_DEPTH)},
    {true, false, 1, BOUND(1D_LAYERED_WIDTH), 0, BOUND(1D_LAYERED_LAYERS)},
    {true, false, 2, BOUND(2D_LAYERED_WIDTH), BOUND(2D_LAYERED_HEIGHT), BOUND(2D_LAYERED_LAYERS)},
    {false, true, 2, BOUND(CUBEMAP_WIDTH), BOUND(CUBEMAP_WIDTH), 0},
    {true, true, 2, BOUND(CUBEMAP_LAYERED_WIDTH), BOUND(CUBEMAP_LAYERED_WIDTH),
     BOUND(CUBEMAP_LAYERED_LAYERS)},
};

static bool is_within(Gpu *gpu, size_t extent, CUdevice_attribute attribute) {
    int most;
    return !attribute ||
           (device_attribute(gpu, attribute, &most) == CUDA_SUCCESS && extent <= (size_t)most);
}

/* Whether the device supports an array of these extents. */
static bool fits(Gpu *gpu, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    const bool is_layered = d->Flags & CUDA_ARRAY3D_LAYERED,
               is_cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    const int dimensions = 1 + (d->Height > 0) + (d->Depth > 0 && !is_layered && !is_cube);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const Bounds *row = &bounds[i];
        if (row->is_layered == is_layered && row->is_cube == is_cube &&
            row->dimensions == dimensions)
            return is_within(gpu, d->Width, row->width) && is_within(gpu, d->Height, row->height) &&
                   is_within(gpu, d->Depth, row->depth);
    }
    return false;
}

bool array_is_possible(Gpu *gpu, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    const bool is_layered = d->Flags & CUDA_ARRAY3D_LAYERED,
               is_cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    const bool has_format = array_channel_bytes(d->Format) &&
                            (d->NumChannels == 1 || d->NumChannels == 2 || d->NumChannels == 4);
    if (!has_format || !d->Width || !fits(gpu, d)) return false;
    if (is_layered && !d->Depth) return false;
    if (!is_cube) return is_layered || d->Height || !d->Depth;
    return d->Width == d->Height && d->Depth && d->Depth % CUBE_FACES == 0 &&
           (is_layered || d->Depth == CUBE_FACES);
}

CUresult array_make(Call *call, CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                    bool is_level) {
    if (!array_is_possible(call->gpu, descriptor)) return CUDA_ERROR_INVALID_VALUE;
    uint64_t element = (uint64_t)array_channel_bytes(descriptor->Format) * descriptor->NumChannels;
    Array array = {.context = call->context,
                   .descriptor = *descriptor,
                   .element_bytes = element,
                   .is_level = is_level};
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

void array_describe(const Array *array, MemTexture *texture) {
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    const bool is_layered = d->Flags & CUDA_ARRAY3D_LAYERED,
               is_cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    texture_set_format(texture, d->Format, d->NumChannels);
    texture->geometry = is_cube ? MEM_CUBES : is_layered ? MEM_LAYERS : MEM_PLAIN;
    texture->dimensions =
        (uint8_t)(1 + (d->Height > 0) + (d->Depth > 0 && !is_layered && !is_cube));
    texture->is_array = true;
    texture->levels = 1;
    texture->level[0] = (MemLevel){.address = array->address,
                                   .width = d->Width,
                                   .height = array->rows,
                                   .depth = array->slices,
                                   .pitch_bytes = array->pitch_bytes,
                                   .slice_bytes = array->pitch_bytes * array->rows};
}

CUresult CUDAAPI cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    if (!array || !descriptor) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (descriptor->Flags & ~(unsigned)KNOWN_FLAGS)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (descriptor->Flags & ~(unsigned)FLAGS) {
        call_end(&call, CUDA_SUCCESS);
        return driver_missing("cuArray3DCreate of a sparse or deferred array, or one of depths");
    }
    return call_end(&call, array_make(&call, array, descriptor, false));
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
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    Array *array = CALL_GET(&call, HANDLE_ARRAY, handle);
    if (!array || array->is_level) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    handles_remove(&call.driver->handles, HANDLE_ARRAY, (uint64_t)(uintptr_t)handle);
    checks_releasing(call.driver->simulator, array->address, false);
    array_free(call.driver, array);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray handle,
                                              CUdevice device) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Array *array = CALL_GET(&call, HANDLE_ARRAY, handle);
    if (!out) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!array) return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    if (device != 0) return call_end(&call, CUDA_ERROR_INVALID_DEVICE);
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){
        .size = array->pitch_bytes * array->rows * array->slices, .alignment = MEM_ALLOC_ALIGN};
    return call_end(&call, CUDA_SUCCESS);
}
