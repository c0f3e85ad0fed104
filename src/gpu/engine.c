/* The run loop: one SM cycle of every unit after another, jumps over quiet cycles, and the sums. */
#include "gpu/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/team.h"
#include "gpu/dispatch.h"
#include "gpu/share.h"
#include "partition/partition.h"
#include "sched/report.h"
#include "sm/carve_out.h"
#include "sm/order.h"

enum {
    POLL_CYCLES = 1024,      /* SM cycles between looks at interrupts and limits */
    PROGRESS_CYCLES = 65536, /* SM cycles between looks at whether anything moves */
    SMS_WORTH_A_TEAM = 3     /* for each thread: with fewer awake, one steps them all */
};

/* A clock domain beside the SMs'. */
typedef struct Domain {
    uint64_t khz;   /* its frequency */
    uint64_t phase; /* accumulated kHz: a tick is due when it reaches the SM clock's */
    uint64_t ticks; /* so far */
} Domain;

struct Engine {
    const MachineConfig *machine;
    AddressMap map;
    Noc *requests, *replies;
    Sm **sms;
    uint64_t *wake;    /* per SM: the next cycle in which it must be stepped */
    uint64_t *awake;   /* SMs for which that is the next one, or has come, bit each ... */
    uint64_t alarm;    /* ... but for those whose cycle comes now: first one to look at `wake` */
    uint64_t *holding; /* SMs whose ports hold replies, bit each */
    SmOrder order;     /* of SMs that the team steps */
    Team *team;        /* NULL: one thread does all */
    Share share;       /* when it does */
    bool is_alone;     /* the running kernel is for one thread */
    Partition **partitions;
    DramBus *buses; /* of pseudo channels, one for each pair; NULL: each channel has its own */
    MemRequestPools pools;
    Domain noc, l2, dram;
    bool never_sleeps;       /* GpuOptions.never_sleeps, ... */
    uint32_t team_every;     /* ... and team_every */
    Watch *watch;            /* of the run; NULL: nobody watches */
    uint64_t cycle;          /* SM cycles so far, over all kernels */
    uint64_t start;          /* SM cycle at which the running kernel was launched */
    const IsaLaunch *launch; /* of the running kernel */
    Dispatch dispatch;
    SchedCall *calls;           /* GpuOptions' policies: by SM, then the CTA scheduler's */
    uint64_t ctas_done;         /* of the running kernel */
    uint64_t last_progress;     /* SM cycle at which something was last seen to move */
    uint64_t progress_mark;     /* sum of what moves, then */
    uint64_t last_change;       /* SM cycle at which something was last seen to change memory */
    uint64_t change_mark;       /* sum of changes, then */
    Counters networks;          /* what both networks have counted */
    Counters network_mark;      /* the same at the kernel's start */
    Counters *partition_marks;  /* and the partitions', ... */
    Counters *slice_marks;      /* ... of their slices, ... */
    DramBankCounts *bank_marks; /* ... and of their banks */
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
    SmEnvironment environment = {.config = &machine->sm,
                                 .policy = policy,
                                 .policy_call = &engine->calls[index],
                                 .map = &engine->map,
                                 .requests = engine->requests,
                                 .replies = engine->replies,
                                 .first_slice_node = machine_slice_node(machine, 0),
                                 .header_bytes = machine->network.header_bytes,
                                 .atom_bytes = machine->partition.atom_bytes,
                                 .index = index,
                                 .sms = machine->sms,
                                 .wake = &engine->wake[index],
                                 .order = engine->order.paces ? &engine->order : NULL,
                                 .l1d_sets = sets_wanted(engine, UNIT_sm, index),
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

/* Sees to it that so many threads step the SMs, as far as there are so many SMs; else one. */
static void share_work(Engine *engine, uint32_t threads) {
    const uint32_t sms = engine->machine->sms;
    if (threads > sms) threads = sms;
    if (threads < 2 || !noc_can_hold(engine->requests)) return;
    engine->order.threads = threads;
    engine->order.paces = base_alloc_lines(threads * sizeof(SmPace));
}

/* The team is made when a kernel first wants it, and again in a fork's child. True: it is there. */
static bool has_team(Engine *engine) {
    if (!engine->order.paces) return false;
    if (engine->team && team_is_here(engine->team)) return true;
    int why;
    team_free(engine->team);
    engine->team = team_new(engine->order.threads, &why);
    return engine->team != NULL;
}

Engine *engine_new(const GpuOptions *options, SchedCall *calls) {
    const MachineConfig *machine = options->machine;
    Engine *engine = base_calloc(1, sizeof *engine);
    engine->watch = options->watch;
    engine->machine = machine;
    engine->calls = calls;
    engine->never_sleeps = options->never_sleeps;
    engine->team_every = options->team_every;
    engine->map = machine_address_map(machine);
    const NocConfig *noc = &machine->network.noc;
    engine->requests =
        noc_new(noc, counters_network(&engine->networks, COUNTER_request_packets_sent));
    engine->replies = noc_new(noc, counters_network(&engine->networks, COUNTER_reply_packets_sent));
    engine->noc.khz = machine->clock.noc_khz;
    engine->l2.khz = machine->clock.l2_khz;
    engine->dram.khz = machine->clock.dram_khz;
    share_work(engine, options->threads);
    engine->sms = base_calloc(machine->sms, sizeof(Sm *));
    engine->wake = base_calloc(machine->sms, sizeof(uint64_t));
    engine->awake = base_calloc(bits_words(machine->sms), sizeof(uint64_t));
    engine->holding = base_calloc(bits_words(machine->sms), sizeof(uint64_t));
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
    dispatch_init(&engine->dispatch, &machine->cta, options->cta_scheduler, machine->sms,
                  l1d_lines(machine, 0), &calls[machine->sms]);
    return engine;
}

void engine_free(Engine *engine) {
    if (!engine) return;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_free(engine->sms[i]);
    for (uint32_t i = 0; i < engine->machine->partitions; i++)
        partition_free(engine->partitions[i]);
    team_free(engine->team);
    free(engine->order.paces);
    noc_free(engine->requests);
    noc_free(engine->replies);
    dispatch_free(&engine->dispatch);
    free(engine->sms);
    free(engine->wake);
    free(engine->awake);
    free(engine->holding);
    free(engine->partitions);
    free(engine->partition_marks);
    free(engine->buses);
    free(engine->slice_marks);
    free(engine->bank_marks);
    free(engine->pools.pools);
    free(engine->pools.outcomes);
    free(engine);
}

uint64_t engine_cycle(const Engine *engine) { return engine->cycle; }

void engine_host_wrote(Engine *engine, uint64_t address, uint64_t bytes) {
    partition_fill_from_host(engine->partitions, address, bytes);
}

/* ---- One cycle ---- */

/* Whole ticks that a domain makes in the coming SM cycle. */
static uint32_t domain_advance(Domain *domain, uint64_t sm_khz) {
    uint32_t ticks = 0;
    for (domain->phase += domain->khz; domain->phase >= sm_khz; domain->phase -= sm_khz)
        ticks++;
    return ticks;
}

static void receive_replies(Engine *engine) {
    const uint64_t *ready = noc_ready_mask(engine->replies);
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++) {
        uint64_t *holding = &engine->holding[word];
        for (uint64_t left = ready[word] | *holding; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
            bool holds = sm_receive(engine->sms[i], engine->cycle);
            if (engine->wake[i] <= engine->cycle) bits_set(engine->awake, i);
            *holding = (*holding & ~(left & -left)) | (holds ? left & -left : 0);
        }
    }
}

static void step_below(Engine *engine) {
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    uint32_t partitions = engine->machine->partitions;
    uint32_t noc = domain_advance(&engine->noc, sm_khz), l2 = domain_advance(&engine->l2, sm_khz);
    uint32_t dram = domain_advance(&engine->dram, sm_khz);
    uint32_t most = noc > l2 ? noc : l2;
    if (dram > most) most = dram;
    for (uint32_t i = 0; i < most; i++) {
        if (i < l2)
            for (uint32_t p = 0; p < partitions; p++)
                partition_push_replies(engine->partitions[p], engine->l2.ticks + 1);
        if (i < dram) {
            engine->dram.ticks++;
            for (uint32_t p = 0; p < partitions; p++)
                partition_dram_tick(engine->partitions[p], engine->dram.ticks, engine->l2.ticks);
        }
        if (i < l2) {
            engine->l2.ticks++;
            for (uint32_t p = 0; p < partitions; p++)
                partition_l2_cycle(engine->partitions[p], engine->l2.ticks);
        }
        if (i < noc) {
            engine->noc.ticks++;
            noc_step(engine->requests);
            noc_step(engine->replies);
        }
    }
}

/* Looks who is awake, and when the next of the others will be. */
static void look_at_alarms(Engine *engine) {
    engine->alarm = UINT64_MAX;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        uint64_t wake = engine->wake[i];
        if (wake <= engine->cycle) bits_set(engine->awake, i);
        else if (wake < engine->alarm) engine->alarm = wake;
    }
}

