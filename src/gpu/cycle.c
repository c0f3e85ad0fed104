/* One SM cycle of the machine, up to the handing out of CTAs: by one thread, or by the team.
 *
 * A cycle that the team does as a whole has three parts, between which its threads meet. First each
 * thread takes the replies of its SMs and steps its partitions, while the networks hold what both
 * do to them. Then the two networks move, a thread each. Then each steps its SMs, which sm/order.h
 * keeps in order, as soon as the requests' network has moved. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "gpu/engine_internal.h"

enum {
    SMS_WORTH_A_TEAM = 2,  /* awake for each thread: with fewer, one steps them all */
    UNITS_WORTH_A_TEAM = 3 /* SMs awake or with replies for each thread: with fewer, one does all */
};

/* The parts of a cycle stay functions, so that bench/shares finds what each costs. */
#define PART __attribute__((noinline)) static

/* ---- The team ---- */

/* Gives each SM its place for `wake`: those of a thread are side by side, on lines of their own. */
static void place_wakes(Engine *engine) {
    enum { LINE_WORDS = TEAM_LINE / sizeof(uint64_t) };
    const uint32_t sms = engine->machine->sms;
    const uint32_t threads = engine->order.paces ? engine->order.threads : 1;
    const uint32_t lines = (sms / threads + LINE_WORDS) / LINE_WORDS;
    engine->wakes = base_alloc_lines((size_t)threads * lines * TEAM_LINE);
    engine->wake = base_calloc(sms, sizeof(uint64_t *));
    for (uint32_t i = 0; i < sms; i++)
        engine->wake[i] = &engine->wakes[i % threads * lines * LINE_WORDS + i / threads];
}

void cycle_share_work(Engine *engine, uint32_t threads) {
    const uint32_t sms = engine->machine->sms;
    if (threads > sms) threads = sms;
    if (threads >= 2 && noc_can_hold(engine->requests)) {
        engine->order.threads = threads;
        engine->order.paces = base_alloc_lines(threads * sizeof(SmPace));
        engine->parts = base_alloc_lines(threads * sizeof(CyclePart));
    }
    place_wakes(engine);
    engine->awake = base_calloc(bits_words(sms), sizeof(uint64_t));
    engine->holding = base_calloc(bits_words(sms), sizeof(uint64_t));
    engine->receiving = base_calloc(bits_words(sms), sizeof(uint64_t));
}

void cycle_free(Engine *engine) {
    team_free(engine->team);
    free(engine->order.paces);
    free(engine->parts);
    free(engine->wake);
    free(engine->wakes);
    free(engine->awake);
    free(engine->holding);
    free(engine->receiving);
}

bool cycle_has_team(Engine *engine) {
    if (!engine->order.paces) return false;
    if (engine->team && team_is_here(engine->team)) return true;
    int why;
    team_free(engine->team);
    engine->team = team_new(engine->order.threads, &why);
    return engine->team != NULL;
}

void cycle_start(Engine *engine) {
    memset(engine->awake, 0, bits_words(engine->machine->sms) * sizeof(uint64_t));
    engine->alarm = engine->cycle;
}

/* ---- Replies ---- */

/* Of 64 SMs, from SM `word` x 64 on, those that replies wait for. */
static uint64_t receivers(const Engine *engine, uint32_t word) {
    return noc_ready_mask(engine->replies)[word] | engine->holding[word];
}

PART void receive_replies(Engine *engine, uint32_t word) {
    Sm *const *const sms = engine->sms + (size_t)word * 64;
    uint64_t *const *const wake = engine->wake + (size_t)word * 64;
    const uint64_t now = engine->cycle;
    uint64_t holding = 0, awake = 0;
    for (uint64_t left = receivers(engine, word); left; left &= left - 1) {
        const int i = bits_lowest64(left);
        holding |= bits_if(sm_receive(sms[i], now), i);
        awake |= bits_if(*wake[i] <= now, i);
    }
    engine->holding[word] = holding;
    engine->awake[word] |= awake;
}

