/* Copies: of bytes, of rectangles and boxes, from and to arrays, from and to variables.
 *
 * Every copy except plain ones becomes a box copy of the driver. */
#include "cudart/runtime.h"

/* ---- Functions that do not return before they are done ---- */

/* Whether the host can access the memory without a copy: it is page-locked or managed. */
static bool is_host_memory(const void *pointer) {
    unsigned type = 0, is_managed = 0;
    const CUdeviceptr address = address_of(pointer);
    if (!pointer) return false;
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)) return false;
    if (type == CU_MEMORYTYPE_HOST) return true;
    return !cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) &&
           is_managed;
}

/* The driver keeps copies from pageable memory, and waits for those to it. A copy from page-locked
 * or managed memory, or to it, may still be queued. */
cudaError_t copy_finish(cudaError_t status, const void *to, const void *from) {
    if (status || !(is_host_memory(to) || is_host_memory(from))) return status;
    return RUNTIME_CALL(cuStreamSynchronize(NULL));
}

/* ---- Bytes ---- */

static int copy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                cudaStream_t stream) {
    unsigned flags;
    if (!size) return (int)cuStreamGetFlags(stream, &flags);
    switch ((int)kind) {
    case cudaMemcpyHostToDevice: return (int)cuMemcpyHtoDAsync(address_of(to), from, size, stream);
    case cudaMemcpyDeviceToHost: return (int)cuMemcpyDtoHAsync(to, address_of(from), size, stream);
    case cudaMemcpyDeviceToDevice:
        return (int)cuMemcpyDtoDAsync(address_of(to), address_of(from), size, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return (int)cuMemcpyAsync(address_of(to), address_of(from), size, stream);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void *destination, const void *source, size_t size,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return RUNTIME_CALL(copy(destination, source, size, kind, stream));
}

cudaError_t CUDARTAPI cudaMemcpy(void *destination, const void *source, size_t size,
                                 enum cudaMemcpyKind kind) {
    return copy_finish(cudaMemcpyAsync(destination, source, size, kind, NULL), destination, source);
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *destination, int destination_device,
                                          const void *source, int source_device, size_t size,
                                          cudaStream_t stream) {
    if (destination_device || source_device) return runtime_leave(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(destination, source, size, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t CUDARTAPI cudaMemcpyPeer(void *destination, int destination_device, const void *source,
                                     int source_device, size_t size) {
    if (destination_device || source_device) return runtime_leave(cudaErrorInvalidDevice);
    return cudaMemcpy(destination, source, size, cudaMemcpyDeviceToDevice);
}

/* ---- Variables ---- */

int copy_place_in(const void *symbol, size_t size, size_t offset, void **place) {
    CUdeviceptr address;
    size_t whole;
    int status = registry_variable(symbol, &address, &whole);
    if (status) return status;
    if (offset > whole || size > whole - offset) return cudaErrorInvalidValue;
    *place = pointer_of(address + offset);
    return cudaSuccess;
}

/* A variable is on the device. */
int copy_check_to_symbol(enum cudaMemcpyKind kind) {
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
                   kind == cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}

int copy_check_from_symbol(enum cudaMemcpyKind kind) {
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
                   kind == cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}

static int copy_to_symbol(const void *symbol, const void *source, size_t size, size_t offset,
                          enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *place;
    int status = copy_check_to_symbol(kind);
    if (status == 0) status = copy_place_in(symbol, size, offset, &place);
    return status ? status : copy(place, source, size, kind, stream);
}

static int copy_from_symbol(void *destination, const void *symbol, size_t size, size_t offset,
                            enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *place;
    int status = copy_check_from_symbol(kind);
    if (status == 0) status = copy_place_in(symbol, size, offset, &place);
    return status ? status : copy(destination, place, size, kind, stream);
}

/* Where a variable is; NULL if there is no such variable. */
static const void *place_of(const void *symbol) {
    void *place = NULL;
    return copy_place_in(symbol, 0, 0, &place) ? NULL : place;
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t size,
                                              size_t offset, enum cudaMemcpyKind kind,
                                              cudaStream_t stream) {
    return RUNTIME_CALL(copy_to_symbol(symbol, source, size, offset, kind, stream));
}

cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void *symbol, const void *source, size_t size,
                                         size_t offset, enum cudaMemcpyKind kind) {
    const cudaError_t status = cudaMemcpyToSymbolAsync(symbol, source, size, offset, kind, NULL);
    return copy_finish(status, place_of(symbol), source);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void *destination, const void *symbol, size_t size,
                                                size_t offset, enum cudaMemcpyKind kind,
                                                cudaStream_t stream) {
    return RUNTIME_CALL(copy_from_symbol(destination, symbol, size, offset, kind, stream));
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void *destination, const void *symbol, size_t size,
                                           size_t offset, enum cudaMemcpyKind kind) {
    const cudaError_t status =
        cudaMemcpyFromSymbolAsync(destination, symbol, size, offset, kind, NULL);
    return copy_finish(status, destination, place_of(symbol));
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void **pointer, const void *symbol) {
    if (!pointer) return runtime_leave(cudaErrorInvalidValue);
    return RUNTIME_CALL(copy_place_in(symbol, 0, 0, pointer));
}

cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *size, const void *symbol) {
    CUdeviceptr address;
    if (!size) return runtime_leave(cudaErrorInvalidValue);
    return RUNTIME_CALL(registry_variable(symbol, &address, size));
}

/* ---- Boxes ---- */

/* One side of a copy. */
typedef struct Side {
    bool is_array;
    CUarray array;       /* if is_array */
    const void *pointer; /* linear memory */
    size_t pitch;        /* of linear memory: bytes from row to row */
    size_t height;       /* of linear memory: rows from slice to slice; 0: the rows copied */
    size_t x_bytes, y, z;
} Side;

static Side plain_side(const void *pointer, size_t pitch) {
    return (Side){.pointer = pointer, .pitch = pitch};
}

static Side array_side(cudaArray_const_t array, size_t x_bytes, size_t y) {
    return (Side){.is_array = true, .array = (CUarray)(uintptr_t)array, .x_bytes = x_bytes, .y = y};
}

/* The location of linear memory, by a copy's kind. `from`: it is the source. */
static CUmemorytype memory_type(enum cudaMemcpyKind kind, bool from) {
    switch ((int)kind) {
    case cudaMemcpyHostToHost: return CU_MEMORYTYPE_HOST;
    case cudaMemcpyHostToDevice: return from ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    case cudaMemcpyDeviceToHost: return from ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    case cudaMemcpyDeviceToDevice: return CU_MEMORYTYPE_DEVICE;
    default: return CU_MEMORYTYPE_UNIFIED;
    }
}

static int describe(const Side *to, const Side *from, size_t width_bytes, size_t height,
                    size_t depth, enum cudaMemcpyKind kind, CUDA_MEMCPY3D *box) {
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if ((to->is_array && !to->array) || (from->is_array && !from->array))
        return cudaErrorInvalidResourceHandle;
    if ((!to->is_array && to->pitch < width_bytes && height > 1) ||
        (!from->is_array && from->pitch < width_bytes && height > 1))
        return cudaErrorInvalidPitchValue;
    *box = (CUDA_MEMCPY3D){
        .srcXInBytes = from->x_bytes,
        .srcY = from->y,
        .srcZ = from->z,
        .srcMemoryType = from->is_array ? CU_MEMORYTYPE_ARRAY : memory_type(kind, true),
        .srcHost = from->pointer,
        .srcDevice = address_of(from->pointer),
        .srcArray = from->array,
        .srcPitch = from->pitch,
        .srcHeight = from->height,
        .dstXInBytes = to->x_bytes,
        .dstY = to->y,
        .dstZ = to->z,
        .dstMemoryType = to->is_array ? CU_MEMORYTYPE_ARRAY : memory_type(kind, false),
        .dstHost = pointer_of(address_of(to->pointer)),
        .dstDevice = address_of(to->pointer),
        .dstArray = to->array,
        .dstPitch = to->pitch,
        .dstHeight = to->height,
        .WidthInBytes = width_bytes,
        .Height = height,
        .Depth = depth,
    };
    return cudaSuccess;
}

static int copy_box(const Side *to, const Side *from, size_t width_bytes, size_t height,
                    size_t depth, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_MEMCPY3D box;
    int status = describe(to, from, width_bytes, height, depth, kind, &box);
    return status ? status : (int)cuMemcpy3DAsync(&box, stream);
}

int copy_describe_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                        CUDA_MEMCPY3D *box) {
    Side destination = plain_side(to, size), source = plain_side(from, size);
    return describe(&destination, &source, size, 1, 1, kind, box);
}

static cudaError_t copy_rectangle(Side to, Side from, size_t width_bytes, size_t height,
                                  enum cudaMemcpyKind kind, cudaStream_t stream) {
    return RUNTIME_CALL(copy_box(&to, &from, width_bytes, height, 1, kind, stream));
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void *destination, size_t destination_pitch,
                                        const void *source, size_t source_pitch, size_t width,
                                        size_t height, enum cudaMemcpyKind kind,
                                        cudaStream_t stream) {
    return copy_rectangle(plain_side(destination, destination_pitch),
                          plain_side(source, source_pitch), width, height, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpy2D(void *destination, size_t destination_pitch, const void *source,
                                   size_t source_pitch, size_t width, size_t height,
                                   enum cudaMemcpyKind kind) {
    const cudaError_t status = cudaMemcpy2DAsync(destination, destination_pitch, source,
                                                 source_pitch, width, height, kind, NULL);
    return copy_finish(status, destination, source);
}

cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x_bytes, size_t y,
                                               const void *source, size_t pitch, size_t width,
                                               size_t height, enum cudaMemcpyKind kind,
                                               cudaStream_t stream) {
    return copy_rectangle(array_side(destination, x_bytes, y), plain_side(source, pitch), width,
                          height, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpy2DToArray(cudaArray_t destination, size_t x_bytes, size_t y,
                                          const void *source, size_t pitch, size_t width,
                                          size_t height, enum cudaMemcpyKind kind) {
    const cudaError_t status =
        cudaMemcpy2DToArrayAsync(destination, x_bytes, y, source, pitch, width, height, kind, NULL);
    return copy_finish(status, NULL, source);
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync(void *destination, size_t pitch,
                                                 cudaArray_const_t source, size_t x_bytes, size_t y,
                                                 size_t width, size_t height,
                                                 enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_rectangle(plain_side(destination, pitch), array_side(source, x_bytes, y), width,
                          height, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArray(void *destination, size_t pitch,
                                            cudaArray_const_t source, size_t x_bytes, size_t y,
                                            size_t width, size_t height, enum cudaMemcpyKind kind) {
    const cudaError_t status = cudaMemcpy2DFromArrayAsync(destination, pitch, source, x_bytes, y,
                                                          width, height, kind, NULL);
    return copy_finish(status, destination, NULL);
}

cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x_bytes,
                                               size_t destination_y, cudaArray_const_t source,
                                               size_t source_x_bytes, size_t source_y, size_t width,
                                               size_t height, enum cudaMemcpyKind kind) {
    return copy_rectangle(array_side(destination, destination_x_bytes, destination_y),
                          array_side(source, source_x_bytes, source_y), width, height, kind, NULL);
}

/* Bytes of one element of an array. */
static int element_bytes(CUarray array, size_t *bytes) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    int status = (int)cuArray3DGetDescriptor(&descriptor, array);
    if (status) return status;
    size_t channel = 4;
    if (descriptor.Format == CU_AD_FORMAT_UNSIGNED_INT8 ||
        descriptor.Format == CU_AD_FORMAT_SIGNED_INT8)
        channel = 1;
    else if (descriptor.Format == CU_AD_FORMAT_UNSIGNED_INT16 ||
             descriptor.Format == CU_AD_FORMAT_SIGNED_INT16 ||
             descriptor.Format == CU_AD_FORMAT_HALF)
        channel = 2;
    *bytes = channel * descriptor.NumChannels;
    return cudaSuccess;
}

/* One side of a cudaMemcpy3DParms; positions in arrays are in elements. */
static int resolve(cudaArray_t array, struct cudaPitchedPtr pointer, struct cudaPos place,
                   size_t element, Side *side) {
    if ((array != NULL) == (pointer.ptr != NULL)) return cudaErrorInvalidValue;
    *side = array ? array_side(array, place.x * element, place.y)
                  : (Side){.pointer = pointer.ptr,
                           .pitch = pointer.pitch,
                           .height = pointer.ysize,
                           .x_bytes = place.x,
                           .y = place.y};
    side->z = place.z;
    return cudaSuccess;
}

int copy_describe_box(const struct cudaMemcpy3DParms *given, CUDA_MEMCPY3D *box) {
    if (!given) return cudaErrorInvalidValue;
    Side to, from;
    size_t element = 1;
    cudaArray_t array = given->srcArray ? given->srcArray : given->dstArray;
    int status = array ? element_bytes((CUarray)array, &element) : cudaSuccess;
    if (status == 0) status = resolve(given->dstArray, given->dstPtr, given->dstPos, element, &to);
    if (status == 0)
        status = resolve(given->srcArray, given->srcPtr, given->srcPos, element, &from);
    if (status) return status;
    return describe(&to, &from, given->extent.width * element, given->extent.height,
                    given->extent.depth, given->kind, box);
}

/* The kind of a copy between two sides. */
static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

static struct cudaPitchedPtr pointer_from(CUmemorytype type, const void *host, CUdeviceptr device,
                                          size_t pitch, size_t height) {
    if (type == CU_MEMORYTYPE_ARRAY) return (struct cudaPitchedPtr){NULL, 0, 0, 0};
    void *pointer = type == CU_MEMORYTYPE_HOST ? pointer_of(address_of(host)) : pointer_of(device);
    return (struct cudaPitchedPtr){pointer, pitch, pitch, height};
}

int copy_read_box(const CUDA_MEMCPY3D *box, struct cudaMemcpy3DParms *out) {
    size_t element = 1;
    bool is_from_array = box->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    bool is_to_array = box->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    CUarray array = is_from_array ? box->srcArray : box->dstArray;
    int status = is_from_array || is_to_array ? element_bytes(array, &element) : cudaSuccess;
    if (status) return status;
    size_t from_element = is_from_array ? element : 1, to_element = is_to_array ? element : 1;
    *out = (struct cudaMemcpy3DParms){
        .srcArray = is_from_array ? (cudaArray_t)box->srcArray : NULL,
        .srcPos = {box->srcXInBytes / from_element, box->srcY, box->srcZ},
        .srcPtr = pointer_from(box->srcMemoryType, box->srcHost, box->srcDevice, box->srcPitch,
                               box->srcHeight),
        .dstArray = is_to_array ? (cudaArray_t)box->dstArray : NULL,
        .dstPos = {box->dstXInBytes / to_element, box->dstY, box->dstZ},
        .dstPtr = pointer_from(box->dstMemoryType, box->dstHost, box->dstDevice, box->dstPitch,
                               box->dstHeight),
        .extent = {box->WidthInBytes / element, box->Height, box->Depth},
        .kind = kind_of(box->srcMemoryType, box->dstMemoryType),
    };
    return cudaSuccess;
}

static int copy_3d(const struct cudaMemcpy3DParms *given, cudaStream_t stream) {
    CUDA_MEMCPY3D box;
    unsigned flags;
    if (given && (!given->extent.width || !given->extent.height || !given->extent.depth))
        return (int)cuStreamGetFlags(stream, &flags); /* independent of its other fields */
    int status = copy_describe_box(given, &box);
    return status ? status : (int)cuMemcpy3DAsync(&box, stream);
}

cudaError_t CUDARTAPI cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *given,
                                        cudaStream_t stream) {
    return RUNTIME_CALL(copy_3d(given, stream));
}

cudaError_t CUDARTAPI cudaMemcpy3D(const struct cudaMemcpy3DParms *given) {
    const cudaError_t status = cudaMemcpy3DAsync(given, NULL);
    return status ? status : copy_finish(status, given->dstPtr.ptr, given->srcPtr.ptr);
}

/* Both devices are the only one. */
static int copy_3d_peer(const struct cudaMemcpy3DPeerParms *given, cudaStream_t stream) {
    if (!given) return cudaErrorInvalidValue;
    if (given->srcDevice != 0 || given->dstDevice != 0) return cudaErrorInvalidDevice;
    const struct cudaMemcpy3DParms plain = {
        .srcArray = given->srcArray,
        .srcPos = given->srcPos,
        .srcPtr = given->srcPtr,
        .dstArray = given->dstArray,
        .dstPos = given->dstPos,
        .dstPtr = given->dstPtr,
        .extent = given->extent,
        .kind = cudaMemcpyDefault,
    };
    return copy_3d(&plain, stream);
}

cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *given,
                                            cudaStream_t stream) {
    return RUNTIME_CALL(copy_3d_peer(given, stream));
}

cudaError_t CUDARTAPI cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *given) {
    const cudaError_t status = cudaMemcpy3DPeerAsync(given, NULL);
    return status ? status : copy_finish(status, given->dstPtr.ptr, given->srcPtr.ptr);
}

/* ---- A run of bytes that continues from row to row of an array ---- */

/* Bytes from (x_bytes, y) to the end of the row. */
static int bytes_to_end(CUarray array, size_t x_bytes, size_t *bytes) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    size_t element;
    int status = element_bytes(array, &element);
    if (status == 0) status = (int)cuArray3DGetDescriptor(&descriptor, array);
    if (status) return status;
    size_t width = descriptor.Width * element;
    if (x_bytes >= width) return cudaErrorInvalidValue;
    *bytes = width - x_bytes;
    return cudaSuccess;
}

/* Advances a side by `bytes`, which end its row or the copy. */
static void advance(Side *side, size_t bytes, bool is_row_end) {
    if (!side->is_array) side->pointer = (const char *)side->pointer + bytes;
    else if (is_row_end) side->x_bytes = 0, side->y++;
    else side->x_bytes += bytes;
}

static int copy_run(Side to, Side from, size_t size, enum cudaMemcpyKind kind,
                    cudaStream_t stream) {
    int status = cudaSuccess;
    while (size && status == 0) {
        size_t to_end = size, from_end = size;
        if (to.is_array) status = bytes_to_end(to.array, to.x_bytes, &to_end);
        if (status == 0 && from.is_array)
            status = bytes_to_end(from.array, from.x_bytes, &from_end);
        if (status) return status;
        size_t step = to_end < from_end ? to_end : from_end;
        if (step > size) step = size;
        status = copy_box(&to, &from, step, 1, 1, kind, stream);
        advance(&to, step, step == to_end);
        advance(&from, step, step == from_end);
        size -= step;
    }
    return status;
}

cudaError_t CUDARTAPI cudaMemcpyToArrayAsync(cudaArray_t destination, size_t x_bytes, size_t y,
                                             const void *source, size_t size,
                                             enum cudaMemcpyKind kind, cudaStream_t stream) {
    return RUNTIME_CALL(
        copy_run(array_side(destination, x_bytes, y), plain_side(source, 0), size, kind, stream));
}

cudaError_t CUDARTAPI cudaMemcpyToArray(cudaArray_t destination, size_t x_bytes, size_t y,
                                        const void *source, size_t size, enum cudaMemcpyKind kind) {
    const cudaError_t status =
        cudaMemcpyToArrayAsync(destination, x_bytes, y, source, size, kind, NULL);
    return copy_finish(status, NULL, source);
}

cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync(void *destination, cudaArray_const_t source,
                                               size_t x_bytes, size_t y, size_t size,
                                               enum cudaMemcpyKind kind, cudaStream_t stream) {
    return RUNTIME_CALL(
        copy_run(plain_side(destination, 0), array_side(source, x_bytes, y), size, kind, stream));
}

cudaError_t CUDARTAPI cudaMemcpyFromArray(void *destination, cudaArray_const_t source,
                                          size_t x_bytes, size_t y, size_t size,
                                          enum cudaMemcpyKind kind) {
    const cudaError_t status =
        cudaMemcpyFromArrayAsync(destination, source, x_bytes, y, size, kind, NULL);
    return copy_finish(status, destination, NULL);
}

cudaError_t CUDARTAPI cudaMemcpyArrayToArray(cudaArray_t destination, size_t destination_x_bytes,
                                             size_t destination_y, cudaArray_const_t source,
                                             size_t source_x_bytes, size_t source_y, size_t size,
                                             enum cudaMemcpyKind kind) {
    return RUNTIME_CALL(copy_run(array_side(destination, destination_x_bytes, destination_y),
                                 array_side(source, source_x_bytes, source_y), size, kind, NULL));
}
