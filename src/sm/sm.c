/* The SM as a whole: construction, kernels, CTAs, the order of the stages in a cycle, what becomes
 * of their events, and sleep. The only file that sees all stages. */
#include "sm/sm.h"

#include <assert.h>
#include <stdalign.h>

#include "sm/issue.h"
#include "sm/subcore.h"

/* Up to which cycle, itself not included, cycles are counted. */
typedef struct SmCycles {
    uint64_t settled;  /* with the outcomes of the schedulers, and refusals of the L1D */
    uint64_t resident; /* with the CTAs and warps that were resident */
} SmCycles;

enum { HOST_LINE = 64 /* bytes that most hosts' caches fetch at once; layout alone hangs on it */ };

/* A record for each stage, and what they have in common. In each, what a step of a quiet SM looks
 * at comes first, so that few lines of the host's cache have to be there. */
struct Sm {
    alignas(HOST_LINE) SmCycles cycles;
    bool is_quiet; /* nobody but the load/store unit has anything to do before it, a line of
                      instructions or a CTA brings it; its instructions have not failed */
    bool foresees; /* its policy tells when it changes its mind */
    bool is_noted; /* what it issues is noted: by a profile, a pipeline in a row, other threads */
    SmContext context;
    alignas(HOST_LINE) SmIssue issue;
    alignas(HOST_LINE) SmSubcores cores;
    alignas(HOST_LINE) SmLsu lsu;
    alignas(HOST_LINE) SmL1d l1d;
    alignas(HOST_LINE) SmPort port;
    alignas(HOST_LINE) SmFetch fetch;
};

static uint64_t slots_of_scheduler(const SmConfig *config, uint32_t scheduler) {
    uint64_t slots = 0;
    for (uint32_t w = scheduler; w < sm_config_warps(config); w += config->scheduler.count)
        slots |= UINT64_C(1) << w;
    return slots;
}

/* The view of an SM without a warp. `grid`: the one that begins, NULL before the first. */
static void start_view(SmContext *context, const SmGrid *grid, uint64_t cycle) {
    const SmConfig *config = context->config;
    TytoSmView *view = &context->view;
    *view = (TytoSmView){.cycle = cycle,
                         .sm = context->env.index,
                         .sms = context->env.sms,
                         .warp_count = sm_config_warps(config),
                         .cta_count = config->ctas,
                         .cta_limit = grid ? grid->cta_limit : 0,
                         .warps_per_cta = grid ? grid->source->warps : 0,
                         .schedulers = config->scheduler.count,
                         .pipeline_depth =
                             sm_op_distance(config) + config->ops[ISA_CLASS_OTHER].latency,
                         .issue_interval = config->scheduler.issue_interval,
                         .line_bytes = config->l1d.line_bytes};
    for (uint32_t s = 0; s < config->scheduler.count; s++)
        view->scheduler_warps[s] = slots_of_scheduler(config, s);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        view->warp[w].age = UINT64_MAX;
}

Sm *sm_new(const SmEnvironment *environment) {
    Arena *arena = arena_new_on(environment->pages);
    Sm *sm = arena_alloc_aligned(arena, sizeof *sm, HOST_LINE);
    SmContext *context = &sm->context;
    const SmConfig *config = environment->config;
    context->arena = arena;
    context->env = *environment;
    context->config = config;
    insts_init(&context->insts, config, arena);
    port_init(&sm->port, context);
    fetch_init(&sm->fetch, context, &sm->port);
    subcores_init(&sm->cores, config, arena);
    l1d_init(&sm->l1d, context, &sm->port);
    lsu_init(&sm->lsu, context, &sm->l1d, &sm->port);
    warps_init(&context->warps, config, arena);
    issue_init(&sm->issue, context, &sm->fetch, &sm->cores.collectors);
    if (environment->is_profiled) context->profile = sm_profile_new(SM_REQUESTS, arena);
    sm->is_noted = context->profile || sm->lsu.has_row || environment->order;
    context->grid = ARENA_ARRAY(arena, SmGrid, SM_MAX_GRIDS);
    start_view(context, NULL, 0);
    sched_agent_init(&context->policy, environment->policy, &context->view,
                     environment->policy_call);
    return sm;
}

void sm_free(Sm *sm) {
    if (!sm) return;
    issue_free(&sm->issue);
    sm_profile_free(sm->context.profile);
    sched_agent_free(&sm->context.policy);
    arena_free(sm->context.arena);
}

MemRequest *sm_request_pool(Sm *sm) { return sm->port.requests; }

