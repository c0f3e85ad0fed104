/* Products on tensor cores: which ones, and for those by wgmma by which kernel, and how its launch
 * is shaped. */
#include "library/blas_tensor.h"

#include <stdio.h>
#include <string.h>

enum {
    BOX_LINES = 64,  /* of a copy */
    BOX_BYTES = 128, /* of each line */
    LINES = BLAS_TENSOR_LINES,
    MANY = 7 /* tiles in a direction, from which on clusters of two are worth an unused tile at the
                end. Our choice */
};

TensorMatrix tensor_matrix_of(BlasType type, const BlasOperand *o, int32_t rows, int32_t columns,
                              int count) {
    const bool by_row = o->column == 1;
    return (TensorMatrix){.type = type,
                          .items = o->items,
                          .inner = by_row ? columns : rows,
                          .outer = by_row ? rows : columns,
                          .lead = by_row        ? o->row
                                  : o->row == 1 ? o->column
                                                : 0,
                          .batch = o->batch,
                          .count = count};
}

bool tensor_is_aligned(const TensorMatrix *m, uint32_t bytes, bool can_share) {
    const uint64_t size = blas_type_bytes[m->type];
    return m->lead > 0 && m->items % bytes == 0 && (uint64_t)m->lead * size % bytes == 0 &&
           (m->count == 1 ||
            ((uint64_t)m->batch * size % bytes == 0 && (can_share || m->batch > 0)));
}

/* Whether a tensor map can describe the matrices. */
static bool has_map(const TensorMatrix *m) { return tensor_is_aligned(m, TENSOR_ALIGNMENT, false); }

