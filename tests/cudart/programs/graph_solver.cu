// Jacobi's method for a row of cells, its steps captured into a graph (with a fork into a second
// stream) and launched again and again, against the same work in a plain stream.
#include "check.h"

#include <cstring>

const int CELLS = 1024, STEPS = 8, ROUNDS = 5;

__global__ void relax(const float *from, float *to, const float *load) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = i ? from[i - 1] : 0.0f, right = i + 1 < CELLS ? from[i + 1] : 0.0f;
    to[i] = 0.5f * (left + right + load[i]);
}

__global__ void note(const float *cells, float *sums) {
    atomicAdd(&sums[threadIdx.x % 4], cells[threadIdx.x * 8]);
}

struct Buffers {
    float *cells, *other, *load, *sums;
};

static void work(Buffers b, cudaStream_t stream, cudaStream_t side, cudaEvent_t fork,
                 cudaEvent_t join) {
    CHECK(cudaMemsetAsync(b.sums, 0, 4 * sizeof(float), stream));
    for (int i = 0; i < STEPS; i++) {
        relax<<<CELLS / 128, 128, 0, stream>>>(b.cells, b.other, b.load);
        CHECK(cudaEventRecord(fork, stream));
        CHECK(cudaStreamWaitEvent(side, fork, 0));
        note<<<1, 32, 0, side>>>(b.other, b.sums);
        CHECK(cudaEventRecord(join, side));
        CHECK(cudaMemcpyAsync(b.cells, b.other, CELLS * sizeof(float), cudaMemcpyDeviceToDevice,
                              stream));
        CHECK(cudaStreamWaitEvent(stream, join, 0));
    }
}

int main() {
    float load[CELLS], results[2][CELLS + 4];
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    unsigned random = 1;
    for (int i = 0; i < CELLS; i++)
        load[i] = (float)(next_random(random) % 100) / 100;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    for (int with_graph = 0; with_graph < 2; with_graph++) {
        Buffers b;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CHECK(cudaMalloc((void **)&b.cells, CELLS * sizeof(float)));
        CHECK(cudaMalloc((void **)&b.other, CELLS * sizeof(float)));
        CHECK(cudaMalloc((void **)&b.load, CELLS * sizeof(float)));
        CHECK(cudaMalloc((void **)&b.sums, 4 * sizeof(float)));
        CHECK(cudaMemset(b.cells, 0, CELLS * sizeof(float)));
        CHECK(cudaMemcpy(b.load, load, sizeof load, cudaMemcpyHostToDevice));
        if (with_graph) {
            size_t nodes = 0;
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
            work(b, stream, side, fork, join);
            CHECK(cudaStreamEndCapture(stream, &graph));
            CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
            EXPECT(nodes == 1 + 3 * STEPS);
            CHECK(cudaGraphInstantiate(&executable, graph, 0));
            CHECK(cudaGraphDestroy(graph));
        }
        for (int round = 0; round < ROUNDS; round++) {
            if (with_graph) CHECK(cudaGraphLaunch(executable, stream));
            else work(b, stream, side, fork, join);
        }
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(results[with_graph], b.cells, CELLS * sizeof(float),
                         cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(results[with_graph] + CELLS, b.sums, 4 * sizeof(float),
                         cudaMemcpyDeviceToHost));
        if (with_graph) CHECK(cudaGraphExecDestroy(executable));
    }
    EXPECT(std::memcmp(results[0], results[1], sizeof results[0]) == 0);
    EXPECT(results[0][CELLS / 2] > 0 && results[0][CELLS] > 0);
    return passed();
}
