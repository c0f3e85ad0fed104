/* What of a cycle the team does, and what one thread: what is fastest on this host, at present, for
 * this kernel. Each way is tried for a while and timed, and the fastest is kept for longer. A team
 * whose threads come late, as on a host with other work, rests, longer and longer. None
 * of this decides a result: units do the same either way (gpu/cycle.c). */
#ifndef TYTO_GPU_SHARE_H
#define TYTO_GPU_SHARE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ShareWay {
    SHARE_ALONE, /* one thread does all */
    SHARE_SMS,   /* the team steps the SMs */
    SHARE_ALL,   /* and the units below them, and takes the replies to them */
    SHARE_APART, /* one thread steps the SMs, another the units below them */
    SHARE_WAYS
} ShareWay;

/* What the cycles are used for. */
typedef enum ShareStage {
    SHARE_TRY,  /* a way is timed */
    SHARE_WAKE, /* the team, for one cycle: it has slept while one thread did all, and may be late
                 */
    SHARE_KEEP, /* the fastest of them */
    SHARE_REST  /* one thread, for the team came late; then what was kept goes on */
} ShareStage;

/* The host's time, in seconds. */
typedef double ShareClock(void);

typedef struct Share {
    ShareClock *clock;
    ShareStage stage;
    ShareWay way;            /* of these cycles */
    uint32_t cycles;         /* of the stage, so far */
    double begun, until;     /* when the stage began and is to end, in seconds */
    ShareWay kept;           /* the fastest, until ... */
    double kept_until;       /* ... then, in seconds */
    double penalty;          /* seconds of rest when the team comes late the next time */
    double cost[SHARE_WAYS]; /* seconds for a cycle, as the last trial of each way found */
} Share;

enum { SHARE_LOOK_CYCLES = 16 };  /* between looks at the clock */
#define SHARE_TRIAL_SECONDS 0.002 /* for each way */
#define SHARE_KEPT_SECONDS  0.2   /* for which a decision holds */
#define SHARE_FIRST_PENALTY 0.001 /* seconds of rest after the team came late, ... */
#define SHARE_MOST_PENALTY  2.048 /* ... which double while it does so again and again */

/* A kernel begins. */
void share_start(Share *share, ShareClock *clock);
/* How the coming cycle is to be done; called for each that has enough work. */
ShareWay share_next(Share *share);
/* The calling thread has looked so often for others in the team's cycle (base/team.h). */
void share_waited(Share *share, uint32_t turns);

#endif
