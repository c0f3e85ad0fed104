/* Issue alone: which warps can issue in a cycle, what happens to the instruction, and the cause of
 * every cycle without one. Instructions do nothing; only their class, registers and space
 * matter. */
#include "sm/classic/issue.h"
#include "stage.h"

enum { WARPS = 4 };

typedef struct Bench {
    Stage *stage;
    SmPort port;
    SmFetch fetch;
    SmCollector collector;
    SmCollectors collectors;
    SmIssue issue;
    bool is_stalled; /* by the load/store unit */
    PtxFunction ptx;
    IsaFunction function;
    IsaProgram code;
    IsaLaunch launch;
    IsaWarp isa[WARPS];
    IsaCta cta;
    uint32_t preds[2];
} Bench;

static void do_nothing(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)warp, (void)inst, (void)mask;
    for (int lane = 0; lane < ISA_LANES; lane++)
        context->did.address[lane] = (uint64_t)lane * 4;
}

/* Warps 0 .. 3 run the same program; their buffers are full. */
static Bench *start(const char *settings, const StageInst *program, uint32_t count) {
    Stage *stage = stage_new(settings, 64);
    Bench *bench = ARENA_ARRAY(stage->sm.arena, Bench, 1);
    SmContext *sm = &stage->sm;
    bench->stage = stage;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pc = stage_program(stage, &program[i]);
        stage->program[pc] = (IsaInst){.exec = do_nothing, .guard = ISA_PRED_TRUE};
    }
    bench->ptx.reg_count = 64;
    bench->function.ptx = &bench->ptx;
    bench->code = (IsaProgram){.insts = stage->program,
                               .infos = stage->infos,
                               .inst_count = count,
                               .functions = &bench->function,
                               .function_count = 1,
                               .reg_pool = stage->regs};
    bench->launch = (IsaLaunch){.program = &bench->code, .warps = WARPS, .threads = WARPS * 32};
    bench->preds[ISA_PRED_TRUE] = UINT32_MAX;
    stage_execute(stage, &bench->launch);
    port_init(&bench->port, sm);
    fetch_init(&bench->fetch, sm, &bench->port);
    collector_init(&bench->collector, sm->config, sm->arena);
    bench->collectors = (SmCollectors){.of = {&bench->collector}, .warps = {UINT64_MAX}};
    issue_init(&bench->issue, sm, &bench->fetch, &bench->collectors);
    issue_start_kernel(&bench->issue, sm);
    issue_begin_grid(&bench->issue, sm, &stage->grid);
    for (int w = 0; w < WARPS; w++) {
        bench->isa[w] = (IsaWarp){.preds = bench->preds,
                                  .active = UINT32_MAX,
                                  .alive = UINT32_MAX,
                                  .reconverge = ISA_NO_PC,
                                  .cta = &bench->cta,
                                  .index = (uint32_t)w};
        sm->warps.warp[w].handle = &bench->isa[w].at;
        sm->warps.warp[w].index = (uint8_t)w;
        sm->view.resident |= UINT64_C(1) << w;
        bench->fetch.buffer[w].count = 0;
        issue_start_warp(&bench->issue, sm, w, 0);
        bench->fetch.buffer[w].count = 2;
        issue_update_head(&bench->issue, sm, w);
    }
    return bench;
}

static void stop(Bench *bench) {
    for (int w = 0; w < WARPS; w++)
        bench->stage->sm.warps.warp[w].handle = NULL;
    issue_free(&bench->issue);
    stage_free(bench->stage);
}

/* Keeps only the first `count` warps. */
static void keep(Bench *bench, int count) {
    bench->stage->sm.view.resident = bits_low_mask(count);
    for (int w = count; w < WARPS; w++) {
        bench->fetch.buffer[w].count = 0;
        issue_update_head(&bench->issue, &bench->stage->sm, w);
    }
}

static void step(Bench *bench) {
    stage_cycle(bench->stage);
    issue_stall(&bench->issue, bench->is_stalled);
    issue_step(&bench->issue, &bench->stage->sm);
}

