/* The functions that libcudart exports. The exports, the test and docs/runtime-api.md are derived
 * from these rows. */
#ifndef TYTO_CUDART_API_H
#define TYTO_CUDART_API_H

/* clang-format off */

/* ROW(symbol): implemented, declared in tyto/cuda_runtime_api.h. */
#define CUDART_FUNCTIONS(ROW)                                                                    \
    ROW(cudaGetLastError) ROW(cudaPeekAtLastError) ROW(cudaGetErrorName) ROW(cudaGetErrorString) \
    ROW(cudaDriverGetVersion) ROW(cudaRuntimeGetVersion) ROW(cudaGetDriverEntryPoint)            \
    ROW(cudaGetDriverEntryPointByVersion) ROW(cudaProfilerStart) ROW(cudaProfilerStop)           \
    ROW(cudaGetDeviceCount) ROW(cudaGetDevice) ROW(cudaSetDevice) ROW(cudaInitDevice)            \
    ROW(cudaSetValidDevices) ROW(cudaSetDeviceFlags) ROW(cudaGetDeviceFlags)                     \
    ROW(cudaGetDeviceProperties) ROW(cudaDeviceGetAttribute) ROW(cudaDeviceGetP2PAttribute)      \
    ROW(cudaChooseDevice) ROW(cudaDeviceReset) ROW(cudaDeviceSynchronize)                        \
    ROW(cudaDeviceSetLimit) ROW(cudaDeviceGetLimit) ROW(cudaDeviceSetCacheConfig)                \
    ROW(cudaDeviceGetCacheConfig) ROW(cudaDeviceSetSharedMemConfig)                              \
    ROW(cudaDeviceGetSharedMemConfig) ROW(cudaDeviceGetStreamPriorityRange)                      \
    ROW(cudaDeviceGetPCIBusId) ROW(cudaDeviceGetByPCIBusId)                                      \
    ROW(cudaDeviceGetTexture1DLinearMaxWidth) ROW(cudaDeviceCanAccessPeer)                       \
    ROW(cudaDeviceEnablePeerAccess) ROW(cudaDeviceDisablePeerAccess)                             \
    ROW(cudaCtxResetPersistingL2Cache) ROW(cudaLaunchKernel) ROW(cudaLaunchCooperativeKernel)    \
    ROW(cudaLaunchKernelExC) ROW(cudaLaunchHostFunc) ROW(cudaFuncGetAttributes)                  \
    ROW(cudaFuncSetAttribute) ROW(cudaFuncSetCacheConfig) ROW(cudaFuncSetSharedMemConfig)        \
    ROW(cudaFuncGetName) ROW(cudaFuncGetParamInfo) ROW(cudaGetFuncBySymbol) ROW(cudaGetKernel)   \
    ROW(cudaKernelSetAttributeForDevice) ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessor)      \
    ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)                                  \
    ROW(cudaOccupancyAvailableDynamicSMemPerBlock) ROW(cudaOccupancyMaxActiveClusters)           \
    ROW(cudaOccupancyMaxPotentialClusterSize) ROW(cudaMalloc) ROW(cudaMallocPitch)          \
    ROW(cudaMalloc3D) ROW(cudaMallocManaged) ROW(cudaFree) ROW(cudaMallocHost)                   \
    ROW(cudaHostAlloc) ROW(cudaFreeHost) ROW(cudaHostGetDevicePointer) ROW(cudaHostGetFlags)     \
    ROW(cudaHostRegister) ROW(cudaHostUnregister) ROW(cudaMemGetInfo) ROW(cudaMemAdvise)         \
    ROW(cudaMemPrefetchAsync) ROW(cudaPointerGetAttributes) ROW(cudaStreamAttachMemAsync)        \
    ROW(cudaMallocAsync) ROW(cudaFreeAsync) ROW(cudaMallocFromPoolAsync)                         \
    ROW(cudaDeviceGetDefaultMemPool) ROW(cudaDeviceGetMemPool) ROW(cudaDeviceSetMemPool)         \
    ROW(cudaMemPoolCreate) ROW(cudaMemPoolDestroy) ROW(cudaMemPoolTrimTo)                        \
    ROW(cudaMemPoolSetAccess) ROW(cudaMemPoolGetAccess) ROW(cudaMemPoolSetAttribute)             \
    ROW(cudaMemPoolGetAttribute) ROW(cudaMemcpy) ROW(cudaMemcpyAsync) ROW(cudaMemcpyPeer)        \
    ROW(cudaMemcpyPeerAsync) ROW(cudaMemcpy2D) ROW(cudaMemcpy2DAsync) ROW(cudaMemcpy3D)          \
    ROW(cudaMemcpy3DAsync) ROW(cudaMemcpy2DToArray) ROW(cudaMemcpy2DToArrayAsync)                \
    ROW(cudaMemcpy2DFromArray) ROW(cudaMemcpy2DFromArrayAsync) ROW(cudaMemcpy2DArrayToArray)     \
    ROW(cudaMemcpyToArray) ROW(cudaMemcpyToArrayAsync) ROW(cudaMemcpyFromArray)                  \
    ROW(cudaMemcpyFromArrayAsync) ROW(cudaMemcpyArrayToArray) ROW(cudaGetSymbolAddress)          \
    ROW(cudaGetSymbolSize) ROW(cudaMemcpyToSymbol) ROW(cudaMemcpyToSymbolAsync)                  \
    ROW(cudaMemcpyFromSymbol) ROW(cudaMemcpyFromSymbolAsync) ROW(cudaMemset)                     \
    ROW(cudaMemsetAsync) ROW(cudaMemset2D) ROW(cudaMemset2DAsync) ROW(cudaMemset3D)              \
    ROW(cudaMemset3DAsync) ROW(cudaCreateChannelDesc) ROW(cudaGetChannelDesc)                    \
    ROW(cudaMallocArray) ROW(cudaMalloc3DArray) ROW(cudaFreeArray) ROW(cudaArrayGetInfo)         \
    ROW(cudaCreateTextureObject) ROW(cudaDestroyTextureObject)                                   \
    ROW(cudaGetTextureObjectResourceDesc) ROW(cudaGetTextureObjectTextureDesc)                   \
    ROW(cudaGetTextureObjectResourceViewDesc) ROW(cudaMallocMipmappedArray)                      \
    ROW(cudaGetMipmappedArrayLevel) ROW(cudaFreeMipmappedArray) ROW(cudaCreateSurfaceObject)     \
    ROW(cudaDestroySurfaceObject) ROW(cudaGetSurfaceObjectResourceDesc)                          \
    ROW(cudaBindTexture) ROW(cudaBindTexture2D) ROW(cudaBindTextureToArray)                      \
    ROW(cudaBindTextureToMipmappedArray) ROW(cudaUnbindTexture) ROW(cudaGetTextureReference)     \
    ROW(cudaGetTextureAlignmentOffset) ROW(cudaBindSurfaceToArray) ROW(cudaGetSurfaceReference)  \
    ROW(__cudaRegisterTexture) ROW(__cudaRegisterSurface)                                        \
    ROW(cudaStreamCreate) ROW(cudaStreamCreateWithFlags) ROW(cudaStreamCreateWithPriority)       \
    ROW(cudaStreamDestroy) ROW(cudaStreamQuery) ROW(cudaStreamSynchronize)                       \
    ROW(cudaStreamWaitEvent) ROW(cudaStreamAddCallback) ROW(cudaStreamGetPriority)               \
    ROW(cudaStreamGetFlags) ROW(cudaStreamGetId) ROW(cudaStreamGetDevice)                        \
    ROW(cudaStreamIsCapturing) ROW(cudaEventCreate) ROW(cudaEventCreateWithFlags)                \
    ROW(cudaEventDestroy) ROW(cudaEventRecord) ROW(cudaEventRecordWithFlags) ROW(cudaEventQuery) \
    ROW(cudaEventSynchronize) ROW(cudaEventElapsedTime) ROW(__cudaRegisterFatBinary)             \
    ROW(__cudaRegisterFatBinaryEnd) ROW(__cudaUnregisterFatBinary) ROW(__cudaInitModule)         \
    ROW(__cudaRegisterFunction) ROW(__cudaRegisterVar) ROW(__cudaRegisterManagedVar)             \
    ROW(__cudaRegisterManagedSection) ROW(__cudaRegisterLinkedBinary)                            \
    ROW(__cudaPushCallConfiguration) ROW(__cudaPopCallConfiguration) ROW(__cudaGetKernel)        \
    ROW(__cudaLaunchKernel) ROW(cudaGraphCreate) ROW(cudaGraphDestroy) ROW(cudaGraphClone)       \
    ROW(cudaGraphNodeFindInClone) ROW(cudaGraphDestroyNode) ROW(cudaGraphNodeGetType)            \
    ROW(cudaGraphGetNodes) ROW(cudaGraphGetRootNodes) ROW(cudaGraphGetEdges)                     \
    ROW(cudaGraphNodeGetDependencies) ROW(cudaGraphNodeGetDependentNodes)                        \
    ROW(cudaGraphAddDependencies) ROW(cudaGraphRemoveDependencies) ROW(cudaGraphAddKernelNode)   \
    ROW(cudaGraphAddMemcpyNode) ROW(cudaGraphAddMemsetNode) ROW(cudaGraphAddHostNode)            \
    ROW(cudaGraphAddMemcpyNode1D) ROW(cudaGraphAddMemcpyNodeToSymbol)                            \
    ROW(cudaGraphAddMemcpyNodeFromSymbol) ROW(cudaGraphAddChildGraphNode)                        \
    ROW(cudaGraphAddEmptyNode) ROW(cudaGraphAddEventRecordNode) ROW(cudaGraphAddEventWaitNode)   \
    ROW(cudaGraphKernelNodeGetParams) ROW(cudaGraphKernelNodeSetParams)                          \
    ROW(cudaGraphMemcpyNodeGetParams) ROW(cudaGraphMemcpyNodeSetParams)                          \
    ROW(cudaGraphMemsetNodeGetParams) ROW(cudaGraphMemsetNodeSetParams)                          \
    ROW(cudaGraphHostNodeGetParams) ROW(cudaGraphHostNodeSetParams)                              \
    ROW(cudaGraphMemcpyNodeSetParams1D) ROW(cudaGraphMemcpyNodeSetParamsToSymbol)                \
    ROW(cudaGraphMemcpyNodeSetParamsFromSymbol) ROW(cudaGraphChildGraphNodeGetGraph)             \
    ROW(cudaGraphEventRecordNodeGetEvent) ROW(cudaGraphEventRecordNodeSetEvent)                  \
    ROW(cudaGraphEventWaitNodeGetEvent) ROW(cudaGraphEventWaitNodeSetEvent)                      \
    ROW(cudaGraphInstantiate) ROW(cudaGraphInstantiateWithFlags) ROW(cudaGraphExecDestroy)       \
    ROW(cudaGraphExecGetFlags) ROW(cudaGraphUpload) ROW(cudaGraphLaunch)                         \
    ROW(cudaGraphExecUpdate) ROW(cudaGraphExecKernelNodeSetParams)                               \
    ROW(cudaGraphExecMemcpyNodeSetParams) ROW(cudaGraphExecMemsetNodeSetParams)                  \
    ROW(cudaGraphExecHostNodeSetParams) ROW(cudaGraphExecMemcpyNodeSetParams1D)                  \
    ROW(cudaGraphExecMemcpyNodeSetParamsToSymbol)                                                \
    ROW(cudaGraphExecMemcpyNodeSetParamsFromSymbol) ROW(cudaGraphExecChildGraphNodeSetParams)    \
    ROW(cudaGraphExecEventRecordNodeSetEvent) ROW(cudaGraphExecEventWaitNodeSetEvent)            \
    ROW(cudaGraphNodeSetEnabled) ROW(cudaGraphNodeGetEnabled) ROW(cudaStreamBeginCapture)        \
    ROW(cudaStreamEndCapture) ROW(cudaStreamGetCaptureInfo)                                      \
    ROW(cudaStreamUpdateCaptureDependencies) ROW(cudaThreadExchangeStreamCaptureMode)            \
    ROW(cudaGraphAddNode) ROW(cudaGraphNodeSetParams) ROW(cudaGraphAddMemAllocNode)              \
    ROW(cudaGraphMemAllocNodeGetParams) ROW(cudaGraphAddMemFreeNode)                             \
    ROW(cudaGraphMemFreeNodeGetParams) ROW(cudaDeviceGraphMemTrim)                               \
    ROW(cudaDeviceGetGraphMemAttribute) ROW(cudaDeviceSetGraphMemAttribute)                      \
    ROW(cudaGraphConditionalHandleCreate) ROW(cudaGraphKernelNodeGetAttribute)                   \
    ROW(cudaGraphKernelNodeSetAttribute) ROW(cudaGraphKernelNodeCopyAttributes)                  \
    ROW(cudaGraphDebugDotPrint) ROW(cudaUserObjectCreate) ROW(cudaUserObjectRetain)              \
    ROW(cudaUserObjectRelease) ROW(cudaGraphRetainUserObject) ROW(cudaGraphReleaseUserObject)    \
    ROW(cudaGraphInstantiateWithParams) ROW(cudaGraphExecNodeSetParams)                          \
    ROW(cudaStreamBeginCaptureToGraph) ROW(cudaStreamGetAttribute) ROW(cudaStreamSetAttribute)   \
    ROW(cudaStreamCopyAttributes) ROW(cudaLibraryLoadData) ROW(cudaLibraryLoadFromFile)          \
    ROW(cudaLibraryUnload) ROW(cudaLibraryGetKernel) ROW(cudaLibraryGetGlobal)                   \
    ROW(cudaLibraryGetManaged) ROW(cudaLibraryGetKernelCount) ROW(cudaLibraryEnumerateKernels)   \
    ROW(cudaMemcpyBatchAsync) ROW(cudaMemcpy3DBatchAsync) ROW(cudaMemPrefetchBatchAsync)         \
    ROW(cudaMemDiscardBatchAsync) ROW(cudaMemDiscardAndPrefetchBatchAsync)                       \
    ROW(cudaIpcGetMemHandle) ROW(cudaIpcOpenMemHandle) \
    ROW(cudaIpcCloseMemHandle) ROW(cudaIpcGetEventHandle) \
    ROW(cudaIpcOpenEventHandle) ROW(cudaMemRangeGetAttribute) \
    ROW(cudaMemRangeGetAttributes) ROW(cudaLibraryGetUnifiedFunction) \
    ROW(cudaMemcpy3DPeer) ROW(cudaMemcpy3DPeerAsync) \
    ROW(cudaMemPoolExportToShareableHandle) ROW(cudaMemPoolImportFromShareableHandle) \
    ROW(cudaMemPoolExportPointer) ROW(cudaMemPoolImportPointer) \
    ROW(cudaMemGetDefaultMemPool) ROW(cudaMemGetMemPool) \
    ROW(cudaMemSetMemPool) ROW(cudaArrayGetMemoryRequirements) \
    ROW(cudaMipmappedArrayGetMemoryRequirements)

