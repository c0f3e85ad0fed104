/* One SM cycle of the machine, up to the dispatch of CTAs, executed by one thread or by the pool.
 *
 * A cycle that the pool executes as a whole has three parts; the threads meet between them. First,
 * each thread takes the replies for its SMs and steps its partitions; the networks buffer what both
 * do to them. Then two threads move the two networks. As soon as the requests' network has moved,
 * each thread steps its SMs, in the order that sm/order.h enforces.
 *
 * Alternatively, two threads own different units for many cycles (engine/split_threads.c). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "engine/engine_internal.h"

enum {
    FEWEST = 2,            /* fewest threads that share a cycle */
    SMS_WORTH_A_POOL = 2,  /* SMs awake per thread: with fewer, one thread steps them all */
    UNITS_WORTH_A_POOL = 3 /* SMs awake or with replies per thread: with fewer, one does all */
};

/* The parts of a cycle are not inlined, so that bench/shares can measure what each costs. */
#define PART __attribute__((noinline)) static

/* ---- The pool ---- */

enum { LINE_WORDS = THREAD_POOL_LINE / sizeof(uint64_t) };

/* Distance in words from the wake times of one thread's SMs to those of the next thread. A thread
 * steps every `threads`-th SM. */
static uint32_t wake_stride(const Engine *engine, uint32_t threads) {
    return (engine->machine->sms / threads + LINE_WORDS) / LINE_WORDS * LINE_WORDS;
}

/* Assigns each SM its entry of `wake`. The entries of a thread's SMs are adjacent, on cache lines
 * of their own. */
static void place_wakes(Engine *engine, uint64_t *wakes) {
    const uint32_t threads = engine->order.threads, stride = wake_stride(engine, threads);
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        engine->wake[i] = &wakes[i % threads * stride + i / threads];
}

/* Divides the SMs among `threads` threads, for cycles in which several threads step them. */
static void divide_sms(Engine *engine, uint32_t threads) {
    if (engine->order.threads == threads) return;
    uint64_t *const free_wakes = engine->wakes[1];
    engine->order.threads = threads;
    place_wakes(engine, free_wakes);
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        sm_move_wake(engine->sms[i], engine->wake[i]);
    engine->wakes[1] = engine->wakes[0];
    engine->wakes[0] = free_wakes;
}

/* How many of `threads` threads can share the SMs. One thread must step all SMs of a port, and
 * each place in a cycle must belong to the same thread whichever SM the cycle starts with
 * (sm/order.h). */
static uint32_t useful_threads(const Engine *engine, uint32_t threads) {
    const uint32_t sms = engine->machine->sms, ports = engine->ports;
    if (threads > ports) threads = ports;
    while (threads > 1 && ports != sms && (ports % threads || sms % threads))
        threads--;
    return threads;
}

void cycle_share_work(Engine *engine, uint32_t threads) {
    const uint32_t sms = engine->machine->sms;
    threads = useful_threads(engine, threads);
    engine->threads = engine->order.threads = 1;
    engine->order.sms = sms;
    if (threads >= FEWEST && noc_can_hold(engine->requests)) {
        engine->threads = engine->order.threads = threads;
        engine->order.paces = base_alloc_lines(threads * sizeof(SmPace));
        engine->order.moved = base_alloc_lines(sizeof(SmMoved));
        engine->parts = base_alloc_lines(threads * sizeof(CyclePart));
        engine->split = base_alloc_lines(threads * sizeof(SplitPace));
    }
    /* room for any number of threads: the words of all SMs, and for each thread the rest of a
     * line */
    const size_t wakes = sms + (size_t)engine->threads * LINE_WORDS;
    for (int i = 0; i < 2; i++)
        engine->wakes[i] = base_alloc_lines(wakes * sizeof(uint64_t));
    engine->wake = base_calloc(sms, sizeof(uint64_t *));
    place_wakes(engine, engine->wakes[0]);
    engine->awake = base_calloc(bits_words(sms), sizeof(uint64_t));
    engine->holding = base_calloc(bits_words(engine->ports), sizeof(uint64_t));
    engine->delivering = base_calloc(bits_words(engine->ports), sizeof(uint64_t));
    engine->receiving = base_calloc(bits_words(engine->ports), sizeof(uint64_t));
}

