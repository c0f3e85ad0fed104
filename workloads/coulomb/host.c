/* The Coulomb potential of random charges on a plane. A tolerance covers the device's approximate
 * reciprocal square root. */
#include "common/workload.h"

#include <math.h>

enum { THREADS_X = 16, THREADS_Y = 8, POINTS = 2, MOST_ATOMS = 4000 };

static const float TOLERANCE = 1e-4f, SPACING = 0.1f;

enum { WIDTH, HEIGHT, ATOMS };

static const WorkloadInfo INFO = {
    .name = "coulomb",
    .summary = "Potential of point charges on a plane of grid points, two per thread.",
    .parameters =
        {
            [WIDTH] = {"width", "of the plane", {96, 256, 256}, 16384, THREADS_X *POINTS},
            [HEIGHT] = {"height", "of the plane", {64, 128, 256}, 16384, THREADS_Y},
            [ATOMS] = {"atoms", "with a charge", {50, 50, 200}, MOST_ATOMS, 0},
        },
};

/* The same layout as in the kernel. */
typedef struct Atom {
    float x, y;     /* position in the plane */
    float height_2; /* squared distance from the plane */
    float charge;
} Atom;

static float sum_potential(const Atom *atoms, size_t count, float x, float y) {
    float sum = 0.0f;
    for (size_t i = 0; i < count; i++) {
        float dx = x - atoms[i].x, dy = y - atoms[i].y;
        sum += atoms[i].charge / sqrtf(dx * dx + dy * dy + atoms[i].height_2);
    }
    return sum;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    unsigned atom_count = workload.values[ATOMS];
    size_t count = (size_t)width * height;
    float *fractions = workload_random_fractions(&workload, 4 * (size_t)atom_count, 0.0f, 1.0f);
    Atom *atoms = workload_host_alloc(&workload, MOST_ATOMS, sizeof *atoms);
    for (size_t i = 0; i < atom_count; i++) {
        float above = 1.0f + 9.0f * fractions[4 * i + 2];
        atoms[i] = (Atom){.x = fractions[4 * i] * SPACING * (float)width,
                          .y = fractions[4 * i + 1] * SPACING * (float)height,
                          .height_2 = above * above,
                          .charge = 2.0f * fractions[4 * i + 3] - 1.0f};
    }

    workload_set_variable(&workload, "atoms", atoms, MOST_ATOMS * sizeof *atoms);
    CUdeviceptr potential = workload_upload_zeros(count * sizeof(float));
    float spacing = SPACING;
    WorkloadShape shape = {width / (THREADS_X * POINTS), height / THREADS_Y, THREADS_X, THREADS_Y};
    workload_launch(&workload, "coulomb", shape, (void *[]){&atom_count, &spacing, &potential});

    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = sum_potential(atoms, atom_count, SPACING * (float)(i % width),
                                    SPACING * (float)(i / width));
    bool is_right = workload_verify_floats(&workload, potential, expected, count, TOLERANCE);
    return workload_finish(&workload, is_right, "grid points", count);
}
