/* Construction of the machine, and its run loop: it steps cycle after cycle, skips quiet cycles,
 * and ends runs. */
#include "engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/host.h"
#include "engine/engine_internal.h"
#include "engine/gpc.h"

enum {
    POLL_CYCLES = 1024,     /* SM cycles between checks for interrupts and limits */
    PROGRESS_CYCLES = 65536 /* SM cycles between checks whether anything moves */
};

/* ---- Construction ---- */

/* Where the sets of a unit's cache are counted; the counts of further units of its kind follow.
 * NULL: not counted. */
static SetCounts *sets_wanted(const Engine *engine, UnitKind kind, uint32_t unit) {
    const Units *units = engine->watch ? engine->watch->units : NULL;
    return units ? sets_of(&units->sets[kind], unit) : NULL;
}

static Sm *build_sm(Engine *engine, const SchedPolicy *policy, uint32_t index) {
    const MachineConfig *machine = engine->machine;
    SmEnvironment environment = {.pages = engine->pages,
                                 .config = &machine->sm,
                                 .policy = policy,
                                 .policy_call = &engine->calls[index].call,
                                 .map = &engine->map,
                                 .requests = engine->requests,
                                 .replies = engine->replies,
                                 .first_slice_node = machine_slice_node(machine, 0),
                                 .half_slices = machine_half_slices(machine),
                                 .half = index >= machine->sms / 2,
                                 .header_bytes = machine->network.header_bytes,
                                 .l2_sector_bytes = machine->partition.l2_sector_bytes,
                                 .index = index,
                                 .node = mem_port(index, engine->ports),
                                 .sms = machine->sms,
                                 .wake = engine->wake[index],
                                 .order = engine->order.paces ? &engine->order : NULL,
                                 .l1d_sets = sets_wanted(engine, UNIT_sm, index),
                                 .l2_takes_hints = machine->partition.takes_hints,
                                 .is_l1_perfect = machine->oracle.perfect_l1,
                                 .is_profiled = engine->watch && engine->watch->profile,
                                 .never_sleeps = engine->never_sleeps};
    return sm_new(&environment);
}

/* The source of an SM's instructions. */
/* The channels of the machine, with the prefetcher that the policy asks for. */
static DramConfig dram_under(const MachineConfig *machine, const SchedPolicy *policy) {
    DramConfig dram = machine->dram;
    sched_policy_prefetch(policy, &dram.prefetch);
    return dram;
}

bool engine_check(const MachineConfig *machine, const SchedPolicy *policy, Diag *diag) {
    DramConfig dram = dram_under(machine, policy);
    AddressMap map = machine_address_map(machine);
    partition_set_prefetch(&machine->partition, &map, &dram);
    return dram_config_check(&dram, diag);
}

/* The group (GPC) of each SM, by which coalescers merge reads; NULL: all SMs are one group. */
static uint8_t *group_sms(const MachineConfig *machine) {
    if (!machine->gpcs || machine->partition.coalescer.group == COALESCER_GROUP_ALL) return NULL;
    uint8_t *groups = base_calloc(machine->sms, sizeof *groups);
    for (uint32_t sm = 0; sm < machine->sms; sm++)
        groups[sm] = (uint8_t)gpc_of(sm, machine->gpcs);
    return groups;
}

static Partition *build_partition(Engine *engine, const SchedPolicy *policy, uint32_t channel) {
    const MachineConfig *machine = engine->machine;
    DramConfig dram = dram_under(machine, policy);
    PartitionEnvironment environment = {
        .pages = engine->pages,
        .config = &machine->partition,
        .dram = &dram,
        .bus = engine->buses ? &engine->buses[channel / 2] : NULL,
        .map = &engine->map,
        .requests = engine->requests,
        .replies = engine->replies,
        .pools = engine->pools,
        .channel = channel,
        .first_node = machine_slice_node(machine, 0),
        .header_bytes = machine->network.header_bytes,
        .reply_header_bytes = machine_reply_header(machine),
        .sm_groups = engine->sm_groups,
        .slice_bits = machine_slice_bits(machine),
        .l2_sets = sets_wanted(engine, UNIT_slice, channel * machine->partition.slices),
        .is_l2_perfect = machine->oracle.perfect_l2,
        .counts_row_sharing = true,
        .never_sleeps = engine->never_sleeps};
    return partition_new(&environment);
}

