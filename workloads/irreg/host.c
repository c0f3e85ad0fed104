/* Sweeps over the edges and nodes of a random mesh. Values start as whole numbers below 64 and few
 * iterations are allowed, so that sums are exact in any order and the comparison can be. */
#include "common/edges.h"

enum { THREADS = 192, MOST_ITERATIONS = 3 };

enum { NODES, ITERATIONS };

static const WorkloadInfo INFO = {
    .name = "irreg",
    .summary = "Sweeps over an unstructured mesh, one edge per thread.",
    .parameters =
        {
            [NODES] = {"nodes", "7 edges for each", {500, 8192, 98400}, 1u << 24, 2},
            [ITERATIONS] = {"iterations", "edges, then nodes", {2, 1, 1}, MOST_ITERATIONS, 0},
        },
};

static void iterate_on_cpu(const uint32_t *edges, size_t edge_count, float *values, float *sums,
                           size_t nodes) {
    for (size_t i = 0; i < edge_count; i++) {
        uint32_t first = edges[2 * i], second = edges[2 * i + 1];
        float difference = 0.5f * (values[second] - values[first]);
        sums[first] += difference;
        sums[second] -= difference;
    }
    for (size_t i = 0; i < nodes; i++) {
        values[i] += sums[i];
        sums[i] = 0.0f;
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned nodes = workload.values[NODES], edge_count = EDGES_PER_NODE * nodes;
    uint32_t *edges = edges_generate(&workload, nodes);
    float *values = workload_random_floats(&workload, nodes, 64);
    float *sums = workload_host_alloc(&workload, nodes, sizeof *sums);

    CUdeviceptr device_edges = workload_upload(edges, 2 * (size_t)edge_count * sizeof *edges);
    CUdeviceptr device_values = workload_upload(values, nodes * sizeof *values);
    CUdeviceptr device_sums = workload_upload_zeros(nodes * sizeof *sums);
    for (unsigned i = 0; i < workload.values[ITERATIONS]; i++) {
        workload_launch(&workload, "irreg_edges", workload_cover(edge_count, THREADS),
                        (void *[]){&device_edges, &device_values, &device_sums, &edge_count});
        workload_launch(&workload, "irreg_nodes", workload_cover(nodes, THREADS),
                        (void *[]){&device_values, &device_sums, &nodes});
        iterate_on_cpu(edges, edge_count, values, sums, nodes);
    }

    bool is_right = workload_verify_floats(&workload, device_values, values, nodes, 0.0f);
    return workload_finish(&workload, is_right, "nodes", nodes);
}
