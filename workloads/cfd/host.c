/* The Euler equations on an unstructured mesh: elements with four faces, numbered as a grid so that
 * most neighbours are near, the others drawn from all. The reference follows the same steps; a
 * tolerance covers the different rounding of single precision. */
#include "common/workload.h"

#include <math.h>

enum { THREADS = 192, FACES = 4, VARIABLES = 5, STAGES = 3, WALL = -1, FAR_FIELD = -2 };

static const float TOLERANCE = 1e-3f;

enum { ELEMENTS, ITERATIONS };

static const WorkloadInfo INFO = {
    .name = "cfd",
    .summary = "Solves the Euler equations on an unstructured mesh, one element per thread.",
    .parameters =
        {
            [ELEMENTS] = {"elements", "of the mesh", {1000, 6144, 32768}, 1u << 22, 0},
            [ITERATIONS] = {"iterations", "of three stages each", {2, 1, 1}, 1000, 0},
        },
};

typedef struct Mesh {
    size_t count;        /* elements */
    float *areas;        /* of each element */
    int32_t *neighbours; /* faces x count: an element, WALL or FAR_FIELD */
    float *normals;      /* faces x 3 x count; the length is the area of the face */
} Mesh;

/* A neighbour at `distance` in the numbering; a few are random. A neighbour beyond one end is a
 * wall, beyond the other end the far field. */
static int32_t pick_neighbour(Workload *workload, const Mesh *mesh, size_t i, int64_t distance) {
    if (workload_random(workload, 16) == 0)
        return (int32_t)workload_random(workload, (uint32_t)mesh->count);
    int64_t at = (int64_t)i + distance;
    return at < 0 ? WALL : at >= (int64_t)mesh->count ? FAR_FIELD : (int32_t)at;
}

static Mesh generate_mesh(Workload *workload, size_t count) {
    Mesh mesh = {.count = count};
    int64_t row = (int64_t)sqrt((double)count);
    int64_t distances[FACES] = {-1, 1, -row, row};
    mesh.areas = workload_random_fractions(workload, count, 0.5f, 1.5f);
    mesh.neighbours = workload_host_alloc(workload, FACES * count, sizeof(int32_t));
    mesh.normals = workload_random_fractions(workload, FACES * 3 * count, -0.1f, 0.1f);
    for (size_t face = 0; face < FACES; face++)
        for (size_t i = 0; i < count; i++) {
            mesh.neighbours[face * count + i] = pick_neighbour(workload, &mesh, i, distances[face]);
            mesh.normals[(face * 3 + face / 2) * count + i] += face % 2 ? 1.0f : -1.0f;
        }
    return mesh;
}

/* The state of an element, from its conserved variables (density, momentum, energy). */
typedef struct State {
    float conserved[VARIABLES];
    float velocity[3], speed, pressure, sound;
} State;

static State derive(const float *first, size_t stride) {
    State s;
    for (size_t v = 0; v < VARIABLES; v++)
        s.conserved[v] = first[v * stride];
    float square = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        s.velocity[axis] = s.conserved[1 + axis] / s.conserved[0];
        square += s.velocity[axis] * s.velocity[axis];
    }
    s.speed = sqrtf(square);
    s.pressure = 0.4f * (s.conserved[4] - 0.5f * s.conserved[0] * square);
    s.sound = sqrtf(1.4f * s.pressure / s.conserved[0]);
    return s;
}

static void add_flux(float *flux, const State *s, const float *normal) {
    float through = 0.0f;
    for (int axis = 0; axis < 3; axis++)
        through += 0.5f * s->velocity[axis] * normal[axis];
    for (int v = 0; v < VARIABLES; v++)
        flux[v] += through * s->conserved[v];
    for (int axis = 0; axis < 3; axis++)
        flux[1 + axis] += 0.5f * s->pressure * normal[axis];
    flux[4] += through * s->pressure;
}

