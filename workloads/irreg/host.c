/* Sweeps over a random mesh. Values start as whole numbers below 64 and few iterations are allowed,
 * so that sums are exact in any order, and so is the comparison. */
#include "common/edges.h"

enum { THREADS = 192, MOST_ITERATIONS = 3 };

enum { NODES, ITERATIONS };

static const WorkloadInfo INFO = {
    .name = "irreg",
    .summary = "Sweeps over an unstructured mesh, one node per thread.",
    .parameters =
        {
            [NODES] = {"nodes", "24 neighbours each", {500, 8192, 184256}, 1u << 24, 2},
            [ITERATIONS] = {"iterations", "over all nodes", {2, 1, 1}, MOST_ITERATIONS, 0},
        },
};

static void iterate_on_cpu(const uint32_t *neighbours, const float *values, float *next,
                           size_t nodes) {
    for (size_t node = 0; node < nodes; node++) {
        next[node] = values[node];
        for (size_t i = 0; i < MESH_EDGES_OF_NODE; i++)
            next[node] += 0.5f * (values[neighbours[i * nodes + node]] - values[node]);
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t nodes = workload.values[NODES];
    size_t edges = MESH_EDGES_OF_NODE * (size_t)nodes;
    uint32_t *neighbours = edges_generate(&workload, nodes, MESH_EDGES_OF_NODE, MESH_REACH);
    float *values = workload_random_floats(&workload, nodes, 64);
    float *next = workload_host_alloc(&workload, nodes, sizeof *next);

    CUdeviceptr device_neighbours = workload_upload(neighbours, edges * sizeof *neighbours);
    CUdeviceptr device_values = workload_upload(values, nodes * sizeof *values);
    CUdeviceptr device_next = workload_upload_zeros(nodes * sizeof *next);
    for (unsigned i = 0; i < workload.values[ITERATIONS]; i++) {
        workload_launch(&workload, "irreg", workload_cover(nodes, THREADS),
                        (void *[]){&device_neighbours, &device_values, &device_next, &nodes});
        iterate_on_cpu(neighbours, values, next, nodes);
        float *written = next;
        CUdeviceptr device_written = device_next;
        next = values, values = written;
        device_next = device_values, device_values = device_written;
    }

    bool is_right = workload_verify_floats(&workload, device_values, values, nodes, 0.0f);
    return workload_finish(&workload, is_right, "nodes", nodes);
}
