/* Split mode: two threads own different units for many cycles. The first, which is the kernel's,
 * takes replies, moves the network of requests and steps the SMs. The second moves the network of
 * replies and steps the partitions. They exchange the packets that leave the switch of either
 * network, and the room that becomes free at the network's end (noc_hand_off).
 *
 *     first    replies in t | requests move t | SMs t          | replies in t + 1 | ...
 *     second   ...            | replies move t  | partitions t + 1 | ...
 *
 * The second thread is never more than one cycle ahead. Once the networks have moved, nothing that
 * an SM does in this cycle reaches a partition before they move again. So replies move after the
 * first thread has taken those that have arrived, and partitions step after requests have moved.
 *
 * The second thread may be behind under two conditions: replies that arrive have already left the
 * switch (`lead`), and requests find room that the first thread already knows of, whatever the
 * partitions have taken since. So neither thread waits for the other's part of a cycle, nor for
 * news of each cycle to arrive.
 *
 * If the SMs are most of the work, other threads step the awake SMs together with the first. With
 * only two threads, the second steps SMs too, before its partitions (engine/cycle.c, sm/order.h).
 * The first thread then waits for all of them before requests move again; what the SMs inject stays
 * at their nodes until then (noc_hold). */
#include "engine/engine_internal.h"

/* ---- The other thread's progress ---- */

static void reach(_Atomic uint64_t *progress, uint64_t cycles) {
    atomic_store_explicit(progress, cycles, memory_order_release);
}

/* Whether the other thread has completed `cycles` cycles of something. `seen` is the progress found
 * by the last look, so that its cache line need not be fetched each time. */
static bool has_reached(_Atomic uint64_t *progress, uint64_t *seen, uint64_t cycles) {
    if (*seen < cycles) *seen = atomic_load_explicit(progress, memory_order_acquire);
    return *seen >= cycles;
}

/* Whether the owner of a network must look for room that its consumer has returned. */
static bool must_collect(const Noc *network, uint64_t cycles) {
    return noc_lacks_room(network) || cycles % SPLIT_COLLECT_CYCLES == 0;
}

/* ---- The second thread ---- */

/* Waits until the first thread has completed `cycles` cycles of something. Returns false if it
 * never will. */
static bool await_first(Engine *engine, _Atomic uint64_t *progress, uint64_t *seen,
                        uint64_t cycles) {
    for (uint32_t turns = 0;;) {
        if (*seen >= cycles) return true;
        /* checked first, because the work before the end is still done */
        const bool is_over = atomic_load_explicit(&engine->split[0].is_over, memory_order_acquire);
        if (has_reached(progress, seen, cycles)) return true;
        if (is_over) return false;
        thread_pool_wait(&turns);
    }
}

/* Whether the second thread steps SMs too: only if there is no third. */
static bool has_two(const Engine *engine) { return engine->split_threads == 2; }

/* The index of a thread among those that step SMs; the second is skipped if it steps none. */
static uint32_t part_of(const Engine *engine, uint32_t thread) {
    return thread && !has_two(engine) ? thread - 1 : thread;
}

/* Steps the SMs of a cycle that belong to a thread of the pool. */
static void step_sms(Engine *engine, uint32_t thread, uint64_t cycles) {
    const uint32_t part = part_of(engine, thread);
    cycle_step_sms_part(engine, part);
    reach(&engine->parts[part].done, cycles);
}

static void run_second(Engine *engine) {
    SplitPace *first = &engine->split[0], *own = &engine->split[1];
    for (uint64_t cycles = 1; await_first(engine, &engine->taken, &own->seen_replies, cycles);
         cycles++) {
        const bool is_shared =
            has_two(engine) && atomic_load_explicit(&engine->begun, memory_order_relaxed) == cycles;
        uint32_t turns = 0;
        if (is_shared) step_sms(engine, 1, cycles);
        if (must_collect(engine->replies, cycles)) noc_collect(engine->replies, cycles);
        memory_side_move_replies(engine);
        reach(&own->replies, cycles);
        while (!has_reached(&first->requests, &own->seen_requests, cycles))
            thread_pool_wait(&turns);
        memory_side_step_ahead(engine);
        reach(&own->requests, cycles);
    }
}