void sm_report_policy(Sm *sm, const TytoReport *out) {
    sched_agent_report(&sm->context.policy, context_view(&sm->context), out);
}

/* ---- Between kernels ---- */

void sm_move_wake(Sm *sm, uint64_t *wake) {
    *wake = *sm->context.env.wake;
    sm->context.env.wake = wake;
}

void sm_carve_out(Sm *sm, uint32_t shared_bytes) {
    l1d_carve_out(&sm->l1d, sm->context.config, shared_bytes);
    sm->context.shared_bytes = shared_bytes;
}

/* The first grid begins: nothing is resident. */
static void start_stages(Sm *sm, const SmGrid *grid, uint64_t cycle) {
    SmContext *context = &sm->context;
    context->counters = (Counters){0};
    context->histograms = (Histograms){0};
    context->fault = NULL;
    context->failed = NULL;
    sm->cycles = (SmCycles){.settled = cycle, .resident = cycle};
    if (context_is_profiled(context))
        sm_profile_start(context->profile, grid->source->program->count);
    insts_reset(&context->insts);
    context->warps.taken = 0;
    context->solo_warp_instructions = context->solo_thread_instructions = 0;
    if (context->config->l1d.flush != CACHE_FLUSH_NEVER) l1d_flush(&sm->l1d, context, &sm->port);
    lsu_start_kernel(&sm->lsu);
    fetch_start_kernel(&sm->fetch);
    start_view(context, grid, cycle);
    issue_start_kernel(&sm->issue, context);
}

/* When the stages know the first grid. */
static void start_running(Sm *sm, uint64_t cycle) {
    SmContext *context = &sm->context;
    context->cycle = cycle;
    sm->is_quiet = false;
    sm->foresees = sched_agent_foresees(&context->policy);
    /* an L1D that has dirty lines to write back needs no CTA to do so */
    *context->env.wake = l1d_is_busy(&sm->l1d, &sm->port) ? cycle + 1 : UINT64_MAX;
    sched_agent_start(&context->policy, &context->view);
}

/* ---- Several grids ---- */

enum {
    CODE_STRIDE = 1 << 22 /* bytes between programs of grids that run at the same time. Ours: 16
                             programs stay within 32 bits behind any machine's code_base */
};

/* Where the program of a grid lies: where another grid has it already, or at a place of its own. */
static uint64_t code_of(const SmContext *context, const SmGrid *grid) {
    for (uint32_t rest = context->grids; rest; rest &= rest - 1) {
        const SmGrid *other = &context->grid[bits_lowest32(rest)];
        if (other->source->program == grid->source->program) return other->code;
    }
    return (uint64_t)(grid - context->grid) * CODE_STRIDE;
}

static SmGrid *only_grid(const SmContext *context) {
    return &context->grid[bits_lowest32(context->grids)];
}

/* What the SM has counted since its only grid was alone is that grid's. */
static SmGridCounts counts_alone(const SmContext *context, const SmGrid *grid) {
    SmGridCounts counts = grid->counts;
    const Counters *c = &context->counters;
    counts.warp_instructions += c->warp_instructions - context->solo_warp_instructions;
    counts.thread_instructions += c->thread_instructions - context->solo_thread_instructions;
    return counts;
}

SmGridCounts sm_grid_counts(const Sm *sm, const SmGrid *grid) {
    return sm->context.has_several ? grid->counts : counts_alone(&sm->context, grid);
}

/* Another grid begins, or one has ended. */
static void count_grids(SmContext *context, uint32_t grids) {
    const bool has_several = (grids & (grids - 1)) != 0;
    if (has_several && !context->has_several && context->grids)
        only_grid(context)->counts = counts_alone(context, only_grid(context));
    if (!has_several) {
        context->solo_warp_instructions = context->counters.warp_instructions;
        context->solo_thread_instructions = context->counters.thread_instructions;
    }
    context->has_several = has_several;
    context->grids = grids;
}

bool sm_has_room(const Sm *sm, const SmGrid *grid) {
    const SmContext *context = &sm->context;
    uint64_t registers = grid->registers, shared = grid->shared_bytes;
    for (uint32_t rest = context->grids; rest; rest &= rest - 1) {
        const SmGrid *other = &context->grid[bits_lowest32(rest)];
        registers += (uint64_t)other->resident * other->registers;
        shared += (uint64_t)other->resident * other->shared_bytes;
    }
    return sm_resident_ctas(sm) < context->config->ctas &&
           warps_find_slots(context, grid->source->warps) >= 0 &&
           registers <= context->config->registers && shared <= context->shared_bytes;
}