static uint64_t issued(const Bench *bench) { return bench->stage->sm.counters.warp_instructions; }

#define ONE "scheduler.count=1 units.sp.issue_slots=8 units.ldst.issue_slots=8 "

static const StageInst add = {
    .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 1, .dst = {1}, .src = {2}};
static const StageInst dependent = {
    .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 1, .dst = {3}, .src = {1}};
static const StageInst load = {.op_class = ISA_CLASS_MEMORY,
                               .memory = ISA_MEMORY_LOAD,
                               .space = PTX_SPACE_GLOBAL,
                               .bytes = 4,
                               .dst_count = 1,
                               .dst = {1}};

/* The same on a machine with instructions of its own: those whose bits are set in `free` take no
 * slot. The buffer of one warp holds all of them. */
static Bench *start_own(const StageInst *program, uint32_t count, uint64_t free) {
    Bench *bench = start(ONE, program, count);
    Stage *stage = bench->stage;
    bench->issue.issues_own = true;
    bench->issue.is_plain = false;
    for (uint32_t pc = 0; pc < count; pc++) {
        uint8_t slots = free >> pc & 1 ? 0 : 1;
        stage->ops[pc].slots = (IsaSlots){.slots = slots, .taken = slots, .passed = slots};
    }
    keep(bench, 1);
    bench->fetch.buffer[0].count = (uint8_t)count;
    issue_update_head(&bench->issue, &stage->sm, 0);
    return bench;
}

/* Signals that something has ended: an instruction, or something that a warp waits for. */
static void tell(Bench *bench, SmEventKind kind, uint32_t index) {
    events_post(&bench->stage->sm.events, kind, index);
    issue_hear(&bench->issue, &bench->stage->sm);
}

/* Signals that an instruction under way is done. */
static void complete(Bench *bench, uint16_t inst) { tell(bench, SM_EVENT_INST_DONE, inst); }

static void
test_a_scheduler_issues_one_instruction_a_cycle_of_the_warp_that_is_picked(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    for (uint64_t i = 1; i <= WARPS; i++) {
        step(bench);
        assert_int_equal(issued(bench), i);
        assert_int_equal(bench->issue.outcome[0], SM_ISSUED);
        /* the lowest warps are picked, and their next instruction then waits for a register */
        assert_int_equal(bench->stage->sm.view.warp[i - 1].instructions, 1);
        assert_int_equal(bench->fetch.buffer[i - 1].count, 1);
    }
    assert_int_equal(bench->collector.in[SM_UNIT_SP].count, WARPS);
    assert_int_equal(bench->stage->sm.counters.thread_instructions, WARPS * 32);
    assert_int_equal(stage_heard(bench->stage)->issued, WARPS);
    assert_int_equal(stage_heard(bench->stage)->elapsed, WARPS);
    stop(bench);
}

/* A policy's view counts the lanes that are active when the warp is scheduled. The counters count
 * the lanes that execute. */
static void test_a_warps_progress_is_of_its_active_lanes_whatever_their_guards(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    bench->preds[0] = 0xff;
    bench->stage->program[0].guard = 0;
    step(bench);
    assert_int_equal(bench->stage->sm.view.warp[0].thread_instructions, 32);
    assert_int_equal(bench->stage->sm.counters.thread_instructions, 8);
    stop(bench);
}

static void test_two_schedulers_have_warps_of_their_own(void **state) {
    (void)state;
    Bench *bench = start("scheduler.count=2 units.sp.issue_slots=8", (StageInst[]){add, add}, 2);
    step(bench);
    assert_int_equal(issued(bench), 2);
    assert_int_equal(bench->stage->sm.view.warp[0].instructions, 1);
    assert_int_equal(bench->stage->sm.view.warp[1].instructions, 1);
    stop(bench);
}

