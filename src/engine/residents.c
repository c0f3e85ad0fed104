/* The grids on the machine: whose turn it is, what begins and ends with a grid, and which grid the
 * dispatched CTAs belong to.
 *
 * CTAs of one grid are dispatched at a time: the grid with the highest priority that has CTAs left,
 * and of several the one submitted first. The next grid's turn comes when all CTAs of the grids
 * before it are dispatched; it takes the room that is left on the SMs. What requires a machine at
 * rest (flushed caches, the share of shared memory in a unified store, counters from 0) is done
 * only for the first grid. Grids that come while others run take the machine as it is. */
#include "engine/engine_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "sm/carve_out.h"

void residents_init(Engine *engine) {
    engine->places = base_calloc(ENGINE_MOST_GRIDS, sizeof *engine->places);
    engine->looks.turn = UINT64_MAX;
    engine->last_sm = engine->machine->sms - 1;
}

void residents_free(Engine *engine) {
    for (uint32_t i = 0; engine->places[0].sources && i < engine->machine->sms; i++)
        interpreter_free(engine->places[0].sources[i]);
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++) {
        dispatch_free(&engine->places[i].dispatch);
        tally_free_marks(&engine->places[i].own_marks);
        free(engine->places[i].on_sm);
        free(engine->places[i].sources);
    }
    tally_free_marks(&engine->rest_marks);
    free(engine->looks_again);
    free(engine->places);
}

/* ---- The machine's L1D ---- */

/* Lines of an SM's L1D if shared memory takes `shared_bytes` of the store that they divide. */
static uint32_t l1d_lines(const MachineConfig *machine, uint32_t shared_bytes) {
    uint32_t taken = machine->sm.l1d_own.unified_bytes ? shared_bytes : 0;
    return (machine->sm.l1d.size_bytes - taken) / machine->sm.l1d.line_bytes;
}

/* Lines of a set of the L1D, at least 1. A carve-out takes whole ways (l1d_carve_out). */
static uint32_t l1d_ways(const MachineConfig *machine, uint32_t shared_bytes) {
    uint32_t sets = l1d_lines(machine, 0) / machine->sm.l1d.ways;
    uint32_t ways = (l1d_lines(machine, shared_bytes) + sets / 2) / sets;
    return ways ? ways : 1;
}

/* Ways of a set of L2 that correspond to `bytes` bytes of the whole L2, rounded to the nearest. */
static uint32_t ways_of(const MachineConfig *machine, uint64_t bytes) {
    uint64_t ways = machine->partition.l2.ways, all = machine_l2_bytes(machine);
    return (uint32_t)((bytes * ways + all / 2) / all);
}

/* ---- Places ---- */

static EnginePlace *find_place(const Engine *engine) {
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++)
        if (!engine->places[i].grid) return &engine->places[i];
    return NULL;
}

GpuGrid *residents_first(const Engine *engine) {
    uint32_t i = 0;
    while (!engine->places[i].grid)
        i++;
    return engine->places[i].grid;
}

/* Makes a place's sources of instructions, one on each SM. The CTAs belong to the SM: a slot holds
 * one, of any grid. */
static void make_sources(const Engine *engine, EnginePlace *place) {
    const uint32_t sms = engine->machine->sms;
    place->on_sm = base_calloc(sms, sizeof(SmGrid *));
    place->sources = base_calloc(sms, sizeof(Interpreter *));
    for (uint32_t i = 0; i < sms; i++) {
        place->sources[i] = pages_take(engine->pages, sizeof(Interpreter));
        interpreter_init(place->sources[i], engine->ctas[i], engine->machine->sm.ctas);
    }
}

