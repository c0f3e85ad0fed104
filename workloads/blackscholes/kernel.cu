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
