/* When the team steps the SMs (see the header). */
#include "gpu/share.h"

#include "base/host.h"

static void enter(Share *share, ShareStage stage, bool is_together, uint32_t cycles) {
    share->stage = stage;
    share->is_together = is_together;
    share->cycles_left = cycles;
    share->begun = host_wall_seconds();
}

void share_start(Share *share) {
    *share = (Share){.penalty = SHARE_KEPT_CYCLES};
    enter(share, SHARE_TRY_ALONE, false, SHARE_TRIAL_CYCLES);
}

/* The stage is over. */
static void go_on(Share *share) {
    double seconds = host_wall_seconds() - share->begun;
    switch (share->stage) {
    case SHARE_TRY_ALONE:
        share->alone_seconds = seconds;
        enter(share, SHARE_WAKE, true, 1);
        break;
    case SHARE_WAKE: enter(share, SHARE_TRY_TOGETHER, true, SHARE_TRIAL_CYCLES); break;
    case SHARE_TRY_TOGETHER:
        if (share->penalty > SHARE_KEPT_CYCLES) share->penalty /= 2;
        enter(share, SHARE_KEEP, seconds < share->alone_seconds, SHARE_KEPT_CYCLES);
        break;
    case SHARE_KEEP: enter(share, SHARE_TRY_ALONE, false, SHARE_TRIAL_CYCLES); break;
    }
}

bool share_next(Share *share) {
    if (share->cycles_left == 0) go_on(share);
    share->cycles_left--;
    return share->is_together;
}

void share_late(Share *share) {
    if (share->stage == SHARE_WAKE) return;
    enter(share, SHARE_KEEP, false, share->penalty);
    if (share->penalty < SHARE_MOST_ALONE) share->penalty *= 2;
}
