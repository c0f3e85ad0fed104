/* Breadth-first search from node 0 of a random directed graph of `size` nodes, 0 to 16 edges each:
 * one launch per level until a level finds nothing new. The reference walks a queue. */
#include "common/workload.h"

#include <stdlib.h>

enum { THREADS = 256, MOST_EDGES_PER_NODE = 16 };

static const uint32_t UNREACHED = UINT32_MAX;

static const WorkloadInfo INFO = {
    .name = "bfs",
    .summary = "Breadth-first search on a random graph, one launch per level.",
    .size_meaning = "nodes (8 edges each on average)",
    .default_size = 32768,
    .largest_size = 1u << 24,
    .default_seed = 4,
};

/* A directed graph in CSR form. */
typedef struct Graph {
    uint32_t nodes;        /* count */
    uint32_t edges;        /* count */
    uint32_t *row_offsets; /* first edge of each node, and the count of edges at the end */
    uint32_t *neighbours;  /* the node that each edge leads to */
} Graph;

static Graph generate_graph(Workload *workload) {
    uint32_t nodes = workload->size;
    Graph graph = {.nodes = nodes,
                   .row_offsets = workload_host_alloc((size_t)nodes + 1, sizeof(uint32_t))};
    for (uint32_t node = 0; node < nodes; node++)
        graph.row_offsets[node + 1] =
            graph.row_offsets[node] + workload_random(workload, MOST_EDGES_PER_NODE + 1);
    graph.edges = graph.row_offsets[nodes];
    graph.neighbours = workload_host_alloc(graph.edges, sizeof(uint32_t));
    for (uint32_t edge = 0; edge < graph.edges; edge++)
        graph.neighbours[edge] = workload_random(workload, nodes);
    return graph;
}

/* Level 0 for node 0, none yet for the others. The caller frees it. */
static uint32_t *start_levels(uint32_t nodes) {
    uint32_t *levels = workload_host_alloc(nodes, sizeof *levels);
    for (uint32_t node = 1; node < nodes; node++)
        levels[node] = UNREACHED;
    return levels;
}

static void search_on_cpu(const Graph *graph, uint32_t *levels) {
    uint32_t *queue = workload_host_alloc(graph->nodes, sizeof *queue);
    uint32_t head = 0, tail = 1;
    while (head < tail) {
        uint32_t node = queue[head++];
        for (uint32_t edge = graph->row_offsets[node]; edge < graph->row_offsets[node + 1];
             edge++) {
            uint32_t neighbour = graph->neighbours[edge];
            if (levels[neighbour] != UNREACHED) continue;
            levels[neighbour] = levels[node] + 1;
            queue[tail++] = neighbour;
        }
    }
    free(queue);
}

static void search_on_device(const Workload *workload, const Graph *graph, uint32_t *levels) {
    uint32_t nodes = graph->nodes, has_grown = 1;
    size_t level_bytes = nodes * sizeof(uint32_t);
    CUdeviceptr row_offsets =
        workload_upload(graph->row_offsets, ((size_t)nodes + 1) * sizeof(uint32_t));
    /* One word more than there are edges: an empty graph needs a buffer too. */
    CUdeviceptr neighbours = workload_device_alloc(((size_t)graph->edges + 1) * sizeof(uint32_t));
    workload_copy_to_device(neighbours, graph->neighbours, graph->edges * sizeof(uint32_t));
    CUdeviceptr device_levels = workload_upload(levels, level_bytes);
    CUdeviceptr device_has_grown = workload_device_alloc(sizeof has_grown);
    WorkloadShape shape = {workload_divide_up(nodes, THREADS), 1, THREADS, 1};
    for (uint32_t level = 0; has_grown; level++) {
        has_grown = 0;
        workload_copy_to_device(device_has_grown, &has_grown, sizeof has_grown);
        workload_launch(workload, shape,
                        (void *[]){&row_offsets, &neighbours, &device_levels, &device_has_grown,
                                   &level, &nodes});
        workload_copy_to_host(&has_grown, device_has_grown, sizeof has_grown);
    }
    workload_copy_to_host(levels, device_levels, level_bytes);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = generate_graph(&workload);
    uint32_t *expected = start_levels(graph.nodes);
    uint32_t *got = start_levels(graph.nodes);
    search_on_cpu(&graph, expected);
    search_on_device(&workload, &graph, got);

    bool is_right = workload_compare_words(&workload, got, expected, graph.nodes);
    free(graph.row_offsets);
    free(graph.neighbours);
    free(expected);
    free(got);
    return workload_finish(&workload, is_right, "levels", graph.nodes);
}
