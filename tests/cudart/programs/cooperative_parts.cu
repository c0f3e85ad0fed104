// Cooperative groups: scans of small tiles, parts by label, coalesced threads, tiles of a size known when they run.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void find_parts(const int *in, double *sums, int *out) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<8>(warp);
    int i = threadIdx.x;
    sums[i] = cg::inclusive_scan(tile, (double)i);
    auto same = cg::labeled_partition(cg::coalesced_threads(), in[i] % 3);
    out[i] = cg::exclusive_scan(same, 1) * 100 + (int)same.num_threads();
    if (in[i] % 2) {
        auto odd = cg::coalesced_threads();
        out[i] += 10000 * (int)odd.thread_rank() + 1000000 * odd.shfl(i, 2);
    }
    cg::thread_group half = cg::tiled_partition(block, 16);
    half.sync();
    if (half.thread_rank() == 3) out[i] += 100000000;
    cg::sync(block);
}

int main() {
    int in[32], out[32], *d_in, *d_out;
    double sums[32], *d_sums;
    for (int i = 0; i < 32; i++)
        in[i] = i * 7 % 13;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_sums, sizeof sums));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    find_parts<<<1, 32>>>(d_in, d_sums, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        int before = 0, alike = 0, odd_before = 0, third_odd = -1, odds = 0, expected;
        double sum = 0;
        for (int j = i / 8 * 8; j <= i; j++)
            sum += j;
        for (int j = 0; j < 32; j++) {
            alike += in[j] % 3 == in[i] % 3;
            before += j < i && in[j] % 3 == in[i] % 3;
            odd_before += j < i && in[j] % 2;
            if (in[j] % 2 && odds++ == 2) third_odd = j;
        }
        expected = before * 100 + alike + (in[i] % 2 ? 10000 * odd_before + 1000000 * third_odd : 0);
        EXPECT(out[i] == expected + (i % 16 == 3 ? 100000000 : 0));
        EXPECT(sums[i] == sum);
    }
    return passed();
}
