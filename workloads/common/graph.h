/* Random directed and undirected graphs in CSR form, and the breadth-first search with which the
 * kernels are compared. */
#ifndef TYTO_WORKLOAD_GRAPH_H
#define TYTO_WORKLOAD_GRAPH_H

#include "workload.h"

enum { GRAPH_EDGES = 16 }; /* default of the most edges from a node */

/* The level of a node that the search does not reach. */
#define GRAPH_UNREACHED UINT32_MAX

typedef struct Graph {
    uint32_t nodes;        /* count */
    uint32_t edges;        /* count */
    uint32_t *row_offsets; /* first edge of each node, and the count of edges at the end */
    uint32_t *neighbours;  /* the node that each edge leads to */
} Graph;

/* Makes 0 to `most` edges from each node to random nodes; node 0, where the searches start, has
 * `most`. */
Graph graph_generate(Workload *workload, uint32_t nodes, uint32_t most);
/* Makes an undirected graph: each edge is there in both directions, no edge is double, none leads
 * back to its own node, and the neighbours of a node ascend. It draws `edges` edges for each node,
 * between uniformly random nodes or in the manner of Kronecker graphs: a few nodes have most of the
 * edges, and some have none. Edges that are drawn again, or lead back, are left out. */
Graph graph_generate_undirected(Workload *workload, uint32_t nodes, uint32_t edges,
                                bool is_uniform);
/* The number of edges of a node. */
static inline uint32_t graph_degree(const Graph *graph, uint32_t node) {
    return graph->row_offsets[node + 1] - graph->row_offsets[node];
}
/* First edge and count of edges of every node, in pairs, on the device. */
CUdeviceptr graph_upload_nodes(Workload *workload, const Graph *graph);
/* The number of edges on the shortest path from node 0 to each node, found with a queue. */
uint32_t *graph_levels(Workload *workload, const Graph *graph);

#endif
