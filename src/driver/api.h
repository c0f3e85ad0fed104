/* The functions that the library exports and cuGetProcAddress finds. The exports, the look-up and
 * docs/driver-api.md are derived from these rows.
 *
 * Names are the library's symbols: the current form of cuMemAlloc is cuMemAlloc_v2. Forms of a name
 * to which CUDA 13 gave another signature (cuCtxGetDevice_v2 takes a context) are not exported:
 * programs that try NAME_v2 before NAME (Numba) would call them with the old arguments. */
#ifndef TYTO_DRIVER_API_H
#define TYTO_DRIVER_API_H

#include "base/export.h"

/* clang-format off */

/* ROW(symbol): implemented, declared in tyto/cuda.h. */
#define API_FUNCTIONS(ROW) \
    ROW(cuInit) ROW(cuDriverGetVersion) ROW(cuGetErrorName) ROW(cuGetErrorString)                \
    ROW(cuGetProcAddress_v2) ROW(cuGetExportTable) ROW(cuProfilerStart) ROW(cuProfilerStop)      \
    ROW(cuDeviceGet)                                                                             \
    ROW(cuDeviceGetCount) ROW(cuDeviceGetName) ROW(cuDeviceGetUuid_v2) ROW(cuDeviceTotalMem_v2)  \
    ROW(cuDeviceGetAttribute) ROW(cuDeviceGetProperties) ROW(cuDeviceComputeCapability)          \
    ROW(cuDeviceGetPCIBusId) ROW(cuDeviceGetByPCIBusId) ROW(cuDeviceCanAccessPeer)               \
    ROW(cuDeviceGetP2PAttribute) ROW(cuDeviceGetTexture1DLinearMaxWidth)                         \
    ROW(cuDevicePrimaryCtxRetain) ROW(cuDevicePrimaryCtxRelease_v2)                              \
    ROW(cuDevicePrimaryCtxReset_v2) ROW(cuDevicePrimaryCtxSetFlags_v2)                           \
    ROW(cuDevicePrimaryCtxGetState) ROW(cuCtxCreate_v2) ROW(cuCtxCreate_v4) ROW(cuCtxDestroy_v2) \
    ROW(cuCtxPushCurrent_v2) ROW(cuCtxPopCurrent_v2) ROW(cuCtxSetCurrent) ROW(cuCtxGetCurrent)   \
    ROW(cuCtxGetDevice) ROW(cuCtxGetFlags) ROW(cuCtxSetFlags) ROW(cuCtxGetId)                    \
    ROW(cuCtxGetApiVersion) ROW(cuCtxSynchronize) ROW(cuCtxSetLimit) ROW(cuCtxGetLimit)          \
    ROW(cuCtxGetCacheConfig) ROW(cuCtxSetCacheConfig) ROW(cuCtxGetSharedMemConfig)               \
    ROW(cuCtxSetSharedMemConfig) ROW(cuCtxGetStreamPriorityRange)                                \
    ROW(cuTensorMapEncodeTiled) ROW(cuTensorMapEncodeIm2col) ROW(cuTensorMapReplaceAddress)      \
    ROW(cuCtxResetPersistingL2Cache) ROW(cuCtxEnablePeerAccess) ROW(cuCtxDisablePeerAccess)      \
    ROW(cuModuleLoad) ROW(cuModuleLoadData) ROW(cuModuleLoadDataEx) ROW(cuModuleLoadFatBinary)   \
    ROW(cuModuleUnload) ROW(cuModuleGetFunction) ROW(cuModuleGetFunctionCount)                   \
    ROW(cuModuleEnumerateFunctions) ROW(cuModuleGetGlobal_v2) ROW(cuModuleGetLoadingMode)        \
    ROW(cuLinkCreate_v2) ROW(cuLinkAddData_v2) ROW(cuLinkAddFile_v2) ROW(cuLinkComplete)         \
    ROW(cuLinkDestroy) ROW(cuFuncGetAttribute) ROW(cuFuncSetAttribute) ROW(cuFuncSetCacheConfig) \
    ROW(cuFuncSetSharedMemConfig) ROW(cuFuncGetModule) ROW(cuFuncGetName)                        \
    ROW(cuFuncGetParamInfo) ROW(cuFuncIsLoaded) ROW(cuFuncLoad) ROW(cuMemGetInfo_v2)             \
    ROW(cuMemAlloc_v2) ROW(cuMemAllocPitch_v2) ROW(cuMemFree_v2) ROW(cuMemAllocAsync)            \
    ROW(cuMemFreeAsync) ROW(cuMemGetAddressRange_v2) ROW(cuMemAllocFromPoolAsync)                \
    ROW(cuDeviceGetDefaultMemPool) ROW(cuDeviceGetMemPool) ROW(cuDeviceSetMemPool)               \
    ROW(cuMemPoolCreate) ROW(cuMemPoolDestroy) ROW(cuMemPoolTrimTo) ROW(cuMemPoolSetAttribute)   \
    ROW(cuMemPoolGetAttribute) ROW(cuMemPoolSetAccess) ROW(cuMemPoolGetAccess)                   \
    ROW(cuMemAllocHost_v2) ROW(cuMemFreeHost) ROW(cuMemHostAlloc)                                \
    ROW(cuMemHostGetDevicePointer_v2) ROW(cuMemHostGetFlags) ROW(cuMemHostRegister_v2)           \
    ROW(cuMemHostUnregister) ROW(cuMemAllocManaged) ROW(cuMemAdvise_v2)                          \
    ROW(cuMemPrefetchAsync_v2) ROW(cuPointerGetAttribute) ROW(cuPointerGetAttributes)            \
    ROW(cuPointerSetAttribute) ROW(cuMemcpy) ROW(cuMemcpyPeer) ROW(cuMemcpyHtoD_v2)              \
    ROW(cuMemcpyDtoH_v2) ROW(cuMemcpyDtoD_v2) ROW(cuMemcpyDtoA_v2) ROW(cuMemcpyAtoD_v2)          \
    ROW(cuMemcpyHtoA_v2) ROW(cuMemcpyAtoH_v2) ROW(cuMemcpyAtoA_v2) ROW(cuMemcpy2D_v2)            \
    ROW(cuMemcpy2DUnaligned_v2) ROW(cuMemcpy3D_v2) ROW(cuMemcpyAsync) ROW(cuMemcpyPeerAsync)     \
    ROW(cuMemcpyHtoDAsync_v2) ROW(cuMemcpyDtoHAsync_v2) ROW(cuMemcpyDtoDAsync_v2)                \
    ROW(cuMemcpyHtoAAsync_v2) ROW(cuMemcpyAtoHAsync_v2) ROW(cuMemcpy2DAsync_v2)                  \
    ROW(cuMemcpy3DAsync_v2) ROW(cuMemsetD8_v2) ROW(cuMemsetD16_v2) ROW(cuMemsetD32_v2)           \
    ROW(cuMemsetD2D8_v2) ROW(cuMemsetD2D16_v2) ROW(cuMemsetD2D32_v2) ROW(cuMemsetD8Async)        \
    ROW(cuMemsetD16Async) ROW(cuMemsetD32Async) ROW(cuMemsetD2D8Async) ROW(cuMemsetD2D16Async)   \
    ROW(cuMemsetD2D32Async) ROW(cuArrayCreate_v2) ROW(cuArrayGetDescriptor_v2)                   \
    ROW(cuArray3DCreate_v2) ROW(cuArray3DGetDescriptor_v2) ROW(cuArrayDestroy)                   \
    ROW(cuTexObjectCreate) ROW(cuTexObjectDestroy) ROW(cuTexObjectGetResourceDesc)               \
    ROW(cuTexObjectGetTextureDesc) ROW(cuLaunchKernel) ROW(cuLaunchKernelEx)                     \
    ROW(cuLaunchCooperativeKernel) ROW(cuLaunchHostFunc) ROW(cuStreamCreate)                     \
    ROW(cuStreamCreateWithPriority) ROW(cuStreamDestroy_v2) ROW(cuStreamQuery)                   \
    ROW(cuStreamSynchronize) ROW(cuStreamWaitEvent) ROW(cuStreamAddCallback)                     \
    ROW(cuStreamGetPriority) ROW(cuStreamGetFlags) ROW(cuStreamGetId) ROW(cuStreamGetCtx)        \
    ROW(cuStreamGetDevice) ROW(cuStreamIsCapturing) ROW(cuEventCreate) ROW(cuEventDestroy_v2)    \
    ROW(cuEventRecord) ROW(cuEventRecordWithFlags) ROW(cuEventQuery) ROW(cuEventSynchronize)     \
    ROW(cuEventElapsedTime_v2) ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor)                  \
    ROW(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)                                    \
    ROW(cuOccupancyMaxPotentialBlockSize) ROW(cuOccupancyMaxPotentialBlockSizeWithFlags)         \
    ROW(cuOccupancyAvailableDynamicSMemPerBlock) ROW(cuOccupancyMaxActiveClusters)               \
    ROW(cuOccupancyMaxPotentialClusterSize) ROW(cuGraphCreate) ROW(cuGraphDestroy)          \
    ROW(cuGraphClone) ROW(cuGraphNodeFindInClone) ROW(cuGraphDestroyNode)                        \
    ROW(cuGraphNodeGetType) ROW(cuGraphGetNodes) ROW(cuGraphGetRootNodes)                        \
    ROW(cuGraphGetEdges_v2) ROW(cuGraphNodeGetDependencies_v2)                                   \
    ROW(cuGraphNodeGetDependentNodes_v2) ROW(cuGraphAddDependencies_v2)                          \
    ROW(cuGraphRemoveDependencies_v2) ROW(cuGraphAddKernelNode_v2) ROW(cuGraphAddMemcpyNode)     \
    ROW(cuGraphAddMemsetNode) ROW(cuGraphAddHostNode) ROW(cuGraphAddChildGraphNode)              \
    ROW(cuMemPoolExportToShareableHandle) ROW(cuMemPoolImportFromShareableHandle) \
    ROW(cuMemPoolExportPointer) ROW(cuMemPoolImportPointer) \
    ROW(cuGraphAddBatchMemOpNode) ROW(cuGraphBatchMemOpNodeGetParams)                            \
    ROW(cuGraphBatchMemOpNodeSetParams) ROW(cuGraphExecBatchMemOpNodeSetParams)                  \
    ROW(cuGraphAddEmptyNode) ROW(cuGraphAddEventRecordNode) ROW(cuGraphAddEventWaitNode)         \
    ROW(cuGraphKernelNodeGetParams_v2) ROW(cuGraphKernelNodeSetParams_v2)                        \
    ROW(cuGraphMemcpyNodeGetParams) ROW(cuGraphMemcpyNodeSetParams)                              \
    ROW(cuGraphMemsetNodeGetParams) ROW(cuGraphMemsetNodeSetParams)                              \
    ROW(cuGraphHostNodeGetParams) ROW(cuGraphHostNodeSetParams)                                  \
    ROW(cuGraphChildGraphNodeGetGraph) ROW(cuGraphEventRecordNodeGetEvent)                       \
    ROW(cuGraphEventRecordNodeSetEvent) ROW(cuGraphEventWaitNodeGetEvent)                        \
    ROW(cuGraphEventWaitNodeSetEvent) ROW(cuGraphInstantiateWithFlags) ROW(cuGraphExecDestroy)   \
    ROW(cuGraphExecGetFlags) ROW(cuGraphUpload) ROW(cuGraphLaunch) ROW(cuGraphExecUpdate_v2)     \
    ROW(cuGraphExecKernelNodeSetParams_v2) ROW(cuGraphExecMemcpyNodeSetParams)                   \
    ROW(cuGraphExecMemsetNodeSetParams) ROW(cuGraphExecHostNodeSetParams)                        \
    ROW(cuGraphExecChildGraphNodeSetParams) ROW(cuGraphExecEventRecordNodeSetEvent)              \
    ROW(cuGraphExecEventWaitNodeSetEvent) ROW(cuGraphNodeSetEnabled) ROW(cuGraphNodeGetEnabled)  \
    ROW(cuStreamBeginCapture_v2) ROW(cuStreamEndCapture) ROW(cuStreamGetCaptureInfo_v3)          \
    ROW(cuStreamUpdateCaptureDependencies_v2) ROW(cuThreadExchangeStreamCaptureMode)             \
    ROW(cuGraphAddNode_v2) ROW(cuGraphNodeSetParams) ROW(cuGraphAddMemAllocNode)                 \
    ROW(cuGraphMemAllocNodeGetParams) ROW(cuGraphAddMemFreeNode)                                 \
    ROW(cuGraphMemFreeNodeGetParams) ROW(cuDeviceGraphMemTrim) ROW(cuDeviceGetGraphMemAttribute) \
    ROW(cuDeviceSetGraphMemAttribute) ROW(cuGraphConditionalHandleCreate)                        \
    ROW(cuGraphKernelNodeGetAttribute) ROW(cuGraphKernelNodeSetAttribute)                        \
    ROW(cuGraphKernelNodeCopyAttributes) ROW(cuGraphDebugDotPrint) ROW(cuUserObjectCreate)       \
    ROW(cuUserObjectRetain) ROW(cuUserObjectRelease) ROW(cuGraphRetainUserObject)                \
    ROW(cuGraphReleaseUserObject) ROW(cuGraphInstantiateWithParams)                              \
    ROW(cuGraphExecNodeSetParams) ROW(cuStreamBeginCaptureToGraph) ROW(cuStreamGetAttribute)     \
    ROW(cuStreamSetAttribute) ROW(cuStreamCopyAttributes) ROW(cuGraphInstantiate)                \
    ROW(cuGraphExecUpdate) ROW(cuGraphGetEdges) ROW(cuGraphNodeGetDependencies)                  \
    ROW(cuGraphNodeGetDependentNodes) ROW(cuGraphAddDependencies) ROW(cuGraphRemoveDependencies) \
    ROW(cuGraphAddNode) ROW(cuGraphAddKernelNode) ROW(cuGraphKernelNodeGetParams)                \
    ROW(cuGraphKernelNodeSetParams) ROW(cuGraphExecKernelNodeSetParams)                          \
    ROW(cuStreamGetCaptureInfo) ROW(cuStreamGetCaptureInfo_v2)                                   \
    ROW(cuStreamUpdateCaptureDependencies) ROW(cuLibraryLoadData) ROW(cuLibraryLoadFromFile)     \
    ROW(cuLibraryUnload) ROW(cuLibraryGetModule) ROW(cuLibraryGetKernel)                         \
    ROW(cuLibraryGetKernelCount) ROW(cuLibraryEnumerateKernels) ROW(cuLibraryGetGlobal)          \
    ROW(cuLibraryGetManaged) ROW(cuKernelGetFunction) ROW(cuKernelGetLibrary)                    \
    ROW(cuKernelGetAttribute) ROW(cuKernelSetAttribute) ROW(cuKernelSetCacheConfig)              \
    ROW(cuKernelGetName) ROW(cuKernelGetParamInfo) ROW(cuMemcpyBatchAsync)                       \
    ROW(cuMemcpy3DBatchAsync) ROW(cuMemcpyBatchAsync_v2) ROW(cuMemcpy3DBatchAsync_v2)            \
    ROW(cuMemPrefetchBatchAsync) ROW(cuMemDiscardBatchAsync)                                     \
    ROW(cuMemDiscardAndPrefetchBatchAsync) ROW(cuMemAddressReserve) ROW(cuMemAddressFree)        \
    ROW(cuMemCreate) ROW(cuMemRelease) ROW(cuMemRetainAllocationHandle)                          \
    ROW(cuMemGetAllocationGranularity) ROW(cuMemGetAllocationPropertiesFromHandle) ROW(cuMemMap) \
    ROW(cuMemUnmap) ROW(cuMemSetAccess) ROW(cuMemGetAccess) ROW(cuMemExportToShareableHandle)    \
    ROW(cuMemImportFromShareableHandle) ROW(cuMemcpy3DPeer) ROW(cuMemcpy3DPeerAsync)             \
    ROW(cuMemGetDefaultMemPool) ROW(cuMemGetMemPool) ROW(cuMemSetMemPool)                        \
    ROW(cuStreamAttachMemAsync)\
    ROW(cuTexObjectGetResourceViewDesc) ROW(cuMipmappedArrayCreate)                              \
    ROW(cuMipmappedArrayGetLevel) ROW(cuMipmappedArrayDestroy) ROW(cuSurfObjectCreate)           \
    ROW(cuSurfObjectDestroy) ROW(cuSurfObjectGetResourceDesc) ROW(cuModuleGetTexRef)             \
    ROW(cuModuleGetSurfRef) ROW(cuTexRefCreate) ROW(cuTexRefDestroy) ROW(cuTexRefSetArray)       \
    ROW(cuTexRefSetMipmappedArray) ROW(cuTexRefSetFormat) ROW(cuTexRefSetAddressMode)            \
    ROW(cuTexRefSetFilterMode) ROW(cuTexRefSetMipmapFilterMode) ROW(cuTexRefSetMipmapLevelBias)  \
    ROW(cuTexRefSetMipmapLevelClamp) ROW(cuTexRefSetMaxAnisotropy) ROW(cuTexRefSetBorderColor)   \
    ROW(cuTexRefSetFlags) ROW(cuTexRefGetArray) ROW(cuTexRefGetMipmappedArray)                   \
    ROW(cuTexRefGetAddressMode) ROW(cuTexRefGetFilterMode) ROW(cuTexRefGetFormat)                \
    ROW(cuTexRefGetMipmapFilterMode) ROW(cuTexRefGetMipmapLevelBias)                             \
    ROW(cuTexRefGetMipmapLevelClamp) ROW(cuTexRefGetMaxAnisotropy) ROW(cuTexRefGetBorderColor)   \
    ROW(cuTexRefGetFlags) ROW(cuSurfRefSetArray) ROW(cuSurfRefGetArray)                          \
    ROW(cuTexRefSetAddress_v2) ROW(cuTexRefSetAddress2D_v3) ROW(cuTexRefGetAddress_v2)           \
    ROW(cuIpcGetMemHandle) ROW(cuIpcOpenMemHandle_v2) \
    ROW(cuIpcCloseMemHandle) ROW(cuIpcGetEventHandle) \
    ROW(cuIpcOpenEventHandle) ROW(cuMemRangeGetAttribute) \
    ROW(cuMemRangeGetAttributes) ROW(cuStreamWaitValue32_v2) \
    ROW(cuStreamWaitValue64_v2) ROW(cuStreamWriteValue32_v2) \
    ROW(cuStreamWriteValue64_v2) ROW(cuStreamBatchMemOp_v2) \
    ROW(cuCtxRecordEvent) ROW(cuCtxWaitEvent) \
    ROW(cuLibraryGetUnifiedFunction) ROW(cuArrayGetMemoryRequirements) \
    ROW(cuMipmappedArrayGetMemoryRequirements) ROW(cuCtxCreate_v3) \
    ROW(cuDeviceGetExecAffinitySupport)

