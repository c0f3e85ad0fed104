/* Makes meshes for the workloads of fluid dynamics and of molecules. */
#include "edges.h"

uint32_t *edges_generate(Workload *workload, uint32_t nodes, uint32_t degree, uint32_t reach) {
    size_t count = (size_t)nodes * degree;
    uint32_t farthest = nodes > reach ? reach : nodes - 1;
    uint32_t *neighbours = workload_host_alloc(workload, count, sizeof *neighbours);
    for (size_t i = 0; i < count; i++) {
        uint32_t node = (uint32_t)(i % nodes), distance = 1 + workload_random(workload, farthest);
        neighbours[i] =
            (node + (workload_random(workload, 2) ? distance : nodes - distance)) % nodes;
    }
    return neighbours;
}
