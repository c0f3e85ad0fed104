/* A whole SM on the bench of stage.c (see the header). */
#include "sm_bench.h"

#include <stdlib.h>
#include <string.h>

#include "isa/exec/handlers.h"

static void hear_end(void *user, const SmCtaEnd *end) {
    Bench *bench = user;
    assert_ptr_equal(end->grid, &bench->launch);
    bench->ended_at = end->end;
    bench->waited = sm_memory_cycles(bench->sm);
    bench->ends++;
}

Bench *bench_new(const char *settings, uint32_t warps, const char *lines, bool never_sleeps,
                 const SmCore *core) {
    Stage *stage = stage_new(settings, 64);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    Diag *diag = diag_new();
    char text[4096];
    int length = snprintf(text, sizeof text,
                          ".version 8.6\n.target sm_70\n.address_size 64\n"
                          ".visible .entry k(.param .u64 buffer) {\n.shared .b32 room[1024];\n"
                          ".reg .b32 %%r<32>; .reg .f32 %%f<8>; .reg .b64 %%d<8>; "
                          ".reg .pred %%p<4>;\n%s\nret;\n}\n",
                          lines);
    bench->stage = stage;
    bench->module = ptx_read("test", text, (size_t)length, diag);
    if (bench->module && ptx_link(&bench->module, 1, diag))
        bench->program = isa_decode_variant(bench->module, isa_find_variant(NULL), diag);
    if (!bench->program) fail_msg("%s", diag_text(diag));
    diag_free(diag);
    bench->memory = mem_new(1 << 20);
    bench->buffer = mem_alloc(bench->memory, 65536, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
    memcpy(bench->parameters, &bench->buffer, sizeof bench->buffer);
    bench->launch = (IsaLaunch){.program = bench->program,
                                .function = &bench->program->functions[0],
                                .grid = {64, 1, 1},
                                .block = {warps * 32, 1, 1},
                                .threads = warps * 32,
                                .warps = warps,
                                .ctas = 64,
                                .shared_bytes = 4096,
                                .shared_extent = 4096,
                                .parameters = bench->parameters,
                                .parameter_bytes = 8,
                                .stack_bytes = 1024,
                                .sms = STAGE_SMS,
                                .warps_per_sm = 48,
                                .ps_per_cycle = 1000};
    stage->sm.env.never_sleeps = never_sleeps;
    stage->sm.env.core = core;
    bench->sm = sm_new(&stage->sm.env);
    IsaContext isa = {.memory = bench->memory, .program = bench->program, .launch = &bench->launch};
    const bool is_lowered = stage->sm.config->instructions != SM_INSTRUCTIONS_PTX;
    bench->rows = interpreter_program(bench->program, is_lowered);
    bench->ops = sm_ops_new(stage->sm.config, &bench->rows);
    interpreter_start(&stage->source, &isa, &bench->rows);
    if (!core) core = sm_core_of(stage->sm.config->core);
    bench->rows.leaders = interpreter_leaders(bench->program);
    if (core->rows) bench->core_rows = core->rows(stage->sm.config, &bench->rows);
    return bench;
}

void bench_set_controls(Bench *bench, const IsaControl *controls) {
    const SmConfig *config = bench->stage->sm.config;
    free(bench->core_rows);
    bench->rows.controls = controls;
    bench->core_rows = sm_core_of(config->core)->rows(config, &bench->rows);
}

void bench_begin(Bench *bench, WarpSource *source) {
    bench->grid = sm_begin_grid(
        bench->sm,
        &(SmGridStart){.source = source ? source : &bench->stage->source.source,
                       .ops = bench->ops,
                       .rows = bench->core_rows,
                       .listener = &(SmListener){.cta_finished = hear_end, .user = bench},
                       .user = &bench->launch,
                       .ctas = 8},
        bench->cycle);
}

void bench_stop(Bench *bench) {
    sm_free(bench->sm);
    free(bench->ops);
    free(bench->core_rows);
    isa_program_free(bench->program);
    ptx_module_free(bench->module);
    mem_free(bench->memory);
    stage_free(bench->stage);
}

/* Answers requests that have waited long enough, and accepts those that have arrived. */
static void serve(Bench *bench) {
    Stage *stage = bench->stage;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bench->waiting; i++) {
        if (bench->queue[i].due > bench->cycle) {
            bench->queue[kept++] = bench->queue[i];
            continue;
        }
        uint32_t packets = mem_replies(bench->queue[i].request);
        for (uint32_t p = 0; p < packets; p++)
            noc_inject(stage->replies, STAGE_SMS, STAGE_SM, 8, bench->queue[i].request->handle);
        bench->acked_at = bench->cycle;
    }
    bench->waiting = kept;
    for (int slice = 0; slice < STAGE_SLICES; slice++) {
        uint32_t handle;
        if (!noc_peek(stage->requests, STAGE_SMS + slice, &handle)) continue;
        noc_pop(stage->requests, STAGE_SMS + slice);
        bench->requests++;
        bench->queue[bench->waiting].due = bench->cycle + ANSWER;
        bench->queue[bench->waiting++].request =
            &sm_request_pool(bench->sm)[mem_handle_index(handle)];
        assert_in_range(bench->waiting, 1, 200);
    }
}

void bench_cycle(Bench *bench) {
    bench->cycle++;
    SmInbox *inbox = &bench->stage->inbox;
    uint32_t handle;
    if (inbox_has_waiting(inbox) && sm_offer(bench->sm, bench->cycle, inbox_peek(inbox)))
        inbox_pop(inbox);
    inbox_take(inbox, &handle);
    if (bench->stage->wake <= bench->cycle) {
        sm_step(bench->sm, bench->cycle);
        bench->steps++;
    }
    const IsaFault *fault = sm_fault(bench->sm);
    if (fault) fail_msg("%s", fault->text);
    serve(bench);
    stage_move(bench->stage);
}

void bench_run(Bench *bench, uint32_t ctas) {
    for (uint32_t i = 0; i < ctas; i++)
        sm_launch_cta(bench->sm, bench->grid, i, bench->cycle);
    while (bench->ends < ctas || !sm_is_idle(bench->sm)) {
        bench_cycle(bench);
        assert_in_range(bench->cycle, 1, 100000);
    }
    sm_settle(bench->sm, bench->cycle + 1);
}
