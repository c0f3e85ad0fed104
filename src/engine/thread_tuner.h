/* Decides what the pool does in a cycle, with how many threads, and what one thread does alone:
 * whatever is fastest on this host, at present, for these kernels. It times the modes in turn, in a
 * few rounds, and keeps the fastest, for longer the more often it has won. A pool whose threads
 * arrive late, as on a busy host, rests for longer and longer. None of this affects results: the
 * units do the same in any mode (engine/cycle.c). */
#ifndef TYTO_ENGINE_THREAD_TUNER_H
#define TYTO_ENGINE_THREAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ThreadWay {
    THREADS_ALONE, /* one thread does all work */
    THREADS_SMS,   /* the pool steps the SMs */
    THREADS_ALL, /* the pool also steps the units below the SMs and takes the replies to the SMs */
    THREADS_SPLIT,    /* one thread steps the SMs, another the units below them */
    THREADS_SPLIT_SMS /* one thread steps the units below; the others step the SMs; of two threads,
                         both do */
} ThreadWay;

/* How a cycle is executed, and by how many threads. */
typedef struct ThreadMode {
    ThreadWay way;
    uint32_t threads;
} ThreadMode;

enum { THREAD_MODES = 64 }; /* most modes */

/* What the tuner does at present. */
typedef enum ThreadTunerStage {
    TUNER_TRY,  /* times a mode */
    TUNER_WAKE, /* wakes threads for one cycle: they slept while fewer worked, and may be late */
    TUNER_KEEP, /* runs the fastest mode */
    TUNER_REST  /* uses one thread, because a kernel begins, which may be short, or the pool was
                   late; then it continues with the stage before */
} ThreadTunerStage;

/* Returns the host's time in seconds. */
typedef double ThreadTunerClock(void);

/* Seconds per cycle in a mode, over the rounds of trials. */
typedef struct ThreadTunerTrial {
    double sum, most;
} ThreadTunerTrial;

typedef struct ThreadTuner {
    ThreadTunerClock *clock;
    uint32_t count;                 /* number of modes */
    ThreadMode modes[THREAD_MODES]; /* modes to try, in this order; the first has one thread */
    ThreadTunerStage stage;
    ThreadMode mode;                       /* mode of the present cycles */
    uint32_t cycles;                       /* cycles of the stage so far */
    double begun, until;                   /* when the stage began and will end, in seconds */
    uint32_t kept;                         /* the fastest mode, kept until ... */
    double kept_until;                     /* ... this time, in seconds */
    double kept_seconds;                   /* seconds for which the next decision is kept */
    double penalty;                        /* seconds of rest the next time the pool is late */
    uint32_t decisions;                    /* decisions so far */
    bool is_warm;                          /* the mode has run for long enough to be timed */
    uint32_t tried;                        /* the mode that is being tried, ... */
    uint32_t round;                        /* ... in this round */
    ThreadTunerTrial trials[THREAD_MODES]; /* results of the rounds so far */
    double cost[THREAD_MODES];             /* seconds per cycle, from the last trials */
} ThreadTuner;

enum {
    TUNER_LOOK_CYCLES = 16, /* cycles between looks at the clock */
    TUNER_FULL_TRIALS = 4,  /* every N-th decision, from the first on, tries all modes */
    TUNER_ROUNDS = 3,       /* rounds of trials before a decision */
    TUNER_DOUBT = 4         /* a decision for a different mode is kept for 1/N of the time */
};
#define TUNER_WARM_SECONDS  0.0002 /* seconds that each mode runs in a round before it is timed */
#define TUNER_TRIAL_SECONDS 0.0005 /* seconds for which it is timed */
#define TUNER_FIRST_KEPT    0.025  /* seconds for which a first decision is kept; ... */
#define TUNER_MOST_KEPT     0.2    /* ... doubled up to this each time it is confirmed */
#define TUNER_FAR           1.3    /* modes this much slower skip most trials */
#define TUNER_CLEARLY       1.03   /* a different mode must be faster by this factor */
#define TUNER_NAP_SECONDS   0.0002 /* seconds that a kernel must run before threads are woken */
#define TUNER_FIRST_PENALTY 0.001  /* seconds of rest after the pool was late; ... */
#define TUNER_MOST_PENALTY  2.048  /* ... doubled up to this while it is late again and again */

/* Initializes the tuner for a run of kernels, and starts its first kernel. There are `count` modes,
 * at most THREAD_MODES, which are copied. The first mode must have one thread. */
void thread_tuner_init(ThreadTuner *tuner, ThreadTunerClock *clock, const ThreadMode *modes,
                       uint32_t count);
/* Called when a kernel begins. What was measured for earlier kernels is kept. */
void thread_tuner_start(ThreadTuner *tuner);
/* Returns how to execute the coming cycle. Called for each cycle that has enough work. */
ThreadMode thread_tuner_next(ThreadTuner *tuner);
/* Reports how often the calling thread had to check for the others in the pool's cycle
 * (base/thread_pool.h). */
void thread_tuner_waited(ThreadTuner *tuner, uint32_t turns);

#endif
