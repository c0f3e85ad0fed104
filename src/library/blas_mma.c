/* Products on tensor cores by mma.sync: which ones, by which kernel, and how its launch is shaped.
 */
#include "library/blas_tensor.h"

#include <stdio.h>

enum { LINES = BLAS_MMA_LINES };

static bool has_mma(void) {
    return tensor_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 8;
}

/* Whether there is a kernel for these types, in these layouts. */
static bool has_kernel(BlasType in, const BlasProduct *p) {
    switch (in) {
    case BLAS_F16:
    case BLAS_BF16: return true;
    case BLAS_F32: return p->allows_tf32;
    case BLAS_S8: return p->a.column == 1 && p->b.row == 1; /* ldmatrix transposes only halves */
    default: return false;
    }
}

/* How a product is divided. */
typedef struct Shape {
    uint32_t grid[3];     /* tiles in the direction of lines and along them, matrices */
    uint32_t width;       /* elements of a line of a tile */
    uint32_t stage_bytes; /* of a tile's operands in shared memory */
    int32_t stages;       /* in shared memory */
} Shape;

static int64_t in_turn(const uint32_t grid[3], int sms) {
    return tensor_tiles((int64_t)grid[0] * grid[1] * grid[2], sms);
}

/* As many stages as shared memory has room for. */
static int32_t stages_of(const Shape *s) {
    const int room = tensor_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    const int stages = room / (int)s->stage_bytes;
    return stages < BLAS_MMA_MOST_STAGES ? stages : BLAS_MMA_MOST_STAGES;
}

/* Wide tiles copy less, narrow ones leave fewer SMs without a tile at the end. The time of a tile
 * is taken to be proportional to its copies: ours. */
static Shape shape_of(int32_t lines, int32_t along, int count) {
    const int sms = tensor_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    Shape best = {0};
    int64_t least = INT64_MAX;
    for (uint32_t width = 128; width >= 64; width /= 2) {
        Shape shape = {.grid = {(uint32_t)tensor_tiles(lines, LINES),
                                (uint32_t)tensor_tiles(along, width), (uint32_t)count},
                       .width = width,
                       .stage_bytes = (LINES + width) * BLAS_MMA_ROW_BYTES};
        const int64_t time = in_turn(shape.grid, sms) * shape.stage_bytes;
        if (time >= least) continue;
        shape.stages = stages_of(&shape);
        best = shape;
        least = time;
    }
    return best;
}

static CUresult find_kernel(cublasHandle_t handle, BlasType in, const char *name,
                            CUfunction *function) {
    static const char *const kernels[BLAS_NO_TYPE] = {[BLAS_F16] = mma_f16_kernels,
                                                      [BLAS_BF16] = mma_bf16_kernels,
                                                      [BLAS_F32] = mma_f32_kernels,
                                                      [BLAS_S8] = mma_s8_kernels};
    CUmodule *module = &handle->mma[in];
    const CUresult result = *module ? CUDA_SUCCESS : cuModuleLoadData(module, kernels[in]);
    return result == CUDA_SUCCESS ? cuModuleGetFunction(function, *module, name) : result;
}

static CUresult launch(cublasHandle_t handle, CUfunction function, const Shape *s,
                       BlasMma *parameters) {
    const uint32_t shared = (uint32_t)s->stages * s->stage_bytes;
    const CUresult result =
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
    if (result != CUDA_SUCCESS) return result;
    return cuLaunchKernel(function, s->grid[0], s->grid[1], s->grid[2], BLAS_MMA_THREADS, 1, 1,
                          shared, handle->device.stream, (void *[]){parameters}, NULL);
}

bool blas_mma_multiply(cublasHandle_t handle, BlasType in, BlasType out, const BlasProduct *p,
                       int count, cublasStatus_t *status) {
    const TensorMatrix a = tensor_matrix_of(in, &p->a, p->m, p->k, count);
    const TensorMatrix b = tensor_matrix_of(in, &p->b, p->k, p->n, count);
    const TensorMatrix d = tensor_matrix_of(out, &p->d, p->m, p->n, count);
    if (!has_kernel(in, p) || !tensor_is_aligned(&a, TENSOR_ALIGNMENT, true) ||
        !tensor_is_aligned(&b, TENSOR_ALIGNMENT, true) || !has_mma())
        return false;
    const bool is_by_row = p->d.row != 1, is_plain = !p->alpha_vector && !p->bias && !p->activation;
    const int32_t lines = is_by_row ? p->m : p->n, along = is_by_row ? p->n : p->m;
    const Shape shape = shape_of(lines, along, count);
    enum { MOST_IN_Y = 65535 }; /* CUDA programming guide, technical specifications */
    if (shape.stages < BLAS_MMA_LEAST_STAGES || shape.grid[1] > MOST_IN_Y) return false;
    BlasMma parameters = {.product = *p,
                          .is_by_row = is_by_row,
                          .out_is_f32 = out == BLAS_F32,
                          .stores_pairs =
                              is_plain && tensor_is_aligned(&d, 2 * blas_type_bytes[out], true),
                          .stages = shape.stages};
    const char of_a = p->a.column == 1 ? 'd' : 'o', of_b = p->b.row == 1 ? 'd' : 'o';
    char name[64];
    snprintf(name, sizeof name, "mma_%s_%c%c_%u", blas_type_names[in], is_by_row ? of_a : of_b,
             is_by_row ? of_b : of_a, shape.width);
    CUfunction function;
    CUresult result = find_kernel(handle, in, name, &function);
    if (result == CUDA_SUCCESS) result = launch(handle, function, &shape, &parameters);
    *status = blas_status(result);
    return true;
}
