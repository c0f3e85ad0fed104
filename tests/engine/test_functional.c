/* Functional runs: messages for a kernel's mistakes, limits, deadlocks, and launches after a failed
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/launch/gpu.h"

#define HEADER ".version 7.5\n.target sm_75\n.address_size 64\n"
/* A kernel with one pointer parameter, in %p; %t is the thread's number. */
#define KERNEL(body)                                                                               \
    HEADER ".visible .entry k(.param .u64 a)\n{\n"                                                 \
           ".reg .b64 %p, %q, %w;\n.reg .b32 %t, %v, %i;\n.reg .pred %c;\n"                        \
           "ld.param.u64 %p, [a];\nmov.u32 %t, %tid.x;\n" body "ret;\n}\n"

typedef struct Fixture {
    Diag *diag;
    Gpu *gpu;
    Text printed;
} Fixture;

static void keep(void *user, const char *text, size_t length) {
    text_add_bytes(user, text, length);
}

static void start(Fixture *fixture, GpuOptions options) {
    *fixture = (Fixture){.diag = diag_new()};
    options.print = keep;
    options.user = &fixture->printed;
    fixture->gpu = gpu_new(&options, fixture->diag);
    assert_non_null(fixture->gpu);
}

static void stop(Fixture *fixture) {
    gpu_free(fixture->gpu);
    diag_free(fixture->diag);
    text_free(&fixture->printed);
}

