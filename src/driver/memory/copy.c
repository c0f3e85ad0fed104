/* Copies between host memory, device memory and arrays, in one, two and three dimensions.
 *
 * Every copy is a box of rows between two sides. A side is resolved to a start and the distances in
 * bytes between rows and between slices; then the rows are moved one by one. A device side is
 * checked against the live allocations row by row, so a bad copy stops at the first bad row. */
#include "simulator/checks.h"
#include "driver/graph/graph.h"

#include <string.h>

/* One side of a copy. */
typedef struct Side {
    bool is_device;
    uint64_t start;       /* start of the first row: device address or host pointer */
    uint64_t row_bytes;   /* bytes from row to row */
    uint64_t slice_bytes; /* bytes from slice to slice */
} Side;

/* The box that is copied. */
typedef struct Box {
    size_t width_bytes, height, depth;
} Box;

static Side device_side(uint64_t address) { return (Side){true, address, 0, 0}; }
static Side host_side(const void *pointer) { return (Side){false, (uintptr_t)pointer, 0, 0}; }

/* A pointer of either kind. Registered memory counts as host memory, because a copy may extend
 * beyond it. */
static Side any_side(const Call *call, uint64_t pointer) {
    uint64_t address = memory_device_address(call, pointer);
    const MemBlock *block = address ? mem_find(call->memory, address) : NULL;
    if (block && block->kind == MEM_KIND_REGISTERED)
        return host_side(mem_host(call->memory, address));
    return (Side){address != 0, address ? address : pointer, 0, 0};
}

/* Reports why `size` bytes at a device address cannot be copied, and returns true; returns false if
 * they can. */
static bool say_bad_side(const Call *call, const Side *side, uint64_t start, size_t size) {
    if (!side->is_device) return false;
    const MemBlock *block = mem_find(call->memory, start);
    if (block && size <= block->end - start) return false;
    Text where = {0};
    mem_describe(call->memory, block ? block->end : start, &where);
    driver_say("error: a copy of %zu byte%s at device address 0x%llx%s: %s", size,
               text_plural(size), (unsigned long long)start, block ? " goes too far" : "",
               text_string(&where));
    text_free(&where);
    return true;
}

static CUresult copy_row(const Call *call, const Side *to, const Side *from, uint64_t to_offset,
                         uint64_t from_offset, size_t size) {
    uint64_t destination = to->start + to_offset, source = from->start + from_offset;
    bool is_right = true;
    if (from->is_device) checks_copying(call->driver->simulator, source, size);
    if (to->is_device && from->is_device)
        is_right = mem_copy(call->memory, destination, source, size);
    else if (to->is_device) {
        is_right = mem_write(call->memory, destination, (void *)(uintptr_t)source, size);
        if (is_right) gpu_host_wrote(call->gpu, destination, size);
    } else if (from->is_device)
        is_right = mem_read(call->memory, source, (void *)(uintptr_t)destination, size);
    else memmove((void *)(uintptr_t)destination, (void *)(uintptr_t)source, size);
    if (is_right) return CUDA_SUCCESS;
    if (!say_bad_side(call, to, destination, size)) say_bad_side(call, from, source, size);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Whether the last byte of the box does not overflow the address space on this side. */
static bool is_addressable(const Side *side, const Box *box) {
    uint64_t slices, rows, end;
    return !__builtin_mul_overflow(side->slice_bytes, box->depth - 1, &slices) &&
           !__builtin_mul_overflow(side->row_bytes, box->height - 1, &rows) &&
           !__builtin_add_overflow(slices, rows, &end) &&
           !__builtin_add_overflow(end, box->width_bytes, &end) &&
           !__builtin_add_overflow(end, side->start, &end);
}

static CUresult copy_box(const Call *call, const Side *to, const Side *from, const Box *box) {
    if (!box->width_bytes || !box->height || !box->depth) return CUDA_SUCCESS;
    if (!is_addressable(to, box) || !is_addressable(from, box)) {
        driver_say("error: a copy of %zu x %zu x %zu bytes exceeds the address space",
                   box->width_bytes, box->height, box->depth);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((!to->is_device && !to->start) || (!from->is_device && !from->start))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t z = 0; z < box->depth; z++) {
        for (size_t y = 0; y < box->height; y++) {
            CUresult status =
                copy_row(call, to, from, z * to->slice_bytes + y * to->row_bytes,
                         z * from->slice_bytes + y * from->row_bytes, box->width_bytes);
            if (status != CUDA_SUCCESS) return status;
        }
    }
    return CUDA_SUCCESS;
}

/* ---- One dimension ---- */

static CUresult copy_bytes(const Call *call, Side to, Side from, size_t size) {
    Box box = {size, 1, 1};
    return copy_box(call, &to, &from, &box);
}

CUresult CUDAAPI cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t size) {
    Call call;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    return call_end(&call,
                    copy_bytes(&call, any_side(&call, destination), any_side(&call, source), size));
}

CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr destination, CUcontext destination_context,
                              CUdeviceptr source, CUcontext source_context, size_t size) {
    (void)destination_context, (void)source_context; /* all contexts are on one device */
    return cuMemcpyDtoD(destination, source, size);
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr destination, const void *source, size_t size) {
    Call call;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    return call_end(&call, copy_bytes(&call, device_side(destination), host_side(source), size));
}

CUresult CUDAAPI cuMemcpyDtoH(void *destination, CUdeviceptr source, size_t size) {
    Call call;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    return call_end(&call, copy_bytes(&call, host_side(destination), device_side(source), size));
}

CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr destination, CUdeviceptr source, size_t size) {
    Call call;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    return call_end(&call, copy_bytes(&call, device_side(destination), device_side(source), size));
}

/* ---- One dimension, with arrays ---- */

/* `size` bytes of a one-dimensional array from `offset` on; returns false if they are not inside
 * it. */
static bool array_bytes(const Call *call, CUarray handle, size_t offset, size_t size, Side *side) {
    const Array *array = CALL_GET(call, HANDLE_ARRAY, handle);
    if (!array || array->rows > 1 || array->slices > 1) return false;
    uint64_t width = array->descriptor.Width * array->element_bytes;
    if (offset > width || size > width - offset) return false;
    *side = device_side(array->address + offset);
    return true;
}

CUresult CUDAAPI cuMemcpyDtoA(CUarray destination, size_t offset, CUdeviceptr source, size_t size) {
    Call call;
    Side to;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    if (!array_bytes(&call, destination, offset, size, &to))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, copy_bytes(&call, to, device_side(source), size));
}

CUresult CUDAAPI cuMemcpyAtoD(CUdeviceptr destination, CUarray source, size_t offset, size_t size) {
    Call call;
    Side from;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    if (!array_bytes(&call, source, offset, size, &from))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, copy_bytes(&call, device_side(destination), from, size));
}

CUresult CUDAAPI cuMemcpyHtoA(CUarray destination, size_t offset, const void *source, size_t size) {
    Call call;
    Side to;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    if (!array_bytes(&call, destination, offset, size, &to))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, copy_bytes(&call, to, host_side(source), size));
}

CUresult CUDAAPI cuMemcpyAtoH(void *destination, CUarray source, size_t offset, size_t size) {
    Call call;
    Side from;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    if (!array_bytes(&call, source, offset, size, &from))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, copy_bytes(&call, host_side(destination), from, size));
}

CUresult CUDAAPI cuMemcpyAtoA(CUarray destination, size_t destination_offset, CUarray source,
                              size_t source_offset, size_t size) {
    Call call;
    Side to, from;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    if (!array_bytes(&call, destination, destination_offset, size, &to) ||
        !array_bytes(&call, source, source_offset, size, &from))
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    return call_end(&call, copy_bytes(&call, to, from, size));
}

/* ---- Boxes ---- */

/* One side of a CUDA_MEMCPY3D. */
typedef struct SideArguments {
    size_t x_bytes, y, z, level_of_detail;
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height;
} SideArguments;

static bool resolve_array(const Call *call, const SideArguments *in, const Box *box, Side *out) {
    const Array *array = CALL_GET(call, HANDLE_ARRAY, in->array);
    if (!array) return false;
    uint64_t width = array->descriptor.Width * array->element_bytes;
    bool is_inside = in->x_bytes <= width && box->width_bytes <= width - in->x_bytes &&
                     in->y <= array->rows && box->height <= array->rows - in->y &&
                     in->z <= array->slices && box->depth <= array->slices - in->z;
    out->is_device = true;
    out->start = array->address;
    out->row_bytes = array->pitch_bytes;
    out->slice_bytes = array->pitch_bytes * array->rows;
    return is_inside;
}