static void compute_flux(const Mesh *mesh, const float *variables, const float *far_field, size_t i,
                         float *flux) {
    State own = derive(variables + i, mesh->count);
    for (size_t face = 0; face < FACES; face++) {
        int32_t neighbour = mesh->neighbours[face * mesh->count + i];
        float normal[3];
        for (size_t axis = 0; axis < 3; axis++)
            normal[axis] = mesh->normals[(face * 3 + axis) * mesh->count + i];
        if (neighbour == WALL) {
            for (int axis = 0; axis < 3; axis++)
                flux[1 + axis] += own.pressure * normal[axis];
            continue;
        }
        State other = neighbour == FAR_FIELD ? derive(far_field, 1)
                                             : derive(variables + neighbour, mesh->count);
        float length = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        float factor = 0.1f * length * (own.speed + other.speed + own.sound + other.sound);
        for (int v = 0; v < VARIABLES && neighbour != FAR_FIELD; v++)
            flux[v] -= factor * (own.conserved[v] - other.conserved[v]);
        add_flux(flux, &own, normal);
        add_flux(flux, &other, normal);
    }
}

static void iterate_on_cpu(Workload *workload, const Mesh *mesh, const float *far_field,
                           float *variables) {
    size_t count = mesh->count;
    float *before = workload_host_alloc(workload, VARIABLES * count, sizeof *before);
    float *fluxes = workload_host_alloc(workload, VARIABLES * count, sizeof *fluxes);
    float *step_factors = workload_host_alloc(workload, count, sizeof *step_factors);
    for (size_t i = 0; i < VARIABLES * count; i++)
        before[i] = variables[i];
    for (size_t i = 0; i < count; i++) {
        State s = derive(variables + i, count);
        step_factors[i] = 0.5f / (sqrtf(mesh->areas[i]) * (s.speed + s.sound));
    }
    for (int stage = 1; stage <= STAGES; stage++) {
        for (size_t i = 0; i < count; i++) {
            float flux[VARIABLES] = {0};
            compute_flux(mesh, variables, far_field, i, flux);
            for (size_t v = 0; v < VARIABLES; v++)
                fluxes[v * count + i] = flux[v];
        }
        for (size_t i = 0; i < VARIABLES * count; i++)
            variables[i] = before[i] + step_factors[i % count] / (float)(4 - stage) * fluxes[i];
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned count = workload.values[ELEMENTS];
    Mesh mesh = generate_mesh(&workload, count);
    size_t variable_bytes = VARIABLES * (size_t)count * sizeof(float);
    /* Mach 0.5 along x, with density 1.4 and pressure 1. */
    float far_field[VARIABLES] = {1.4f, 0.7f, 0.0f, 0.0f, 2.675f};
    float *variables = workload_host_alloc(&workload, VARIABLES * (size_t)count, sizeof(float));
    for (size_t i = 0; i < VARIABLES * (size_t)count; i++)
        variables[i] = far_field[i / count];

    workload_set_variable(&workload, "far_field", far_field, sizeof far_field);
    CUdeviceptr areas = workload_upload(mesh.areas, count * sizeof(float));
    CUdeviceptr neighbours = workload_upload(mesh.neighbours, FACES * count * sizeof(int32_t));
    CUdeviceptr normals = workload_upload(mesh.normals, FACES * 3 * count * sizeof(float));
    CUdeviceptr current = workload_upload(variables, variable_bytes);
    CUdeviceptr before = workload_device_alloc(variable_bytes);
    CUdeviceptr step_factors = workload_device_alloc(count * sizeof(float));
    CUdeviceptr fluxes = workload_device_alloc(variable_bytes);
    WorkloadShape shape = workload_cover(count, THREADS);
    float *copy = workload_host_alloc(&workload, VARIABLES * (size_t)count, sizeof *copy);
    for (unsigned i = 0; i < workload.values[ITERATIONS]; i++) {
        workload_copy_to_host(copy, current, variable_bytes);
        workload_copy_to_device(before, copy, variable_bytes);
        workload_launch(&workload, "cfd_step_factor", shape,
                        (void *[]){&current, &areas, &step_factors, &count});
        for (int stage = 1; stage <= STAGES; stage++) {
            workload_launch(&workload, "cfd_flux", shape,
                            (void *[]){&neighbours, &normals, &current, &fluxes, &count});
            workload_launch(&workload, "cfd_advance", shape,
                            (void *[]){&before, &current, &step_factors, &fluxes, &stage, &count});
        }
        iterate_on_cpu(&workload, &mesh, far_field, variables);
    }

    bool is_right =
        workload_verify_floats(&workload, current, variables, VARIABLES * (size_t)count, TOLERANCE);
    return workload_finish(&workload, is_right, "variables", VARIABLES * (size_t)count);
}