static bool encode(BlasTensorMap *to, const TensorMatrix *m) {
    static const CUtensorMapDataType types[] = {[BLAS_F32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                                [BLAS_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                                [BLAS_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                                [BLAS_E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                                [BLAS_E5M2] = CU_TENSOR_MAP_DATA_TYPE_UINT8};
    CUtensorMap map;
    const uint32_t size = blas_type_bytes[m->type];
    const uint64_t sizes[] = {(uint64_t)m->inner, (uint64_t)m->outer, (uint64_t)m->count};
    const uint64_t strides[] = {(uint64_t)m->lead * size,
                                m->count == 1 ? TENSOR_ALIGNMENT : (uint64_t)m->batch * size};
    const uint32_t box[] = {BOX_BYTES / size, BOX_LINES, 1}, steps[] = {1, 1, 1};
    if (cuTensorMapEncodeTiled(&map, types[m->type], 3, (void *)(uintptr_t)m->items, sizes, strides,
                               box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return false;
    _Static_assert(sizeof map == sizeof *to, "a map has this size in the API");
    memcpy(to, &map, sizeof map);
    return true;
}

int tensor_attribute(CUdevice_attribute which) {
    CUdevice device = 0;
    int value = 0;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
    return cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

/* Machine code and PTX of sm_90a run on this compute capability alone. */
bool blas_has_wgmma(void) {
    return tensor_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9 &&
           tensor_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 0 &&
           tensor_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) >=
               BLAS_TENSOR_SHARED;
}

bool tensor_fits(cublasHandle_t handle, const BlasProduct *p) {
    const int32_t longer = p->m > p->n ? p->m : p->n, shorter = p->m > p->n ? p->n : p->m;
    return blas_math_mode(handle) != CUBLAS_PEDANTIC_MATH && !p->is_pedantic && !p->is_list &&
           p->part == BLAS_WHOLE && p->k >= TENSOR_LEAST && longer >= TENSOR_LEAST &&
           shorter >= TENSOR_LEAST_SIDE && (p->d.row == 1 || p->d.column == 1);
}

/* The tiles of a product, and how a cluster has them. */
typedef struct Shape {
    int64_t rows, columns; /* of tiles, in the direction of lines and along them */
    int count;             /* matrices in the batch */
    uint32_t width, high, wide;
} Shape;

static int64_t groups_of(const Shape *s) {
    return tensor_tiles(s->rows, s->high) * tensor_tiles(s->columns, s->wide) * s->count;
}

static uint32_t in_cluster(int64_t count) { return count % 2 == 0 || count >= MANY ? 2 : 1; }

/* Wide tiles read less; narrow ones leave fewer SMs without a tile at the end. */
static Shape shape_of(int32_t lines, int32_t along, int count, int sms) {
    Shape best = {0};
    int64_t least = INT64_MAX;
    for (uint32_t width = 256; width >= 128; width /= 2) {
        const int64_t rows = tensor_tiles(lines, LINES), columns = tensor_tiles(along, width);
        const Shape shape = {rows, columns, count, width, in_cluster(rows), in_cluster(columns)};
        const int64_t time = tensor_tiles(groups_of(&shape) * shape.high * shape.wide, sms) * width;
        if (time < least) best = shape, least = time;
    }
    return best;
}

/* The kernels are loaded when they are first needed. */
static CUresult find_kernel(cublasHandle_t handle, const char *name, bool is_fp8,
                            CUfunction *function) {
    CUmodule *module = is_fp8 ? &handle->tensor_fp8 : &handle->tensor;
    CUresult result = CUDA_SUCCESS;
    if (!*module) result = cuModuleLoadData(module, is_fp8 ? tensor_fp8_kernels : tensor_kernels);
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(function, *module, name);
    if (result != CUDA_SUCCESS) return result;
    return cuFuncSetAttribute(*function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              BLAS_TENSOR_SHARED);
}

/* Sets `room` to the number of clusters that run at once. If a GPC has no room for one, the shape
 * gets smaller clusters. */
static CUresult find_room(CUfunction function, CUlaunchConfig *config, Shape *shape, int sms,
                          int *room) {
    for (*room = 0; !*room;) {
        const uint32_t size = shape->high * shape->wide;
        config->gridDimX = config->attrs->value.clusterDim.x = size;
        *room = sms;
        if (size == 1) break;
        CUresult result = cuOccupancyMaxActiveClusters(room, function, config);
        if (result != CUDA_SUCCESS) return result;
        if (!*room) *(shape->wide > 1 ? &shape->wide : &shape->high) = 1;
    }
    return CUDA_SUCCESS;
}

static CUresult launch(cublasHandle_t handle, const char *name, bool is_fp8, Shape *shape, int sms,
                       BlasTensor *parameters) {
    CUfunction function;
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {1, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = BLAS_TENSOR_THREADS,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = BLAS_TENSOR_SHARED,
                             .hStream = handle->device.stream,
                             .attrs = &cluster,
                             .numAttrs = 1};
    int room = 0;
    CUresult result = find_kernel(handle, name, is_fp8, &function);
    if (result == CUDA_SUCCESS) result = find_room(function, &config, shape, sms, &room);
    if (result != CUDA_SUCCESS) return result;
    const int64_t clusters = groups_of(shape);
    parameters->cluster_high = shape->high;
    parameters->cluster_wide = shape->wide;
    config.gridDimX *= (uint32_t)(clusters < room ? clusters : room);
    return cuLaunchKernelEx(&config, function, (void *[]){parameters}, NULL);
}

/* Launches a product of types `a_type` and `b_type` with result `out`; `types` is their part of the
 * kernel's name. `parameters` has the product, and what only its types need. Returns false if its
 * copies do not support it. */
static bool run(cublasHandle_t handle, BlasType a_type, BlasType b_type, BlasType out,
                const char *types, BlasTensor *parameters, int count, cublasStatus_t *status) {
    const BlasProduct *p = &parameters->product;
    const TensorMatrix a = tensor_matrix_of(a_type, &p->a, p->m, p->k, count);
    const TensorMatrix b = tensor_matrix_of(b_type, &p->b, p->k, p->n, count);
    const TensorMatrix d = tensor_matrix_of(out, &p->d, p->m, p->n, count);
    if (!has_map(&a) || !has_map(&b) || !blas_has_wgmma()) return false;
    const int sms = tensor_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    const bool is_by_row = p->d.row != 1;
    Shape shape = shape_of(is_by_row ? p->m : p->n, is_by_row ? p->n : p->m, count, sms);
    parameters->is_by_row = is_by_row;
    parameters->has_d_map &= !p->alpha_vector && !p->bias && !p->activation && has_map(&d);
    parameters->batches = (uint32_t)count;
    if (!encode(&parameters->maps[0], is_by_row ? &a : &b) ||
        !encode(&parameters->maps[1], is_by_row ? &b : &a) ||
        (parameters->has_d_map && !encode(&parameters->maps[2], &d)))
        return false;
    const char of_a = p->a.column == 1 ? 'd' : 'o', of_b = p->b.row == 1 ? 'd' : 'o';
    char name[64];
    snprintf(name, sizeof name, "wgmma_%s_%c%c_%u", types, is_by_row ? of_a : of_b,
             is_by_row ? of_b : of_a, shape.width);
    *status = blas_status(launch(handle, name, blas_is_fp8(a_type), &shape, sms, parameters));
    return true;
}

static bool wgmma_multiply(cublasHandle_t handle, BlasType in, BlasType out, const BlasProduct *p,
                           int count, cublasStatus_t *status) {
    if (in != BLAS_F16 && in != BLAS_BF16) return false;
    BlasTensor parameters = {.product = *p, .out_is_f32 = out == BLAS_F32, .has_d_map = true};
    return run(handle, in, in, out, blas_type_names[in], &parameters, count, status);
}

/* wgmma transposes only halves, so operands must be stored by depth. */
cublasStatus_t blas_fp8_multiply(cublasHandle_t handle, BlasType a, BlasType b,
                                 const BlasProduct *p, const BlasScales *scales, int count) {
    const bool is_by_row = p->d.row != 1;
    BlasTensor parameters = {.product = *p,
                             .has_d_map = !scales->rows && !scales->columns &&
                                          !blas_is_fp8((BlasType)scales->out),
                             .scales = *scales};
    char types[32];
    cublasStatus_t status;
    if (p->a.column != 1 || p->b.row != 1 || (p->d.row != 1 && p->d.column != 1))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (p->m == 0 || p->n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
    snprintf(types, sizeof types, "%s_%s", blas_type_names[is_by_row ? a : b],
             blas_type_names[is_by_row ? b : a]);
    return run(handle, a, b, (BlasType)scales->out, types, &parameters, count, &status)
               ? status
               : CUBLAS_STATUS_NOT_SUPPORTED;
}

bool blas_tensor_multiply(cublasHandle_t handle, BlasType in, BlasType out, const BlasProduct *p,
                          int count, cublasStatus_t *status) {
    return tensor_fits(handle, p) && (wgmma_multiply(handle, in, out, p, count, status) ||
                                      blas_mma_multiply(handle, in, out, p, count, status));
}