/* *sum += a * b; returns false on overflow. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b) {
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static bool resolve(const Call *call, const SideArguments *in, const Box *box, Side *out) {
    if (in->level_of_detail) return false;
    switch ((int)in->type) {
    case CU_MEMORYTYPE_HOST: *out = host_side(in->host); break;
    case CU_MEMORYTYPE_DEVICE: *out = device_side(in->device); break;
    case CU_MEMORYTYPE_UNIFIED: *out = any_side(call, in->device); break;
    case CU_MEMORYTYPE_ARRAY:
        if (!resolve_array(call, in, box, out)) return false;
        break;
    default: return false;
    }
    if (in->type != CU_MEMORYTYPE_ARRAY) {
        /* rows and slices are contiguous unless a pitch or height says otherwise */
        size_t width, rows;
        if (__builtin_add_overflow(box->width_bytes, in->x_bytes, &width) ||
            __builtin_add_overflow(box->height, in->y, &rows))
            return false;
        size_t pitch = in->pitch ? in->pitch : width;
        if (pitch < width || (in->height && in->height < rows)) return false;
        out->row_bytes = pitch;
        if (__builtin_mul_overflow(pitch, in->height ? in->height : rows, &out->slice_bytes))
            return false;
    }
    return add_product(&out->start, in->z, out->slice_bytes) &&
           add_product(&out->start, in->y, out->row_bytes) &&
           add_product(&out->start, in->x_bytes, 1);
}

/* Resolves both sides of a copy; returns false if they are invalid. */
static bool resolve_both(const Call *call, const CUDA_MEMCPY3D *copy, Side *to, Side *from) {
    Box box = {copy->WidthInBytes, copy->Height, copy->Depth};
    SideArguments destination = {
        copy->dstXInBytes, copy->dstY,      copy->dstZ,     copy->dstLOD,   copy->dstMemoryType,
        copy->dstHost,     copy->dstDevice, copy->dstArray, copy->dstPitch, copy->dstHeight};
    SideArguments source = {copy->srcXInBytes,   copy->srcY,     copy->srcZ,      copy->srcLOD,
                            copy->srcMemoryType, copy->srcHost,  copy->srcDevice, copy->srcArray,
                            copy->srcPitch,      copy->srcHeight};
    return resolve(call, &destination, &box, to) && resolve(call, &source, &box, from);
}

/* A node may be made before its memory is allocated, so it is enough that the addresses are
 * valid. */
static bool has_place(const Call *call, CUmemorytype type, const void *host, CUdeviceptr device) {
    if (type == CU_MEMORYTYPE_HOST) return host != NULL;
    return type != CU_MEMORYTYPE_DEVICE || mem_find(call->memory, device) ||
           ranges_find(call->driver->allocations, device) ||
           (call->driver->reservations && ranges_find(call->driver->reservations, device));
}

bool copy_is_possible(const Call *call, const CUDA_MEMCPY3D *copy) {
    Side to, from;
    return copy->WidthInBytes && copy->Height && copy->Depth &&
           resolve_both(call, copy, &to, &from) &&
           has_place(call, copy->srcMemoryType, copy->srcHost, copy->srcDevice) &&
           has_place(call, copy->dstMemoryType, copy->dstHost, copy->dstDevice);
}

bool copy_is_addressable(const Call *call, const CUDA_MEMCPY3D *copy) {
    const Box box = {copy->WidthInBytes, copy->Height, copy->Depth};
    Side to, from;
    return resolve_both(call, copy, &to, &from) &&
           (!box.width_bytes || !box.height || !box.depth ||
            (is_addressable(&to, &box) && is_addressable(&from, &box)));
}

CUresult copy_now(const Call *call, const CUDA_MEMCPY3D *copy) {
    const Box box = {copy->WidthInBytes, copy->Height, copy->Depth};
    Side to, from;
    if (!resolve_both(call, copy, &to, &from)) return CUDA_ERROR_INVALID_VALUE;
    return copy_box(call, &to, &from, &box);
}

CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D *copy) {
    Call call;
    CUresult status = call_begin_legacy(&call);
    if (status) return status;
    return call_end(&call, copy ? copy_now(&call, copy) : CUDA_ERROR_INVALID_VALUE);
}

static CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D *copy) {
    return (CUDA_MEMCPY3D){.srcXInBytes = copy->srcXInBytes,
                           .srcY = copy->srcY,
                           .srcMemoryType = copy->srcMemoryType,
                           .srcHost = copy->srcHost,
                           .srcDevice = copy->srcDevice,
                           .srcArray = copy->srcArray,
                           .srcPitch = copy->srcPitch,
                           .dstXInBytes = copy->dstXInBytes,
                           .dstY = copy->dstY,
                           .dstMemoryType = copy->dstMemoryType,
                           .dstHost = copy->dstHost,
                           .dstDevice = copy->dstDevice,
                           .dstArray = copy->dstArray,
                           .dstPitch = copy->dstPitch,
                           .WidthInBytes = copy->WidthInBytes,
                           .Height = copy->Height,
                           .Depth = 1};
}

CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D box = box_of(copy);
    return cuMemcpy3D(&box);
}

CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) { return cuMemcpy2D(copy); }

/* ---- In a stream: immediately, queued, or captured ---- */

static CUresult copy_in(CUstream stream, const CUDA_MEMCPY3D *copy) {
    Call call;
    bool is_taken;
    WorkGiven work = {CU_GRAPH_NODE_TYPE_MEMCPY, copy, NULL};
    if (copy && (!copy->WidthInBytes || !copy->Height || !copy->Depth)) return stream_check(stream);
    CUresult status = capture_take(stream, work, &is_taken);
    if (status || is_taken) return status;
    status = call_begin(&call);
    return status ? status : call_end(&call, copy_now(&call, copy));
}

/* A contiguous copy as a box of one row. */
static CUresult copy_row_in(CUstream stream, CUDA_MEMCPY3D sides, size_t size) {
    sides.WidthInBytes = size;
    sides.Height = 1;
    sides.Depth = 1;
    return copy_in(stream, &sides);
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t size,
                               CUstream stream) {
    CUDA_MEMCPY3D sides = {.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = destination,
                           .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = source};
    return copy_row_in(stream, sides, size);
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr destination, const void *source, size_t size,
                                   CUstream stream) {
    CUDA_MEMCPY3D sides = {.dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = destination,
                           .srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = source};
    return copy_row_in(stream, sides, size);
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *destination, CUdeviceptr source, size_t size,
                                   CUstream stream) {
    CUDA_MEMCPY3D sides = {.dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = destination,
                           .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = source};
    return copy_row_in(stream, sides, size);
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr destination, CUdeviceptr source, size_t size,
                                   CUstream stream) {
    CUDA_MEMCPY3D sides = {.dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = destination,
                           .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = source};
    return copy_row_in(stream, sides, size);
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destination_context,
                                   CUdeviceptr source, CUcontext source_context, size_t size,
                                   CUstream stream) {
    (void)destination_context, (void)source_context; /* all contexts are on one device */
    return cuMemcpyDtoDAsync(destination, source, size, stream);
}

CUresult CUDAAPI cuMemcpyHtoAAsync(CUarray destination, size_t offset, const void *source,
                                   size_t size, CUstream stream) {
    CUDA_MEMCPY3D sides = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = destination,
                           .dstXInBytes = offset,
                           .srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = source};
    return copy_row_in(stream, sides, size);
}

CUresult CUDAAPI cuMemcpyAtoHAsync(void *destination, CUarray source, size_t offset, size_t size,
                                   CUstream stream) {
    CUDA_MEMCPY3D sides = {.dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = destination,
                           .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = source,
                           .srcXInBytes = offset};
    return copy_row_in(stream, sides, size);
}

CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D box = box_of(copy);
    return copy_in(stream, &box);
}

CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
    return copy_in(stream, copy);
}

/* ---- Between contexts: all are on one device ---- */

static CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER *copy) {
    return (CUDA_MEMCPY3D){.srcXInBytes = copy->srcXInBytes,
                           .srcY = copy->srcY,
                           .srcZ = copy->srcZ,
                           .srcLOD = copy->srcLOD,
                           .srcMemoryType = copy->srcMemoryType,
                           .srcHost = copy->srcHost,
                           .srcDevice = copy->srcDevice,
                           .srcArray = copy->srcArray,
                           .srcPitch = copy->srcPitch,
                           .srcHeight = copy->srcHeight,
                           .dstXInBytes = copy->dstXInBytes,
                           .dstY = copy->dstY,
                           .dstZ = copy->dstZ,
                           .dstLOD = copy->dstLOD,
                           .dstMemoryType = copy->dstMemoryType,
                           .dstHost = copy->dstHost,
                           .dstDevice = copy->dstDevice,
                           .dstArray = copy->dstArray,
                           .dstPitch = copy->dstPitch,
                           .dstHeight = copy->dstHeight,
                           .WidthInBytes = copy->WidthInBytes,
                           .Height = copy->Height,
                           .Depth = copy->Depth};
}

CUresult CUDAAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D plain = without_contexts(copy);
    return cuMemcpy3D(&plain);
}

CUresult CUDAAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D plain = without_contexts(copy);
    return cuMemcpy3DAsync(&plain, stream);
}