void cycle_open_ports(Engine *engine) {
    const uint32_t room = engine->machine->sm.lsu.fifo;
    engine->ports = machine_ports(engine->machine);
    engine->inboxes = base_alloc_lines(engine->ports * sizeof(SmInbox));
    engine->deliveries = base_calloc(engine->ports, sizeof *engine->deliveries);
    engine->copies = base_calloc(engine->machine->sms, sizeof *engine->copies);
    for (uint32_t i = 0; i < engine->ports; i++) {
        uint32_t *handles = base_alloc_lines(inbox_places(room) * sizeof(uint32_t));
        inbox_init(&engine->inboxes[i], engine->replies, i, handles, room);
    }
}

static void close_ports(Engine *engine) {
    for (uint32_t i = 0; i < engine->ports; i++)
        free(engine->inboxes[i].handles);
    free(engine->inboxes);
    free(engine->deliveries);
    free(engine->copies);
}

/* ---- Modes ---- */

static bool is_apart(ThreadWay way) { return way == THREADS_SPLIT || way == THREADS_SPLIT_SMS; }

/* Threads that step SMs in a mode in which more than one does. With more than two threads in split
 * mode, the second steps only the memory side. */
static uint32_t sm_threads(ThreadMode mode) {
    return mode.way == THREADS_SPLIT_SMS && mode.threads > FEWEST ? mode.threads - 1 : mode.threads;
}

/* Whether the machine can run in this mode and a trial is worthwhile. Threads that own their units
 * are faster than threads that share them. */
static bool is_mode(const Engine *engine, ThreadMode mode) {
    if (useful_threads(engine, mode.threads) != mode.threads) return false;
    if (useful_threads(engine, sm_threads(mode)) != sm_threads(mode)) return false;
    if (mode.way == THREADS_SPLIT && mode.threads != FEWEST) return false;
    if (is_apart(mode.way)) return engine->can_go_ahead;
    return !engine->can_go_ahead || engine->pool_every;
}

uint32_t cycle_modes(const Engine *engine, ThreadMode modes[THREAD_MODES]) {
    uint32_t count = 1, threads = 1;
    modes[0] = (ThreadMode){THREADS_ALONE, 1};
    while (threads < engine->threads) {
        threads = threads * 2 < engine->threads ? threads * 2 : engine->threads;
        for (ThreadWay way = THREADS_SMS; way <= THREADS_SPLIT_SMS; way++) {
            const ThreadMode mode = {way, threads};
            if (is_mode(engine, mode)) modes[count++] = mode;
        }
    }
    return count;
}

void cycle_free(Engine *engine) {
    thread_pool_free(engine->pool);
    free(engine->order.paces);
    free(engine->order.moved);
    free(engine->parts);
    free(engine->split);
    free(engine->wake);
    for (int i = 0; i < 2; i++)
        free(engine->wakes[i]);
    free(engine->awake);
    free(engine->holding);
    free(engine->delivering);
    free(engine->receiving);
    close_ports(engine);
}

bool cycle_has_pool(Engine *engine) {
    if (!engine->order.paces) return false;
    if (engine->pool && thread_pool_is_here(engine->pool)) return true;
    int why;
    thread_pool_free(engine->pool);
    engine->pool = thread_pool_new(engine->threads, &why);
    return engine->pool != NULL;
}

void cycle_start(Engine *engine) {
    memset(engine->awake, 0, bits_words(engine->machine->sms) * sizeof(uint64_t));
    engine->alarm = engine->cycle;
}

/* ---- Replies ---- */

/* The ports at which replies wait, of the 64 ports from `word` x 64 on. */
static uint64_t receivers(const Engine *engine, uint32_t word) {
    return noc_ready_mask(engine->replies)[word] | engine->holding[word];
}

/* Queues the copies of a reply at the ports of the SMs that they are for. Returns false if the
 * reply must wait, because too many copies do. */
static bool copy_reply(const Engine *engine, uint32_t sm, uint32_t handle) {
    SmDelivery copies[SM_MOST_COPIES];
    const uint32_t count = sm_copies(engine->sms[sm], handle, copies);
    if (engine->copies[sm] + count > SM_MOST_DELIVERIES) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!deliveries_have_room(&engine->deliveries[mem_port(copies[i].sm, engine->ports)]))
            return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t port = mem_port(copies[i].sm, engine->ports);
        deliveries_push(&engine->deliveries[port], (SmDelivery){sm, copies[i].job});
        bits_set(engine->delivering, port);
    }
    engine->copies[sm] += count;
    return true;
}

