/* Counts the triangles of a random undirected graph: GAP's sixth kernel (Beamer et al., arXiv
 * 1508.03619). The graph is directed by the number of edges of its nodes before the launch, so that
 * no node has a long list of neighbours and each triangle is found once. */
#include "common/graph.h"

enum { THREADS = 256, WARP = 32 };

enum { NODES, EDGES, UNIFORM, SEARCH };

static const WorkloadInfo INFO = {
    .name = "triangles",
    .summary = "Counts the triangles of a random graph, one edge per thread or per warp.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {777, 8192, 65536}, 1u << 24, 0},
            [EDGES] = {"edges", "drawn for each node", {5, 5, 5}, 64, 0},
            [UNIFORM] = {"uniform",
                         "1: edges between uniformly random nodes; 0: a Kronecker graph",
                         {0, 0, 0},
                         1,
                         0},
            [SEARCH] = {"search",
                        "1: binary search, one edge per warp; 0: merges, one edge per thread",
                        {0, 0, 0},
                        1,
                        0},
        },
};

/* True if an edge leads from `node` to `other`, not back. */
static bool leads_to(const Graph *graph, uint32_t node, uint32_t other) {
    uint32_t own = graph_degree(graph, node), its = graph_degree(graph, other);
    return own < its || (own == its && node < other);
}

/* The same graph with one direction of each edge. `*sources` gets the node that each leads from. */
static Graph direct_edges(Workload *workload, const Graph *graph, uint32_t **sources) {
    Graph directed = {
        .nodes = graph->nodes,
        .row_offsets = workload_host_alloc(workload, (size_t)graph->nodes + 1, sizeof(uint32_t)),
        .neighbours = workload_host_alloc(workload, graph->edges / 2, sizeof(uint32_t)),
    };
    *sources = workload_host_alloc(workload, graph->edges / 2, sizeof **sources);
    for (uint32_t node = 0; node < graph->nodes; node++) {
        for (uint32_t i = graph->row_offsets[node]; i < graph->row_offsets[node + 1]; i++) {
            if (!leads_to(graph, node, graph->neighbours[i])) continue;
            (*sources)[directed.edges] = node;
            directed.neighbours[directed.edges++] = graph->neighbours[i];
        }
        directed.row_offsets[node + 1] = directed.edges;
    }
    return directed;
}

static uint64_t count_on_device(const Workload *workload, const Graph *directed,
                                const uint32_t *sources) {
    uint64_t total = 0;
    uint32_t edges = directed->edges;
    CUdeviceptr row_offsets =
        workload_upload(directed->row_offsets, ((size_t)directed->nodes + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours = workload_upload(directed->neighbours, edges * sizeof(uint32_t));
    CUdeviceptr device_sources = workload_upload(sources, edges * sizeof *sources);
    CUdeviceptr device_total = workload_upload_zeros(sizeof total);
    bool is_search = workload->values[SEARCH];
    WorkloadShape shape = workload_cover(edges, is_search ? THREADS / WARP : THREADS);
    shape.block_x = THREADS;
    if (edges)
        workload_launch(
            workload, is_search ? "triangles_search" : "triangles_merge", shape,
            (void *[]){&row_offsets, &neighbours, &device_sources, &device_total, &edges});
    workload_copy_to_host(&total, device_total, sizeof total);
    return total;
}

/* Marks the neighbours of each node, and counts those that its neighbours have too. It does so
 * without directions: the third node of a triangle is the smallest. The innermost loop ends at the
 * latest at `node`, which is a greater neighbour of `*other`. */
static uint64_t count_on_cpu(Workload *workload, const Graph *graph) {
    uint32_t *marks = workload_host_alloc(workload, graph->nodes, sizeof *marks);
    uint64_t total = 0;
    for (uint32_t node = 0; node < graph->nodes; node++) {
        const uint32_t *from = &graph->neighbours[graph->row_offsets[node]];
        const uint32_t *to = &graph->neighbours[graph->row_offsets[node + 1]];
        for (const uint32_t *other = from; other < to; other++)
            marks[*other] = node + 1;
        for (const uint32_t *other = from; other < to && *other < node; other++)
            for (uint32_t i = graph->row_offsets[*other]; graph->neighbours[i] < *other; i++)
                total += marks[graph->neighbours[i]] == node + 1;
    }
    return total;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = graph_generate_undirected(&workload, workload.values[NODES],
                                            workload.values[EDGES], workload.values[UNIFORM]);
    uint32_t *sources;
    Graph directed = direct_edges(&workload, &graph, &sources);
    uint64_t total = count_on_device(&workload, &directed, sources);

    uint64_t expected = count_on_cpu(&workload, &graph);
    bool is_right =
        workload_compare_words(&workload, (const uint32_t *)&total, (const uint32_t *)&expected, 2);
    return workload_finish(&workload, is_right, "triangles", total);
}