static void test_a_register_is_waited_for_until_the_result_is_written(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, dependent}, 2);
    keep(bench, 1);
    step(bench);
    for (int i = 0; i < 3; i++) {
        step(bench);
        assert_int_equal(issued(bench), 1);
        assert_int_equal(bench->issue.outcome[0], SM_SCOREBOARD_OTHER);
        assert_false(issue_has_work(&bench->issue, &bench->stage->sm));
    }
    complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_SP]));
    assert_true(issue_has_work(&bench->issue, &bench->stage->sm));
    step(bench);
    assert_int_equal(issued(bench), 2);
    stop(bench);
}

static void test_a_wait_for_memory_is_told_from_other_waits(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){load, dependent}, 2);
    keep(bench, 2);
    assert_int_equal(bench->stage->sm.view.wants_load, 0x3);
    for (int i = 0; i < 3; i++)
        step(bench);
    assert_int_equal(issued(bench), 2);
    assert_int_equal(bench->issue.outcome[0], SM_SCOREBOARD_MEMORY);
    assert_int_equal(bench->stage->sm.view.waits_memory, 0x3);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 10, false);
    issue_settle(&bench->issue, &bench->stage->sm.counters, &bench->stage->sm.histograms);
    assert_int_equal(bench->stage->sm.counters.MemoryBlockCycles, 10);
    assert_int_equal(bench->stage->sm.counters.no_issue_cycles, 10);
    assert_int_equal(bench->stage->sm.counters.scoreboard_memory, 10);
    assert_int_equal(bench->stage->sm.counters.scheduler_cycles, 10);
    complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_LDST]));
    assert_int_equal(bench->stage->sm.view.waits_memory, 0x2);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 10, false);
    issue_settle(&bench->issue, &bench->stage->sm.counters, &bench->stage->sm.histograms);
    assert_int_equal(bench->stage->sm.counters.MemoryBlockCycles, 10); /* one could issue */
    stop(bench);
}

/* Only a wait that memory ends is one for memory. */
static void test_the_view_tells_what_holds_a_warp(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    SmContext *sm = &bench->stage->sm;
    const struct {
        uint64_t *set, *shown;
    } waits[] = {{&sm->warps.fenced, &sm->view.waits_memory},
                 {&sm->warps.copy_waits, &sm->view.waits_memory},
                 {&sm->warps.phase_waits, &sm->view.at_mbarrier},
                 {&sm->warps.product_waits, &sm->view.waits_other},
                 {&sm->warps.register_waits, &sm->view.waits_other},
                 {&sm->warps.grid_waits, &sm->view.waits_other}};
    keep(bench, 2);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        *waits[i].set = sm->warps.held = 1;
        issue_update_head(&bench->issue, sm, 0);
        assert_int_equal(sm->view.waits_memory | sm->view.at_mbarrier | sm->view.waits_other, 1);
        assert_int_equal(*waits[i].shown, 1);
        *waits[i].set = sm->warps.held = 0;
        issue_update_head(&bench->issue, sm, 0);
        assert_int_equal(*waits[i].shown, 0);
    }
    stop(bench);
}

/* Whether the first warp has a next instruction that waits for memory. */
static bool waits_memory(const Bench *bench) { return bench->stage->sm.view.waits_memory & 1; }

static void test_a_wait_for_memory_goes_through_instructions_without_a_slot(void **state) {
    (void)state;
    const StageInst sum = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 2, .dst = {2}, .src = {1, 9}};
    const StageInst copy = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 1, .dst = {3}, .src = {2}};
    const StageInst reader = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 1, .dst = {4}, .src = {3}};
    StageInst other = add;
    other.dst[0] = 9;
    Bench *bench = start_own((StageInst[]){load, other, sum, copy, reader}, 5, 0xC);
    for (int i = 0; i < 4; i++)
        step(bench);
    assert_int_equal(issued(bench), 4); /* all but the reader */
    assert_int_equal(bench->issue.outcome[0], SM_SCOREBOARD_MEMORY);
    assert_true(waits_memory(bench));
    complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_LDST]));
    step(bench);
    assert_int_equal(bench->issue.outcome[0], SM_SCOREBOARD_OTHER);
    assert_false(waits_memory(bench));
    complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_SP]));
    step(bench);
    assert_int_equal(issued(bench), 5);
    assert_false(scoreboard_is_clear(&bench->issue.scoreboard, 0, &bench->stage->ops[4],
                                     &(bool){false})); /* only its result is missing */
    stop(bench);
}

