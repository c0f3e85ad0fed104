/* Prices of European options by the Black-Scholes formula, a grid-stride loop over the options:
 * long chains of arithmetic and special functions on coalesced streams. */
#include "tyto_device.h"

/* The cumulative normal distribution: Abramowitz and Stegun, 26.2.17. */
static __device__ float normal_distribution(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float series =
        k * (0.31938153f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float upper = 0.39894228f * __expf(-0.5f * d * d) * series;
    return d > 0.0f ? 1.0f - upper : upper;
}

extern "C" __global__ void blackscholes(const float *stock_prices, const float *strike_prices,
                                        const float *years, float *calls, float *puts,
                                        float riskless_rate, float volatility, unsigned options) {
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += threads) {
        float stock = stock_prices[i], strike = strike_prices[i], time = years[i];
        float deviation = volatility * sqrtf(time);
        float d1 =
            (__logf(stock / strike) + (riskless_rate + 0.5f * volatility * volatility) * time) /
            deviation;
        float n1 = normal_distribution(d1), n2 = normal_distribution(d1 - deviation);
        float present = strike * __expf(-riskless_rate * time);
        calls[i] = stock * n1 - present * n2;
        puts[i] = present * (1.0f - n2) - stock * (1.0f - n1);
    }
}

/* Brings a constant into a register. */
template <unsigned Bits> static __device__ float constant() {
    float value;
    asm volatile("mov.b32 %0, %1;" : "=f"(value) : "n"(Bits));
    return value;
}

#define CONSTANT(value) constant<__builtin_bit_cast(unsigned, value)>()

static __device__ float exponential_apart(float x) {
    float power, scaled = x * CONSTANT(1.44269504f);
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(scaled));
    return power;
}

static __device__ float normal_distribution_apart(float d) {
    float k = 1.0f / (CONSTANT(1.0f) + CONSTANT(0.2316419f) * fabsf(d));
    float series = CONSTANT(-1.821255978f) + k * CONSTANT(1.330274429f);
    series = CONSTANT(1.781477937f) + k * series;
    series = CONSTANT(-0.356563782f) + k * series;
    series = k * (CONSTANT(0.31938153f) + k * series);
    float density = CONSTANT(0.39894228f) * exponential_apart(CONSTANT(-0.5f) * d * d);
    float upper = __fmul_rn(density, series), lower = __fsub_rn(CONSTANT(1.0f), upper);
    return d > CONSTANT(0.0f) ? lower : upper;
}

/* The same as compiled by NVIDIA's compiler of 2010: products and differences are separate
 * instructions, and each use of a constant loads it into a register for each option. */
extern "C" __global__ void blackscholes_apart(const float *stock_prices,
                                              const float *strike_prices, const float *years,
                                              float *calls, float *puts, float riskless_rate,
                                              float volatility, unsigned options) {
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += threads) {
        float stock = stock_prices[i], strike = strike_prices[i], time = years[i];
        float root = sqrtf(time), binary_logarithm;
        asm("lg2.approx.f32 %0, %1;" : "=f"(binary_logarithm) : "f"(stock / strike));
        float logarithm = __fmul_rn(binary_logarithm, CONSTANT(0.69314718f));
        float drift = riskless_rate + 0.5f * volatility * volatility;
        float d1 = (drift * time + logarithm) / (volatility * root);
        float d2 = __fsub_rn(d1, __fmul_rn(volatility, root));
        float n1 = normal_distribution_apart(d1), n2 = normal_distribution_apart(d2);
        float present = strike * exponential_apart(-riskless_rate * time);
        calls[i] = __fsub_rn(__fmul_rn(stock, n1), __fmul_rn(present, n2));
        puts[i] = __fsub_rn(__fmul_rn(present, CONSTANT(1.0f) - n2),
                            __fmul_rn(stock, CONSTANT(1.0f) - n1));
    }
}