/* Makes the dispatcher of a place, when a grid first comes to it. */
static void make_dispatcher(Engine *engine, EnginePlace *place) {
    const MachineConfig *machine = engine->machine;
    if (place->dispatch.config) return;
    const TytoGridView sizes = {.sms = machine->sms,
                                .l1d_lines = l1d_lines(machine, 0),
                                .l1d_ways = l1d_ways(machine, 0),
                                .l1d_mshrs = sm_config_l1d_mshrs(&machine->sm),
                                .cta_slots = machine->sm.ctas,
                                .l1d_line_bytes = machine->sm.l1d.line_bytes,
                                .l1d_fill_bytes = cache_config_fill_bytes(&machine->sm.l1d)};
    dispatch_init(&place->dispatch, &machine->cta, engine->options->cta_scheduler, &sizes,
                  &engine->calls[machine->sms].call);
    place->dispatch.gpcs = machine->gpcs ? machine->gpcs : 1;
    make_sources(engine, place);
}

/* Selects the grid that is dispatched from now on. */
static void choose_dispatching(Engine *engine) {
    engine->dispatching = NULL;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++) {
        EnginePlace *place = &engine->places[i], *best = engine->dispatching;
        if (!place->grid || place->dispatch.is_over) continue;
        if (!best || place->grid->stream.priority > best->grid->stream.priority)
            engine->dispatching = place;
    }
}

/* ---- Events of SMs ---- */

/* Informs the CTA scheduler that a CTA has ended. */
static void tell_finished(EnginePlace *place, const SmCtaEnd *end) {
    Counters counters;
    uint64_t memory_cycles;
    dispatch_count(&place->dispatch, end->sm, &counters, &memory_cycles);
    dispatch_finished(&place->dispatch, end->sm, end->slot, &counters, memory_cycles, end->end);
}

static void cta_triggered(void *user, void *grid) {
    Engine *engine = user;
    GpuGrid *own = ((const EnginePlace *)grid)->grid;
    engine->has_triggered |= ++own->triggered == own->launch.ctas && own->has_dependent;
}

static void cta_finished(void *user, const SmCtaEnd *end) {
    Engine *engine = user;
    EnginePlace *place = end->grid;
    engine->ctas_done++;
    place->grid->done++;
    if (grid_has_ended_all(place->grid)) engine->finishing++;
    if (!end->has_triggered) cta_triggered(user, place);
    tell_finished(place, end);
    watch_cta(engine->watch, end);
}

static void l1d_loaded(void *user, uint32_t sm, uint64_t address) {
    Engine *engine = user;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++)
        if (engine->places[i].grid) dispatch_l1d_load(&engine->places[i].dispatch, sm, address);
}

static void l1d_recorded(void *user, const L1dRecord *record) {
    Engine *engine = user;
    watch_l1d(engine->watch, record);
}

static void look_again(void *user, SourcePlace place) {
    Engine *engine = user;
    engine->looks_again = base_grow(engine->looks_again, engine->look_again_count,
                                    &engine->look_again_capacity, sizeof *engine->looks_again);
    engine->looks_again[engine->look_again_count++] = place;
}

void residents_look_again(Engine *engine) {
    for (uint32_t i = 0; i < engine->look_again_count; i++)
        sm_look_again(engine->sms[engine->looks_again[i].sm], engine->looks_again[i].slot,
                      engine->cycle);
    engine->look_again_count = 0;
    engine->alarm = engine->cycle + 1;
}

static SmListener listen(Engine *engine) {
    bool wants_loads = dispatch_wants_loads(&engine->places[0].dispatch);
    return (SmListener){.cta_finished = cta_finished,
                        .cta_triggered = cta_triggered,
                        .l1d_load = wants_loads ? l1d_loaded : NULL,
                        .l1d_record = engine->watch && engine->watch->l1d ? l1d_recorded : NULL,
                        .look_again = look_again,
                        .user = engine};
}

/* ---- A grid begins ---- */

/* Most CTAs that an SM will hold. A small grid of clusters is not spread, because SMs that are left
 * over in their group would stay empty. */
static uint32_t limit_of(const Dispatch *dispatch, const GpuGrid *grid) {
    if (grid->launch.clusters) return grid->ctas_per_sm;
    return dispatch_limit(dispatch, grid->launch.ctas, grid->ctas_per_sm);
}