Engine *engine_new(const GpuOptions *options, SchedCallPlace *calls) {
    const MachineConfig *machine = options->machine;
    Engine *engine = base_alloc_lines(sizeof *engine);
    engine->options = options;
    engine->watch = options->watch;
    engine->machine = machine;
    engine->pages = pages_new();
    engine->calls = calls;
    engine->never_sleeps = options->never_sleeps;
    engine->pool_every = options->pool_every;
    engine->map = machine_address_map(machine);
    engine->sm_groups = group_sms(machine);
    const NocConfig *noc = &machine->network.noc;
    engine->networks = base_alloc_lines(2 * sizeof(Counters));
    engine->requests =
        noc_new(noc, counters_network(&engine->networks[0], COUNTER_request_packets_sent));
    engine->replies =
        noc_new(noc, counters_network(&engine->networks[1], COUNTER_reply_packets_sent));
    engine->noc.khz = machine->clock.noc_khz;
    engine->l2.khz = machine->clock.l2_khz;
    engine->dram.khz = machine->clock.dram_khz;
    engine->has_agents = options->attach != NULL;
    engine->samples = options->cta_scheduler != NULL;
    engine->can_go_ahead = memory_side_can_go_ahead(engine);
    cycle_open_ports(engine);
    cycle_share_work(engine, options->threads);
    ThreadMode modes[THREAD_MODES];
    thread_tuner_init(&engine->tuner, host_wall_seconds, modes, cycle_modes(engine, modes));
    engine->sms = base_calloc(machine->sms, sizeof(Sm *));
    engine->ctas = base_calloc(machine->sms, sizeof(IsaCta *));
    engine->pools.pools = base_calloc(machine->sms, sizeof(MemRequest *));
    if (engine->watch && engine->watch->profile)
        engine->pools.outcomes = base_calloc(machine->sms, sizeof(MemOutcome *));
    for (uint32_t i = 0; i < machine->sms; i++) {
        engine->sms[i] = build_sm(engine, options->scheduler, i);
        if (options->attach) options->attach(options->agents, engine->sms[i], i);
        engine->ctas[i] = pages_take(engine->pages, machine->sm.ctas * sizeof(IsaCta));
        engine->pools.pools[i] = sm_request_pool(engine->sms[i]);
        if (engine->pools.outcomes)
            engine->pools.outcomes[i] = sm_profile(engine->sms[i])->outcomes;
    }
    engine->partitions = base_calloc(machine->partitions, sizeof(Partition *));
    if (machine->dram.pseudo_channels > 1)
        engine->buses = base_calloc((machine->partitions + 1) / 2, sizeof(DramBus));
    for (uint32_t i = 0; i < machine->partitions; i++)
        engine->partitions[i] = build_partition(engine, options->scheduler, i);
    partition_join_halves(engine->partitions, machine->partitions);
    residents_init(engine);
    return engine;
}

void engine_free(Engine *engine) {
    if (!engine) return;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_free(engine->sms[i]);
    for (uint32_t i = 0; i < engine->machine->partitions; i++)
        partition_free(engine->partitions[i]);
    cycle_free(engine);
    noc_free(engine->requests);
    noc_free(engine->replies);
    residents_free(engine);
    free(engine->sms);
    free(engine->ctas);
    free(engine->partitions);
    free(engine->buses);
    free(engine->sm_groups);
    free(engine->networks);
    free(engine->pools.pools);
    free(engine->pools.outcomes);
    pages_free(engine->pages);
    free(engine);
}

