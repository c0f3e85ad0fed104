/* Breadth-first search from node 0 of a random graph: one launch per level until a level finds
 * nothing new. */
#include "common/graph.h"

enum { THREADS = 256 };

enum { NODES, EDGES };

static const WorkloadInfo INFO = {
    .name = "bfs",
    .summary = "Breadth-first search on a random graph, one launch per level.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {777, 16384, 65536}, 1u << 24, 0},
            [EDGES] =
                {"edges", "from a node, at most", {GRAPH_EDGES, GRAPH_EDGES, GRAPH_EDGES}, 64, 0},
        },
};

static void search_on_device(const Workload *workload, const Graph *graph, CUdeviceptr levels) {
    CUdeviceptr row_offsets =
        workload_upload(graph->row_offsets, ((size_t)graph->nodes + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours = workload_upload(graph->neighbours, graph->edges * sizeof(uint32_t));
    CUdeviceptr device_has_grown = workload_device_alloc(sizeof(uint32_t));
    uint32_t nodes = graph->nodes, has_grown = 1;
    for (uint32_t level = 0; has_grown; level++) {
        has_grown = 0;
        workload_copy_to_device(device_has_grown, &has_grown, sizeof has_grown);
        workload_launch(
            workload, "bfs", workload_cover(nodes, THREADS),
            (void *[]){&row_offsets, &neighbours, &levels, &device_has_grown, &level, &nodes});
        workload_copy_to_host(&has_grown, device_has_grown, sizeof has_grown);
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t nodes = workload.values[NODES], edges = workload.values[EDGES];
    Graph graph = graph_generate(&workload, nodes, edges);
    uint32_t *start = workload_host_alloc(&workload, graph.nodes, sizeof *start);
    for (uint32_t node = 1; node < graph.nodes; node++)
        start[node] = GRAPH_UNREACHED;
    CUdeviceptr levels = workload_upload(start, graph.nodes * sizeof *start);
    search_on_device(&workload, &graph, levels);

    const uint32_t *expected = graph_levels(&workload, &graph);
    bool is_right = workload_verify_words(&workload, levels, expected, graph.nodes);
    return workload_finish(&workload, is_right, "levels", graph.nodes);
}
