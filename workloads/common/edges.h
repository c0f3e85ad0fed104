/* Random unstructured meshes, for the workloads that sweep over one: for each node, the nodes with
 * which it shares an edge. */
#ifndef TYTO_WORKLOAD_EDGES_H
#define TYTO_WORKLOAD_EDGES_H

#include "workload.h"

/* The mesh of `unstructured`, derived from the numbers in MD's tables 5 to 7; the other programs of
 * fluid dynamics use the same mesh. */
enum { MESH_EDGES_OF_NODE = 24, MESH_REACH = 300 };

/* `degree` neighbours, at least 2, for each of `nodes`: the first neighbours of all nodes, then the
 * second, and so on, so that threads read them side by side. Neighbours are within `reach` in the
 * numbering, in which the first node follows the last, as in a mesh that is numbered for a narrow
 * band. No node is its own neighbour. */
uint32_t *edges_generate(Workload *workload, uint32_t nodes, uint32_t degree, uint32_t reach);

#endif
