// Cooperative groups: blocks, tiles of a warp and their collectives.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

template <int SIZE> __global__ void sum_tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<SIZE>(block);
    int rank = block.group_index().x * block.size() + block.thread_rank();
    int sum = in[rank];
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        sum += tile.shfl_down(sum, offset);
    int again = cg::reduce(tile, in[rank], cg::plus<int>());
    block.sync();
    if (tile.thread_rank() == 0) out[rank / SIZE] = sum == again ? sum : -1;
}

__global__ void count_odd(const int *in, int *out) {
    if (in[threadIdx.x] % 2) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(out, (int)active.size());
    }
}

template <int SIZE> void run(const int *in, const int *d_in, int n) {
    int *d_out, *out = new int[n / SIZE];
    CHECK(cudaMalloc(&d_out, n / SIZE * sizeof(int)));
    sum_tiles<SIZE><<<n / 64, 64>>>(d_in, d_out);
    CHECK(cudaMemcpy(out, d_out, n / SIZE * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n / SIZE; i++) {
        int sum = 0;
        for (int j = 0; j < SIZE; j++)
            sum += in[i * SIZE + j];
        EXPECT(out[i] == sum);
    }
    CHECK(cudaFree(d_out));
    delete[] out;
}

int main() {
    const int n = 256;
    int in[n], *d_in, *d_count, count = 0, odd = 0;
    for (int i = 0; i < n; i++)
        odd += (in[i] = i * i % 23) % 2 && i < 64;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_count, sizeof count));
    CHECK(cudaMemset(d_count, 0, sizeof count));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    run<4>(in, d_in, n);
    run<16>(in, d_in, n);
    run<32>(in, d_in, n);
    count_odd<<<1, 64>>>(d_in, d_count);
    CHECK(cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost));
    EXPECT(count == odd);
    return passed();
}
