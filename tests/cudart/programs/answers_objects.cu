// Answers to calls that are wrong, at the edge of what is allowed, or about something that the program did
// not set: streams, captures, graphs, textures, pools, the driver's own, and all of them after a fault.
#include <cassert>

#include "answers.h"

__global__ void nothing() {}
extern __shared__ int dynamic[];

static void streams() {
    std::puts("# streams and events");
    cudaStream_t s, other;
    cudaEvent_t a, b, untimed;
    unsigned flags = 9;
    int priority = 99;
    float ms;
    ASK(cudaStreamQuery(nullptr));
    ASK(cudaStreamCreateWithFlags(&s, 7));
    ASK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 100));
    ASK(cudaStreamGetPriority(s, &priority));
    TELL(priority);
    ASK(cudaStreamGetFlags(s, &flags));
    TELL(flags);
    ASK(cudaStreamDestroy(s));
    ASK(cudaStreamCreateWithPriority(&s, cudaStreamDefault, -100));
    ASK(cudaStreamGetPriority(s, &priority));
    TELL(priority);
    ASK(cudaStreamGetPriority(nullptr, &priority));
    TELL(priority);
    ASK(cudaStreamGetFlags(nullptr, &flags));
    TELL(flags);
    ASK(cudaStreamDestroy(nullptr));
    ASK(cudaStreamDestroy(cudaStreamLegacy));
    ASK(cudaStreamSynchronize(cudaStreamPerThread));
    ASK(cudaStreamCreate(nullptr));
    ASK(cudaStreamCreate(&other));
    ASK(cudaEventCreateWithFlags(&a, 0x40));
    ASK(cudaEventCreate(&a));
    ASK(cudaEventCreate(&b));
    ASK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    ASK(cudaEventQuery(a));
    ASK(cudaEventSynchronize(a));
    ASK(cudaEventElapsedTime(&ms, a, b));
    ASK(cudaEventRecord(a, s));
    ASK(cudaEventElapsedTime(&ms, a, b));
    ASK(cudaEventRecord(untimed, s));
    ASK(cudaEventSynchronize(untimed));
    ASK(cudaEventElapsedTime(&ms, a, untimed));
    ASK(cudaEventRecord(nullptr, s));
    ASK(cudaEventRecordWithFlags(a, s, 4));
    ASK(cudaStreamWaitEvent(s, a, 4));
    ASK(cudaStreamWaitEvent(s, nullptr, 0));
    ASK(cudaStreamWaitEvent(nullptr, a, 0));
    ASK(cudaEventDestroy(nullptr));
    ASK(cudaEventQuery(nullptr));
    ASK(cudaStreamAddCallback(s, nullptr, nullptr, 0));
    cudaStreamAttrValue value = {};
    ASK(cudaStreamGetAttribute(s, cudaStreamAttributePriority, &value));
    TELL(value.priority);
    ASK(cudaStreamSetAttribute(s, (cudaStreamAttrID)55, &value));
    std::puts("# captures");
    cudaStreamCaptureStatus status;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec;
    char *p = nullptr;
    cudaMalloc(&p, 64);
    int host[4] = {};
    ASK(cudaStreamIsCapturing(nullptr, &status));
    ASK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
    ASK(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)9));
    ASK(cudaStreamEndCapture(s, &graph));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ASK(cudaStreamIsCapturing(s, &status));
    TELL(status);
    nothing<<<1, 1, 0, s>>>();
    ASK(cudaStreamSynchronize(s));
    ASK(cudaStreamIsCapturing(s, &status));
    TELL(status);
    ASK(cudaStreamEndCapture(s, &graph));
    TELL(graph == nullptr);
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ASK(cudaStreamQuery(s));
    ASK(cudaStreamEndCapture(s, &graph));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ASK(cudaEventRecord(a, s));
    ASK(cudaEventQuery(a));
    ASK(cudaStreamEndCapture(s, &graph));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    ASK(cudaMalloc(&p, 64));
    ASK(cudaStreamEndCapture(s, &graph));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    ASK(cudaMalloc(&p, 64));
    ASK(cudaMemcpyAsync(host, p, 4, cudaMemcpyDeviceToHost, s));
    ASK(cudaEventRecord(a, s));
    ASK(cudaStreamWaitEvent(other, a, 0));
    ASK(cudaStreamIsCapturing(other, &status));
    TELL(status);
    ASK(cudaStreamEndCapture(other, &graph));
    ASK(cudaStreamEndCapture(s, &graph));
    ASK(cudaStreamIsCapturing(other, &status));
    TELL(status);
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    ASK(cudaEventRecord(a, s));
    ASK(cudaStreamWaitEvent(other, a, 0));
    nothing<<<1, 1, 0, other>>>();
    ASK(cudaStreamEndCapture(s, &graph));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    ASK(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost));
    ASK(cudaDeviceSynchronize());
    ASK(cudaStreamDestroy(s));
    ASK(cudaEventElapsedTime(&ms, a, b));
    std::puts("# graphs");
    size_t count = 0;
    cudaGraphNode_t one, two, nodes[2];
    ASK(cudaGraphCreate(&graph, 1));
    ASK(cudaGraphCreate(&graph, 0));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphLaunch(exec, nullptr));
    ASK(cudaGraphLaunch(nullptr, nullptr));
    ASK(cudaGraphExecDestroy(exec));
    ASK(cudaGraphAddEmptyNode(&one, graph, nullptr, 0));
    ASK(cudaGraphAddEmptyNode(&two, graph, &one, 1));
    ASK(cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0));
    ASK(cudaGraphAddEmptyNode(&two, nullptr, nullptr, 0));
    count = 1;
    ASK(cudaGraphGetNodes(graph, nodes, &count));
    TELL(count);
    ASK(cudaGraphAddDependencies(graph, &one, &two, nullptr, 1));
    ASK(cudaGraphAddDependencies(graph, &two, &one, nullptr, 1));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphRemoveDependencies(graph, &two, &one, nullptr, 1));
    ASK(cudaGraphRemoveDependencies(graph, &two, &one, nullptr, 1));
    cudaKernelNodeParams k = {};
    ASK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &k));
    k.func = (void *)nothing;
    ASK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &k));
    k.gridDim = k.blockDim = dim3(1);
    ASK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &k));
    k.blockDim = dim3(4096);
    ASK(cudaGraphKernelNodeSetParams(one, &k));
    ASK(cudaGraphAddKernelNode(&two, graph, nullptr, 0, &k));
    ASK(cudaGraphKernelNodeGetParams(two, &k));
    ASK(cudaGraphInstantiateWithFlags(&exec, graph, 0x100));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    cudaMemsetParams fill = {};
    ASK(cudaGraphAddMemsetNode(&two, graph, nullptr, 0, &fill));
    fill.dst = p, fill.elementSize = 3, fill.width = 1, fill.height = 1;
    ASK(cudaGraphAddMemsetNode(&two, graph, nullptr, 0, &fill));
    fill.elementSize = 4;
    ASK(cudaGraphAddMemsetNode(&two, graph, nullptr, 0, &fill));
    cudaHostNodeParams call = {};
    ASK(cudaGraphAddHostNode(&two, graph, nullptr, 0, &call));
    ASK(cudaGraphDestroyNode(two));
    ASK(cudaGraphDestroy(graph));
    ASK(cudaGraphDestroy(nullptr));
    ASK(cudaDeviceSynchronize());
}

