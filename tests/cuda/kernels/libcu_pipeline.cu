/* cuda::pipeline of libcu++ with two stages, shared by a CTA. */
#include <cooperative_groups.h>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init

enum { TILE = 128, STAGES = 2 };

extern "C" __global__ void libcu_pipeline(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ alignas(16) unsigned tiles[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto group = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(group, &state);
    unsigned sum = 0, next = 0, count = n / TILE;
    for (unsigned i = 0; i < count; i++) {
        for (; next < count && next < i + STAGES; next++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(group, tiles[next % STAGES], in + next * TILE,
                               cuda::aligned_size_t<16>(sizeof tiles[0]), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum = sum * 5 + tiles[i % STAGES][(threadIdx.x * 3 + 1) % TILE];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}
