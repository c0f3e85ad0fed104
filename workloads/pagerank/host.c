/* PageRank on a random undirected graph, after the algorithm of GAP (Beamer et al., arXiv
 * 1508.03619), with a fixed number of iterations. Few nodes of a Kronecker graph have most of the
 * edges, so that nodes are divided by their number of edges: a thread, a warp or a CTA sums for
 * each. The CPU adds in the order of the kernels, so the comparison is exact. */
#include "common/graph.h"

#include <math.h>

enum { THREADS = 256, WARP = 32 };

/* The most edges of a node for which a thread or a warp sums (ours): as many as a warp has lanes,
 * and 32 for each lane. */
enum { MOST_OF_THREAD = 32, MOST_OF_WARP = 1024 };

/* The same value as in the kernel. */
static const float DAMPING = 0.85f;

enum { NODES, EDGES, UNIFORM, ITERATIONS, MAPPING };

/* Values of the parameter `mapping`. */
enum { BY_EDGES, BY_THREADS, BY_WARPS };

static const WorkloadInfo INFO = {
    .name = "pagerank",
    .summary = "PageRank on a random graph, a thread, warp or CTA for each node.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {3333, 32768, 393216}, 1u << 24, 0},
            [EDGES] = {"edges", "drawn for each node", {16, 8, 4}, 64, 0},
            [UNIFORM] = {"uniform",
                         "1: edges between uniformly random nodes; 0: a Kronecker graph",
                         {0, 0, 0},
                         1,
                         0},
            [ITERATIONS] = {"iterations", "of up to three launches", {2, 2, 2}, 1000, 0},
            [MAPPING] = {"mapping",
                         "of nodes: 1: a thread for each; 2: a warp; 0: by the number of edges",
                         {0, 0, 0},
                         BY_WARPS,
                         0},
        },
};

/* The kernels, and the threads that each has for a node. */
enum { KERNELS = 3 };
static const char *const KERNEL_NAMES[KERNELS] = {"pagerank_thread", "pagerank_warp",
                                                  "pagerank_cta"};
static const uint32_t KERNEL_LANES[KERNELS] = {1, WARP, THREADS};

/* The index of the kernel that sums for a node. */
static int kernel_of(const Workload *workload, const Graph *graph, uint32_t node) {
    uint32_t degree = graph_degree(graph, node);
    if (workload->values[MAPPING] != BY_EDGES) return workload->values[MAPPING] == BY_WARPS;
    return (degree > MOST_OF_THREAD) + (degree > MOST_OF_WARP);
}

/* Adds the shares of a node's neighbours in `lanes` partial sums, then these in a tree. */
static float pull(const Graph *graph, const float *shares, uint32_t node, uint32_t lanes) {
    float sums[THREADS] = {0};
    for (uint32_t i = 0; i < graph_degree(graph, node); i++)
        sums[i % lanes] += shares[graph->neighbours[graph->row_offsets[node] + i]];
    for (uint32_t distance = lanes / 2; distance > 0; distance /= 2)
        for (uint32_t lane = 0; lane < distance; lane++)
            sums[lane] += sums[lane + distance];
    return sums[0];
}

/* What each neighbour of a node gets of its rank. */
static float share_of(const Graph *graph, uint32_t node, float rank) {
    uint32_t degree = graph_degree(graph, node);
    return degree ? rank / (float)degree : 0.0f;
}

/* The shares before the first iteration, when each rank is 1. */
static float *start_shares(Workload *workload, const Graph *graph) {
    float *shares = workload_host_alloc(workload, graph->nodes, sizeof *shares);
    for (uint32_t node = 0; node < graph->nodes; node++)
        shares[node] = share_of(graph, node, 1.0f);
    return shares;
}

static float *rank_on_cpu(Workload *workload, const Graph *graph) {
    float *shares = start_shares(workload, graph);
    float *ranks = workload_host_alloc(workload, graph->nodes, sizeof *ranks);
    for (uint32_t i = 0; i < workload->values[ITERATIONS]; i++) {
        for (uint32_t node = 0; node < graph->nodes; node++) {
            uint32_t lanes = KERNEL_LANES[kernel_of(workload, graph, node)];
            ranks[node] = fmaf(DAMPING, pull(graph, shares, node, lanes), 1.0f - DAMPING);
        }
        for (uint32_t node = 0; node < graph->nodes; node++)
            shares[node] = share_of(graph, node, ranks[node]);
    }
    return ranks;
}

/* The nodes for which a kernel sums. */
typedef struct List {
    uint32_t count;
    CUdeviceptr nodes; /* on the device, ascending; 0 if there are none */
} List;

static List make_list(Workload *workload, const Graph *graph, int kernel) {
    uint32_t *nodes = workload_host_alloc(workload, graph->nodes, sizeof *nodes);
    List list = {0};
    for (uint32_t node = 0; node < graph->nodes; node++)
        if (kernel_of(workload, graph, node) == kernel) nodes[list.count++] = node;
    if (list.count) list.nodes = workload_upload(nodes, list.count * sizeof *nodes);
    return list;
}

/* Returns the address of the ranks on the device. */
static CUdeviceptr rank_on_device(Workload *workload, const Graph *graph) {
    size_t size_bytes = graph->nodes * sizeof(float);
    List lists[KERNELS];
    CUdeviceptr row_offsets =
        workload_upload(graph->row_offsets, ((size_t)graph->nodes + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours = workload_upload(graph->neighbours, graph->edges * sizeof(uint32_t));
    CUdeviceptr shares = workload_upload(start_shares(workload, graph), size_bytes);
    CUdeviceptr next_shares = workload_device_alloc(size_bytes);
    CUdeviceptr ranks = workload_device_alloc(size_bytes);
    for (int kernel = 0; kernel < KERNELS; kernel++)
        lists[kernel] = make_list(workload, graph, kernel);
    for (uint32_t i = 0; i < workload->values[ITERATIONS]; i++) {
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            List *list = &lists[kernel];
            WorkloadShape shape = workload_cover(list->count, THREADS / KERNEL_LANES[kernel]);
            shape.block_x = THREADS;
            if (list->count)
                workload_launch(workload, KERNEL_NAMES[kernel], shape,
                                (void *[]){&row_offsets, &neighbours, &list->nodes, &shares,
                                           &next_shares, &ranks, &list->count});
        }
        CUdeviceptr read = shares;
        shares = next_shares;
        next_shares = read;
    }
    return ranks;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Graph graph = graph_generate_undirected(&workload, workload.values[NODES],
                                            workload.values[EDGES], workload.values[UNIFORM]);
    CUdeviceptr ranks = rank_on_device(&workload, &graph);

    const float *expected = rank_on_cpu(&workload, &graph);
    bool is_right = workload_verify_floats(&workload, ranks, expected, graph.nodes, 0.0f);
    return workload_finish(&workload, is_right, "ranks", graph.nodes);
}