static void nodes() {
    std::puts("# nodes of graphs");
    int value[4] = {};
    cudaGraph_t graph;
    cudaGraphNode_t one, two;
    cudaGraphExec_t exec;
    cudaKernelNodeParams k = {};
    ASK(cudaGraphCreate(&graph, 0));
    ASK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &k));
    k.func = (void *)nothing;
    ASK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &k));
    k.gridDim = k.blockDim = dim3(1);
    ASK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &k));
    k.blockDim = dim3(4096);
    ASK(cudaGraphKernelNodeSetParams(one, &k));
    ASK(cudaGraphAddKernelNode(&two, graph, nullptr, 0, &k));
    k.blockDim = dim3(1), k.func = (void *)value;
    ASK(cudaGraphAddKernelNode(&two, graph, nullptr, 0, &k));
    ASK(cudaGraphInstantiateWithFlags(&exec, graph, 0x100));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    k.func = (void *)nothing, k.blockDim = dim3(4096);
    ASK(cudaGraphExecKernelNodeSetParams(exec, one, &k));
    cudaGraphExecUpdateResultInfo info = {};
    cudaGraph_t other;
    cudaGraphCreate(&other, 0);
    ASK(cudaGraphExecUpdate(exec, other, &info));
    TELL(info.result);
    ASK(cudaGraphDestroy(graph));
    ASK(cudaGraphLaunch(exec, nullptr));
    ASK(cudaGraphClone(&other, nullptr));
    cudaMemcpy3DParms box = {};
    ASK(cudaGraphAddMemcpyNode(&one, other, nullptr, 0, &box));
    ASK(cudaGraphAddMemcpyNode1D(&one, other, nullptr, 0, value, value + 2, 4, cudaMemcpyHostToHost));
    ASK(cudaGraphAddMemcpyNode1D(&one, other, nullptr, 0, value, value + 2, 4, cudaMemcpyDeviceToHost));
    ASK(cudaGraphAddMemcpyNode1D(&one, other, nullptr, 0, value, value + 2, 0, cudaMemcpyDefault));
    ASK(cudaGraphAddEventRecordNode(&one, other, nullptr, 0, nullptr));
}

