// A power iteration as one graph: a while node whose body is captured from a stream and whose
// condition a kernel clears when the vector has settled; then a switch that says how it went. What
// it needs in between, the graph allocates itself.
#include "check.h"

const int N = 64;

__global__ void multiply(const float *matrix, const float *from, float *to) {
    int row = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < N; i++)
        sum += matrix[row * N + i] * from[i];
    to[row] = sum;
}

// Scales `to` into `from`; goes on while an element moves by more than the tolerance.
__global__ void settle(float *from, const float *to, int *rounds, cudaGraphConditionalHandle loop,
                       cudaGraphConditionalHandle verdict) {
    __shared__ float most[N];
    __shared__ int moved;
    int i = threadIdx.x;
    if (i == 0) moved = 0;
    most[i] = fabsf(to[i]);
    __syncthreads();
    for (int half = N / 2; half; half /= 2) {
        if (i < half) most[i] = fmaxf(most[i], most[i + half]);
        __syncthreads();
    }
    float next = to[i] / most[0];
    if (fabsf(next - from[i]) > 1e-5f) moved = 1;
    from[i] = next;
    __syncthreads();
    if (i) return;
    *rounds += 1;
    cudaGraphSetConditional(loop, moved && *rounds < 500);
    cudaGraphSetConditional(verdict, moved ? 1 : 0);
}

__global__ void say(int *out, int what) { *out = what; }

int main() {
    float matrix[N * N], vector[N], expected[N];
    unsigned random = 7;
    for (int i = 0; i < N * N; i++)
        matrix[i] = (float)(next_random(random) % 1000) / 1000 + (i / N == i % N ? 20.0f : 0.0f);
    for (int i = 0; i < N; i++)
        vector[i] = expected[i] = 1;

    float *d_matrix, *d_vector, *d_next;
    int *d_words, words[2];
    cudaStream_t stream;
    cudaGraph_t graph, body;
    cudaGraphConditionalHandle loop, verdict;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc((void **)&d_matrix, sizeof matrix));
    CHECK(cudaMalloc((void **)&d_vector, sizeof vector));
    CHECK(cudaMalloc((void **)&d_words, sizeof words));
    CHECK(cudaMemcpy(d_matrix, matrix, sizeof matrix, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_words, 0, sizeof words));

    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&verdict, graph, 2, cudaGraphCondAssignDefault));
    cudaGraphNode_t allocation, copy, loop_node, switch_node, release;
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = sizeof vector;
    CHECK(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory));
    d_next = (float *)memory.dptr;
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &allocation, 1, d_vector, vector, sizeof vector,
                                   cudaMemcpyHostToDevice));

    cudaGraphNodeParams node = {cudaGraphNodeTypeConditional};
    node.conditional.handle = loop;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    CHECK(cudaGraphAddNode(&loop_node, graph, &copy, nullptr, 1, &node));
    body = node.conditional.phGraph_out[0];
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeGlobal));
    multiply<<<1, N, 0, stream>>>(d_matrix, d_vector, d_next);
    settle<<<1, N, 0, stream>>>(d_vector, d_next, d_words, loop, verdict);
    CHECK(cudaStreamEndCapture(stream, &body));

    node = {cudaGraphNodeTypeConditional};
    node.conditional.handle = verdict;
    node.conditional.type = cudaGraphCondTypeSwitch;
    node.conditional.size = 2;
    CHECK(cudaGraphAddNode(&switch_node, graph, &loop_node, nullptr, 1, &node));
    for (int i = 0; i < 2; i++) {
        int what = 100 + i;
        int *out = d_words + 1;
        void *arguments[] = {&out, &what};
        cudaGraphNode_t said;
        cudaKernelNodeParams kernel = {(void *)say, 1, 1, 0, arguments, nullptr};
        CHECK(cudaGraphAddKernelNode(&said, node.conditional.phGraph_out[i], nullptr, 0, &kernel));
    }
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &switch_node, 1, d_next));

    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    int rounds = 0;
    for (bool moved = true; moved && rounds < 500; rounds++) {
        float next[N], most = 0;
        for (int row = 0; row < N; row++) {
            next[row] = 0;
            for (int i = 0; i < N; i++)
                next[row] = fmaf(matrix[row * N + i], expected[i], next[row]);
            most = fmaxf(most, fabsf(next[row]));
        }
        moved = false;
        for (int i = 0; i < N; i++) {
            moved |= fabsf(next[i] / most - expected[i]) > 1e-5f;
            expected[i] = next[i] / most;
        }
    }
    for (int launch = 0; launch < 2; launch++) {
        CHECK(cudaMemset(d_words, 0, sizeof words));
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(words, d_words, sizeof words, cudaMemcpyDeviceToHost));
        EXPECT(words[0] == rounds && rounds > 2);
        EXPECT(words[1] == 100);
        float result[N];
        CHECK(cudaMemcpy(result, d_vector, sizeof result, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++)
            EXPECT(is_near(result[i], expected[i]));
    }
    return passed();
}
