/* Shortest paths from node 0 of a random graph: rounds of two launches until a round changes
 * nothing. Lengths are whole numbers, so the comparison is exact. */
#include "common/graph.h"

enum { THREADS = 256, LONGEST = 100 };

enum { NODES };

static const WorkloadInfo INFO = {
    .name = "sssp",
    .summary = "Shortest paths on a random graph, two launches per round.",
    .parameters =
        {
            [NODES] = {"nodes", "0 to 16 edges from each", {777, 8192, 65536}, 1u << 24, 0},
        },
};

static uint32_t *start_distances(Workload *workload, size_t nodes) {
    uint32_t *distances = workload_host_alloc(workload, nodes, sizeof *distances);
    for (size_t node = 1; node < nodes; node++)
        distances[node] = GRAPH_UNREACHED;
    return distances;
}

static void search_on_device(Workload *workload, const Graph *graph, const uint32_t *lengths,
                             CUdeviceptr distances) {
    uint32_t nodes = graph->nodes, has_changed = 1;
    uint32_t *is_active = workload_host_alloc(workload, nodes, sizeof *is_active);
    is_active[0] = 1;
    CUdeviceptr row_offsets =
        workload_upload(graph->row_offsets, ((size_t)nodes + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours = workload_upload(graph->neighbours, graph->edges * sizeof(uint32_t));
    CUdeviceptr device_lengths = workload_upload(lengths, graph->edges * sizeof *lengths);
    CUdeviceptr device_is_active = workload_upload(is_active, nodes * sizeof *is_active);
    CUdeviceptr proposals =
        workload_upload(start_distances(workload, nodes), nodes * sizeof(uint32_t));
    CUdeviceptr device_has_changed = workload_device_alloc(sizeof has_changed);
    WorkloadShape shape = workload_cover(nodes, THREADS);
    while (has_changed) {
        has_changed = 0;
        workload_copy_to_device(device_has_changed, &has_changed, sizeof has_changed);
        workload_launch(workload, "sssp_propose", shape,
                        (void *[]){&row_offsets, &neighbours, &device_lengths, &device_is_active,
                                   &distances, &proposals, &nodes});
        workload_launch(
            workload, "sssp_settle", shape,
            (void *[]){&device_is_active, &distances, &proposals, &device_has_changed, &nodes});
        workload_copy_to_host(&has_changed, device_has_changed, sizeof has_changed);
    }
}

/* Relaxes the edges of all nodes until none gets a shorter path. */
static void search_on_cpu(const Graph *graph, const uint32_t *lengths, uint32_t *distances) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t node = 0; node < graph->nodes; node++) {
            if (distances[node] == GRAPH_UNREACHED) continue;
            for (uint32_t i = graph->row_offsets[node]; i < graph->row_offsets[node + 1]; i++) {
                uint32_t distance = distances[node] + lengths[i];
                if (distance >= distances[graph->neighbours[i]]) continue;
                distances[graph->neighbours[i]] = distance;
                has_changed = true;
            }
        }
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = graph_generate(&workload, workload.values[NODES], GRAPH_EDGES);
    uint32_t *lengths = workload_random_words(&workload, graph.edges, LONGEST);
    uint32_t *expected = start_distances(&workload, graph.nodes);
    CUdeviceptr distances = workload_upload(expected, graph.nodes * sizeof *expected);
    search_on_device(&workload, &graph, lengths, distances);

    search_on_cpu(&graph, lengths, expected);
    bool is_right = workload_verify_words(&workload, distances, expected, graph.nodes);
    return workload_finish(&workload, is_right, "distances", graph.nodes);
}
