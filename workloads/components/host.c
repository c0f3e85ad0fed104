/* Connected components of a random undirected graph, after Afforest (Sutton, Ben-Nun and Barak,
 * IPDPS 2018), the algorithm of GAP (Beamer et al., arXiv 1508.03619): rounds link one edge of each
 * node, and compress; then the nodes outside the largest component so far link their other edges.
 * One difference: the largest component comes from all labels, not from a sample. The paper's text
 * was not available to us; two rounds are GAP's default. */
#include "common/graph.h"

enum { THREADS = 256, ROUNDS = 2 };

enum { NODES, EDGES, UNIFORM, AT_ONCE };

static const WorkloadInfo INFO = {
    .name = "components",
    .summary = "Connected components of a random graph by linking and compressing trees.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {777, 131072, 524288}, 1u << 24, 0},
            [EDGES] = {"edges", "drawn for each node", {1, 8, 8}, 64, 0},
            [UNIFORM] = {"uniform",
                         "1: edges between uniformly random nodes; 0: a Kronecker graph",
                         {0, 0, 0},
                         1,
                         0},
            [AT_ONCE] =
                {"at-once", "1: link all edges in one launch; 0: by rounds", {0, 0, 0}, 1, 0},
        },
};

/* The label that most nodes have; the smallest of several. */
static uint32_t find_most_frequent(Workload *workload, CUdeviceptr device_labels, uint32_t nodes) {
    uint32_t *labels = workload_host_alloc(workload, nodes, sizeof *labels), best = 0;
    uint32_t *counts = workload_host_alloc(workload, nodes, sizeof *counts);
    workload_copy_to_host(labels, device_labels, nodes * sizeof *labels);
    for (uint32_t node = 0; node < nodes; node++)
        counts[labels[node]]++;
    for (uint32_t label = 1; label < nodes; label++)
        if (counts[label] > counts[best]) best = label;
    return best;
}

static void label_on_device(Workload *workload, const Graph *graph, CUdeviceptr labels) {
    uint32_t nodes = graph->nodes, rounds = workload->values[AT_ONCE] ? 0 : ROUNDS;
    uint32_t skipped = nodes; /* no node has this label */
    CUdeviceptr row_offsets =
        workload_upload(graph->row_offsets, ((size_t)nodes + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours = workload_upload(graph->neighbours, graph->edges * sizeof(uint32_t));
    WorkloadShape shape = workload_cover(nodes, THREADS);
    for (uint32_t index = 0; index < rounds; index++) {
        workload_launch(workload, "components_link", shape,
                        (void *[]){&row_offsets, &neighbours, &labels, &index, &nodes});
        workload_launch(workload, "components_compress", shape, (void *[]){&labels, &nodes});
    }
    if (rounds) skipped = find_most_frequent(workload, labels, nodes);
    workload_launch(workload, "components_link_rest", shape,
                    (void *[]){&row_offsets, &neighbours, &labels, &rounds, &skipped, &nodes});
    workload_launch(workload, "components_compress", shape, (void *[]){&labels, &nodes});
}

static uint32_t *number_nodes(Workload *workload, uint32_t nodes) {
    uint32_t *numbers = workload_host_alloc(workload, nodes, sizeof *numbers);
    for (uint32_t node = 0; node < nodes; node++)
        numbers[node] = node;
    return numbers;
}

/* The root of a node's set; halves the path to it. */
static uint32_t find_root(uint32_t *parents, uint32_t node) {
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

/* The smallest node of each node's component, by uniting the sets of the nodes of each edge. */
static uint32_t *label_on_cpu(Workload *workload, const Graph *graph) {
    uint32_t *parents = number_nodes(workload, graph->nodes);
    for (uint32_t node = 0; node < graph->nodes; node++)
        for (uint32_t i = graph->row_offsets[node]; i < graph->row_offsets[node + 1]; i++) {
            uint32_t one = find_root(parents, node);
            uint32_t other = find_root(parents, graph->neighbours[i]);
            if (one < other) parents[other] = one;
            else parents[one] = other;
        }
    for (uint32_t node = 0; node < graph->nodes; node++)
        parents[node] = find_root(parents, node);
    return parents;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = graph_generate_undirected(&workload, workload.values[NODES],
                                            workload.values[EDGES], workload.values[UNIFORM]);
    CUdeviceptr labels =
        workload_upload(number_nodes(&workload, graph.nodes), graph.nodes * sizeof(uint32_t));
    label_on_device(&workload, &graph, labels);

    const uint32_t *expected = label_on_cpu(&workload, &graph);
    bool is_right = workload_verify_words(&workload, labels, expected, graph.nodes);
    return workload_finish(&workload, is_right, "labels", graph.nodes);
}