/* ROW(alias, symbol): the form of a function for a default stream per thread. It is the same
 * function, because streams run in order. */
#define CUDART_ALIASES(ROW)                                                                      \
    ROW(__cudaLaunchKernel_ptsz, __cudaLaunchKernel) \
    ROW(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags) \
    ROW(cudaEventRecord_ptsz, cudaEventRecord) \
    ROW(cudaFreeAsync_ptsz, cudaFreeAsync) \
    ROW(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion) \
    ROW(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint) \
    ROW(cudaGraphLaunch_ptsz, cudaGraphLaunch) \
    ROW(cudaGraphUpload_ptsz, cudaGraphUpload) \
    ROW(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture) \
    ROW(cudaStreamEndCapture_ptsz, cudaStreamEndCapture) \
    ROW(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo) \
    ROW(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies) \
    ROW(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel) \
    ROW(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc) \
    ROW(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC) \
    ROW(cudaLaunchKernel_ptsz, cudaLaunchKernel) \
    ROW(cudaMallocAsync_ptsz, cudaMallocAsync) \
    ROW(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync) \
    ROW(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync) \
    ROW(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray) \
    ROW(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync) \
    ROW(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync) \
    ROW(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray) \
    ROW(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync) \
    ROW(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray) \
    ROW(cudaMemcpy2D_ptds, cudaMemcpy2D) \
    ROW(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync) \
    ROW(cudaMemcpy3D_ptds, cudaMemcpy3D) \
    ROW(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray) \
    ROW(cudaMemcpyAsync_ptsz, cudaMemcpyAsync) \
    ROW(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync) \
    ROW(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray) \
    ROW(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync) \
    ROW(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol) \
    ROW(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync) \
    ROW(cudaMemcpyToArray_ptds, cudaMemcpyToArray) \
    ROW(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync) \
    ROW(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol) \
    ROW(cudaMemcpy_ptds, cudaMemcpy) \
    ROW(cudaMemset2DAsync_ptsz, cudaMemset2DAsync) \
    ROW(cudaMemset2D_ptds, cudaMemset2D) \
    ROW(cudaMemset3DAsync_ptsz, cudaMemset3DAsync) \
    ROW(cudaMemset3D_ptds, cudaMemset3D) \
    ROW(cudaMemsetAsync_ptsz, cudaMemsetAsync) \
    ROW(cudaMemset_ptds, cudaMemset) \
    ROW(cudaStreamAddCallback_ptsz, cudaStreamAddCallback) \
    ROW(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync) \
    ROW(cudaStreamGetDevice_ptsz, cudaStreamGetDevice) \
    ROW(cudaStreamGetFlags_ptsz, cudaStreamGetFlags) \
    ROW(cudaStreamGetId_ptsz, cudaStreamGetId) \
    ROW(cudaStreamGetPriority_ptsz, cudaStreamGetPriority) \
    ROW(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing) \
    ROW(cudaStreamQuery_ptsz, cudaStreamQuery) \
    ROW(cudaStreamSynchronize_ptsz, cudaStreamSynchronize) \
    ROW(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent) \
    ROW(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams) \
    ROW(cudaStreamBeginCaptureToGraph_ptsz, cudaStreamBeginCaptureToGraph) \
    ROW(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute) \
    ROW(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute) \
    ROW(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes) \
    ROW(cudaMemcpyBatchAsync_ptsz, cudaMemcpyBatchAsync) \
    ROW(cudaMemcpy3DBatchAsync_ptsz, cudaMemcpy3DBatchAsync) \
    ROW(cudaMemPrefetchBatchAsync_ptsz, cudaMemPrefetchBatchAsync) \
    ROW(cudaMemDiscardBatchAsync_ptsz, cudaMemDiscardBatchAsync) \
    ROW(cudaMemDiscardAndPrefetchBatchAsync_ptsz, cudaMemDiscardAndPrefetchBatchAsync) \
    ROW(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync) \
    ROW(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer)

