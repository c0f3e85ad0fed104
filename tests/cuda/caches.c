/* Tests of what a machine's caches keep, measured by the time to read data again: with a window of
 * a stream, a launch or a node of a graph, and with cache policies. */
#include "kernel_test.h"

#include <stdio.h>

enum {
    HOT_BYTES = 128 << 10, /* data that must stay in the cache */
    COLD_BYTES = 3 << 20,  /* data that sweeps over it: more than twice the L2 */
    HOT_WORDS = HOT_BYTES / 4,
    COLD_WORDS = COLD_BYTES / 4
};

typedef enum Hint { NONE, STAY, GO } Hint; /* as in the kernel */

typedef struct Caches {
    Session *session;
    CUdeviceptr hot, cold, out;
} Caches;

static CUlaunchConfig shape_of(unsigned ctas, CUlaunchAttribute *attributes, unsigned count) {
    return (CUlaunchConfig){.gridDimX = ctas,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = 1024,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .attrs = attributes,
                            .numAttrs = count};
}

static unsigned read_with(const Caches *caches, CUdeviceptr data, unsigned words, unsigned ctas,
                          Hint hint, CUlaunchAttribute *window) {
    unsigned out[2], of_hint = hint;
    CUdeviceptr to = caches->out;
    void *parameters[] = {&data, &to, &words, &of_hint};
    CUlaunchConfig shape = shape_of(ctas, window, window != NULL);
    session_check(cuLaunchKernelEx(&shape, caches->session->function, parameters, NULL), "launch");
    session_check(cuMemcpyDtoH(out, to, sizeof out), "cuMemcpyDtoH");
    return out[0];
}

/* Cycles to read the hot data after a sweep over L2. The hot data was loaded with `hint` or under
 * `window`. */
static unsigned cycles_after_sweep(const Caches *caches, Hint hint, CUlaunchAttribute *window) {
    read_with(caches, caches->hot, HOT_WORDS, 64, hint, window);
    read_with(caches, caches->cold, COLD_WORDS, 64, NONE, NULL);
    return read_with(caches, caches->hot, HOT_WORDS, 1, NONE, NULL);
}

static CUlaunchAttribute window_over(CUdeviceptr base, size_t bytes, CUaccessProperty hit) {
    CUaccessPolicyWindow window = {.base_ptr = (void *)(uintptr_t)base,
                                   .num_bytes = bytes,
                                   .hitRatio = 1,
                                   .hitProp = hit,
                                   .missProp = CU_ACCESS_PROPERTY_STREAMING};
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                               .value.accessPolicyWindow = window};
}