/* Whether no grid has a CTA left to dispatch. */
static bool are_all_out(const SmContext *context) {
    bool are_out = true;
    for (uint32_t rest = context->grids; rest; rest &= rest - 1)
        are_out &= context->grid[bits_lowest32(rest)].is_out;
    return are_out;
}

/* ---- Grids and CTAs ---- */

SmGrid *sm_begin_grid(Sm *sm, const SmGridStart *start, uint64_t cycle) {
    SmContext *context = &sm->context;
    const int slot = bits_lowest32(~context->grids);
    assert(slot < SM_MAX_GRIDS);
    SmGrid *grid = &context->grid[slot];
    *grid = (SmGrid){.ops = start->ops,
                     .infos = start->source->program->infos,
                     .regs = start->source->program->regs,
                     .source = start->source,
                     .user = start->user,
                     .cta_limit = start->ctas,
                     .registers = start->registers,
                     .shared_bytes = start->shared_bytes};
    context->listener = *start->listener;
    const bool is_first = !context->grids;
    if (is_first) start_stages(sm, grid, cycle);
    grid->code = code_of(context, grid);
    count_grids(context, context->grids | 1u << slot);
    context->view.last_cta_dispatched = false;
    issue_begin_grid(&sm->issue, context, grid);
    if (is_first) start_running(sm, cycle);
    return grid;
}

void sm_end_grid(Sm *sm, SmGrid *grid) {
    SmContext *context = &sm->context;
    grid->counts = sm_grid_counts(sm, grid);
    count_grids(context, context->grids & ~(1u << (grid - context->grid)));
    if (context->grids) issue_end_grid(&sm->issue, context);
}

void sm_launch_cta(Sm *sm, SmGrid *grid, uint64_t index, uint64_t cycle) {
    SmContext *context = &sm->context;
    sm_settle(sm, cycle + 1);
    context->cycle = context->view.cycle = cycle;
    uint64_t warps = warps_launch(context, grid, index);
    for (uint64_t rest = warps; rest; rest &= rest - 1) {
        int warp = bits_lowest64(rest);
        issue_start_warp(&sm->issue, context, warp, context->warps.warp[warp].pc);
    }
    if (context_is_profiled(context))
        sm_profile_launched(context->profile, warps, grid->source->entry, cycle + 1);
    warps_notify_launch(context, warps);
    sm->is_quiet = false;
    *context->env.wake = cycle + 1;
}

void sm_last_cta(Sm *sm, SmGrid *grid, uint64_t cycle) {
    SmContext *context = &sm->context;
    grid->is_out = true;
    if (!are_all_out(context)) return;
    sm_settle(sm, cycle + 1);
    context->cycle = cycle;
    context->view.last_cta_dispatched = true;
    sm->is_quiet = false;
    context_notify(context, &(TytoEvent){.kind = TYTO_EVENT_LAST_CTA,
                                         .warp = TYTO_NO_WARP,
                                         .owner = TYTO_NO_WARP,
                                         .cta_slot = -1});
    if (context->view.resident) *context->env.wake = cycle + 1;
}

/* Counts the cycles up to, not including, `cycle` with what is resident, which is about to change.
 */
static void count_residents(Sm *sm, uint64_t cycle) {
    const TytoSmView *view = &sm->context.view;
    Counters *c = &sm->context.counters;
    if (cycle <= sm->cycles.resident) return;
    uint64_t cycles = cycle - sm->cycles.resident;
    sm->cycles.resident = cycle;
    c->sm_cycles += cycles;
    c->cta_cycles += cycles * (uint64_t)bits_count64(view->ctas);
    c->warp_cycles += cycles * (uint64_t)bits_count64(view->resident);
}

/* Warps that have exited and have nothing under way. */
static uint64_t retirable(const SmContext *context) {
    return context->view.exited & context->warps.drained;
}

/* Retires those of `passed` that can. */
static void retire(Sm *sm, uint64_t passed) {
    SmContext *context = &sm->context;
    uint64_t warps = passed & retirable(context);
    if (!warps) return;
    if (context_is_profiled(context)) sm_profile_settle(context->profile, warps, context->cycle);
    count_residents(sm, context->cycle);
    warps_retire(context, warps);
    fetch_retire(&sm->fetch, warps);
    issue_wake(&sm->issue);
    if (!context->view.ctas && context->config->l1d.flush == CACHE_FLUSH_IDLE)
        l1d_flush(&sm->l1d, context, &sm->port);
}

uint32_t sm_resident_ctas(const Sm *sm) { return (uint32_t)bits_count64(sm->context.view.ctas); }

