// What kernels may ask the device runtime, and what they may have it do with memory: the answers
// are those of the host, and boxes are copied and filled as the host does it.
#include "check.h"
#include <cstddef>
#include <cstring>

const int PITCH = 96, ROWS = 6, SLICES = 3, BOX = PITCH * ROWS * SLICES;

struct Answers {
    int attribute, device, count, version, ctas, ctas_flagged, cache, banks, wrong_device,
        bad_pitch, peeked, last, none;
    size_t stack, heap, printf_bytes;
    int unknown_limit;
    cudaFuncAttributes function;
    char name[40], text[80], other[40];
};

__global__ void __launch_bounds__(192) counted(float *out) {
    __shared__ float room[48];
    room[threadIdx.x % 48] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[(threadIdx.x + 1) % 48];
}

__device__ void copy_text(char *to, const char *from, int size) {
    int i = 0;
    for (; from[i] && i + 1 < size; i++)
        to[i] = from[i];
    to[i] = 0;
}

__global__ void ask(Answers *a, void *somewhere) {
    size_t size = 0;
    cudaDeviceGetAttribute(&a->attribute, cudaDevAttrMultiProcessorCount, 0);
    cudaGetDevice(&a->device);
    cudaGetDeviceCount(&a->count);
    cudaRuntimeGetVersion(&a->version);
    cudaDeviceGetLimit(&a->stack, cudaLimitStackSize);
    cudaDeviceGetLimit(&a->heap, cudaLimitMallocHeapSize);
    cudaDeviceGetLimit(&a->printf_bytes, cudaLimitPrintfFifoSize);
    a->unknown_limit = cudaDeviceGetLimit(&size, (cudaLimit)99);
    cudaFuncCache cache;
    cudaDeviceGetCacheConfig(&cache);
    a->cache = cache;
    cudaFuncGetAttributes(&a->function, (const void *)counted);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a->ctas, (const void *)counted, 96, 1000);
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&a->ctas_flagged, (const void *)counted,
                                                           192, 0, 1);
    cudaGetLastError();
    int value = -1;
    a->wrong_device = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1);
    a->peeked = cudaPeekAtLastError();
    a->bad_pitch = cudaMemset2DAsync(somewhere, 4, 0, 8, 2, 0);
    a->last = cudaGetLastError();
    a->none = cudaGetLastError();
    copy_text(a->name, cudaGetErrorName(cudaErrorInvalidPitchValue), sizeof a->name);
    copy_text(a->text, cudaGetErrorString(cudaErrorInvalidDevice), sizeof a->text);
    copy_text(a->other, cudaGetErrorName((cudaError_t)12345), sizeof a->other);
}

__global__ void move_boxes(unsigned char *a, unsigned char *b, int *errors) {
    int n = 0;
    cudaStream_t stream;
    cudaEvent_t event;
    errors[n++] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    errors[n++] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    errors[n++] = cudaMemset2DAsync(a + 5, PITCH, 0x11, 7, 4, stream);
    cudaPitchedPtr whole = {a + 20, PITCH, PITCH, ROWS};
    cudaExtent extent = {9, 2, SLICES};
    errors[n++] = cudaMemset3DAsync(whole, 0x22, extent, stream);
    errors[n++] = cudaEventRecord(event, stream);
    errors[n++] = cudaStreamWaitEvent(stream, event, 0);
    errors[n++] =
        cudaMemcpy2DAsync(b + 2, PITCH, a + 4, PITCH, 30, ROWS, cudaMemcpyDeviceToDevice, stream);
    cudaMemcpy3DParms box = {};
    box.srcPtr = {a, PITCH, PITCH, ROWS};
    box.dstPtr = {b, PITCH, PITCH, ROWS};
    box.srcPos = {20, 0, 1};
    box.dstPos = {40, 3, 1};
    box.extent = {16, 3, 2};
    box.kind = cudaMemcpyDeviceToDevice;
    errors[n++] = cudaMemcpy3DAsync(&box, stream);
    errors[n++] = cudaEventDestroy(event);
    errors[n++] = cudaStreamDestroy(stream);
    box.extent.depth = SLICES; // one more than there is behind slice 1
    errors[n++] = cudaMemcpy3DAsync(&box, 0);
    int *own;
    errors[n++] = cudaMalloc((void **)&own, 64);
    *own = 77;
    errors[n++] = *own == 77 ? cudaFree(own) : -1;
}

