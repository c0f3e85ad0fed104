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

void share_start(Share *share, ShareClock *clock) {
    *share = (Share){.clock = clock, .penalty = SHARE_FIRST_PENALTY};
    enter(share, SHARE_TRY, SHARE_ALONE, SHARE_TRIAL_SECONDS);
}

static ShareWay fastest(const Share *share) {
    ShareWay best = SHARE_ALONE;
    for (ShareWay way = SHARE_SMS; way < SHARE_WAYS; way++)
        if (share->cost[way] < share->cost[best]) best = way;
    return best;
}

static void end_trial(Share *share, double now) {
    share->cost[share->way] = (now - share->begun) / share->cycles;
    if (share->way == SHARE_ALONE) {
        enter(share, SHARE_WAKE, SHARE_SMS, 0);
    } else if (share->way + 1 < SHARE_WAYS) {
        enter(share, SHARE_TRY, (ShareWay)(share->way + 1), SHARE_TRIAL_SECONDS);
    } else {
        if (share->penalty > SHARE_FIRST_PENALTY) share->penalty /= 2;
        share->kept = fastest(share);
        share->kept_until = now + SHARE_KEPT_SECONDS;
        enter(share, SHARE_KEEP, share->kept, SHARE_KEPT_SECONDS);
    }
}

static void look(Share *share) {
    double now = share->clock();
    if (now < share->until) return;
    switch (share->stage) {
    case SHARE_TRY: end_trial(share, now); break;
    case SHARE_WAKE:
        if (now < share->kept_until) enter(share, SHARE_KEEP, share->kept, share->kept_until - now);
        else enter(share, SHARE_TRY, SHARE_SMS, SHARE_TRIAL_SECONDS);
        break;
    case SHARE_KEEP: enter(share, SHARE_TRY, SHARE_ALONE, SHARE_TRIAL_SECONDS); break;
    case SHARE_REST:
        if (now < share->kept_until) enter(share, SHARE_WAKE, SHARE_SMS, 0);
        else enter(share, SHARE_TRY, SHARE_ALONE, SHARE_TRIAL_SECONDS);
        break;
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
