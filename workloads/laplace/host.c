/* Jacobi iterations of Laplace's equation on a box. */
#include "common/workload.h"

enum { THREADS_X = 32, THREADS_Y = 4 };

static const float TOLERANCE = 1e-5f; /* a fused multiply-add rounds once less */

enum { NX, NY, NZ, ITERATIONS };

static const WorkloadInfo INFO = {
    .name = "laplace",
    .summary = "Solves Laplace's equation in three dimensions by Jacobi iterations.",
    .parameters =
        {
            [NX] = {"nx", "points along x", {40, 100, 100}, 1024, 0},
            [NY] = {"ny", "points along y", {14, 50, 100}, 1024, 0},
            [NZ] = {"nz", "points along z", {9, 20, 100}, 1024, 0},
            [ITERATIONS] = {"iterations", "", {2, 1, 1}, 1000, 0},
        },
};

static bool is_boundary(int i, int n) { return i == 0 || i == n - 1; }

static void step_on_cpu(const float *in, float *out, int nx, int ny, int nz) {
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                const float *p = in + (k * ny + j) * nx + i;
                bool is_fixed = is_boundary(i, nx) || is_boundary(j, ny) || is_boundary(k, nz);
                out[p - in] = is_fixed
                                  ? *p
                                  : (p[-1] + p[1] + p[-nx] + p[nx] + p[-nx * ny] + p[nx * ny]) *
                                        (1.0f / 6.0f);
            }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned nx = workload.values[NX], ny = workload.values[NY], nz = workload.values[NZ];
    unsigned iterations = workload.values[ITERATIONS];
    size_t count = (size_t)nx * ny * nz;
    float *values[2] = {workload_random_fractions(&workload, count, 0.0f, 1.0f),
                        workload_host_alloc(&workload, count, sizeof(float))};

    CUdeviceptr buffers[2] = {workload_upload(values[0], count * sizeof(float)),
                              workload_device_alloc(count * sizeof(float))};
    unsigned pitch = nx; /* the result of GPGPU-Sim's cudaMallocPitch */
    WorkloadShape shape = {workload_divide_up(nx, THREADS_X), workload_divide_up(ny, THREADS_Y),
                           THREADS_X, THREADS_Y};
    for (unsigned i = 0; i < iterations; i++)
        workload_launch(&workload, "laplace", shape,
                        (void *[]){&nx, &ny, &nz, &pitch, &buffers[i % 2], &buffers[(i + 1) % 2]});

    for (unsigned i = 0; i < iterations; i++)
        step_on_cpu(values[i % 2], values[(i + 1) % 2], (int)nx, (int)ny, (int)nz);
    bool is_right = workload_verify_floats(&workload, buffers[iterations % 2],
                                           values[iterations % 2], count, TOLERANCE);
    return workload_finish(&workload, is_right, "points", count);
}