/* Starts the dispatcher of a grid. If other grids run, it continues after the SM that received the
 * last CTA. */
static void start_dispatch(const Engine *engine, EnginePlace *place) {
    const GpuGrid *grid = place->grid;
    const MachineConfig *machine = engine->machine;
    const bool is_next_to_others = engine->residents > 1;
    const bool goes_on = is_next_to_others || machine->cta.resumes_scan;
    dispatch_start(&place->dispatch,
                   &(DispatchGrid){.next = grid->next,
                                   .ctas = grid->launch.ctas,
                                   .sms = engine->sms,
                                   .clusters = grid->launch.clusters ? &grid->launch : NULL,
                                   .grid = place->on_sm,
                                   .warps = grid->launch.warps,
                                   .l1d_lines = l1d_lines(machine, engine->shared_bytes),
                                   .l1d_ways = l1d_ways(machine, engine->shared_bytes),
                                   .given = grid->given,
                                   .last = goes_on ? engine->last_sm : machine->sms - 1,
                                   .shares_sms = is_next_to_others,
                                   .marks = is_next_to_others ? place->marks->sms : NULL},
                   engine->cycle);
}

static void start_partitions(Engine *engine, const Gpu *gpu) {
    const MachineConfig *machine = engine->machine;
    for (uint32_t p = 0; p < machine->partitions; p++) {
        partition_set_aside(engine->partitions[p], ways_of(machine, gpu->options.persisting_bytes));
        if (machine->partition.l2.flush != CACHE_FLUSH_NEVER)
            partition_flush_l2(engine->partitions[p]);
    }
}

/* The source that executes a grid's instructions on an SM. */
static WarpSource *start_source(const Engine *engine, const Gpu *gpu, const EnginePlace *place,
                                uint32_t sm) {
    const SmConfig *config = &engine->machine->sm;
    const IsaLaunch *launch = &place->grid->launch;
    const IsaContext context = {.memory = gpu->memory,
                                .program = launch->program,
                                .launch = launch,
                                .print = gpu->options.print,
                                .user = gpu->options.user,
                                .sm = sm,
                                .texel_block_bytes =
                                    config->lsu.blocks_texels ? config->l1t.line_bytes : 0};
    return interpreter_start(place->sources[sm], &context, &place->grid->module->rows);
}

/* Announces a grid to the SMs. Each will hold at most `ctas` of its CTAs at once. */
static void start_sms(Engine *engine, const Gpu *gpu, EnginePlace *place, uint32_t ctas) {
    const GpuGrid *grid = place->grid;
    const SmListener listener = listen(engine);
    SmGridStart start = {.ops = grid->ops,
                         .rows = grid->module->core_rows,
                         .listener = &listener,
                         .user = place,
                         .registers = grid->registers,
                         .shared_bytes = grid->launch.taken_shared_bytes,
                         .ctas = ctas,
                         .waits = grid_awaits(grid)};
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        start.source = start_source(engine, gpu, place, i);
        place->on_sm[i] = sm_begin_grid(engine->sms[i], &start, engine->cycle);
    }
}

static void end_sms(const Engine *engine, const EnginePlace *place) {
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_end_grid(engine->sms[i], place->on_sm[i]);
}

/* Thread instructions that the machine may still execute, at least 1; 0: no limit. */
static uint64_t left_to_execute(const Gpu *gpu) {
    const uint64_t all = gpu->options.stop_after, done = gpu->timed_instructions;
    return gpu->depth ? 0 : all > done ? all - done : all ? 1 : 0;
}

/* Resets what the run loop counts from a machine at rest. */
static void start_looks(Engine *engine, const Gpu *gpu) {
    engine->rest_cycle = engine->cycle;
    engine->rest_ps = gpu->time_ps;
    engine->stop_after = left_to_execute(gpu);
    engine->stop_base = gpu->timed_instructions;
    engine->last_progress = engine->last_change = engine->cycle;
    engine->progress_mark = engine->change_mark = 0;
    engine->proves_polls = false;
    engine->sent = 0;
    thread_tuner_start(&engine->tuner);
}

