/* What the pool does of a cycle (see the header). */
#include "engine/thread_tuner.h"

#include <assert.h>
#include <string.h>

#include "base/thread_pool.h"

enum { ALONE = 0 }; /* index of the first mode */

static void enter(ThreadTuner *tuner, ThreadTunerStage stage, ThreadMode mode, double seconds) {
    tuner->stage = stage;
    tuner->mode = mode;
    tuner->cycles = 0;
    tuner->begun = tuner->clock();
    tuner->until = tuner->begun + seconds;
}

void thread_tuner_init(ThreadTuner *tuner, ThreadTunerClock *clock, const ThreadMode *modes,
                       uint32_t count) {
    assert(count >= 1 && count <= THREAD_MODES && modes[ALONE].way == THREADS_ALONE);
    *tuner = (ThreadTuner){.clock = clock,
                           .count = count,
                           .kept_seconds = TUNER_FIRST_KEPT,
                           .penalty = TUNER_FIRST_PENALTY};
    memcpy(tuner->modes, modes, count * sizeof *modes);
    thread_tuner_start(tuner);
}

void thread_tuner_start(ThreadTuner *tuner) {
    enter(tuner, TUNER_REST, tuner->modes[ALONE], TUNER_NAP_SECONDS);
}

/* ---- Trials ---- */

/* Caches are cold at first: the units' data are in another thread's caches. */
static void try_mode(ThreadTuner *tuner) {
    tuner->is_warm = false;
    enter(tuner, TUNER_TRY, tuner->modes[tuner->tried], TUNER_WARM_SECONDS);
}

static void begin_trial(ThreadTuner *tuner) {
    tuner->is_warm = true;
    enter(tuner, TUNER_TRY, tuner->mode, TUNER_TRIAL_SECONDS);
}

/* Continues with the kept mode until its time is over, or else with the trials. */
static void go_on(ThreadTuner *tuner, double now) {
    if (now >= tuner->kept_until) try_mode(tuner);
    else enter(tuner, TUNER_KEEP, tuner->modes[tuner->kept], tuner->kept_until - now);
}

/* The same, but threads that have done nothing lately must wake first. */
static void go_on_awake(ThreadTuner *tuner, double now) {
    const uint32_t next = now < tuner->kept_until ? tuner->kept : tuner->tried;
    const uint32_t threads = tuner->modes[next].threads;
    if (threads <= tuner->mode.threads) go_on(tuner, now);
    else enter(tuner, TUNER_WAKE, (ThreadMode){THREADS_SMS, threads}, 0);
}

/* A mode that was much slower than the fastest is left out of most trials. */
static bool is_worth_a_trial(const ThreadTuner *tuner, uint32_t mode) {
    return tuner->decisions % TUNER_FULL_TRIALS == 0 || mode == tuner->kept ||
           tuner->cost[mode] < tuner->cost[tuner->kept] * TUNER_FAR;
}

/* Seconds per cycle in a mode: the mean of all rounds but the slowest, in which the host may have
 * been busy with something else. */
static double cost_of(const ThreadTunerTrial *trial) {
    return (trial->sum - trial->most) / (TUNER_ROUNDS - 1);
}

/* The first mode that no other mode clearly beats: of equals, the one with fewest threads. */
static uint32_t fastest(const ThreadTuner *tuner) {
    double least = tuner->cost[ALONE];
    uint32_t mode = ALONE;
    for (uint32_t i = 1; i < tuner->count; i++)
        if (tuner->cost[i] < least) least = tuner->cost[i];
    while (tuner->cost[mode] > least * TUNER_CLEARLY)
        mode++;
    return mode;
}

/* A mode must be clearly faster to replace the kept one, and is then kept for a shorter time. If
 * modes are equally fast, noise on the host would decide between them. */
static void keep(ThreadTuner *tuner, uint32_t mode, double now) {
    if (tuner->cost[tuner->kept] > tuner->cost[mode] * TUNER_CLEARLY) {
        tuner->kept = mode;
        tuner->kept_seconds /= TUNER_DOUBT;
        if (tuner->kept_seconds < TUNER_FIRST_KEPT) tuner->kept_seconds = TUNER_FIRST_KEPT;
    }
    tuner->kept_until = now + tuner->kept_seconds;
    if (tuner->kept_seconds < TUNER_MOST_KEPT) tuner->kept_seconds *= 2;
}

static void decide(ThreadTuner *tuner, double now) {
    for (uint32_t i = 0; i < tuner->count; i++) {
        if (tuner->trials[i].sum > 0) tuner->cost[i] = cost_of(&tuner->trials[i]);
        tuner->trials[i] = (ThreadTunerTrial){.sum = 0};
    }
    keep(tuner, fastest(tuner), now);
    if (tuner->penalty > TUNER_FIRST_PENALTY) tuner->penalty /= 2;
    tuner->decisions++;
    tuner->round = 0;
    tuner->tried = ALONE;
    while (!is_worth_a_trial(tuner, tuner->tried))
        tuner->tried++;
}

/* The mode has been tried in this round: continues with the next. */
static void note_trial(ThreadTuner *tuner, double now) {
    const double cost = (now - tuner->begun) / tuner->cycles;
    ThreadTunerTrial *trial = &tuner->trials[tuner->tried];
    trial->sum += cost;
    if (cost > trial->most) trial->most = cost;
    do {
        tuner->tried = (tuner->tried + 1) % tuner->count;
        if (tuner->tried == ALONE) tuner->round++;
    } while (!is_worth_a_trial(tuner, tuner->tried));
    if (tuner->round == TUNER_ROUNDS) decide(tuner, now);
}

static void end_trial(ThreadTuner *tuner, double now) {
    note_trial(tuner, now);
    go_on_awake(tuner, now);
}

/* ---- Stages ---- */

static void look(ThreadTuner *tuner) {
    double now = tuner->clock();
    if (now < tuner->until) return;
    switch (tuner->stage) {
    case TUNER_TRY: tuner->is_warm ? end_trial(tuner, now) : begin_trial(tuner); break;
    case TUNER_WAKE: go_on(tuner, now); break;
    case TUNER_KEEP:
    case TUNER_REST: go_on_awake(tuner, now); break;
    }
}

ThreadMode thread_tuner_next(ThreadTuner *tuner) {
    if (tuner->cycles && (tuner->cycles % TUNER_LOOK_CYCLES == 0 || tuner->stage == TUNER_WAKE))
        look(tuner);
    tuner->cycles++;
    return tuner->mode;
}

/* A number of looks that is long for this machine: some 100 microseconds, and more if a cycle takes
 * one thread long, since the threads' parts then differ more. */
static double long_wait(const ThreadTuner *tuner) {
    return THREAD_POOL_LONG * (1 + tuner->cost[ALONE] / 25e-6);
}

void thread_tuner_waited(ThreadTuner *tuner, uint32_t turns) {
    if (turns < THREAD_POOL_LONG || tuner->stage == TUNER_WAKE || turns < long_wait(tuner)) return;
    if (tuner->stage == TUNER_TRY) note_trial(tuner, tuner->clock());
    enter(tuner, TUNER_REST, tuner->modes[ALONE], tuner->penalty);
    if (tuner->penalty < TUNER_MOST_PENALTY) tuner->penalty *= 2;
}