/* An instruction that reads what it writes, and two instructions that each read what the other
 * writes. */
static void test_no_instruction_without_a_slot_waits_for_its_own_result(void **state) {
    (void)state;
    const StageInst own = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 2, .dst = {2}, .src = {2, 1}};
    const StageInst there = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 2, .dst = {3}, .src = {2, 1}};
    const StageInst back = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 1, .dst = {2}, .src = {3}};
    const StageInst reader = {
        .op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .src_count = 1, .dst = {4}, .src = {2}};
    const StageInst programs[][4] = {{load, own, back, reader}, {load, there, back, reader}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        Bench *bench = start_own(programs[i], 4, 0x6);
        for (int cycle = 0; cycle < 4; cycle++)
            step(bench);
        assert_true(issued(bench) < 4);
        complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_LDST]));
        for (int cycle = 0; cycle < 4; cycle++)
            step(bench);
        assert_int_equal(issued(bench), 4);
        assert_int_equal(bench->issue.slots.waiting, 0);
        stop(bench);
    }
}

static void test_a_full_queue_of_the_pipelines_kind_stops_the_warp(void **state) {
    (void)state;
    Bench *bench = start("scheduler.count=1 units.sp.issue_slots=1 units.ldst.issue_slots=1",
                         (StageInst[]){add, load}, 2);
    keep(bench, 2);
    step(bench);
    step(bench); /* warp 0 wants the load/store unit, but its register is not ready */
    assert_int_equal(issued(bench), 1);
    assert_int_equal(bench->issue.outcome[0], SM_PIPELINE_OTHER);
    stop(bench);
    bench = start("scheduler.count=1 units.ldst.issue_slots=1", (StageInst[]){load, load}, 2);
    keep(bench, 2);
    step(bench);
    step(bench);
    assert_int_equal(issued(bench), 1);
    assert_int_equal(bench->issue.outcome[0], SM_PIPELINE_LSU);
    /* it waits for others' data while the L1D refuses, otherwise for its turn */
    for (int refuses = 0; refuses < 2; refuses++) {
        issue_count_cycles(&bench->issue, &bench->stage->sm, 7, refuses);
        issue_settle(&bench->issue, &bench->stage->sm.counters, &bench->stage->sm.histograms);
        assert_int_equal(bench->stage->sm.counters.MemoryBlockCycles, refuses ? 7 : 0);
    }
    collector_step(&bench->collector, &bench->stage->sm); /* there is room, but no turn */
    issue_stall(&bench->issue, false);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 7, true);
    issue_settle(&bench->issue, &bench->stage->sm.counters, &bench->stage->sm.histograms);
    assert_int_equal(bench->stage->sm.counters.MemoryBlockCycles, 7);
    stop(bench);
}

static uint64_t warp_2(void *state, const TytoSmView *view) {
    (void)state, (void)view;
    return 4;
}