/* Notes whose replies the threads are to take: the network itself may move before all is done. */
static void begin_receiving(Engine *engine) {
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
        engine->receiving[word] = receivers(engine, word);
}

/* A thread takes the replies of its SMs. */
static void receive_part(Engine *engine, uint32_t thread) {
    CyclePart *part = &engine->parts[thread];
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++) {
        part->holding[word] = 0;
        for (uint64_t left = engine->receiving[word]; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
            if (i % engine->order.threads == thread && sm_receive(engine->sms[i], engine->cycle))
                part->holding[word] |= left & -left;
        }
    }
}

/* All threads have: notes who holds more, and who is awake now. */
static void note_received(Engine *engine) {
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++) {
        for (uint64_t left = engine->receiving[word]; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
            if (*engine->wake[i] <= engine->cycle) bits_set(engine->awake, i);
        }
        engine->holding[word] = 0;
        for (uint32_t thread = 0; thread < engine->order.threads; thread++)
            engine->holding[word] |= engine->parts[thread].holding[word];
    }
}

/* ---- The units below ---- */

/* Whole ticks that a domain makes in the coming SM cycle. */
static uint32_t domain_advance(Domain *domain, uint64_t sm_khz) {
    if (domain->khz == sm_khz) return 1;
    uint64_t phase = domain->phase + domain->khz;
    uint32_t ticks = 0;
    for (; phase >= sm_khz; phase -= sm_khz)
        ticks++;
    domain->phase = phase;
    return ticks;
}

static void begin_turn(Engine *engine) {
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    CycleTurn turn = {.noc = domain_advance(&engine->noc, sm_khz),
                      .l2 = domain_advance(&engine->l2, sm_khz),
                      .dram = domain_advance(&engine->dram, sm_khz)};
    turn.most = turn.noc > turn.l2 ? turn.noc : turn.l2;
    if (turn.dram > turn.most) turn.most = turn.dram;
    engine->turn = turn;
}

static void end_turn(Engine *engine) {
    engine->noc.ticks += engine->turn.noc;
    engine->l2.ticks += engine->turn.l2;
    engine->dram.ticks += engine->turn.dram;
}

/* What a partition does in a tick, in this order. */
enum { DO_DRAM = 1, DO_L2 = 2, DO_ALL = 3 };

/* Partitions `from` .. `to` - 1 do so much of what is due: an L2 cycle after `cycle` of them, DRAM
 * tick `tick`. */
__attribute__((always_inline)) static inline void do_partitions(const Engine *engine, uint32_t from,
                                                                uint32_t to, uint64_t cycle,
                                                                uint64_t tick, unsigned what) {
    Partition *const *const end = engine->partitions + to;
    for (Partition *const *at = engine->partitions + from; at < end; at++) {
        if (what & DO_DRAM) partition_dram_tick(*at, tick, cycle);
        if (what & DO_L2) partition_l2_cycle(*at, cycle + 1);
    }
}

/* The ticks that are due `i`-th in the turn: each partition makes all of it, one behind the other,
 * but for those whose slices pass accesses to one another. What is due is told apart before the
 * partitions are gone through. */
PART void step_partitions(const Engine *engine, uint32_t i, uint32_t from, uint32_t to) {
    const CycleTurn *turn = &engine->turn;
    const uint64_t tick = engine->dram.ticks + i + 1;
    const uint64_t cycle = engine->l2.ticks + (i < turn->l2 ? i : turn->l2);
    const bool has_l2 = i < turn->l2, has_dram = i < turn->dram;
    if (has_l2 && has_dram && !machine_half_slices(engine->machine)) {
        do_partitions(engine, from, to, cycle, tick, DO_ALL);
    } else {
        if (has_dram) do_partitions(engine, from, to, cycle, tick, DO_DRAM);
        if (has_l2) do_partitions(engine, from, to, cycle, tick, DO_L2);
    }
}

