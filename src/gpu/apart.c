/* Two threads, each with units of its own for many cycles: the first, which is the kernel's, takes
 * replies, moves the network of requests and steps the SMs; the second moves the network of replies
 * and steps the partitions. What they tell each other are the oldest packets of either network
 * (noc_lend): a cycle moves some ten lines between the processors' caches, however many SMs and
 * partitions there are.
 *
 *     first    replies in t | requests move t | SMs t          | replies in t + 1 | ...
 *     second   ...            | replies move t  | partitions t + 1 | ...
 *
 * Partitions are a cycle ahead, and may be: once the networks have moved, nothing that an SM does
 * in this cycle reaches a partition before they move again, nor the other way round. So replies are
 * taken after those of the cycle before have moved, and move after they are taken; partitions step
 * after requests have moved, and these move after the partitions have stepped.
 *
 * Where SMs are most of the work, the whole team steps those that are awake, the second thread
 * before its partitions (gpu/cycle.c, sm/order.h). The first then waits for all of them before
 * requests move again; what they inject stays at their nodes until then (noc_hold). */
#include "gpu/engine_internal.h"

/* ---- The second thread ---- */

static void reach(_Atomic uint64_t *progress, uint64_t cycles) {
    atomic_store_explicit(progress, cycles, memory_order_release);
}

static bool has_reached(_Atomic uint64_t *progress, uint64_t cycles) {
    return atomic_load_explicit(progress, memory_order_acquire) >= cycles;
}

/* Until the first thread has come so far with something; false: it will not. */
static bool await_first(Engine *engine, _Atomic uint64_t *progress, uint64_t cycles) {
    for (uint32_t turns = 0;;) {
        /* looked at first: what comes before the end is done */
        const bool is_over = atomic_load_explicit(&engine->apart[0].is_over, memory_order_acquire);
        if (has_reached(progress, cycles)) return true;
        if (is_over) return false;
        team_wait(&turns);
    }
}

/* The SMs of a cycle that the team steps. */
static void step_sms(Engine *engine, uint32_t thread) {
    cycle_step_sms_part(engine, thread);
    ApartPace *own = &engine->apart[thread];
    reach(&own->sms, atomic_load_explicit(&own->sms, memory_order_relaxed) + 1);
}

static void run_second(Engine *engine) {
    ApartPace *first = &engine->apart[0], *own = &engine->apart[1];
    for (uint64_t cycles = 1; await_first(engine, &first->replies, cycles); cycles++) {
        uint32_t turns = 0;
        below_move_lent(engine, engine->replies);
        reach(&own->replies, cycles);
        while (!has_reached(&first->requests, cycles))
            team_wait(&turns);
        if (!has_reached(&own->sms, atomic_load_explicit(&first->sms, memory_order_relaxed)))
            step_sms(engine, 1);
        below_step_ahead(engine);
        reach(&own->requests, cycles);
    }
}

/* ---- Those that have SMs only ---- */

static void run_other(Engine *engine, uint32_t thread) {
    for (uint64_t cycles = 1; await_first(engine, &engine->apart[0].sms, cycles); cycles++)
        step_sms(engine, thread);
}

static void do_part(void *user, uint32_t thread) {
    if (thread == 1) run_second(user);
    else run_other(user, thread);
}

/* ---- The first ---- */

static void await(Engine *engine, _Atomic uint64_t *progress, uint64_t cycles) {
    uint32_t turns = 0;
    while (!has_reached(progress, cycles))
        team_wait(&turns);
    share_waited(&engine->share, turns);
}

static void begin(Engine *engine) {
    below_lend(engine);
    for (uint32_t i = 0; i < engine->order.threads; i++)
        engine->apart[i] = (ApartPace){.replies = 0};
    engine->apart_cycles = engine->apart_sms = 0;
    engine->is_apart = true;
    team_start(engine->team, do_part, engine);
}

bool apart_may_run(Engine *engine) {
    if (!engine->can_go_ahead || engine->cycle + 1 >= engine->next_look) return false;
    if (!engine->dispatch.is_over) return true;
    for (uint32_t left = engine->machine->sms; left; left--) {
        if (sm_requests_under_way(engine->sms[engine->waiting]) > SM_MOST_ANSWERS) return true;
        if (++engine->waiting == engine->machine->sms) engine->waiting = 0;
    }
    return false;
}

/* The first thread's part of the SMs that the team steps. */
static uint32_t run_sms(Engine *engine) {
    cycle_step_sms_part(engine, 0);
    for (uint32_t i = 1; i < engine->order.threads; i++)
        await(engine, &engine->apart[i].sms, engine->apart_sms);
    return cycle_end_sms(engine);
}

uint32_t apart_run(Engine *engine, bool shared) {
    if (!engine->is_apart) begin(engine);
    ApartPace *own = &engine->apart[0], *second = &engine->apart[1];
    await(engine, &second->replies, engine->apart_cycles);
    cycle_receive(engine);
    reach(&own->replies, engine->apart_cycles + 1);
    await(engine, &second->requests, engine->apart_cycles);
    below_move_lent(engine, engine->requests);
    if (shared) shared = cycle_begin_sms(engine);
    if (shared) reach(&own->sms, ++engine->apart_sms);
    reach(&own->requests, ++engine->apart_cycles);
    return shared ? run_sms(engine) : cycle_step_sms(engine);
}

void apart_end(Engine *engine) {
    if (!engine->is_apart) return;
    atomic_store_explicit(&engine->apart[0].is_over, true, memory_order_release);
    team_finish(engine->team);
    below_take_back(engine);
    engine->is_apart = false;
}