/* The same, with the first launch on the hot data as a node of a captured graph. */
static unsigned cycles_after_graph(const Caches *caches, CUlaunchAttribute *window) {
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr hot = caches->hot, out = caches->out;
    unsigned words = HOT_WORDS, hint = NONE;
    void *parameters[] = {&hot, &out, &words, &hint};
    session_check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    session_check(cuStreamSetAttribute(stream, window->id, &window->value), "set attribute");
    session_check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "capture");
    session_check(cuLaunchKernel(caches->session->function, 64, 1, 1, 1024, 1, 1, 0, stream,
                                 parameters, NULL),
                  "launch");
    session_check(cuStreamEndCapture(stream, &graph), "end of capture");
    session_check(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    session_check(cuGraphLaunch(exec, NULL), "cuGraphLaunch");
    session_check(cuCtxSynchronize(), "cuCtxSynchronize");
    session_check(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    session_check(cuGraphDestroy(graph), "cuGraphDestroy");
    session_check(cuStreamDestroy(stream), "cuStreamDestroy");
    read_with(caches, caches->cold, COLD_WORDS, 64, NONE, NULL);
    return read_with(caches, caches->hot, HOT_WORDS, 1, NONE, NULL);
}

static bool says(const char *what, bool is_true, unsigned cycles, unsigned other) {
    if (!is_true) printf("%s: %u cycles, %u without\n", what, cycles, other);
    return is_true;
}

static void set_aside(size_t bytes) {
    session_check(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes), "cuCtxSetLimit");
    session_check(cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache");
}

static bool compare(const Caches *caches, size_t most) {
    CUlaunchAttribute persisting =
        window_over(caches->hot, HOT_BYTES, CU_ACCESS_PROPERTY_PERSISTING);
    CUlaunchAttribute elsewhere =
        window_over(caches->hot + HOT_BYTES, HOT_BYTES, CU_ACCESS_PROPERTY_PERSISTING);
    bool is_good = true;
    unsigned first = read_with(caches, caches->hot, HOT_WORDS, 1, NONE, NULL);
    unsigned there = read_with(caches, caches->hot, HOT_WORDS, 1, NONE, NULL);
    set_aside(most);
    unsigned without = cycles_after_sweep(caches, NONE, NULL);
    is_good &=
        says("the sweep takes the data out", without > there + (first - there) / 2, without, there);
    unsigned beside = cycles_after_sweep(caches, NONE, &elsewhere);
    is_good &=
        says("a window next to the data", beside > there + (first - there) / 2, beside, there);
    set_aside(0);
    unsigned nothing = cycles_after_sweep(caches, NONE, &persisting);
    is_good &= says("a window, but nothing set aside", nothing > there + (first - there) / 2,
                    nothing, there);
    set_aside(most);
    unsigned with = cycles_after_sweep(caches, NONE, &persisting);
    is_good &= says("a window", with < there + (first - there) / 4, with, without);
    set_aside(most);
    unsigned policy = cycles_after_sweep(caches, STAY, NULL);
    is_good &= says("a cache policy", policy < there + (first - there) / 4, policy, without);
    set_aside(most);
    unsigned graph = cycles_after_graph(caches, &persisting);
    is_good &= says("a node's window", graph < there + (first - there) / 4, graph, without);
    set_aside(most);
    unsigned reset = cycles_after_sweep(caches, NONE, NULL);
    is_good &=
        says("what persisted is forgotten", reset > there + (first - there) / 2, reset, there);
    read_with(caches, caches->hot, HOT_WORDS, 64, NONE, NULL);
    read_with(caches, caches->cold, COLD_WORDS, 64, GO, NULL);
    unsigned streamed = read_with(caches, caches->hot, HOT_WORDS, 1, NONE, NULL);
    return is_good &
           says("a sweep that streams", streamed < there + (first - there) / 4, streamed, without);
}

static bool persisting_window(Session *session) {
    Caches caches = {.session = session};
    int most, window;
    size_t limit;
    session_check(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 0),
                  "cuDeviceGetAttribute");
    session_check(
        cuDeviceGetAttribute(&window, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 0),
        "cuDeviceGetAttribute");
    session_check(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, SIZE_MAX), "cuCtxSetLimit");
    session_check(cuCtxGetLimit(&limit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), "cuCtxGetLimit");
    if (limit != (size_t)most || most < HOT_BYTES || window < HOT_BYTES) {
        printf("set aside are %zu bytes of %d at most, under windows of %d\n", limit, most, window);
        return false;
    }
    session_check(cuMemAlloc(&caches.hot, 2 * HOT_BYTES), "cuMemAlloc");
    session_check(cuMemAlloc(&caches.cold, COLD_BYTES), "cuMemAlloc");
    session_check(cuMemAlloc(&caches.out, 8), "cuMemAlloc");
    session_check(cuMemsetD32(caches.hot, 0, 2 * HOT_WORDS), "cuMemsetD32");
    session_check(cuMemsetD32(caches.cold, 0, COLD_WORDS), "cuMemsetD32");
    bool is_good = compare(&caches, limit);
    session_check(cuMemFree(caches.hot), "cuMemFree");
    session_check(cuMemFree(caches.cold), "cuMemFree");
    session_check(cuMemFree(caches.out), "cuMemFree");
    return is_good;
}

const KernelTest CACHE_TESTS[] = {
    {.name = "persisting_window", .run = persisting_window},
    {0},
};
