/* The SM as a whole, whatever its core: construction, grids, CTAs, accounting (see the header). */
#include "sm/sm.h"

#include <assert.h>

#include "sched/view.h"
#include "sm/l1d_policy.h"
#include "sm/parts.h"
#include "sm/pick.h"

static uint64_t slots_of_scheduler(const SmConfig *config, uint32_t scheduler) {
    uint64_t slots = 0;
    for (uint32_t w = scheduler; w < sm_config_warps(config); w += config->scheduler.count)
        slots |= UINT64_C(1) << w;
    return slots;
}

/* Initialises the view of an SM without warps. `grid`: the grid that begins; NULL before the
 * first. */
static void start_view(SmContext *context, const SmGrid *grid, uint64_t cycle) {
    const SmConfig *config = context->config;
    TytoSmView *view = &context->view;
    *view = (TytoSmView){SCHED_VIEW_HEAD,
                         .cycle = cycle,
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
                         .line_bytes = config->l1d.line_bytes,
                         .fill_bytes = cache_config_fill_bytes(&config->l1d),
                         .l1d_mshrs = config->l1d.mshrs,
                         .l1d_places = cache_config_sets(&config->l1d) * config->l1d.ways};
    for (uint32_t s = 0; s < config->scheduler.count; s++)
        view->scheduler_warps[s] = slots_of_scheduler(config, s);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        view->warp[w].age = UINT64_MAX;
}

Sm *sm_new(const SmEnvironment *environment) {
    Arena *arena = arena_new_on(environment->pages);
    Sm *sm = arena_alloc_aligned(arena, sizeof *sm, SM_HOST_LINE);
    SmContext *context = &sm->context;
    const SmConfig *config = environment->config;
    context->arena = arena;
    context->env = *environment;
    context->config = config;
    insts_init(&context->insts, config, arena);
    port_init(&sm->port, context);
    bulk_init(&sm->bulk, sm);
    context->bulk = &sm->bulk;
    products_init(&sm->products, sm);
    context->products = &sm->products;
    l1d_init(&sm->l1d, context, &sm->port);
    lsu_init(&sm->lsu, context, &sm->l1d, &sm->port);
    warps_init(&context->warps, config, arena);
    if (environment->is_profiled) context->profile = sm_profile_new(SM_REQUESTS, arena);
    sm->core = environment->core ? environment->core : sm_core_of(config->core);
    sm->record = sm->core->build(sm);
    context->grid = ARENA_ARRAY(arena, SmGrid, SM_MAX_GRIDS);
    start_view(context, NULL, 0);
    sched_agent_init(&context->policy, environment->policy, &context->view,
                     environment->policy_call);
    return sm;
}

void sm_free(Sm *sm) {
    if (!sm) return;
    sm->core->destroy(sm);
    bulk_free(&sm->bulk);
    products_free(&sm->products);
    sm_profile_free(sm->context.profile);
    sched_agent_free(&sm->context.policy);
    arena_free(sm->context.arena);
}

MemRequest *sm_request_pool(Sm *sm) { return sm->port.requests; }

uint32_t sm_attach(Sm *sm, const SmAgentOps *ops, void *agent) {
    sm->has_agents = true;
    return agents_add(&sm->port.agents, ops, agent);
}

void sm_report_policy(Sm *sm, const TytoReport *out) {
    l1d_policy_report(&sm->l1d, out);
    sched_agent_report(&sm->context.policy, context_view(&sm->context), out);
}

/* ---- Between kernels ---- */

void sm_move_wake(Sm *sm, uint64_t *wake) {
    *wake = *sm->context.env.wake;
    sm->context.env.wake = wake;
}

/* Shows in the view how many lines the L1D has room for now. */
static void show_l1d(Sm *sm) {
    sm->context.view.l1d_lines = cache_config_sets(&sm->context.config->l1d) * sm->l1d.ways;
}

void sm_carve_out(Sm *sm, uint32_t shared_bytes) {
    l1d_carve_out(&sm->l1d, sm->context.config, shared_bytes);
    show_l1d(sm);
    sm->context.shared_bytes = shared_bytes;
}

