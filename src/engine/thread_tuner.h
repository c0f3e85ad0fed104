/* What of a cycle the team does, how many of its threads, and what one thread alone: what is
 * fastest on this host, at present, for these kernels. The modes are tried in turn, a few rounds of
 * them, and timed; the fastest is kept, for longer the more often it was found the fastest. A team
 * whose threads come late, as on a host with other work, rests, longer and longer. None of this
 * decides a result: units do the same in any mode (engine/cycle.c). */
#ifndef TYTO_ENGINE_THREAD_TUNER_H
#define TYTO_ENGINE_THREAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ShareWay {
    SHARE_ALONE,    /* one thread does all */
    SHARE_SMS,      /* the team steps the SMs */
    SHARE_ALL,      /* and the units below them, and takes the replies to them */
    SHARE_APART,    /* one thread steps the SMs, another the units below them */
    SHARE_APART_SMS /* one thread steps the units below; the others the SMs, or both if they are two
                     */
} ShareWay;

/* A way to do a cycle, and how many threads it takes. */
typedef struct ShareMode {
    ShareWay way;
    uint32_t threads;
} ShareMode;

enum { SHARE_MODES = 64 }; /* at most */

/* What the cycles are used for. */
typedef enum ShareStage {
    SHARE_TRY,  /* a mode is timed */
    SHARE_WAKE, /* threads, for one cycle: they have slept while fewer did all, and may be late */
    SHARE_KEEP, /* the fastest of them */
    SHARE_REST  /* one thread, for a kernel begins, which may be short, or the team came late; then
                   what it was at goes on */
} ShareStage;

/* The host's time, in seconds. */
typedef double ShareClock(void);

/* Seconds for a cycle in a mode, over the rounds of trials. */
typedef struct ShareTrial {
    double sum, most;
} ShareTrial;

typedef struct Share {
    ShareClock *clock;
    uint32_t count;               /* of the modes */
    ShareMode modes[SHARE_MODES]; /* that are tried, in this order; the first is one thread's */
    ShareStage stage;
    ShareMode mode;                 /* of these cycles */
    uint32_t cycles;                /* of the stage, so far */
    double begun, until;            /* when the stage began and is to end, in seconds */
    uint32_t kept;                  /* the fastest mode, until ... */
    double kept_until;              /* ... then, in seconds */
    double kept_seconds;            /* for which the next decision holds */
    double penalty;                 /* seconds of rest when the team comes late the next time */
    uint32_t decisions;             /* so far */
    bool is_warm;                   /* a mode has been tried for long enough to be timed */
    uint32_t tried;                 /* the mode whose turn it is, ... */
    uint32_t round;                 /* ... in this round */
    ShareTrial trials[SHARE_MODES]; /* of the rounds so far */
    double cost[SHARE_MODES];       /* seconds for a cycle, as the last trials found */
} Share;

enum {
    SHARE_LOOK_CYCLES = 16, /* between looks at the clock */
    SHARE_FULL_TRIALS = 4,  /* decisions, of which one has tried all modes: the first, ... */
    SHARE_ROUNDS = 3,       /* of trials before a decision */
    SHARE_DOUBT = 4         /* one for another mode holds for so many times less long */
};
#define SHARE_WARM_SECONDS  0.0002 /* for each mode, in a round, before it is timed, ... */
#define SHARE_TRIAL_SECONDS 0.0005 /* ... for so long */
#define SHARE_FIRST_KEPT    0.025  /* seconds for which a first decision holds, ... */
#define SHARE_MOST_KEPT     0.2    /* ... which double each time that it is found right */
#define SHARE_FAR           1.3    /* times the fastest: left out of the trials between */
#define SHARE_CLEARLY       1.03   /* times as fast: what must be gained by another mode */
#define SHARE_NAP_SECONDS   0.0002 /* of a kernel, before it is worth waking anybody */
#define SHARE_FIRST_PENALTY 0.001  /* seconds of rest after the team came late, ... */
#define SHARE_MOST_PENALTY  2.048  /* ... which double while it does so again and again */

/* A run of kernels begins, and its first: `count` modes (copied), SHARE_MODES at most, of which the
 * first is one thread's. */
void share_init(Share *share, ShareClock *clock, const ShareMode *modes, uint32_t count);
/* A kernel begins; it goes on with what is known of those before. */
void share_start(Share *share);
/* How the coming cycle is to be done; called for each that has enough work. */
ShareMode share_next(Share *share);
/* The calling thread has looked so often for others in the team's cycle (base/thread_pool.h). */
void share_waited(Share *share, uint32_t turns);

#endif
