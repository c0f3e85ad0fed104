/* Random European call options, priced on the CPU in double precision; a tolerance covers the
 * device's approximate exponentials and logarithms and its sums in single precision. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 256, SAMPLE_CTAS = 128, SAMPLE_THREADS = 128, MOST_OPTIONS = 2048 };

static const float TOLERANCE = 2e-3f;

enum { OPTIONS, SAMPLES, APART };

static const WorkloadInfo INFO = {
    .name = "montecarlo",
    .summary = "Prices options by Monte Carlo integration, one option per CTA.",
    .parameters =
        {
            [OPTIONS] = {"options", "to price", {10, 64, 256}, MOST_OPTIONS, 0},
            [SAMPLES] = {"samples", "of the normal distribution", {1000, 4096, 16384}, 1u << 18, 0},
            [APART] = {"apart",
                       "1: separate product and difference, as compiled in 2010",
                       {0, 0, 0},
                       1,
                       0},
        },
};

/* The same layout as in the kernel. */
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

/* The means of an option's pay-offs and of their squares, which give its price and the price's
 * confidence. */
static void price_option(const float *samples, uint32_t count, const Option *option,
                         float means[2]) {
    double values = 0.0, squares = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double exponent = (double)option->drift + (double)(option->deviation * samples[i]);
        double value = fmax((double)option->stock * exp(exponent) - (double)option->strike, 0.0);
        values += value;
        squares += value * value;
    }
    means[0] = (float)(values / count);
    means[1] = (float)(squares / count);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[SAMPLES], option_count = workload.values[OPTIONS];
    Option *options = workload_host_alloc(&workload, MOST_OPTIONS, sizeof *options);
    for (uint32_t i = 0; i < option_count; i++)
        options[i] = draw_option(&workload);

    workload_set_variable(&workload, "options", options, MOST_OPTIONS * sizeof *options);
    CUdeviceptr device_samples = workload_device_alloc(count * sizeof(float));
    CUdeviceptr device_sums = workload_device_alloc(2 * option_count * sizeof(float));
    workload_launch(&workload, "montecarlo_samples",
                    (WorkloadShape){SAMPLE_CTAS, 1, SAMPLE_THREADS, 1},
                    (void *[]){&device_samples, &count});
    const char *kernel = workload.values[APART] ? "montecarlo_price_apart" : "montecarlo_price";
    workload_launch(&workload, kernel, (WorkloadShape){option_count, 1, THREADS, 1},
                    (void *[]){&device_samples, &device_sums, &count});

    size_t mean_count = 2 * (size_t)option_count;
    float *samples = workload_host_alloc(&workload, count, sizeof *samples);
    float *expected = workload_host_alloc(&workload, mean_count, sizeof *expected);
    float *got = workload_host_alloc(&workload, mean_count, sizeof *got);
    uint32_t step = UINT32_MAX / (count + 1);
    for (uint32_t i = 0; i < count; i++)
        samples[i] = (float)invert_normal(((double)(i + 1) * step + 0.5) / UINT32_MAX);
    for (uint32_t i = 0; i < option_count; i++)
        price_option(samples, count, &options[i], &expected[2 * i]);
    workload_copy_to_host(got, device_sums, mean_count * sizeof *got);
    for (size_t i = 0; i < mean_count; i++)
        got[i] /= (float)count;
    bool is_right = workload_verify_floats(&workload, device_samples, samples, count, TOLERANCE) &&
                    workload_compare_floats(&workload, got, expected, mean_count, TOLERANCE);
    return workload_finish(&workload, is_right, "options", option_count);
}
