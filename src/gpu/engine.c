/* The machine's making, and its run loop: one cycle after another, jumps over quiet ones, and the
 * end. */
#include "gpu/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/host.h"
#include "gpu/engine_internal.h"
#include "sm/carve_out.h"

enum {
    POLL_CYCLES = 1024,     /* SM cycles between looks at interrupts and limits */
    PROGRESS_CYCLES = 65536 /* SM cycles between looks at whether anything moves */
};

/* ---- Construction ---- */

/* Where the sets of a unit's cache are counted, and those of its kind behind it; NULL: nobody asks.
 */
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
                                 .first_slice_node = machine_slice_node(machine, 0),
                                 .half_slices = machine_half_slices(machine),
                                 .half = index >= machine->sms / 2,
                                 .header_bytes = machine->network.header_bytes,
                                 .atom_bytes = machine->partition.atom_bytes,
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
        .slice_bits = machine_slice_bits(machine),
        .l2_sets = sets_wanted(engine, UNIT_slice, channel * machine->partition.slices),
        .is_l2_perfect = machine->oracle.perfect_l2,
        .counts_row_sharing = true,
        .never_sleeps = engine->never_sleeps};
    return partition_new(&environment);
}

/* Lines of an SM's L1D, where shared memory takes `shared_bytes` of a store that they divide. */
static uint32_t l1d_lines(const MachineConfig *machine, uint32_t shared_bytes) {
    uint32_t taken = machine->sm.l1d_own.unified_bytes ? shared_bytes : 0;
    return (machine->sm.l1d.size_bytes - taken) / machine->sm.l1d.line_bytes;
}

/* Lines of a set of it: a carve-out takes whole ways (l1d_carve_out). At least 1. */
static uint32_t l1d_ways(const MachineConfig *machine, uint32_t shared_bytes) {
    uint32_t sets = l1d_lines(machine, 0) / machine->sm.l1d.ways;
    uint32_t ways = (l1d_lines(machine, shared_bytes) + sets / 2) / sets;
    return ways ? ways : 1;
}

