/* Makes graphs with a given distribution of degrees: every node has as many ends of edges as
 * neighbours, and a random order of the ends pairs them. */
#include "powerlaw.h"

#include <math.h>

/* Random numbers have 31 bits. */
static const uint32_t DRAWS = 1u << 31;

static uint32_t draw_degree(Workload *workload, uint32_t fewest, uint32_t most) {
    double share = ((double)workload_random(workload, DRAWS) + 1) / DRAWS;
    double degree = fewest / sqrt(share);
    return degree < most ? (uint32_t)degree : most;
}

/* The node of each end of an edge, in random order. */
static uint32_t *shuffle_ends(Workload *workload, const Graph *graph) {
    uint32_t *ends = workload_host_alloc(workload, graph->edges, sizeof *ends);
    for (uint32_t node = 0; node < graph->nodes; node++)
        for (uint32_t i = graph->row_offsets[node]; i < graph->row_offsets[node + 1]; i++)
            ends[i] = node;
    for (uint32_t i = graph->edges; i > 1; i--) {
        uint32_t other = workload_random(workload, i), end = ends[other];
        ends[other] = ends[i - 1];
        ends[i - 1] = end;
    }
    return ends;
}

Graph powerlaw_generate(Workload *workload, uint32_t nodes, uint32_t fewest, uint32_t most) {
    Graph graph = {
        .nodes = nodes,
        .row_offsets = workload_host_alloc(workload, (size_t)nodes + 1, sizeof(uint32_t)),
    };
    for (uint32_t node = 0; node < nodes; node++)
        graph.row_offsets[node + 1] = graph.row_offsets[node] + draw_degree(workload, fewest, most);
    graph.row_offsets[nodes] += graph.row_offsets[nodes] % 2; /* ends are paired */
    graph.edges = graph.row_offsets[nodes];
    graph.neighbours = workload_host_alloc(workload, graph.edges, sizeof(uint32_t));
    uint32_t *ends = shuffle_ends(workload, &graph);
    uint32_t *places = workload_host_alloc(workload, nodes, sizeof *places);
    for (uint32_t node = 0; node < nodes; node++)
        places[node] = graph.row_offsets[node];
    for (uint32_t i = 0; i < graph.edges; i += 2) {
        graph.neighbours[places[ends[i]]++] = ends[i + 1];
        graph.neighbours[places[ends[i + 1]]++] = ends[i];
    }
    return graph;
}