uint64_t engine_cycle(const Engine *engine) { return engine->cycle; }

bool engine_is_own(const Engine *engine, uint32_t sm) {
    const SmOrder *order = &engine->order;
    return !order->is_kept ||
           pthread_equal(engine->parts[sm % order->threads].host, pthread_self());
}

void engine_host_wrote(Engine *engine, uint64_t address, uint64_t bytes) {
    partition_fill_from_host(engine->partitions, address, bytes);
}

void engine_forget_persisting(Engine *engine) {
    for (uint32_t p = 0; p < engine->machine->partitions; p++)
        partition_forget_persisting(engine->partitions[p]);
}

/* ---- Jumping over cycles in which nothing can happen ---- */

/* SM cycles that can pass before the cycle in which the domain makes tick number `tick`. */
static uint64_t cycles_before(const Domain *domain, uint64_t tick, uint64_t sm_khz) {
    if (tick <= domain->ticks + 1) return 0;
    uint64_t ticks = tick - domain->ticks;
    if (ticks >= UINT64_MAX / sm_khz) return UINT64_MAX;
    return (ticks * sm_khz - domain->phase + domain->khz - 1) / domain->khz - 1;
}

/* Whether an SM is awake, or must still take a request or a reply that has arrived. */
static bool is_an_sm_busy(const Engine *engine) {
    const uint64_t *ready = noc_ready_mask(engine->replies);
    for (uint32_t word = 0; word < bits_words(engine->machine->sms); word++)
        if (engine->awake[word]) return true;
    for (uint32_t word = 0; word < bits_words(engine->ports); word++)
        if (ready[word] | engine->holding[word] | engine->delivering[word] |
            cycle_askers(engine, word))
            return true;
    return false;
}

/* SM cycles after the current one in which nothing changes anywhere. */
static uint64_t quiet_cycles(const Engine *engine) {
    uint64_t now = engine->cycle, sm_khz = engine->machine->clock.sm_khz;
    uint64_t quiet = engine->samples ? residents_quiet(engine) : UINT64_MAX;
    if (engine->alarm <= now + 1 || !quiet || is_an_sm_busy(engine)) return 0;
    if (engine->alarm != UINT64_MAX && engine->alarm - now - 1 < quiet)
        quiet = engine->alarm - now - 1;
    uint64_t steps = noc_quiet_steps(engine->requests), other = noc_quiet_steps(engine->replies);
    if (other < steps) steps = other;
    if (steps == 0) return 0;
    if (steps != NOC_QUIET_FOREVER) {
        uint64_t cycles = cycles_before(&engine->noc, engine->noc.ticks + steps + 1, sm_khz);
        if (cycles < quiet) quiet = cycles;
    }
    for (uint32_t p = 0; p < engine->machine->partitions && quiet; p++) {
        PartitionEvents next = partition_next_event(engine->partitions[p]);
        uint64_t l2 = cycles_before(&engine->l2, next.cycle, sm_khz);
        uint64_t dram = cycles_before(&engine->dram, next.tick, sm_khz);
        if (l2 < quiet) quiet = l2;
        if (dram < quiet) quiet = dram;
    }
    return quiet;
}

static uint64_t domain_jump(Domain *domain, uint64_t cycles, uint64_t sm_khz) {
    unsigned __int128 phase = (unsigned __int128)domain->khz * cycles + domain->phase;
    uint64_t ticks = (uint64_t)(phase / sm_khz);
    domain->phase = (uint64_t)(phase % sm_khz);
    domain->ticks += ticks;
    return ticks;
}

static void jump(Engine *engine, uint64_t cycles) {
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    uint64_t steps = domain_jump(&engine->noc, cycles, sm_khz);
    domain_jump(&engine->l2, cycles, sm_khz);
    domain_jump(&engine->dram, cycles, sm_khz);
    noc_skip(engine->requests, steps);
    noc_skip(engine->replies, steps);
    engine->cycle += cycles;
}