Engine *engine_new(const GpuOptions *options, SchedCallPlace *calls) {
    const MachineConfig *machine = options->machine;
    Engine *engine = base_alloc_lines(sizeof *engine);
    engine->watch = options->watch;
    engine->machine = machine;
    engine->pages = pages_new();
    engine->calls = calls;
    engine->never_sleeps = options->never_sleeps;
    engine->team_every = options->team_every;
    engine->map = machine_address_map(machine);
    const NocConfig *noc = &machine->network.noc;
    engine->networks = base_alloc_lines(2 * sizeof(Counters));
    engine->requests =
        noc_new(noc, counters_network(&engine->networks[0], COUNTER_request_packets_sent));
    engine->replies =
        noc_new(noc, counters_network(&engine->networks[1], COUNTER_reply_packets_sent));
    engine->noc.khz = machine->clock.noc_khz;
    engine->l2.khz = machine->clock.l2_khz;
    engine->dram.khz = machine->clock.dram_khz;
    engine->can_go_ahead = below_can_go_ahead(engine);
    cycle_open_ports(engine);
    cycle_share_work(engine, options->threads);
    ShareMode modes[SHARE_MODES];
    share_init(&engine->share, host_wall_seconds, modes, cycle_modes(engine, modes));
    engine->sms = base_calloc(machine->sms, sizeof(Sm *));
    engine->pools.pools = base_calloc(machine->sms, sizeof(MemRequest *));
    if (engine->watch && engine->watch->profile)
        engine->pools.outcomes = base_calloc(machine->sms, sizeof(MemOutcome *));
    for (uint32_t i = 0; i < machine->sms; i++) {
        engine->sms[i] = build_sm(engine, options->scheduler, i);
        engine->pools.pools[i] = sm_request_pool(engine->sms[i]);
        if (engine->pools.outcomes)
            engine->pools.outcomes[i] = sm_profile(engine->sms[i])->outcomes;
    }
    engine->partitions = base_calloc(machine->partitions, sizeof(Partition *));
    if (machine->dram.pseudo_channels > 1)
        engine->buses = base_calloc((machine->partitions + 1) / 2, sizeof(DramBus));
    engine->partition_marks = base_calloc(machine->partitions, sizeof(Counters));
    engine->slice_marks =
        base_calloc(machine->partitions * machine->partition.slices, sizeof(Counters));
    engine->bank_marks =
        base_calloc(machine->partitions * machine->dram.banks, sizeof(DramBankCounts));
    for (uint32_t i = 0; i < machine->partitions; i++)
        engine->partitions[i] = build_partition(engine, options->scheduler, i);
    partition_join_halves(engine->partitions, machine->partitions);
    const TytoGridView sizes = {.sms = machine->sms,
                                .l1d_lines = l1d_lines(machine, 0),
                                .l1d_ways = l1d_ways(machine, 0),
                                .l1d_mshrs = sm_config_l1d_mshrs(&machine->sm),
                                .cta_slots = machine->sm.ctas,
                                .l1d_line_bytes = machine->sm.l1d.line_bytes,
                                .l1d_fetch_bytes = cache_config_fill_bytes(&machine->sm.l1d)};
    dispatch_init(&engine->dispatch, &machine->cta, options->cta_scheduler, &sizes,
                  &calls[machine->sms].call);
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
    dispatch_free(&engine->dispatch);
    free(engine->sms);
    free(engine->partitions);
    free(engine->partition_marks);
    free(engine->buses);
    free(engine->slice_marks);
    free(engine->bank_marks);
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

/* Ways of a set of L2 that come to so many bytes of all of it, to the nearest. */
static uint32_t ways_of(const MachineConfig *machine, uint64_t bytes) {
    uint64_t ways = machine->partition.l2.ways, all = machine_l2_bytes(machine);
    return (uint32_t)((bytes * ways + all / 2) / all);
}

/* ---- Jumping over cycles in which nothing can happen ---- */

/* SM cycles that can pass before the one in which the domain makes its tick number `tick`. */
static uint64_t cycles_before(const Domain *domain, uint64_t tick, uint64_t sm_khz) {
    if (tick <= domain->ticks + 1) return 0;
    uint64_t ticks = tick - domain->ticks;
    if (ticks >= UINT64_MAX / sm_khz) return UINT64_MAX;
    return (ticks * sm_khz - domain->phase + domain->khz - 1) / domain->khz - 1;
}

/* Whether an SM is awake, or a reply has arrived that its SM has not taken yet. */
static bool is_an_sm_busy(const Engine *engine) {
    const uint64_t *ready = noc_ready_mask(engine->replies);
    for (uint32_t word = 0; word < bits_words(engine->machine->sms); word++)
        if (engine->awake[word]) return true;
    for (uint32_t word = 0; word < bits_words(engine->ports); word++)
        if (ready[word] | engine->holding[word]) return true;
    return false;
}

/* SM cycles after the current one that change nothing anywhere. */
static uint64_t quiet_cycles(const Engine *engine) {
    uint64_t now = engine->cycle, sm_khz = engine->machine->clock.sm_khz;
    uint64_t quiet = dispatch_quiet(&engine->dispatch, now);
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
    uint64_t sum = engine->dispatch.view.next;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        const Counters *c = sm_counters(engine->sms[i]);
        sum +=
            c->warp_instructions + c->reads_answered + c->writes_acknowledged + c->warps_finished;
    }
    return sum;
}

void engine_visit_standing(const Engine *engine, SmVisitStanding *visit, void *user) {
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_visit_standing(engine->sms[i], visit, user);
}

static void add_standing(void *user, const IsaWarp *warp, int slot, ProfileColumn cause) {
    (void)slot;
    isa_stand_add(user, warp, profile_columns[cause].sentence);
}

const SmProfile *engine_profile(const Engine *engine, uint32_t sm) {
    return sm < engine->machine->sms ? sm_profile(engine->sms[sm]) : NULL;
}

/* Puts a message into the result: `why` and, a line each, what all warps wait for, like things
 * together. */
