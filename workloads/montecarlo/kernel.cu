/* Prices of European call options by Monte Carlo integration: normally distributed samples from an
 * even sequence, then the mean pay-off of all samples, one option per CTA. */
#include "tyto_device.h"

enum { THREADS = 256 };

/* The terms of an option: its value at the end is that of stock * exp(drift + deviation * sample)
 * above the strike price. */
struct Option {
    float stock, strike, drift, deviation;
};

static __device__ float evaluate(const float *coefficients, int count, float x) {
    float sum = coefficients[0];
    for (int i = 1; i < count; i++)
        sum = sum * x + coefficients[i];
    return sum;
}

/* The inverse of the cumulative normal distribution by Moro's approximation: a rational function in
 * the middle, a series in the logarithm of the logarithm in the tails. */
static __device__ float invert_normal(float probability) {
    const float above[] = {-25.44106049637f, 41.39119773534f, -18.61500062529f, 2.50662823884f};
    const float below[] = {3.13082909833f, -21.06224101826f, 23.08336743743f, -8.47351093090f,
                           1.0f};
    const float tail[] = {3.960315187e-7f,     2.888167364e-7f,     3.21767881768e-5f,
                          3.951896511919e-4f,  3.8405729373609e-3f, 2.76438810333863e-2f,
                          0.1607979714918209f, 0.9761690190917186f, 0.3374754822726147f};
    float y = probability - 0.5f;
    if (fabsf(y) < 0.42f) {
        float square = y * y;
        return y * evaluate(above, 4, square) / evaluate(below, 5, square);
    }
    float rest = y > 0.0f ? 1.0f - probability : probability;
    float size = evaluate(tail, 9, __logf(-__logf(rest)));
    return y > 0.0f ? size : -size;
}

extern "C" __global__ void montecarlo_samples(float *samples, unsigned count) {
    unsigned threads = gridDim.x * blockDim.x;
    float step = 1.0f / (float)(count + 1);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        samples[i] = invert_normal((float)(i + 1) * step);
}

/* Adds up sum[] over the CTA into sum[0]. */
static __device__ void add_up(float *sum, int thread) {
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (thread < stride) sum[thread] += sum[thread + stride];
    }
    __syncthreads();
}

/* The mean pay-off and the width of its 95 % confidence interval. */
extern "C" __global__ void montecarlo_price(const float *samples, const Option *options,
                                            float *means, float *confidences, int count) {
    __shared__ float values[THREADS], squares[THREADS];
    Option option = options[blockIdx.x];
    int thread = threadIdx.x;
    float value_sum = 0.0f, square_sum = 0.0f;
    for (int i = thread; i < count; i += THREADS) {
        float end = option.stock * __expf(option.drift + option.deviation * samples[i]);
        float value = fmaxf(end - option.strike, 0.0f);
        value_sum += value;
        square_sum += value * value;
    }
    values[thread] = value_sum;
    squares[thread] = square_sum;
    add_up(values, thread);
    add_up(squares, thread);
    if (thread > 0) return;
    float mean = values[0] / (float)count;
    float variance = squares[0] / (float)count - mean * mean;
    means[blockIdx.x] = mean;
    confidences[blockIdx.x] = 1.96f * sqrtf(fmaxf(variance, 0.0f) / (float)count);
}
