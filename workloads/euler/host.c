/* Time steps of the isothermal Euler equations on a random mesh. The order of the atomics and other
 * roundings call for the tolerance. */
#include "common/edges.h"

enum { THREADS = 192, VARIABLES = 4, MASS = 3 }; /* three of velocity, then density */

static const float TOLERANCE = 1e-4f, STEP = 0.01f;

enum { NODES, STEPS };

static const WorkloadInfo INFO = {
    .name = "euler",
    .summary = "Solves the Euler equations on an unstructured mesh, one edge per thread.",
    .parameters =
        {
            [NODES] = {"nodes", "7 edges for each", {300, 4096, 48300}, 1u << 24, 2},
            [STEPS] = {"steps", "in time", {2, 1, 1}, 100, 0},
        },
};

typedef struct Mesh {
    uint32_t nodes; /* count */
    uint32_t edges; /* count */
    uint32_t *ends; /* 2 x edges: nodes */
    float *normals; /* 3 x edges: of the face between the ends, as long as it is large */
    float *states;  /* VARIABLES x nodes */
} Mesh;

static Mesh generate_mesh(Workload *workload, uint32_t nodes) {
    Mesh mesh = {.nodes = nodes, .edges = EDGES_PER_NODE * nodes};
    mesh.ends = edges_generate(workload, nodes);
    mesh.normals = workload_random_fractions(workload, 3 * (size_t)mesh.edges, -1.0f, 1.0f);
    mesh.states = workload_random_fractions(workload, VARIABLES * (size_t)nodes, -0.5f, 0.5f);
    for (size_t i = 0; i < nodes; i++)
        mesh.states[VARIABLES * i + MASS] += 1.5f;
    return mesh;
}

/* Adds what a state carries through the face: half its mass flow, momentum and pressure. */
static void add_flux(float *flux, const float *state, const float *normal) {
    float mass = 0.0f;
    for (int axis = 0; axis < MASS; axis++)
        mass += 0.5f * state[MASS] * state[axis] * normal[axis];
    for (int axis = 0; axis < MASS; axis++)
        flux[axis] += mass * state[axis] + 0.5f * state[MASS] * normal[axis];
    flux[MASS] += mass;
}

static void step_on_cpu(Mesh *mesh, float *fluxes) {
    for (size_t i = 0; i < mesh->edges; i++) {
        size_t first = mesh->ends[2 * i], second = mesh->ends[2 * i + 1];
        float flux[VARIABLES] = {0};
        add_flux(flux, &mesh->states[VARIABLES * first], &mesh->normals[3 * i]);
        add_flux(flux, &mesh->states[VARIABLES * second], &mesh->normals[3 * i]);
        for (size_t v = 0; v < VARIABLES; v++) {
            fluxes[VARIABLES * first + v] -= flux[v];
            fluxes[VARIABLES * second + v] += flux[v];
        }
    }
    for (size_t i = 0; i < mesh->nodes; i++) {
        float *state = &mesh->states[VARIABLES * i], *flux = &fluxes[VARIABLES * i];
        float density = state[MASS] + STEP * flux[MASS];
        for (size_t axis = 0; axis < MASS; axis++)
            state[axis] = (state[MASS] * state[axis] + STEP * flux[axis]) / density;
        state[MASS] = density;
        for (size_t v = 0; v < VARIABLES; v++)
            flux[v] = 0.0f;
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Mesh mesh = generate_mesh(&workload, workload.values[NODES]);
    size_t words = VARIABLES * (size_t)mesh.nodes;
    float step = STEP;

    CUdeviceptr ends = workload_upload(mesh.ends, 2 * (size_t)mesh.edges * sizeof(uint32_t));
    CUdeviceptr normals = workload_upload(mesh.normals, 3 * (size_t)mesh.edges * sizeof(float));
    CUdeviceptr states = workload_upload(mesh.states, words * sizeof(float));
    CUdeviceptr device_fluxes = workload_upload_zeros(words * sizeof(float));
    float *fluxes = workload_host_alloc(&workload, words, sizeof *fluxes);
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        workload_launch(&workload, "euler_edges", workload_cover(mesh.edges, THREADS),
                        (void *[]){&ends, &normals, &states, &device_fluxes, &mesh.edges});
        workload_launch(&workload, "euler_nodes", workload_cover(mesh.nodes, THREADS),
                        (void *[]){&states, &device_fluxes, &step, &mesh.nodes});
        step_on_cpu(&mesh, fluxes);
    }

    bool is_right = workload_verify_floats(&workload, states, mesh.states, words, TOLERANCE);
    return workload_finish(&workload, is_right, "variables", words);
}
