/* A pipeline of asynchronous copies: while a tile is summed up, the next two are on their way to
 * shared memory. The last tile is short: cp.async fills up what it does not read. */
#include "tensor.h"

enum { STAGES = 3, TILE = 256 };

static __device__ void start_copy(unsigned *tile, const unsigned *from, unsigned left) {
    unsigned words = left > threadIdx.x * 4 ? left - threadIdx.x * 4 : 0;
    unsigned bytes = words < 4 ? words * 4 : 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(tile + threadIdx.x * 4)), "l"(from + threadIdx.x * 4), "r"(bytes)
                 : "memory");
}

extern "C" __global__ void copy_pipeline(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ __align__(16) unsigned tiles[STAGES][TILE];
    unsigned count = (n + TILE - 1) / TILE, sum = 0;
    for (unsigned i = 0; i < STAGES - 1; i++) {
        if (i < count) start_copy(tiles[i], in + i * TILE, n - i * TILE);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned next = i + STAGES - 1;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (next < count) start_copy(tiles[next % STAGES], in + next * TILE, n - next * TILE);
        asm volatile("cp.async.commit_group;" ::: "memory");
        for (unsigned k = 0; k < 4; k++)
            sum += tiles[i % STAGES][(threadIdx.x * 5 + k * 64) % TILE] * (i + 1);
    }
    out[threadIdx.x] = sum;
}
