/* Shared by the tests of graphs: a kernel that changes a cell, and one that counts down. */
#ifndef GRAPH_KERNELS_H
#define GRAPH_KERNELS_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

/* step: *at = *at * 3 + add. count_down: *at = *at - 1, which becomes the value of a condition. */
static const char graph_ptx[] =
    ".version 8.5\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry step(.param .u64 at, .param .u32 add) {\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [at];\n"
    "  ld.param.u32 %r1, [add];\n  ld.global.u32 %r2, [%rd1];\n  mad.lo.u32 %r3, %r2, 3, %r1;\n"
    "  st.global.u32 [%rd1], %r3;\n  ret;\n}\n"
    ".visible .entry count_down(.param .u64 at, .param .u64 condition) {\n"
    "  .reg .b32 %r<3>;\n  .reg .b64 %rd<3>;\n  ld.param.u64 %rd1, [at];\n"
    "  ld.param.u64 %rd2, [condition];\n  ld.global.u32 %r1, [%rd1];\n  sub.u32 %r2, %r1, 1;\n"
    "  st.global.u32 [%rd1], %r2;\n  { .param .b64 h; .param .b32 v;\n"
    "  st.param.b64 [h], %rd2;\n  st.param.b32 [v], %r2;\n"
    "  call.uni cudaGraphSetConditional, (h, v);\n  }\n  ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction step, count_down;
static CUdeviceptr cell, counter;
static CUstream stream;

static inline int set_up(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, graph_ptx) ||
           cuModuleGetFunction(&step, module, "step") ||
           cuModuleGetFunction(&count_down, module, "count_down") || cuMemAlloc(&cell, 4) ||
           cuMemAlloc(&counter, 4) || cuMemsetD32(cell, 1, 1) || cuMemsetD32(counter, 0, 1) ||
           cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
}

static inline int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static inline uint32_t read_cell(CUdeviceptr address) {
    uint32_t read;
    CUstreamCaptureStatus capture;
    assert_cuda(cuStreamIsCapturing(stream, &capture));
    if (capture == CU_STREAM_CAPTURE_STATUS_NONE) assert_cuda(cuStreamSynchronize(stream));
    assert_cuda(cuMemcpyDtoH(&read, address, 4));
    return read;
}

static inline CUgraphNodeParams kernel_of(CUfunction function, void **parameters) {
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    given.kernel =
        (CUDA_KERNEL_NODE_PARAMS){function, 1, 1, 1, 1, 1, 1, 0, parameters, NULL, NULL, NULL};
    return given;
}

/* Adds a node that executes `step` on `address`, after another node (NULL: none). */
static inline CUgraphNode add_step(CUgraph graph, CUgraphNode after, CUdeviceptr address,
                                   uint32_t add) {
    CUgraphNode node;
    void *parameters[] = {&address, &add};
    CUgraphNodeParams given = kernel_of(step, parameters);
    assert_cuda(cuGraphAddNode(&node, graph, &after, NULL, after ? 1 : 0, &given));
    return node;
}

static inline CUgraph new_graph(void) {
    CUgraph graph;
    assert_cuda(cuGraphCreate(&graph, 0));
    return graph;
}

static inline CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable;
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    return executable;
}

#endif