static void explain_end(const Engine *engine, Text *why, GpuResult *result) {
    IsaStand stand = {.count = 0};
    engine_visit_standing(engine, add_standing, &stand);
    text_add(why, "\n    kernel ");
    demangle(engine->launch->function->ptx->name, why);
    isa_say_stand(&stand, engine->launch, why);
    snprintf(result->message, sizeof result->message, "%s", text_string(why));
    text_free(why);
}

/* `what` happened for so many SM cycles. */
static void explain_deadlock(const Engine *engine, const char *what, uint64_t since,
                             GpuResult *result) {
    Text why = {0};
    text_printf(&why, "deadlock: %s for %" PRIu64 " SM cycle%s", what, engine->cycle - since,
                text_plural(engine->cycle - since));
    result->status = GPU_FAULT;
    result->fault_code = ISA_FAULT_DEADLOCK;
    explain_end(engine, &why, result);
}

/* SM cycles in the watchdog's cycles, which are those of the slowest clock: a step there is
 * progress enough. */
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

/* From now on, or no longer, warps compare what they are at each look with what they were. */
static void prove_looks(Engine *engine, bool proves) {
    engine->proves_looks = proves;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_prove_looks(engine->sms[i], proves);
}

static bool all_look(const Engine *engine, IsaLooks *looks) {
    enum { ROUNDS = 256 }; /* of each warp: it is in such a loop */
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        if (!sm_all_look(engine->sms[i], looks, ROUNDS)) return false;
    return true;
}

/* Whether warps do nothing but look for stores that nobody makes, as long as the watchdog waits,
 * and will go on so. */
static bool is_hopeless(Engine *engine, const Gpu *gpu) {
    uint64_t limit = watchdog_limit(engine->machine), sum = engine->dispatch.view.next;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sum += sm_changes(engine->sms[i]);
    if (sum != engine->change_mark) {
        engine->change_mark = sum;
        engine->last_change = engine->cycle;
        if (engine->proves_looks) prove_looks(engine, false); /* what was compared is past */
    }
    uint64_t waited = engine->cycle - engine->last_change;
    if (!limit || waited <= limit) return false;
    if (engine->ctas_done == engine->dispatch.view.ctas)
        return false; /* the last stores are under way */
    if (engine->proves_looks)
        return waited > limit * gpu_patience(gpu) && all_look(engine, isa_looks_for_ever);
    if (all_look(engine, isa_only_looks)) prove_looks(engine, true);
    return false;
}

static uint64_t issued_so_far(const Engine *engine) {
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

/* For whoever asks how far the launch is (gpu_progress). */
static void tell_progress(const Engine *engine, Gpu *gpu, uint64_t instructions) {
    atomic_store_explicit(&gpu->done_instructions, instructions, memory_order_relaxed);
    atomic_store_explicit(&gpu->done_ctas, engine->ctas_done, memory_order_relaxed);
}

/* Whether the run must end here for a reason from outside the kernel. */
static bool must_stop(Engine *engine, Gpu *gpu, GpuResult *result) {
    uint64_t done = issued_so_far(engine), limit = gpu->options.instruction_limit;
    tell_progress(engine, gpu, done);
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
                 gpu->timed_instructions + executed,
                 text_plural(gpu->timed_instructions + executed));
        result->status = GPU_STOPPED;
        return true;
    }
    return false;
}

/* Cycles in which `done` cannot become `limit` (0: none), at so much a cycle; at most POLL_CYCLES,
 * and at least one. */
static uint64_t cycles_below(uint64_t limit, uint64_t done, uint64_t a_cycle) {
    uint64_t cycles = limit > done ? (limit - done) / a_cycle : 0;
    return !limit || cycles > POLL_CYCLES ? POLL_CYCLES : cycles ? cycles : 1;
}

/* Cycles until the next look at interrupts and limits: no later than a limit can be reached. */
static uint64_t poll_after(const Engine *engine, const Gpu *gpu) {
    const SmSchedulerConfig *schedulers = &engine->machine->sm.scheduler;
    uint64_t a_cycle = (uint64_t)engine->machine->sms * schedulers->count * schedulers->issue_width;
    uint64_t cycles = cycles_below(gpu->options.instruction_limit, issued_so_far(engine), a_cycle);
    uint64_t until_stop =
        cycles_below(engine->stop_after, executed_so_far(engine), a_cycle * ISA_LANES);
    return cycles < until_stop ? cycles : until_stop;
}

