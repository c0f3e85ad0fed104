/* cuGetProcAddress: finds functions by name and CUDA version. */
#include "driver/driver.h"

#include <string.h>

#include "driver/api.h"

/* Names that mean different functions before and since CUDA 13. */
static const struct {
    const char *name;
    const char *since_13;
} renewed[] = {
    {"cuCtxCreate", "cuCtxCreate_v4"},
    {"cuGraphInstantiate", "cuGraphInstantiateWithFlags"},
    {"cuGraphExecUpdate", "cuGraphExecUpdate_v2"},
    {"cuGraphAddKernelNode", "cuGraphAddKernelNode_v2"},
    {"cuGraphAddNode", "cuGraphAddNode_v2"},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2"},
    {"cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync_v2"},
    {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetParams_v2"},
    {"cuGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams_v2"},
    {"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2"},
    {"cuGraphGetEdges", "cuGraphGetEdges_v2"},
    {"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies_v2"},
    {"cuGraphNodeGetDependentNodes", "cuGraphNodeGetDependentNodes_v2"},
    {"cuGraphAddDependencies", "cuGraphAddDependencies_v2"},
    {"cuGraphRemoveDependencies", "cuGraphRemoveDependencies_v2"},
    {"cuStreamBeginCapture", "cuStreamBeginCapture_v2"},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3"},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies_v2"},
};

enum { FIRST_VERSION = 2000 }; /* CUDA 2.0: no function has an earlier form with the same name */

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int cuda_version,
                                  cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
    (void)flags; /* streams run in order, so the per-thread forms are the same functions */
    if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
    const char *name = symbol;
    for (size_t i = 0; i < sizeof renewed / sizeof renewed[0]; i++) {
        if (cuda_version >= 13000 && strcmp(symbol, renewed[i].name) == 0)
            name = renewed[i].since_13;
    }
    ApiFunction *found = api_find(name);
    const bool is_too_new = found && cuda_version < FIRST_VERSION;
    if (is_too_new) found = NULL;
    memcpy(function, &found, sizeof found); /* ISO C has no cast between the two pointers */
    if (status)
        *status = found        ? CU_GET_PROC_ADDRESS_SUCCESS
                  : is_too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                               : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The first form, without the status. */
#undef cuGetProcAddress
__attribute__((visibility("default"))) CUresult CUDAAPI cuGetProcAddress(const char *symbol,
                                                                         void **function,
                                                                         int cuda_version,
                                                                         cuuint64_t flags);
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int cuda_version,
                                  cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, cuda_version, flags, NULL);
}