static uint64_t buffer(Fixture *fixture, uint64_t bytes) {
    return mem_alloc(gpu_memory(fixture->gpu), bytes, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
}

static GpuResult run_grid(Fixture *fixture, const char *ptx, uint32_t ctas, uint32_t threads,
                          uint64_t parameter) {
    GpuImage image = {.name = "k.ptx", .text = ptx, .length = strlen(ptx)};
    GpuModule *module = gpu_load(fixture->gpu, &image, 1, fixture->diag);
    if (!module) fail_msg("%s", diag_text(fixture->diag));
    GpuLaunch launch = {
        .module = module, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .parameters = &parameter};
    launch.function = gpu_find_function(module, "k");
    GpuResult result;
    gpu_launch(fixture->gpu, &launch, &result);
    gpu_unload(module);
    return result;
}

static GpuResult run(Fixture *fixture, const char *ptx, uint32_t threads, uint64_t parameter) {
    return run_grid(fixture, ptx, 1, threads, parameter);
}

/* Expects that the launch failed with this code, and that its message contains `text`. */
static void assert_fault(const GpuResult *result, int code, const char *text) {
    assert_int_equal(result->status, GPU_FAULT);
    if (!strstr(result->message, text)) fail_msg("'%s' lacks '%s'", result->message, text);
    assert_int_equal(result->fault_code, code);
}

static void names_every_bad_access(void **state) {
    (void)state;
    static const struct {
        const char *ptx;
        int code;
        const char *text;
    } cases[] = {
        {KERNEL("mul.wide.u32 %w, %t, 4;\nadd.u64 %p, %p, %w;\nst.global.u32 [%p], %t;\n"),
         ISA_FAULT_ADDRESS, "1 byte past the last byte of the 64-byte allocation"},
        {KERNEL("ld.global.u32 %v, [%p+2];\n"), ISA_FAULT_MISALIGNED, "misaligned read of 4 bytes"},
        {KERNEL("mov.u64 %q, 0;\nld.global.u32 %v, [%q];\n"), ISA_FAULT_ADDRESS,
         "the null pointer"},
        {KERNEL("mov.u64 %q, 8;\nst.u32 [%q], %t;\n"), ISA_FAULT_ADDRESS,
         "next to the null pointer"},
        {KERNEL("ld.shared.u32 %v, [16];\n"), ISA_FAULT_ADDRESS, "0 bytes of shared memory"},
        {KERNEL("ld.const.u32 %v, [%p];\n"), ISA_FAULT_SPACE,
         "wrong space: read of 4 bytes at const"},
        {HEADER ".const .b32 c[4];\n.visible .entry k(.param .u64 a)\n{\n.reg .b64 %p;\n"
                ".reg .b32 %v;\nmov.u64 %p, c;\nmov.u32 %v, 1;\nst.u32 [%p], %v;\nret;\n}\n",
         ISA_FAULT_SPACE, "'c'"},
        {KERNEL("atom.global.add.u32 %v, [%p+1], 1;\n"), ISA_FAULT_MISALIGNED, "atomic access"},
        {KERNEL("mov.u64 %q, 0xd0000000;\nld.global.v4.u32 {%v, %v, %t, %i}, [%q];\n"),
         ISA_FAULT_ADDRESS, "invalid read of 16 bytes at global address 0xd0000000"},
        {KERNEL("trap;\n"), ISA_FAULT_TRAP, "trap"},
        {KERNEL("bar.sync 0, 33;\n"), ISA_FAULT_BARRIER, "no multiple of the warp size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture fixture;
        start(&fixture, (GpuOptions){0});
        GpuResult result = run(&fixture, cases[i].ptx, 32, buffer(&fixture, 64));
        assert_fault(&result, cases[i].code, cases[i].text);
        assert_non_null(strstr(result.message, "kernel k, k.ptx:"));
        /* The process and the device continue to work. */
        result = run(&fixture, KERNEL("st.global.u32 [%p], 7;\n"), 32, buffer(&fixture, 64));
        assert_int_equal(result.status, GPU_OK);
        stop(&fixture);
    }
}

static void names_the_thread_that_went_wrong(void **state) {
    (void)state;
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    GpuResult result =
        run(&fixture,
            KERNEL("setp.ne.u32 %c, %t, 77;\n@%c bra done;\nst.global.u32 [%p+4096], %t;\n"
                   "done:\n"),
            96, buffer(&fixture, 64));
    assert_fault(&result, ISA_FAULT_ADDRESS, "CTA (0,0,0), thread (77,0,0), warp 2, lane 13");
    stop(&fixture);
}

static void remembers_what_was_freed(void **state) {
    (void)state;
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    uint64_t gone = buffer(&fixture, 400);
    mem_release(gpu_memory(fixture.gpu), gone);
    GpuResult result = run(&fixture, KERNEL("ld.global.u32 %v, [%p+8];\n"), 32, gone);
    assert_fault(&result, ISA_FAULT_ADDRESS, "byte 8 of a freed 400-byte allocation");
    stop(&fixture);
}

static void explains_a_barrier_that_cannot_complete(void **state) {
    (void)state;
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    GpuResult result = run(&fixture, KERNEL("bar.sync 1, 128;\n"), 64, buffer(&fixture, 64));
    assert_fault(&result, ISA_FAULT_DEADLOCK, "all 2 live warps of the CTA wait at barriers");
    stop(&fixture);
}

/* Runs a kernel of 64 threads, and reads the first four words of its buffer. */
static void run_well(const char *ptx, uint32_t words[4]) {
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    uint64_t address = buffer(&fixture, 16);
    GpuResult result = run(&fixture, ptx, 64, address);
    if (result.status != GPU_OK) fail_msg("%s", result.message);
    assert_true(mem_read(gpu_memory(fixture.gpu), address, words, 16));
    stop(&fixture);
}

static void a_barrier_waits_no_more_for_a_warp_that_has_left(void **state) {
    (void)state;
    uint32_t words[4];
    run_well(KERNEL("setp.ge.u32 %c, %t, 32;\n@%c ret;\nbar.sync 0;\nst.global.u32 [%p], 7;\n"),
             words);
    assert_int_equal(words[0], 7);
}

static void the_taken_side_of_a_branch_runs_first(void **state) {
    (void)state;
    uint32_t words[4]; /* a counter, and its value after each side added one per thread */
    run_well(KERNEL("and.b32 %i, %t, 1;\nsetp.eq.u32 %c, %i, 1;\n@%c bra TAKEN;\n"
                    "atom.global.add.u32 %v, [%p], 1;\nst.global.u32 [%p+4], %v;\nbra END;\n"
                    "TAKEN:\natom.global.add.u32 %v, [%p], 1;\nst.global.u32 [%p+8], %v;\nEND:\n"),
             words);
    assert_int_equal(words[0], 64);
    assert_true(words[2] < words[1]);
}

/* The first thread of each CTA waits for those of all CTAs, the other warps wait for it. */
static void ctas_that_wait_for_others_take_short_turns(void **state) {
    (void)state;
    enum { CTAS = 64 };
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    const uint64_t address = buffer(&fixture, 4);
    const GpuResult result =
        run_grid(&fixture,
                 KERNEL("setp.ne.u32 %c, %t, 0;\n@%c bra DONE;\natom.global.add.u32 %v, [%p], 1;\n"
                        "AGAIN:\nld.volatile.global.u32 %v, [%p];\nsetp.lt.u32 %c, %v, 64;\n"
                        "@%c bra AGAIN;\nDONE:\nbar.sync 0;\n"),
                 CTAS, 96, address);
    assert_int_equal(result.status, GPU_OK);
    /* CTA i has at most CTAS - i turns, of at most a hundred instructions each. */
    assert_true(result.warp_instructions < CTAS * CTAS / 2 * 100);
    stop(&fixture);
}

static void a_function_gives_back_all_its_results(void **state) {
    (void)state;
    uint32_t words[4];
    run_well(HEADER ".func (.reg .b32 %r) next(.reg .b32 %x)\n{\nadd.u32 %r, %x, 1;\nret;\n}\n"
                    ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %p;\n.reg .b32 %v;\n"
                    "ld.param.u64 %p, [a];\nmov.u32 %v, 41;\ncall (%v), next, (%v);\n"
                    "st.global.u32 [%p], %v;\nret;\n}\n",
             words);
    assert_int_equal(words[0], 42);
}

static void stops_at_the_instruction_limit(void **state) {
    (void)state;
    Fixture fixture;
    start(&fixture, (GpuOptions){.instruction_limit = 1000});
    GpuResult result =
        run(&fixture, KERNEL("again:\nadd.u32 %t, %t, 1;\nbra again;\n"), 32, buffer(&fixture, 64));
    assert_fault(&result, ISA_FAULT_LIMIT, "limit of 1000 warp instructions");
    assert_int_equal(result.warp_instructions, 1000);
    assert_fault(&result, ISA_FAULT_LIMIT, "\n    1 warp ready before k.ptx:");
    assert_int_equal(result.warp_instructions, 1000);
    stop(&fixture);
}

static void reports_runaway_recursion(void **state) {
    (void)state;
    static const char ptx[] = HEADER
        ".func deeper(.param .b64 x)\n{\n.local .b8 room[512];\n.reg .b64 %x;\n"
        "ld.param.b64 %x, [x];\n{\n.param .b64 y;\nst.param.b64 [y], %x;\ncall deeper, (y);\n}\n"
        "ret;\n}\n"
        ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %p;\nld.param.u64 %p, [a];\n{\n"
        ".param .b64 y;\nst.param.b64 [y], %p;\ncall deeper, (y);\n}\nret;\n}\n";
    Fixture fixture;
    start(&fixture, (GpuOptions){.stack_bytes = 8192});
    GpuResult result = run(&fixture, ptx, 32, buffer(&fixture, 64));
    assert_fault(&result, ISA_FAULT_STACK, "stack overflow");
    assert_non_null(strstr(result.message, "in function deeper"));
    stop(&fixture);
}

static void prints_registers_at_a_line(void **state) {
    (void)state;
    Fixture fixture;
    start(&fixture, (GpuOptions){.dump_line = 12, .dump_warp = 1});
    GpuResult result = run(&fixture, KERNEL("add.u32 %v, %t, 5;\nst.global.u32 [%p], %v;\n"), 64,
                           buffer(&fixture, 64));
    assert_int_equal(result.status, GPU_OK);
    const char *text = text_string(&fixture.printed);
    assert_non_null(strstr(text, "k.ptx:12: k: CTA 0, warp 1, active lanes 0xffffffff, before st"));
    assert_non_null(strstr(text, "%v       .b32   00000025 00000026"));
    assert_null(strstr(text, "%t")); /* its slot is free or holds another value by now */
    stop(&fixture);
}

static void refuses_impossible_launches(void **state) {
    (void)state;
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    GpuResult result = run(&fixture, KERNEL(""), 0, 0);
    assert_int_equal(result.status, GPU_BAD_LAUNCH);
    assert_non_null(strstr(result.message, "block x is 0"));
    result = run(&fixture, KERNEL(""), 1025, 0);
    assert_int_equal(result.status, GPU_BAD_LAUNCH);
    result = run(&fixture, HEADER ".visible .entry k()\n.reqntid 64, 1, 1\n{\nret;\n}\n", 32, 0);
    assert_int_equal(result.status, GPU_BAD_LAUNCH);
    assert_non_null(strstr(result.message, ".reqntid"));
    stop(&fixture);
}

/* The mistake is in a function that was inlined into a function that the kernel calls. */
static void names_the_line_of_the_source_the_calls_and_the_functions(void **state) {
    (void)state;
    static const char ptx[] = HEADER
        ".file 1 \"a.cu\"\n.func _Z3addiPf(.param .u64 x)\n{\n.reg .b64 %p;\n.reg .b32 %v;\n"
        "ld.param.u64 %p, [x];\n.loc 1 20 3\nmov.u32 %v, 1;\n"
        ".loc 1 9 1, function_name $L__info0, inlined_at 1 20 3\nmov.u32 %v, 2;\n"
        ".loc 1 5 2, function_name $L__info0+4, inlined_at 1 9 1\nst.global.u32 [%p], %v;\n"
        "ret;\n}\n.visible .entry k(.param .u64 a)\n{\n.reg .b64 %p;\nld.param.u64 %p, [a];\n"
        "add.u64 %p, %p, 64;\n.loc 1 30 1\n"
        "{ .param .b64 x; st.param.b64 [x], %p;\ncall _Z3addiPf, (x); }\nret;\n}\n";
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    GpuResult result = run(&fixture, ptx, 32, buffer(&fixture, 64));
    assert_fault(
        &result, ISA_FAULT_ADDRESS,
        "\n    kernel k (in function add(int, float*)), k.ptx:15, source a.cu:5, inlined at "
        "a.cu:9, inlined at a.cu:20: st\n");
    assert_fault(&result, ISA_FAULT_ADDRESS, "\n    called from k, k.ptx:25, source a.cu:30");
    stop(&fixture);
}

#define MALLOC_64                                                                                  \
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 60;\ncall.uni (r), malloc, (n);\n"          \
    "ld.param.b64 %q, [r]; }\n"
#define FREE "{ .param .b64 n; st.param.b64 [n], %q;\ncall.uni free, (n); }\n"
#define HEAP_KERNEL(body)                                                                          \
    HEADER ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                                \
           ".extern .func free(.param .b64 n);\n.visible .entry k(.param .u64 a)\n{\n"             \
           ".reg .b64 %q;\n.reg .b32 %v;\n" body "ret;\n}\n"

static void says_where_in_the_device_heap_a_bad_pointer_is(void **state) {
    (void)state;
    static const struct {
        const char *ptx, *text;
    } cases[] = {
        {HEAP_KERNEL(MALLOC_64 FREE "ld.u32 %v, [%q+8];\n"),
         "invalid read of 4 bytes at generic address"},
        {HEAP_KERNEL(MALLOC_64 FREE "ld.u32 %v, [%q+8];\n"),
         ": byte 8 of a freed 60-byte device malloc block at "},
        {HEAP_KERNEL(MALLOC_64 "st.u32 [%q+60], 1;\n"),
         ": 1 byte past the last byte of the 60-byte device malloc block at "},
        {HEAP_KERNEL(MALLOC_64 "st.u32 [%q+4096], 1;\n"), "byte device malloc block at "},
        {HEAP_KERNEL(MALLOC_64 FREE FREE),
         "where no block from device malloc starts: byte 0 of a freed 60-byte device malloc block"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture fixture;
        start(&fixture, (GpuOptions){0});
        GpuResult result = run(&fixture, cases[i].ptx, 1, 0);
        if (i) assert_fault(&result, ISA_FAULT_ADDRESS, cases[i].text);
        else assert_int_equal(result.fault_code, ISA_FAULT_ADDRESS);
        stop(&fixture);
    }
}

static void refuses_more_local_memory_than_a_thread_can_have(void **state) {
    (void)state;
    static const char ptx[] =
        HEADER ".visible .entry k(.param .u64 a)\n{\n.local .b8 l[1048576];\nret;\n}\n";
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    GpuResult result = run(&fixture, ptx, 32, 0);
    assert_int_equal(result.status, GPU_BAD_LAUNCH);
    assert_non_null(
        strstr(result.message, "1048576 bytes of local memory; a thread can have 524288"));
    stop(&fixture);
    start(&fixture, (GpuOptions){.stack_bytes = 2 << 20});
    result = run(&fixture, ptx, 32, 0);
    assert_int_equal(result.status, GPU_OK);
    stop(&fixture);
}

static void refuses_an_indirect_call_whose_parameters_have_other_sizes(void **state) {
    (void)state;
    static const char ptx[] =
        HEADER ".func wide(.param .b64 x)\n{\nret;\n}\n.visible .entry k(.param .u64 a)\n{\n"
               ".reg .b64 %f;\nmov.u64 %f, wide;\n{ .param .b32 x; st.param.b32 [x], 1;\n"
               "P: .callprototype _ (.param .b32 y);\ncall %f, (x), P; }\nret;\n}\n";
    Fixture fixture;
    start(&fixture, (GpuOptions){0});
    GpuResult result = run(&fixture, ptx, 32, 0);
    assert_fault(&result, ISA_FAULT_CALL,
                 "indirect call of wide with 4 bytes as argument 1; it has 8");
    stop(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_line_of_the_source_the_calls_and_the_functions),
        cmocka_unit_test(says_where_in_the_device_heap_a_bad_pointer_is),
        cmocka_unit_test(refuses_more_local_memory_than_a_thread_can_have),
        cmocka_unit_test(refuses_an_indirect_call_whose_parameters_have_other_sizes),
        cmocka_unit_test(names_every_bad_access),
        cmocka_unit_test(names_the_thread_that_went_wrong),
        cmocka_unit_test(remembers_what_was_freed),
        cmocka_unit_test(explains_a_barrier_that_cannot_complete),
        cmocka_unit_test(a_barrier_waits_no_more_for_a_warp_that_has_left),
        cmocka_unit_test(the_taken_side_of_a_branch_runs_first),
        cmocka_unit_test(ctas_that_wait_for_others_take_short_turns),
        cmocka_unit_test(a_function_gives_back_all_its_results),
        cmocka_unit_test(stops_at_the_instruction_limit),
        cmocka_unit_test(reports_runaway_recursion),
        cmocka_unit_test(prints_registers_at_a_line),
        cmocka_unit_test(refuses_impossible_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