/* The first cycle in which the SM must be stepped for a kernel that begins at `cycle`, even without
 * a CTA: an L1D may have to write back dirty lines, and agents have their own work. */
static uint64_t first_step(const Sm *sm, uint64_t cycle) {
    const uint64_t agents = agents_next_step(&sm->port.agents);
    return l1d_is_busy(&sm->l1d, &sm->port) || agents <= cycle ? cycle + 1 : agents;
}

/* Resets the stages for the first grid: nothing is resident. */
static void start_stages(Sm *sm, const SmGrid *grid, uint64_t cycle) {
    SmContext *context = &sm->context;
    context->counters = (Counters){0};
    context->histograms = (Histograms){0};
    context->states = (WarpStates){0};
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
    start_view(context, grid, cycle);
    show_l1d(sm);
    sm->core->start(sm);
    l1d_policy_start_kernel(&sm->l1d, context);
}

/* Starts the SM after the stages know the first grid. */
static void start_running(Sm *sm, uint64_t cycle) {
    SmContext *context = &sm->context;
    context->cycle = context->told = cycle;
    sm->is_quiet = false;
    sm->foresees = sched_agent_foresees(&context->policy);
    *context->env.wake = first_step(sm, cycle);
    sched_agent_start(&context->policy, &context->view);
}

/* ---- Several grids ---- */

enum {
    CODE_STRIDE = 1 << 22 /* distance in bytes between programs of grids that run at the same time.
                             Our choice: 16 programs stay within 32 bits above any machine's
                             code_base */
};

/* The offset of a grid's program: that of another grid with the same program, or one of its own. */
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

/* The grid's counts including what the SM has counted since this grid was left alone. */
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

/* Updates the set of grids when another grid begins or one has ended. */
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
                     .rows = start->rows,
                     .infos = start->source->program->infos,
                     .regs = start->source->program->regs,
                     .source = start->source,
                     .user = start->user,
                     .cta_limit = start->ctas,
                     .registers = start->registers,
                     .shared_bytes = start->shared_bytes,
                     .waits = start->waits};
    context->listener = *start->listener;
    const bool is_first = !context->grids;
    if (is_first) start_stages(sm, grid, cycle);
    grid->code = code_of(context, grid);
    count_grids(context, context->grids | 1u << slot);
    context->view.last_cta_dispatched = false;
    if (grid->source->has_clusters) remote_attach(&sm->remote, sm);
    sm->core->begin_grid(sm, grid);
    if (is_first) start_running(sm, cycle);
    return grid;
}

void sm_end_grid(Sm *sm, SmGrid *grid) {
    SmContext *context = &sm->context;
    grid->counts = sm_grid_counts(sm, grid);
    count_grids(context, context->grids & ~(1u << (grid - context->grid)));
    if (context->grids) sm->core->end_grid(sm);
}