static bool is_for_one_thread(Engine *engine, const GpuGrid *grid) {
    return grid->launch.check || grid->launch.dump_line || grid->launch.clusters ||
           grid->module->can_wait || !cycle_has_pool(engine);
}

/* Bytes of an SM's store that shared memory gets for a grid that has the machine for itself. */
static uint32_t shared_bytes_for(const Engine *engine, const GpuGrid *grid, uint32_t ctas) {
    return carve_out_bytes(&engine->machine->sm, grid->launch.shared_bytes, ctas,
                           grid->launch.carve_out);
}

/* Begins a grid on a machine at rest. */
static void start_at_rest(Engine *engine, Gpu *gpu, EnginePlace *place) {
    const MachineConfig *machine = engine->machine;
    const IsaLaunch *launch = &place->grid->launch;
    Dispatch *dispatch = &place->dispatch;
    engine->is_alone = is_for_one_thread(engine, place->grid);
    engine->has_agents = gpu->options.attach || place->grid->launch.clusters;
    start_looks(engine, gpu);
    place->marks = &engine->rest_marks;
    watch_start(engine->watch, launch->function->ptx->name, place->grid->stream.number,
                engine->cycle);
    dispatch->limit = limit_of(dispatch, place->grid);
    engine->shared_bytes = shared_bytes_for(engine, place->grid, dispatch->limit);
    for (uint32_t i = 0; i < machine->sms; i++)
        sm_carve_out(engine->sms[i], engine->shared_bytes);
    place->grid->given = engine->cycle;
    start_dispatch(engine, place);
    cycle_start(engine);
    start_sms(engine, gpu, place, dispatch->limit);
    tally_mark(engine, place->marks, true);
    start_partitions(engine, gpu);
    engine_plan_looks(engine, gpu);
}

/* Begins a grid next to others, with the machine as it is. */
static void start_next_to_others(Engine *engine, const Gpu *gpu, EnginePlace *place) {
    const IsaLaunch *launch = &place->grid->launch;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++)
        if (engine->places[i].grid) {
            engine->places[i].grid->has_overlapped = true;
            engine->places[i].dispatch.shares_sms = true;
        }
    place->marks = &place->own_marks;
    watch_start(engine->watch, launch->function->ptx->name, place->grid->stream.number,
                engine->cycle);
    place->dispatch.limit = limit_of(&place->dispatch, place->grid);
    tally_mark(engine, place->marks, false);
    start_dispatch(engine, place);
    start_sms(engine, gpu, place, engine->machine->sm.ctas);
}

static void start(Engine *engine, Gpu *gpu, GpuGrid *grid) {
    EnginePlace *place = find_place(engine);
    make_dispatcher(engine, place);
    place->grid = grid;
    grid->start = engine->cycle;
    grid->is_on_machine = true;
    grid_start(gpu, grid);
    engine->residents++;
    if (grid_has_ended_all(grid)) engine->finishing++; /* no CTA is left to run */
    engine->quiet = 0;
    if (engine->residents == 1) start_at_rest(engine, gpu, place);
    else start_next_to_others(engine, gpu, place);
    grid->result->start_ps =
        engine->rest_ps + engine_time_ps(engine, engine->cycle - engine->rest_cycle);
    choose_dispatching(engine);
}

/* ---- Turns ---- */

/* The first waiting grid; NULL: none waits. */
static GpuGrid *first_waiting(const Gpu *gpu) {
    GpuGrid *first = NULL;
    for (GpuGrid *grid = gpu->grids; grid; grid = grid->after)
        if (grid->state == GRID_WAITING && grid->ops && !grid_is_kept_back(grid) &&
            (!first || grid->stream.priority > first->stream.priority))
            first = grid;
    return first;
}

bool residents_must_run_alone(const Engine *engine, const Gpu *gpu, const GpuGrid *grid) {
    const IsaLaunch *launch = &grid->launch;
    return gpu->depth || launch->check || launch->dump_line || launch->is_cooperative ||
           launch->clusters || grid->module->calls_runtime || gpu->options.instruction_limit ||
           watch_is_of_one_kernel(engine->watch);
}

