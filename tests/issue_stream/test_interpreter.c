/* The interpreter as a source of instructions: the record of a step, and what an SM learns
 * about barriers, waits for a phase, and faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "isa/exec/handlers.h"
#include "issue_stream/interpreter.h"

enum { WARPS = 2, PS_PER_CYCLE = 500 };

typedef struct Bench {
    PtxModule *module;
    IsaProgram *program;
    IsaLaunch launch;
    WarpProgram rows;
    Interpreter ptx;
    IsaCta ctas[2];
    uint8_t parameters[64];
    WarpSource *source;
    SourceWarp *starts[WARPS];
} Bench;

/* A CTA with two warps of a kernel with these lines, in slot 1; its warps start at slot 6. */
static void start(Bench *bench, const char *lines) {
    char text[2048] = ".version 8.6\n.target sm_90\n.address_size 64\n"
                      ".visible .entry k() { .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p<3>;\n"
                      ".shared .b64 bar;\n";
    strcat(strcat(text, lines), " ret; }");
    Diag *diag = diag_new();
    memset(bench, 0, sizeof *bench);
    bench->module = ptx_read("test.ptx", text, strlen(text), diag);
    if (bench->module && ptx_link(&bench->module, 1, diag))
        bench->program = isa_decode_variant(bench->module, isa_find_variant("base"), diag);
    if (!bench->program) fail_msg("%s", diag_text(diag));
    diag_free(diag);
    bench->launch = (IsaLaunch){.program = bench->program,
                                .function = &bench->program->functions[0],
                                .grid = {4, 1, 1},
                                .block = {WARPS * 32, 1, 1},
                                .threads = WARPS * 32,
                                .warps = WARPS,
                                .ctas = 4,
                                .shared_bytes = 64,
                                .shared_extent = 64,
                                .parameters = bench->parameters,
                                .ps_per_cycle = PS_PER_CYCLE};
    bench->rows = interpreter_program(bench->program, false);
    interpreter_init(&bench->ptx, bench->ctas, 2);
    bench->source = interpreter_start(
        &bench->ptx, &(IsaContext){.program = bench->program, .launch = &bench->launch},
        &bench->rows);
    bench->source->type->start_cta(bench->source, 1, 3, 6, bench->starts);
}

static void stop(Bench *bench) {
    interpreter_free(&bench->ptx);
    isa_program_free(bench->program);
    ptx_module_free(bench->module);
}

static WarpEvent step(Bench *bench, int warp, uint64_t cycle) {
    return bench->source->type->step(bench->source, bench->starts[warp], cycle);
}

static void test_a_step_leaves_a_record(void **state) {
    (void)state;
    Bench bench;
    start(&bench, "mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 8; mov.u32 %r3, %warpid;\n"
                  "@%p1 mov.u32 %r2, %clock; @%p1 bra low; add.u32 %r2, %r2, 1; low:");
    const WarpStep *did = bench.source->did;
    assert_int_equal(bench.starts[1]->pc, bench.source->entry);
    assert_int_equal(bench.starts[1]->active, UINT32_MAX);
    assert_int_equal(bench.source->program->count, 8); /* including the implied end */
    assert_int_equal(step(&bench, 1, 5), WARP_GOES_ON);
    assert_int_equal(bench.starts[1]->pc, 1);
    assert_int_equal(did->executed, UINT32_MAX);
    step(&bench, 1, 6);
    step(&bench, 1, 7);
    step(&bench, 1, 77);
    assert_int_equal(did->executed, 0xFF);
    assert_int_equal(bench.starts[1]->active, UINT32_MAX);
    assert_false(did->has_split);
    const IsaWarp *warp = interpreter_warp(bench.starts[1]);
    const IsaInst *clock = &bench.program->insts[3], *number = &bench.program->insts[2];
    assert_int_equal(isa_row32(warp, clock->operand[0])[7], 77);
    assert_int_equal(isa_row32(warp, number->operand[0])[0], 7);
    assert_int_equal(step(&bench, 1, 78), WARP_GOES_ON);
    assert_true(did->has_split);
    stop(&bench);
}

static void test_barriers_and_exits_are_told(void **state) {
    (void)state;
    Bench bench;
    start(&bench, "bar.sync 0;");
    const WarpSourceType *type = bench.source->type;
    assert_int_equal(step(&bench, 1, 1), WARP_WAITS);
    assert_int_equal(type->waiting(bench.source, 1), 0x2);
    assert_int_equal(type->waiting(bench.source, 0), 0);
    assert_true(type->only_polls(bench.source, bench.starts[1], 1, false));
    assert_false(type->only_polls(bench.source, bench.starts[0], 1, false));
    assert_int_equal(step(&bench, 0, 2), WARP_GOES_ON);
    assert_int_equal(type->waiting(bench.source, 1), 0);
    const uint64_t changes = type->changes(bench.source);
    assert_int_equal(step(&bench, 0, 3), WARP_EXITED);
    assert_int_equal(type->changes(bench.source), changes + 1);
    assert_int_equal(step(&bench, 1, 3), WARP_EXITED);
    stop(&bench);
}

static void test_waits_for_a_phase_have_limits(void **state) {
    (void)state;
    Bench bench;
    start(&bench, "mbarrier.init.shared.b64 [bar], 32; mov.u32 %r1, 0; mov.u32 %r2, 2000;\n"
                  "mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r1, %r2;\n"
                  "mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r1;\n"
                  "mbarrier.arrive.shared.b64 %d1, [bar];\n"
                  "mbarrier.test_wait.parity.shared.b64 %p1, [bar], %r1;");
    const WarpSourceType *type = bench.source->type;
    SourceWarp *warp = bench.starts[0];
    uint64_t cycles = 99;
    for (int i = 0; i < 4; i++)
        assert_int_equal(step(&bench, 0, 1), WARP_GOES_ON);
    assert_int_equal(type->phase(bench.source, warp, 3, UINT32_MAX, &cycles), WARP_PHASE_TRIES);
    assert_int_equal(cycles, 2000 * 1000 / PS_PER_CYCLE);
    assert_false(type->try_again(bench.source, warp, 3, UINT32_MAX));
    cycles = 99;
    step(&bench, 0, 1);
    assert_int_equal(type->phase(bench.source, warp, 4, UINT32_MAX, &cycles), WARP_PHASE_TRIES);
    assert_int_equal(cycles, 99);
    step(&bench, 0, 1);
    assert_int_equal(type->phase(bench.source, warp, 5, UINT32_MAX, &cycles), WARP_PHASE_CHANGED);
    assert_true(type->try_again(bench.source, warp, 3, UINT32_MAX));
    step(&bench, 0, 1);
    assert_int_equal(type->phase(bench.source, warp, 6, UINT32_MAX, &cycles), WARP_PHASE_OVER);
    stop(&bench);
}

static void test_a_fault_is_an_event(void **state) {
    (void)state;
    Bench bench;
    start(&bench, "mov.u32 %r1, 1; trap;");
    assert_int_equal(step(&bench, 0, 1), WARP_GOES_ON);
    assert_null(bench.source->type->fault(bench.source));
    assert_int_equal(step(&bench, 0, 2), WARP_FAULT);
    assert_int_equal(bench.source->type->fault(bench.source)->code, ISA_FAULT_TRAP);
    stop(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_leaves_a_record),
        cmocka_unit_test(test_barriers_and_exits_are_told),
        cmocka_unit_test(test_waits_for_a_phase_have_limits),
        cmocka_unit_test(test_a_fault_is_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
