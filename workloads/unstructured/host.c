/* Sweeps over the nodes of a random mesh. Velocities and weights are small whole numbers and the
 * step a power of two, so that with the few allowed steps sums are exact in any order, and so is
 * the comparison. */
#include "common/edges.h"

enum { THREADS = 192, AXES = 3, MOST_STEPS = 2 };

static const float STEP = 1.0f / 64.0f;

enum { NODES, STEPS };

static const WorkloadInfo INFO = {
    .name = "unstructured",
    .summary = "Fluid dynamics on an unstructured mesh, one node per thread.",
    .parameters =
        {
            [NODES] = {"nodes", "24 neighbours each", {300, 4096, 184256}, 1u << 24, 2},
            [STEPS] = {"steps", "in time", {2, 1, 1}, MOST_STEPS, 0},
        },
};

static void step_on_cpu(const uint32_t *neighbours, const float *weights, const float *velocities,
                        float *next, size_t nodes) {
    for (size_t axis = 0; axis < AXES; axis++, velocities += nodes, next += nodes)
        for (size_t node = 0; node < nodes; node++) {
            float force = 0.0f;
            for (size_t i = node; i < MESH_EDGES_OF_NODE * nodes; i += nodes)
                force += weights[i] * (velocities[neighbours[i]] - velocities[node]);
            next[node] = velocities[node] + STEP * force;
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t nodes = workload.values[NODES];
    size_t words = AXES * (size_t)nodes, edges = MESH_EDGES_OF_NODE * (size_t)nodes;
    uint32_t *neighbours = edges_generate(&workload, nodes, MESH_EDGES_OF_NODE, MESH_REACH);
    float *weights = workload_random_floats(&workload, edges, 4), step = STEP;
    float *velocities = workload_random_floats(&workload, words, 16);
    float *next = workload_host_alloc(&workload, words, sizeof *next);

    CUdeviceptr device_neighbours = workload_upload(neighbours, edges * sizeof *neighbours);
    CUdeviceptr device_weights = workload_upload(weights, edges * sizeof *weights);
    CUdeviceptr device_velocities = workload_upload(velocities, words * sizeof *velocities);
    CUdeviceptr device_next = workload_upload_zeros(words * sizeof *next);
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        CUdeviceptr x = device_velocities, y = x + nodes * sizeof *next,
                    z = y + nodes * sizeof *next;
        CUdeviceptr next_x = device_next, next_y = next_x + nodes * sizeof *next,
                    next_z = next_y + nodes * sizeof *next;
        workload_launch(&workload, "unstructured", workload_cover(nodes, THREADS),
                        (void *[]){&device_neighbours, &device_weights, &x, &y, &z, &next_x,
                                   &next_y, &next_z, &step, &nodes});
        step_on_cpu(neighbours, weights, velocities, next, nodes);
        float *written = next;
        CUdeviceptr device_written = device_next;
        next = velocities, velocities = written;
        device_next = device_velocities, device_velocities = device_written;
    }

    bool is_right = workload_verify_floats(&workload, device_velocities, velocities, words, 0.0f);
    return workload_finish(&workload, is_right, "nodes", nodes);
}
