/* cuSPARSE: handles, settings, statuses, and the descriptors of the older interface. */
#include "library/sparse.h"

#include <stdlib.h>

#include "base/arena.h"

/* ---- Handles, settings ---- */

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
    if (!handle) return CUSPARSE_STATUS_INVALID_VALUE;
    cusparseHandle_t made = base_calloc(1, sizeof *made);
    *handle = made;
    if (device_open(&made->device, sparse_kernels)) return CUSPARSE_STATUS_SUCCESS;
    free(made);
    *handle = NULL;
    return CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    if (!handle) return CUSPARSE_STATUS_SUCCESS;
    device_close(&handle->device);
    free(handle);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version) {
    if (!handle || !version) return CUSPARSE_STATUS_INVALID_VALUE;
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value) {
    static const int parts[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL) return CUSPARSE_STATUS_INVALID_VALUE;
    *value = parts[type];
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    if (!handle) return CUSPARSE_STATUS_INVALID_VALUE;
    handle->device.stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *stream) {
    if (!handle || !stream) return CUSPARSE_STATUS_INVALID_VALUE;
    *stream = handle->device.stream;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
    if (!handle || (unsigned)mode > CUSPARSE_POINTER_MODE_DEVICE)
        return CUSPARSE_STATUS_INVALID_VALUE;
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode) {
    if (!handle || !mode) return CUSPARSE_STATUS_INVALID_VALUE;
    *mode = handle->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- Names of statuses ---- */

static const struct {
    const char *name, *text;
} statuses[] = {
#define ROW(status, text) [status] = {#status, text}
    ROW(CUSPARSE_STATUS_SUCCESS, "success"),
    ROW(CUSPARSE_STATUS_NOT_INITIALIZED, "there is no device"),
    ROW(CUSPARSE_STATUS_ALLOC_FAILED, "out of device memory"),
    ROW(CUSPARSE_STATUS_INVALID_VALUE, "an argument cannot be used"),
    ROW(CUSPARSE_STATUS_ARCH_MISMATCH, "the device lacks what the function needs"),
    ROW(CUSPARSE_STATUS_MAPPING_ERROR, "device memory cannot be accessed"),
    ROW(CUSPARSE_STATUS_EXECUTION_FAILED, "a kernel failed"),
    ROW(CUSPARSE_STATUS_INTERNAL_ERROR, "an internal error"),
    ROW(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "the type of the matrix is not supported"),
    ROW(CUSPARSE_STATUS_ZERO_PIVOT, "a pivot is 0"),
    ROW(CUSPARSE_STATUS_NOT_SUPPORTED, "not supported"),
    ROW(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, "the device has too few resources"),
#undef ROW
};
enum { STATUS_COUNT = sizeof statuses / sizeof statuses[0] };

const char *cusparseGetErrorName(cusparseStatus_t status) {
    return (unsigned)status < STATUS_COUNT ? statuses[status].name : "unknown status";
}

const char *cusparseGetErrorString(cusparseStatus_t status) {
    return (unsigned)status < STATUS_COUNT ? statuses[status].text : "unknown status";
}

/* ---- Logging ---- */

cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback) {
    (void)callback;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerSetFile(FILE *file) {
    (void)file;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerOpenFile(const char *name) {
    (void)name;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerSetLevel(int level) {
    enum { MOST = 5 };
    return level < 0 || level > MOST ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerSetMask(int mask) {
    (void)mask;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseLoggerForceDisable(void) { return CUSPARSE_STATUS_SUCCESS; }

/* ---- Descriptors of the older interface ---- */

struct cusparseMatDescr {
    cusparseMatrixType_t type;
    cusparseFillMode_t fill_mode;
    cusparseDiagType_t diag_type;
    cusparseIndexBase_t base;
};

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descr) {
    if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
    *descr = base_calloc(1, sizeof **descr);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr) {
    free(descr);
    return CUSPARSE_STATUS_SUCCESS;
}

/* Defines functions that set and get the field of a descriptor; values range up to `last`. */
#define FIELD(Name, Type, field, last)                                                             \
    cusparseStatus_t cusparseSet##Name(cusparseMatDescr_t descr, Type value) {                     \
        if (!descr || (unsigned)value > (unsigned)(last)) return CUSPARSE_STATUS_INVALID_VALUE;    \
        descr->field = value;                                                                      \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    Type cusparseGet##Name(const cusparseMatDescr_t descr) {                                       \
        return descr ? descr->field : (Type)0;                                                     \
    }
FIELD(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
FIELD(MatFillMode, cusparseFillMode_t, fill_mode, CUSPARSE_FILL_MODE_UPPER)
FIELD(MatDiagType, cusparseDiagType_t, diag_type, CUSPARSE_DIAG_TYPE_UNIT)
FIELD(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)