/* An SM has made its step: when is the next? */
static void stepped(Engine *engine, uint32_t i) {
    if (engine->wake[i] == engine->cycle + 1) return;
    bits_clear(engine->awake, i);
    if (engine->wake[i] < engine->alarm) engine->alarm = engine->wake[i];
}

/* The first SM of a thread, at or after `from`, that is awake; the number of SMs: none is. */
static uint32_t next_awake(const Engine *engine, uint32_t from) {
    const uint32_t sms = engine->machine->sms, threads = engine->order.threads;
    for (; from < sms; from += threads)
        if (bits_get(engine->awake, from)) return from;
    return sms;
}

/* A thread's part of a cycle: its SMs, in rising order. */
static void step_share(void *user, uint32_t thread) {
    Engine *engine = user;
    const uint32_t sms = engine->machine->sms, threads = engine->order.threads;
    uint32_t next = next_awake(engine, thread);
    order_go_on(&engine->order, thread, next);
    while (next < sms) {
        const uint32_t i = next;
        next = next_awake(engine, i + threads);
        engine->order.paces[thread].next = next;
        sm_step(engine->sms[i], engine->cycle);
        order_go_on(&engine->order, thread, next);
    }
}

static uint32_t count_awake(const Engine *engine) {
    uint32_t count = 0;
    for (uint32_t word = 0; word < bits_words(engine->machine->sms); word++)
        count += (uint32_t)bits_count64(engine->awake[word]);
    return count;
}

