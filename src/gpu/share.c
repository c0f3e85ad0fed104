/* When the team steps the SMs (see the header). */
#include "gpu/share.h"

#include "base/host.h"

enum {
    TRIAL_CYCLES = 512,  /* for each of the two ways */
    KEPT_CYCLES = 16384, /* for which a decision holds */
    MOST_KEPT =
        64 * KEPT_CYCLES /* one thread is alone at most, while others are late again and again */
};

static void enter(Share *share, ShareStage stage, bool is_together, uint32_t cycles) {
    share->stage = stage;
    share->is_together = is_together;
    share->cycles_left = cycles;
    share->begun = host_wall_seconds();
}

void share_start(Share *share) {
    *share = (Share){.penalty = KEPT_CYCLES};
    enter(share, SHARE_TRY_ALONE, false, TRIAL_CYCLES);
}

/* The stage is over. */
static void go_on(Share *share) {
    double seconds = host_wall_seconds() - share->begun;
    switch (share->stage) {
    case SHARE_TRY_ALONE:
        share->alone_seconds = seconds;
        enter(share, SHARE_TRY_TOGETHER, true, TRIAL_CYCLES);
        break;
    case SHARE_TRY_TOGETHER:
        if (share->penalty > KEPT_CYCLES) share->penalty /= 2;
        enter(share, SHARE_KEEP, seconds < share->alone_seconds, KEPT_CYCLES);
        break;
    case SHARE_KEEP: enter(share, SHARE_TRY_ALONE, false, TRIAL_CYCLES); break;
    }
}

bool share_next(Share *share) {
    if (share->cycles_left == 0) go_on(share);
    share->cycles_left--;
    return share->is_together;
}

void share_late(Share *share) {
    enter(share, SHARE_KEEP, false, share->penalty);
    if (share->penalty < MOST_KEPT) share->penalty *= 2;
}
