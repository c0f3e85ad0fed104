// CUB's primitives inside a kernel: loads and stores that change the arrangement, block sort, block and warp scans.
#include "check.h"

#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <vector>

enum { THREADS = 128, EACH = 4, TILE = THREADS * EACH };

__global__ void sort_and_scan(const int *in, int *sorted, int *sums, int *totals) {
    using Load = cub::BlockLoad<int, THREADS, EACH, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, EACH, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, THREADS, EACH>;
    using Scan = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } shared;
    int items[EACH], copy[EACH], total; // a store that transposes leaves its items in disorder
    Load(shared.load).Load(in + blockIdx.x * TILE, items);
    __syncthreads();
    Sort(shared.sort).Sort(items);
    __syncthreads();
    for (int i = 0; i < EACH; i++)
        copy[i] = items[i];
    Store(shared.store).Store(sorted + blockIdx.x * TILE, copy);
    __syncthreads();
    Scan(shared.scan).InclusiveSum(items, items, total);
    __syncthreads();
    for (int i = 0; i < EACH; i++)
        copy[i] = items[i];
    Store(shared.store).Store(sums + blockIdx.x * TILE, copy);
    __syncthreads();
    int most = Reduce(shared.reduce).Reduce(items[EACH - 1], [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x == 0) totals[2 * blockIdx.x] = total, totals[2 * blockIdx.x + 1] = most;
}

__global__ void warps(const int *in, int *out, int *sums) {
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int, 16>;
    __shared__ typename Reduce::TempStorage reduce[THREADS / 32];
    __shared__ typename Scan::TempStorage scan[THREADS / 16];
    int x = in[threadIdx.x], before;
    int sum = Reduce(reduce[threadIdx.x / 32]).Sum(x);
    Scan(scan[threadIdx.x / 16]).ExclusiveSum(x, before);
    out[threadIdx.x] = before;
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
}

int main() {
    const int blocks = 3, n = blocks * TILE;
    std::vector<int> in(n), sorted(n), sums(n), totals(2 * blocks);
    unsigned state = 3;
    for (int &x : in)
        x = (int)(next_random(state) % 2001) - 1000;
    int *d_in, *d_sorted, *d_sums, *d_totals;
    CHECK(cudaMalloc(&d_in, n * 4));
    CHECK(cudaMalloc(&d_sorted, n * 4));
    CHECK(cudaMalloc(&d_sums, n * 4));
    CHECK(cudaMalloc(&d_totals, 2 * blocks * 4));
    CHECK(cudaMemcpy(d_in, in.data(), n * 4, cudaMemcpyHostToDevice));
    sort_and_scan<<<blocks, THREADS>>>(d_in, d_sorted, d_sums, d_totals);
    CHECK(cudaMemcpy(sorted.data(), d_sorted, n * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums.data(), d_sums, n * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(totals.data(), d_totals, 2 * blocks * 4, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++) {
        std::vector<int> tile(in.begin() + b * TILE, in.begin() + (b + 1) * TILE);
        std::sort(tile.begin(), tile.end());
        int sum = 0, most = -1 << 30;
        for (int i = 0; i < TILE; i++) {
            sum += tile[i];
            EXPECT(sorted[b * TILE + i] == tile[i] && sums[b * TILE + i] == sum);
            if (i % EACH == EACH - 1) most = std::max(most, sum);
        }
        EXPECT(totals[2 * b] == sum && totals[2 * b + 1] == most);
    }
    warps<<<1, THREADS>>>(d_in, d_sorted, d_sums);
    CHECK(cudaMemcpy(sorted.data(), d_sorted, THREADS * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums.data(), d_sums, THREADS / 32 * 4, cudaMemcpyDeviceToHost));
    for (int i = 0, before = 0, sum = 0; i < THREADS; i++) {
        if (i % 16 == 0) before = 0;
        if (i % 32 == 0) sum = 0;
        EXPECT(sorted[i] == before);
        before += in[i], sum += in[i];
        if (i % 32 == 31) EXPECT(sums[i / 32] == sum);
    }
    return passed();
}