static void step_together(Engine *engine) {
    engine->order.is_kept = true;
    engine->order.base += engine->machine->sms + 1;
    noc_hold(engine->requests);
    bool is_swift = team_run(engine->team, step_share, engine);
    noc_release(engine->requests);
    engine->order.is_kept = false;
    if (!is_swift) share_late(&engine->share);
}

static bool wants_team(Engine *engine) {
    if (engine->is_alone) return false;
    if (engine->team_every) return engine->cycle % engine->team_every == 0;
    return count_awake(engine) >= SMS_WORTH_A_TEAM * engine->order.threads &&
           share_next(&engine->share);
}

/* Steps the SMs that have something to do; the first whose instruction failed, or NULL. */
static const Sm *step_sms(Engine *engine) {
    if (engine->cycle >= engine->alarm) look_at_alarms(engine);
    bool is_shared = wants_team(engine);
    if (is_shared) step_together(engine);
    const Sm *failed = NULL;
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++) {
        for (uint64_t left = engine->awake[word]; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
            if (!is_shared) sm_step(engine->sms[i], engine->cycle);
            if (!failed && sm_fault(engine->sms[i])) failed = engine->sms[i];
            stepped(engine, i);
        }
    }
    return failed;
}

/* ---- Jumping over cycles in which nothing can happen ---- */

/* SM cycles that can pass before the one in which the domain makes its tick number `tick`. */
static uint64_t cycles_before(const Domain *domain, uint64_t tick, uint64_t sm_khz) {
    if (tick <= domain->ticks + 1) return 0;
    uint64_t ticks = tick - domain->ticks;
    if (ticks >= UINT64_MAX / sm_khz) return UINT64_MAX;
    return (ticks * sm_khz - domain->phase + domain->khz - 1) / domain->khz - 1;
}

/* Whether a reply has arrived that its SM has not handled yet. */
static bool has_waiting_replies(const Engine *engine) {
    const uint64_t *ready = noc_ready_mask(engine->replies);
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
        if (ready[word] | engine->holding[word]) return true;
    return false;
}

