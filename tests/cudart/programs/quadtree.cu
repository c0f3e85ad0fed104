// A quadtree of points by kernels that launch kernels: a CTA of four warps counts and sorts a node's points
// into its four quarters, and launches one CTA for each of them that has too many.
#include "check.h"

#include <algorithm>
#include <vector>

const int POINTS = 3000, MOST = 24, DEPTH = 9, THREADS = 128;

struct Node {
    float x0, y0, x1, y1;
    int begin, end, depth, id; // id: 1 for the root, 4 * parent + quarter - 2 and so on
};

__device__ int quarter_of(float2 p, float cx, float cy) { return (p.x >= cx) + 2 * (p.y >= cy); }

__global__ void build(float2 *from, float2 *to, Node node, Node *leaves, int *leaf_count) {
    __shared__ int counts[4], starts[5], filled[4];
    int count = node.end - node.begin;
    float cx = (node.x0 + node.x1) / 2, cy = (node.y0 + node.y1) / 2;
    if (count <= MOST || node.depth == DEPTH) {
        // points of a leaf end in the first buffer, whichever they are in
        if (node.depth % 2)
            for (int i = node.begin + threadIdx.x; i < node.end; i += THREADS) to[i] = from[i];
        if (threadIdx.x == 0) leaves[atomicAdd(leaf_count, 1)] = node;
        return;
    }
    if (threadIdx.x < 4) counts[threadIdx.x] = filled[threadIdx.x] = 0;
    __syncthreads();
    for (int i = node.begin + threadIdx.x; i < node.end; i += THREADS) atomicAdd(&counts[quarter_of(from[i], cx, cy)], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        starts[0] = node.begin;
        for (int q = 0; q < 4; q++) starts[q + 1] = starts[q] + counts[q];
    }
    __syncthreads();
    for (int i = node.begin + threadIdx.x; i < node.end; i += THREADS) {
        int q = quarter_of(from[i], cx, cy);
        to[starts[q] + atomicAdd(&filled[q], 1)] = from[i];
    }
    __syncthreads();
    int q = threadIdx.x;
    if (q < 4 && counts[q]) {
        Node child = {q & 1 ? cx : node.x0, q & 2 ? cy : node.y0, q & 1 ? node.x1 : cx, q & 2 ? node.y1 : cy,
                      starts[q], starts[q + 1], node.depth + 1, node.id * 4 + q};
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        build<<<1, THREADS, 0, stream>>>(to, from, child, leaves, leaf_count);
        cudaStreamDestroy(stream);
    }
}

static void count_leaves(const std::vector<float2> &points, Node node, std::vector<std::pair<int, int>> &out) {
    if ((int)points.size() <= MOST || node.depth == DEPTH) {
        out.push_back({node.id, (int)points.size()});
        return;
    }
    float cx = (node.x0 + node.x1) / 2, cy = (node.y0 + node.y1) / 2;
    for (int q = 0; q < 4; q++) {
        std::vector<float2> part;
        for (float2 p : points)
            if ((p.x >= cx) + 2 * (p.y >= cy) == q) part.push_back(p);
        Node child = {q & 1 ? cx : node.x0, q & 2 ? cy : node.y0, q & 1 ? node.x1 : cx, q & 2 ? node.y1 : cy, 0, 0,
                      node.depth + 1, node.id * 4 + q};
        if (!part.empty()) count_leaves(part, child, out);
    }
}

int main() {
    std::vector<float2> points(POINTS), got(POINTS);
    static Node leaves[POINTS];
    float2 *d_points;
    Node *d_leaves, root = {0, 0, 1, 1, 0, POINTS, 0, 1};
    int count, *d_count;
    unsigned random = 17;
    for (int i = 0; i < POINTS; i++) { // dense at one corner
        float x = next_random(random) % 10000 / 10000.0f, y = next_random(random) % 10000 / 10000.0f;
        points[i] = i % 3 ? make_float2(x * x, y * y) : make_float2(x, y);
    }
    CHECK(cudaMalloc(&d_points, 2 * POINTS * sizeof(float2)));
    CHECK(cudaMalloc(&d_leaves, sizeof leaves));
    CHECK(cudaMalloc(&d_count, 4));
    CHECK(cudaMemset(d_count, 0, 4));
    CHECK(cudaMemcpy(d_points, points.data(), POINTS * sizeof(float2), cudaMemcpyHostToDevice));
    build<<<1, THREADS>>>(d_points, d_points + POINTS, root, d_leaves, d_count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&count, d_count, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(leaves, d_leaves, sizeof leaves, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got.data(), d_points, POINTS * sizeof(float2), cudaMemcpyDeviceToHost));
    std::vector<std::pair<int, int>> wanted, have;
    count_leaves(points, root, wanted);
    for (int i = 0; i < count; i++) {
        const Node &leaf = leaves[i];
        have.push_back({leaf.id, leaf.end - leaf.begin});
        for (int k = leaf.begin; k < leaf.end; k++)
            EXPECT(got[k].x >= leaf.x0 && got[k].x <= leaf.x1 && got[k].y >= leaf.y0 && got[k].y <= leaf.y1);
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(have.begin(), have.end());
    EXPECT(wanted == have && count > 100);
    auto before = [](float2 a, float2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); };
    std::sort(points.begin(), points.end(), before);
    std::sort(got.begin(), got.end(), before);
    for (int i = 0; i < POINTS; i++) EXPECT(points[i].x == got[i].x && points[i].y == got[i].y);
    return passed();
}
