/* The units below the SMs in one SM cycle: partitions and the two networks, each with its own
 * clock.
 *
 * Partitions exchange packets with the networks before the networks move. So once the networks have
 * moved, nothing that an SM does in this cycle can reach a partition before they move again.
 * Partitions may therefore make the next cycle's steps in parallel with the SMs
 * (engine/split_threads.c). */
#include <assert.h>

#include "engine/engine_internal.h"

/* The parts of a cycle are not inlined, so that bench/shares can measure what each costs. */
#define PART __attribute__((noinline)) static

/* ---- What is due ---- */

/* Number of ticks that a domain makes in the coming SM cycle. */
static uint32_t domain_advance(Domain *domain, uint64_t sm_khz) {
    if (domain->khz == sm_khz) return 1;
    uint64_t phase = domain->phase + domain->khz;
    uint32_t ticks = 0;
    for (; phase >= sm_khz; phase -= sm_khz)
        ticks++;
    domain->phase = phase;
    return ticks;
}

void memory_side_begin(Engine *engine) {
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    CycleTurn turn = {.noc = domain_advance(&engine->noc, sm_khz),
                      .l2 = domain_advance(&engine->l2, sm_khz),
                      .dram = domain_advance(&engine->dram, sm_khz)};
    turn.most = turn.noc > turn.l2 ? turn.noc : turn.l2;
    if (turn.dram > turn.most) turn.most = turn.dram;
    engine->turn = turn;
}

void memory_side_end(Engine *engine) {
    engine->noc.ticks += engine->turn.noc;
    engine->l2.ticks += engine->turn.l2;
    engine->dram.ticks += engine->turn.dram;
}

/* ---- Partitions ---- */

/* The steps of a partition in a tick, in this order. */
enum { DO_DRAM = 1, DO_L2 = 2, DO_ALL = 3 };

/* Partitions `from` to `to` - 1 execute the given steps: an L2 cycle that follows their cycle
 * `cycle`, and DRAM tick `tick`. */
__attribute__((always_inline)) static inline void do_partitions(const Engine *engine, uint32_t from,
                                                                uint32_t to, uint64_t cycle,
                                                                uint64_t tick, unsigned what) {
    Partition *const *const end = engine->partitions + to;
    for (Partition *const *at = engine->partitions + from; at < end; at++) {
        if (what & DO_DRAM) partition_dram_tick(*at, tick, cycle);
        if (what & DO_L2) partition_l2_cycle(*at, cycle + 1);
    }
}

/* Executes the ticks that come `i`-th in the turn. Each partition makes all of its ticks before the
 * next partition begins, unless slices pass accesses to one another. The loop below determines what
 * is due before it visits the partitions. */
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

bool memory_side_can_part(const Engine *engine) {
    const CycleTurn *turn = &engine->turn;
    return (turn->l2 <= 1 || !turn->noc) && !machine_half_slices(engine->machine) &&
           !engine->has_agents;
}

static void step_range(const Engine *engine, uint32_t from, uint32_t to) {
    for (uint32_t i = 0; i < engine->turn.most; i++)
        step_partitions(engine, i, from, to);
}

/* The first partition of a thread. Channels that share a bus belong to one thread. */
static uint32_t first_partition(const Engine *engine, uint32_t thread) {
    uint32_t first = engine->machine->partitions * thread / engine->order.threads;
    return engine->buses && thread < engine->order.threads ? first & ~1u : first;
}

void memory_side_step_part(const Engine *engine, uint32_t thread) {
    step_range(engine, first_partition(engine, thread), first_partition(engine, thread + 1));
}

/* ---- Networks ---- */

PART void step_networks(const Engine *engine) {
    noc_step(engine->requests);
    noc_step(engine->replies);
}

void memory_side_hold(Engine *engine) {
    noc_hold(engine->requests);
    noc_hold(engine->replies);
}