/* Whether the grid can join those on the machine. Shared memory keeps its share of the store that
 * it divides with the L1D, so a grid that needs a larger share waits until no grid is there. */
static bool can_join(const Engine *engine, const GpuGrid *grid) {
    const EnginePlace *place = find_place(engine);
    if (grid->runs_alone || residents_first(engine)->runs_alone || !place) return false;
    const uint32_t limit = limit_of(&engine->places[0].dispatch, grid);
    return shared_bytes_for(engine, grid, limit) <= engine->shared_bytes;
}

static bool is_turn_of(const Engine *engine, const GpuGrid *grid) {
    const EnginePlace *dispatching = engine->dispatching;
    if (!engine->residents) return true;
    if (dispatching && dispatching->grid->stream.priority >= grid->stream.priority) return false;
    return can_join(engine, grid);
}

void residents_take_turns(Engine *engine, Gpu *gpu) {
    GpuGrid *grid = engine->has_waiting ? first_waiting(gpu) : NULL;
    for (; grid && is_turn_of(engine, grid); grid = first_waiting(gpu))
        start(engine, gpu, grid);
    engine->has_waiting = grid != NULL;
    engine->looks.turn = UINT64_MAX;
}

/* ---- Dispatch ---- */

/* Plans the next grid's turn. It begins with a check, for which the units below the SMs must be in
 * the same cycle as the SMs: two cycles from now they certainly are. */
static void plan_turn(Engine *engine) {
    engine->looks.turn = engine->cycle + 2;
    if (engine->looks.turn < engine->next_look) engine->next_look = engine->looks.turn;
}

/* Called when all CTAs of a grid are dispatched, which may let dependent grids begin. */
static void pass_turn(Engine *engine, const GpuGrid *grid) {
    choose_dispatching(engine);
    engine->has_waiting |= grid->has_dependent;
    if (engine->has_waiting) plan_turn(engine);
}

void residents_note_trigger(Engine *engine) {
    engine->has_triggered = false;
    engine->has_waiting = true;
    plan_turn(engine);
}

void residents_end_wait(Engine *engine, const GpuGrid *grid) {
    const EnginePlace *place = engine->places;
    while (place->grid != grid)
        place++;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_end_wait(engine->sms[i], place->on_sm[i], engine->cycle);
    engine->alarm = engine->cycle + 1;
}

const IsaFault *residents_dispatch(Engine *engine) {
    EnginePlace *place = engine->dispatching;
    Dispatch *dispatch = &place->dispatch;
    const uint64_t next = dispatch->view.next;
    const bool is_right = dispatch_step(dispatch, engine->cycle);
    place->grid->next = dispatch->view.next;
    engine->last_sm = dispatch->last;
    engine->sent += dispatch->view.next - next;
    if (dispatch->view.next != next || dispatch->is_over)
        engine->alarm = engine->cycle + 1; /* SMs have new CTAs or know that none follow */
    if (dispatch->is_over) pass_turn(engine, place->grid);
    return is_right ? NULL : &dispatch->fault;
}

void residents_sample(Engine *engine) {
    EnginePlace *place = engine->places;
    for (uint32_t left = engine->residents; left; place++) {
        if (!place->grid) continue;
        if (dispatch_sample(&place->dispatch, engine->cycle)) engine->alarm = engine->cycle + 1;
        left--;
    }
}

uint64_t residents_quiet(const Engine *engine) {
    const EnginePlace *place = engine->places;
    uint64_t quiet = UINT64_MAX;
    for (uint32_t left = engine->residents; left; place++) {
        if (!place->grid) continue;
        const uint64_t cycles = dispatch_quiet(&place->dispatch, engine->cycle);
        if (cycles < quiet) quiet = cycles;
        left--;
    }
    return quiet;
}

/* ---- A grid ends ---- */

static bool are_sms_idle(const Engine *engine) {
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        if (!sm_is_idle(engine->sms[i])) return false;
    return true;
}

