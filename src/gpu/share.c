/* What the team does of a cycle (see the header). */
#include "gpu/share.h"

#include "base/team.h"

static void enter(Share *share, ShareStage stage, ShareWay way, double seconds) {
    share->stage = stage;
    share->way = way;
    share->cycles = 0;
    share->begun = share->clock();
    share->until = share->begun + seconds;
}

void share_init(Share *share, ShareClock *clock, unsigned ways) {
    *share = (Share){.clock = clock,
                     .ways = ways,
                     .kept_seconds = SHARE_FIRST_KEPT,
                     .penalty = SHARE_FIRST_PENALTY};
    share_start(share);
}

void share_start(Share *share) { enter(share, SHARE_REST, SHARE_ALONE, SHARE_NAP_SECONDS); }

/* ---- Trials ---- */

/* What units have is in another thread's caches at first. */
static void try_way(Share *share) {
    share->is_warm = false;
    enter(share, SHARE_TRY, share->tried, SHARE_WARM_SECONDS);
}

static void begin_trial(Share *share) {
    share->is_warm = true;
    enter(share, SHARE_TRY, share->way, SHARE_TRIAL_SECONDS);
}

static bool is_one(const Share *share, ShareWay way) { return share->ways >> way & 1; }

/* A way that was by far not the fastest is left out of most trials. */
static bool is_worth_a_trial(const Share *share, ShareWay way) {
    if (!is_one(share, way)) return false;
    return share->decisions % SHARE_FULL_TRIALS == 0 || way == share->kept ||
           share->cost[way] < share->cost[share->kept] * SHARE_FAR;
}

/* Seconds for a cycle in a way: the mean of all rounds but the dearest, in which the host may have
 * had something else to do. */
static double cost_of(const ShareTrial *trial) {
    return (trial->sum - trial->most) / (SHARE_ROUNDS - 1);
}

/* The fastest way; what has been kept stays as long as none is clearly faster. */
static ShareWay choose(const Share *share) {
    ShareWay best = SHARE_ALONE;
    for (ShareWay way = SHARE_SMS; way < SHARE_WAYS; way++)
        if (is_one(share, way) && share->cost[way] < share->cost[best]) best = way;
    return share->cost[share->kept] <= share->cost[best] * SHARE_CLEARLY ? share->kept : best;
}

static void decide(Share *share, double now) {
    for (ShareWay way = SHARE_ALONE; way < SHARE_WAYS; way++) {
        if (share->trials[way].sum > 0) share->cost[way] = cost_of(&share->trials[way]);
        share->trials[way] = (ShareTrial){.sum = 0};
    }
    const ShareWay way = choose(share);
    if (way != share->kept) share->kept_seconds = SHARE_FIRST_KEPT;
    enter(share, SHARE_KEEP, way, share->kept_seconds);
    share->kept = way;
    share->kept_until = now + share->kept_seconds;
    if (share->kept_seconds < SHARE_MOST_KEPT) share->kept_seconds *= 2;
    if (share->penalty > SHARE_FIRST_PENALTY) share->penalty /= 2;
    share->decisions++;
    share->round = 0;
    share->tried = SHARE_ALONE;
    while (!is_worth_a_trial(share, share->tried))
        share->tried++;
}

/* The way has been tried for this round: another's turn. */
static void end_trial(Share *share, double now) {
    const double cost = (now - share->begun) / share->cycles;
    ShareTrial *trial = &share->trials[share->way];
    trial->sum += cost;
    if (cost > trial->most) trial->most = cost;
    do {
        share->tried = (ShareWay)((share->tried + 1) % SHARE_WAYS);
        if (share->tried == SHARE_ALONE) share->round++;
    } while (!is_worth_a_trial(share, share->tried));
    if (share->round == SHARE_ROUNDS) decide(share, now);
    else if (share->way == SHARE_ALONE) enter(share, SHARE_WAKE, SHARE_SMS, 0);
    else try_way(share);
}

/* ---- Stages ---- */

/* What was kept goes on, or else the trials. */
static void go_on(Share *share, double now) {
    if (now < share->kept_until) enter(share, SHARE_KEEP, share->kept, share->kept_until - now);
    else try_way(share);
}

/* The same after one thread has done all for a while: a team that is to help must be awake. */
static void end_rest(Share *share, double now) {
    const ShareWay way = now < share->kept_until ? share->kept : share->tried;
    if (way == SHARE_ALONE) go_on(share, now);
    else enter(share, SHARE_WAKE, SHARE_SMS, 0);
}

static void look(Share *share) {
    double now = share->clock();
    if (now < share->until) return;
    switch (share->stage) {
    case SHARE_TRY: share->is_warm ? end_trial(share, now) : begin_trial(share); break;
    case SHARE_WAKE: go_on(share, now); break;
    case SHARE_KEEP: try_way(share); break;
    case SHARE_REST: end_rest(share, now); break;
    }
}

ShareWay share_next(Share *share) {
    if (share->cycles && (share->cycles % SHARE_LOOK_CYCLES == 0 || share->stage == SHARE_WAKE))
        look(share);
    share->cycles++;
    return share->way;
}

/* Looks that are long for this machine: some 100 microseconds, and more where one thread takes long
 * for a cycle, in which parts differ. */
static double long_wait(const Share *share) {
    return TEAM_LONG * (1 + share->cost[SHARE_ALONE] / 25e-6);
}

void share_waited(Share *share, uint32_t turns) {
    if (turns < TEAM_LONG || share->stage == SHARE_WAKE || turns < long_wait(share)) return;
    enter(share, SHARE_REST, SHARE_ALONE, share->penalty);
    if (share->penalty < SHARE_MOST_PENALTY) share->penalty *= 2;
}