static void textures() {
    std::puts("# arrays, textures, surfaces");
    cudaArray_t array = nullptr, plain = nullptr;
    cudaChannelFormatDesc f32 = cudaCreateChannelDesc<float>(), i32 = cudaCreateChannelDesc<int>(),
                          u8 = cudaCreateChannelDesc<unsigned char>(),
                          three = {32, 32, 32, 0, cudaChannelFormatKindFloat},
                          uneven = {8, 16, 0, 0, cudaChannelFormatKindUnsigned}, none = {};
    ASK(cudaMallocArray(&array, &f32, 0, 0));
    ASK(cudaMallocArray(&array, &f32, 1 << 20, 0));
    ASK(cudaMallocArray(&array, &f32, 16, 1 << 20));
    ASK(cudaMallocArray(&array, &three, 16, 0));
    ASK(cudaMallocArray(&array, &uneven, 16, 0));
    ASK(cudaMallocArray(&array, &none, 16, 0));
    ASK(cudaMallocArray(&array, &f32, 16, 16, 0x1000));
    ASK(cudaMallocArray(&plain, &f32, 16, 16));
    ASK(cudaMallocArray(&array, &f32, 16, 16, cudaArraySurfaceLoadStore));
    cudaArray_t cube = nullptr;
    ASK(cudaMalloc3DArray(&cube, &f32, make_cudaExtent(16, 16, 5), cudaArrayCubemap));
    ASK(cudaMalloc3DArray(&cube, &f32, make_cudaExtent(16, 8, 6), cudaArrayCubemap));
    ASK(cudaMalloc3DArray(&cube, &f32, make_cudaExtent(16, 0, 3), 0));
    float host[256] = {};
    ASK(cudaMemcpy2DToArray(plain, 0, 0, host, 64, 64, 16, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(plain, 4, 0, host, 64, 64, 16, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(plain, 0, 0, host, 32, 64, 16, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(plain, 0, 0, host, 64, 64, 17, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(nullptr, 0, 0, host, 64, 64, 16, cudaMemcpyHostToDevice));
    cudaChannelFormatDesc got;
    cudaExtent extent;
    unsigned flags;
    ASK(cudaArrayGetInfo(&got, &extent, &flags, plain));
    TELL(extent.width);
    TELL(extent.height);
    TELL(extent.depth);
    TELL(flags);
    ASK(cudaGetChannelDesc(&got, nullptr));
    cudaResourceDesc r = {};
    cudaTextureDesc t = {};
    cudaTextureObject_t object = 0;
    r.resType = cudaResourceTypeArray;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.array.array = plain;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    ASK(cudaDestroyTextureObject(object));
    ASK(cudaCreateTextureObject(&object, &r, nullptr, nullptr));
    ASK(cudaCreateTextureObject(&object, nullptr, &t, nullptr));
    t.readMode = cudaReadModeNormalizedFloat;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.readMode = cudaReadModeElementType, t.addressMode[0] = cudaAddressModeWrap;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.addressMode[0] = (cudaTextureAddressMode)9;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.addressMode[0] = cudaAddressModeClamp, t.filterMode = (cudaTextureFilterMode)5;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.filterMode = cudaFilterModeLinear, t.maxAnisotropy = 17;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.maxAnisotropy = 0, t.sRGB = 1;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t = {};
    cudaArray_t integers, bytes;
    cudaMallocArray(&integers, &i32, 16, 16);
    cudaMallocArray(&bytes, &u8, 16, 16);
    r.res.array.array = integers, t.filterMode = cudaFilterModeLinear;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.readMode = cudaReadModeNormalizedFloat;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.array.array = bytes;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.readMode = cudaReadModeElementType;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t = {};
    char *p;
    cudaMalloc(&p, 4096);
    r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p, r.res.linear.desc = f32, r.res.linear.sizeInBytes = 4096;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.linear.devPtr = p + 4;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.linear.devPtr = p, r.res.linear.sizeInBytes = 0;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.linear.sizeInBytes = 3;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.linear.sizeInBytes = (size_t)1 << 40;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.linear.sizeInBytes = 4096, t.filterMode = cudaFilterModeLinear;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t.filterMode = cudaFilterModePoint, t.normalizedCoords = 1;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    t = {};
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = p, r.res.pitch2D.desc = f32, r.res.pitch2D.width = 16, r.res.pitch2D.height = 16;
    r.res.pitch2D.pitchInBytes = 64;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.pitch2D.pitchInBytes = 68;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.res.pitch2D.pitchInBytes = 32;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r.resType = (cudaResourceType)77;
    ASK(cudaCreateTextureObject(&object, &r, &t, nullptr));
    r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = plain;
    cudaSurfaceObject_t surface = 0;
    ASK(cudaCreateSurfaceObject(&surface, &r));
    r.res.array.array = array;
    ASK(cudaCreateSurfaceObject(&surface, &r));
    ASK(cudaDestroySurfaceObject(surface));
    r.resType = cudaResourceTypeLinear;
    ASK(cudaCreateSurfaceObject(&surface, &r));
    ASK(cudaDestroyTextureObject(0));
    ASK(cudaDestroySurfaceObject(0));
    ASK(cudaFreeArray(nullptr));
    ASK(cudaFreeArray(plain));
    cudaMipmappedArray_t levels;
    ASK(cudaMallocMipmappedArray(&levels, &f32, make_cudaExtent(16, 16, 0), 9));
    ASK(cudaMallocMipmappedArray(&levels, &f32, make_cudaExtent(16, 16, 0), 3));
    cudaArray_t level;
    ASK(cudaGetMipmappedArrayLevel(&level, levels, 3));
    ASK(cudaGetMipmappedArrayLevel(&level, levels, 2));
    ASK(cudaArrayGetInfo(&got, &extent, &flags, level));
    TELL(extent.width);
}

static void pools() {
    std::puts("# pools");
    char *p = nullptr, *q = nullptr;
    cudaMemPool_t pool;
    unsigned long long value = 7;
    int flag = 7;
    ASK(cudaMallocAsync(&p, 0, nullptr));
    TELL(p == nullptr);
    ASK(cudaMallocAsync(&p, (size_t)1 << 50, nullptr));
    ASK(cudaMallocAsync(&p, 100, nullptr));
    ASK(cudaFree(p));
    ASK(cudaMallocAsync(&p, 100, nullptr));
    ASK(cudaFreeAsync(p + 4, nullptr));
    ASK(cudaFreeAsync(p, nullptr));
    ASK(cudaFreeAsync(p, nullptr));
    ASK(cudaFreeAsync(nullptr, nullptr));
    ASK(cudaMalloc(&q, 100));
    ASK(cudaFreeAsync(q, nullptr));
    ASK(cudaDeviceGetDefaultMemPool(&pool, 0));
    ASK(cudaDeviceGetDefaultMemPool(&pool, 2));
    cudaDeviceGetDefaultMemPool(&pool, 0);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    TELL(value);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &flag));
    TELL(flag);
    ASK(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)99, &value));
    value = 5;
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    value = 0;
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
    ASK(cudaMemPoolDestroy(pool));
    cudaMemPoolProps props = {};
    ASK(cudaMemPoolCreate(&pool, &props));
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice, props.location.id = 4;
    ASK(cudaMemPoolCreate(&pool, &props));
    props.location.id = 0;
    ASK(cudaMemPoolCreate(&pool, &props));
    ASK(cudaMallocFromPoolAsync(&p, 64, pool, nullptr));
    ASK(cudaMemPoolDestroy(pool));
    ASK(cudaFreeAsync(p, nullptr));
    ASK(cudaDeviceSetMemPool(0, nullptr));
    ASK(cudaMemPoolTrimTo(nullptr, 0));
    ASK(cudaDeviceSynchronize());
}

