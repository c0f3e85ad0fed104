/* Particles in a periodic box, and lists of neighbours from a mesh, the same inputs as COSMIC's
 * moldyn reads. The mesh is that of the programs of fluid dynamics: MD's data sets have the size of
 * one common mesh (docs/reproduction-md.md). Particles are near the points of a lattice, in the
 * order of their numbers. The numbers in a list are so close that no two of its particles start
 * near the same point. The share of a list's pairs within the cutoff is that of a list that reaches
 * 1.2 times as far, which is the program's tolerance. A tolerance of the comparison covers the
 * device's fused multiplications and additions. They may move a pair to the other side of the
 * cutoff, where a force is below 0.00006. */
#include "common/edges.h"

enum { THREADS = 192, AXES = 3 };
enum { SIDE = 7, POINTS = SIDE * SIDE * SIDE }; /* of the box, in lattice points */

_Static_assert(POINTS > (int)MESH_REACH, "neighbours begin near different points");

static const float TOLERANCE = 1e-4f, FORCE_TOLERANCE = 1e-3f, STEP = 0.01f;
static const float CUTOFF_SQUARED =
    13.5f; /* 202 of the 342 other points are nearer: 0.59, of 1 / 1.2^3 = 0.58 */

enum { PARTICLES, STEPS };

static const WorkloadInfo INFO = {
    .name = "moldyn",
    .summary = "Molecular dynamics by neighbours' lists, one particle per thread.",
    .parameters =
        {
            [PARTICLES] =
                {"particles", "24 neighbours each", {POINTS, 4116, 184191}, 1u << 24, POINTS},
            [STEPS] = {"steps", "in time", {2, 1, 1}, 1000, 0},
        },
};

typedef struct Particles {
    uint32_t count;       /* particles */
    float *positions;     /* all x, all y, all z */
    float *velocities;    /* likewise */
    float *forces;        /* likewise */
    uint32_t *neighbours; /* the first neighbours of all particles, the second ones, ... */
} Particles;

static Particles generate_particles(Workload *workload, uint32_t count) {
    size_t words = AXES * (size_t)count;
    Particles particles = {
        .count = count,
        .positions = workload_random_fractions(workload, words, -0.1f, 0.1f),
        .velocities = workload_random_fractions(workload, words, -0.1f, 0.1f),
        .forces = workload_host_alloc(workload, words, sizeof(float)),
        .neighbours = edges_generate(workload, count, MESH_EDGES_OF_NODE, MESH_REACH),
    };
    for (uint32_t i = 0; i < count; i++) {
        particles.positions[i] += (float)(i % SIDE);
        particles.positions[count + i] += (float)(i / SIDE % SIDE);
        particles.positions[2 * (size_t)count + i] += (float)(i / (SIDE * SIDE) % SIDE);
    }
    return particles;
}

/* The shorter difference of two coordinates in the box. */
static float across(float difference) {
    if (difference < -0.5f * SIDE) return difference + SIDE;
    return difference > 0.5f * SIDE ? difference - SIDE : difference;
}

static void sum_forces(const Particles *particles, size_t i) {
    size_t count = particles->count;
    const float *positions = particles->positions;
    for (size_t axis = 0; axis < AXES; axis++)
        particles->forces[axis * count + i] = 0.0f;
    for (size_t at = i; at < MESH_EDGES_OF_NODE * count; at += count) {
        float difference[AXES], distance_2 = 0.0f;
        for (size_t axis = 0; axis < AXES; axis++) {
            const float *along = &positions[axis * count];
            difference[axis] = across(along[i] - along[particles->neighbours[at]]);
            distance_2 += difference[axis] * difference[axis];
        }
        if (distance_2 > CUTOFF_SQUARED) continue;
        float inverse = 1.0f / distance_2, inverse_3 = inverse * inverse * inverse;
        float strength = inverse * inverse_3 * (inverse_3 - 0.5f);
        for (size_t axis = 0; axis < AXES; axis++)
            particles->forces[axis * count + i] += strength * difference[axis];
    }
}

static void step_on_cpu(Particles *particles) {
    size_t words = AXES * (size_t)particles->count;
    for (size_t i = 0; i < words; i++) {
        float *position = &particles->positions[i];
        *position += STEP * particles->velocities[i];
        if (*position < 0.0f) *position += SIDE;
        if (*position > SIDE) *position -= SIDE;
    }
    for (size_t i = 0; i < particles->count; i++)
        sum_forces(particles, i);
    for (size_t i = 0; i < words; i++)
        particles->velocities[i] += STEP * particles->forces[i];
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Particles particles = generate_particles(&workload, workload.values[PARTICLES]);
    uint32_t count = particles.count;
    size_t words = AXES * (size_t)count, bytes = words * sizeof(float);
    float step = STEP, cutoff_2 = CUTOFF_SQUARED, side = SIDE;

    CUdeviceptr positions = workload_upload(particles.positions, bytes);
    CUdeviceptr velocities = workload_upload(particles.velocities, bytes);
    CUdeviceptr forces = workload_device_alloc(bytes);
    CUdeviceptr neighbours = workload_upload(
        particles.neighbours, MESH_EDGES_OF_NODE * (size_t)count * sizeof *particles.neighbours);
    WorkloadShape shape = workload_cover(count, THREADS);
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        workload_launch(&workload, "moldyn_move", shape,
                        (void *[]){&positions, &velocities, &step, &side, &count});
        workload_launch(&workload, "moldyn_force", shape,
                        (void *[]){&positions, &neighbours, &forces, &cutoff_2, &side, &count});
        workload_launch(&workload, "moldyn_push", shape,
                        (void *[]){&velocities, &forces, &step, &count});
        step_on_cpu(&particles);
    }

    bool is_right =
        workload_verify_floats(&workload, positions, particles.positions, words, TOLERANCE) &&
        workload_verify_floats(&workload, forces, particles.forces, words, FORCE_TOLERANCE) &&
        workload_verify_floats(&workload, velocities, particles.velocities, words, TOLERANCE);
    return workload_finish(&workload, is_right, "particles", count);
}
