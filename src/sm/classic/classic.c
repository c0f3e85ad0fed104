/* The classic core: the order of its stages in a cycle, the handling of their events, and sleep
 * (see the header). */
#include "sm/classic/classic.h"

#include "sm/classic/issue.h"
#include "sm/classic/stalls.h"
#include "sm/classic/subcore.h"
#include "sm/parts.h"

/* The records of all stages. */
typedef struct Classic {
    alignas(SM_HOST_LINE) SmIssue issue;
    alignas(SM_HOST_LINE) SmSubcores cores;
    alignas(SM_HOST_LINE) SmFetch fetch;
    bool is_noted; /* issues are noted: for a profile, a linear pipeline or other threads */
} Classic;

static void *build(Sm *sm) {
    SmContext *context = &sm->context;
    Classic *core = arena_alloc_aligned(context->arena, sizeof *core, SM_HOST_LINE);
    fetch_init(&core->fetch, context, &sm->port);
    subcores_init(&core->cores, context->config, context->arena);
    issue_init(&core->issue, context, &core->fetch, &core->cores.collectors);
    core->is_noted = context->env.is_profiled || sm->lsu.has_row || context->env.order;
    return core;
}

static void destroy(Sm *sm) {
    Classic *core = sm->record;
    issue_free(&core->issue);
}

/* ---- Grids and warps ---- */

static void start(Sm *sm) {
    Classic *core = sm->record;
    fetch_start_kernel(&core->fetch);
    issue_start_kernel(&core->issue, &sm->context);
}

static void begin_grid(Sm *sm, SmGrid *grid) {
    Classic *core = sm->record;
    issue_begin_grid(&core->issue, &sm->context, grid);
}

static void end_grid(Sm *sm) {
    Classic *core = sm->record;
    issue_end_grid(&core->issue, &sm->context);
}

static void start_warp(Sm *sm, int warp) {
    Classic *core = sm->record;
    issue_start_warp(&core->issue, &sm->context, warp, sm->context.warps.warp[warp].handle->pc);
}

static void wake(Sm *sm) {
    Classic *core = sm->record;
    issue_wake(&core->issue);
}

static void line_arrived(Sm *sm, const MemRequest *line) {
    Classic *core = sm->record;
    fetch_line_arrived(&core->fetch, line);
}

/* ---- Accounting ---- */

__attribute__((always_inline)) static inline void count(Sm *sm, Classic *core, uint64_t cycles) {
    issue_count_cycles(&core->issue, &sm->context, cycles,
                       l1d_is_refusing(&sm->l1d) | sm->lsu.is_refused);
}

static void count_cycles(Sm *sm, uint64_t cycles) { count(sm, sm->record, cycles); }

static void settle(Sm *sm) {
    Classic *core = sm->record;
    issue_settle(&core->issue, &sm->context.counters, &sm->context.histograms);
}

static uint64_t memory_cycles(const Sm *sm) {
    const Classic *core = sm->record;
    return core->issue.sums.memory_block;
}

static SmStallReasons stall_reasons(const Sm *sm) {
    const Classic *core = sm->record;
    return issue_stall_reasons(&core->issue, &sm->context, false);
}

/* ---- Sleep ---- */

/* Decides when the SM must be stepped again. `is_idle`: only the load/store unit may have work. */
static inline void plan_next_step(Sm *sm, const Classic *core, bool is_idle) {
    SmContext *context = &sm->context;
    uint64_t next = context->cycle + 1;
    if (is_idle && !lsu_has_work(&sm->lsu, context, &sm->l1d, &sm->port) &&
        !context->env.never_sleeps) {
        uint64_t event = sm_next_event(sm), result = subcores_next_result(&core->cores);
        if (result < event) event = result;
        if (event > next) next = event;
    }
    *context->env.wake = next;
}

/* Whether nothing but the load/store unit can have work. `fetches`: the front end had work in this
 * cycle; if not, it has none yet. */
static inline bool are_others_idle(const Sm *sm, const Classic *core, bool fetches) {
    const SmContext *context = &sm->context;
    return !issue_has_work(&core->issue, context) && !sm_retirable(sm) &&
           !subcores_have_work(&core->cores, &sm->lsu) &&
           !(fetches && fetch_has_work(&core->fetch, context, &sm->port));
}

/* Whether these other stages can also be skipped until something changes for them. */
static inline bool can_be_quiet(const Sm *sm, const Classic *core) {
    const SmContext *context = &sm->context;
    return issue_may_rest(&core->issue, context) && !context->warps.phase_waits &&
           !context->fault && !context_is_profiled(context) && !context->env.never_sleeps;
}