static void test_cycles_are_sorted_by_the_warps_that_the_policy_looks_at(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, dependent}, 2);
    SmContext *sm = &bench->stage->sm;
    TytoPolicy looking = *sm->policy.policy;
    looking.looks_at = warp_2;
    sm->policy.policy = &looking;
    issue_start_kernel(&bench->issue, sm);
    issue_begin_grid(&bench->issue, sm, &bench->stage->grid);
    for (int w = 0; w < WARPS; w++)
        issue_update_head(&bench->issue, sm, w);
    bench->is_stalled = true;
    step(bench);
    assert_int_equal(bench->issue.seen[0], SM_SEEN_PIPELINE);
    issue_count_cycles(&bench->issue, sm, 2, false);
    sm->view.at_barrier = 4; /* the other warps are as ready as before */
    step(bench);
    assert_int_equal(bench->issue.outcome[0], SM_PIPELINE_LSU);
    assert_int_equal(bench->issue.seen[0], SM_SEEN_IDLE);
    issue_count_cycles(&bench->issue, sm, 3, false);
    sm->view.at_barrier = 0;
    bench->is_stalled = false;
    for (int i = 0; i < WARPS; i++) {
        step(bench);
        assert_int_equal(bench->issue.seen[0], SM_SEEN_ISSUE);
    }
    step(bench);
    assert_int_equal(bench->issue.seen[0], SM_SEEN_SCOREBOARD);
    issue_count_cycles(&bench->issue, sm, 5, false);
    issue_settle(&bench->issue, &sm->counters, &sm->histograms);
    assert_int_equal(sm->counters.seen_pipeline, 2);
    assert_int_equal(sm->counters.seen_idle, 3);
    assert_int_equal(sm->counters.seen_scoreboard, 5);
    stop(bench);
}

static void test_a_policy_that_looks_at_all_sees_what_the_outcomes_say(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, dependent}, 2);
    Counters *counters = &bench->stage->sm.counters;
    for (uint64_t outcome = 0; outcome < SM_OUTCOMES; outcome++)
        bench->issue.sums.outcome[outcome] = outcome + 1;
    issue_settle(&bench->issue, counters, &bench->stage->sm.histograms);
    assert_int_equal(counters->seen_idle, counters->idle_no_warp + counters->idle_barrier +
                                              counters->idle_branch + counters->idle_fetch);
    assert_int_equal(counters->seen_scoreboard,
                     counters->scoreboard_memory + counters->scoreboard_other);
    assert_int_equal(counters->scheduler_cycles, counters->issued + counters->seen_idle +
                                                     counters->seen_scoreboard +
                                                     counters->seen_pipeline);
    stop(bench);
}

static void test_two_instructions_of_a_warp_go_where_the_issue_is_two_wide(void **state) {
    (void)state;
    const StageInst other = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .dst = {9}};
    Bench *bench = start(ONE "scheduler.issue_width=2", (StageInst[]){add, other}, 2);
    step(bench);
    assert_int_equal(issued(bench), 2);
    assert_int_equal(bench->stage->sm.view.warp[0].instructions, 2);
    assert_int_equal(bench->fetch.empty & 1, 1);
    stop(bench);
    bench = start(ONE "scheduler.issue_width=2", (StageInst[]){add, dependent}, 2);
    step(bench);
    assert_int_equal(issued(bench), 1);
    stop(bench);
}

static uint64_t no_warp(void *state, const TytoSmView *view) {
    (void)state, (void)view;
    return 0;
}

/* A policy lets no warp load. A load is then held back at every position among the instructions of
 * a pick. */
static void test_a_load_behind_another_instruction_is_held_back_too(void **state) {
    (void)state;
    StageInst apart = load;
    apart.dst[0] = 9;
    Bench *bench = start(ONE "scheduler.issue_width=2", (StageInst[]){add, apart}, 2);
    step(bench);
    assert_int_equal(issued(bench), 2);
    stop(bench);

    bench = start(ONE "scheduler.issue_width=2", (StageInst[]){add, apart}, 2);
    SmContext *sm = &bench->stage->sm;
    TytoPolicy gate = *bench->stage->policy.policy;
    gate.may_load = no_warp;
    sched_agent_free(&sm->policy);
    bench->stage->policy.policy = &gate;
    sched_agent_init(&sm->policy, &bench->stage->policy, &sm->view, NULL);
    sched_agent_start(&sm->policy, &sm->view);
    for (int cycle = 0; cycle < 8; cycle++)
        step(bench);
    assert_int_equal(issued(bench), WARPS); /* the first instruction of each warp */
    stop(bench);
}

