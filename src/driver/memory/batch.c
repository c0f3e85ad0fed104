/* Batches: many copies, or hints on many ranges, in one call. They are executed one after another;
 * the first error ends the batch. As in CUDA, batches of copies cannot be captured, but batches of
 * boxes can. */
#include "driver/driver.h"

/* Whether the entries of a batch from i on all have attributes; `first` has the index at which each
 * attribute begins to apply. */
static bool are_ranges(const size_t *first, size_t count, size_t entries) {
    if (!count || !first || count > entries || first[0] != 0) return false;
    for (size_t i = 1; i < count; i++) {
        if (first[i] <= first[i - 1] || first[i] >= entries) return false;
    }
    return true;
}

static bool is_order(CUmemcpySrcAccessOrder order, unsigned flags) {
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           flags <= CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}

/* A batch is not allowed in the default stream that waits for all others. */
static bool is_stream(CUstream stream) { return stream && stream != CU_STREAM_LEGACY; }

CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                    CUmemcpyAttributes *attributes, size_t *first,
                                    size_t attribute_count, CUstream stream) {
    if (!to || !from || !sizes || !count || !attributes || !is_stream(stream) ||
        !are_ranges(first, attribute_count, count))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < attribute_count; i++) {
        if (!is_order(attributes[i].srcAccessOrder, attributes[i].flags))
            return CUDA_ERROR_INVALID_VALUE;
    }
    CUstreamCaptureStatus capture;
    CUresult status = cuStreamIsCapturing(stream, &capture);
    if (status == CUDA_SUCCESS && capture == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* the capture remains valid */
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        status =
            sizes[i] ? cuMemcpyAsync(to[i], from[i], sizes[i], stream) : CUDA_ERROR_INVALID_VALUE;
    return status;
}

/* ---- Boxes ---- */

static unsigned element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *array) {
    unsigned bytes =
        array->Format == CU_AD_FORMAT_UNSIGNED_INT8 || array->Format == CU_AD_FORMAT_SIGNED_INT8 ? 1
        : array->Format == CU_AD_FORMAT_UNSIGNED_INT32 ||
                array->Format == CU_AD_FORMAT_SIGNED_INT32 || array->Format == CU_AD_FORMAT_FLOAT
            ? 4
            : 2;
    return bytes * array->NumChannels;
}

/* Bytes of an element of the array on either side, 1 if there is none. */
static CUresult find_element(const CUmemcpy3DOperand *operand, unsigned *bytes) {
    CUDA_ARRAY3D_DESCRIPTOR array;
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER) return CUDA_SUCCESS;
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = cuArray3DGetDescriptor(&array, operand->op.array.array);
    if (status == CUDA_SUCCESS) *bytes = element_bytes(&array);
    return status;
}

/* Writes one side of a box. A CUDA_MEMCPY3D has the same members twice. */
typedef struct Side {
    CUmemorytype type;
    CUarray array;
    CUdeviceptr device;
    size_t x_bytes, y, z;     /* if it is an array */
    size_t pitch_bytes, rows; /* if it is memory */
} Side;

static Side side_of(const CUmemcpy3DOperand *operand, size_t element) {
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return (Side){.type = CU_MEMORYTYPE_UNIFIED,
                      .device = operand->op.ptr.ptr,
                      .pitch_bytes = operand->op.ptr.rowLength * element,
                      .rows = operand->op.ptr.layerHeight};
    return (Side){.type = CU_MEMORYTYPE_ARRAY,
                  .array = operand->op.array.array,
                  .x_bytes = operand->op.array.offset.x * element,
                  .y = operand->op.array.offset.y,
                  .z = operand->op.array.offset.z};
}

static CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP *copy, CUstream stream) {
    unsigned element = 1;
    if (!copy->extent.width || !copy->extent.height || !copy->extent.depth ||
        !is_order(copy->srcAccessOrder, copy->flags))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = find_element(&copy->src, &element);
    if (status == CUDA_SUCCESS) status = find_element(&copy->dst, &element);
    if (status) return status;
    size_t width;
    if (__builtin_mul_overflow(copy->extent.width, (size_t)element, &width))
        return CUDA_ERROR_INVALID_VALUE;
    const Side from = side_of(&copy->src, element), to = side_of(&copy->dst, element);
    const CUDA_MEMCPY3D box = {
        .srcMemoryType = from.type,
        .dstMemoryType = to.type,
        .srcArray = from.array,
        .dstArray = to.array,
        .srcDevice = from.device,
        .dstDevice = to.device,
        .srcXInBytes = from.x_bytes,
        .dstXInBytes = to.x_bytes,
        .srcY = from.y,
        .dstY = to.y,
        .srcZ = from.z,
        .dstZ = to.z,
        .srcPitch = from.pitch_bytes,
        .dstPitch = to.pitch_bytes,
        .srcHeight = from.rows,
        .dstHeight = to.rows,
        .WidthInBytes = width,
        .Height = copy->extent.height,
        .Depth = copy->extent.depth,
    };
    return cuMemcpy3DAsync(&box, stream);
}

CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
                                      unsigned long long flags, CUstream stream) {
    if (!count || !copies || flags || !is_stream(stream)) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = CUDA_SUCCESS;
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        status = copy_box(&copies[i], stream);
    return status;
}

/* ---- Hints ---- */

/* All memory is accessible to every processor, so ranges are checked and the hint is dropped. */
static CUresult check_ranges(const CUdeviceptr *addresses, const size_t *sizes, size_t count,
                             CUstream stream) {
    if (!addresses || !sizes || !count || !is_stream(stream)) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = stream_check(stream);
    if (status) return status;
    Call call;
    status = call_begin(&call);
    if (status) return status;
    bool are_valid = true;
    for (size_t i = 0; i < count && are_valid; i++)
        are_valid = sizes[i] && mem_is_valid(call.memory, addresses[i], sizes[i]);
    return call_end(&call, are_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                         CUmemLocation *locations, size_t *first,
                                         size_t location_count, unsigned long long flags,
                                         CUstream stream) {
    if (!locations || flags || !are_ranges(first, location_count, count))
        return CUDA_ERROR_INVALID_VALUE;
    return check_ranges(addresses, sizes, count, stream);
}

/* Discarded memory may have any value; here it keeps its own. */
CUresult CUDAAPI cuMemDiscardBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                        unsigned long long flags, CUstream stream) {
    return flags ? CUDA_ERROR_INVALID_VALUE : check_ranges(addresses, sizes, count, stream);
}

CUresult CUDAAPI cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes,
                                                   size_t count, CUmemLocation *locations,
                                                   size_t *first, size_t location_count,
                                                   unsigned long long flags, CUstream stream) {
    return cuMemPrefetchBatchAsync(addresses, sizes, count, locations, first, location_count, flags,
                                   stream);
}

/* ---- The forms of CUDA 12, which return where a batch failed ---- */

#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync

#include "base/export.h"

EXPORT CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes,
                                           size_t count, CUmemcpyAttributes *attributes,
                                           size_t *first, size_t attribute_count, size_t *failed,
                                           CUstream stream);
CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                    CUmemcpyAttributes *attributes, size_t *first,
                                    size_t attribute_count, size_t *failed, CUstream stream) {
    if (failed) *failed = SIZE_MAX; /* not an index of a copy */
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, first, attribute_count,
                                 stream);
}

EXPORT CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
                                             size_t *failed, unsigned long long flags,
                                             CUstream stream);
CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                                      unsigned long long flags, CUstream stream) {
    if (failed) *failed = SIZE_MAX;
    return cuMemcpy3DBatchAsync_v2(count, copies, flags, stream);
}