/* Whether the load/store unit's step in this cycle has changed nothing for the other stages. */
static inline bool stays_quiet(const Sm *sm, const Classic *core) {
    const SmContext *context = &sm->context;
    return sm->is_quiet &&
           (!context->events.count &
            (lsu_stalls_pipeline(&sm->lsu, context) == core->issue.is_stalled)) &&
           !(lsu_is_free(&sm->lsu) && subcores_have_work(&core->cores, &sm->lsu));
}

/* ---- A cycle ---- */

/* Called after the schedulers had their turn, or had no reason to look. `has_looked`: a profile is
 * wanted, and they have looked. */
__attribute__((noinline)) static void note_issue(Sm *sm, Classic *core, bool has_looked) {
    const SmContext *context = &sm->context;
    if (sm->lsu.has_row && issue_is_turn(context) && core->issue.has_issued)
        lsu_note_issue(&sm->lsu, context->cycle);
    if (has_looked) issue_note_stall_reasons(&core->issue, &sm->context);
    sm_tell_issued(sm);
}

/* Retires those warps of `passed` that can retire. */
static void retire(Sm *sm, Classic *core, uint64_t passed) {
    uint64_t warps = passed & sm_retirable(sm);
    if (!warps) return;
    sm_retire(sm, warps);
    fetch_retire(&core->fetch, warps);
    issue_wake(&core->issue);
}

/* The stages other than the load/store unit, which has already been stepped in this cycle. */
static inline void step_others(Sm *sm, Classic *core) {
    SmContext *context = &sm->context;
    context->view.cycle = context->cycle;
    if (context->events.count) issue_hear(&core->issue, context);
    subcores_step(&core->cores, context, &sm->lsu);
    issue_stall(&core->issue, lsu_stalls_pipeline(&sm->lsu, context));
    if (__builtin_expect(context->warps.phase_waits != 0, false))
        issue_let_go(&core->issue, context, warps_end_tries(context));
    const bool is_noted = __builtin_expect(core->is_noted, false);
    const bool looks =
        is_noted && context_is_profiled(context) && issue_will_look(&core->issue, context);
    issue_step(&core->issue, context);
    if (__builtin_expect(context->policy.sees_stalls, false))
        stalls_show(&core->issue, context, &sm->l1d, &sm->port);
    if (is_noted) note_issue(sm, core, looks);
    fetch_decode(&core->fetch, context);
    const bool fetches = fetch_has_work(&core->fetch, context, &sm->port);
    if (fetches) fetch_do_step(&core->fetch, context, &sm->port);
    if (context->events.fetched) issue_hear_fetched(&core->issue, context);
    if (sm_retirable(sm)) retire(sm, core, fetches ? fetch_scanned(&core->fetch) : UINT64_MAX);
    const bool is_idle = are_others_idle(sm, core, fetches);
    sm->is_quiet = is_idle && can_be_quiet(sm, core);
    plan_next_step(sm, core, is_idle);
}

/* Accounts for skipped cycles with the outcomes of the last one. */
static inline void count_left_out(Sm *sm, Classic *core) {
    const uint64_t cycle = sm->context.cycle;
    if (cycle <= sm->cycles.settled) return;
    const uint64_t cycles = cycle - sm->cycles.settled;
    sm->cycles.settled = cycle;
    count(sm, core, cycles);
}

static void step(Sm *sm) {
    SmContext *context = &sm->context;
    Classic *core = sm->record;
    count_left_out(sm, core);
    subcores_write_back(&core->cores, context);
    lsu_step(&sm->lsu, context, &sm->l1d, &sm->port, &core->cores.writes);
    sm_step_agents(sm);
    if (stays_quiet(sm, core)) {
        sm_tell_issued(sm);
        plan_next_step(sm, core, true);
        return;
    }
    step_others(sm, core);
}

const SmCore sm_core_classic = {.name = "classic",
                                .build = build,
                                .destroy = destroy,
                                .start = start,
                                .begin_grid = begin_grid,
                                .end_grid = end_grid,
                                .start_warp = start_warp,
                                .wake = wake,
                                .line_arrived = line_arrived,
                                .step = step,
                                .count_cycles = count_cycles,
                                .settle = settle,
                                .memory_cycles = memory_cycles,
                                .stall_reasons = stall_reasons};