bool residents_may_end_early(const Engine *engine) {
    bool may_end = false;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS && engine->residents > 1; i++)
        may_end |= engine->places[i].grid && engine->places[i].dispatch.is_over;
    return may_end;
}

GpuGrid *residents_failed(const Engine *engine, const Sm *sm) {
    const EnginePlace *place = sm_failed_grid(sm);
    return place ? place->grid : residents_first(engine);
}

/* Replaces those counts of the whole machine that the grid has counted itself. */
static void count_alone(const Engine *engine, const EnginePlace *place, Counters *counters) {
    SmGridCounts sum = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        const SmGridCounts counts = sm_grid_counts(engine->sms[i], place->on_sm[i]);
        sum.warp_instructions += counts.warp_instructions;
        sum.thread_instructions += counts.thread_instructions;
        sum.ctas_launched += counts.ctas_launched;
        sum.ctas_finished += counts.ctas_finished;
        sum.warps_launched += counts.warps_launched;
        sum.warps_finished += counts.warps_finished;
    }
    counters->warp_instructions = sum.warp_instructions;
    counters->thread_instructions = sum.thread_instructions;
    counters->ctas_launched = sum.ctas_launched;
    counters->ctas_finished = sum.ctas_finished;
    counters->warps_launched = sum.warps_launched;
    counters->warps_finished = sum.warps_finished;
}

/* Fills in what the grid at a place has counted up to the present cycle. */
static void fill_result(Engine *engine, const EnginePlace *place) {
    const GpuGrid *grid = place->grid;
    GpuResult *result = grid->result;
    if (engine->residents == 1)
        for (uint32_t p = 0; p < engine->machine->partitions; p++)
            partition_close_rows(engine->partitions[p]);
    result->counters = tally_count(engine, place->marks, engine->cycle + 1);
    if (grid->has_overlapped) count_alone(engine, place, &result->counters);
    result->spreads = tally_spreads(engine, place->marks);
    result->histograms = tally_histograms(engine);
    result->states = tally_states(engine);
    result->cycles = result->counters.cycles;
    result->time_ps += result->counters.time_ps;
    result->warp_instructions += result->counters.warp_instructions;
    result->thread_instructions += result->counters.thread_instructions;
}

/* Called when the last grid leaves the machine: keeps what is counted and recorded from rest to
 * rest. */
static void come_to_rest(Engine *engine, const GpuResult *result) {
    const Watch *watch = engine->watch;
    tally_keep_units(engine, &engine->rest_marks);
    engine->instructions_before += engine_issued(engine);
    if (watch && watch->policies) samples_report_policies(engine);
    if (watch && watch->tracks) samples_tell_units(engine);
    watch_end(engine->watch, engine->cycle, &result->counters);
}

/* Removes a grid from the machine. */
static void leave(Engine *engine, Gpu *gpu, EnginePlace *place) {
    GpuGrid *grid = place->grid;
    fill_result(engine, place);
    engine_tell_progress(engine, gpu);
    if (engine->residents == 1) come_to_rest(engine, grid->result);
    end_sms(engine, place);
    grid->is_on_machine = false;
    place->grid = NULL;
    engine->residents--;
    grid_finish(gpu, grid);
}

GpuGrid *residents_end_one(Engine *engine, Gpu *gpu) {
    if (engine->residents == 1 && !are_sms_idle(engine)) return NULL;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++) {
        GpuGrid *grid = engine->places[i].grid;
        if (!grid || !grid_has_ended_all(grid)) continue;
        engine->finishing--;
        leave(engine, gpu, &engine->places[i]);
        return grid;
    }
    return NULL;
}

void residents_fail(Engine *engine, Gpu *gpu, GpuGrid *failed) {
    engine->has_failed = true;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++)
        if (engine->places[i].grid) fill_result(engine, &engine->places[i]);
    come_to_rest(engine, failed->result);
    grid_finish(gpu, failed);
    grid_finish_others(gpu, failed);
}
