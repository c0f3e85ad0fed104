/* Call and put prices of European options. The reference computes in double with the C library's
 * complementary error function; the tolerance covers the kernel's series and approximate functions.
 */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 128, MOST_CTAS = 480 };

static const float TOLERANCE = 2e-4f;

enum { OPTIONS, RUNS, APART };

static const WorkloadInfo INFO = {
    .name = "blackscholes",
    .summary = "Prices European options by the Black-Scholes formula.",
    .parameters =
        {
            [OPTIONS] = {"options", "to price", {1000, 65536, 524288}, 1u << 26, 0},
            [RUNS] = {"runs", "of the kernel", {1, 1, 1}, 1000, 0},
            [APART] = {"apart",
                       "1: separate products and differences, as compiled in 2010",
                       {0, 0, 0},
                       1,
                       0},
        },
};

static double normal_distribution(double d) { return 0.5 * erfc(-d / sqrt(2.0)); }

static void price(double stock, double strike, double time, double rate, double volatility,
                  float *call, float *put) {
    double deviation = volatility * sqrt(time);
    double d1 = (log(stock / strike) + (rate + 0.5 * volatility * volatility) * time) / deviation;
    double d2 = d1 - deviation, present = strike * exp(-rate * time);
    *call = (float)(stock * normal_distribution(d1) - present * normal_distribution(d2));
    *put = (float)(present * normal_distribution(-d2) - stock * normal_distribution(-d1));
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[OPTIONS];
    size_t size_bytes = n * sizeof(float);
    float *stocks = workload_random_fractions(&workload, n, 5.0f, 30.0f);
    float *strikes = workload_random_fractions(&workload, n, 1.0f, 100.0f);
    float *years = workload_random_fractions(&workload, n, 0.25f, 10.0f);
    float rate = 0.02f, volatility = 0.30f;

    CUdeviceptr device_stocks = workload_upload(stocks, size_bytes);
    CUdeviceptr device_strikes = workload_upload(strikes, size_bytes);
    CUdeviceptr device_years = workload_upload(years, size_bytes);
    CUdeviceptr calls = workload_device_alloc(size_bytes);
    CUdeviceptr puts = workload_device_alloc(size_bytes);
    WorkloadShape shape = workload_cover(n, THREADS);
    if (shape.grid_x > MOST_CTAS) shape.grid_x = MOST_CTAS;
    const char *kernel = workload.values[APART] ? "blackscholes_apart" : "blackscholes";
    for (unsigned i = 0; i < workload.values[RUNS]; i++)
        workload_launch(&workload, kernel, shape,
                        (void *[]){&device_stocks, &device_strikes, &device_years, &calls, &puts,
                                   &rate, &volatility, &n});

    float *expected_calls = workload_host_alloc(&workload, n, sizeof(float));
    float *expected_puts = workload_host_alloc(&workload, n, sizeof(float));
    for (size_t i = 0; i < n; i++)
        price((double)stocks[i], (double)strikes[i], (double)years[i], (double)rate,
              (double)volatility, &expected_calls[i], &expected_puts[i]);
    bool is_right = workload_verify_floats(&workload, calls, expected_calls, n, TOLERANCE);
    is_right &= workload_verify_floats(&workload, puts, expected_puts, n, TOLERANCE);
    return workload_finish(&workload, is_right, "options", n);
}
