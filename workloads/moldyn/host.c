/* Particles near the points of a cubic lattice, in its order. A list of neighbours holds all whose
 * lattice points are near, more than the cutoff lets act. The device's fused
 * multiplications and additions call for the tolerance, and may put a particle on the other side of
 * the cutoff, where a force is below 0.00083. */
#include "common/workload.h"

enum { THREADS = 192, REACH = 2, REACH_SQUARED = 8 }; /* of a list, in lattice points */

static const float TOLERANCE = 1e-4f, FORCE_TOLERANCE = 1e-3f, STEP = 0.01f, CUTOFF_SQUARED = 6.25f;

enum { SIDE, STEPS };

static const WorkloadInfo INFO = {
    .name = "moldyn",
    .summary = "Molecular dynamics by neighbours' lists, one particle per thread.",
    .parameters =
        {
            [SIDE] = {"side", "of the lattice of particles", {7, 14, 30}, 100, 0},
            [STEPS] = {"steps", "in time", {2, 1, 1}, 1000, 0},
        },
};

typedef struct Vector {
    float x, y, z;
} Vector;

typedef struct Particles {
    uint32_t count;            /* particles */
    Vector *positions;         /* of each */
    Vector *velocities;        /* of each */
    Vector *forces;            /* on each */
    uint32_t *first_neighbour; /* of each, and the count of neighbours at the end */
    uint32_t *neighbours;      /* particles; each of a pair is in the other's list */
} Particles;

/* Appends the particles near lattice point (x, y, z) to its list, which starts at `count`; returns
 * the new count. Only counts when `neighbours` is NULL. */
static uint32_t list_neighbours(int32_t side, int32_t x, int32_t y, int32_t z, uint32_t *neighbours,
                                uint32_t count) {
    for (int32_t dz = -REACH; dz <= REACH; dz++)
        for (int32_t dy = -REACH; dy <= REACH; dy++)
            for (int32_t dx = -REACH; dx <= REACH; dx++) {
                int32_t distance_2 = dx * dx + dy * dy + dz * dz;
                bool is_inside = x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side &&
                                 z + dz >= 0 && z + dz < side;
                if (!is_inside || distance_2 == 0 || distance_2 > REACH_SQUARED) continue;
                if (neighbours)
                    neighbours[count] = (uint32_t)(((z + dz) * side + y + dy) * side + x + dx);
                count++;
            }
    return count;
}

/* Fills the lists, or only counts while there are none; returns the count of neighbours. */
static uint32_t list_all_neighbours(Particles *particles, int32_t side) {
    uint32_t count = 0;
    for (int32_t i = 0; i < side * side * side; i++) {
        count = list_neighbours(side, i % side, i / side % side, i / (side * side),
                                particles->neighbours, count);
        particles->first_neighbour[i + 1] = count;
    }
    return count;
}

static Particles generate_particles(Workload *workload, uint32_t side) {
    uint32_t count = side * side * side;
    Particles particles = {
        .count = count,
        .positions = workload_host_alloc(workload, count, sizeof(Vector)),
        .velocities = workload_host_alloc(workload, count, sizeof(Vector)),
        .forces = workload_host_alloc(workload, count, sizeof(Vector)),
        .first_neighbour = workload_host_alloc(workload, (size_t)count + 1, sizeof(uint32_t)),
    };
    float *random = workload_random_fractions(workload, 6 * (size_t)count, -0.1f, 0.1f);
    for (uint32_t i = 0; i < count; i++, random += 6) {
        particles.positions[i] =
            (Vector){(float)(i % side) + random[0], (float)(i / side % side) + random[1],
                     (float)(i / (side * side)) + random[2]};
        particles.velocities[i] = (Vector){random[3], random[4], random[5]};
    }
    uint32_t neighbours = list_all_neighbours(&particles, (int32_t)side);
    particles.neighbours = workload_host_alloc(workload, neighbours, sizeof(uint32_t));
    list_all_neighbours(&particles, (int32_t)side);
    return particles;
}

static Vector add_scaled(Vector to, float scale, Vector v) {
    return (Vector){to.x + scale * v.x, to.y + scale * v.y, to.z + scale * v.z};
}

static Vector sum_forces(const Particles *particles, uint32_t i) {
    Vector own = particles->positions[i], force = {0.0f, 0.0f, 0.0f};
    for (uint32_t at = particles->first_neighbour[i]; at < particles->first_neighbour[i + 1];
         at++) {
        Vector difference = add_scaled(own, -1.0f, particles->positions[particles->neighbours[at]]);
        float distance_2 =
            difference.x * difference.x + difference.y * difference.y + difference.z * difference.z;
        if (distance_2 > CUTOFF_SQUARED) continue;
        float inverse = 1.0f / distance_2, inverse_3 = inverse * inverse * inverse;
        force = add_scaled(force, inverse * inverse_3 * (inverse_3 - 0.5f), difference);
    }
    return force;
}

static void step_on_cpu(Particles *particles) {
    for (uint32_t i = 0; i < particles->count; i++)
        particles->positions[i] =
            add_scaled(particles->positions[i], STEP, particles->velocities[i]);
    for (uint32_t i = 0; i < particles->count; i++)
        particles->forces[i] = sum_forces(particles, i);
    for (uint32_t i = 0; i < particles->count; i++)
        particles->velocities[i] = add_scaled(particles->velocities[i], STEP, particles->forces[i]);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Particles particles = generate_particles(&workload, workload.values[SIDE]);
    uint32_t count = particles.count;
    float step = STEP, cutoff_2 = CUTOFF_SQUARED;

    CUdeviceptr positions = workload_upload(particles.positions, count * sizeof(Vector));
    CUdeviceptr velocities = workload_upload(particles.velocities, count * sizeof(Vector));
    CUdeviceptr forces = workload_device_alloc(count * sizeof(Vector));
    CUdeviceptr first_neighbour =
        workload_upload(particles.first_neighbour, ((size_t)count + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours =
        workload_upload(particles.neighbours, particles.first_neighbour[count] * sizeof(uint32_t));
    WorkloadShape shape = workload_cover(count, THREADS);
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        workload_launch(&workload, "moldyn_move", shape,
                        (void *[]){&positions, &velocities, &step, &count});
        workload_launch(
            &workload, "moldyn_force", shape,
            (void *[]){&positions, &first_neighbour, &neighbours, &forces, &cutoff_2, &count});
        workload_launch(&workload, "moldyn_push", shape,
                        (void *[]){&velocities, &forces, &step, &count});
        step_on_cpu(&particles);
    }

    size_t words = 3 * (size_t)count;
    bool is_right =
        workload_verify_floats(&workload, positions, &particles.positions->x, words, TOLERANCE) &&
        workload_verify_floats(&workload, forces, &particles.forces->x, words, FORCE_TOLERANCE) &&
        workload_verify_floats(&workload, velocities, &particles.velocities->x, words, TOLERANCE);
    return workload_finish(&workload, is_right, "particles", count);
}
