/* Random unstructured meshes, for the workloads that sweep over one: for each node the nodes that
 * it shares an edge with. */
#ifndef TYTO_WORKLOAD_EDGES_H
#define TYTO_WORKLOAD_EDGES_H

#include "workload.h"

/* The mesh that `unstructured` sweeps over, worked out from what MD's tables 5 to 7 publish of it;
 * the other programs of fluid dynamics sweep over the same. */
enum { MESH_EDGES_OF_NODE = 24, MESH_REACH = 300 };

/* `degree` neighbours for each of `nodes`, at least 2: the first of all nodes, then the second of
 * all, and so on, as threads read them side by side. They are within `reach` in the numbering, in
 * which the first node follows the last, as in a mesh that is numbered to keep its band narrow;
 * none is the node itself. */
uint32_t *edges_generate(Workload *workload, uint32_t nodes, uint32_t degree, uint32_t reach);

#endif
