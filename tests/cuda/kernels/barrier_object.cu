/* mbarrier: two halves of a CTA hand tiles to each other, through one barrier for full and one for
 * empty, several phases long. */
#include "tensor.h"

enum { TILE = 64, ROUNDS = 6 };

static __device__ void arrive(unsigned long long *barrier) {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
}

static __device__ void wait(unsigned long long *barrier, unsigned parity) {
    unsigned done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    while (!done);
}

extern "C" __global__ void barrier_object(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned tile[TILE];
    __shared__ unsigned long long full, empty;
    bool is_consumer = threadIdx.x >= TILE;
    unsigned i = threadIdx.x % TILE;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&full)), "r"(TILE));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&empty)), "r"(TILE));
    }
    __syncthreads();
    unsigned sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (is_consumer) {
            wait(&full, round & 1);
            sum = sum * 3 + tile[(i + 7 * round) % TILE];
            arrive(&empty);
        } else {
            if (round) wait(&empty, (round - 1) & 1);
            tile[i] = in[(round * TILE + i) % n];
            arrive(&full);
        }
    }
    if (is_consumer) out[i] = sum;
}
