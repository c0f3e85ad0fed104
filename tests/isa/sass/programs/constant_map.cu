// A copy of a tensor by a map in constant memory.
#include <cstdint>
#include <cstdio>
#include <cuda.h>

__constant__ CUtensorMap map;

__global__ void copy(int *out) {
    __shared__ alignas(128) int tile[32];
    __shared__ uint64_t barrier;
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at));
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(tile)),
                     "l"(&map), "r"(32), "r"(at)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra WAIT; }" ::"r"(at) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
    int host[64], *in, *out;
    for (int i = 0; i < 64; i++)
        host[i] = 3 * i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 128);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    CUtensorMap made;
    const cuuint64_t size = 64;
    const cuuint32_t box = 32, stride = 1;
    cuTensorMapEncodeTiled(&made, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, in, &size, nullptr, &box, &stride, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cudaMemcpyToSymbol(map, &made, sizeof made);
    copy<<<1, 32>>>(out);
    cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", host[0], host[31], cudaGetErrorString(cudaGetLastError()));
}