/* ROW(alias, symbol): other names of the same function: plain names, which once had 32-bit sizes,
 * and the forms for a default stream per thread. */
#define API_ALIASES(ROW) \
    ROW(cuArray3DCreate, cuArray3DCreate_v2) \
    ROW(cuArray3DGetDescriptor, cuArray3DGetDescriptor_v2) \
    ROW(cuArrayCreate, cuArrayCreate_v2) \
    ROW(cuArrayGetDescriptor, cuArrayGetDescriptor_v2) \
    ROW(cuCtxDestroy, cuCtxDestroy_v2) \
    ROW(cuCtxPopCurrent, cuCtxPopCurrent_v2) \
    ROW(cuCtxPushCurrent, cuCtxPushCurrent_v2) \
    ROW(cuDeviceGetUuid, cuDeviceGetUuid_v2) \
    ROW(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2) \
    ROW(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2) \
    ROW(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2) \
    ROW(cuDeviceTotalMem, cuDeviceTotalMem_v2) \
    ROW(cuEventDestroy, cuEventDestroy_v2) \
    ROW(cuEventElapsedTime, cuEventElapsedTime_v2) \
    ROW(cuLinkAddData, cuLinkAddData_v2) \
    ROW(cuLinkAddFile, cuLinkAddFile_v2) \
    ROW(cuLinkCreate, cuLinkCreate_v2) \
    ROW(cuMemAdvise, cuMemAdvise_v2) \
    ROW(cuMemAlloc, cuMemAlloc_v2) \
    ROW(cuMemAllocHost, cuMemAllocHost_v2) \
    ROW(cuMemAllocPitch, cuMemAllocPitch_v2) \
    ROW(cuMemFree, cuMemFree_v2) \
    ROW(cuMemGetAddressRange, cuMemGetAddressRange_v2) \
    ROW(cuMemGetInfo, cuMemGetInfo_v2) \
    ROW(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2) \
    ROW(cuMemHostRegister, cuMemHostRegister_v2) \
    ROW(cuMemPrefetchAsync, cuMemPrefetchAsync_v2) \
    ROW(cuMemcpy2D, cuMemcpy2D_v2) \
    ROW(cuMemcpy2DAsync, cuMemcpy2DAsync_v2) \
    ROW(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2) \
    ROW(cuMemcpy3D, cuMemcpy3D_v2) \
    ROW(cuMemcpy3DAsync, cuMemcpy3DAsync_v2) \
    ROW(cuMemcpyAtoA, cuMemcpyAtoA_v2) \
    ROW(cuMemcpyAtoD, cuMemcpyAtoD_v2) \
    ROW(cuMemcpyAtoH, cuMemcpyAtoH_v2) \
    ROW(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync_v2) \
    ROW(cuMemcpyDtoA, cuMemcpyDtoA_v2) \
    ROW(cuMemcpyDtoD, cuMemcpyDtoD_v2) \
    ROW(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2) \
    ROW(cuMemcpyDtoH, cuMemcpyDtoH_v2) \
    ROW(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2) \
    ROW(cuMemcpyHtoA, cuMemcpyHtoA_v2) \
    ROW(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync_v2) \
    ROW(cuMemcpyHtoD, cuMemcpyHtoD_v2) \
    ROW(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2) \
    ROW(cuMemsetD16, cuMemsetD16_v2) \
    ROW(cuMemsetD2D16, cuMemsetD2D16_v2) \
    ROW(cuMemsetD2D32, cuMemsetD2D32_v2) \
    ROW(cuMemsetD2D8, cuMemsetD2D8_v2) \
    ROW(cuMemsetD32, cuMemsetD32_v2) \
    ROW(cuMemsetD8, cuMemsetD8_v2) \
    ROW(cuModuleGetGlobal, cuModuleGetGlobal_v2) \
    ROW(cuStreamDestroy, cuStreamDestroy_v2) \
    ROW(cuTexRefGetAddress, cuTexRefGetAddress_v2) \
    ROW(cuTexRefSetAddress, cuTexRefSetAddress_v2) \
    ROW(cuTexRefSetAddress2D, cuTexRefSetAddress2D_v3) \
    ROW(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3) \
    ROW(cuCtxCreate, cuCtxCreate_v2) \
    ROW(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags) \
    ROW(cuEventRecord_ptsz, cuEventRecord) \
    ROW(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel) \
    ROW(cuLaunchHostFunc_ptsz, cuLaunchHostFunc) \
    ROW(cuLaunchKernelEx_ptsz, cuLaunchKernelEx) \
    ROW(cuLaunchKernel_ptsz, cuLaunchKernel) \
    ROW(cuMemAllocAsync_ptsz, cuMemAllocAsync) \
    ROW(cuMemFreeAsync_ptsz, cuMemFreeAsync) \
    ROW(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync) \
    ROW(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2) \
    ROW(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2) \
    ROW(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2) \
    ROW(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2) \
    ROW(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2) \
    ROW(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2) \
    ROW(cuMemcpyAsync_ptsz, cuMemcpyAsync) \
    ROW(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA_v2) \
    ROW(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD_v2) \
    ROW(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync_v2) \
    ROW(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH_v2) \
    ROW(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA_v2) \
    ROW(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2) \
    ROW(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2) \
    ROW(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2) \
    ROW(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2) \
    ROW(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync_v2) \
    ROW(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA_v2) \
    ROW(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2) \
    ROW(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2) \
    ROW(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync) \
    ROW(cuMemcpyPeer_ptds, cuMemcpyPeer) \
    ROW(cuMemcpy_ptds, cuMemcpy) \
    ROW(cuMemsetD16Async_ptsz, cuMemsetD16Async) \
    ROW(cuMemsetD16_v2_ptds, cuMemsetD16_v2) \
    ROW(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async) \
    ROW(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2) \
    ROW(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async) \
    ROW(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2) \
    ROW(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async) \
    ROW(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2) \
    ROW(cuMemsetD32Async_ptsz, cuMemsetD32Async) \
    ROW(cuMemsetD32_v2_ptds, cuMemsetD32_v2) \
    ROW(cuMemsetD8Async_ptsz, cuMemsetD8Async) \
    ROW(cuMemsetD8_v2_ptds, cuMemsetD8_v2) \
    ROW(cuStreamAddCallback_ptsz, cuStreamAddCallback) \
    ROW(cuStreamGetCtx_ptsz, cuStreamGetCtx) \
    ROW(cuStreamGetDevice_ptsz, cuStreamGetDevice) \
    ROW(cuStreamGetFlags_ptsz, cuStreamGetFlags) \
    ROW(cuStreamGetId_ptsz, cuStreamGetId) \
    ROW(cuStreamGetPriority_ptsz, cuStreamGetPriority) \
    ROW(cuStreamIsCapturing_ptsz, cuStreamIsCapturing) \
    ROW(cuStreamQuery_ptsz, cuStreamQuery) \
    ROW(cuStreamSynchronize_ptsz, cuStreamSynchronize) \
    ROW(cuStreamWaitEvent_ptsz, cuStreamWaitEvent) \
    ROW(cuGraphUpload_ptsz, cuGraphUpload) \
    ROW(cuGraphLaunch_ptsz, cuGraphLaunch) \
    ROW(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2) \
    ROW(cuStreamEndCapture_ptsz, cuStreamEndCapture) \
    ROW(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3) \
    ROW(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2) \
    ROW(cuGetProcAddress_v2_ptsz, cuGetProcAddress_v2) \
    ROW(cuGraphInstantiate_v2, cuGraphInstantiate) \
    ROW(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams) \
    ROW(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph) \
    ROW(cuStreamGetAttribute_ptsz, cuStreamGetAttribute) \
    ROW(cuStreamSetAttribute_ptsz, cuStreamSetAttribute) \
    ROW(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes) \
    ROW(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo) \
    ROW(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2) \
    ROW(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies) \
    ROW(cuMemcpyBatchAsync_ptsz, cuMemcpyBatchAsync) \
    ROW(cuMemcpy3DBatchAsync_ptsz, cuMemcpy3DBatchAsync) \
    ROW(cuMemcpyBatchAsync_v2_ptsz, cuMemcpyBatchAsync_v2) \
    ROW(cuMemcpy3DBatchAsync_v2_ptsz, cuMemcpy3DBatchAsync_v2) \
    ROW(cuMemPrefetchBatchAsync_ptsz, cuMemPrefetchBatchAsync) \
    ROW(cuMemDiscardBatchAsync_ptsz, cuMemDiscardBatchAsync) \
    ROW(cuMemDiscardAndPrefetchBatchAsync_ptsz, cuMemDiscardAndPrefetchBatchAsync) \
    ROW(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer) \
    ROW(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync) \
    ROW(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync) \
    ROW(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2) \
    ROW(cuStreamWaitValue32, cuStreamWaitValue32_v2) \
    ROW(cuStreamWaitValue32_ptsz, cuStreamWaitValue32_v2) \
    ROW(cuStreamWaitValue32_v2_ptsz, cuStreamWaitValue32_v2) \
    ROW(cuStreamWaitValue64, cuStreamWaitValue64_v2) \
    ROW(cuStreamWaitValue64_ptsz, cuStreamWaitValue64_v2) \
    ROW(cuStreamWaitValue64_v2_ptsz, cuStreamWaitValue64_v2) \
    ROW(cuStreamWriteValue32, cuStreamWriteValue32_v2) \
    ROW(cuStreamWriteValue32_ptsz, cuStreamWriteValue32_v2) \
    ROW(cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32_v2) \
    ROW(cuStreamWriteValue64, cuStreamWriteValue64_v2) \
    ROW(cuStreamWriteValue64_ptsz, cuStreamWriteValue64_v2) \
    ROW(cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64_v2) \
    ROW(cuStreamBatchMemOp, cuStreamBatchMemOp_v2) \
    ROW(cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp_v2) \
    ROW(cuStreamBatchMemOp_v2_ptsz, cuStreamBatchMemOp_v2)