/* ---- Progress ---- */

/* A number that grows whenever an instruction issues or a request is answered. */
static uint64_t progress_sum(const Engine *engine) {
    uint64_t sum = engine->sent;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        const Counters *c = sm_counters(engine->sms[i]);
        sum +=
            c->warp_instructions + c->reads_answered + c->writes_acknowledged + c->warps_finished;
    }
    return sum;
}

void engine_visit_stall_reasons(const Engine *engine, SmVisitStallReasons *visit, void *user) {
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_visit_stall_reasons(engine->sms[i], visit, user);
}

/* The warps of one launch among those that are stuck. */
typedef struct StandOf {
    IsaWaits waits;
    const IsaLaunch *launch;
} StandOf;

static void add_stall_reason(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                             ProfileColumn cause) {
    const IsaWarp *isa = interpreter_warp(warp);
    StandOf *of = user;
    (void)pc, (void)slot;
    if (isa->cta->launch == of->launch)
        isa_waits_add(&of->waits, isa, profile_columns[cause].sentence);
}

const SmProfile *engine_profile(const Engine *engine, uint32_t sm) {
    return sm < engine->machine->sms ? sm_profile(engine->sms[sm]) : NULL;
}

/* Adds to the text what the warps of a grid wait for: a line for each reason. */
static void explain_grid(const Engine *engine, const GpuGrid *grid, Text *why) {
    StandOf of = {.launch = &grid->launch};
    engine_visit_stall_reasons(engine, add_stall_reason, &of);
    text_add(why, "\n    kernel ");
    demangle(grid->launch.function->ptx->name, why);
    isa_say_waits(&of.waits, &grid->launch, why);
}

static void put_message(Text *why, GpuResult *result) {
    snprintf(result->message, sizeof result->message, "%s", text_string(why));
    text_free(why);
}

static void explain_grids(const Engine *engine, Text *why) {
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++)
        if (engine->places[i].grid) explain_grid(engine, engine->places[i].grid, why);
}

/* Sets the result's message: `why` and, for each grid, what its warps wait for. */
static void explain_end(const Engine *engine, Text *why, GpuResult *result) {
    explain_grids(engine, why);
    put_message(why, result);
}

/* Describes a deadlock: `what` has lasted since SM cycle `since`. The message starts with what the
 * grids may wait for, because there can be many lines about warps. */
static void explain_deadlock(const Engine *engine, const Gpu *gpu, const char *what, uint64_t since,
                             GpuResult *result) {
    Text why = {0};
    text_printf(&why, "deadlock: %s for %" PRIu64 " SM cycle%s", what, engine->cycle - since,
                text_plural(engine->cycle - since));
    result->status = GPU_FAULT;
    result->fault_code = ISA_FAULT_DEADLOCK;
    for (uint32_t i = 0; i < ENGINE_MOST_GRIDS; i++)
        if (engine->places[i].grid) grid_explain_deadlock(gpu, engine->places[i].grid, &why);
    explain_grids(engine, &why);
    put_message(&why, result);
}

/* The watchdog's limit in SM cycles. Its parameter counts cycles of the slowest clock, because one
 * step there is progress enough. */
static uint64_t watchdog_limit(const MachineConfig *machine) {
    const ClockConfig *clock = &machine->clock;
    const uint32_t others[] = {clock->noc_khz, clock->l2_khz, clock->dram_khz};
    uint32_t slowest = clock->sm_khz;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i] < slowest) slowest = others[i];
    return (uint64_t)machine->watchdog_cycles * ((clock->sm_khz + slowest - 1) / slowest);
}

