/* Kernels that launch kernels: the device runtime's calls in PTX, as nvcc writes them. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

/* note(log, value) appends its value to a log, whose first word is the count. parent(log, depth)
 * notes depth, launches note(100 + depth) with stream 3 (tail), note(10 + depth), itself with depth
 * - 1 while that is not 0, and note(20 + depth); then it notes 30 + depth. waiter(log) launches
 * note(1), waits for it, and notes 2. wrong(log) launches a grid of 0 blocks and notes the
 * error. */
static const char ptx[] =
    ".version 8.5\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,\n"
    "  .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"
    ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
    ".visible .entry note(.param .u64 log, .param .u32 value) {\n"
    "  .reg .b32 %r<3>;\n  .reg .b64 %rd<4>;\n  ld.param.u64 %rd1, [log];\n"
    "  ld.param.u32 %r1, [value];\n  atom.global.add.u32 %r2, [%rd1], 1;\n"
    "  mul.wide.u32 %rd2, %r2, 4;\n  add.u64 %rd3, %rd1, %rd2;\n  st.global.u32 [%rd3+4], %r1;\n"
    "  ret;\n}\n"
    ".func (.param .b32 status) launch(.param .b64 kernel, .param .b64 log, .param .b32 value,\n"
    "    .param .b64 stream, .param .b32 blocks) {\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<5>;\n  .reg .pred %p;\n"
    "  ld.param.b64 %rd1, [kernel];\n  ld.param.b64 %rd2, [log];\n  ld.param.b32 %r1, [value];\n"
    "  ld.param.b64 %rd3, [stream];\n  ld.param.b32 %r2, [blocks];\n"
    "  { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;\n"
    "    .param .b64 r;\n  st.param.b64 [f], %rd1;\n  st.param.b32 [g], %r2;\n"
    "  st.param.b32 [g+4], 1;\n  st.param.b32 [g+8], 1;\n  st.param.b32 [b], 1;\n"
    "  st.param.b32 [b+4], 1;\n  st.param.b32 [b+8], 1;\n  st.param.b32 [s], 0;\n"
    "  call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n  ld.param.b64 %rd4, [r];\n  "
    "}\n"
    "  setp.eq.u64 %p, %rd4, 0;\n  @%p bra failed;\n  st.u64 [%rd4], %rd2;\n"
    "  st.u32 [%rd4+8], %r1;\n  { .param .b64 p; .param .b64 s; .param .b32 r;\n"
    "  st.param.b64 [p], %rd4;\n  st.param.b64 [s], %rd3;\n"
    "  call.uni (r), __cudaCDP2LaunchDeviceV2, (p, s);\n  ld.param.b32 %r3, [r];\n  }\n"
    "  st.param.b32 [status], %r3;\n  ret;\n"
    "failed:\n  { .param .b32 r;\n  call.uni (r), __cudaCDP2GetLastError, ();\n"
    "  ld.param.b32 %r3, [r];\n  }\n  st.param.b32 [status], %r3;\n  ret;\n}\n"
#define LAUNCH(kernel, value, stream, blocks)                                                      \
    "  mov.u64 %rd2, " kernel ";\n"                                                                \
    "  { .param .b64 k; .param .b64 l; .param .b32 v; .param .b64 s; .param .b32 b;\n"             \
    "    .param .b32 r;\n  st.param.b64 [k], %rd2;\n  st.param.b64 [l], %rd1;\n"                   \
    "  st.param.b32 [v], " value ";\n  st.param.b64 [s], " stream ";\n"                            \
    "  st.param.b32 [b], " blocks ";\n  call.uni (r), launch, (k, l, v, s, b);\n"                  \
    "  ld.param.b32 %r9, [r];\n  }\n"