PART void step_networks(const Engine *engine) {
    noc_step(engine->requests);
    noc_step(engine->replies);
}

static void step_below(Engine *engine) {
    for (uint32_t i = 0; i < engine->turn.most; i++) {
        step_partitions(engine, i, 0, engine->machine->partitions);
        if (i < engine->turn.noc) step_networks(engine);
    }
}

/* Whether partitions meet the networks before these move, and not after, and one another never: the
 * halves of an L2 do. */
static bool can_part_below(const Engine *engine) {
    const CycleTurn *turn = &engine->turn;
    return (turn->l2 <= 1 || !turn->noc) && !machine_half_slices(engine->machine);
}

/* The first partition of a thread's; channels that share a bus are one thread's. */
static uint32_t first_partition(const Engine *engine, uint32_t thread) {
    uint32_t first = engine->machine->partitions * thread / engine->order.threads;
    return engine->buses && thread < engine->order.threads ? first & ~1u : first;
}

static void step_partitions_part(const Engine *engine, uint32_t thread) {
    const uint32_t from = first_partition(engine, thread), to = first_partition(engine, thread + 1);
    for (uint32_t i = 0; i < engine->turn.most; i++)
        step_partitions(engine, i, from, to);
}

/* A network that has held what the units did to it does that, and moves. */
static void step_network(const Engine *engine, Noc *network) {
    noc_release(network);
    for (uint32_t i = 0; i < engine->turn.noc; i++)
        noc_step(network);
}

/* ---- SMs ---- */

/* Looks who is awake, and when the next of the others will be. */
static void look_at_alarms(Engine *engine) {
    if (engine->cycle < engine->alarm) return;
    engine->alarm = UINT64_MAX;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        uint64_t wake = *engine->wake[i];
        if (wake <= engine->cycle) bits_set(engine->awake, i);
        else if (wake < engine->alarm) engine->alarm = wake;
    }
}

/* An SM has made its step and sleeps: until when? */
static void fall_asleep(Engine *engine, uint32_t i) {
    const uint64_t wake = *engine->wake[i];
    bits_clear(engine->awake, i);
    if (wake < engine->alarm) engine->alarm = wake;
}

static uint32_t count_awake(const Engine *engine) {
    uint32_t count = 0;
    for (uint32_t word = 0; word < bits_words(engine->machine->sms); word++)
        count += (uint32_t)bits_count64(engine->awake[word]);
    return count;
}

/* One thread steps the SMs that are awake: the first that failed, or NO_SM. */
PART uint32_t step_sms_alone(Engine *engine) {
    uint32_t failed = NO_SM;
    const uint64_t now = engine->cycle;
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++) {
        for (uint64_t left = engine->awake[word]; left; left &= left - 1) {
            const uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
            Sm *const sm = engine->sms[i];
            sm_step(sm, now);
            if (sm_fault(sm) && failed == NO_SM) failed = i;
            if (*engine->wake[i] != now + 1) fall_asleep(engine, i);
        }
    }
    return failed;
}

/* The first SM of a thread, at or after `from`, that is awake; the number of SMs: none is. */
static uint32_t next_awake(const Engine *engine, uint32_t from) {
    const uint32_t sms = engine->machine->sms, threads = engine->order.threads;
    for (; from < sms; from += threads)
        if (bits_get(engine->awake, from)) return from;
    return sms;
}

static void begin_sms(Engine *engine) {
    engine->order.is_kept = true;
    engine->order.base += engine->machine->sms + 1;
    noc_hold(engine->requests);
}

/* A thread steps those of its SMs that are awake, in rising order. */
static void step_sms_part(Engine *engine, uint32_t thread) {
    const uint32_t sms = engine->machine->sms, threads = engine->order.threads;
    CyclePart *part = &engine->parts[thread];
    part->failed = NO_SM;
    uint32_t next = next_awake(engine, thread);
    order_go_on(&engine->order, thread, next);
    while (next < sms) {
        const uint32_t i = next;
        next = next_awake(engine, i + threads);
        engine->order.paces[thread].next = next;
        sm_step(engine->sms[i], engine->cycle);
        if (part->failed == NO_SM && sm_fault(engine->sms[i])) part->failed = i;
        order_go_on(&engine->order, thread, next);
    }
}

