/* cuBLAS: handles, settings, copies between the host's memory and the device's. */
#include "library/blas.h"

#include <stdio.h>
#include <string.h>

/* ---- Handles ---- */

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    return blas_open(handle);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    blas_close(handle);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Versions, names of statuses ---- */

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
    (void)handle;
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
    return blas_property(type, value);
}
size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }
const char *cublasGetStatusName(cublasStatus_t status) { return blas_status_name(status); }
const char *cublasGetStatusString(cublasStatus_t status) { return blas_status_text(status); }

/* ---- Settings ---- */

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->device.stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!stream) return CUBLAS_STATUS_INVALID_VALUE;
    *stream = handle->device.stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* No function needs a workspace of the caller. */
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return bytes && !workspace ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

/* Defines a setting that is stored in the handle's `field`; values range up to `last`. */
#define SETTING(set, get, Type, field, last)                                                       \
    cublasStatus_t set(cublasHandle_t handle, Type value) {                                        \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                         \
        if ((unsigned)value > (unsigned)(last)) return CUBLAS_STATUS_INVALID_VALUE;                \
        handle->field = value;                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    cublasStatus_t get(cublasHandle_t handle, Type *value) {                                       \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                         \
        if (!value) return CUBLAS_STATUS_INVALID_VALUE;                                            \
        *value = handle->field;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointer_mode,
        CUBLAS_POINTER_MODE_DEVICE)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics_mode,
        CUBLAS_ATOMICS_ALLOWED)
SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math_mode,
        CUBLAS_TF32_TENSOR_OP_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, int, sm_count_target, INT32_MAX)

/* There is nothing to log. */
cublasStatus_t cublasLoggerConfigure(int is_on, int to_stdout, int to_stderr, const char *file) {
    (void)is_on, (void)to_stdout, (void)to_stderr, (void)file;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasLogCallback log_callback; /* per process, as the interface requires */

cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
    log_callback = callback;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *callback) {
    if (!callback) return CUBLAS_STATUS_INVALID_VALUE;
    *callback = log_callback;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Copies ---- */

/* Copies `lines` rows of `bytes` bytes from one pitch to another. */
static cublasStatus_t copy(CUmemorytype from_type, const void *from, size_t from_pitch,
                           CUmemorytype to_type, void *to, size_t to_pitch, size_t bytes,
                           size_t lines) {
    if (from_pitch == bytes && to_pitch == bytes) {
        bytes *= lines;
        from_pitch = to_pitch = bytes;
        lines = bytes != 0;
    }
    CUDA_MEMCPY2D request = {
        .srcMemoryType = from_type,
        .srcHost = from,
        .srcDevice = device_address(from),
        .srcPitch = from_pitch,
        .dstMemoryType = to_type,
        .dstHost = to,
        .dstDevice = device_address(to),
        .dstPitch = to_pitch,
        .WidthInBytes = bytes,
        .Height = lines,
    };
    if (bytes == 0 || lines == 0) return CUBLAS_STATUS_SUCCESS;
    return cuMemcpy2D(&request) == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS
                                                : CUBLAS_STATUS_MAPPING_ERROR;
}

/* A vector is a matrix with one row. */
#define COPIES(Name, from_type, to_type, INT, END)                                                 \
    cublasStatus_t cublas##Name##Vector##END(INT n, INT size, const void *x, INT incx, void *y,    \
                                             INT incy) {                                           \
        if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;      \
        return copy(from_type, x, (size_t)incx * (size_t)size, to_type, y,                         \
                    (size_t)incy * (size_t)size, (size_t)size, (size_t)n);                         \
    }                                                                                              \
    cublasStatus_t cublas##Name##Matrix##END(INT rows, INT columns, INT size, const void *a,       \
                                             INT lda, void *b, INT ldb) {                          \
        if (rows < 0 || columns < 0 || size <= 0 || lda < rows || ldb < rows || lda <= 0 ||        \
            ldb <= 0)                                                                              \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        return copy(from_type, a, (size_t)lda * (size_t)size, to_type, b,                          \
                    (size_t)ldb * (size_t)size, (size_t)rows * (size_t)size, (size_t)columns);     \
    }                                                                                              \
    cublasStatus_t cublas##Name##VectorAsync##END(INT n, INT size, const void *x, INT incx,        \
                                                  void *y, INT incy, cudaStream_t stream) {        \
        (void)stream; /* everything runs immediately */                                            \
        return cublas##Name##Vector##END(n, size, x, incx, y, incy);                               \
    }                                                                                              \
    cublasStatus_t cublas##Name##MatrixAsync##END(INT rows, INT columns, INT size, const void *a,  \
                                                  INT lda, void *b, INT ldb,                       \
                                                  cudaStream_t stream) {                           \
        (void)stream;                                                                              \
        return cublas##Name##Matrix##END(rows, columns, size, a, lda, b, ldb);                     \
    }
COPIES(Set, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, int, )
COPIES(Set, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, int64_t, _64)
COPIES(Get, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, int, )
COPIES(Get, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, int64_t, _64)