/* Each port delivers one copy. Runs before the replies of the cycle, so a copy arrives at least a
 * cycle after the reply. */
static void deliver_copies(Engine *engine) {
    for (uint32_t word = 0; word * 64 < engine->ports; word++)
        for (uint64_t left = engine->delivering[word]; left; left &= left - 1) {
            SmDeliveries *deliveries =
                &engine->deliveries[word * 64 + (uint32_t)bits_lowest64(left)];
            const SmDelivery first = deliveries_pop(deliveries);
            engine->copies[first.sm]--;
            sm_delivered(engine->sms[first.sm], engine->cycle, first.job);
            bits_set(engine->awake, first.sm);
            if (!deliveries->count) engine->delivering[word] &= ~(left & -left);
        }
}

/* Offers the oldest waiting reply of a port to its SM, and sets the SM's bit in `awake` if it is
 * awake. Then takes another reply from the network, if one has arrived. Returns whether replies
 * still wait. */
static inline bool receive_at(const Engine *engine, SmInbox *inbox, bool has_arrived, uint64_t now,
                              uint64_t *awake) {
    uint32_t handle;
    if (inbox_has_waiting(inbox)) {
        handle = inbox_peek(inbox);
        const uint32_t sm = mem_handle_sm(handle);
        const bool can_go = !engine->has_agents || copy_reply(engine, sm, handle);
        if (can_go && sm_offer(engine->sms[sm], now, handle)) inbox_pop(inbox);
        if (*engine->wake[sm] <= now) bits_set(awake, sm);
    }
    /* the record is needed with the last packet, and may be in another thread's cache */
    if (has_arrived && inbox_take(inbox, &handle))
        __builtin_prefetch(mem_request(&engine->pools, handle));
    return inbox_has_waiting(inbox);
}

PART void receive_replies(Engine *engine, uint32_t word) {
    SmInbox *const inboxes = engine->inboxes + (size_t)word * 64;
    uint64_t *const awake = engine->awake;
    const uint64_t now = engine->cycle, arrived = noc_ready_mask(engine->replies)[word];
    uint64_t holding = 0;
    for (uint64_t left = receivers(engine, word); left; left &= left - 1) {
        const int i = bits_lowest64(left);
        holding |= bits_if(receive_at(engine, &inboxes[i], arrived >> i & 1, now, awake), i);
    }
    engine->holding[word] = holding;
}

void cycle_receive(Engine *engine) {
    for (uint32_t word = 0; word * 64 < engine->ports; word++)
        if (receivers(engine, word)) receive_replies(engine, word);
}

uint64_t cycle_askers(const Engine *engine, uint32_t word) {
    if (__builtin_expect(!engine->has_agents, true)) return 0;
    const uint32_t left = engine->ports - word * 64;
    return noc_ready_mask(engine->requests)[word] & bits_low_mask(left < 64 ? (int)left : 64);
}

/* Offers the oldest request that has arrived at a port to the SM that it is for, and sets the SM's
 * bit in `awake` if it is awake. A request that the SM refuses stays in the network. */
static void ask_at(Engine *engine, uint32_t port) {
    uint32_t handle;
    if (!noc_peek(engine->requests, (int)port, &handle)) return;
    MemRequest *request = mem_request(&engine->pools, handle);
    const uint32_t sm = request->target.index;
    if (sm_offer_request(engine->sms[sm], engine->cycle, request))
        noc_pop(engine->requests, (int)port);
    if (*engine->wake[sm] <= engine->cycle) bits_set(engine->awake, sm);
}

/* Offers the requests that have arrived to their SMs. */
static void receive_requests(Engine *engine) {
    for (uint32_t word = 0; word * 64 < engine->ports; word++)
        for (uint64_t left = cycle_askers(engine, word); left; left &= left - 1)
            ask_at(engine, word * 64 + (uint32_t)bits_lowest64(left));
}

