/* What the team does of a cycle (see the header). */
#include "engine/thread_tuner.h"

#include <assert.h>
#include <string.h>

#include "base/thread_pool.h"

enum { ALONE = 0 }; /* the first mode */

static void enter(Share *share, ShareStage stage, ShareMode mode, double seconds) {
    share->stage = stage;
    share->mode = mode;
    share->cycles = 0;
    share->begun = share->clock();
    share->until = share->begun + seconds;
}

void share_init(Share *share, ShareClock *clock, const ShareMode *modes, uint32_t count) {
    assert(count >= 1 && count <= SHARE_MODES && modes[ALONE].way == SHARE_ALONE);
    *share = (Share){.clock = clock,
                     .count = count,
                     .kept_seconds = SHARE_FIRST_KEPT,
                     .penalty = SHARE_FIRST_PENALTY};
    memcpy(share->modes, modes, count * sizeof *modes);
    share_start(share);
}

void share_start(Share *share) { enter(share, SHARE_REST, share->modes[ALONE], SHARE_NAP_SECONDS); }

/* ---- Trials ---- */

/* What units have is in another thread's caches at first. */
static void try_mode(Share *share) {
    share->is_warm = false;
    enter(share, SHARE_TRY, share->modes[share->tried], SHARE_WARM_SECONDS);
}

static void begin_trial(Share *share) {
    share->is_warm = true;
    enter(share, SHARE_TRY, share->mode, SHARE_TRIAL_SECONDS);
}

/* Goes on with what is kept until a time, or else with the trials. */
static void go_on(Share *share, double now) {
    if (now >= share->kept_until) try_mode(share);
    else enter(share, SHARE_KEEP, share->modes[share->kept], share->kept_until - now);
}

/* The same, but threads that are to help and have done nothing of late must wake first. */
static void go_on_awake(Share *share, double now) {
    const uint32_t next = now < share->kept_until ? share->kept : share->tried;
    const uint32_t threads = share->modes[next].threads;
    if (threads <= share->mode.threads) go_on(share, now);
    else enter(share, SHARE_WAKE, (ShareMode){SHARE_SMS, threads}, 0);
}

/* A mode that was by far not the fastest is left out of most trials. */
static bool is_worth_a_trial(const Share *share, uint32_t mode) {
    return share->decisions % SHARE_FULL_TRIALS == 0 || mode == share->kept ||
           share->cost[mode] < share->cost[share->kept] * SHARE_FAR;
}

/* Seconds for a cycle in a mode: the mean of all rounds but the dearest, in which the host may have
 * had something else to do. */
static double cost_of(const ShareTrial *trial) {
    return (trial->sum - trial->most) / (SHARE_ROUNDS - 1);
}

/* The first of the modes than which none is clearly faster: of equals, that of fewest threads. */
static uint32_t fastest(const Share *share) {
    double least = share->cost[ALONE];
    uint32_t mode = ALONE;
    for (uint32_t i = 1; i < share->count; i++)
        if (share->cost[i] < least) least = share->cost[i];
    while (share->cost[mode] > least * SHARE_CLEARLY)
        mode++;
    return mode;
}

/* Another than what has been kept must be clearly faster, and holds for less long: where modes are
 * alike, the host's moods decide between them. */
static void keep(Share *share, uint32_t mode, double now) {
    if (share->cost[share->kept] > share->cost[mode] * SHARE_CLEARLY) {
        share->kept = mode;
        share->kept_seconds /= SHARE_DOUBT;
        if (share->kept_seconds < SHARE_FIRST_KEPT) share->kept_seconds = SHARE_FIRST_KEPT;
    }
    share->kept_until = now + share->kept_seconds;
    if (share->kept_seconds < SHARE_MOST_KEPT) share->kept_seconds *= 2;
}

static void decide(Share *share, double now) {
    for (uint32_t i = 0; i < share->count; i++) {
        if (share->trials[i].sum > 0) share->cost[i] = cost_of(&share->trials[i]);
        share->trials[i] = (ShareTrial){.sum = 0};
    }
    keep(share, fastest(share), now);
    if (share->penalty > SHARE_FIRST_PENALTY) share->penalty /= 2;
    share->decisions++;
    share->round = 0;
    share->tried = ALONE;
    while (!is_worth_a_trial(share, share->tried))
        share->tried++;
}

/* The mode has been tried for this round: another's turn comes. */
static void note_trial(Share *share, double now) {
    const double cost = (now - share->begun) / share->cycles;
    ShareTrial *trial = &share->trials[share->tried];
    trial->sum += cost;
    if (cost > trial->most) trial->most = cost;
    do {
        share->tried = (share->tried + 1) % share->count;
        if (share->tried == ALONE) share->round++;
    } while (!is_worth_a_trial(share, share->tried));
    if (share->round == SHARE_ROUNDS) decide(share, now);
}

static void end_trial(Share *share, double now) {
    note_trial(share, now);
    go_on_awake(share, now);
}

/* ---- Stages ---- */

static void look(Share *share) {
    double now = share->clock();
    if (now < share->until) return;
    switch (share->stage) {
    case SHARE_TRY: share->is_warm ? end_trial(share, now) : begin_trial(share); break;
    case SHARE_WAKE: go_on(share, now); break;
    case SHARE_KEEP:
    case SHARE_REST: go_on_awake(share, now); break;
    }
}

ShareMode share_next(Share *share) {
    if (share->cycles && (share->cycles % SHARE_LOOK_CYCLES == 0 || share->stage == SHARE_WAKE))
        look(share);
    share->cycles++;
    return share->mode;
}

/* Looks that are long for this machine: some 100 microseconds, and more where one thread takes long
 * for a cycle, in which parts differ. */
static double long_wait(const Share *share) { return TEAM_LONG * (1 + share->cost[ALONE] / 25e-6); }

void share_waited(Share *share, uint32_t turns) {
    if (turns < TEAM_LONG || share->stage == SHARE_WAKE || turns < long_wait(share)) return;
    if (share->stage == SHARE_TRY) note_trial(share, share->clock());
    enter(share, SHARE_REST, share->modes[ALONE], share->penalty);
    if (share->penalty < SHARE_MOST_PENALTY) share->penalty *= 2;
}