static bool is_stuck(Engine *engine) {
    uint64_t limit = watchdog_limit(engine->machine);
    uint64_t sum = progress_sum(engine);
    if (sum != engine->progress_mark) {
        engine->progress_mark = sum;
        engine->last_progress = engine->cycle;
    }
    return limit && engine->cycle - engine->last_progress > limit;
}

/* Turns the comparison of warps' states from one check to the next on or off. */
static void prove_polls(Engine *engine, bool proves) {
    engine->proves_polls = proves;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_prove_polls(engine->sms[i], proves);
}

static bool all_poll(Engine *engine, SmPolls asked) {
    enum { ROUNDS = 256 }; /* per warp: it is in a polling loop */
    bool all = true;
    engine->has_starved = false;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        all = sm_all_poll(engine->sms[i], ROUNDS, asked, &engine->has_starved) && all;
    return all;
}

/* Whether warps have only polled for stores that no thread will make, for as long as the watchdog
 * waits, and will continue to do so. */
static bool is_hopeless(Engine *engine, const Gpu *gpu) {
    enum { STARVED = 8 }; /* multiple of the patience; our choice */
    uint64_t limit = watchdog_limit(engine->machine), sum = engine->sent;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sum += sm_changes(engine->sms[i]);
    if (sum != engine->change_mark) {
        engine->change_mark = sum;
        engine->last_change = engine->cycle;
        if (engine->proves_polls) prove_polls(engine, false); /* what was compared is obsolete */
    }
    uint64_t waited = engine->cycle - engine->last_change;
    if (!limit || waited <= limit) return false;
    if (residents_have_ended(engine)) return false; /* the last stores are still under way */
    if (!engine->proves_polls) {
        if (all_poll(engine, SM_POLLS_NOW)) prove_polls(engine, true);
        return false;
    }
    uint64_t patience = limit * gpu_patience(gpu);
    if (waited <= patience) return false;
    if (all_poll(engine, SM_POLLS_FOR_EVER)) return true;
    /* Loops that read a clock never repeat a state. But if a policy starves warps for this long,
     * that is proof enough. */
    return engine->has_starved && waited > patience * STARVED && all_poll(engine, SM_POLLS_STILL) &&
           engine->has_starved;
}

uint64_t engine_issued(const Engine *engine) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sum += sm_counters(engine->sms[i])->warp_instructions;
    return sum;
}

static uint64_t executed_so_far(const Engine *engine) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sum += sm_counters(engine->sms[i])->thread_instructions;
    return sum;
}

/* Publishes the progress of the launch for readers in other threads (gpu_progress). */
void engine_tell_progress(const Engine *engine, Gpu *gpu) {
    const uint64_t instructions = engine_issued(engine);
    atomic_store_explicit(&gpu->done_instructions, engine->instructions_before + instructions,
                          memory_order_relaxed);
    atomic_store_explicit(&gpu->done_ctas, engine->ctas_done, memory_order_relaxed);
    atomic_store_explicit(&gpu->begun_ctas, engine->sent, memory_order_relaxed);
}

/* Whether the run must end here for a reason outside the kernel. */
static bool must_stop(Engine *engine, Gpu *gpu, GpuResult *result) {
    uint64_t done = engine_issued(engine), limit = gpu->options.instruction_limit;
    engine_tell_progress(engine, gpu);
    if (atomic_load_explicit(&gpu->is_interrupted, memory_order_relaxed)) {
        Text why = {0};
        text_add(&why, "interrupted");
        result->status = GPU_INTERRUPTED;
        explain_end(engine, &why, result);
        return true;
    }
    if (limit && done >= limit) {
        Text why = {0};
        text_printf(&why, "the limit of %" PRIu64 " warp instruction%s is reached", limit,
                    text_plural(limit));
        result->status = GPU_FAULT;
        result->fault_code = ISA_FAULT_LIMIT;
        explain_end(engine, &why, result);
        return true;
    }
    uint64_t executed = executed_so_far(engine);
    if (engine->stop_after && executed >= engine->stop_after) {
        snprintf(result->message, sizeof result->message,
                 "stopped after %" PRIu64 " thread instruction%s (--stop-after)",
                 engine->stop_base + executed, text_plural(engine->stop_base + executed));
        result->status = GPU_STOPPED;
        return true;
    }
    return false;
}