/* ---- A kernel ---- */

static void cta_finished(void *user, const SmCtaEnd *end) {
    Engine *engine = user;
    engine->ctas_done++;
    const Sm *sm = engine->sms[end->sm];
    dispatch_finished(&engine->dispatch, end->sm, end->slot, sm_counters(sm), sm_memory_cycles(sm),
                      end->end);
    watch_cta(engine->watch, end);
}

static void l1d_loaded(void *user, uint32_t sm, uint64_t address) {
    Engine *engine = user;
    dispatch_l1d_load(&engine->dispatch, sm, address);
}

static void l1d_recorded(void *user, const L1dRecord *record) {
    Engine *engine = user;
    watch_l1d(engine->watch, record);
}

static bool is_over(const Engine *engine) {
    if (engine->ctas_done < engine->dispatch.view.ctas) return false;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        if (!sm_is_idle(engine->sms[i])) return false;
    return true;
}

/* One SM cycle of the whole machine; what went wrong in it, or NULL. */
static const IsaFault *step(Engine *engine) {
    const Sm *failed = cycle_run(engine);
    if (failed) return sm_fault(failed);
    if (dispatch_sample(&engine->dispatch, engine->sms, engine->cycle))
        engine->alarm = engine->cycle + 1;
    if (engine->dispatch.is_over) return NULL;
    uint64_t next = engine->dispatch.view.next;
    bool is_right = dispatch_step(&engine->dispatch, engine->sms, engine->cycle);
    if (engine->dispatch.view.next != next || engine->dispatch.is_over)
        engine->alarm = engine->cycle + 1; /* SMs have got CTAs, or heard that there are no more */
    return is_right ? NULL : &engine->dispatch.fault;
}

/* When the run loop looks up from its cycles. */
typedef struct Looks {
    uint64_t poll;     /* SM cycle of the next look at interrupts and limits */
    uint64_t progress; /* at whether anything moves */
} Looks;

/* The next look is at the first of these and of what those want who watch. */
static void plan_looks(Engine *engine, const Looks *looks) {
    const uint64_t due = watch_due(engine->watch);
    engine->next_look = looks->poll < looks->progress ? looks->poll : looks->progress;
    if (due < engine->next_look) engine->next_look = due;
}

/* Does what is due at this cycle. False: the run is over, for a reason told in `result`. */
static bool look_up(Engine *engine, Gpu *gpu, Looks *looks, GpuResult *result) {
    if (watch_wants_policies(engine->watch, engine->cycle)) samples_report_policies(engine);
    if (engine->cycle >= watch_due(engine->watch)) samples_record(engine, gpu);
    if (engine->cycle >= looks->poll) {
        if (must_stop(engine, gpu, result)) return false;
        looks->poll = engine->cycle + poll_after(engine, gpu);
    }
    if (engine->cycle >= looks->progress) {
        looks->progress = engine->cycle + PROGRESS_CYCLES;
        if (is_stuck(engine)) {
            explain_deadlock(engine, "nothing has moved", engine->last_progress, result);
            return false;
        }
        if (is_hopeless(engine, gpu)) {
            explain_deadlock(engine,
                             "all warps wait at barriers or in loops that look for another "
                             "thread's store, and nothing has been stored",
                             engine->last_change, result);
            return false;
        }
    }
    plan_looks(engine, looks);
    return true;
}

