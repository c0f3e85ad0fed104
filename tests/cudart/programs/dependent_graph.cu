/* Dependent launches in graphs, captured and by hand: each step needs what the one before it has written, but may begin
 * earlier. A grid that is counted in clusters begins the chain where the compiler knows such grids. */
#include "check.h"

enum { BLOCKS = 6, THREADS = 64, COUNT = BLOCKS * THREADS, STEPS = 5 };

#if defined(__NVCC__) && CUDART_VERSION >= 13000
__global__ __block_size__((THREADS, 1, 1), (2, 1, 1)) void fill(int *data) {
#else
__global__ void fill(int *data) {
#endif
    data[blockIdx.x * blockDim.x + threadIdx.x] = (int)(gridDim.x * 1000 + threadIdx.x);
    cudaTriggerProgrammaticLaunchCompletion();
}

/* Adds the neighbour in the other block, whose kernel may still run before the wait. */
__global__ void step(const int *from, int *to, int what) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned other = (i + THREADS) % COUNT;
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    to[i] = from[i] + 2 * from[other] + what;
}

static int *buffers[2];

static cudaLaunchConfig_t configuration(cudaStream_t stream, cudaLaunchAttribute *attribute, int count) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS), config.blockDim = dim3(THREADS);
    config.stream = stream, config.attrs = attribute, config.numAttrs = count;
    return config;
}

static void start(cudaStream_t stream) {
#if defined(__NVCC__) && CUDART_VERSION >= 13000
    fill<<<BLOCKS / 2, 1, 0, stream>>>(buffers[0]);
#else
    fill<<<BLOCKS, THREADS, 0, stream>>>(buffers[0]);
#endif
    CHECK(cudaGetLastError());
}

static void expect_result() {
    int found[COUNT], expected[COUNT], next[COUNT];
    CHECK(cudaMemcpy(found, buffers[STEPS % 2], sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        expected[i] = BLOCKS * 1000 + i % THREADS;
    for (int round = 0; round < STEPS; round++) {
        for (int i = 0; i < COUNT; i++)
            next[i] = expected[i] + 2 * expected[(i + THREADS) % COUNT] + round;
        for (int i = 0; i < COUNT; i++)
            expected[i] = next[i];
    }
    for (int i = 0; i < COUNT; i++)
        EXPECT(found[i] == expected[i]);
    CHECK(cudaMemset(buffers[STEPS % 2], 0, sizeof found));
}

static void run(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        expect_result();
    }
    CHECK(cudaGraphExecDestroy(exec));
}

static int programmatic_edges(cudaGraph_t graph) {
    cudaGraphNode_t from[2 * STEPS], to[2 * STEPS];
    cudaGraphEdgeData edges[2 * STEPS];
    size_t count = 2 * STEPS;
    int found = 0;
#if CUDART_VERSION >= 13000
    EXPECT(cudaGraphGetEdges(graph, from, to, NULL, &count) == cudaErrorLossyQuery);
    EXPECT(cudaGetLastError() == cudaErrorLossyQuery);
    CHECK(cudaGraphGetEdges(graph, from, to, edges, &count));
#else
    CHECK(cudaGraphGetEdges_v2(graph, from, to, edges, &count));
#endif
    EXPECT(count == STEPS);
    for (size_t i = 0; i < count; i++)
        found += edges[i].type == cudaGraphDependencyTypeProgrammatic;
    return found;
}

int main() {
    cudaStream_t stream, other;
    cudaGraph_t captured, built;
    CHECK(cudaMalloc(&buffers[0], COUNT * sizeof(int)));
    CHECK(cudaMalloc(&buffers[1], COUNT * sizeof(int)));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));

    /* by capture, with a programmatic event that leads to another stream and back */
    cudaLaunchAttribute serial = {}, recording = {};
    cudaEvent_t event, join;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serial.val.programmaticStreamSerializationAllowed = 1;
    recording.id = cudaLaunchAttributeProgrammaticEvent;
    recording.val.programmaticEvent.event = event;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    start(stream);
    for (int round = 0; round < STEPS; round++) {
        const bool is_last = round == STEPS - 1, is_recorded = round == STEPS - 2;
        if (is_last) CHECK(cudaStreamWaitEvent(other, event, 0));
        cudaLaunchConfig_t config =
            configuration(is_last ? other : stream, is_recorded ? &recording : &serial, is_last ? 0 : 1);
        CHECK(cudaLaunchKernelEx(&config, step, (const int *)buffers[round % 2], buffers[(round + 1) % 2], round));
    }
    CHECK(cudaEventRecord(join, other));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    CHECK(cudaStreamEndCapture(stream, &captured));
    EXPECT(programmatic_edges(captured) == STEPS - 1); /* the launch that records has no other attribute */
    run(captured, stream);

    /* by hand */
    cudaGraphNode_t node, before = NULL;
    cudaGraphEdgeData edge = {};
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    edge.type = cudaGraphDependencyTypeProgrammatic;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    start(stream);
    CHECK(cudaStreamEndCapture(stream, &built));
    size_t count = 1;
    CHECK(cudaGraphGetNodes(built, &before, &count));
    for (int round = 0; round < STEPS; round++) {
        void *arguments[] = {&buffers[round % 2], &buffers[(round + 1) % 2], &round};
        cudaKernelNodeParams given = {};
        given.func = (void *)step;
        given.gridDim = dim3(BLOCKS), given.blockDim = dim3(THREADS);
        given.kernelParams = arguments;
        CHECK(cudaGraphAddKernelNode(&node, built, NULL, 0, &given));
#if CUDART_VERSION >= 13000
        CHECK(cudaGraphAddDependencies(built, &before, &node, &edge, 1));
#else
        CHECK(cudaGraphAddDependencies_v2(built, &before, &node, &edge, 1));
#endif
        before = node;
    }
    EXPECT(programmatic_edges(built) == STEPS);
    run(built, stream);
    return passed();
}