// ---- The driver's calls ----

static const char bogus_ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) { .reg .u32 %r<3>; bogus.u32 %r1, %r2; ret; }\n";
static const char later_ptx[] = ".version 99.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry k() { ret; }\n";
static const char elsewhere_ptx[] = ".version 7.0\n.target sm_199\n.address_size 64\n"
    ".visible .entry k() { ret; }\n";
static const char open_ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".extern .func f();\n.visible .entry k() { call f; ret; }\n";
static const char good_ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".global .u32 g;\n.visible .entry k(.param .u64 p) .maxntid 64, 1, 1 { ret; }\n";

static void driver() {
    std::puts("# the driver's calls");
    CUdevice device;
    CUcontext context, other;
    CUdeviceptr p = 0;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    int n = -1;
    size_t size = 0;
    char name[8];
    ASK_DRIVER(cuDeviceGet(&device, 0));
    ASK_DRIVER(cuCtxGetCurrent(&context));
    ASK_DRIVER(cuInit(1));
    ASK_DRIVER(cuInit(0));
    ASK_DRIVER(cuDeviceGet(&device, 5));
    ASK_DRIVER(cuDeviceGet(&device, -1));
    ASK_DRIVER(cuDeviceGet(&device, 0));
    ASK_DRIVER(cuDeviceGetName(nullptr, 8, device));
    ASK_DRIVER(cuDeviceGetName(name, 4, device));
    ASK_DRIVER(cuDeviceGetAttribute(&n, (CUdevice_attribute)9999, device));
    ASK_DRIVER(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7));
    ASK_DRIVER(cuMemAlloc(&p, 16));
    ASK_DRIVER(cuCtxGetCurrent(&context));
    TELL(context == nullptr);
    ASK_DRIVER(cuCtxSynchronize());
    ASK_DRIVER(cuCtxPopCurrent(&other));
    ASK_DRIVER(cuCtxGetDevice(&device));
    ASK_DRIVER(cuDevicePrimaryCtxRelease(device));
    ASK_DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    ASK_DRIVER(cuCtxSetCurrent(context));
    ASK_DRIVER(cuCtxGetDevice(&device));
    ASK_DRIVER(cuMemAlloc(&p, 0));
    ASK_DRIVER(cuMemAlloc(nullptr, 16));
    ASK_DRIVER(cuMemAlloc(&p, (size_t)1 << 50));
    ASK_DRIVER(cuMemAlloc(&p, 1000));
    ASK_DRIVER(cuMemFree(0));
    ASK_DRIVER(cuMemFree(p + 16));
    ASK_DRIVER(cuMemFree(12345));
    char host[64] = {};
    ASK_DRIVER(cuMemcpyHtoD(p, host, 0));
    ASK_DRIVER(cuMemcpyHtoD(0, host, 4));
    ASK_DRIVER(cuMemcpyHtoD(p, nullptr, 4));
    ASK_DRIVER(cuMemcpyDtoH(host, p + ((CUdeviceptr)1 << 44), 4));
    ASK_DRIVER(cuMemsetD8(p, 1, 0));
    ASK_DRIVER(cuMemsetD32(p + 2, 1, 4));
    ASK_DRIVER(cuMemsetD16(p + 1, 1, 4));
    ASK_DRIVER(cuMemsetD32(p, 1, (size_t)1 << 42));
    ASK_DRIVER(cuMemsetD2D32(p, 6, 1, 1, 2));
    CUdeviceptr base;
    ASK_DRIVER(cuMemGetAddressRange(&base, &size, p + 4));
    TELL(base == p);
    TELL(size);
    ASK_DRIVER(cuMemGetAddressRange(&base, &size, 12345));
    unsigned type = 77;
    ASK_DRIVER(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    TELL(type);
    ASK_DRIVER(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host));
    ASK_DRIVER(cuPointerGetAttribute(&type, (CUpointer_attribute)99, p));
    size_t pitch;
    CUdeviceptr q;
    ASK_DRIVER(cuMemAllocPitch(&q, &pitch, 100, 4, 3));
    ASK_DRIVER(cuMemAllocPitch(&q, &pitch, 100, 4, 16));
    TELL(pitch);
    ASK_DRIVER(cuModuleLoadData(&module, "garbage"));
    ASK_DRIVER(cuModuleLoadData(&module, nullptr));
    ASK_DRIVER(cuModuleLoad(&module, "/nonexistent.ptx"));
    ASK_DRIVER(cuModuleLoadData(&module, bogus_ptx));
    ASK_DRIVER(cuModuleLoadData(&module, later_ptx));
    ASK_DRIVER(cuModuleLoadData(&module, elsewhere_ptx));
    ASK_DRIVER(cuModuleLoadData(&module, open_ptx));
    ASK_DRIVER(cuModuleLoadData(&module, good_ptx));
    ASK_DRIVER(cuModuleGetFunction(&function, module, "nope"));
    ASK_DRIVER(cuModuleGetFunction(&function, module, ""));
    ASK_DRIVER(cuModuleGetGlobal(&q, &size, module, "nope"));
    ASK_DRIVER(cuModuleGetGlobal(&q, &size, module, "g"));
    ASK_DRIVER(cuModuleGetFunction(&function, module, "k"));
    void *params[] = {&p}, *extra[] = {CU_LAUNCH_PARAM_END};
    ASK_DRIVER(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra));
    ASK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 65, 1, 1, 0, nullptr, params, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, nullptr, params, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 1, 65536, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 50000, nullptr, params, nullptr));
    ASK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
    ASK_DRIVER(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    TELL(n);
    ASK_DRIVER(cuFuncGetAttribute(&n, (CUfunction_attribute)99, function));
    ASK_DRIVER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 3));
    ASK_DRIVER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 24));
    ASK_DRIVER(cuStreamCreate(&stream, 9));
    ASK_DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASK_DRIVER(cuStreamDestroy(stream));
    ASK_DRIVER(cuStreamDestroy(nullptr));
    ASK_DRIVER(cuModuleUnload(module));
    ASK_DRIVER(cuModuleUnload(nullptr));
    ASK_DRIVER(cuCtxSetLimit((CUlimit)99, 1));
    ASK_DRIVER(cuCtxPushCurrent(nullptr));
    ASK_DRIVER(cuCtxSetCurrent(nullptr));
    ASK_DRIVER(cuCtxGetCurrent(&other));
    TELL(other == nullptr);
    ASK_DRIVER(cuMemAlloc(&p, 16));
    ASK_DRIVER(cuCtxPopCurrent(&other));
    const char *text = "x";
    ASK_DRIVER(cuGetErrorName((CUresult)12345, &text));
    TELL(text == nullptr);
}