#define NOTE(value)                                                                                \
    "  atom.global.add.u32 %r8, [%rd1], 1;\n  mul.wide.u32 %rd3, %r8, 4;\n"                        \
    "  add.u64 %rd3, %rd1, %rd3;\n  st.global.u32 [%rd3+4], " value ";\n"
    ".visible .entry parent(.param .u64 log, .param .u32 depth) {\n"
    "  .reg .b32 %r<10>;\n  .reg .b64 %rd<4>;\n  .reg .pred %p;\n"
    "  ld.param.u64 %rd1, [log];\n  ld.param.u32 %r1, [depth];\n  add.u32 %r2, %r1, 100;\n"
    "  add.u32 %r3, %r1, 10;\n  sub.u32 %r4, %r1, 1;\n  add.u32 %r5, %r1, 20;\n"
    "  add.u32 %r6, %r1, 30;\n" NOTE("%r1") LAUNCH("note", "%r2", "3", "1") LAUNCH(
        "note", "%r3", "0",
        "1") "  setp.eq.u32 %p, %r4, 0;\n  @%p bra last;\n" LAUNCH("parent", "%r4", "0",
                                                                   "1") "last:\n" LAUNCH("note",
                                                                                         "%r5", "4",
                                                                                         "1")
        NOTE(
            "%r6") "  ret;\n}\n"
                   ".visible .entry waiter(.param .u64 log) {\n"
                   "  .reg .b32 %r<10>;\n  .reg .b64 %rd<4>;\n  ld.param.u64 %rd1, [log];\n" LAUNCH(
                       "note", "1", "0",
                       "1") "  { .param .b32 r;\n  call.uni (r), cudaDeviceSynchronize, ();\n  "
                            "ld.param.b32 %r9, [r];\n  }\n"
                            "  mov.u32 %r1, 2;\n" NOTE(
                                "%r1") "  ret;\n}\n"
                                       ".visible .entry wrong(.param .u64 log) {\n"
                                       "  .reg .b32 %r<10>;\n  .reg .b64 %rd<4>;\n  ld.param.u64 "
                                       "%rd1, [log];\n" LAUNCH("note", "1", "0", "0") NOTE("%r9")
                                           LAUNCH("launch", "1", "0", "1") NOTE(
                                               "%r9") "  ret;\n}\n"
                                                      ".visible .entry endless(.param .u64 log, "
                                                      ".param .u32 depth) {\n"
                                                      "  .reg .b32 %r<10>;\n  .reg .b64 %rd<4>;\n  "
                                                      "ld.param.u64 %rd1, [log];\n"
                                                      "  ld.param.u32 %r1, [depth];\n  add.u32 "
                                                      "%r2, %r1, 1;\n" LAUNCH("endless", "%r2", "0",
                                                                              "1")
                                                          NOTE("%r9") "  ret;\n}\n"
                                                                      ".visible .entry "
                                                                      "faulty(.param .u64 log, "
                                                                      ".param .u32 value) {\n"
                                                                      "  .reg .b32 %r<10>;\n  .reg "
                                                                      ".b64 %rd<4>;\n  mov.u64 "
                                                                      "%rd1, 64;\n" LAUNCH(
                                                                          "note", "1", "0",
                                                                          "1") "  ret;\n}\n";

enum { LOG_WORDS = 1024 };

static CUcontext context;
static CUmodule module;
static CUdeviceptr log_address;
static uint32_t words[LOG_WORDS];

static int set_up(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
           cuMemAlloc(&log_address, sizeof words) || cuMemsetD32(log_address, 0, LOG_WORDS);
}

static int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static CUresult launch(const char *kernel, uint32_t value) {
    CUfunction function;
    void *parameters[] = {&log_address, &value};
    assert_cuda(cuModuleGetFunction(&function, module, kernel));
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
}

static void expect(const uint32_t *expected, uint32_t count) {
    assert_cuda(cuMemcpyDtoH(words, log_address, sizeof words));
    assert_int_equal(words[0], count);
    assert_memory_equal(words + 1, expected, count * sizeof *expected);
}

static void test_children_come_after_their_parent_and_tails_after_all(void **state) {
    (void)state;
    static const uint32_t expected[] = {2, 32, 12, 1, 31, 11, 21, 101, 22, 102};
    size_t before, after, total;
    assert_cuda(cuMemGetInfo(&before, &total));
    assert_cuda(launch("parent", 2));
    expect(expected, 10);
    assert_cuda(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before); /* the parameters are released */
}

static void test_launches_that_cannot_be_say_why(void **state) {
    (void)state;
    static const uint32_t expected[] = {9, 98}; /* invalid configuration, invalid device function */
    assert_cuda(launch("wrong", 0));
    expect(expected, 2);
}

