/* Programmatic dependent launches: a kernel starts while the previous kernel of its stream runs;
 * griddepcontrol.wait waits for the end of that kernel. In PTX or as ptxas's machine code:
 * TYTO_OPTIONS determine which, and whether the run is timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)

enum { CTAS = 12, THREADS = 64, COUNT = CTAS * THREADS, ROUNDS = 300 };

/* `add` spends `before` rounds before its wait, and `behind` rounds between its trigger and its
 * end. There it replaces x, from the previous kernel, by 3 x + behind, so another order of two
 * kernels gives another result. */
static const char module_text[] =
    ".version 8.1\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 data, .param .u32 before, .param .u32 behind) {\n"
    "  .reg .b64 %p; .reg .b32 %t, %n, %c, %x; .reg .pred q;\n"
    "  ld.param.u64 %p, [data]; mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %c, %ntid.x;\n"
    "  mad.lo.u32 %t, %n, %c, %t; mad.wide.u32 %p, %t, 4, %p;\n"
    "  ld.param.u32 %n, [before];\n"
    "L0: setp.eq.u32 q, %n, 0; @q bra N0; sub.u32 %n, %n, 1; membar.cta; bra L0;\n"
    "N0: griddepcontrol.wait;\n"
    "  griddepcontrol.launch_dependents;\n"
    "  ld.param.u32 %n, [behind];\n"
    "L1: setp.eq.u32 q, %n, 0; @q bra N1; sub.u32 %n, %n, 1; membar.cta; bra L1;\n"
    "N1: ld.param.u32 %n, [behind]; ld.global.u32 %x, [%p]; mad.lo.u32 %x, %x, 3, %n;\n"
    "  st.global.u32 [%p], %x; ret;\n}\n"
    /* neither triggers dependents nor waits */
    ".visible .entry fill(.param .u64 data, .param .u32 before, .param .u32 behind) {\n"
    "  .reg .b64 %p; .reg .b32 %t, %n, %c; .reg .pred q;\n"
    "  ld.param.u64 %p, [data]; mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %c, %ntid.x;\n"
    "  mad.lo.u32 %t, %n, %c, %t; mad.wide.u32 %p, %t, 4, %p; ld.param.u32 %n, [before];\n"
    "L0: setp.eq.u32 q, %n, 0; @q bra N0; sub.u32 %n, %n, 1; membar.cta; bra L0;\n"
    "N0: st.global.u32 [%p], %t; ret;\n}\n"
    /* traps long after it has triggered its dependents */
    ".visible .entry fail(.param .u64 data, .param .u32 before, .param .u32 behind) {\n"
    "  .reg .b32 %n; .reg .pred q;\n"
    "  griddepcontrol.launch_dependents; ld.param.u32 %n, [behind];\n"
    "L0: setp.eq.u32 q, %n, 0; @q bra N0; sub.u32 %n, %n, 1; membar.cta; bra L0;\n"
    "N0: trap; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUdeviceptr data;
static CUstream stream; /* stream of the present test; NULL: the default stream */

static int start(void **state) {
    (void)state;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0)) return -1;
    return cuModuleLoadData(&module, module_text) || cuMemAlloc(&data, COUNT * sizeof(uint32_t));
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* Whether kernels of a stream can overlap in this run. */
static bool can_overlap(void) {
    const char *options = getenv("TYTO_OPTIONS");
    return !strstr(options, "--functional") && !strstr(options, "--serial") &&
           !strstr(options, "--check");
}

static CUresult try_launch(const char *name, bool is_dependent, uint32_t before, uint32_t behind) {
    CUfunction function;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = is_dependent};
    const CUlaunchConfig config = {.gridDimX = CTAS,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = THREADS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    void *parameters[] = {&data, &before, &behind};
    assert_cuda(cuModuleGetFunction(&function, module, name));
    return cuLaunchKernelEx(&config, function, parameters, NULL);
}

static void launch(const char *name, bool is_dependent, uint32_t before, uint32_t behind) {
    assert_cuda(try_launch(name, is_dependent, before, behind));
}

/* Checks the words: `fill`, followed by kernels `add` with these rounds. */
static void assert_added(int adds, const uint32_t *behind) {
    static uint32_t found[COUNT];
    assert_cuda(cuMemcpyDtoH(found, data, sizeof found));
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t expected = i;
        for (int k = 0; k < adds; k++)
            expected = expected * 3 + behind[k];
        assert_int_equal(found[i], expected);
    }
}

/* Milliseconds for `adds` kernels. Each spends most of its time before its wait or after its
 * trigger. */