bool sm_is_idle(const Sm *sm) {
    return !sm->context.view.ctas && sm->port.outstanding == 0 && !l1d_is_busy(&sm->l1d, &sm->port);
}

const IsaFault *sm_fault(const Sm *sm) { return sm->is_quiet ? NULL : sm->context.fault; }

void *sm_failed_grid(const Sm *sm) { return sm->context.failed ? sm->context.failed->user : NULL; }

static inline void hear_events(Sm *sm) {
    if (sm->context.events.count) issue_hear(&sm->issue, &sm->context);
}

/* ---- Cycles ---- */

/* The next cycle in which something is known to happen to an SM that has nothing to do. */
static uint64_t next_event(Sm *sm) {
    SmContext *context = &sm->context;
    uint64_t result = subcores_next_result(&sm->cores);
    uint64_t memory = lsu_next_event(&sm->lsu, &sm->l1d);
    uint64_t next = result < memory ? result : memory;
    if (warps_next_try(&context->warps) < next) next = warps_next_try(&context->warps);
    if (sm->foresees && context->view.resident) {
        uint64_t ahead = sched_agent_next_change(&context->policy, context_view(context));
        if (ahead < next - context->cycle) next = context->cycle + ahead;
    }
    return next;
}

/* Decides when the SM must be stepped again. `is_idle`: all but the load/store unit have nothing to
 * do. */
static inline void plan_next_step(Sm *sm, bool is_idle) {
    SmContext *context = &sm->context;
    uint64_t next = context->cycle + 1;
    if (is_idle && !lsu_has_work(&sm->lsu, context, &sm->l1d, &sm->port) &&
        !context->env.never_sleeps) {
        uint64_t event = next_event(sm);
        if (event > next) next = event;
    }
    *context->env.wake = next;
}

/* Whether all but the load/store unit have nothing to do. `fetches`: there was something to do for
 * the front end in this cycle; else there is nothing yet. */
static inline bool are_others_idle(const Sm *sm, bool fetches) {
    const SmContext *context = &sm->context;
    return !issue_has_work(&sm->issue, context) && !retirable(context) &&
           !subcores_have_work(&sm->cores, &sm->lsu) &&
           !(fetches && fetch_has_work(&sm->fetch, context, &sm->port));
}

/* Whether they can be left alone, too, as long as nothing changes for them. */
static inline bool can_be_quiet(const Sm *sm) {
    const SmContext *context = &sm->context;
    return issue_may_rest(&sm->issue, context) && !context->warps.phase_waits && !context->fault &&
           !context_is_profiled(context) && !context->env.never_sleeps;
}

/* Whether what the load/store unit has done in this cycle has left everything else as it was. */
static inline bool stays_quiet(const Sm *sm) {
    const SmContext *context = &sm->context;
    return sm->is_quiet &&
           (!context->events.count &
            (lsu_stalls_pipeline(&sm->lsu, context) == sm->issue.is_stalled)) &&
           !(lsu_is_free(&sm->lsu) && subcores_have_work(&sm->cores, &sm->lsu));
}

/* Others may issue, where threads step the SMs. */
static inline void tell_issued(const SmContext *sm) {
    if (__builtin_expect(sm->env.order != NULL, false)) order_issued(sm->env.order, sm->env.index);
}

/* The schedulers have had their turn, or have had no reason to look. `has_looked`: somebody asks
 * for a profile, and they have looked. */
__attribute__((noinline)) static void note_issue(Sm *sm, bool has_looked) {
    const SmContext *context = &sm->context;
    if (sm->lsu.has_row && issue_is_turn(context) && sm->issue.has_issued)
        lsu_note_issue(&sm->lsu, context->cycle);
    if (has_looked) issue_note_standing(&sm->issue, &sm->context);
    tell_issued(context);
}

/* Accounts the cycles up to, not including, `cycle` as ones in which nothing has changed. */
__attribute__((always_inline)) static inline void count_cycles(Sm *sm, uint64_t cycle) {
    if (cycle <= sm->cycles.settled) return;
    uint64_t cycles = cycle - sm->cycles.settled;
    sm->cycles.settled = cycle;
    issue_count_cycles(&sm->issue, &sm->context, cycles,
                       l1d_is_refusing(&sm->l1d) | sm->lsu.is_refused);
}

void sm_settle(Sm *sm, uint64_t cycle) {
    Counters *c = &sm->context.counters;
    count_cycles(sm, cycle);
    l1d_settle(&sm->l1d, sm->cycles.settled);
    count_residents(sm, cycle);
    if (context_is_profiled(&sm->context))
        sm_profile_settle(sm->context.profile, sm->context.view.resident, cycle);
    issue_settle(&sm->issue, c, &sm->context.histograms);
}

