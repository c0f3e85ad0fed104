/* Particles near the points of a cubic lattice. They are numbered along it, but have changed places
 * with others near them in the numbering, as particles that have moved about for a while: the
 * neighbours of consecutive ones lie scattered (MD table 1: irregular accesses). A list of
 * neighbours holds all whose lattice points are near, more than the cutoff lets act. The device's
 * fused multiplications and additions call for the tolerance, and may put a particle on the other
 * side of the cutoff, where a force is below 0.00083. */
#include "common/workload.h"

enum { THREADS = 192, AXES = 3 };
enum { MIXED = 128 }; /* particles that have changed places among themselves */
enum { REACH = 2, REACH_SQUARED = 8, MOST_NEIGHBOURS = 92 }; /* of a list, in lattice points */

static const float TOLERANCE = 1e-4f, FORCE_TOLERANCE = 1e-3f, STEP = 0.01f, CUTOFF_SQUARED = 6.25f;

enum { SIDE, STEPS };

static const WorkloadInfo INFO = {
    .name = "moldyn",
    .summary = "Molecular dynamics by neighbours' lists, one particle per thread.",
    .parameters =
        {
            [SIDE] = {"side", "of the lattice of particles", {7, 14, 57}, 100, 0},
            [STEPS] = {"steps", "in time", {2, 1, 1}, 1000, 0},
        },
};

typedef struct Particles {
    uint32_t count;        /* particles */
    float *positions;      /* all x, all y, all z */
    float *velocities;     /* likewise */
    float *forces;         /* likewise */
    uint32_t *list_length; /* of each */
    uint32_t
        *neighbours; /* first ones of all, second ones, ...; of a pair each is in the other's */
} Particles;

/* The particle of each lattice point. */
static uint32_t *shuffle_particles(Workload *workload, uint32_t count) {
    uint32_t *at = workload_host_alloc(workload, count, sizeof *at);
    for (uint32_t i = 0; i < count; i++)
        at[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = i - i % MIXED + MIXED;
        uint32_t other = i + workload_random(workload, (end < count ? end : count) - i);
        uint32_t particle = at[i];
        at[i] = at[other];
        at[other] = particle;
    }
    return at;
}

/* Lists the particles near lattice point (x, y, z), which is that of particle i; `points` has
 * that of each. */
static void list_neighbours(Particles *particles, const uint32_t *points, int32_t side, int32_t x,
                            int32_t y, int32_t z, uint32_t i) {
    for (int32_t dz = -REACH; dz <= REACH; dz++)
        for (int32_t dy = -REACH; dy <= REACH; dy++)
            for (int32_t dx = -REACH; dx <= REACH; dx++) {
                int32_t distance_2 = dx * dx + dy * dy + dz * dz;
                bool is_inside = x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side &&
                                 z + dz >= 0 && z + dz < side;
                if (!is_inside || distance_2 == 0 || distance_2 > REACH_SQUARED) continue;
                size_t at = (size_t)particles->list_length[i]++ * particles->count + i;
                particles->neighbours[at] = points[((z + dz) * side + y + dy) * side + x + dx];
            }
}

static Particles generate_particles(Workload *workload, int32_t side) {
    uint32_t count = (uint32_t)(side * side * side);
    size_t words = AXES * (size_t)count;
    Particles particles = {
        .count = count,
        .positions = workload_random_fractions(workload, words, -0.1f, 0.1f),
        .velocities = workload_random_fractions(workload, words, -0.1f, 0.1f),
        .forces = workload_host_alloc(workload, words, sizeof(float)),
        .list_length = workload_host_alloc(workload, count, sizeof(uint32_t)),
        .neighbours =
            workload_host_alloc(workload, (size_t)MOST_NEIGHBOURS * count, sizeof(uint32_t)),
    };
    const uint32_t *points = shuffle_particles(workload, count);
    for (uint32_t point = 0; point < count; point++) {
        uint32_t i = points[point];
        int32_t x = (int32_t)point % side, y = (int32_t)point / side % side;
        int32_t z = (int32_t)point / (side * side);
        particles.positions[i] += (float)x;
        particles.positions[count + i] += (float)y;
        particles.positions[2 * (size_t)count + i] += (float)z;
        list_neighbours(&particles, points, side, x, y, z, i);
    }
    return particles;
}

static void sum_forces(const Particles *particles, size_t i) {
    size_t count = particles->count, end = particles->list_length[i] * count;
    const float *positions = particles->positions;
    for (size_t axis = 0; axis < AXES; axis++)
        particles->forces[axis * count + i] = 0.0f;
    for (size_t at = i; at < end; at += count) {
        float difference[AXES], distance_2 = 0.0f;
        for (size_t axis = 0; axis < AXES; axis++) {
            const float *along = &positions[axis * count];
            difference[axis] = along[i] - along[particles->neighbours[at]];
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
    for (size_t i = 0; i < words; i++)
        particles->positions[i] += STEP * particles->velocities[i];
    for (size_t i = 0; i < particles->count; i++)
        sum_forces(particles, i);
    for (size_t i = 0; i < words; i++)
        particles->velocities[i] += STEP * particles->forces[i];
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Particles particles = generate_particles(&workload, (int32_t)workload.values[SIDE]);
    uint32_t count = particles.count;
    size_t words = AXES * (size_t)count, bytes = words * sizeof(float);
    float step = STEP, cutoff_2 = CUTOFF_SQUARED;

    CUdeviceptr positions = workload_upload(particles.positions, bytes);
    CUdeviceptr velocities = workload_upload(particles.velocities, bytes);
    CUdeviceptr forces = workload_device_alloc(bytes);
    CUdeviceptr list_length = workload_upload(particles.list_length, count * sizeof(uint32_t));
    CUdeviceptr neighbours =
        workload_upload(particles.neighbours, (size_t)MOST_NEIGHBOURS * count * sizeof(uint32_t));
    WorkloadShape shape = workload_cover(count, THREADS);
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        workload_launch(&workload, "moldyn_move", shape,
                        (void *[]){&positions, &velocities, &step, &count});
        workload_launch(
            &workload, "moldyn_force", shape,
            (void *[]){&positions, &list_length, &neighbours, &forces, &cutoff_2, &count});
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
