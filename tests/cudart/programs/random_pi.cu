// Pi, by points of cuRAND's generators that a kernel counts in a quarter of a circle.
#include <curand.h>

#include "check.h"

enum { POINTS = 16384, BLOCK = 256 };

static void check_random(curandStatus_t status, int line) {
    if (status == CURAND_STATUS_SUCCESS) return;
    std::printf("line %d: status %d of cuRAND\n", line, (int)status);
    std::exit(1);
}
#define RANDOM(call) check_random(call, __LINE__)

__global__ void count_inside(const float *x, const float *y, unsigned *inside) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffff, x[i] * x[i] + y[i] * y[i] <= 1);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, __popc(votes));
}

int main() {
    static const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                            CURAND_RNG_QUASI_SOBOL32};
    float *points;
    unsigned *inside, count;
    CHECK(cudaMalloc(&points, 2 * POINTS * sizeof *points));
    CHECK(cudaMalloc(&inside, sizeof *inside));
    for (curandRngType_t type : types) {
        curandGenerator_t generator;
        bool is_quasi = type == CURAND_RNG_QUASI_SOBOL32;
        RANDOM(curandCreateGenerator(&generator, type));
        if (is_quasi) RANDOM(curandSetQuasiRandomGeneratorDimensions(generator, 2));
        else RANDOM(curandSetPseudoRandomGeneratorSeed(generator, 42));
        RANDOM(curandGenerateUniform(generator, points, 2 * POINTS));
        CHECK(cudaMemset(inside, 0, sizeof *inside));
        count_inside<<<POINTS / BLOCK, BLOCK>>>(points, points + POINTS, inside);
        CHECK(cudaMemcpy(&count, inside, sizeof count, cudaMemcpyDeviceToHost));
        RANDOM(curandDestroyGenerator(generator));
        double pi = 4.0 * count / POINTS;
        EXPECT(std::fabs(pi - 3.14159265) < (is_quasi ? 0.005 : 0.05));
    }
    return passed();
}