/* SM cycles after the current one that change nothing anywhere. */
static uint64_t quiet_cycles(const Engine *engine) {
    uint64_t now = engine->cycle, sm_khz = engine->machine->clock.sm_khz, quiet = UINT64_MAX;
    if (has_waiting_replies(engine)) return 0;
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
        if (engine->awake[word]) return 0;
    if (engine->alarm <= now + 1) return 0;
    if (engine->alarm != UINT64_MAX) quiet = engine->alarm - now - 1;
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
    text_printf(&why, "deadlock: %s for %" PRIu64 " SM cycles", what, engine->cycle - since);
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

/* Whether warps do nothing but look for stores that nobody makes, as long as the watchdog waits. */
static bool is_hopeless(Engine *engine, const Gpu *gpu) {
    enum { ROUNDS = 256 }; /* of each warp: it is in such a loop */
    uint64_t limit = watchdog_limit(engine->machine), sum = engine->dispatch.view.next;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sum += sm_changes(engine->sms[i]);
    if (sum != engine->change_mark) {
        engine->change_mark = sum;
        engine->last_change = engine->cycle;
    }
    uint64_t waited = engine->cycle - engine->last_change;
    if (!limit || waited <= limit) return false;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        if (!sm_only_looks(engine->sms[i], ROUNDS)) return false;
    return waited > limit * gpu_patience(gpu);
}

static uint64_t issued_so_far(const Engine *engine) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sum += sm_counters(engine->sms[i])->warp_instructions;
    return sum;
}

/* Whether the run must end here for a reason from outside the kernel. */
static bool must_stop(Engine *engine, Gpu *gpu, GpuResult *result) {
    uint64_t done = issued_so_far(engine), limit = gpu->options.instruction_limit;
    atomic_store_explicit(&gpu->done_instructions, done, memory_order_relaxed);
    atomic_store_explicit(&gpu->done_ctas, engine->ctas_done, memory_order_relaxed);
    if (atomic_load_explicit(&gpu->is_interrupted, memory_order_relaxed)) {
        Text why = {0};
        text_add(&why, "interrupted");
        result->status = GPU_INTERRUPTED;
        explain_end(engine, &why, result);
        return true;
    }
    if (limit && done >= limit) {
        Text why = {0};
        text_printf(&why, "the limit of %" PRIu64 " warp instructions is reached", limit);
        result->status = GPU_FAULT;
        result->fault_code = ISA_FAULT_LIMIT;
        explain_end(engine, &why, result);
        return true;
    }
    return false;
}

/* Cycles until the next look at interrupts and limits: no later than the limit can be reached. */
static uint64_t poll_after(const Engine *engine, const Gpu *gpu) {
    uint64_t limit = gpu->options.instruction_limit, done = issued_so_far(engine);
    const SmSchedulerConfig *schedulers = &engine->machine->sm.scheduler;
    uint64_t a_cycle = (uint64_t)engine->machine->sms * schedulers->count * schedulers->issue_width;
    uint64_t cycles = limit > done ? (limit - done) / a_cycle : 0;
    return !limit || cycles > POLL_CYCLES ? POLL_CYCLES : cycles ? cycles : 1;
}

/* ---- Counters ---- */

/* The networks' counters so far. */
static const Counters *settle_networks(Engine *engine) {
    engine->networks.noc_cycles = engine->noc.ticks;
    return &engine->networks;
}

/* Adds what a unit has counted since a mark. */
static void add_since(Counters *sum, const Counters *mark, const Counters *now) {
    Counters since = counters_since(mark, now);
    counters_add(sum, &since);
}

/* The parts of the fetch latency were summed in their domains' cycles: brings them to SM cycles;
 * what remains of the whole is the networks'. */
static void convert_fetch_parts(const MachineConfig *machine, Counters *c) {
    uint64_t sm = machine->clock.sm_khz;
    c->fetch_l2_cycles = c->fetch_l2_cycles * sm / machine->clock.l2_khz;
    c->fetch_queue_cycles = c->fetch_queue_cycles * sm / machine->clock.dram_khz;
    c->fetch_dram_cycles = c->fetch_dram_cycles * sm / machine->clock.dram_khz;
    uint64_t below = c->fetch_l2_cycles + c->fetch_queue_cycles + c->fetch_dram_cycles;
    c->fetch_noc_cycles = c->fetch_cycles > below ? c->fetch_cycles - below : 0;
}

