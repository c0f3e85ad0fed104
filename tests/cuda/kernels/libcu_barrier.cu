/* cuda::barrier and cuda::memcpy_async of libcu++: a CTA copies tiles and reads them when they are
 * there. */
#include <cooperative_groups.h>
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init

enum { TILE = 128 };

extern "C" __global__ void libcu_barrier(const unsigned *in, unsigned *out, unsigned n) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) unsigned tile[TILE];
    __shared__ Barrier barrier;
    auto group = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    group.sync();
    unsigned sum = 0;
    for (unsigned first = 0; first < n; first += TILE) {
        cuda::memcpy_async(group, tile, in + first, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        sum = sum * 5 + tile[(threadIdx.x * 3 + 1) % TILE];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}
