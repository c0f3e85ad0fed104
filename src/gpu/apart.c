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
 * after requests have moved, and these move after the partitions have stepped. */
#include "gpu/engine_internal.h"

/* ---- The second thread ---- */

static void reach(_Atomic uint64_t *progress, uint64_t cycles) {
    atomic_store_explicit(progress, cycles, memory_order_release);
}

static bool has_reached(_Atomic uint64_t *progress, uint64_t cycles) {
    return atomic_load_explicit(progress, memory_order_acquire) >= cycles;
}

/* Until replies have been taken so often; false: they will not be. */
static bool await_taken(ApartPace *first, uint64_t cycles) {
    for (uint32_t turns = 0;;) {
        /* looked at first: what comes before the end is done */
        const bool is_over = atomic_load_explicit(&first->is_over, memory_order_acquire);
        if (has_reached(&first->replies, cycles)) return true;
        if (is_over) return false;
        team_wait(&turns);
    }
}

static void run_second(Engine *engine) {
    ApartPace *first = &engine->apart[0], *own = &engine->apart[1];
    for (uint64_t cycles = 1; await_taken(first, cycles); cycles++) {
        uint32_t turns = 0;
        below_move_lent(engine, engine->replies);
        reach(&own->replies, cycles);
        while (!has_reached(&first->requests, cycles))
            team_wait(&turns);
        below_step_ahead(engine);
        reach(&own->requests, cycles);
    }
}

static void do_part(void *user, uint32_t thread) {
    if (thread == 1) run_second(user);
}

/* ---- The first ---- */

static void await_second(Engine *engine, _Atomic uint64_t *progress) {
    uint32_t turns = 0;
    while (!has_reached(progress, engine->apart_cycles))
        team_wait(&turns);
    share_waited(&engine->share, turns);
}

static void begin(Engine *engine) {
    below_lend(engine);
    for (int i = 0; i < 2; i++)
        engine->apart[i] = (ApartPace){.replies = 0};
    engine->apart_cycles = 0;
    engine->is_apart = true;
    team_start(engine->team, do_part, engine);
}

bool apart_may_run(Engine *engine) {
    if (!engine->can_go_ahead || engine->cycle + 1 >= engine->next_look) return false;
    for (uint32_t left = engine->machine->sms; left; left--) {
        if (sm_requests_under_way(engine->sms[engine->waiting]) > SM_MOST_ANSWERS) return true;
        if (++engine->waiting == engine->machine->sms) engine->waiting = 0;
    }
    return false;
}

uint32_t apart_run(Engine *engine) {
    if (!engine->is_apart) begin(engine);
    ApartPace *own = &engine->apart[0], *second = &engine->apart[1];
    await_second(engine, &second->replies);
    cycle_receive(engine);
    reach(&own->replies, engine->apart_cycles + 1);
    await_second(engine, &second->requests);
    below_move_lent(engine, engine->requests);
    reach(&own->requests, ++engine->apart_cycles);
    return cycle_step_sms(engine);
}

void apart_end(Engine *engine) {
    if (!engine->is_apart) return;
    atomic_store_explicit(&engine->apart[0].is_over, true, memory_order_release);
    team_finish(engine->team);
    below_take_back(engine);
    engine->is_apart = false;
}