/* ---- Threads that only step SMs ---- */

static void run_other(Engine *engine, uint32_t thread) {
    uint64_t begun = 0;
    while (await_first(engine, &engine->begun, &begun, begun + 1))
        step_sms(engine, thread, begun);
}

static void do_part(void *user, uint32_t thread) {
    if (thread == 1) run_second(user);
    else run_other(user, thread);
}

/* ---- The first thread ---- */

static void await(Engine *engine, _Atomic uint64_t *progress, uint64_t *seen, uint64_t cycles) {
    uint32_t turns = 0;
    while (!has_reached(progress, seen, cycles))
        thread_pool_wait(&turns);
    thread_tuner_waited(&engine->tuner, turns);
}

static void begin(Engine *engine, uint32_t threads) {
    memory_side_hand_off(engine);
    engine->lead = memory_side_lead(engine);
    engine->split_threads = threads;
    for (uint32_t i = 0; i < threads; i++) {
        engine->split[i] = (SplitPace){.replies = 0};
        engine->parts[i].done = 0;
    }
    engine->taken = engine->begun = 0;
    engine->split_cycles = 0;
    thread_pool_start(engine->pool, threads, do_part, engine);
}

bool split_may_run(Engine *engine) {
    if (!engine->can_go_ahead || engine->cycle + 1 >= engine->next_look) return false;
    if (residents_may_end_early(engine)) return false;
    if (engine->dispatching) return true;
    for (uint32_t left = engine->machine->sms; left; left--) {
        if (sm_requests_under_way(engine->sms[engine->waiting]) > SM_MOST_ANSWERS) return true;
        if (++engine->waiting == engine->machine->sms) engine->waiting = 0;
    }
    return false;
}

/* The first thread's part of the SMs that the pool steps. */
static uint32_t run_sms(Engine *engine) {
    cycle_step_sms_part(engine, 0);
    for (uint32_t i = 1; i < engine->order.threads; i++) {
        uint64_t seen = 0;
        await(engine, &engine->parts[i].done, &seen, engine->split_cycles);
    }
    return cycle_end_sms(engine);
}

/* Moves requests. If all free room may matter, it is collected first; otherwise what is known
 * suffices. */
static void move_requests(Engine *engine, uint64_t done) {
    uint64_t *seen = &engine->split[0].seen_requests;
    if (noc_lacks_room(engine->requests)) {
        await(engine, &engine->split[1].requests, seen, done);
        noc_collect(engine->requests, done);
    } else if (done % SPLIT_COLLECT_CYCLES == 0) {
        has_reached(&engine->split[1].requests, seen, done);
        noc_collect(engine->requests, *seen < done ? *seen : done);
    }
    memory_side_move_requests(engine);
}

uint32_t split_run(Engine *engine, ThreadMode mode) {
    if (!engine->split_threads) begin(engine, mode.threads);
    SplitPace *own = &engine->split[0], *second = &engine->split[1];
    const uint64_t done = engine->split_cycles++;
    if (done > engine->lead)
        await(engine, &second->replies, &own->seen_replies, done - engine->lead);
    memory_side_replies_arrive(engine);
    const bool shared = mode.way == THREADS_SPLIT_SMS && cycle_is_shared(engine);
    cycle_receive(engine);
    if (shared) {
        cycle_begin_sms(engine);
        reach(&engine->begun, done + 1);
    }
    reach(&engine->taken, done + 1);
    move_requests(engine, done);
    if (shared) cycle_let_send(engine);
    reach(&own->requests, done + 1);
    return shared ? run_sms(engine) : cycle_step_sms(engine);
}

void split_end(Engine *engine) {
    if (!engine->split_threads) return;
    atomic_store_explicit(&engine->split[0].is_over, true, memory_order_release);
    thread_pool_finish(engine->pool);
    memory_side_take_back(engine);
    engine->split_threads = 0;
}