// ---- After a fault ----

__global__ void store(int *where) {
    *where = 1;
}
__global__ void trap() {
    asm volatile("trap;");
}
__global__ void failed_assertion(int x) {
    assert(x == 1);
}
__global__ void beyond_shared(int at) {
    dynamic[at] = 1;
}

static void afterwards() {
    int value = 0, *p = nullptr;
    ASK(cudaPeekAtLastError());
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
    ASK(cudaGetLastError());
    ASK(cudaMalloc(&p, 16));
    ASK(cudaMemcpy(&value, &value, 4, cudaMemcpyDefault));
    ASK(cudaStreamQuery(nullptr));
    LAUNCH("another launch", nothing<<<1, 1>>>());
    ASK(cudaFree(nullptr));
    ASK(cudaGetDevice(&value));
    ASK(cudaHostAlloc(&p, 16, 0));
    cudaEvent_t event;
    ASK(cudaEventCreate(&event));
    cudaFuncAttributes a;
    ASK(cudaFuncGetAttributes(&a, (const void *)nothing));
    ASK(cudaSetDevice(0));
    ASK(cudaDeviceReset());
    ASK(cudaMalloc(&p, 16));
    LAUNCH("a launch after the reset", nothing<<<1, 1>>>());
    ASK(cudaDeviceSynchronize());
}

