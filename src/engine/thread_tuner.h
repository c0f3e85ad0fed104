/* What of a cycle the pool does, how many of its threads, and what one thread alone: what is
 * fastest on this host, at present, for these kernels. The modes are tried in turn, a few rounds of
 * them, and timed; the fastest is kept, for longer the more often it was found the fastest. A pool
 * whose threads come late, as on a host with other work, rests, longer and longer. None of this
 * decides a result: units do the same in any mode (engine/cycle.c). */
#ifndef TYTO_ENGINE_THREAD_TUNER_H
#define TYTO_ENGINE_THREAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ThreadWay {
    THREADS_ALONE,    /* one thread does all */
    THREADS_SMS,      /* the pool steps the SMs */
    THREADS_ALL,      /* and the units below them, and takes the replies to them */
    THREADS_SPLIT,    /* one thread steps the SMs, another the units below them */
    THREADS_SPLIT_SMS /* one thread steps the units below; the others the SMs, or both if they are
                       * two
                       */
} ThreadWay;

/* A way to do a cycle, and how many threads it takes. */
typedef struct ThreadMode {
    ThreadWay way;
    uint32_t threads;
} ThreadMode;

enum { THREAD_MODES = 64 }; /* at most */

/* What the cycles are used for. */
typedef enum ThreadTunerStage {
    TUNER_TRY,  /* a mode is timed */
    TUNER_WAKE, /* threads, for one cycle: they have slept while fewer did all, and may be late */
    TUNER_KEEP, /* the fastest of them */
    TUNER_REST  /* one thread, for a kernel begins, which may be short, or the pool came late; then
                   what it was at goes on */
} ThreadTunerStage;

/* The host's time, in seconds. */
typedef double ThreadTunerClock(void);

/* Seconds for a cycle in a mode, over the rounds of trials. */
typedef struct ThreadTunerTrial {
    double sum, most;
} ThreadTunerTrial;

typedef struct ThreadTuner {
    ThreadTunerClock *clock;
    uint32_t count;                 /* of the modes */
    ThreadMode modes[THREAD_MODES]; /* that are tried, in this order; the first is one thread's */
    ThreadTunerStage stage;
    ThreadMode mode;     /* of these cycles */
    uint32_t cycles;     /* of the stage, so far */
    double begun, until; /* when the stage began and is to end, in seconds */
    uint32_t kept;       /* the fastest mode, until ... */
    double kept_until;   /* ... then, in seconds */
    double kept_seconds; /* for which the next decision holds */
    double penalty;      /* seconds of rest when the pool comes late the next time */
    uint32_t decisions;  /* so far */
    bool is_warm;        /* a mode has been tried for long enough to be timed */
    uint32_t tried;      /* the mode whose turn it is, ... */
    uint32_t round;      /* ... in this round */
    ThreadTunerTrial trials[THREAD_MODES]; /* of the rounds so far */
    double cost[THREAD_MODES];             /* seconds for a cycle, as the last trials found */
} ThreadTuner;

enum {
    TUNER_LOOK_CYCLES = 16, /* between looks at the clock */
    TUNER_FULL_TRIALS = 4,  /* every N-th decision has tried all modes: the first, ... */
    TUNER_ROUNDS = 3,       /* of trials before a decision */
    TUNER_DOUBT = 4         /* a decision for another mode holds for 1/N of the time */
};
#define TUNER_WARM_SECONDS  0.0002 /* for each mode, in a round, before it is timed, ... */
#define TUNER_TRIAL_SECONDS 0.0005 /* ... for so long */
#define TUNER_FIRST_KEPT    0.025  /* seconds for which a first decision holds, ... */
#define TUNER_MOST_KEPT     0.2    /* ... which double each time that it is found right */
#define TUNER_FAR           1.3    /* times the fastest: left out of the trials between */
#define TUNER_CLEARLY       1.03   /* times as fast: what must be gained by another mode */
#define TUNER_NAP_SECONDS   0.0002 /* of a kernel, before it is worth waking anybody */
#define TUNER_FIRST_PENALTY 0.001  /* seconds of rest after the pool came late, ... */
#define TUNER_MOST_PENALTY  2.048  /* ... which double while it does so again and again */

/* A run of kernels begins, and its first kernel. There are `count` modes (copied), THREAD_MODES at
 * most; the first mode is that of one thread. */
void thread_tuner_init(ThreadTuner *tuner, ThreadTunerClock *clock, const ThreadMode *modes,
                       uint32_t count);
/* A kernel begins; it goes on with what is known of those before. */
void thread_tuner_start(ThreadTuner *tuner);
/* How the coming cycle is to be done; called for each that has enough work. */
ThreadMode thread_tuner_next(ThreadTuner *tuner);
/* The calling thread has looked so often for others in the pool's cycle (base/thread_pool.h). */
void thread_tuner_waited(ThreadTuner *tuner, uint32_t turns);

#endif
