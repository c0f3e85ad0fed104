// printf in kernels: the output comes in order with the host's own.
#include "check.h"

__global__ void hello(const char *word, double number) {
    if (threadIdx.x % 32 == 0)
        printf("block %d warp %u %s %.3f %c %%\n", blockIdx.x, threadIdx.x / 32, word, number,
               'a' + blockIdx.x);
}

__global__ void copy_word(char *to) {
    const char word[] = "word";
    for (int i = 0; i < 5; i++)
        to[i] = word[i];
}

int main() {
    char *word;
    CHECK(cudaMalloc(&word, 8));
    copy_word<<<1, 1>>>(word);
    std::printf("before\n");
    std::fflush(stdout);
    hello<<<1, 64>>>(word, 2.5);
    CHECK(cudaDeviceSynchronize());
    std::printf("between\n");
    std::fflush(stdout);
    hello<<<2, 32>>>(word, -1);
    CHECK(cudaDeviceSynchronize());
    return passed();
}
