/* Breadth-first search from node 0 of a random graph with masks: launches follow each other until
 * one finds no node. */
#include "common/graph.h"

enum { THREADS = 256 };

enum { NODES, EDGES };

static const WorkloadInfo INFO = {
    .name = "bfsmask",
    .summary = "Breadth-first search with masks; nodes are expanded as soon as they are found.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {777, 16384, 65536}, 1u << 24, 0},
            [EDGES] =
                {"edges", "at most from a node, half as many on average", {12, 12, 12}, 1024, 0},
        },
};

static void search_on_device(Workload *workload, const Graph *graph, CUdeviceptr visited,
                             CUdeviceptr costs) {
    CUdeviceptr nodes = graph_upload_nodes(workload, graph);
    CUdeviceptr neighbours = workload_upload(graph->neighbours, graph->edges * sizeof(uint32_t));
    CUdeviceptr is_frontier = workload_upload_zeros(graph->nodes);
    CUdeviceptr device_has_grown = workload_device_alloc(1);
    uint32_t count = graph->nodes;
    workload_copy_to_device(is_frontier, &(uint8_t){1}, 1);
    for (uint8_t has_grown = 1; has_grown;) {
        has_grown = 0;
        workload_copy_to_device(device_has_grown, &has_grown, sizeof has_grown);
        workload_launch(workload, "bfsmask", workload_cover(count, THREADS),
                        (void *[]){&nodes, &neighbours, &is_frontier, &visited, &costs,
                                   &device_has_grown, &count});
        workload_copy_to_host(&has_grown, device_has_grown, sizeof has_grown);
    }
}

/* The search may find the cost of any path: at least the level, and less than the number of nodes.
 * For any other cost the expected value is the level. */
static bool verify_costs(Workload *workload, CUdeviceptr costs, const uint32_t *levels,
                         uint32_t nodes) {
    uint32_t *got = workload_host_alloc(workload, nodes, sizeof *got);
    uint32_t *expected = workload_host_alloc(workload, nodes, sizeof *expected);
    workload_copy_to_host(got, costs, nodes * sizeof *got);
    for (uint32_t node = 0; node < nodes; node++) {
        bool is_a_path = levels[node] != GRAPH_UNREACHED && got[node] >= levels[node];
        expected[node] = is_a_path && got[node] < nodes ? got[node] : levels[node];
    }
    return workload_compare_words(workload, got, expected, nodes);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = graph_generate(&workload, workload.values[NODES], workload.values[EDGES]);
    uint32_t *start = workload_host_alloc(&workload, graph.nodes, sizeof *start);
    for (size_t node = 1; node < graph.nodes; node++)
        start[node] = GRAPH_UNREACHED;
    CUdeviceptr costs = workload_upload(start, graph.nodes * sizeof *start);
    CUdeviceptr visited = workload_upload_zeros(graph.nodes);
    search_on_device(&workload, &graph, visited, costs);

    const uint32_t *levels = graph_levels(&workload, &graph);
    uint8_t *expected = workload_host_alloc(&workload, graph.nodes, sizeof *expected);
    for (size_t node = 0; node < graph.nodes; node++)
        expected[node] = levels[node] != GRAPH_UNREACHED;
    bool is_right = workload_verify_bytes(&workload, visited, expected, graph.nodes);
    is_right = verify_costs(&workload, costs, levels, graph.nodes) && is_right;
    return workload_finish(&workload, is_right, "costs", graph.nodes);
}
