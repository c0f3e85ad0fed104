// libcu++: references to atomics, atomics and semaphores in managed memory, a pipeline with warps that bring data and
// warps that use them, and types of cuda::std in a kernel.
#include "check.h"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <new>
#include <vector>

#pragma nv_diag_suppress static_var_with_dynamic_init

typedef cuda::counting_semaphore<cuda::thread_scope_device, 3> Places;

struct Mailbox {
    cuda::atomic<int, cuda::thread_scope_system> flag;
    int letter;
};

__global__ void count(int *counter, float *most, unsigned long long *word) {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*counter).fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*most).fetch_max((float)threadIdx.x);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> exchanged(*word);
    unsigned long long expected = exchanged.load();
    while (!exchanged.compare_exchange_weak(expected, expected * 2 + 1)) {}
}

__global__ void hand_over(Mailbox *box, int *out) {
    if (blockIdx.x == 1) {
        box->letter = 99;
        box->flag.store(1, cuda::memory_order_release);
        box->flag.notify_all();
    } else {
        box->flag.wait(0, cuda::memory_order_acquire);
        *out = box->letter;
    }
}

__global__ void take_places(Places *places, int *inside, int *most) {
    if (threadIdx.x != 0) return;
    places->acquire();
    atomicMax(most, atomicAdd(inside, 1) + 1);
    __nanosleep(100);
    atomicSub(inside, 1);
    places->release();
}

enum { TILE = 64, STAGES = 2 };

__global__ void bring_and_use(const int *in, int *out, int tiles) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    __shared__ int tile[STAGES][TILE];
    bool brings = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state,
                                    brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0, mine = ((int)threadIdx.x - 32) % TILE;
    for (int t = 0; t < tiles; t++) {
        if (brings) {
            pipe.producer_acquire();
            for (int i = (int)threadIdx.x; i < TILE; i += 32)
                cuda::memcpy_async(&tile[t % STAGES][i], in + t * TILE + i, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += tile[t % STAGES][mine] * (t + 1);
            pipe.consumer_release();
        }
    }
    if (!brings) out[mine] = sum;
}

__global__ void standard(double *out) {
    cuda::std::complex<double> z(3, 4), i(0, 1);
    cuda::std::array<int, 4> numbers{4, 3, 2, 1};
    cuda::std::optional<double> none;
    auto pair = cuda::std::make_tuple(2.5, 7);
    int sum = 0;
    for (int x : cuda::std::span<int>(numbers.data(), 3))
        sum += x;
    out[0] = cuda::std::abs(z);
    out[1] = (z * i).real();
    out[2] = sum;
    out[3] = none.value_or(cuda::std::get<0>(pair) * cuda::std::get<1>(pair));
}

int main() {
    int *words, host[TILE];
    CHECK(cudaMalloc(&words, 64 * sizeof(int)));
    CHECK(cudaMemset(words, 0, 64 * sizeof(int)));
    count<<<2, 64>>>(words, (float *)words + 1, (unsigned long long *)words + 1);
    CHECK(cudaMemcpy(host, words, 16, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 128 && host[2] == -1 && host[3] == -1);
    EXPECT(((float *)host)[1] == 63);

    Mailbox *box;
    CHECK(cudaMallocManaged(&box, sizeof *box));
    new (box) Mailbox{};
    hand_over<<<2, 1>>>(box, words);
    CHECK(cudaMemcpy(host, words, 4, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 99 && box->flag.load() == 1);

    Places *places;
    CHECK(cudaMallocManaged(&places, sizeof *places));
    new (places) Places(3);
    CHECK(cudaMemset(words, 0, 8));
    take_places<<<16, 32>>>(places, words, words + 1);
    CHECK(cudaMemcpy(host, words, 8, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 0 && host[1] >= 1 && host[1] <= 3);

    const int tiles = 10;
    std::vector<int> in(tiles * TILE);
    for (int i = 0; i < tiles * TILE; i++)
        in[i] = i * i % 77;
    int *d_in;
    CHECK(cudaMalloc(&d_in, in.size() * sizeof(int)));
    CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));
    bring_and_use<<<1, 32 + TILE>>>(d_in, words, tiles);
    CHECK(cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < TILE; i++) {
        int sum = 0;
        for (int t = 0; t < tiles; t++)
            sum += in[t * TILE + i] * (t + 1);
        EXPECT(host[i] == sum);
    }

    double *d_out, out[4];
    CHECK(cudaMalloc(&d_out, sizeof out));
    standard<<<1, 1>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 5 && out[1] == -4 && out[2] == 9 && out[3] == 17.5);
    return passed();
}
