/* Whether a cycle's SMs are stepped by the team or by one thread: what is faster on this host, at
 * present, for this kernel. Both ways are tried for some cycles and timed, and the faster is kept
 * for a while. A team whose threads come late, as on a host with other work, is left alone for
 * longer and longer. None of this decides a result: SMs do the same either way (sm/order.h). */
#ifndef TYTO_GPU_SHARE_H
#define TYTO_GPU_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* What the cycles are used for. */
typedef enum ShareStage {
    SHARE_TRY_ALONE,
    SHARE_WAKE, /* the team: it has slept through the trial alone, and may come late */
    SHARE_TRY_TOGETHER,
    SHARE_KEEP
} ShareStage;

typedef struct Share {
    ShareStage stage;
    bool is_together;     /* how SMs are stepped */
    uint32_t cycles_left; /* of the stage */
    uint32_t penalty;     /* cycles alone when the team comes late the next time */
    double begun;         /* host's time at the stage's beginning, in seconds */
    double alone_seconds; /* that the trial alone took */
} Share;

enum {
    SHARE_TRIAL_CYCLES = 512,                 /* for each of the two ways */
    SHARE_KEPT_CYCLES = 16384,                /* for which a decision holds */
    SHARE_MOST_ALONE = 64 * SHARE_KEPT_CYCLES /* while the team comes late again and again */
};

/* A kernel begins. */
void share_start(Share *share);
/* Whether the team is to step the SMs of this cycle; called for each that has enough of them. */
bool share_next(Share *share);
/* The team came late. */
void share_late(Share *share);

#endif
