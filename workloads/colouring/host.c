/* Colours a random graph by rounds of two launches until a round finds no node without a colour, or
 * for a number of rounds: the first ones have most of the work. Weights are a random order of the
 * nodes, so no two are equal. The host does the same rounds; the comparison is exact. */
#include "common/powerlaw.h"

#include <stdio.h>

/* As in Pannotia's sources. */
enum { THREADS = 256 };

/* The most neighbours of a node (ours). It bounds the time of the longest thread. */
enum { MOST_NEIGHBOURS = 128 };

/* The same value as in the kernel. */
#define NO_COLOUR UINT32_MAX

enum { NODES, EDGES, ROUNDS };

static const WorkloadInfo INFO = {
    .name = "colouring",
    .summary = "Colours a random graph, two launches per round.",
    .parameters =
        {
            [NODES] = {"nodes", "of the graph", {777, 16384, 280000}, 1u << 22, 0},
            [EDGES] = {"edges", "of a node at least; twice as many in the mean", {2, 2, 2}, 64, 0},
            [ROUNDS] = {"rounds", "at most; 0: until all nodes have colours", {0, 0, 3}, 1000, 0},
        },
};

/* The numbers 0 to nodes - 1 in random order. */
static uint32_t *draw_weights(Workload *workload, uint32_t nodes) {
    uint32_t *weights = workload_host_alloc(workload, nodes, sizeof *weights);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t other = workload_random(workload, node + 1);
        weights[node] = weights[other];
        weights[other] = node;
    }
    return weights;
}

static uint32_t *clear_colours(Workload *workload, uint32_t nodes) {
    uint32_t *colours = workload_host_alloc(workload, nodes, sizeof *colours);
    for (uint32_t node = 0; node < nodes; node++)
        colours[node] = NO_COLOUR;
    return colours;
}

static uint32_t most_rounds(const Workload *workload) {
    return workload->values[ROUNDS] ? workload->values[ROUNDS] : UINT32_MAX;
}

/* Returns the colours' address on the device. */
static CUdeviceptr colour_on_device(const Workload *workload, const Graph *graph,
                                    const uint32_t *host_weights, const uint32_t *no_colours) {
    uint32_t nodes = graph->nodes, is_unfinished = 1;
    CUdeviceptr row_offsets =
        workload_upload(graph->row_offsets, ((size_t)nodes + 1) * sizeof(uint32_t));
    CUdeviceptr neighbours = workload_upload(graph->neighbours, graph->edges * sizeof(uint32_t));
    CUdeviceptr weights = workload_upload(host_weights, nodes * sizeof(uint32_t));
    CUdeviceptr colours = workload_upload(no_colours, nodes * sizeof(uint32_t));
    CUdeviceptr largest = workload_device_alloc(nodes * sizeof(uint32_t));
    CUdeviceptr device_is_unfinished = workload_device_alloc(sizeof is_unfinished);
    WorkloadShape shape = workload_cover(nodes, THREADS);
    for (uint32_t colour = 0; is_unfinished && colour < most_rounds(workload); colour++) {
        is_unfinished = 0;
        workload_copy_to_device(device_is_unfinished, &is_unfinished, sizeof is_unfinished);
        workload_launch(workload, "colouring_find", shape,
                        (void *[]){&row_offsets, &neighbours, &weights, &colours, &largest,
                                   &device_is_unfinished, &nodes});
        workload_launch(workload, "colouring_take", shape,
                        (void *[]){&weights, &largest, &colours, &colour, &nodes});
        workload_copy_to_host(&is_unfinished, device_is_unfinished, sizeof is_unfinished);
    }
    return colours;
}

/* True if the node has no colour, and no neighbour without one has a larger weight. */
static bool can_take(const Graph *graph, const uint32_t *weights, const uint32_t *colours,
                     uint32_t node) {
    if (colours[node] != NO_COLOUR) return false;
    for (uint32_t i = graph->row_offsets[node]; i < graph->row_offsets[node + 1]; i++) {
        uint32_t neighbour = graph->neighbours[i];
        if (colours[neighbour] == NO_COLOUR && weights[neighbour] > weights[node]) return false;
    }
    return true;
}

static void colour_on_cpu(Workload *workload, const Graph *graph, const uint32_t *weights,
                          uint32_t *colours) {
    uint32_t *taking = workload_host_alloc(workload, graph->nodes, sizeof *taking), done = 0;
    for (uint32_t colour = 0; done < graph->nodes && colour < most_rounds(workload); colour++) {
        uint32_t count = 0;
        for (uint32_t node = 0; node < graph->nodes; node++)
            if (can_take(graph, weights, colours, node)) taking[count++] = node;
        for (uint32_t i = 0; i < count; i++)
            colours[taking[i]] = colour;
        done += count;
    }
}

/* True if no two neighbours have the same colour. Otherwise prints the first two. */
static bool check_colours(const Graph *graph, const uint32_t *colours) {
    for (uint32_t node = 0; node < graph->nodes; node++)
        for (uint32_t i = graph->row_offsets[node]; i < graph->row_offsets[node + 1]; i++) {
            uint32_t neighbour = graph->neighbours[i], colour = colours[node];
            if (colour == NO_COLOUR || neighbour == node || colours[neighbour] != colour) continue;
            fprintf(stderr, "%s: the neighbours %u and %u both have the colour %u\n", INFO.name,
                    node, neighbour, colour);
            return false;
        }
    return true;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t nodes = workload.values[NODES];
    Graph graph = powerlaw_generate(&workload, nodes, workload.values[EDGES], MOST_NEIGHBOURS);
    uint32_t *weights = draw_weights(&workload, nodes);
    uint32_t *expected = clear_colours(&workload, nodes);
    CUdeviceptr colours = colour_on_device(&workload, &graph, weights, expected);

    colour_on_cpu(&workload, &graph, weights, expected);
    uint32_t *got = workload_host_alloc(&workload, nodes, sizeof *got);
    workload_copy_to_host(got, colours, nodes * sizeof *got);
    bool is_right =
        check_colours(&graph, got) && workload_compare_words(&workload, got, expected, nodes);
    return workload_finish(&workload, is_right, "colours", nodes);
}
