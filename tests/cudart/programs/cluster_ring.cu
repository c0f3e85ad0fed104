/* Blocks of a cluster hand their sums round by distributed shared memory, and a dependent grid adds to the result. */
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

enum { BLOCKS = 8, CLUSTER = 4, THREADS = 64 };

/* Each block reads the sums of its cluster's blocks one after the other, and adds them up. */
__global__ void ring(const int *in, int *out) {
    __shared__ int sum;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * THREADS + threadIdx.x]);
    cluster.sync();
    if (threadIdx.x == 0) {
        int all = 0;
        for (unsigned i = 0; i < cluster.num_blocks(); i++) {
            int *theirs = cluster.map_shared_rank(&sum, (rank + i) % cluster.num_blocks());
            all += *theirs;
            if (cluster.query_shared_rank(theirs) != (rank + i) % cluster.num_blocks()) all = -1;
        }
        out[blockIdx.x] = all;
    }
    cg::cluster_group::arrival_token token = cluster.barrier_arrive(); /* none leaves while others read */
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
    if (threadIdx.x == 0) out[BLOCKS + blockIdx.x] = (int)(cluster.num_threads() * 1000 + cluster.thread_rank());
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void add(int *out, int what) {
    cudaGridDependencySynchronize();
    out[threadIdx.x] += what;
}

int main() {
    int in[BLOCKS * THREADS], out[2 * BLOCKS], *device_in, *device_out;
    for (int i = 0; i < BLOCKS * THREADS; i++)
        in[i] = i;
    cudaDeviceProp device;
    int has_clusters;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
    EXPECT(device.clusterLaunch == has_clusters && has_clusters == (device.major >= 9));
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));

    cudaLaunchAttribute clustered = {}, dependent = {};
    clustered.id = cudaLaunchAttributeClusterDimension;
    clustered.val.clusterDim.x = CLUSTER, clustered.val.clusterDim.y = clustered.val.clusterDim.z = 1;
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS), config.blockDim = dim3(THREADS);
    config.attrs = &clustered, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, ring, device_in, device_out));
    config.gridDim = dim3(1), config.blockDim = dim3(2 * BLOCKS);
    config.attrs = &dependent;
    CHECK(cudaLaunchKernelEx(&config, add, device_out, (char)7)); /* becomes the parameter's int */
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));

    for (int block = 0; block < BLOCKS; block++) {
        const int first = block / CLUSTER * CLUSTER * THREADS, count = CLUSTER * THREADS;
        EXPECT(out[block] == count * first + count * (count - 1) / 2 + 7);
        EXPECT(out[BLOCKS + block] == count * 1000 + block % CLUSTER * THREADS + 7);
    }
    return passed();
}
