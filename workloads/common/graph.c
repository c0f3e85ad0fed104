/* Makes random graphs for workloads. */
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

/* ---- Undirected graphs ---- */

/* The chances in percent that an edge leads from a node of the first half to one of the first half,
 * from the first to the second, and from the second to the first; the same holds within each
 * quarter of the adjacency matrix. These are A, B and C of the Graph 500 specification, "Generating
 * the Edge List"; GAP's graph Kron has the same (Beamer et al., arXiv 1508.03619). */
enum { KRONECKER_A = 57, KRONECKER_B = 19, KRONECKER_C = 19 };

typedef struct Edge {
    uint32_t from, to;
} Edge;

/* The two nodes are random in [0, 2^bits). */
static Edge draw_kronecker(Workload *workload, uint32_t bits) {
    Edge edge = {0, 0};
    for (uint32_t bit = 0; bit < bits; bit++) {
        uint32_t chance = workload_random(workload, 100);
        uint32_t from = chance >= KRONECKER_A + KRONECKER_B;
        uint32_t to =
            from ? chance >= KRONECKER_A + KRONECKER_B + KRONECKER_C : chance >= KRONECKER_A;
        edge.from = 2 * edge.from + from;
        edge.to = 2 * edge.to + to;
    }
    return edge;
}

/* The numbers below `count` in random order (Fisher and Yates). */
static uint32_t *shuffle_numbers(Workload *workload, uint32_t count) {
    uint32_t *numbers = workload_host_alloc(workload, count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = workload_random(workload, i + 1);
        numbers[i] = numbers[other];
        numbers[other] = i;
    }
    return numbers;
}

/* Draws `count` edges and stores each in both directions. The nodes of a Kronecker graph get new
 * numbers at random, as in Graph 500, so that a number does not tell how many edges a node has. */
static Edge *draw_edges(Workload *workload, uint32_t nodes, size_t count, bool is_uniform) {
    Edge *edges = workload_host_alloc(workload, 2 * count, sizeof *edges);
    uint32_t bits = 0, *numbers = is_uniform ? NULL : shuffle_numbers(workload, nodes);
    while (1u << bits < nodes)
        bits++;
    for (size_t i = 0; i < count; i++) {
        Edge edge;
        if (is_uniform) {
            edge.from = workload_random(workload, nodes);
            edge.to = workload_random(workload, nodes);
        } else {
            do
                edge = draw_kronecker(workload, bits);
            while (edge.from >= nodes || edge.to >= nodes);
            edge = (Edge){numbers[edge.from], numbers[edge.to]};
        }
        edges[2 * i] = edge;
        edges[2 * i + 1] = (Edge){edge.to, edge.from};
    }
    return edges;
}

/* Sorts edges by the node that they lead to and reverses each. Edges to the same node keep their
 * order, so a second call sorts them by both nodes, first by the one that they lead from. */
static Edge *sort_reversed(Workload *workload, uint32_t nodes, const Edge *edges, size_t count) {
    Edge *sorted = workload_host_alloc(workload, count, sizeof *sorted);
    uint32_t *places = workload_host_alloc(workload, (size_t)nodes + 1, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[edges[i].to + 1]++;
    for (uint32_t node = 0; node < nodes; node++)
        places[node + 1] += places[node];
    for (size_t i = 0; i < count; i++)
        sorted[places[edges[i].to]++] = (Edge){edges[i].to, edges[i].from};
    return sorted;
}

Graph graph_generate_undirected(Workload *workload, uint32_t nodes, uint32_t edges,
                                bool is_uniform) {
    size_t drawn = (size_t)nodes * edges;
    const Edge *sorted = draw_edges(workload, nodes, drawn, is_uniform);
    for (int pass = 0; pass < 2; pass++)
        sorted = sort_reversed(workload, nodes, sorted, 2 * drawn);
    Graph graph = {
        .nodes = nodes,
        .row_offsets = workload_host_alloc(workload, (size_t)nodes + 1, sizeof(uint32_t)),
        .neighbours = workload_host_alloc(workload, 2 * drawn, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < 2 * drawn; i++) {
        bool is_double =
            i && sorted[i].from == sorted[i - 1].from && sorted[i].to == sorted[i - 1].to;
        if (is_double || sorted[i].from == sorted[i].to) continue;
        graph.neighbours[graph.edges++] = sorted[i].to;
        graph.row_offsets[sorted[i].from + 1] = graph.edges;
    }
    for (uint32_t node = 0; node < nodes; node++)
        if (!graph.row_offsets[node + 1]) graph.row_offsets[node + 1] = graph.row_offsets[node];
    return graph;
}
