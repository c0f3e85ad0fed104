/* Time steps of the isothermal Euler equations on a random mesh. A tolerance covers fused
 * multiplications and additions and other roundings. */
#include "common/edges.h"

enum { THREADS = 192 };
enum {
    VARIABLES = 4,
    MASS = 3
}; /* three components of velocity, then density, each for all nodes */

static const float TOLERANCE = 1e-4f, STEP = 0.01f;

enum { NODES, STEPS };

static const WorkloadInfo INFO = {
    .name = "euler",
    .summary = "Solves the Euler equations on an unstructured mesh, one node per thread.",
    .parameters =
        {
            [NODES] = {"nodes", "24 neighbours each", {300, 4096, 184256}, 1u << 24, 2},
            [STEPS] = {"steps", "in time", {2, 1, 1}, 100, 0},
        },
};

/* Adds the flow of a state through the face: half its mass flow, momentum and pressure. */
static void add_flux(float *flux, const float *state, const float *normal) {
    float mass = 0.0f;
    for (int axis = 0; axis < MASS; axis++)
        mass += 0.5f * state[MASS] * state[axis] * normal[axis];
    for (int axis = 0; axis < MASS; axis++)
        flux[axis] += mass * state[axis] + 0.5f * state[MASS] * normal[axis];
    flux[MASS] += mass;
}

/* The values of an item in arrays of length `apart`. */
static void gather(float *to, const float *from, size_t count, size_t apart, size_t item) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[i * apart + item];
}

static void step_on_cpu(const uint32_t *neighbours, const float *normals, const float *states,
                        float *next, size_t nodes) {
    size_t edges = MESH_EDGES_OF_NODE * nodes;
    for (size_t node = 0; node < nodes; node++) {
        float state[VARIABLES], other[VARIABLES], normal[MASS], flux[VARIABLES] = {0};
        gather(state, states, VARIABLES, nodes, node);
        for (size_t i = node; i < edges; i += nodes) {
            gather(normal, normals, MASS, edges, i);
            gather(other, states, VARIABLES, nodes, neighbours[i]);
            add_flux(flux, state, normal);
            add_flux(flux, other, normal);
        }
        float density = state[MASS] - STEP * flux[MASS];
        for (size_t axis = 0; axis < MASS; axis++)
            next[axis * nodes + node] = (state[MASS] * state[axis] - STEP * flux[axis]) / density;
        next[MASS * nodes + node] = density;
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t nodes = workload.values[NODES];
    size_t words = VARIABLES * (size_t)nodes, edges = MESH_EDGES_OF_NODE * (size_t)nodes;
    uint32_t *neighbours = edges_generate(&workload, nodes, MESH_EDGES_OF_NODE, MESH_REACH);
    float *normals = workload_random_fractions(&workload, MASS * edges, -1.0f, 1.0f), step = STEP;
    float *states = workload_random_fractions(&workload, words, -0.5f, 0.5f);
    float *next = workload_host_alloc(&workload, words, sizeof *next);
    for (size_t i = 0; i < nodes; i++)
        states[MASS * (size_t)nodes + i] += 1.5f;

    CUdeviceptr device_neighbours = workload_upload(neighbours, edges * sizeof *neighbours);
    CUdeviceptr device_normals = workload_upload(normals, MASS * edges * sizeof *normals);
    CUdeviceptr device_states = workload_upload(states, words * sizeof *states);
    CUdeviceptr device_next = workload_upload_zeros(words * sizeof *next);
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        workload_launch(&workload, "euler", workload_cover(nodes, THREADS),
                        (void *[]){&device_neighbours, &device_normals, &device_states,
                                   &device_next, &step, &nodes});
        step_on_cpu(neighbours, normals, states, next, nodes);
        float *written = next;
        CUdeviceptr device_written = device_next;
        next = states, states = written;
        device_next = device_states, device_states = device_written;
    }

    bool is_right = workload_verify_floats(&workload, device_states, states, words, TOLERANCE);
    return workload_finish(&workload, is_right, "variables", words);
}