/* ROW(cause, text): why a function is missing. */
#define API_CAUSES(ROW) \
    ROW(GRAPHICS, "there is no graphics API on this device") \
    ROW(EXTERNAL, "memory and semaphores of other APIs cannot be imported") \
    ROW(GREEN, "the device is not divided among contexts") \
    ROW(CHECKPOINT, "a process cannot be checkpointed") \
    ROW(COREDUMP, "there are no GPU core dumps; a fault is reported on stderr") \
    ROW(TENSOR_MAP, "im2col along W came with compute capability 10.0") \
    ROW(MULTICAST, "there is one device") \
    ROW(SPARSE, "arrays have all their memory and one plane") \
    ROW(LOGS, "errors are reported on stderr at once") \
    ROW(OLD_LAUNCH, "replaced by cuLaunchKernel in CUDA 4") \
    ROW(DECOMPRESS, "there is no decompression engine") \
    ROW(DMA, "no other device reaches the memory") \
    ROW(ATOMICS, "which atomic operations a link can do is not modelled") \
    ROW(ASYNC, "there is nothing to notify of") \
    ROW(OLD_FORM, "an earlier form of the function, with other arguments") \
    ROW(WINDOWS, "only Windows has it") \
    ROW(AFFINITY, "a context has the whole device")

