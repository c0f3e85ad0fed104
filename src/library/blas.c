/* Number types, scalars, launches. */
#include "library/blas.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const char *const blas_type_names[] = {"f32", "f64", "f16", "bf16", "s8",
                                       "s32", "c32", "c64", "e4m3", "e5m2"};
const uint32_t blas_type_bytes[] = {4, 8, 2, 2, 1, 4, 8, 16, 1, 1};

BlasType blas_type_of(cudaDataType type) {
    switch (type) {
    case CUDA_R_32F: return BLAS_F32;
    case CUDA_R_64F: return BLAS_F64;
    case CUDA_R_16F: return BLAS_F16;
    case CUDA_R_16BF: return BLAS_BF16;
    case CUDA_R_8I: return BLAS_S8;
    case CUDA_R_32I: return BLAS_S32;
    case CUDA_C_32F: return BLAS_C32;
    case CUDA_C_64F: return BLAS_C64;
    case CUDA_R_8F_E4M3: return BLAS_E4M3;
    case CUDA_R_8F_E5M2: return BLAS_E5M2;
    default: return BLAS_NO_TYPE;
    }
}

cublasStatus_t blas_status(CUresult result) {
    if (result == CUDA_SUCCESS) return CUBLAS_STATUS_SUCCESS;
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CUBLAS_STATUS_ALLOC_FAILED
                                              : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t blas_launch(cublasHandle_t handle, const char *kernel, const char *type, int64_t x,
                           int64_t y, int64_t z, void *parameters) {
    enum { MOST_IN_Y = 65535 }; /* kernels loop if blocks are too few */
    const uint32_t grid[3] = {(uint32_t)x, (uint32_t)(y < MOST_IN_Y ? y : MOST_IN_Y), (uint32_t)z};
    return blas_status(device_launch(&handle->device, kernel, type, grid, 256, parameters));
}

/* ---- Handles ---- */

cublasStatus_t blas_open(cublasHandle_t *handle) {
    cublasHandle_t made = base_calloc(1, sizeof *made);
    const bool is_open = device_open(&made->device, blas_kernels);
    if (!is_open) free(made);
    *handle = is_open ? made : NULL;
    return is_open ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

void blas_close(cublasHandle_t handle) {
    device_close(&handle->device);
    if (handle->tensor) cuModuleUnload(handle->tensor);
    if (handle->tensor_fp8) cuModuleUnload(handle->tensor_fp8);
    for (int type = 0; type < BLAS_NO_TYPE; type++)
        if (handle->mma[type]) cuModuleUnload(handle->mma[type]);
    free(handle);
}

/* ---- Versions, statuses ---- */

cublasStatus_t blas_property(libraryPropertyType type, int *value) {
    static const int parts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
    *value = parts[type];
    return CUBLAS_STATUS_SUCCESS;
}

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} statuses[] = {
#define ROW(status, text) {status, #status, text}
    ROW(CUBLAS_STATUS_SUCCESS, "success"),
    ROW(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is none, or there is no device"),
    ROW(CUBLAS_STATUS_ALLOC_FAILED, "out of device memory"),
    ROW(CUBLAS_STATUS_INVALID_VALUE, "an argument cannot be used"),
    ROW(CUBLAS_STATUS_ARCH_MISMATCH, "the device lacks what the function needs"),
    ROW(CUBLAS_STATUS_MAPPING_ERROR, "device memory cannot be accessed"),
    ROW(CUBLAS_STATUS_EXECUTION_FAILED, "a kernel failed"),
    ROW(CUBLAS_STATUS_INTERNAL_ERROR, "an internal error"),
    ROW(CUBLAS_STATUS_NOT_SUPPORTED, "not supported"),
    ROW(CUBLAS_STATUS_LICENSE_ERROR, "a licence is missing"),
#undef ROW
};

const char *blas_status_name(cublasStatus_t status) {
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == status) return statuses[i].name;
    return "unknown status";
}

const char *blas_status_text(cublasStatus_t status) {
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == status) return statuses[i].text;
    return "unknown status";
}

/* ---- Scalars ---- */

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double magnitude = bits & 1023;
    if (exponent == 31) magnitude = magnitude != 0 ? __builtin_nan("") : __builtin_inf();
    else if (exponent == 0) magnitude = __builtin_ldexp(magnitude, -24);
    else magnitude = __builtin_ldexp(magnitude + 1024, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double value_of(const void *pointer, BlasType type) {
    float single;
    double value = 0;
    int32_t integer;
    uint32_t bits = 0;
    switch (type) {
    case BLAS_F32: memcpy(&single, pointer, sizeof single); return (double)single;
    case BLAS_F64: memcpy(&value, pointer, sizeof value); return value;
    case BLAS_F16: memcpy(&bits, pointer, 2); return half_value((uint16_t)bits);
    case BLAS_BF16:
        memcpy((char *)&bits + 2, pointer, 2);
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    case BLAS_S32: memcpy(&integer, pointer, sizeof integer); return integer;
    default: return 0;
    }
}

/* A number in host memory. */
static BlasScalar host_scalar(const void *pointer, BlasType type) {
    struct float2 single;
    struct double2 value;
    switch (type) {
    case BLAS_C32:
        memcpy(&single, pointer, sizeof single);
        return (BlasScalar){.value = (double)single.x, .imaginary = (double)single.y};
    case BLAS_C64:
        memcpy(&value, pointer, sizeof value);
        return (BlasScalar){.value = value.x, .imaginary = value.y};
    default: return (BlasScalar){.value = value_of(pointer, type)};
    }
}

BlasScalar blas_scalar(cublasHandle_t handle, const void *pointer, BlasType given, BlasType used) {
    char copy[sizeof(struct double2)] = {0};
    if (!pointer) return blas_zero();
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) return host_scalar(pointer, given);
    if (given == used) return (BlasScalar){.pointer = device_address(pointer)};
    cuMemcpyDtoH(copy, device_address(pointer), blas_type_bytes[given]);
    return host_scalar(copy, given);
}