/* The kernel's counters up to the SM cycle `end`, which is not included: the first that has not
 * been stepped. */
static Counters count(Engine *engine, uint64_t end) {
    Counters sum = {0}, *c = &sum;
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        sm_settle(engine->sms[i], end);
        counters_add(c, sm_counters(engine->sms[i]));
    }
    convert_fetch_parts(engine->machine, c);
    for (uint32_t p = 0; p < engine->machine->partitions; p++) {
        partition_settle(engine->partitions[p], engine->dram.ticks + 1, engine->l2.ticks + 1);
        Counters now = partition_counters(engine->partitions[p]);
        add_since(c, &engine->partition_marks[p], &now);
    }
    add_since(c, &engine->network_mark, settle_networks(engine));
    c->cycles = end - engine->start;
    c->time_ps = (uint64_t)((unsigned __int128)c->cycles * 1000000000u / sm_khz);
    c->kernels = 1;
    return sum;
}

/* ---- Units ---- */

/* What a partition has counted before a kernel. */
static void mark_partition(Engine *engine, uint32_t p) {
    const Partition *partition = engine->partitions[p];
    uint32_t slices = engine->machine->partition.slices, banks = engine->machine->dram.banks;
    engine->partition_marks[p] = partition_counters(partition);
    for (uint32_t i = 0; i < slices; i++)
        engine->slice_marks[p * slices + i] = *partition_slice_counters(partition, i);
    memcpy(&engine->bank_marks[p * banks], partition_bank_counts(partition),
           banks * sizeof(DramBankCounts));
}

static Counters bank_since(const DramBankCounts *mark, const DramBankCounts *now) {
#define BANK_SINCE(name) .name = now->name - mark->name,
    return (Counters){DRAM_BANK_COUNTS(BANK_SINCE)};
#undef BANK_SINCE
}

/* Adds what a partition has counted in the kernel, its slices and its banks. */
static void add_partition(const Engine *engine, uint32_t p, Units *units) {
    const Partition *partition = engine->partitions[p];
    uint32_t slices = engine->machine->partition.slices, banks = engine->machine->dram.banks;
    const DramBankCounts *counts = partition_bank_counts(partition);
    Counters now = partition_counters(partition);
    Counters part = counters_since(&engine->partition_marks[p], &now);
    units_add(units, UNIT_channel, p, &part);
    for (uint32_t i = 0; i < slices; i++) {
        part = counters_since(&engine->slice_marks[p * slices + i],
                              partition_slice_counters(partition, i));
        units_add(units, UNIT_slice, p * slices + i, &part);
    }
    for (uint32_t i = 0; i < banks; i++) {
        part = bank_since(&engine->bank_marks[p * banks + i], &counts[i]);
        units_add(units, UNIT_bank, p * banks + i, &part);
    }
}

/* How the SMs differ in the kernel. */
static Spreads add_spreads(const Engine *engine) {
    Spreads spreads = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        spreads_take(&spreads, sm_counters(engine->sms[i]), i == 0);
    return spreads;
}

/* The kernel is over: what each unit did in it. */
static void keep_units(const Engine *engine) {
    Units *units = engine->watch ? engine->watch->units : NULL;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        Counters counters = *sm_counters(engine->sms[i]);
        convert_fetch_parts(engine->machine, &counters);
        if (units) units_add(units, UNIT_sm, i, &counters);
    }
    for (uint32_t p = 0; units && p < engine->machine->partitions; p++)
        add_partition(engine, p, units);
}

/* ---- A kernel ---- */

static void cta_finished(void *user, const SmCtaEnd *end) {
    Engine *engine = user;
    engine->ctas_done++;
    dispatch_finished(&engine->dispatch, end->sm, sm_counters(engine->sms[end->sm]), end->end);
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
    receive_replies(engine);
    step_below(engine);
    const Sm *failed = step_sms(engine);
    if (failed) return sm_fault(failed);
    if (engine->dispatch.is_over) return NULL;
    uint64_t next = engine->dispatch.view.next;
    bool is_right = dispatch_step(&engine->dispatch, engine->sms, engine->cycle);
    if (engine->dispatch.view.next != next || engine->dispatch.is_over)
        engine->alarm = engine->cycle + 1; /* SMs have got CTAs, or heard that there are no more */
    return is_right ? NULL : &engine->dispatch.fault;
}