static void run_cycles(Engine *engine, Gpu *gpu, GpuResult *result) {
    Looks looks = {.poll = engine->cycle + poll_after(engine, gpu),
                   .progress = engine->cycle + PROGRESS_CYCLES};
    plan_looks(engine, &looks);
    while (true) {
        const IsaFault *fault = step(engine);
        if (fault) {
            apart_end(engine);
            below_settle(engine);
            gpu_set_fault(result, fault);
            return;
        }
        if (engine->ctas_done == engine->dispatch.view.ctas && is_over(engine)) return;
        bool can_be_quiet = engine->dispatch.is_over && !engine->never_sleeps && !engine->is_ahead;
        uint64_t quiet = can_be_quiet ? quiet_cycles(engine) : 0;
        if (quiet == UINT64_MAX) {
            explain_deadlock(engine, "nothing has moved", engine->last_progress, result);
            return;
        }
        if (quiet) jump(engine, quiet);
        engine->cycle++;
        if (engine->cycle >= engine->next_look && !look_up(engine, gpu, &looks, result)) return;
    }
}

static void fill_result(Engine *engine, GpuResult *result) {
    for (uint32_t p = 0; p < engine->machine->partitions; p++)
        partition_close_rows(engine->partitions[p]);
    result->counters = tally_count(engine, engine->cycle + 1);
    tally_keep_units(engine);
    result->spreads = tally_spreads(engine);
    result->histograms = tally_histograms(engine);
    result->cycles = result->counters.cycles;
    result->time_ps = result->counters.time_ps;
    result->warp_instructions = result->counters.warp_instructions;
    result->thread_instructions = result->counters.thread_instructions;
}

void engine_run(Engine *engine, Gpu *gpu, const IsaLaunch *launch, const SmOp *ops,
                uint32_t ctas_per_sm, uint64_t stop_after, GpuResult *result) {
    const MachineConfig *machine = engine->machine;
    IsaContext context = {.memory = gpu->memory,
                          .program = launch->program,
                          .launch = launch,
                          .print = gpu->options.print,
                          .user = gpu->options.user};
    bool wants_loads = dispatch_wants_loads(&engine->dispatch);
    SmListener listener = {.cta_finished = cta_finished,
                           .l1d_load = wants_loads ? l1d_loaded : NULL,
                           .l1d_record = engine->watch && engine->watch->l1d ? l1d_recorded : NULL,
                           .user = engine};
    uint64_t start = engine->cycle;
    engine->start = start;
    engine->stop_after = stop_after;
    engine->launch = launch;
    engine->is_alone =
        launch->check || launch->dump_line || gpu->module->can_wait || !cycle_has_team(engine);
    share_start(&engine->share);
    engine->ctas_done = 0;
    engine->last_progress = start;
    engine->progress_mark = 0;
    engine->last_change = start;
    engine->change_mark = 0;
    engine->proves_looks = false;
    engine->network_mark = tally_networks(engine);
    watch_start(engine->watch, launch->function->ptx->name, launch->ctas, start);
    dispatch_set_limit(&engine->dispatch, launch->ctas, ctas_per_sm);
    uint32_t shared = carve_out_bytes(&machine->sm, launch->shared_bytes, engine->dispatch.limit,
                                      launch->carve_out);
    for (uint32_t i = 0; i < machine->sms; i++)
        sm_carve_out(engine->sms[i], shared);
    dispatch_start(&engine->dispatch, launch->ctas, launch->warps, l1d_lines(machine, shared),
                   l1d_ways(machine, shared), start);
    cycle_start(engine);
    for (uint32_t i = 0; i < machine->sms; i++)
        sm_start_kernel(engine->sms[i], launch, ops, &context, engine->dispatch.limit, &listener,
                        start);
    for (uint32_t p = 0; p < machine->partitions; p++) {
        partition_settle(engine->partitions[p], engine->dram.ticks + 1, engine->l2.ticks + 1);
        tally_mark_partition(engine, p);
        partition_set_aside(engine->partitions[p], ways_of(machine, gpu->options.persisting_bytes));
        if (machine->partition.l2.flush != CACHE_FLUSH_NEVER)
            partition_flush_l2(engine->partitions[p]);
    }
    run_cycles(engine, gpu, result);
    tell_progress(engine, gpu, issued_so_far(engine));
    fill_result(engine, result);
    if (engine->watch && engine->watch->policies) samples_report_policies(engine);
    if (engine->watch && engine->watch->tracks) samples_tell_units(engine);
    watch_end(engine->watch, engine->cycle, &result->counters);
    engine->cycle++;
}