/* ROW(cause, text): why a function is missing. */
#define CUDART_CAUSES(ROW) \
    ROW(GRAPHICS, "there is no graphics API on this device") \
    ROW(EXTERNAL, "memory and semaphores of other APIs cannot be imported") \
    ROW(SPARSE, "arrays have all their memory and one plane") \
    ROW(LOGS, "errors are reported on stderr at once") \
    ROW(DMA, "no other device reaches the memory") \
    ROW(ATOMICS, "which atomic operations a link can do is not modelled") \
    ROW(TABLE, "the tables of private functions are the vendor's") \
    ROW(ASYNC, "there is nothing to notify of") \
    ROW(COMPILER, "no compiler that is known calls it") \
    ROW(MULTIPLE, "there is one device")

/* ROW(symbol, cause): exported so that programs load, but not supported. */
#define CUDART_MISSING(ROW) \
    ROW(cudaEGLStreamConsumerAcquireFrame, GRAPHICS) \
    ROW(cudaEGLStreamConsumerConnect, GRAPHICS) \
    ROW(cudaEGLStreamConsumerConnectWithFlags, GRAPHICS) \
    ROW(cudaEGLStreamConsumerDisconnect, GRAPHICS) \
    ROW(cudaEGLStreamConsumerReleaseFrame, GRAPHICS) \
    ROW(cudaEGLStreamProducerConnect, GRAPHICS) \
    ROW(cudaEGLStreamProducerDisconnect, GRAPHICS) \
    ROW(cudaEGLStreamProducerPresentFrame, GRAPHICS) \
    ROW(cudaEGLStreamProducerReturnFrame, GRAPHICS) \
    ROW(cudaEventCreateFromEGLSync, GRAPHICS) \
    ROW(cudaGLGetDevices, GRAPHICS) \
    ROW(cudaGLMapBufferObject, GRAPHICS) \
    ROW(cudaGLMapBufferObjectAsync, GRAPHICS) \
    ROW(cudaGLRegisterBufferObject, GRAPHICS) \
    ROW(cudaGLSetBufferObjectMapFlags, GRAPHICS) \
    ROW(cudaGLSetGLDevice, GRAPHICS) \
    ROW(cudaGLUnmapBufferObject, GRAPHICS) \
    ROW(cudaGLUnmapBufferObjectAsync, GRAPHICS) \
    ROW(cudaGLUnregisterBufferObject, GRAPHICS) \
    ROW(cudaGraphicsEGLRegisterImage, GRAPHICS) \
    ROW(cudaGraphicsGLRegisterBuffer, GRAPHICS) \
    ROW(cudaGraphicsGLRegisterImage, GRAPHICS) \
    ROW(cudaGraphicsMapResources, GRAPHICS) \
    ROW(cudaGraphicsResourceGetMappedEglFrame, GRAPHICS) \
    ROW(cudaGraphicsResourceGetMappedMipmappedArray, GRAPHICS) \
    ROW(cudaGraphicsResourceGetMappedPointer, GRAPHICS) \
    ROW(cudaGraphicsResourceSetMapFlags, GRAPHICS) \
    ROW(cudaGraphicsSubResourceGetMappedArray, GRAPHICS) \
    ROW(cudaGraphicsUnmapResources, GRAPHICS) \
    ROW(cudaGraphicsUnregisterResource, GRAPHICS) \
    ROW(cudaGraphicsVDPAURegisterOutputSurface, GRAPHICS) \
    ROW(cudaGraphicsVDPAURegisterVideoSurface, GRAPHICS) \
    ROW(cudaVDPAUGetDevice, GRAPHICS) \
    ROW(cudaVDPAUSetVDPAUDevice, GRAPHICS) \
    ROW(cudaDestroyExternalMemory, EXTERNAL) \
    ROW(cudaDestroyExternalSemaphore, EXTERNAL) \
    ROW(cudaDeviceGetNvSciSyncAttributes, EXTERNAL) \
    ROW(cudaExternalMemoryGetMappedBuffer, EXTERNAL) \
    ROW(cudaExternalMemoryGetMappedMipmappedArray, EXTERNAL) \
    ROW(cudaGraphAddExternalSemaphoresSignalNode, EXTERNAL) \
    ROW(cudaGraphAddExternalSemaphoresWaitNode, EXTERNAL) \
    ROW(cudaGraphExecExternalSemaphoresSignalNodeSetParams, EXTERNAL) \
    ROW(cudaGraphExecExternalSemaphoresWaitNodeSetParams, EXTERNAL) \
    ROW(cudaGraphExternalSemaphoresSignalNodeGetParams, EXTERNAL) \
    ROW(cudaGraphExternalSemaphoresSignalNodeSetParams, EXTERNAL) \
    ROW(cudaGraphExternalSemaphoresWaitNodeGetParams, EXTERNAL) \
    ROW(cudaGraphExternalSemaphoresWaitNodeSetParams, EXTERNAL) \
    ROW(cudaImportExternalMemory, EXTERNAL) \
    ROW(cudaImportExternalSemaphore, EXTERNAL) \
    ROW(cudaSignalExternalSemaphoresAsync, EXTERNAL) \
    ROW(cudaSignalExternalSemaphoresAsync_ptsz, EXTERNAL) \
    ROW(cudaWaitExternalSemaphoresAsync, EXTERNAL) \
    ROW(cudaWaitExternalSemaphoresAsync_ptsz, EXTERNAL) \
    ROW(cudaArrayGetPlane, SPARSE) \
    ROW(cudaArrayGetSparseProperties, SPARSE) \
    ROW(cudaMipmappedArrayGetSparseProperties, SPARSE) \
    ROW(cudaLogsCurrent, LOGS) \
    ROW(cudaLogsDumpToFile, LOGS) \
    ROW(cudaLogsDumpToMemory, LOGS) \
    ROW(cudaLogsRegisterCallback, LOGS) \
    ROW(cudaLogsUnregisterCallback, LOGS) \
    ROW(cudaDeviceFlushGPUDirectRDMAWrites, DMA) \
    ROW(cudaDeviceGetHostAtomicCapabilities, ATOMICS) \
    ROW(cudaDeviceGetP2PAtomicCapabilities, ATOMICS) \
    ROW(cudaGetExportTable, TABLE) \
    ROW(cudaDeviceRegisterAsyncNotification, ASYNC) \
    ROW(cudaDeviceUnregisterAsyncNotification, ASYNC) \
    ROW(__cudaGetProcAddress, COMPILER) \
    ROW(__cudaRegisterHostVar, COMPILER) \
    ROW(__cudaRegisterUnifiedTable, COMPILER)

/* ROW(symbol, cause): the same, for programs built by CUDA 11 and 12. */
#define CUDART_OLD_MISSING(ROW) \
    ROW(cudaLaunchCooperativeKernelMultiDevice, MULTIPLE)

/* clang-format on */

#endif