/* The policies of all SMs, and that of the CTAs, tell their numbers. */
static void report_policies(Engine *engine) {
    SchedCsv csv = {.file = engine->watch->policies,
                    .kernel = engine->watch->kernel,
                    .cycle = engine->cycle - engine->start};
    TytoReport out = sched_report_csv(&csv);
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        csv.sm = (int)i;
        sm_report_policy(engine->sms[i], &out);
    }
    csv.sm = SCHED_CSV_CTAS;
    dispatch_report(&engine->dispatch, &out);
}

/* The histograms of all SMs so far. */
static Histograms add_histograms(const Engine *engine) {
    Histograms all = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        histograms_add(&all, sm_histograms(engine->sms[i]));
    return all;
}

/* Tells the snapshots how the kernel stands, `so_far` being what it has counted. */
static void tell_moment(Engine *engine, const Gpu *gpu, const Counters *so_far) {
    const IsaLaunch *launch = engine->launch;
    uint32_t sms = engine->machine->sms;
    Moment moment = {.kernel = launch->function->ptx->name,
                     .launch = engine->watch->kernels,
                     .cycle = engine->cycle,
                     .ctas = engine->dispatch.view.ctas,
                     .begun_ctas = engine->dispatch.view.next,
                     .done_ctas = engine->ctas_done,
                     .registers = gpu_registers(gpu, launch->function, launch->threads),
                     .shared_bytes = launch->shared_bytes,
                     .figures = {*so_far, add_histograms(engine), add_spreads(engine)},
                     .before = &engine->watch->before,
                     .sms = base_calloc(sms, sizeof *moment.sms),
                     .sm_count = sms,
                     .standing = profile_new()};
    memcpy(moment.grid, launch->grid, sizeof moment.grid);
    memcpy(moment.block, launch->block, sizeof moment.block);
    for (uint32_t i = 0; i < sms; i++)
        moment.sms[i] = (MomentSm){sm_resident_ctas(engine->sms[i]),
                                   sm_counters(engine->sms[i])->warp_instructions};
    gpu_profile_standing(gpu, launch, moment.standing);
    snapshots_write(engine->watch->snapshots, &moment);
    profile_free(moment.standing);
    free(moment.sms);
}

/* An SM whose warps are told to the timeline. */
typedef struct WarpsOfSm {
    UnitTracks *tracks;
    const IsaProgram *program;
    uint32_t sm;
} WarpsOfSm;

static void tell_warp(void *user, const IsaWarp *warp, int slot, ProfileColumn cause) {
    const WarpsOfSm *of = user;
    unit_tracks_warp(of->tracks, of->sm, (uint32_t)slot, profile_columns[cause].sentence,
                     of->program->infos[warp->pc].line);
}

/* Tells the timeline of warps and units, which have counted all up to now. */
static void tell_units(Engine *engine) {
    UnitTracks *tracks = engine->watch->tracks;
    unit_tracks_begin(tracks, engine->cycle);
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        WarpsOfSm of = {tracks, engine->launch->program, i};
        sm_visit_standing(engine->sms[i], tell_warp, &of);
        unit_tracks_count(tracks, TIMELINE_SM, i, sm_counters(engine->sms[i]));
    }
    for (uint32_t p = 0; p < engine->machine->partitions; p++) {
        Counters counters = partition_counters(engine->partitions[p]);
        unit_tracks_count(tracks, TIMELINE_CHANNEL, p, &counters);
    }
    unit_tracks_end(tracks);
}

/* What of the run is due to be recorded. */
static void record_samples(Engine *engine, const Gpu *gpu) {
    Counters so_far = count(engine, engine->cycle);
    if (watch_wants_units(engine->watch, engine->cycle)) tell_units(engine);
    watch_sample(engine->watch, engine->cycle, &so_far);
    if (snapshots_wanted(engine->watch->snapshots)) tell_moment(engine, gpu, &so_far);
}

