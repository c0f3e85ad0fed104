/* Random European call options, priced on the CPU in double precision; the device's approximate
 * exponentials and logarithms and its sums in single precision call for the tolerance. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256, SAMPLE_CTAS = 128, SAMPLE_THREADS = 128 };

static const float TOLERANCE = 2e-3f;

enum { OPTIONS, SAMPLES };

static const WorkloadInfo INFO = {
    .name = "montecarlo",
    .summary = "Prices options by Monte Carlo integration, one option per CTA.",
    .parameters =
        {
            [OPTIONS] = {"options", "to price", {10, 64, 256}, 65535, 0},
            [SAMPLES] = {"samples", "of the normal distribution", {1000, 4096, 16384}, 1u << 18, 0},
        },
};

/* As the kernel has it. */
typedef struct Option {
    float stock, strike, drift, deviation;
} Option;

static Option draw_option(Workload *workload) {
    const float *random = workload_random_fractions(workload, 4, 0.0f, 1.0f);
    float years = 1.0f + 4.0f * random[2], volatility = 0.1f + 0.2f * random[3];
    return (Option){.stock = 5.0f + 45.0f * random[0],
                    .strike = 10.0f + 15.0f * random[1],
                    .drift = (0.06f - 0.5f * volatility * volatility) * years,
                    .deviation = volatility * sqrtf(years)};
}

static double normal_distribution(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

/* The x at which the cumulative normal distribution is `probability`, by bisection. */
static double invert_normal(double probability) {
    double low = -10.0, high = 10.0;
    for (int i = 0; i < 50; i++) {
        double middle = 0.5 * (low + high);
        if (normal_distribution(middle) < probability) low = middle;
        else high = middle;
    }
    return low;
}

static void price_option(const float *samples, uint32_t count, const Option *option, float *mean,
                         float *confidence) {
    double value_sum = 0.0, square_sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double exponent = (double)option->drift + (double)(option->deviation * samples[i]);
        double value = fmax((double)option->stock * exp(exponent) - (double)option->strike, 0.0);
        value_sum += value;
        square_sum += value * value;
    }
    double expected = value_sum / count;
    double variance = square_sum / count - expected * expected;
    *mean = (float)expected;
    *confidence = (float)(1.96 * sqrt(fmax(variance, 0.0) / count));
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[SAMPLES], option_count = workload.values[OPTIONS];
    Option *options = workload_host_alloc(&workload, option_count, sizeof *options);
    for (uint32_t i = 0; i < option_count; i++)
        options[i] = draw_option(&workload);

    CUdeviceptr device_samples = workload_device_alloc(count * sizeof(float));
    CUdeviceptr device_options = workload_upload(options, option_count * sizeof *options);
    CUdeviceptr device_means = workload_device_alloc(option_count * sizeof(float));
    CUdeviceptr device_confidences = workload_device_alloc(option_count * sizeof(float));
    workload_launch(&workload, "montecarlo_samples",
                    (WorkloadShape){SAMPLE_CTAS, 1, SAMPLE_THREADS, 1},
                    (void *[]){&device_samples, &count});
    workload_launch(
        &workload, "montecarlo_price", (WorkloadShape){option_count, 1, THREADS, 1},
        (void *[]){&device_samples, &device_options, &device_means, &device_confidences, &count});

    float *samples = workload_host_alloc(&workload, count, sizeof *samples);
    float *means = workload_host_alloc(&workload, option_count, sizeof *means);
    float *confidences = workload_host_alloc(&workload, option_count, sizeof *confidences);
    for (uint32_t i = 0; i < count; i++)
        samples[i] = (float)invert_normal((double)(i + 1) / (double)(count + 1));
    for (uint32_t i = 0; i < option_count; i++)
        price_option(samples, count, &options[i], &means[i], &confidences[i]);
    bool is_right =
        workload_verify_floats(&workload, device_samples, samples, count, TOLERANCE) &&
        workload_verify_floats(&workload, device_means, means, option_count, TOLERANCE) &&
        workload_verify_floats(&workload, device_confidences, confidences, option_count, TOLERANCE);
    return workload_finish(&workload, is_right, "options", option_count);
}
