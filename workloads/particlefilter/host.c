/* Tracks an object that moves in the plane, with noisy observations, by a particle filter: the host
 * moves and weighs the particles, the device resamples them. Particles are copied, so the
 * comparison is exact. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 128 };

enum { PARTICLES, FRAMES };

static const WorkloadInfo INFO = {
    .name = "particlefilter",
    .summary = "Tracks an object by a particle filter whose particles search linearly.",
    .parameters =
        {
            [PARTICLES] = {"particles", "", {300, 2048, 6144}, 1u << 20, 0},
            [FRAMES] = {"frames", "observed", {4, 2, 1}, 1000, 0},
        },
};

/* Roughly normal with unit deviation: a sum of twelve uniform random numbers. */
static double draw_normal(Workload *workload) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += 1e-6 * (double)workload_random(workload, 1000000);
    return sum;
}

/* Moves every particle by the object's motion with noise, and computes the running sum of the
 * particles' weights from the observation at (x, y). */
static void move_and_weigh(Workload *workload, double *xs, double *ys, double *cumulative,
                           size_t count, double x, double y) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        xs[i] += 1.0 + 2.0 * draw_normal(workload);
        ys[i] += -2.0 + draw_normal(workload);
        sum += exp(-0.05 * ((xs[i] - x) * (xs[i] - x) + (ys[i] - y) * (ys[i] - y)));
        cumulative[i] = sum;
    }
    for (size_t i = 0; i < count; i++)
        cumulative[i] /= sum;
}

/* Both sequences are ascending, so a single pass finds the result of each particle's search. */
static void resample(const double *from, double *to, const double *cumulative, const double *draws,
                     size_t count) {
    for (size_t i = 0, chosen = 0; i < count; i++) {
        while (chosen < count - 1 && cumulative[chosen] < draws[i])
            chosen++;
        to[i] = from[chosen];
    }
}

/* Whether the device's particles equal these to the bit. */
static bool is_copy(Workload *workload, CUdeviceptr got, const double *expected, size_t count) {
    return workload_verify_bytes(workload, got, (const uint8_t *)expected,
                                 count * sizeof *expected);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned n = workload.values[PARTICLES];
    size_t size_bytes = n * sizeof(double);
    double *x = workload_host_alloc(&workload, n, sizeof *x);
    double *y = workload_host_alloc(&workload, n, sizeof *y);
    double *draws = workload_host_alloc(&workload, n, sizeof *draws);
    double *cumulative = workload_host_alloc(&workload, n, sizeof *cumulative);
    double *expected = workload_host_alloc(&workload, n, sizeof *expected);
    CUdeviceptr buffers[6]; /* x, y, cumulative weights, draws, new x, new y */
    for (int i = 0; i < 6; i++)
        buffers[i] = workload_device_alloc(size_bytes);

    bool is_right = true;
    for (unsigned frame = 1; frame <= workload.values[FRAMES]; frame++) {
        double seen_x = (double)frame + draw_normal(&workload);
        double seen_y = -2.0 * (double)frame + draw_normal(&workload);
        move_and_weigh(&workload, x, y, cumulative, n, seen_x, seen_y);
        double first = 1e-6 * (double)workload_random(&workload, 1000000) / (double)n;
        for (size_t i = 0; i < n; i++)
            draws[i] = first + (double)i / (double)n;

        const double *inputs[] = {x, y, cumulative, draws};
        for (int i = 0; i < 4; i++)
            workload_copy_to_device(buffers[i], inputs[i], size_bytes);
        workload_launch(&workload, "particlefilter", workload_cover(n, THREADS),
                        (void *[]){&buffers[0], &buffers[1], &buffers[2], &buffers[3], &buffers[4],
                                   &buffers[5], &n});

        resample(x, expected, cumulative, draws, n);
        is_right &= is_copy(&workload, buffers[4], expected, n);
        resample(y, expected, cumulative, draws, n);
        is_right &= is_copy(&workload, buffers[5], expected, n);
        workload_copy_to_host(x, buffers[4], size_bytes);
        workload_copy_to_host(y, buffers[5], size_bytes);
    }
    return workload_finish(&workload, is_right, "particles", n);
}
