/* The modern core: the order of its stages in a cycle, and sleep (see the header). */
#include "sm/modern/modern.h"

#include "sm/modern/issue.h"
#include "sm/modern/row.h"
#include "sm/parts.h"

typedef struct Modern {
    ModernIssue issue;
    SmBankWrites writes; /* register banks written by the load/store unit, which may return any
                            number of loads */
    uint64_t written;    /* target of `writes` */
} Modern;

static void ignore(Sm *sm) { (void)sm; }

static void *build(Sm *sm) {
    SmContext *context = &sm->context;
    Modern *core = arena_alloc_aligned(context->arena, sizeof *core, SM_HOST_LINE);
    core->writes = (SmBankWrites){.of = {&core->written}};
    modern_issue_init(&core->issue, context);
    return core;
}

/* ---- Grids and warps ---- */

static void start(Sm *sm) {
    Modern *core = sm->record;
    modern_issue_start(&core->issue, &sm->context);
}

static void begin_grid(Sm *sm, SmGrid *grid) {
    Modern *core = sm->record;
    modern_issue_begin_grid(&core->issue, &sm->context, grid);
}

static void start_warp(Sm *sm, int warp) {
    Modern *core = sm->record;
    modern_issue_start_warp(&core->issue, &sm->context, warp);
}

/* The core requests no lines (front.h). */
static void line_arrived(Sm *sm, const MemRequest *line) { (void)sm, (void)line; }

/* ---- A cycle ---- */

/* The next cycle in which the SM must be stepped. */
static uint64_t next_step(Sm *sm, const Modern *core) {
    const SmContext *context = &sm->context;
    const ModernIssue *issue = &core->issue;
    const uint64_t now = context->cycle;
    if (context->env.never_sleeps || issue->has_ready || sm_retirable(sm)) return now + 1;
    if (issue->issued && context_is_profiled(context)) return now + 1;
    if (lsu_has_work(&sm->lsu, context, &sm->l1d, &sm->port)) return now + 1;
    const uint64_t times[] = {sm_next_event(sm), wheel_cycle_after(issue->wheel.occupied, now),
                              counters_next(&issue->counters, now),
                              memory_next(&issue->memory, &sm->lsu, now)};
    uint64_t next = modern_issue_next(issue);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i] < next) next = times[i];
    return next > now ? next : now + 1;
}

/* Handles what has completed, and the events of the SM's parts. */
static void take_over(Sm *sm, Modern *core) {
    SmContext *context = &sm->context;
    ModernIssue *issue = &core->issue;
    const bool is_due = modern_issue_is_due(issue, context->cycle);
    if (is_due || context->events.count || context->warps.phase_waits) states_flush(issue, context);
    if (context->events.count) modern_issue_hear(issue, context);
    if (is_due) modern_issue_take_due(issue, context);
    const uint16_t read = memory_step(&issue->memory, context, &sm->lsu);
    if (read != SM_NONE) {
        states_flush(issue, context);
        modern_issue_read(issue, context, read);
    }
    if (context->warps.phase_waits) warps_end_tries(context);
}

static void step(Sm *sm) {
    SmContext *context = &sm->context;
    Modern *core = sm->record;
    sm_count_cycles(sm, context->cycle);
    sm->cycles.settled = context->cycle + 1;
    context->view.cycle = context->cycle;
    core->written = 0;
    lsu_step(&sm->lsu, context, &sm->l1d, &sm->port, &core->writes);
    sm_step_agents(sm);
    take_over(sm, core);
    modern_issue_step(&core->issue, context);
    if (context->policy.sees_stalls)
        modern_issue_show_stalls(&core->issue, context, &sm->l1d, &sm->port);
    if (context_is_profiled(context))
        sm_note_stall_reasons(context, modern_stall_reasons(&core->issue, context));
    sm_tell_issued(sm);
    if (sm_retirable(sm)) sm_retire(sm, sm_retirable(sm));
    states_count(&core->issue, context);
    *context->env.wake = next_step(sm, core);
}

/* ---- Accounting ---- */

static void count_cycles(Sm *sm, uint64_t cycles) {
    Modern *core = sm->record;
    modern_issue_count(&core->issue, &sm->context, cycles);
    states_count_asleep(&core->issue, &sm->context, cycles);
}

static void settle(Sm *sm) {
    Modern *core = sm->record;
    states_settle(&core->issue, &sm->context, &sm->context.states);
    issue_sums_settle(&core->issue.sums, core->issue.subcores, core->issue.looks,
                      &sm->context.counters, &sm->context.histograms);
}

static uint64_t memory_cycles(const Sm *sm) {
    const Modern *core = sm->record;
    return core->issue.sums.memory_block;
}

static SmStallReasons stall_reasons(const Sm *sm) {
    const Modern *core = sm->record;
    return modern_stall_reasons(&core->issue, &sm->context);
}

const SmCore sm_core_modern = {.name = "modern",
                               .rows = modern_rows_new,
                               .build = build,
                               .destroy = ignore,
                               .start = start,
                               .begin_grid = begin_grid,
                               .end_grid = ignore,
                               .start_warp = start_warp,
                               .wake = ignore,
                               .line_arrived = line_arrived,
                               .step = step,
                               .count_cycles = count_cycles,
                               .settle = settle,
                               .memory_cycles = memory_cycles,
                               .stall_reasons = stall_reasons};