/* Cycles in which `done` cannot reach `limit` (0: no limit) if it grows by at most `a_cycle` per
 * cycle; from 1 to POLL_CYCLES. */
static uint64_t cycles_below(uint64_t limit, uint64_t done, uint64_t a_cycle) {
    uint64_t cycles = limit > done ? (limit - done) / a_cycle : 0;
    return !limit || cycles > POLL_CYCLES ? POLL_CYCLES : cycles ? cycles : 1;
}

/* Cycles until the next check for interrupts and limits: not later than a limit can be reached. */
static uint64_t poll_after(const Engine *engine, const Gpu *gpu) {
    const SmSchedulerConfig *schedulers = &engine->machine->sm.scheduler;
    uint64_t a_cycle = (uint64_t)engine->machine->sms * schedulers->count * schedulers->issue_width;
    uint64_t cycles = cycles_below(gpu->options.instruction_limit, engine_issued(engine), a_cycle);
    uint64_t until_stop =
        cycles_below(engine->stop_after, executed_so_far(engine), a_cycle * ISA_LANES);
    return cycles < until_stop ? cycles : until_stop;
}

/* ---- The run loop ---- */

/* Runs one SM cycle of the whole machine. Returns the fault that occurred, and its grid in
 * `failed`, or NULL. */
static const IsaFault *step(Engine *engine, GpuGrid **failed) {
    const Sm *sm = cycle_run(engine);
    if (sm) {
        *failed = residents_failed(engine, sm);
        return sm_fault(sm);
    }
    if (__builtin_expect(engine->look_again_count != 0, false)) residents_look_again(engine);
    if (__builtin_expect(engine->has_triggered, false)) residents_note_trigger(engine);
    if (engine->samples) residents_sample(engine);
    if (!engine->dispatching) return NULL;
    *failed = engine->dispatching->grid;
    return residents_dispatch(engine);
}
/* Sets the next check: the first of these and of what the observers want. */
static void plan_next_look(Engine *engine) {
    const EngineLooks *looks = &engine->looks;
    const uint64_t due = watch_due(engine->watch);
    uint64_t next = looks->poll < looks->progress ? looks->poll : looks->progress;
    if (looks->turn < next) next = looks->turn;
    engine->next_look = due < next ? due : next;
}

void engine_plan_looks(Engine *engine, const Gpu *gpu) {
    engine->looks.poll = engine->cycle + poll_after(engine, gpu);
    engine->looks.progress = engine->cycle + PROGRESS_CYCLES;
    plan_next_look(engine);
}

/* Does what is due at this cycle. Returns false if the run is over; `result` has the reason. */
static bool look_up(Engine *engine, Gpu *gpu, GpuResult *result) {
    EngineLooks *looks = &engine->looks;
    if (watch_wants_policies(engine->watch, engine->cycle)) samples_report_policies(engine);
    if (engine->cycle >= watch_due(engine->watch)) samples_record(engine, gpu);
    if (engine->cycle >= looks->poll) {
        if (must_stop(engine, gpu, result)) return false;
        looks->poll = engine->cycle + poll_after(engine, gpu);
    }
    if (engine->cycle >= looks->progress) {
        looks->progress = engine->cycle + PROGRESS_CYCLES;
        if (is_stuck(engine)) {
            explain_deadlock(engine, gpu, "nothing has moved", engine->last_progress, result);
            return false;
        }
        if (is_hopeless(engine, gpu)) {
            explain_deadlock(engine, gpu,
                             engine->has_starved
                                 ? "warps only look for another thread's store or wait at "
                                   "barriers, the policy lets no other warp issue, and nothing "
                                   "has been stored"
                                 : "all warps wait at barriers or in loops that look for another "
                                   "thread's store, and nothing has been stored",
                             engine->last_change, result);
            return false;
        }
    }
    if (engine->cycle >= looks->turn) residents_take_turns(engine, gpu);
    plan_next_look(engine);
    return true;
}

