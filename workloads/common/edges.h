/* Random unstructured meshes, for the workloads that sweep over one: for each node the nodes that
 * it shares an edge with. */
#ifndef TYTO_WORKLOAD_EDGES_H
#define TYTO_WORKLOAD_EDGES_H

#include "workload.h"

/* A mesh of tetrahedra has about seven edges for each node, and each edge two ends. */
enum { EDGES_OF_NODE = 14 };

/* EDGES_OF_NODE neighbours for each of `nodes`, at least 2: the first of all nodes, then the second
 * of all, and so on, as threads read them side by side. Three of four are near in the numbering too
 * (within the square root of `nodes`), the others anywhere; none is the node itself. */
uint32_t *edges_generate(Workload *workload, uint32_t nodes);

#endif