/* All threads have: the first SM that failed, or NO_SM. */
static uint32_t end_sms(Engine *engine) {
    uint32_t failed = NO_SM;
    noc_release(engine->requests);
    engine->order.is_kept = false;
    for (uint32_t thread = 0; thread < engine->order.threads; thread++)
        if (engine->parts[thread].failed < failed) failed = (uint32_t)engine->parts[thread].failed;
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
        for (uint64_t left = engine->awake[word]; left; left &= left - 1) {
            const uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
            if (*engine->wake[i] != engine->cycle + 1) fall_asleep(engine, i);
        }
    return failed;
}

/* ---- A cycle ---- */

static void do_sms_part(void *user, uint32_t thread) { step_sms_part(user, thread); }

/* The first thread's, while the others wait: are the SMs worth being stepped by all? */
static void judge_sms(Engine *engine) {
    note_received(engine);
    look_at_alarms(engine);
    engine->is_stepped_together =
        engine->team_every || count_awake(engine) >= SMS_WORTH_A_TEAM * engine->order.threads;
    if (engine->is_stepped_together) begin_sms(engine);
}

static void do_part(void *user, uint32_t thread) {
    Engine *engine = user;
    receive_part(engine, thread);
    step_partitions_part(engine, thread);
    team_meet(engine->team, thread);
    if (thread == 1) step_network(engine, engine->replies);
    if (thread == 0) {
        step_network(engine, engine->requests);
        judge_sms(engine);
    }
    /* SMs look at the requests' network, and not at the replies' */
    team_follow(engine->team, thread);
    if (engine->is_stepped_together) step_sms_part(engine, thread);
}

static void run_team(Engine *engine, TeamWork *work) {
    share_waited(&engine->share, team_run(engine->team, work, engine));
}

/* Units that will do something in this cycle, as far as is known at its beginning. */
static uint32_t count_busy(const Engine *engine) {
    uint32_t count = 0;
    for (uint32_t word = 0; word < bits_words(engine->machine->sms); word++)
        count += (uint32_t)bits_count64(engine->awake[word] | receivers(engine, word));
    return count;
}

static ShareWay choose_way(Engine *engine) {
    if (engine->is_alone) return SHARE_ALONE;
    const uint64_t every = engine->team_every;
    if (every && engine->cycle % every) return SHARE_ALONE;
    if (every) return engine->cycle / every % 2 ? SHARE_SMS : SHARE_ALL;
    if (count_busy(engine) < UNITS_WORTH_A_TEAM * engine->order.threads) return SHARE_ALONE;
    return share_next(&engine->share);
}

static uint32_t run_below_alone(Engine *engine, ShareWay way) {
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
        if (receivers(engine, word)) receive_replies(engine, word);
    step_below(engine);
    end_turn(engine);
    look_at_alarms(engine);
    if (way == SHARE_ALONE) return step_sms_alone(engine);
    begin_sms(engine);
    run_team(engine, do_sms_part);
    return end_sms(engine);
}

static uint32_t run_together(Engine *engine) {
    begin_receiving(engine);
    noc_hold(engine->requests);
    noc_hold(engine->replies);
    run_team(engine, do_part);
    end_turn(engine);
    return engine->is_stepped_together ? end_sms(engine) : step_sms_alone(engine);
}

const Sm *cycle_run(Engine *engine) {
    ShareWay way = choose_way(engine);
    begin_turn(engine);
    if (way == SHARE_ALL && !can_part_below(engine)) way = SHARE_SMS;
    uint32_t failed = way == SHARE_ALL ? run_together(engine) : run_below_alone(engine, way);
    return failed == NO_SM ? NULL : engine->sms[failed];
}
