/* cuBLAS without handles: each function passes its arguments on, with the handle of the process.
 * Its status is stored for cublasGetError. */
#include "tyto/cublas_old.h"

#include "library/blas.h"

/* Per process, as the interface requires. */
static struct {
    cublasHandle_t handle; /* NULL before cublasInit and after cublasShutdown */
    cublasStatus_t error;  /* the last error that was not queried */
} old;

static cublasStatus_t keep(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) old.error = status;
    return status;
}

/* ---- The library ---- */

cublasStatus cublasInit(void) {
    return keep(old.handle ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&old.handle));
}

cublasStatus cublasShutdown(void) {
    const cublasStatus_t status = keep(cublasDestroy_v2(old.handle));
    old.handle = NULL;
    return status;
}

cublasStatus cublasGetError(void) {
    const cublasStatus_t error = old.error;
    old.error = CUBLAS_STATUS_SUCCESS;
    return error;
}

cublasStatus cublasGetVersion(int *version) {
    return keep(cublasGetVersion_v2(old.handle, version));
}

cublasStatus cublasSetKernelStream(cudaStream_t stream) {
    return keep(cublasSetStream_v2(old.handle, stream));
}

cublasStatus cublasAlloc(int n, int element_bytes, void **pointer) {
    if (!old.handle) return keep(CUBLAS_STATUS_NOT_INITIALIZED);
    if (n <= 0 || element_bytes <= 0 || !pointer) return keep(CUBLAS_STATUS_INVALID_VALUE);
    CUdeviceptr address = 0;
    const CUresult result = cuMemAlloc(&address, (size_t)n * (size_t)element_bytes);
    *pointer = (void *)(uintptr_t)address;
    return keep(result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED);
}

cublasStatus cublasFree(void *pointer) {
    if (!old.handle) return keep(CUBLAS_STATUS_NOT_INITIALIZED);
    if (!pointer || cuMemFree(device_address(pointer)) == CUDA_SUCCESS)
        return CUBLAS_STATUS_SUCCESS;
    return keep(CUBLAS_STATUS_INTERNAL_ERROR);
}

/* ---- Letters ---- */

/* The index of a letter, in upper or lower case, among `letters`. Any other letter gives the index
 * after the last, which the function rejects. */
static unsigned place_of(char letter, const char *letters) {
    unsigned place = 0;
    const char large = letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
    while (letters[place] && letters[place] != large)
        place++;
    return letters[place] ? place : 99;
}

_Static_assert(CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1 && CUBLAS_OP_C == 2, "as letters");
_Static_assert(CUBLAS_FILL_MODE_LOWER == 0 && CUBLAS_FILL_MODE_UPPER == 1, "as letters");
_Static_assert(CUBLAS_DIAG_NON_UNIT == 0 && CUBLAS_DIAG_UNIT == 1, "as letters");
_Static_assert(CUBLAS_SIDE_LEFT == 0 && CUBLAS_SIDE_RIGHT == 1, "as letters");
#define OP(letter)   (cublasOperation_t) place_of(letter, "NTC")
#define FILL(letter) (cublasFillMode_t) place_of(letter, "LU")
#define DIAG(letter) (cublasDiagType_t) place_of(letter, "NU")
#define SIDE(letter) (cublasSideMode_t) place_of(letter, "LR")

/* ---- The functions ---- */

#define ROW(name, parameters, ...)                                                                 \
    void cublas##name parameters { keep(cublas##name##_v2(old.handle, __VA_ARGS__)); }
#define GET(Type, name, parameters, ...)                                                           \
    Type cublas##name parameters {                                                                 \
        Type result = {0};                                                                         \
        keep(cublas##name##_v2(old.handle, __VA_ARGS__, &result));                                 \
        return result;                                                                             \
    }
TYTO_CUBLAS_OLD_ROWS(ROW, GET)