static void fault_misaligned() {
    std::puts("# a misaligned store");
    char *p;
    cudaMalloc(&p, 64);
    LAUNCH("the launch", store<<<1, 1>>>((int *)(p + 2)));
    afterwards();
}

static void fault_null() {
    std::puts("# a store by a null pointer");
    LAUNCH("the launch", store<<<1, 1>>>(nullptr));
    afterwards();
}

static void fault_trap() {
    std::puts("# a trap");
    LAUNCH("the launch", trap<<<1, 1>>>());
    afterwards();
}

static void fault_assertion() {
    std::puts("# an assertion");
    LAUNCH("the launch", failed_assertion<<<1, 1>>>(0));
    afterwards();
}

static void fault_shared() {
    std::puts("# a store beyond shared memory");
    LAUNCH("the launch", beyond_shared<<<1, 1, 64>>>(1 << 20));
    afterwards();
}

static void fault_free() {
    std::puts("# a store to memory that was freed");
    char *p;
    cudaMalloc(&p, 64 << 20);
    cudaFree(p);
    LAUNCH("the launch", store<<<1, 1>>>((int *)p));
    afterwards();
}

int main(int count, char **words) {
    static const Group groups[] = {
        {"streams", streams},
        {"nodes", nodes},
        {"textures", textures},
        {"pools", pools},
        {"driver", driver},
        {"fault_misaligned", fault_misaligned},
        {"fault_null", fault_null},
        {"fault_trap", fault_trap},
        {"fault_assertion", fault_assertion},
        {"fault_shared", fault_shared},
        {"fault_free", fault_free},
    };
    return ask_group(groups, count, words);
}
