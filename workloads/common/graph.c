/* Graphs for the workloads that search one. */
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

enum { NEAR = 16 }; /* nodes to the farthest that is near, on either side: half a line of words */

/* A node within `reach` of `middle` in the numbering, of the layer of `node` or of one beside it.
 * When many draws found none, `node` itself. */
static uint32_t pick_beside(Workload *workload, const uint32_t *layers, uint32_t nodes,
                            uint32_t node, uint32_t middle, uint32_t reach) {
    enum { DRAWS = 1000 };
    uint32_t from = middle > reach ? middle - reach : 0;
    uint32_t to = nodes - middle > reach ? middle + reach : nodes;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint32_t other = from + workload_random(workload, to - from);
        if (layers[other] + 1 >= layers[node] && layers[other] <= layers[node] + 1) return other;
    }
    return node;
}

Graph graph_generate_layered(Workload *workload, uint32_t nodes, uint32_t most,
                             uint32_t layer_count, uint32_t percent) {
    Graph graph = graph_generate(workload, nodes, most);
    uint32_t *layers = workload_random_words(workload, nodes, layer_count);
    layers[0] = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t last = node;
        for (uint32_t edge = graph.row_offsets[node]; edge < graph.row_offsets[node + 1]; edge++) {
            bool is_near = last != node && workload_random(workload, 100) < percent;
            last = pick_beside(workload, layers, nodes, node, is_near ? last : node,
                               is_near ? NEAR : nodes);
            graph.neighbours[edge] = last;
        }
    }
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