static void run_cycles(Engine *engine, Gpu *gpu, GpuResult *result) {
    uint64_t poll_at = engine->cycle + poll_after(engine, gpu),
             look_at = engine->cycle + PROGRESS_CYCLES;
    while (true) {
        const IsaFault *fault = step(engine);
        if (fault) {
            gpu_set_fault(result, fault);
            return;
        }
        if (engine->ctas_done == engine->dispatch.view.ctas && is_over(engine)) return;
        uint64_t quiet =
            engine->dispatch.is_over && !engine->never_sleeps ? quiet_cycles(engine) : 0;
        if (quiet == UINT64_MAX) {
            explain_deadlock(engine, "nothing has moved", engine->last_progress, result);
            return;
        }
        if (quiet) jump(engine, quiet);
        engine->cycle++;
        if (watch_wants_policies(engine->watch, engine->cycle)) report_policies(engine);
        if (engine->cycle >= watch_due(engine->watch)) record_samples(engine, gpu);
        if (engine->cycle >= poll_at) {
            if (must_stop(engine, gpu, result)) return;
            poll_at = engine->cycle + poll_after(engine, gpu);
        }
        if (engine->cycle >= look_at) {
            look_at = engine->cycle + PROGRESS_CYCLES;
            if (is_stuck(engine)) {
                explain_deadlock(engine, "nothing has moved", engine->last_progress, result);
                return;
            }
            if (is_hopeless(engine, gpu)) {
                explain_deadlock(engine,
                                 "all warps wait at barriers or in loops that look for another "
                                 "thread's store, and nothing has been stored",
                                 engine->last_change, result);
                return;
            }
        }
    }
}

static void fill_result(Engine *engine, GpuResult *result) {
    for (uint32_t p = 0; p < engine->machine->partitions; p++)
        partition_close_rows(engine->partitions[p]);
    result->counters = count(engine, engine->cycle + 1);
    keep_units(engine);
    result->spreads = add_spreads(engine);
    result->histograms = add_histograms(engine);
    result->cycles = result->counters.cycles;
    result->time_ps = result->counters.time_ps;
    result->warp_instructions = result->counters.warp_instructions;
    result->thread_instructions = result->counters.thread_instructions;
}

void engine_run(Engine *engine, Gpu *gpu, const IsaLaunch *launch, const SmOp *ops,
                uint32_t ctas_per_sm, GpuResult *result) {
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
    engine->launch = launch;
    engine->is_alone =
        launch->check || launch->dump_line || gpu->module->can_wait || !has_team(engine);
    share_start(&engine->share);
    engine->ctas_done = 0;
    engine->last_progress = start;
    engine->progress_mark = 0;
    engine->last_change = start;
    engine->change_mark = 0;
    engine->network_mark = *settle_networks(engine);
    watch_start(engine->watch, launch->function->ptx->name, launch->ctas, start);
    dispatch_start(&engine->dispatch, launch->ctas, ctas_per_sm, launch->warps, start);
    memset(engine->awake, 0, bits_words(machine->sms) * sizeof(uint64_t));
    engine->alarm = start;
    uint32_t shared = carve_out_bytes(&machine->sm, launch->shared_bytes, engine->dispatch.limit,
                                      launch->carve_out);
    for (uint32_t i = 0; i < machine->sms; i++)
        sm_carve_out(engine->sms[i], shared);
    engine->dispatch.view.l1d_lines = l1d_lines(machine, shared);
    for (uint32_t i = 0; i < machine->sms; i++)
        sm_start_kernel(engine->sms[i], launch, ops, &context, engine->dispatch.limit, &listener,
                        start);
    for (uint32_t p = 0; p < machine->partitions; p++) {
        partition_settle(engine->partitions[p], engine->dram.ticks + 1, engine->l2.ticks + 1);
        mark_partition(engine, p);
        if (machine->partition.l2.flush != CACHE_FLUSH_NEVER)
            partition_flush_l2(engine->partitions[p]);
    }
    run_cycles(engine, gpu, result);
    fill_result(engine, result);
    if (engine->watch && engine->watch->policies) report_policies(engine);
    if (engine->watch && engine->watch->tracks) tell_units(engine);
    watch_end(engine->watch, engine->cycle, &result->counters);
    engine->cycle++;
}
