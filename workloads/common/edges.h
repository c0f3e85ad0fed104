/* Edges of random unstructured meshes, for the workloads that sweep over them. */
#ifndef TYTO_WORKLOAD_EDGES_H
#define TYTO_WORKLOAD_EDGES_H

#include "workload.h"

/* A mesh of tetrahedra has about as many edges for each node. */
enum { EDGES_PER_NODE = 7 };

/* A node that lies near `node` in the mesh: three of four are near in the numbering too (within
 * the square root of `nodes`), the others anywhere. Never `node` itself; `nodes` is at least 2. */
uint32_t edges_pick_neighbour(Workload *workload, uint32_t node, uint32_t nodes);
/* EDGES_PER_NODE * nodes edges, each as the two nodes that it joins, in the order of the first. */
uint32_t *edges_generate(Workload *workload, uint32_t nodes);

#endif