void cycle_begin_receiving(Engine *engine) {
    for (uint32_t word = 0; word * 64 < engine->ports; word++)
        engine->receiving[word] = receivers(engine, word);
}

void cycle_receive_part(Engine *engine, uint32_t thread) {
    CyclePart *part = &engine->parts[thread];
    uint64_t woken[ENGINE_MOST_SMS / 64] = {0};
    for (uint32_t word = 0; word * 64 < engine->ports; word++) {
        uint64_t holding = 0;
        for (uint64_t left = engine->receiving[word]; left; left &= left - 1) {
            const int i = bits_lowest64(left);
            const uint32_t port = word * 64 + (uint32_t)i;
            if (port % engine->order.threads == thread &&
                receive_at(engine, &engine->inboxes[port], true, engine->cycle, woken))
                holding |= left & -left;
        }
        part->words[word].holding = holding;
    }
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
        part->words[word].woken = woken[word];
}

void cycle_note_received(Engine *engine) {
    memset(engine->holding, 0, bits_words(engine->ports) * sizeof(uint64_t));
    for (uint32_t thread = 0; thread < engine->order.threads; thread++) {
        const CyclePart *part = &engine->parts[thread];
        for (uint32_t word = 0; word * 64 < engine->ports; word++)
            engine->holding[word] |= part->words[word].holding;
        for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
            engine->awake[word] |= part->words[word].woken;
    }
}

/* ---- SMs ---- */

/* Updates `awake`, and the cycle in which the next sleeping SM wakes. */
static void look_at_alarms(Engine *engine) {
    if (engine->cycle < engine->alarm) return;
    engine->alarm = UINT64_MAX;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        uint64_t wake = *engine->wake[i];
        if (wake <= engine->cycle) bits_set(engine->awake, i);
        else if (wake < engine->alarm) engine->alarm = wake;
    }
}

/* Notes that an SM sleeps after its step, and when it wakes. */
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

/* The SM that is stepped first in this cycle. SMs that share a port take turns. */
static uint32_t first_sm(const Engine *engine) {
    const uint32_t of_port = engine->machine->network.sms_per_port;
    if (of_port == 1) return 0;
    const uint32_t first = (uint32_t)(engine->cycle % of_port) * engine->ports;
    return first < engine->machine->sms ? first : 0;
}

/* Steps the SMs from `word` x 64 on whose bits are set in `left`. Returns the first that failed, or
 * NO_SM. */
static inline uint32_t step_word(Engine *engine, uint32_t word, uint64_t left) {
    uint32_t failed = NO_SM;
    const uint64_t now = engine->cycle;
    for (; left; left &= left - 1) {
        const uint32_t i = word * 64 + (uint32_t)bits_lowest64(left);
        Sm *const sm = engine->sms[i];
        sm_step(sm, now);
        if (sm_fault(sm) && failed == NO_SM) failed = i;
        if (*engine->wake[i] != now + 1) fall_asleep(engine, i);
    }
    return failed;
}

/* Steps the SMs that are awake, from SM `first` on and around. Returns the first that failed, or
 * NO_SM. */
static uint32_t step_from(Engine *engine, uint32_t first) {
    uint32_t failed = NO_SM;
    const uint32_t words = (uint32_t)bits_words(engine->machine->sms), begin = first / 64;
    for (uint32_t i = 0; i <= words; i++) { /* the word that contains `first` is visited twice: its
                                               upper part first, its lower part last */
        const uint32_t word = (begin + i) % words;
        const uint64_t later = ~UINT64_C(0) << first % 64, awake = engine->awake[word];
        const uint64_t left = i == 0 ? awake & later : i == words ? awake & ~later : awake;
        const uint32_t here = step_word(engine, word, left);
        if (failed == NO_SM) failed = here;
    }
    return failed;
}

/* Steps the SMs that are awake, in this thread. Returns the first that failed, or NO_SM. */
PART uint32_t step_sms_alone(Engine *engine) {
    uint32_t failed = NO_SM;
    const uint32_t first = first_sm(engine);
    if (first) return step_from(engine, first);
    for (uint32_t word = 0; word * 64 < engine->machine->sms; word++) {
        const uint32_t here = step_word(engine, word, engine->awake[word]);
        if (failed == NO_SM) failed = here;
    }
    return failed;
}

