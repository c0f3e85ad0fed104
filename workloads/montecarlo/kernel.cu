/* Sums from which the host prices European call options by Monte Carlo integration: normally
 * distributed samples from an equidistant sequence, then the pay-offs of all samples, with one
 * option per CTA. As in NVIDIA's sample, the terms of the options are in constant memory. One tree
 * adds both sums of a CTA, and one warp computes its last six levels in lockstep. The sequence
 * consists of whole numbers; its upper half mirrors the lower one. */
#include "tyto_device.h"

enum { THREADS = 256, WARP = 32, MOST_OPTIONS = 2048 };

/* The terms of an option: its value at the end is that of stock * exp(drift + deviation * sample)
 * above the strike price. */
struct Option {
    float stock, strike, drift, deviation;
};

/* The sums of an option's pay-offs and of their squares. */
struct Sums {
    float values, squares;
};

__constant__ Option options[MOST_OPTIONS];

static __device__ float evaluate(const float *coefficients, int count, float x) {
    float sum = coefficients[0];
    for (int i = 1; i < count; i++)
        sum = sum * x + coefficients[i];
    return sum;
}

/* The inverse of the cumulative normal distribution at `x` + 1/2 of 2^32 - 1, by Moro's
 * approximation: a rational function in the middle, a series in the logarithm of the logarithm in
 * the tails. Computed for the lower half, where it is negative. */
static __device__ float invert_normal(unsigned x) {
    const float above[] = {-25.44106049637f, 41.39119773534f, -18.61500062529f, 2.50662823884f};
    const float below[] = {3.13082909833f, -21.06224101826f, 23.08336743743f, -8.47351093090f,
                           1.0f};
    const float tail[] = {3.960315187e-7f,     2.888167364e-7f,     3.21767881768e-5f,
                          3.951896511919e-4f,  3.8405729373609e-3f, 2.76438810333863e-2f,
                          0.1607979714918209f, 0.9761690190917186f, 0.3374754822726147f};
    const float step = 1.0f / 4294967295.0f;
    bool is_upper = x >= 0x80000000u;
    if (is_upper) x = 0xffffffffu - x;
    float probability = (float)x * step + step / 2.0f, y = probability - 0.5f, lower;
    if (y > -0.42f) {
        float square = y * y;
        lower = y * evaluate(above, 4, square) / evaluate(below, 5, square);
    } else {
        lower = -evaluate(tail, 9, __logf(-__logf(probability)));
    }
    return is_upper ? -lower : lower;
}

extern "C" __global__ void montecarlo_samples(float *samples, unsigned count) {
    unsigned step = 0xffffffffu / (count + 1);
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        samples[i] = invert_normal((i + 1) * step);
}

/* Adds up both arrays over the CTA into their first elements. */
static __device__ void add_up(volatile float *values, volatile float *squares, unsigned thread) {
#pragma unroll
    for (unsigned stride = THREADS / 2; stride > WARP; stride /= 2) {
        __syncthreads();
        if (thread < stride) {
            values[thread] += values[thread + stride];
            squares[thread] += squares[thread + stride];
        }
    }
    __syncthreads();
    if (thread < WARP) {
#pragma unroll
        for (unsigned stride = WARP; stride > 0; stride /= 2) {
            values[thread] += values[thread + stride];
            squares[thread] += squares[thread + stride];
        }
    }
}

/* The value of the option at the end. */
static __device__ float pay_off(float stock, float strike, float exponent) {
    float end = stock * __expf(exponent) - strike;
    return end > 0.0f ? end : 0.0f;
}

/* The same as compiled by NVIDIA's compiler of 2010: product and difference are separate
 * instructions, and constants are loaded into registers each time. */
static __device__ float pay_off_apart(float stock, float strike, float exponent) {
    float scale, zero, power;
    asm volatile("mov.f32 %0, 0f3FB8AA3B;" : "=f"(scale)); /* the logarithm of e to base 2 */
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(__fmul_rn(exponent, scale)));
    float end = __fsub_rn(__fmul_rn(stock, power), strike);
    asm volatile("mov.f32 %0, 0f00000000;" : "=f"(zero));
    return fmaxf(end, zero);
}

/* Adds up the pay-offs of the CTA's option. */
template <float (*Value)(float, float, float)>
static __device__ void price(const float *samples, Sums *sums, int count) {
    __shared__ float values[THREADS], squares[THREADS];
    const Option &option = options[blockIdx.x];
    float stock = option.stock, strike = option.strike, drift = option.drift;
    float deviation = option.deviation;
    Sums sum = {0.0f, 0.0f};
    for (int i = (int)threadIdx.x; i < count; i += THREADS) {
        float value = Value(stock, strike, drift + deviation * samples[i]);
        sum.values += value;
        sum.squares += value * value;
    }
    values[threadIdx.x] = sum.values;
    squares[threadIdx.x] = sum.squares;
    add_up(values, squares, threadIdx.x);
    if (threadIdx.x == 0) sums[blockIdx.x] = {values[0], squares[0]};
}

extern "C" __global__ void montecarlo_price(const float *samples, Sums *sums, int count) {
    price<pay_off>(samples, sums, count);
}

extern "C" __global__ void montecarlo_price_apart(const float *samples, Sums *sums, int count) {
    price<pay_off_apart>(samples, sums, count);
}
