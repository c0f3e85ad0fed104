/* Breadth-first search from node 0 of a random graph with masks instead of levels: two launches per
 * level until nothing new is found. */
#include "common/graph.h"

enum { THREADS = 512 };

enum { NODES, EDGES };

static const WorkloadInfo INFO = {
    .name = "bfsr",
    .summary = "Breadth-first search with masks, two launches per level.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {777, 16384, 65536}, 1u << 24, 0},
            [EDGES] =
                {"edges", "at most from a node, half as many on average", {16, 16, 16}, 1024, 0},
        },
};

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = graph_generate(&workload, workload.values[NODES], workload.values[EDGES]);
    uint32_t *start = workload_host_alloc(&workload, graph.nodes, sizeof *start);
    for (size_t node = 1; node < graph.nodes; node++)
        start[node] = GRAPH_UNREACHED;

    CUdeviceptr nodes = graph_upload_nodes(&workload, &graph);
    CUdeviceptr neighbours = workload_upload(graph.neighbours, graph.edges * sizeof(uint32_t));
    CUdeviceptr is_frontier = workload_upload_zeros(graph.nodes);
    CUdeviceptr is_marked = workload_upload_zeros(graph.nodes);
    CUdeviceptr is_visited = workload_upload_zeros(graph.nodes);
    CUdeviceptr costs = workload_upload(start, graph.nodes * sizeof *start);
    CUdeviceptr device_has_grown = workload_device_alloc(sizeof(uint32_t));
    workload_copy_to_device(is_frontier, &(uint8_t){1}, 1);
    workload_copy_to_device(is_visited, &(uint8_t){1}, 1);
    WorkloadShape shape = workload_cover(graph.nodes, THREADS);
    for (uint32_t has_grown = 1; has_grown;) {
        has_grown = 0;
        workload_copy_to_device(device_has_grown, &has_grown, sizeof has_grown);
        workload_launch(&workload, "bfsr_expand", shape,
                        (void *[]){&nodes, &neighbours, &is_frontier, &is_marked, &is_visited,
                                   &costs, &graph.nodes});
        workload_launch(
            &workload, "bfsr_advance", shape,
            (void *[]){&is_frontier, &is_marked, &is_visited, &device_has_grown, &graph.nodes});
        workload_copy_to_host(&has_grown, device_has_grown, sizeof has_grown);
    }

    const uint32_t *expected = graph_levels(&workload, &graph);
    bool is_right = workload_verify_words(&workload, costs, expected, graph.nodes);
    return workload_finish(&workload, is_right, "levels", graph.nodes);
}
