// A graph of explicit nodes: fill and copy, two kernels, a host function; then with other
// parameters, by its nodes and by a whole new graph.
#include "check.h"

const int N = 256;

__device__ int bias;

__global__ void scale(int *data, int factor) {
    data[threadIdx.x] = data[threadIdx.x] * factor + bias;
}
__global__ void sum(const int *a, const int *b, int *out) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static void count_call(void *counter) { ++*(int *)counter; }

struct Graph {
    cudaGraph_t graph;
    cudaGraphNode_t fill, copy, bias, scale, sum, back, call;
};

int *a, *b, *out, host[N], result[N], calls, bias_value = 1;

static cudaKernelNodeParams kernel(void *function, void **arguments) {
    cudaKernelNodeParams parameters = {};
    parameters.func = function;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(N);
    parameters.kernelParams = arguments;
    return parameters;
}

static Graph make(int factor) {
    Graph g;
    CHECK(cudaGraphCreate(&g.graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = b, fill.value = 7, fill.elementSize = 4, fill.width = N, fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&g.fill, g.graph, nullptr, 0, &fill));
    CHECK(cudaGraphAddMemcpyNode1D(&g.copy, g.graph, nullptr, 0, a, host, sizeof host,
                                   cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&g.bias, g.graph, nullptr, 0, bias, &bias_value,
                                         sizeof(int), 0, cudaMemcpyHostToDevice));
    void *scale_arguments[] = {&a, &factor}, *sum_arguments[] = {&a, &b, &out};
    cudaGraphNode_t ready[] = {g.copy, g.bias};
    cudaKernelNodeParams parameters = kernel((void *)scale, scale_arguments);
    CHECK(cudaGraphAddKernelNode(&g.scale, g.graph, ready, 2, &parameters));
    cudaGraphNode_t both[] = {g.fill, g.scale};
    parameters = kernel((void *)sum, sum_arguments);
    CHECK(cudaGraphAddKernelNode(&g.sum, g.graph, both, 2, &parameters));
    CHECK(cudaGraphAddMemcpyNode1D(&g.back, g.graph, &g.sum, 1, result, out, sizeof result,
                                   cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count_call, &calls};
    CHECK(cudaGraphAddHostNode(&g.call, g.graph, &g.back, 1, &call));
    return g;
}

static void run(cudaGraphExec_t executable, int factor, int addend) {
    int before = calls;
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(calls == before + 1);
    for (int i = 0; i < N; i++)
        EXPECT(result[i] == host[i] * factor + bias_value + addend);
}

int main() {
    cudaGraphExec_t executable;
    for (int i = 0; i < N; i++)
        host[i] = i * i;
    CHECK(cudaMalloc((void **)&a, sizeof host));
    CHECK(cudaMalloc((void **)&b, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof host));
    Graph g = make(3);
    cudaKernelNodeParams seen = {};
    CHECK(cudaGraphKernelNodeGetParams(g.scale, &seen));
    EXPECT(seen.func == (void *)scale && seen.blockDim.x == N && *(int *)seen.kernelParams[1] == 3);
    CHECK(cudaGraphInstantiate(&executable, g.graph, 0));
    run(executable, 3, 7);

    int factor = 5;
    void *arguments[] = {&a, &factor};
    cudaKernelNodeParams parameters = kernel((void *)scale, arguments);
    CHECK(cudaGraphExecKernelNodeSetParams(executable, g.scale, &parameters));
    cudaMemsetParams fill = {};
    fill.dst = b, fill.value = 9, fill.elementSize = 4, fill.width = N, fill.height = 1;
    CHECK(cudaGraphExecMemsetNodeSetParams(executable, g.fill, &fill));
    run(executable, 5, 9);

    cudaGraphExecUpdateResultInfo info;
    Graph other = make(11);
    CHECK(cudaGraphExecUpdate(executable, other.graph, &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    run(executable, 11, 7);

    CHECK(cudaGraphDestroyNode(other.call));
    EXPECT(cudaGraphExecUpdate(executable, other.graph, &info) == cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
    run(executable, 11, 7);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(g.graph));
    CHECK(cudaGraphDestroy(other.graph));
    return passed();
}
