/* Tensor maps, as the host encodes them. What is valid: CUDA driver API, cuTensorMapEncodeTiled. */
#include <string.h>

#include "driver/driver.h"
#include "isa/tensor_map.h"

enum {
    ADDRESS_ALIGNMENT = 16,
    STRIDE_ALIGNMENT = 16 /* bytes, both */
};
#define MOST_SIZE   (UINT64_C(1) << 32)
#define MOST_STRIDE (UINT64_C(1) << 40)

static_assert(sizeof(CUtensorMap) == TENSOR_MAP_BYTES, "as programs have it");
static_assert((int)CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == TENSOR_TF32_FTZ, "the same numbers");

/* What a program asks for. */
typedef struct Wanted {
    const uint64_t *sizes, *strides;
    const cuuint32_t *box, *steps;
} Wanted;

static bool fill_dimension(TensorMap *map, const Wanted *wanted, cuuint32_t i) {
    const cuuint32_t step = i ? wanted->steps[i] : 1; /* the innermost one's is ignored */
    if (!wanted->sizes[i] || wanted->sizes[i] > MOST_SIZE) return false;
    if (wanted->box[i] > TENSOR_MAX_BOX || step > TENSOR_MAX_STEP) return false;
    map->last[i] = (uint32_t)(wanted->sizes[i] - 1);
    map->box[i] = (uint16_t)wanted->box[i];
    map->step[i] = (uint8_t)step;
    if (i == 0) return true;
    map->stride[i - 1] = wanted->strides[i - 1];
    return wanted->strides[i - 1] % STRIDE_ALIGNMENT == 0 && wanted->strides[i - 1] < MOST_STRIDE;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    const Wanted wanted = {sizes, strides, box, element_strides};
    const uint64_t first = (uint64_t)(uintptr_t)address;
    if (!map || (uintptr_t)map % TENSOR_MAP_ALIGNMENT || (unsigned)type >= TENSOR_TYPES || !rank ||
        rank > TENSOR_MAX_RANK || first % ADDRESS_ALIGNMENT || !sizes || !box || !element_strides ||
        (rank > 1 && !strides))
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        (unsigned)promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B || (unsigned)fill > 1 ||
        (fill && !tensor_is_float((TensorType)type)))
        return CUDA_ERROR_INVALID_VALUE;
    if (interleave) return CUDA_ERROR_NOT_SUPPORTED;
    TensorMap made = {.mark = TENSOR_MAP_MARK,
                      .type = (uint8_t)type,
                      .rank = (uint8_t)rank,
                      .swizzle = (uint8_t)(swizzle ? 4 + swizzle : 0),
                      .fills_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                      .address = first};
    for (cuuint32_t i = 0; i < rank; i++)
        if (!fill_dimension(&made, &wanted, i)) return CUDA_ERROR_INVALID_VALUE;
    if (!tensor_map_is_valid(&made)) return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    TensorMap made;
    if (!map || (uintptr_t)map % TENSOR_MAP_ALIGNMENT || (uintptr_t)address % ADDRESS_ALIGNMENT)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&made, map, sizeof made);
    if (!tensor_map_is_valid(&made)) return CUDA_ERROR_INVALID_VALUE;
    made.address = (uint64_t)(uintptr_t)address;
    memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
}