void sm_launch_cta(Sm *sm, SmGrid *grid, uint64_t index, uint64_t cycle) {
    SmContext *context = &sm->context;
    sm_settle(sm, cycle + 1);
    context->cycle = context->view.cycle = cycle;
    if (!context->view.ctas) pick_tell_time(context);
    uint64_t warps = warps_launch(context, grid, index);
    for (uint64_t rest = warps; rest; rest &= rest - 1)
        sm->core->start_warp(sm, bits_lowest64(rest));
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

/* ---- Changes by the CTA scheduler ---- */

/* Slots of the grid's CTAs. */
static uint64_t slots_of(const SmContext *context, const SmGrid *grid) {
    uint64_t slots = 0;
    for (uint64_t rest = context->view.ctas; rest; rest &= rest - 1) {
        const int slot = bits_lowest64(rest);
        slots |= bits_if(context->warps.ctas[slot].grid == grid, slot);
    }
    return slots;
}

/* Called around a change from outside that happens between steps, after `cycle`. */
static void begin_change(Sm *sm, uint64_t cycle) {
    sm_settle(sm, cycle + 1);
    sm->context.cycle = cycle;
}
static void end_change(Sm *sm, uint64_t cycle) {
    sm->core->wake(sm);
    sm->is_quiet = false;
    *sm->context.env.wake = cycle + 1;
}

static uint64_t warps_in(const SmContext *context, uint64_t slots) {
    uint64_t warps = 0;
    for (; slots; slots &= slots - 1)
        warps |= context->view.cta[bits_lowest64(slots)].all;
    return warps;
}

uint64_t sm_pause_ctas(Sm *sm, const SmGrid *grid, uint64_t slots, uint64_t cycle) {
    SmContext *context = &sm->context;
    const uint64_t own = slots_of(context, grid), paused = context->policy.paused;
    slots &= own;
    const uint64_t warps = (paused & ~warps_in(context, own)) | warps_in(context, slots);
    if (warps == paused) return slots;
    begin_change(sm, cycle);
    sched_agent_pause(&context->policy, warps);
    end_change(sm, cycle);
    return slots;
}

void sm_look_again(Sm *sm, uint32_t slot, uint64_t cycle) {
    SmContext *context = &sm->context;
    if (!(context->view.ctas >> slot & 1)) return;
    begin_change(sm, cycle);
    warps_look_again(context, slot);
    end_change(sm, cycle);
}

void sm_end_wait(Sm *sm, SmGrid *grid, uint64_t cycle) {
    begin_change(sm, cycle);
    warps_end_grid_waits(&sm->context, grid);
    end_change(sm, cycle);
}

bool sm_cta_progress(const Sm *sm, const SmGrid *grid, uint32_t slot, TytoCtaProgress *progress) {
    const SmContext *context = &sm->context;
    const TytoSmView *view = &context->view;
    const TytoCtaView *cta = &view->cta[slot];
    *progress = (TytoCtaProgress){.size = sizeof *progress,
                                  .warps = (uint32_t)bits_count64(cta->warps),
                                  .index = cta->index,
                                  .launched = cta->launched,
                                  .is_paused = context->policy.paused & cta->all};
    for (uint64_t rest = cta->all; rest; rest &= rest - 1) {
        const TytoWarpView *warp = &view->warp[bits_lowest64(rest)];
        progress->instructions += warp->instructions;
        progress->thread_instructions += warp->thread_instructions;
    }
    return view->ctas >> slot & 1 && context->warps.ctas[slot].grid == grid;
}

uint32_t sm_resident_ctas(const Sm *sm) { return (uint32_t)bits_count64(sm->context.view.ctas); }

bool sm_is_idle(const Sm *sm) {
    return !sm->context.view.ctas && sm->port.outstanding == 0 &&
           !l1d_is_busy(&sm->l1d, &sm->port) && agents_next_step(&sm->port.agents) == UINT64_MAX;
}

const IsaFault *sm_fault(const Sm *sm) { return sm->is_quiet ? NULL : sm->context.fault; }

void *sm_failed_grid(const Sm *sm) { return sm->context.failed ? sm->context.failed->user : NULL; }

/* ---- Cycles ---- */

void sm_settle(Sm *sm, uint64_t cycle) {
    sm_count_cycles(sm, cycle);
    l1d_settle(&sm->l1d, sm->cycles.settled);
    sm_count_residents(sm, cycle);
    if (context_is_profiled(&sm->context))
        sm_profile_settle(sm->context.profile, sm->context.view.resident, cycle);
    sm->core->settle(sm);
}

const Counters *sm_counters(const Sm *sm) { return &sm->context.counters; }
uint64_t sm_memory_cycles(const Sm *sm) {
    return sm->context.counters.MemoryBlockCycles + sm->core->memory_cycles(sm);
}
const Histograms *sm_histograms(const Sm *sm) { return &sm->context.histograms; }
const WarpStates *sm_warp_states(const Sm *sm) { return &sm->context.states; }

uint32_t sm_requests_under_way(const Sm *sm) { return sm->port.outstanding; }

bool sm_offer(Sm *sm, uint64_t cycle, uint32_t handle) {
    SmContext *context = &sm->context;
    context->cycle = cycle;
    MemRequest *done;
    const bool is_taken = port_offer(&sm->port, context, cycle, handle, &done);
    if (done) {
        if (done->client < MEM_CLIENT_AGENT) {
            sm->core->line_arrived(sm, done);
        } else {
            agents_answered(&sm->port.agents, context, done);
        }
        sm->is_quiet = false;
        if (context_is_profiled(context)) sm_profile_answered(context->profile, done, cycle);
        port_finish(&sm->port, context, done);
    }
    return is_taken;
}

uint32_t sm_copies(const Sm *sm, uint32_t handle, SmDelivery copies[SM_MOST_COPIES]) {
    return bulk_copies(&sm->bulk, &sm->port.requests[mem_handle_index(handle)], copies);
}

void sm_delivered(Sm *sm, uint64_t cycle, uint32_t delivery) {
    bulk_delivered(&sm->bulk, delivery);
    sm->is_quiet = false;
    if (*sm->context.env.wake > cycle) *sm->context.env.wake = cycle;
}

bool sm_offer_request(Sm *sm, uint64_t cycle, MemRequest *request) {
    SmContext *context = &sm->context;
    context->cycle = cycle;
    if (!agents_serve(&sm->port.agents, context, request)) return false;
    if (*context->env.wake > cycle) *context->env.wake = cycle;
    return true;
}

void sm_step(Sm *sm, uint64_t cycle) {
    sm->context.cycle = cycle;
    sm->core->step(sm);
}

/* ---- Stall reasons and deadlock detection ---- */

void sm_visit_stall_reasons(const Sm *sm, SmVisitStallReasons *visit, void *user) {
    SmStallReasons reasons = sm->core->stall_reasons(sm);
    for (uint64_t rest = sm->context.view.resident; rest; rest &= rest - 1) {
        int warp = bits_lowest64(rest);
        const SmWarp *w = &sm->context.warps.warp[warp];
        visit(user, w->handle, w->handle->pc, warp, stall_reason_of(&reasons, warp));
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

/* Whether the warp has issued since the last call with SM_POLLS_NOW. */
static bool has_issued(Sm *sm, int warp, SmPolls polls) {
    const uint64_t issued = sm->context.view.warp[warp].instructions;
    uint64_t *then = &sm->context.warps.warp[warp].issued_then;
    const bool has = issued != *then;
    if (polls == SM_POLLS_NOW) *then = issued;
    return has;
}

bool sm_all_poll(Sm *sm, uint32_t rounds, SmPolls asked, bool *has_starved) {
    bool all = true;
    for (uint64_t rest = sm->context.view.resident; rest; rest &= rest - 1) {
        const int warp = bits_lowest64(rest);
        const SmWarp *w = &sm->context.warps.warp[warp];
        const WarpSource *source = w->grid->source;
        const bool is_starved = !has_issued(sm, warp, asked) && !w->in_flight;
        const bool polls =
            (sm->context.warps.register_waits | sm->context.warps.grid_waits) >> warp & 1 ||
            source->type->only_polls(source, w->handle, rounds, asked == SM_POLLS_FOR_EVER);
        *has_starved |= is_starved && !polls;
        all = all && (polls || is_starved);
    }
    return all;
}

void sm_prove_polls(Sm *sm, bool proves) {
    for (uint32_t rest = sm->context.grids; rest; rest &= rest - 1) {
        WarpSource *source = sm->context.grid[bits_lowest32(rest)].source;
        source->type->prove_polls(source, proves);
    }
    for (uint64_t rest = sm->context.view.resident; rest; rest &= rest - 1) {
        const SmWarp *w = &sm->context.warps.warp[bits_lowest64(rest)];
        w->grid->source->type->reset_polls(w->grid->source, w->handle);
    }
}

const SmProfile *sm_profile(const Sm *sm) { return sm->context.profile; }