const Counters *sm_counters(const Sm *sm) { return &sm->context.counters; }
uint64_t sm_memory_cycles(const Sm *sm) {
    return sm->context.counters.MemoryBlockCycles + sm->issue.sums.memory_block;
}
const Histograms *sm_histograms(const Sm *sm) { return &sm->context.histograms; }

uint32_t sm_requests_under_way(const Sm *sm) { return sm->port.outstanding; }

bool sm_offer(Sm *sm, uint64_t cycle, uint32_t handle) {
    SmContext *context = &sm->context;
    context->cycle = cycle;
    MemRequest *line;
    const bool is_taken = port_offer(&sm->port, context, cycle, handle, &line);
    if (line) {
        fetch_line_arrived(&sm->fetch, line);
        sm->is_quiet = false;
        if (context_is_profiled(context)) sm_profile_answered(context->profile, line, cycle);
        port_finish(&sm->port, context, line);
    }
    return is_taken;
}

void sm_step(Sm *sm, uint64_t cycle) {
    SmContext *context = &sm->context;
    count_cycles(sm, cycle); /* those slept through, with the outcomes of the last one */
    context->cycle = cycle;
    subcores_write_back(&sm->cores, context);
    lsu_step(&sm->lsu, context, &sm->l1d, &sm->port, &sm->cores.collectors);
    if (stays_quiet(sm)) {
        tell_issued(context);
        plan_next_step(sm, true);
        return;
    }
    context->view.cycle = cycle;
    hear_events(sm);
    subcores_step(&sm->cores, context, &sm->lsu);
    issue_stall(&sm->issue, lsu_stalls_pipeline(&sm->lsu, context));
    if (__builtin_expect(context->warps.phase_waits != 0, false))
        issue_let_go(&sm->issue, context, warps_end_tries(context));
    const bool is_noted = __builtin_expect(sm->is_noted, false);
    const bool looks =
        is_noted && context_is_profiled(context) && issue_will_look(&sm->issue, context);
    issue_step(&sm->issue, context);
    if (is_noted) note_issue(sm, looks);
    fetch_decode(&sm->fetch, context);
    const bool fetches = fetch_has_work(&sm->fetch, context, &sm->port);
    if (fetches) fetch_do_step(&sm->fetch, context, &sm->port);
    if (context->events.fetched) issue_hear_fetched(&sm->issue, context);
    if (retirable(context)) retire(sm, fetches ? fetch_scanned(&sm->fetch) : UINT64_MAX);
    const bool is_idle = are_others_idle(sm, fetches);
    sm->is_quiet = is_idle && can_be_quiet(sm);
    plan_next_step(sm, is_idle);
}

/* ---- Where warps stand ---- */

void sm_visit_standing(const Sm *sm, SmVisitStanding *visit, void *user) {
    SmStanding standing = issue_standing(&sm->issue, &sm->context, false);
    for (uint64_t rest = sm->context.view.resident; rest; rest &= rest - 1) {
        int warp = bits_lowest64(rest);
        const SmWarp *w = &sm->context.warps.warp[warp];
        visit(user, w->handle, w->pc, warp, standing_of(&standing, warp));
    }
}

uint64_t sm_changes(const Sm *sm) {
    uint64_t changes = 0;
    for (uint32_t rest = sm->context.grids; rest; rest &= rest - 1) {
        const WarpSource *source = sm->context.grid[bits_lowest32(rest)].source;
        changes += source->type->changes(source);
    }
    return changes;
}

bool sm_all_look(const Sm *sm, uint32_t rounds, bool for_ever) {
    for (uint64_t rest = sm->context.view.resident; rest; rest &= rest - 1) {
        const SmWarp *w = &sm->context.warps.warp[bits_lowest64(rest)];
        const WarpSource *source = w->grid->source;
        if (!source->type->only_looks(source, w->handle, rounds, for_ever)) return false;
    }
    return true;
}

void sm_prove_looks(Sm *sm, bool proves) {
    for (uint32_t rest = sm->context.grids; rest; rest &= rest - 1) {
        WarpSource *source = sm->context.grid[bits_lowest32(rest)].source;
        source->type->prove_looks(source, proves);
    }
    for (uint64_t rest = sm->context.view.resident; rest; rest &= rest - 1) {
        const SmWarp *w = &sm->context.warps.warp[bits_lowest64(rest)];
        w->grid->source->type->forget_looks(w->grid->source, w->handle);
    }
}

const SmProfile *sm_profile(const Sm *sm) { return sm->context.profile; }