static void test_nesting_ends_at_the_24th_grid(void **state) {
    (void)state;
    uint32_t expected[24] = {0};
    expected[23] = 65; /* cudaErrorLaunchMaxDepthExceeded */
    assert_cuda(launch("endless", 0));
    expect(expected, 24);
}

static void test_a_childs_fault_is_the_launchs(void **state) {
    (void)state;
    assert_fails(launch("faulty", 0), ILLEGAL_ADDRESS);
    assert_cuda(cuCtxDestroy(context));
    assert_int_equal(set_up(NULL), 0);
    assert_cuda(launch("note", 5)); /* the failed launch has left nothing */
    expect((uint32_t[]){5}, 1);
}

static void test_a_kernel_may_wait_for_its_children(void **state) {
    (void)state;
    assert_cuda(launch("waiter", 0));
    expect((uint32_t[]){1, 2}, 2);
}

/* 300 CTAs wait on a machine that has room for 120. Each note of a waiting CTA (2) must come after
 * that of its child (1). */
static void test_more_ctas_wait_than_the_device_holds(void **state) {
    (void)state;
    enum { CTAS = 300 };
    CUfunction function;
    void *parameters[] = {&log_address};
    assert_cuda(cuModuleGetFunction(&function, module, "waiter"));
    assert_cuda(cuLaunchKernel(function, CTAS, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(words, log_address, sizeof words));
    assert_int_equal(words[0], 2 * CTAS);
    for (uint32_t i = 1, children = 0, waited = 0; i <= 2 * CTAS; i++) {
        if (words[i] == 1) children++;
        else waited++;
        assert_true(waited <= children);
    }
}

/* The time between the events before and after the kernel, which includes its children. */
static float time_of(const char *kernel) {
    CUevent before, after;
    float milliseconds;
    assert_cuda(cuEventCreate(&before, 0));
    assert_cuda(cuEventCreate(&after, 0));
    assert_cuda(cuEventRecord(before, NULL));
    assert_cuda(launch(kernel, 1));
    assert_cuda(cuEventRecord(after, NULL));
    assert_cuda(cuEventElapsedTime(&milliseconds, before, after));
    return milliseconds;
}

static void test_the_time_of_who_waits_holds_that_of_its_children(void **state) {
    (void)state;
    float child = time_of("note"), parent = time_of("waiter");
    assert_true(child > 0 && parent > child);
}

static void test_a_childs_fault_ends_who_waits_for_it(void **state) {
    (void)state;
    log_address = 64; /* invalid address to which the child writes */
    assert_fails(launch("waiter", 0), ILLEGAL_ADDRESS);
    assert_cuda(cuCtxDestroy(context));
    assert_int_equal(set_up(NULL), 0);
    assert_cuda(launch("waiter", 0));
    expect((uint32_t[]){1, 2}, 2);
}

/* A function of the device runtime that does not exist: only its callers are refused. */
static void test_a_missing_function_of_the_runtime_refuses_its_callers_alone(void **state) {
    (void)state;
    static const char text[] =
        ".version 8.5\n.target sm_75\n.address_size 64\n"
        ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 g, .param .b64 s);\n"
        ".visible .entry good() { ret; }\n"
        ".visible .entry bad() { .reg .b64 g;\n mov.u64 g, 0;\n { .param .b64 a; .param .b64 b;\n"
        " .param .b32 r;\n st.param.b64 [a], g;\n st.param.b64 [b], g;\n"
        " call (r), cudaGraphLaunch, (a, b);\n } ret; }\n";
    CUmodule other;
    CUfunction function;
    assert_cuda(cuModuleLoadData(&other, text));
    assert_cuda(cuModuleGetFunction(&function, other, "good"));
    assert_cuda(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    assert_cuda(cuModuleGetFunction(&function, other, "bad"));
    assert_fails(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), NOT_SUPPORTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_children_come_after_their_parent_and_tails_after_all),
        TEST(test_launches_that_cannot_be_say_why),
        TEST(test_nesting_ends_at_the_24th_grid),
        TEST(test_a_childs_fault_is_the_launchs),
        TEST(test_a_kernel_may_wait_for_its_children),
        TEST(test_more_ctas_wait_than_the_device_holds),
        TEST(test_the_time_of_who_waits_holds_that_of_its_children),
        TEST(test_a_childs_fault_ends_who_waits_for_it),
        TEST(test_a_missing_function_of_the_runtime_refuses_its_callers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