/* The place of the thread's first awake SM at or after place `from`; the number of SMs if there is
 * none. It reads the wake times and not `awake`: the thread owns them, and other threads may have
 * set bits in `awake`. */
static uint32_t next_awake(const Engine *engine, uint32_t from) {
    const uint32_t sms = engine->machine->sms, threads = engine->order.threads;
    while (from < sms && *engine->wake[order_sm(&engine->order, from)] > engine->cycle)
        from += threads;
    return from < sms ? from : sms;
}

bool cycle_is_shared(Engine *engine) {
    look_at_alarms(engine);
    return engine->pool_every || count_awake(engine) >= SMS_WORTH_A_POOL * engine->order.threads;
}

void cycle_begin_sms(Engine *engine) {
    engine->order.is_kept = true;
    engine->order.base += engine->machine->sms + 1;
    engine->order.first = first_sm(engine);
    noc_hold(engine->requests);
    if (engine->has_agents) noc_hold(engine->replies);
}

void cycle_let_send(Engine *engine) { order_moved(&engine->order); }

void cycle_step_sms_part(Engine *engine, uint32_t thread) {
    const uint32_t sms = engine->machine->sms, threads = engine->order.threads;
    CyclePart *part = &engine->parts[thread];
    uint64_t alarm = UINT64_MAX, failed = NO_SM;
    part->host = pthread_self();
    for (uint32_t word = 0; word * 64 < sms; word++)
        part->words[word].asleep = 0;
    uint32_t next = next_awake(engine, thread);
    order_go_on(&engine->order, thread, next);
    while (next < sms) {
        const uint32_t place = next, i = order_sm(&engine->order, place);
        Sm *const sm = engine->sms[i];
        next = next_awake(engine, place + threads);
        engine->order.paces[thread].next = next;
        sm_step(sm, engine->cycle);
        if (failed == NO_SM && sm_fault(sm)) failed = place;
        const uint64_t wake = *engine->wake[i];
        if (wake != engine->cycle + 1) {
            part->words[i / 64].asleep |= UINT64_C(1) << i % 64;
            if (wake < alarm) alarm = wake;
        }
        order_go_on(&engine->order, thread, next);
    }
    part->alarm = alarm;
    part->failed = failed;
}

uint32_t cycle_end_sms(Engine *engine) {
    uint64_t failed = NO_SM;
    noc_release(engine->requests);
    if (engine->has_agents) noc_release(engine->replies);
    engine->order.is_kept = false;
    for (uint32_t thread = 0; thread < engine->order.threads; thread++) {
        const CyclePart *part = &engine->parts[thread];
        if (part->failed < failed) failed = part->failed;
        if (part->alarm < engine->alarm) engine->alarm = part->alarm;
        for (uint32_t word = 0; word * 64 < engine->machine->sms; word++)
            engine->awake[word] &= ~part->words[word].asleep;
    }
    return failed == NO_SM ? NO_SM : order_sm(&engine->order, (uint32_t)failed);
}

/* ---- A cycle ---- */

/* Starts the step of the SMs after the requests have moved. */
static void begin_sms_at_once(Engine *engine) {
    cycle_begin_sms(engine);
    cycle_let_send(engine);
}

static void do_sms_part(void *user, uint32_t thread) { cycle_step_sms_part(user, thread); }

static void do_part(void *user, uint32_t thread) {
    Engine *engine = user;
    cycle_receive_part(engine, thread);
    if (!engine->is_ahead) memory_side_step_part(engine, thread);
    thread_pool_meet(engine->pool, thread);
    if (thread == 1) memory_side_move(engine, engine->replies);
    if (thread == 0) {
        memory_side_move(engine, engine->requests);
        cycle_note_received(engine);
        if (cycle_is_shared(engine)) begin_sms_at_once(engine);
    }
    /* SMs access the requests' network, but not the replies' */
    thread_pool_follow(engine->pool, thread);
    if (engine->order.is_kept) cycle_step_sms_part(engine, thread);
}

static void run_pool(Engine *engine, ThreadPoolWork *work) {
    thread_tuner_waited(&engine->tuner,
                        thread_pool_run(engine->pool, engine->order.threads, work, engine));
}

