/* Potential of random charges within a cutoff, on a lattice in cubes of 8 x 8 x 8 points that
 * covers the box of the charges. The smooth fading makes the result continuous at the cutoff; a
 * tolerance covers the device's approximate reciprocal square root. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 128, CUBE = 8, CUBE_POINTS = 512, BIN_ATOMS = 8, MOST_NEIGHBOURS = 343 };

enum {
    MARGIN = 3,
    REACH = 2 * MARGIN + 1
}; /* most bins that a cutoff spans, and bins across a cube */

static const float TOLERANCE = 1e-3f, SPACING = 0.5f, CUTOFF = 12.0f;
static const float BIN = CUBE * 0.5f; /* side of a bin, in units of the spacing */

enum { CUBES_X, CUBES_Y, CUBES_Z, FILLED };

static const WorkloadInfo INFO = {
    .name = "cutcp",
    .summary = "Potential of charges within a cutoff, on a three-dimensional lattice.",
    .parameters =
        {
            [CUBES_X] = {"cubes-x", "of 8 x 8 x 8 lattice points", {2, 3, 11}, 64, 0},
            [CUBES_Y] = {"cubes-y", "", {2, 3, 11}, 64, 0},
            [CUBES_Z] = {"cubes-z", "one launch each", {2, 1, 1}, 64, 0},
            [FILLED] =
                {"atoms-per-bin", "at most, of 8; three less at least", {3, 8, 8}, BIN_ATOMS, 0},
        },
};

/* The same layout as in the kernel. */
typedef struct Atom {
    float x, y, z, charge;
} Atom;

typedef struct Offset {
    int x, y, z;
} Offset;

/* Bins around the lattice, in x, y and z. */
typedef struct Bins {
    unsigned x, y, z; /* counts */
    Atom *atoms;      /* BIN_ATOMS of each bin; a charge of 0 ends a bin */
} Bins;

/* Whether the position of a bin along an axis is in the box, not in the margin. */
static bool is_inside(size_t place, unsigned bins) {
    return place >= MARGIN && place < bins - MARGIN;
}

static Bins generate_bins(Workload *workload) {
    Bins bins = {workload->values[CUBES_X] + 2 * MARGIN, workload->values[CUBES_Y] + 2 * MARGIN,
                 workload->values[CUBES_Z] + 2 * MARGIN, NULL};
    size_t count = (size_t)bins.x * bins.y * bins.z;
    float *fractions = workload_random_fractions(workload, count * BIN_ATOMS * 4, 0.0f, 1.0f);
    bins.atoms = workload_host_alloc(workload, count * BIN_ATOMS, sizeof(Atom));
    for (size_t bin = 0; bin < count; bin++) {
        uint32_t most = workload->values[FILLED], fewer = workload_random(workload, 4);
        uint32_t atoms = most > fewer ? most - fewer : 0;
        if (!is_inside(bin % bins.x, bins.x) || !is_inside(bin / bins.x % bins.y, bins.y) ||
            !is_inside(bin / bins.x / bins.y, bins.z))
            atoms = 0;
        for (size_t i = bin * BIN_ATOMS; i < bin * BIN_ATOMS + atoms; i++)
            bins.atoms[i] = (Atom){
                .x = BIN * ((float)(bin % bins.x) - MARGIN + fractions[4 * i]),
                .y = BIN * ((float)(bin / bins.x % bins.y) - MARGIN + fractions[4 * i + 1]),
                .z = BIN * ((float)(bin / bins.x / bins.y) - MARGIN + fractions[4 * i + 2]),
                .charge = fractions[4 * i + 3] - 2.0f,
            };
    }
    return bins;
}

/* The bins around a cube within the cutoff plus a bin's diagonal, as Parboil chooses them; returns
 * their count. */
static unsigned find_neighbours(Offset *neighbours) {
    unsigned count = 0;
    float most = CUTOFF + sqrtf(3.0f) * BIN;
    for (int i = 0; i < REACH * REACH * REACH; i++) {
        Offset o = {i % REACH - MARGIN, i / REACH % REACH - MARGIN, i / REACH / REACH - MARGIN};
        float squared = BIN * BIN * (float)(o.x * o.x + o.y * o.y + o.z * o.z);
        if (squared < most * most) neighbours[count++] = o;
    }
    return count;
}

/* The potential at a lattice point, from all bins around it. */
static float sum_potential(const Bins *bins, unsigned x, unsigned y, unsigned z) {
    float sum = 0.0f, px = SPACING * (float)x, py = SPACING * (float)y, pz = SPACING * (float)z;
    for (unsigned i = 0; i < REACH * REACH * REACH; i++) {
        size_t bin =
            ((z / CUBE + i / REACH / REACH) * bins->y + y / CUBE + i / REACH % REACH) * bins->x +
            x / CUBE + i % REACH;
        for (const Atom *a = bins->atoms + bin * BIN_ATOMS;
             a < bins->atoms + (bin + 1) * BIN_ATOMS && a->charge != 0.0f; a++) {
            float squared =
                (a->x - px) * (a->x - px) + (a->y - py) * (a->y - py) + (a->z - pz) * (a->z - pz);
            float fade = 1.0f - squared / (CUTOFF * CUTOFF);
            if (fade > 0.0f) sum += a->charge / sqrtf(squared) * fade * fade;
        }
    }
    return sum;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned cubes_x = workload.values[CUBES_X], cubes_y = workload.values[CUBES_Y];
    unsigned cubes = cubes_x * cubes_y * workload.values[CUBES_Z], margin = MARGIN;
    Bins bins = generate_bins(&workload);
    Offset neighbours[MOST_NEIGHBOURS] = {0};
    unsigned neighbour_count = find_neighbours(neighbours);
    size_t count = (size_t)cubes * CUBE_POINTS;

    workload_set_variable(&workload, "neighbours", neighbours, sizeof neighbours);
    CUdeviceptr atoms = workload_upload(bins.atoms, (size_t)bins.x * bins.y * bins.z * BIN_ATOMS *
                                                        sizeof *bins.atoms);
    CUdeviceptr potential = workload_device_alloc(count * sizeof(float));
    float spacing = SPACING, cutoff_squared = CUTOFF * CUTOFF, inverse = 1.0f / cutoff_squared;
    for (unsigned z = 0; z < workload.values[CUBES_Z]; z++)
        workload_launch(&workload, "cutcp", (WorkloadShape){cubes_x, cubes_y, THREADS, 1},
                        (void *[]){&atoms, &potential, &z, &margin, &bins.x, &bins.y,
                                   &neighbour_count, &spacing, &cutoff_squared, &inverse});

    float *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (unsigned i = 0; i < count; i++) {
        unsigned cube = i / CUBE_POINTS, point = i % CUBE_POINTS;
        expected[i] = sum_potential(&bins, cube % cubes_x * CUBE + point % CUBE,
                                    cube / cubes_x % cubes_y * CUBE + point / CUBE % CUBE,
                                    cube / cubes_x / cubes_y * CUBE + point / CUBE / CUBE);
    }
    bool is_right = workload_verify_floats(&workload, potential, expected, count, TOLERANCE);
    return workload_finish(&workload, is_right, "lattice points", count);
}
