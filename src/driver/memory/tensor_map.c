/* Tensor maps, as the host encodes them. Rules of validity: CUDA driver API, cuTensorMapEncodeTiled
 * and cuTensorMapEncodeIm2col. */
#include "driver/driver.h"
#include "isa/tensor_map.h"

enum {
    ADDRESS_ALIGNMENT = 16,
    STRIDE_ALIGNMENT = 16 /* both in bytes */
};
#define MOST_SIZE   (UINT64_C(1) << 32)
#define MOST_STRIDE (UINT64_C(1) << 40)

static_assert(sizeof(CUtensorMap) == TENSOR_MAP_BYTES, "as programs have it");
static_assert((int)CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == TENSOR_TF32_FTZ, "the same numbers");
static_assert(8 << CU_TENSOR_MAP_INTERLEAVE_32B == 32, "the bytes of a slice");

/* The parameters that a program passes. */
typedef struct Wanted {
    CUtensorMapDataType type;
    cuuint32_t rank;
    uint64_t address;
    const uint64_t *sizes, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
} Wanted;

static bool is_possible(const Wanted *wanted) {
    if ((unsigned)wanted->type >= TENSOR_TYPES || !wanted->rank || wanted->rank > TENSOR_MAX_RANK)
        return false;
    if (wanted->address % ADDRESS_ALIGNMENT || !wanted->sizes || !wanted->steps ||
        (wanted->rank > 1 && !wanted->strides))
        return false;
    return (unsigned)wanted->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           (unsigned)wanted->swizzle <= CU_TENSOR_MAP_SWIZZLE_128B &&
           (unsigned)wanted->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           (unsigned)wanted->fill <= 1 &&
           (!wanted->fill || tensor_is_float((TensorType)wanted->type));
}

static bool fill_dimension(TensorMap *map, const Wanted *wanted, cuuint32_t i) {
    const bool is_ignored = i == 0 && !wanted->interleave; /* the step of the innermost dimension */
    const cuuint32_t step = is_ignored ? 1 : wanted->steps[i];
    if (!wanted->sizes[i] || wanted->sizes[i] > MOST_SIZE || step > TENSOR_MAX_STEP) return false;
    map->last[i] = (uint32_t)(wanted->sizes[i] - 1);
    map->step[i] = (uint8_t)step;
    if (i == 0) return true;
    map->stride[i - 1] = wanted->strides[i - 1];
    return wanted->strides[i - 1] % STRIDE_ALIGNMENT == 0 && wanted->strides[i - 1] < MOST_STRIDE;
}

/* Checks and encodes what both kinds of maps have in common. */
static CUresult begin_map(TensorMap *map, const Wanted *wanted) {
    if (!is_possible(wanted)) return CUDA_ERROR_INVALID_VALUE;
    *map = (TensorMap){.mark = TENSOR_MAP_MARK,
                       .type = (uint8_t)wanted->type,
                       .rank = (uint8_t)wanted->rank,
                       .swizzle = (uint8_t)(wanted->swizzle ? 4 + wanted->swizzle : 0),
                       .interleave = (uint8_t)wanted->interleave,
                       .fills_nan = wanted->fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                       .address = wanted->address};
    for (cuuint32_t i = 0; i < wanted->rank; i++)
        if (!fill_dimension(map, wanted, i)) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult end_map(const TensorMap *made, CUtensorMap *map) {
    if (tensor_map_flaw(made)) return CUDA_ERROR_INVALID_VALUE;
    tensor_map_put((uint8_t *)map, made);
    return CUDA_SUCCESS;
}

static bool is_place(const CUtensorMap *map) {
    return map && (uintptr_t)map % TENSOR_MAP_ALIGNMENT == 0;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    const Wanted wanted = {type,       rank,    (uint64_t)(uintptr_t)address,
                           sizes,      strides, element_strides,
                           interleave, swizzle, promotion,
                           fill};
    TensorMap made;
    if (!is_place(map) || !box) return CUDA_ERROR_INVALID_VALUE;
    const CUresult status = begin_map(&made, &wanted);
    if (status) return status;
    for (cuuint32_t i = 0; i < rank; i++) {
        if (!box[i] || box[i] > TENSOR_MAX_BOX) return CUDA_ERROR_INVALID_VALUE;
        made.box[i] = (uint16_t)box[i];
    }
    return end_map(&made, map);
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const int *lower, const int *upper,
    cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *element_strides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill) {
    static const int least[] = {INT16_MIN, INT8_MIN, -16}, most[] = {INT16_MAX, INT8_MAX, 15};
    const Wanted wanted = {type,       rank,    (uint64_t)(uintptr_t)address,
                           sizes,      strides, element_strides,
                           interleave, swizzle, promotion,
                           fill};
    TensorMap made;
    if (!is_place(map) || !lower || !upper || rank < TENSOR_LEAST_PIXELS_RANK ||
        channels > TENSOR_MAX_BOX || pixels > TENSOR_MAX_PIXELS)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult status = begin_map(&made, &wanted);
    if (status) return status;
    made.is_im2col = true;
    made.box[0] = (uint16_t)channels;
    made.pixels = (uint16_t)pixels;
    for (cuuint32_t i = 0; i < rank - 2; i++) {
        if (lower[i] < least[rank - 3] || lower[i] > most[rank - 3] || upper[i] < least[rank - 3] ||
            upper[i] > most[rank - 3])
            return CUDA_ERROR_INVALID_VALUE;
        made.lower[i] = (int16_t)lower[i];
        made.upper[i] = (int16_t)upper[i];
    }
    return end_map(&made, map);
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    if (!is_place(map) || (uintptr_t)address % ADDRESS_ALIGNMENT) return CUDA_ERROR_INVALID_VALUE;
    TensorMap made = tensor_map_get((const uint8_t *)map);
    made.address = (uint64_t)(uintptr_t)address;
    if (tensor_map_flaw(&made)) return CUDA_ERROR_INVALID_VALUE;
    tensor_map_replace((uint8_t *)map, TENSOR_FIELD_ADDRESS, 0, made.address);
    return CUDA_SUCCESS;
}