/* SMs and ports with work in this cycle, as far as is known at its beginning. */
static uint32_t count_busy(const Engine *engine) {
    uint32_t count = 0;
    for (uint32_t word = 0; word < bits_words(engine->machine->sms); word++)
        count += (uint32_t)bits_count64(engine->awake[word] | receivers(engine, word));
    return count;
}

/* The mode for GpuOptions.pool_every: all modes in turn; split modes for several cycles in a
 * row. */
static ThreadMode mode_for_tests(const Engine *engine) {
    enum { TOGETHER = 8, SHARE_OF_EVERY = 16 };
    const ThreadTuner *tuner = &engine->tuner;
    const uint64_t every = engine->pool_every;
    const uint64_t together = every / SHARE_OF_EVERY > TOGETHER ? every / SHARE_OF_EVERY : TOGETHER;
    const ThreadMode mode = tuner->modes[1 + engine->cycle / every % (tuner->count - 1)];
    return engine->cycle % every < (is_apart(mode.way) ? together : 1) ? mode : tuner->modes[0];
}

static ThreadMode choose_mode(Engine *engine) {
    ThreadTuner *tuner = &engine->tuner;
    const ThreadMode alone = tuner->modes[0];
    if (engine->pool_every) return mode_for_tests(engine);
    const uint32_t busy = count_busy(engine);
    /* keep the partitions in the other thread's caches during a cycle with less work */
    if (busy < UNITS_WORTH_A_POOL * FEWEST)
        return is_apart(tuner->mode.way) ? (ThreadMode){THREADS_SPLIT, tuner->mode.threads} : alone;
    const ThreadMode mode = thread_tuner_next(tuner);
    return is_apart(mode.way) || busy >= UNITS_WORTH_A_POOL * mode.threads ? mode : alone;
}

/* The mode of the coming cycle. Ends the split if the machine or the mode does not allow it. */
static ThreadMode next_mode(Engine *engine) {
    ThreadMode mode = choose_mode(engine);
    if (is_apart(mode.way) && !split_may_run(engine)) {
        const ThreadMode together = {THREADS_SMS, sm_threads(mode)};
        mode = mode.way == THREADS_SPLIT ? engine->tuner.modes[0] : together;
    }
    if (!is_apart(mode.way) || mode.threads != engine->split_threads) split_end(engine);
    if (mode.way != THREADS_ALONE && mode.way != THREADS_SPLIT)
        divide_sms(engine, sm_threads(mode));
    return mode;
}

uint32_t cycle_step_sms(Engine *engine) {
    look_at_alarms(engine);
    return step_sms_alone(engine);
}

static uint32_t run_below_alone(Engine *engine, ThreadWay way) {
    if (engine->has_agents) deliver_copies(engine);
    cycle_receive(engine);
    if (engine->has_agents) receive_requests(engine);
    memory_side_step(engine);
    if (way == THREADS_ALONE) return cycle_step_sms(engine);
    look_at_alarms(engine);
    begin_sms_at_once(engine);
    run_pool(engine, do_sms_part);
    return cycle_end_sms(engine);
}

static uint32_t run_together(Engine *engine) {
    cycle_begin_receiving(engine);
    memory_side_hold(engine);
    run_pool(engine, do_part);
    engine->is_ahead = false;
    memory_side_end(engine);
    return engine->order.is_kept ? cycle_end_sms(engine) : step_sms_alone(engine);
}

static void begin_below(Engine *engine) {
    if (!engine->is_ahead) memory_side_begin(engine);
}

static uint32_t run_in_mode(Engine *engine, ThreadMode mode) {
    switch (mode.way) {
    case THREADS_ALL:
        return memory_side_can_part(engine) ? run_together(engine)
                                            : run_below_alone(engine, THREADS_SMS);
    case THREADS_SPLIT:
    case THREADS_SPLIT_SMS: return split_run(engine, mode);
    default: return run_below_alone(engine, mode.way);
    }
}

const Sm *cycle_run(Engine *engine) {
    uint32_t failed;
    if (engine->is_alone) {
        begin_below(engine);
        failed = run_below_alone(engine, THREADS_ALONE);
    } else {
        const ThreadMode mode = next_mode(engine);
        begin_below(engine);
        failed = run_in_mode(engine, mode);
    }
    return failed == NO_SM ? NULL : engine->sms[failed];
}