/* ROW(symbol, cause): exported so that programs load, but not supported. */
#define API_MISSING(ROW) \
    ROW(cuGraphicsMapResources, GRAPHICS) \
    ROW(cuGraphicsMapResources_ptsz, GRAPHICS) \
    ROW(cuGraphicsResourceGetMappedMipmappedArray, GRAPHICS) \
    ROW(cuGraphicsResourceGetMappedPointer, GRAPHICS) \
    ROW(cuGraphicsResourceGetMappedPointer_v2, GRAPHICS) \
    ROW(cuGraphicsResourceSetMapFlags, GRAPHICS) \
    ROW(cuGraphicsResourceSetMapFlags_v2, GRAPHICS) \
    ROW(cuGraphicsSubResourceGetMappedArray, GRAPHICS) \
    ROW(cuGraphicsUnmapResources, GRAPHICS) \
    ROW(cuGraphicsUnmapResources_ptsz, GRAPHICS) \
    ROW(cuGraphicsUnregisterResource, GRAPHICS) \
    ROW(cuDestroyExternalMemory, EXTERNAL) \
    ROW(cuDestroyExternalSemaphore, EXTERNAL) \
    ROW(cuDeviceGetNvSciSyncAttributes, EXTERNAL) \
    ROW(cuExternalMemoryGetMappedBuffer, EXTERNAL) \
    ROW(cuExternalMemoryGetMappedMipmappedArray, EXTERNAL) \
    ROW(cuGraphAddExternalSemaphoresSignalNode, EXTERNAL) \
    ROW(cuGraphAddExternalSemaphoresWaitNode, EXTERNAL) \
    ROW(cuGraphExecExternalSemaphoresSignalNodeSetParams, EXTERNAL) \
    ROW(cuGraphExecExternalSemaphoresWaitNodeSetParams, EXTERNAL) \
    ROW(cuGraphExternalSemaphoresSignalNodeGetParams, EXTERNAL) \
    ROW(cuGraphExternalSemaphoresSignalNodeSetParams, EXTERNAL) \
    ROW(cuGraphExternalSemaphoresWaitNodeGetParams, EXTERNAL) \
    ROW(cuGraphExternalSemaphoresWaitNodeSetParams, EXTERNAL) \
    ROW(cuImportExternalMemory, EXTERNAL) \
    ROW(cuImportExternalSemaphore, EXTERNAL) \
    ROW(cuSignalExternalSemaphoresAsync, EXTERNAL) \
    ROW(cuSignalExternalSemaphoresAsync_ptsz, EXTERNAL) \
    ROW(cuWaitExternalSemaphoresAsync, EXTERNAL) \
    ROW(cuWaitExternalSemaphoresAsync_ptsz, EXTERNAL) \
    ROW(cuCtxFromGreenCtx, GREEN) \
    ROW(cuCtxGetDevResource, GREEN) \
    ROW(cuDevResourceGenerateDesc, GREEN) \
    ROW(cuDevSmResourceSplitByCount, GREEN) \
    ROW(cuDeviceGetDevResource, GREEN) \
    ROW(cuGreenCtxCreate, GREEN) \
    ROW(cuGreenCtxDestroy, GREEN) \
    ROW(cuGreenCtxGetDevResource, GREEN) \
    ROW(cuGreenCtxGetId, GREEN) \
    ROW(cuGreenCtxRecordEvent, GREEN) \
    ROW(cuGreenCtxStreamCreate, GREEN) \
    ROW(cuGreenCtxWaitEvent, GREEN) \
    ROW(cuStreamGetGreenCtx, GREEN) \
    ROW(cuCheckpointProcessCheckpoint, CHECKPOINT) \
    ROW(cuCheckpointProcessGetRestoreThreadId, CHECKPOINT) \
    ROW(cuCheckpointProcessGetState, CHECKPOINT) \
    ROW(cuCheckpointProcessLock, CHECKPOINT) \
    ROW(cuCheckpointProcessRestore, CHECKPOINT) \
    ROW(cuCheckpointProcessUnlock, CHECKPOINT) \
    ROW(cuCoredumpGetAttribute, COREDUMP) \
    ROW(cuCoredumpGetAttributeGlobal, COREDUMP) \
    ROW(cuCoredumpSetAttribute, COREDUMP) \
    ROW(cuCoredumpSetAttributeGlobal, COREDUMP) \
    ROW(cuTensorMapEncodeIm2colWide, TENSOR_MAP) \
    ROW(cuLaunchCooperativeKernelMultiDevice, MULTICAST) \
    ROW(cuMulticastAddDevice, MULTICAST) \
    ROW(cuMulticastBindAddr, MULTICAST) \
    ROW(cuMulticastBindMem, MULTICAST) \
    ROW(cuMulticastCreate, MULTICAST) \
    ROW(cuMulticastGetGranularity, MULTICAST) \
    ROW(cuMulticastUnbind, MULTICAST) \
    ROW(cuArrayGetPlane, SPARSE) \
    ROW(cuArrayGetSparseProperties, SPARSE) \
    ROW(cuMemMapArrayAsync, SPARSE) \
    ROW(cuMemMapArrayAsync_ptsz, SPARSE) \
    ROW(cuMipmappedArrayGetSparseProperties, SPARSE) \
    ROW(cuLogsCurrent, LOGS) \
    ROW(cuLogsDumpToFile, LOGS) \
    ROW(cuLogsDumpToMemory, LOGS) \
    ROW(cuLogsRegisterCallback, LOGS) \
    ROW(cuLogsUnregisterCallback, LOGS) \
    ROW(cuFuncSetBlockShape, OLD_LAUNCH) \
    ROW(cuFuncSetSharedSize, OLD_LAUNCH) \
    ROW(cuLaunch, OLD_LAUNCH) \
    ROW(cuLaunchGrid, OLD_LAUNCH) \
    ROW(cuLaunchGridAsync, OLD_LAUNCH) \
    ROW(cuParamSetSize, OLD_LAUNCH) \
    ROW(cuParamSetTexRef, OLD_LAUNCH) \
    ROW(cuParamSetf, OLD_LAUNCH) \
    ROW(cuParamSeti, OLD_LAUNCH) \
    ROW(cuParamSetv, OLD_LAUNCH) \
    ROW(cuMemBatchDecompressAsync, DECOMPRESS) \
    ROW(cuMemBatchDecompressAsync_ptsz, DECOMPRESS) \
    ROW(cuFlushGPUDirectRDMAWrites, DMA) \
    ROW(cuMemGetHandleForAddressRange, DMA) \
    ROW(cuDeviceGetHostAtomicCapabilities, ATOMICS) \
    ROW(cuDeviceGetP2PAtomicCapabilities, ATOMICS) \
    ROW(cuDeviceRegisterAsyncNotification, ASYNC) \
    ROW(cuDeviceUnregisterAsyncNotification, ASYNC) \
    ROW(cuCtxAttach, OLD_FORM) \
    ROW(cuCtxDetach, OLD_FORM) \
    ROW(cuMemPrefetchAsync_ptsz, OLD_FORM) \
    ROW(cuProfilerInitialize, OLD_FORM) \
    ROW(cuStreamBeginCapture, OLD_FORM) \
    ROW(cuStreamBeginCapture_ptsz, OLD_FORM) \
    ROW(cuDeviceGetLuid, WINDOWS) \
    ROW(cuCtxGetExecAffinity, AFFINITY)

/* clang-format on */

typedef ExportFunction ApiFunction;

/* The function exported as `name`; NULL if there is none. */
ApiFunction *api_find(const char *name);

#endif