static void test_a_scheduler_with_an_interval_picks_every_so_many_cycles(void **state) {
    (void)state;
    Bench *bench = start(ONE "scheduler.issue_interval=4", (StageInst[]){add, add}, 2);
    for (uint64_t cycle = 1; cycle <= 12; cycle++) {
        step(bench);
        assert_int_equal(issued(bench), cycle / 4);
    }
    stop(bench);
}

static void test_a_stale_buffer_is_flushed_when_the_policy_comes_to_it(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add, add}, 3);
    bench->isa[0].pc = 2; /* a taken branch */
    issue_update_head(&bench->issue, &bench->stage->sm, 0);
    assert_int_equal(bench->issue.stale, 1);
    assert_int_equal(bench->stage->sm.view.has_instruction, 0xE);
    step(bench);
    assert_int_equal(bench->issue.stale, 0);
    assert_int_equal(bench->fetch.buffer[0].count, 0);
    assert_int_equal(bench->fetch.buffer[0].fetch_pc, 2);
    assert_int_equal(issued(bench), 1); /* and the next warp in order issues in the same cycle */
    assert_int_equal(bench->stage->sm.view.warp[1].instructions, 1);
    stop(bench);
}

static void test_an_atomic_holds_its_warp_and_others_go_on(void **state) {
    (void)state;
    const StageInst atomic = {.op_class = ISA_CLASS_MEMORY,
                              .memory = ISA_MEMORY_ATOMIC,
                              .space = PTX_SPACE_GLOBAL,
                              .bytes = 4};
    const StageInst other = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .dst = {9}};
    Bench *bench = start(ONE, (StageInst[]){atomic, other}, 2);
    keep(bench, 1);
    step(bench);
    uint32_t accesses = bench->stage->sm.warps.warp[0].atomics;
    assert_int_equal(accesses, 4); /* 128 bytes in segments of 32 */
    step(bench);
    assert_int_equal(issued(bench), 1);
    assert_int_equal(bench->issue.outcome[0], SM_SCOREBOARD_MEMORY);
    complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_LDST]));
    for (uint32_t i = 0; i < accesses; i++) {
        step(bench);
        assert_int_equal(issued(bench), 1);
        tell(bench, SM_EVENT_ATOMIC_DONE, 0);
    }
    step(bench);
    assert_int_equal(issued(bench), 2);
    stop(bench);
}

static void test_cycles_count_with_the_outcome_that_stood_then(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    const Counters *c = &bench->stage->sm.counters;
    step(bench);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 2, false);
    bench->is_stalled = true;
    step(bench);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 3, false);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 4, false);
    issue_settle(&bench->issue, &bench->stage->sm.counters, &bench->stage->sm.histograms);
    assert_int_equal(c->issued, 2);
    assert_int_equal(c->pipeline_lsu, 7);
    assert_int_equal(c->no_issue_cycles, 7);
    stop(bench);
}

static void test_nothing_issues_behind_a_stalled_load_store_unit(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    bench->is_stalled = true;
    step(bench);
    assert_int_equal(issued(bench), 0);
    assert_int_equal(bench->issue.outcome[0], SM_PIPELINE_LSU);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 5, false);
    issue_count_cycles(&bench->issue, &bench->stage->sm, 3, true); /* the L1D refuses */
    issue_settle(&bench->issue, &bench->stage->sm.counters, &bench->stage->sm.histograms);
    assert_int_equal(bench->stage->sm.counters.MemoryBlockCycles, 3);
    bench->is_stalled = false;
    step(bench);
    assert_int_equal(issued(bench), 1);
    stop(bench);
}

static void test_a_load_holds_its_warp_where_loads_block(void **state) {
    (void)state;
    const StageInst other = {.op_class = ISA_CLASS_INT_ADD, .dst_count = 1, .dst = {9}};
    for (int blocks = 0; blocks < 2; blocks++) {
        Bench *bench = start(blocks ? ONE "lsu.loads_block=yes" : ONE "lsu.loads_block=no",
                             (StageInst[]){load, other}, 2);
        keep(bench, 1);
        step(bench);
        step(bench);
        assert_int_equal(issued(bench), blocks ? 1 : 2);
        complete(bench, sm_few_peek(&bench->collector.in[SM_UNIT_LDST]));
        step(bench);
        assert_int_equal(issued(bench), 2);
        stop(bench);
    }
}