static void expect_box(unsigned char *a, unsigned char *b) {
    auto at = [](int x, int y, int z) { return (z * ROWS + y) * PITCH + x; };
    for (int y = 0; y < 4; y++)
        std::memset(a + 5 + y * PITCH, 0x11, 7);
    for (int z = 0; z < SLICES; z++)
        for (int y = 0; y < 2; y++)
            std::memset(a + 20 + at(0, y, z), 0x22, 9);
    for (int y = 0; y < ROWS; y++)
        std::memcpy(b + 2 + y * PITCH, a + 4 + y * PITCH, 30);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            std::memcpy(b + at(40, 3 + y, 1 + z), a + at(20, y, 1 + z), 16);
}

int main() {
    Answers a, *d_a;
    int attribute, version, ctas, ctas_flagged, errors[13], *d_errors;
    size_t stack, heap, printf_bytes;
    cudaFuncAttributes function;
    unsigned char from[BOX], to[BOX], got[BOX], *d_from, *d_to;
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 3 << 20));
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    CHECK(cudaMalloc(&d_a, sizeof a));
    CHECK(cudaMemset(d_a, 0xff, sizeof a));
    ask<<<1, 1>>>(d_a, d_a);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&a, d_a, sizeof a, cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceGetAttribute(&attribute, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaRuntimeGetVersion(&version));
    CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    CHECK(cudaDeviceGetLimit(&printf_bytes, cudaLimitPrintfFifoSize));
    CHECK(cudaFuncGetAttributes(&function, counted));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, counted, 96, 1000));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_flagged, counted, 192, 0));
    EXPECT(a.attribute == attribute && a.device == 0 && a.count == 1);
    EXPECT(a.version == 6000 && version > 10000); // the device's runtime has a version of its own
    EXPECT(a.stack == stack && stack == 8192 && a.heap == heap && a.printf_bytes == printf_bytes);
    EXPECT(a.unknown_limit != cudaSuccess && a.cache == cudaFuncCachePreferL1);
    EXPECT(a.ctas == ctas && ctas > 0 && a.ctas_flagged == ctas_flagged && ctas_flagged > 0);
    // (a GPU writes no more of it than up to the threads of a block)
    EXPECT(std::memcmp(&a.function, &function, offsetof(cudaFuncAttributes, numRegs)) == 0);
    EXPECT(function.maxThreadsPerBlock == 192 && function.sharedSizeBytes == 48 * sizeof(float));
    EXPECT(a.wrong_device == cudaErrorInvalidDevice && a.peeked == cudaErrorInvalidDevice);
    EXPECT(a.bad_pitch == cudaErrorInvalidPitchValue && a.last == cudaErrorInvalidPitchValue &&
           a.none == 0);
    EXPECT(std::strcmp(a.name, "cudaErrorInvalidPitchValue") == 0);
    EXPECT(std::strcmp(a.text, cudaGetErrorString(cudaErrorInvalidDevice)) == 0);
    EXPECT(std::strcmp(a.other, cudaGetErrorName((cudaError_t)12345)) == 0);

    for (int i = 0; i < BOX; i++) {
        from[i] = (unsigned char)(i * 7);
        to[i] = (unsigned char)(i * 5 + 1);
    }
    CHECK(cudaMalloc(&d_from, BOX));
    CHECK(cudaMalloc(&d_to, BOX));
    CHECK(cudaMalloc(&d_errors, sizeof errors));
    CHECK(cudaMemcpy(d_from, from, BOX, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_to, to, BOX, cudaMemcpyHostToDevice));
    move_boxes<<<1, 1>>>(d_from, d_to, d_errors);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(errors, d_errors, sizeof errors, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 13; i++)
        EXPECT(errors[i] == (i == 10 ? cudaErrorInvalidValue : 0));
    expect_box(from, to);
    CHECK(cudaMemcpy(got, d_from, BOX, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(got, from, BOX) == 0);
    CHECK(cudaMemcpy(got, d_to, BOX, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(got, to, BOX) == 0);
    return passed();
}