/* Moves one of the networks as often as is due. */
static void step_network(const Engine *engine, Noc *network) {
    for (uint32_t i = 0; i < engine->turn.noc; i++)
        noc_step(network);
}

void memory_side_move(const Engine *engine, Noc *network) {
    noc_release(network);
    step_network(engine, network);
}

/* ---- All of it ---- */

void memory_side_step(Engine *engine) {
    for (uint32_t i = 0; i < engine->turn.most; i++) {
        if (!engine->is_ahead) step_partitions(engine, i, 0, engine->machine->partitions);
        if (i < engine->turn.noc) step_networks(engine);
    }
    engine->is_ahead = false;
    memory_side_end(engine);
}

/* ---- A cycle ahead ---- */

/* Most network ticks in an SM cycle. */
static uint32_t most_steps(const ClockConfig *clock) {
    return (clock->noc_khz + clock->sm_khz - 1) / clock->sm_khz;
}

bool memory_side_can_go_ahead(const Engine *engine) {
    const ClockConfig *clock = &engine->machine->clock;
    enum { MOST_STEPS = NOC_MOST_APART / 4 };
    return clock->l2_khz <= clock->sm_khz && !machine_half_slices(engine->machine) &&
           !engine->has_agents && most_steps(clock) <= MOST_STEPS && noc_can_hold(engine->requests);
}

uint64_t memory_side_lead(const Engine *engine) {
    const ClockConfig *clock = &engine->machine->clock;
    /* Partitions that are this far behind, and then catch up, return the room of at most MOST_TURNS
     * turns between two looks. */
    enum { MOST_TURNS = NOC_MOST_TURNS - SPLIT_COLLECT_CYCLES - 1 };
    const uint64_t steps = NOC_MOST_APART / most_steps(clock) - 2;
    const uint64_t most = steps < MOST_TURNS ? steps : MOST_TURNS;
    const uint64_t lead = (uint64_t)noc_lead(engine->replies) * clock->sm_khz / clock->noc_khz;
    return lead < most ? lead : most;
}

static void step_all(const Engine *engine) { step_range(engine, 0, engine->machine->partitions); }

void memory_side_hand_off(Engine *engine) {
    if (!engine->is_ahead) step_all(engine);
    engine->is_ahead = true;
    engine->handoff_noc = engine->noc;
    engine->handoff_steps = engine->turn.noc;
    noc_hand_off(engine->requests);
    noc_hand_off(engine->replies);
}

void memory_side_take_back(Engine *engine) {
    assert(engine->handoff_noc.phase == engine->noc.phase);
    noc_take_back(engine->requests);
    noc_take_back(engine->replies);
}

void memory_side_move_requests(Engine *engine) {
    for (uint32_t i = 0; i < engine->handoff_steps; i++)
        noc_step(engine->requests);
    engine->handoff_noc.ticks += engine->handoff_steps;
    engine->handoff_steps = domain_advance(&engine->handoff_noc, engine->machine->clock.sm_khz);
}

/* Prefetches the record of a packet that will arrive, because another thread has used it. */
static void prefetch_record(const void *user, uint32_t handle) {
    const Engine *engine = user;
    __builtin_prefetch(mem_request(&engine->pools, handle));
}

void memory_side_replies_arrive(Engine *engine) {
    noc_arrive(engine->replies, engine->handoff_noc.ticks, prefetch_record, engine);
}

void memory_side_move_replies(const Engine *engine) { step_network(engine, engine->replies); }

void memory_side_step_ahead(Engine *engine) {
    memory_side_end(engine);
    memory_side_begin(engine);
    noc_arrive(engine->requests, engine->noc.ticks, prefetch_record, engine);
    step_all(engine);
}

void memory_side_settle(Engine *engine) {
    if (!engine->can_go_ahead) return;
    if (!engine->is_ahead) {
        memory_side_begin(engine);
        step_all(engine);
    }
    engine->is_ahead = false;
}