static float time_of(int adds, bool is_dependent, const char *first) {
    CUevent from, to;
    float time;
    launch("fill", false, 0, 0);
    assert_cuda(cuStreamSynchronize(stream));
    assert_cuda(cuEventCreate(&from, CU_EVENT_DEFAULT));
    assert_cuda(cuEventCreate(&to, CU_EVENT_DEFAULT));
    assert_cuda(cuEventRecord(from, stream));
    if (!strcmp(first, "fill")) launch(first, false, ROUNDS, ROUNDS);
    for (int i = 0; i < adds; i++)
        launch("add", is_dependent && (i || !strcmp(first, "fill")), ROUNDS, ROUNDS);
    assert_cuda(cuEventRecord(to, stream));
    assert_cuda(cuStreamSynchronize(stream));
    assert_cuda(cuEventElapsedTime(&time, from, to));
    assert_cuda(cuEventDestroy(from));
    assert_cuda(cuEventDestroy(to));
    const uint32_t behind[] = {ROUNDS, ROUNDS, ROUNDS, ROUNDS, ROUNDS};
    assert_true(adds <= 5);
    assert_added(adds, behind);
    return time;
}

/* The part of a kernel before its wait overlaps with the part of the previous kernel after its
 * trigger. */
static void check_chain(int adds, double least, double most) {
    const float apart = time_of(adds, false, "add"), together = time_of(adds, true, "add");
    if (!can_overlap()) return;
    assert_true(together < most * apart);
    assert_true(together > least * apart);
}

static void kernels_overlap_in_a_stream(void **state) {
    (void)state;
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check_chain(2, 0.6, 0.85);
    check_chain(5, 0.5, 0.75);
    assert_cuda(cuStreamDestroy(stream));
    stream = NULL;
}

static void kernels_overlap_in_the_default_stream(void **state) {
    (void)state;
    check_chain(2, 0.6, 0.85);
}

static void without_a_trigger_one_begins_when_the_other_has_ended(void **state) {
    (void)state;
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const float apart = time_of(1, false, "fill"), together = time_of(1, true, "fill");
    if (can_overlap()) assert_true(together > 0.97 * apart && together < 1.03 * apart);
    assert_cuda(cuStreamDestroy(stream));
    stream = NULL;
}

/* Kernels that load at once follow kernels that store long after their trigger. */
static void a_wait_sees_what_the_kernel_before_has_stored(void **state) {
    (void)state;
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch("fill", false, 0, 0);
    launch("add", false, 0, ROUNDS);
    launch("add", true, 0, 0);
    launch("add", true, 0, ROUNDS);
    launch("add", true, 0, 0);
    assert_cuda(cuStreamSynchronize(stream));
    assert_added(4, (const uint32_t[]){ROUNDS, 0, ROUNDS, 0});
    assert_cuda(cuStreamDestroy(stream));
    stream = NULL;
}

/* An event between two kernels keeps them apart, as any other work does. */
static void work_between_keeps_kernels_apart(void **state) {
    (void)state;
    CUevent event;
    assert_cuda(cuEventCreate(&event, CU_EVENT_DEFAULT));
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch("fill", false, 0, 0);
    launch("add", false, 0, ROUNDS);
    assert_cuda(cuMemsetD32Async(data, 7, COUNT, stream));
    launch("add", true, 0, 0);
    assert_cuda(cuEventRecord(event, stream));
    launch("add", true, ROUNDS, 0);
    assert_cuda(cuStreamSynchronize(stream));
    static uint32_t found[COUNT];
    assert_cuda(cuMemcpyDtoH(found, data, sizeof found));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(found[i], 7 * 3 * 3);
    assert_cuda(cuStreamDestroy(stream));
    assert_cuda(cuEventDestroy(event));
    stream = NULL;
}

static void a_fault_ends_the_kernels_behind_it(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        if (way) assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        try_launch("fail", false, 0, ROUNDS); /* with serial kernels the launch reports the fault */
        if (!strstr(getenv("TYTO_OPTIONS"), "--serial")) {
            launch("add", true, 0, 10 * ROUNDS);
            launch("add", true, 0, ROUNDS);
        }
        assert_int_not_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
        stream = NULL;
        cuCtxDestroy(context); /* a device error makes the context unusable */
        assert_int_equal(start(NULL), 0);
    }
}

static void a_context_can_end_before_its_kernels(void **state) {
    (void)state;
    launch("add", false, 0, ROUNDS);
    launch("add", true, ROUNDS, 0);
    launch("add", true, ROUNDS, 0);
    assert_cuda(cuCtxDestroy(context));
    assert_int_equal(start(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_overlap_in_a_stream),
        cmocka_unit_test(kernels_overlap_in_the_default_stream),
        cmocka_unit_test(without_a_trigger_one_begins_when_the_other_has_ended),
        cmocka_unit_test(a_wait_sees_what_the_kernel_before_has_stored),
        cmocka_unit_test(work_between_keeps_kernels_apart),
        cmocka_unit_test(a_fault_ends_the_kernels_behind_it),
        cmocka_unit_test(a_context_can_end_before_its_kernels),
    };
    return cmocka_run_group_tests(tests, start, end);
}
