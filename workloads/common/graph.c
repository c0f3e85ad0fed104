/* Makes graphs for the workloads that search one. */
#include "graph.h"

Graph graph_generate(Workload *workload, uint32_t nodes, uint32_t most) {
    Graph graph = {
        .nodes = nodes,
        .row_offsets = workload_host_alloc(workload, (size_t)nodes + 1, sizeof(uint32_t)),
    };
    graph.row_offsets[1] = most;
    for (uint32_t node = 1; node < nodes; node++)
        graph.row_offsets[node + 1] = graph.row_offsets[node] + workload_random(workload, most + 1);
    graph.edges = graph.row_offsets[nodes];
    graph.neighbours = workload_random_words(workload, graph.edges, nodes);
    return graph;
}

uint32_t *graph_levels(Workload *workload, const Graph *graph) {
    uint32_t *levels = workload_host_alloc(workload, graph->nodes, sizeof *levels);
    uint32_t *queue = workload_host_alloc(workload, graph->nodes, sizeof *queue);
    for (uint32_t node = 1; node < graph->nodes; node++)
        levels[node] = GRAPH_UNREACHED;
    for (uint32_t head = 0, tail = 1; head < tail; head++) {
        uint32_t node = queue[head];
        for (uint32_t edge = graph->row_offsets[node]; edge < graph->row_offsets[node + 1];
             edge++) {
            uint32_t neighbour = graph->neighbours[edge];
            if (levels[neighbour] != GRAPH_UNREACHED) continue;
            levels[neighbour] = levels[node] + 1;
            queue[tail++] = neighbour;
        }
    }
    return levels;
}

CUdeviceptr graph_upload_nodes(Workload *workload, const Graph *graph) {
    uint32_t *nodes = workload_host_alloc(workload, 2 * (size_t)graph->nodes, sizeof *nodes);
    for (size_t node = 0; node < graph->nodes; node++) {
        nodes[2 * node] = graph->row_offsets[node];
        nodes[2 * node + 1] = graph->row_offsets[node + 1] - graph->row_offsets[node];
    }
    return workload_upload(nodes, 2 * (size_t)graph->nodes * sizeof *nodes);
}
