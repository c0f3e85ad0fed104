/* Meshes for the workloads of fluid dynamics. */
#include "edges.h"

#include <math.h>

static uint32_t pick_neighbour(Workload *workload, uint32_t node, uint32_t nodes) {
    uint32_t reach = (uint32_t)sqrt((double)nodes);
    uint32_t distance = 1 + (workload_random(workload, 4) ? workload_random(workload, reach)
                                                          : workload_random(workload, nodes - 1));
    return (node + (workload_random(workload, 2) ? distance : nodes - distance)) % nodes;
}

uint32_t *edges_generate(Workload *workload, uint32_t nodes) {
    size_t count = (size_t)nodes * EDGES_OF_NODE;
    uint32_t *neighbours = workload_host_alloc(workload, count, sizeof *neighbours);
    for (size_t i = 0; i < count; i++)
        neighbours[i] = pick_neighbour(workload, (uint32_t)(i % nodes), nodes);
    return neighbours;
}