BlasVector blas_vector(const void *items, int64_t n, int64_t increment) {
    return (BlasVector){.items = device_address(items),
                        .start = increment < 0 ? (1 - n) * increment : 0,
                        .step = increment};
}

/* ---- Products ---- */

/* The kernels that exist. */
static const struct {
    BlasType in, out, sum;
    const char *types;
} products[] = {
    {BLAS_F32, BLAS_F32, BLAS_F32, "f32_f32"},     {BLAS_F64, BLAS_F64, BLAS_F64, "f64_f64"},
    {BLAS_F16, BLAS_F16, BLAS_F32, "f16_f16"},     {BLAS_F16, BLAS_F32, BLAS_F32, "f16_f32"},
    {BLAS_BF16, BLAS_BF16, BLAS_F32, "bf16_bf16"}, {BLAS_BF16, BLAS_F32, BLAS_F32, "bf16_f32"},
    {BLAS_S8, BLAS_S32, BLAS_S32, "s8_s32"},       {BLAS_S8, BLAS_F32, BLAS_F32, "s8_f32"},
    {BLAS_C32, BLAS_C32, BLAS_C32, "c32_c32"},     {BLAS_C64, BLAS_C64, BLAS_C64, "c64_c64"},
};
enum { PRODUCT_COUNT = sizeof products / sizeof products[0] };

BlasType blas_product_type(BlasType in, BlasType out) {
    for (int i = 0; i < PRODUCT_COUNT; i++)
        if (products[i].in == in && products[i].out == out) return products[i].sum;
    return BLAS_NO_TYPE;
}

/* Multiplies matrices of a batch that one launch has room for. */
static cublasStatus_t multiply_some(cublasHandle_t handle, BlasType in, BlasType out,
                                    const BlasProduct *product, int count) {
    enum { TILE = 64 };
    BlasProduct copy = *product;
    cublasStatus_t status;
    if (blas_tensor_multiply(handle, in, out, product, count, &status)) return status;
    for (int i = 0; i < PRODUCT_COUNT; i++)
        if (products[i].in == in && products[i].out == out)
            return blas_launch(handle, "gemm", products[i].types, (product->m + TILE - 1) / TILE,
                               (product->n + TILE - 1) / TILE, count, &copy);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

static void skip_operand(BlasOperand *operand, BlasType type, bool is_list, int64_t count) {
    const int64_t each =
        is_list ? (int64_t)sizeof(uint64_t) : operand->batch * blas_type_bytes[type];
    if (operand->items) operand->items += (uint64_t)(count * each);
}

/* Advances a product by `count` matrices of its batch; a multiple of 32, because ReLU keeps a bit
 * of each input in words. */
static void skip_matrices(BlasProduct *p, BlasType in, BlasType out, int64_t count) {
    const int64_t bias_bytes = blas_type_bytes[p->bias_is_f32 ? BLAS_F32 : out];
    const int64_t inputs = count * p->aux_batch;
    const bool has_bits =
        p->activation == BLAS_ACTIVATION_RELU || p->activation == BLAS_ACTIVATION_DRELU;
    skip_operand(&p->a, in, p->is_list, count);
    skip_operand(&p->b, in, p->is_list, count);
    skip_operand(&p->c, out, p->is_list, count);
    skip_operand(&p->d, out, p->is_list, count);
    if (p->bias) p->bias += (uint64_t)(count * p->bias_batch * bias_bytes);
    if (p->aux) p->aux += (uint64_t)(has_bits ? inputs / 8 : inputs * blas_type_bytes[out]);
}

cublasStatus_t blas_multiply(cublasHandle_t handle, BlasType in, BlasType out,
                             const BlasProduct *product, int count) {
    enum { MOST_IN_Z = 65504 }; /* multiple of 32 up to the 65,535 blocks of a grid in z */
    BlasProduct rest = *product;
    if (product->m == 0 || product->n == 0) return CUBLAS_STATUS_SUCCESS;
    for (; count > 0; count -= MOST_IN_Z) {
        const int some = count < MOST_IN_Z ? count : MOST_IN_Z;
        const cublasStatus_t status = multiply_some(handle, in, out, &rest, some);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
        skip_matrices(&rest, in, out, some);
    }
    return CUBLAS_STATUS_SUCCESS;
}