/* Ends all grids together with `failed`, whose result has the reason. */
static GpuGrid *end_early(Engine *engine, Gpu *gpu, GpuGrid *failed) {
    engine_tell_progress(engine, gpu);
    residents_fail(engine, gpu, failed);
    return failed;
}

/* Ends the run after a fault in a cycle that has been stepped. */
static GpuGrid *end_with_fault(Engine *engine, Gpu *gpu, GpuGrid *failed, const IsaFault *fault) {
    split_end(engine);
    memory_side_settle(engine);
    gpu_set_fault(failed->result, fault);
    return end_early(engine, gpu, failed);
}

/* Skips quiet cycles, up to SM cycle `until`. */
static void pass_quiet(Engine *engine, uint64_t until) {
    const uint64_t room = until - engine->cycle;
    const uint64_t cycles = engine->quiet < room ? engine->quiet : room;
    jump(engine, cycles);
    engine->quiet -= cycles;
}

static bool may_be_quiet(const Engine *engine) {
    return !engine->dispatching && !engine->never_sleeps && !engine->is_ahead &&
           engine->looks.turn == UINT64_MAX;
}

/* Runs until a grid ends, and returns it; NULL if SM cycle `until` comes first. */
static GpuGrid *run_cycles(Engine *engine, Gpu *gpu, uint64_t until) {
    GpuGrid *grid;
    while (engine->cycle < until) {
        if (engine->quiet) {
            pass_quiet(engine, until);
            continue;
        }
        grid = residents_first(engine);
        if (engine->cycle >= engine->next_look && !look_up(engine, gpu, grid->result))
            return end_early(engine, gpu, grid);
        if (engine->cycle + 1 >= until && until < engine->next_look) engine->next_look = until;
        const IsaFault *fault = step(engine, &grid);
        if (fault) return end_with_fault(engine, gpu, grid, fault);
        if (engine->finishing && (grid = residents_end_one(engine, gpu))) {
            engine->cycle++;
            return grid;
        }
        engine->quiet = may_be_quiet(engine) ? quiet_cycles(engine) : 0;
        if (engine->quiet == UINT64_MAX) {
            grid = residents_first(engine);
            explain_deadlock(engine, gpu, "nothing has moved", engine->last_progress, grid->result);
            return end_early(engine, gpu, grid);
        }
        engine->cycle++;
    }
    return NULL;
}

/* ---- Grids ---- */

void engine_begin(Engine *engine, Gpu *gpu, GpuGrid *grid) {
    if (!engine->residents && !engine->has_waiting) {
        engine->ctas_done = 0;
        engine->instructions_before = 0;
    }
    grid->given = engine->cycle;
    grid->runs_alone = residents_must_run_alone(engine, gpu, grid);
    engine->has_waiting = true;
}

void engine_end_wait(Engine *engine, const GpuGrid *grid) {
    if (grid->is_on_machine) residents_end_wait(engine, grid);
    else if (grid->ops) engine->has_waiting = true;
}

GpuGrid *engine_advance(Engine *engine, Gpu *gpu, uint64_t until) {
    /* A planned turn takes place whether the run pauses or not, unless nothing is left to run. */
    const bool is_planned = engine->residents && engine->looks.turn != UINT64_MAX;
    if (engine->has_waiting && !is_planned) residents_take_turns(engine, gpu);
    if (!engine->residents) return NULL;
    plan_next_look(engine);
    return run_cycles(engine, gpu, until);
}

bool engine_is_spent(const Engine *engine) { return engine->has_failed; }