static void test_a_full_pool_of_instructions_stops_all(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    SmInsts *insts = &bench->stage->sm.insts;
    uint16_t fresh = insts->fresh_inst;
    insts->fresh_inst = SM_INSTS;
    step(bench);
    assert_int_equal(issued(bench), 0);
    assert_int_equal(bench->issue.outcome[0], SM_PIPELINE_OTHER);
    insts->fresh_inst = fresh;
    step(bench);
    assert_int_equal(issued(bench), 1);
    stop(bench);
}

static void test_idle_cycles_have_their_causes(void **state) {
    (void)state;
    Bench *bench = start(ONE, (StageInst[]){add, add}, 2);
    SmContext *sm = &bench->stage->sm;
    keep(bench, 1);
    bench->fetch.buffer[0].count = 0;
    issue_update_head(&bench->issue, sm, 0);
    step(bench);
    assert_int_equal(bench->issue.outcome[0], SM_IDLE_FETCH);
    bench->fetch.redirected = 1;
    issue_wake(&bench->issue);
    step(bench);
    assert_int_equal(bench->issue.outcome[0], SM_IDLE_BRANCH);
    bench->fetch.redirected = 0;
    sm->view.at_barrier = 1;
    issue_wake(&bench->issue);
    step(bench);
    assert_int_equal(bench->issue.outcome[0], SM_IDLE_BARRIER);
    sm->view.resident = 0;
    issue_wake(&bench->issue);
    step(bench);
    assert_int_equal(bench->issue.outcome[0], SM_IDLE_NO_WARP);
    issue_count_cycles(&bench->issue, sm, 3, false);
    issue_settle(&bench->issue, &sm->counters, &sm->histograms);
    assert_int_equal(sm->counters.NoWarpCycles, 3);
    assert_int_equal(sm->counters.idle_no_warp, 3);
    stop(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_a_scheduler_issues_one_instruction_a_cycle_of_the_warp_that_is_picked),
        cmocka_unit_test(test_a_warps_progress_is_of_its_active_lanes_whatever_their_guards),
        cmocka_unit_test(test_two_schedulers_have_warps_of_their_own),
        cmocka_unit_test(test_a_register_is_waited_for_until_the_result_is_written),
        cmocka_unit_test(test_a_wait_for_memory_is_told_from_other_waits),
        cmocka_unit_test(test_the_view_tells_what_holds_a_warp),
        cmocka_unit_test(test_a_wait_for_memory_goes_through_instructions_without_a_slot),
        cmocka_unit_test(test_no_instruction_without_a_slot_waits_for_its_own_result),
        cmocka_unit_test(test_a_full_queue_of_the_pipelines_kind_stops_the_warp),
        cmocka_unit_test(test_cycles_are_sorted_by_the_warps_that_the_policy_looks_at),
        cmocka_unit_test(test_a_policy_that_looks_at_all_sees_what_the_outcomes_say),
        cmocka_unit_test(test_two_instructions_of_a_warp_go_where_the_issue_is_two_wide),
        cmocka_unit_test(test_a_load_behind_another_instruction_is_held_back_too),
        cmocka_unit_test(test_a_scheduler_with_an_interval_picks_every_so_many_cycles),
        cmocka_unit_test(test_a_stale_buffer_is_flushed_when_the_policy_comes_to_it),
        cmocka_unit_test(test_an_atomic_holds_its_warp_and_others_go_on),
        cmocka_unit_test(test_cycles_count_with_the_outcome_that_stood_then),
        cmocka_unit_test(test_nothing_issues_behind_a_stalled_load_store_unit),
        cmocka_unit_test(test_a_load_holds_its_warp_where_loads_block),
        cmocka_unit_test(test_a_full_pool_of_instructions_stops_all),
        cmocka_unit_test(test_idle_cycles_have_their_causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
