// Streams that wait for words of memory: written later by the host, a kernel, another stream.
#include "check.h"
#include <cuda.h>
#include <thread>
#include <unistd.h>

#define CU(call) EXPECT((call) == CUDA_SUCCESS)

// (kernels of two streams may run at the same time)
__global__ void add(int *p, int x) { atomicAdd(p, x); }
__global__ void set(volatile unsigned *p, unsigned x) { *p = x; }

static void CUDART_CB note(void *p) { *(int *)p = 1; }

int main() {
    unsigned *word, *host;
    int *value, got, noted = 0;
    cudaStream_t a, b, free_stream;
    cudaEvent_t event;
    CHECK(cudaMalloc(&word, 64));
    CHECK(cudaMemset(word, 0, 64));
    CHECK(cudaMallocHost(&host, 64));
    CHECK(cudaMallocHost(&value, 64));
    host[0] = host[1] = 0;
    *value = 0;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&free_stream));
    CHECK(cudaEventCreate(&event));

    // By the host: kernels, events, functions and other streams behind the wait come after it.
    CU(cuStreamWaitValue32(a, (CUdeviceptr)host, 5, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 1, 0, a>>>(value, 2);
    CHECK(cudaEventRecord(event, a));
    CHECK(cudaStreamWaitEvent(b, event, 0));
    add<<<1, 1, 0, b>>>(value, 40);
    CHECK(cudaLaunchHostFunc(b, note, &noted));
    EXPECT(*value == 0 && noted == 0);
    EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
    EXPECT(cudaEventQuery(event) == cudaErrorNotReady);
    EXPECT(cudaStreamQuery(free_stream) == cudaSuccess);
    host[0] = 5;
    CHECK(cudaStreamSynchronize(b));
    EXPECT(*value == 42 && noted == 1);
    CHECK(cudaEventQuery(event));

    // By a kernel in another stream; a copy from pageable memory keeps what it held.
    int plain = 7;
    CU(cuStreamWaitValue32(a, (CUdeviceptr)word, 3, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cudaMemcpyAsync(value, &plain, sizeof plain, cudaMemcpyDefault, a));
    plain = 8;
    EXPECT(*value == 42);
    set<<<1, 1, 0, free_stream>>>(word, 4);
    CHECK(cudaStreamSynchronize(a));
    EXPECT(*value == 7);

    // By another stream's write; a copy to pageable memory waits by itself.
    CU(cuStreamWaitValue64(a, (CUdeviceptr)(word + 2), 1ull << 40, CU_STREAM_WAIT_VALUE_AND));
    add<<<1, 1, 0, a>>>(value, 1);
    CU(cuStreamWriteValue64(b, (CUdeviceptr)(word + 2), 3ull << 40, 0));
    CHECK(cudaMemcpyAsync(&got, value, sizeof got, cudaMemcpyDefault, a));
    EXPECT(got == 8);

    // By another thread, while this one waits.
    CU(cuStreamWaitValue32(a, (CUdeviceptr)(host + 1), 9, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 1, 0, a>>>(value, 1);
    std::thread writer([&] {
        usleep(2000);
        *(volatile unsigned *)(host + 1) = 9;
    });
    CHECK(cudaDeviceSynchronize());
    writer.join();
    EXPECT(*value == 9);

    // Ping-pong of two streams, in batches.
    CUstreamBatchMemOpParams ping[2] = {}, pong[2] = {};
    for (int i = 1; i <= 4; i++) {
        ping[0].waitValue.operation = pong[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        ping[1].writeValue.operation = pong[1].writeValue.operation =
            CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ping[0].waitValue.address = pong[1].writeValue.address = (CUdeviceptr)(word + 4);
        pong[0].waitValue.address = ping[1].writeValue.address = (CUdeviceptr)(word + 5);
        ping[0].waitValue.value = i, ping[1].writeValue.value = i;
        pong[0].waitValue.value = i, pong[1].writeValue.value = i + 1;
        CU(cuStreamBatchMemOp(a, 2, ping, 0));
        add<<<1, 1, 0, a>>>(value, 100);
        CU(cuStreamBatchMemOp(b, 2, pong, 0));
        add<<<1, 1, 0, b>>>(value, 1000);
    }
    EXPECT(*value == 9);
    CU(cuStreamWriteValue32(free_stream, (CUdeviceptr)(word + 4), 1, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(*value == 4409);

    // The legacy default stream waits for a blocking one, and the other way round.
    CU(cuStreamWaitValue32(free_stream, (CUdeviceptr)host, 6, CU_STREAM_WAIT_VALUE_EQ));
    *value = 3;
    add<<<1, 1>>>(value, 4);
    add<<<1, 1, 0, free_stream>>>(value, 5);
    EXPECT(*value == 3);
    host[0] = 6;
    CHECK(cudaDeviceSynchronize());
    EXPECT(*value == 12);

    // In a graph: a branch waits for what another writes, and for the host.
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaMemset(word, 0, 64));
    host[0] = 0;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(event, a));
    CHECK(cudaStreamWaitEvent(b, event, 0));
    CU(cuStreamWaitValue32(a, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 1, 0, a>>>(value, 1);
    CU(cuStreamWriteValue32(b, (CUdeviceptr)word, 1, 0));
    CU(cuStreamWaitValue32(b, (CUdeviceptr)host, 2, CU_STREAM_WAIT_VALUE_EQ));
    add<<<1, 1, 0, b>>>(value, 10);
    CHECK(cudaEventRecord(event, b));
    CHECK(cudaStreamWaitEvent(a, event, 0));
    add<<<1, 1, 0, a>>>(value, 100);
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    *value = 0;
    CHECK(cudaGraphLaunch(exec, a));
    EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
    EXPECT(*value == 1);
    CHECK(cudaGraphExecDestroy(exec));
    host[0] = 2;
    CHECK(cudaStreamSynchronize(a));
    EXPECT(*value == 111);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(a));
    return passed();
}
