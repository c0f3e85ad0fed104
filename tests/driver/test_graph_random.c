/* Random graphs with a fixed seed. A graph must have the same effect as a stream with the same
 * work, one piece after another. Nodes whose order matters depend on each other, and nodes are
 * created in random order. */
#include "graph_kernels.h"

enum { GRAPHS = 60, NODES_MAX = 24, CELLS = 5 };

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* One piece of work on a cell, or from one cell to another. */
typedef struct Piece {
    int kind; /* 0: step, 1: fill, 2: copy */
    uint32_t cell, from, value;
} Piece;

static CUdeviceptr cells;

static CUdeviceptr at(uint32_t i) { return cells + 4 * i; }

static CUgraphNode add_piece(CUgraph graph, const Piece *piece, const CUgraphNode *after,
                             size_t count) {
    CUgraphNode node;
    CUdeviceptr address = at(piece->cell);
    uint32_t value = piece->value;
    void *parameters[] = {&address, &value};
    CUgraphNodeParams given = kernel_of(step, parameters);
    if (piece->kind == 1) {
        given = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET};
        given.memset = (CUDA_MEMSET_NODE_PARAMS_v2){address, 0, value, 4, 1, 1, context};
    } else if (piece->kind == 2) {
        given = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY};
        given.memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                                  .srcDevice = at(piece->from),
                                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                                  .dstDevice = address,
                                                  .WidthInBytes = 4,
                                                  .Height = 1,
                                                  .Depth = 1};
    }
    assert_cuda(cuGraphAddNode(&node, graph, after, NULL, count, &given));
    return node;
}

static void do_piece(const Piece *piece) {
    CUdeviceptr address = at(piece->cell);
    uint32_t value = piece->value;
    void *parameters[] = {&address, &value};
    if (piece->kind == 0)
        assert_cuda(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    else if (piece->kind == 1) assert_cuda(cuMemsetD32Async(address, value, 1, stream));
    else assert_cuda(cuMemcpyDtoDAsync(address, at(piece->from), 4, stream));
}

static bool touch(const Piece *a, const Piece *b) {
    return a->cell == b->cell || (b->kind == 2 && b->from == a->cell) ||
           (a->kind == 2 && a->from == b->cell);
}

static void reset(void) {
    for (uint32_t i = 0; i < CELLS; i++)
        assert_cuda(cuMemsetD32(at(i), i + 1, 1));
}

static CUgraphNode add_child(CUgraph graph, const Piece *piece) {
    CUgraphNode node;
    CUgraph child = new_graph();
    add_piece(child, piece, NULL, 0);
    assert_cuda(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    assert_cuda(cuGraphDestroy(child));
    return node;
}

/* Adds the pieces as nodes, some as child graphs, in random order. Then adds the necessary
 * dependencies, and some more. */
static CUgraph build(const Piece *pieces, size_t count) {
    CUgraph graph = new_graph();
    CUgraphNode nodes[NODES_MAX];
    size_t order[NODES_MAX];
    for (size_t i = 0; i < count; i++) {
        size_t at = draw((uint32_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < count; i++) {
        const Piece *piece = &pieces[order[i]];
        nodes[order[i]] = draw(6) == 0 ? add_child(graph, piece) : add_piece(graph, piece, NULL, 0);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (touch(&pieces[i], &pieces[j]) || draw(8) == 0)
                assert_cuda(cuGraphAddDependencies(graph, &nodes[j], &nodes[i], NULL, 1));
        }
    }
    return graph;
}

static void read_all(uint32_t *values) { assert_cuda(cuMemcpyDtoH(values, cells, 4 * CELLS)); }

static void test_random_graphs_do_what_a_stream_does(void **state) {
    (void)state;
    uint32_t by_stream[CELLS], by_graph[CELLS], by_clone[CELLS], by_capture[CELLS];
    assert_cuda(cuMemAlloc(&cells, 4 * CELLS));
    for (int round = 0; round < GRAPHS; round++) {
        Piece pieces[NODES_MAX];
        size_t count = 1 + draw(NODES_MAX);
        for (size_t i = 0; i < count; i++)
            pieces[i] = (Piece){(int)draw(3), draw(CELLS), draw(CELLS), draw(1000)};
        reset();
        for (size_t i = 0; i < count; i++)
            do_piece(&pieces[i]);
        read_all(by_stream);

        CUgraph graph = build(pieces, count), clone, captured;
        CUgraphExec executable = instantiate(graph);
        reset();
        assert_cuda(cuGraphLaunch(executable, stream));
        read_all(by_graph);
        assert_memory_equal(by_graph, by_stream, sizeof by_stream);

        assert_cuda(cuGraphClone(&clone, graph));
        reset();
        assert_cuda(cuGraphLaunch(instantiate(clone), stream));
        read_all(by_clone);
        assert_memory_equal(by_clone, by_stream, sizeof by_stream);

        assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (size_t i = 0; i < count; i++)
            do_piece(&pieces[i]);
        assert_cuda(cuStreamEndCapture(stream, &captured));
        reset();
        assert_cuda(cuGraphLaunch(instantiate(captured), stream));
        read_all(by_capture);
        assert_memory_equal(by_capture, by_stream, sizeof by_stream);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_graphs_do_what_a_stream_does, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
