// Four streams, each with its part of pinned memory; an event orders two of them; a host function and
// a callback run at the end. The last stream gets its callback first, while all kernels are waiting.
#include "check.h"

const int STREAMS = 4, PART = 512;

__global__ void scale(int *data, int factor) {
    data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

static void count_call(void *counter) {
    ++*(int *)counter;
}

struct Seen {
    cudaStream_t stream;
    int calls;
};

static void CUDART_CB look(cudaStream_t stream, cudaError_t status, void *user) {
    Seen *seen = (Seen *)user;
    seen->calls += status == cudaSuccess && stream == seen->stream;
}

// What is not asynchronous is done when it returns, although a kernel of another stream precedes it.
static void copy_page_locked_memory(cudaStream_t stream) {
    int *locked, *on_device, *word;
    CHECK(cudaMallocHost((void **)&locked, sizeof(int)));
    CHECK(cudaMalloc((void **)&word, sizeof(int)));
    *locked = 7;
    scale<<<1, 1, 0, stream>>>(word, 1);
    CHECK(cudaMemcpy(word, locked, sizeof(int), cudaMemcpyHostToDevice));
    *locked = 0;
    scale<<<1, 1, 0, stream>>>(word, 3);
    CHECK(cudaMemcpy(locked, word, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(*locked == 21);
    scale<<<1, 1, 0, stream>>>(word, 2);
    CHECK(cudaMemcpy2D(locked, 4, word, 4, 4, 1, cudaMemcpyDefault));
    EXPECT(*locked == 42);
    scale<<<1, 1, 0, stream>>>(word, 2);
    CHECK(cudaHostGetDevicePointer((void **)&on_device, locked, 0));
    CHECK(cudaMemset(on_device, 1, sizeof(int)));
    EXPECT(*locked == 0x01010101);
    CHECK(cudaFreeHost(locked));
    CHECK(cudaFree(word));
}

int main() {
    int *host, *device, calls = 0;
    Seen seen[STREAMS];
    cudaStream_t streams[STREAMS];
    cudaEvent_t first_done;
    size_t size = STREAMS * PART * sizeof(int);
    CHECK(cudaMallocHost((void **)&host, size));
    CHECK(cudaMalloc((void **)&device, size));
    CHECK(cudaEventCreateWithFlags(&first_done, cudaEventDisableTiming));
    for (int i = 0; i < STREAMS * PART; i++)
        host[i] = i;
    for (int s = 0; s < STREAMS; s++) {
        if (s % 2) CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        else CHECK(cudaStreamCreate(&streams[s]));
    }
    for (int s = 0; s < STREAMS; s++) {
        int *from = host + s * PART, *to = device + s * PART;
        CHECK(cudaMemcpyAsync(to, from, PART * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        scale<<<PART / 128, 128, 0, streams[s]>>>(to, s + 2);
        CHECK(cudaMemcpyAsync(from, to, PART * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
        CHECK(cudaLaunchHostFunc(streams[s], count_call, &calls));
        if (s == 0) CHECK(cudaEventRecord(first_done, streams[0]));
        else CHECK(cudaStreamWaitEvent(streams[s], first_done, 0));
    }
    copy_page_locked_memory(streams[0]);
    for (int s = 0; s < STREAMS; s++)
        scale<<<PART / 128, 128, 0, streams[s]>>>(device + s * PART, 1);
    for (int s = STREAMS - 1; s >= 0; s--) {
        seen[s] = {streams[s], 0};
        CHECK(cudaStreamAddCallback(streams[s], look, &seen[s], 0));
    }
    for (cudaStream_t stream : streams) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamQuery(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    EXPECT(calls == STREAMS);
    for (const Seen &of : seen)
        EXPECT(of.calls == 1);
    EXPECT(cudaStreamAddCallback(0, nullptr, nullptr, 0) == cudaErrorInvalidValue);
    EXPECT(cudaStreamSynchronize(streams[0]) == cudaErrorInvalidResourceHandle);
    for (int i = 0; i < STREAMS * PART; i++)
        EXPECT(host[i] == i * (i / PART + 2));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return passed();
}
