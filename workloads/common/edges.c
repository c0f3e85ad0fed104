/* Meshes for the workloads of fluid dynamics. */
#include "edges.h"

#include <math.h>

uint32_t edges_pick_neighbour(Workload *workload, uint32_t node, uint32_t nodes) {
    uint32_t reach = (uint32_t)sqrt((double)nodes);
    uint32_t distance = 1 + (workload_random(workload, 4) ? workload_random(workload, reach)
                                                          : workload_random(workload, nodes - 1));
    return (node + distance) % nodes;
}

uint32_t *edges_generate(Workload *workload, uint32_t nodes) {
    size_t count = (size_t)nodes * EDGES_PER_NODE;
    uint32_t *edges = workload_host_alloc(workload, 2 * count, sizeof *edges);
    for (size_t i = 0; i < count; i++) {
        edges[2 * i] = (uint32_t)(i / EDGES_PER_NODE);
        edges[2 * i + 1] = edges_pick_neighbour(workload, edges[2 * i], nodes);
    }
    return edges;
}
