/* What runs programs: a struct of functions, so that the same runs can be made on one host or on a
 * cluster. */
#ifndef TYTO_CLI_ENGINE_EXECUTOR_H
#define TYTO_CLI_ENGINE_EXECUTOR_H

#include <stdbool.h>

#include "cli/engine/words.h"

/* A program to run; the texts need not outlive the call that begins it. */
typedef struct Job {
    const char *name;   /* of its files in the folder, its own among all runs there ever are */
    Words line;         /* the program and its arguments; the list ends with NULL */
    Words options;      /* for TYTO_OPTIONS, --json among them */
    const char *output; /* file for what the program prints */
} Job;

/* The status of a job that could not write its result, which is the host's trouble and not its
 * program's: EX_TEMPFAIL of sysexits.h, by which any program asks to be run again. A job's
 * environment tells it to the library. */
enum { EXECUTOR_UNWRITTEN = 75 };
#define EXECUTOR_TELL_UNWRITTEN "TYTO_UNWRITTEN"

/* What happened while waiting. */
typedef enum Event {
    EVENT_NONE,        /* the time is over */
    EVENT_ENDED,       /* a job ended */
    EVENT_INTERRUPTED, /* the user wants to stop: Ctrl-C, or a signal to end */
    EVENT_FAILED       /* no more can be run; told */
} Event;

/* Where and how much is run. */
typedef struct Workplace {
    const char *folder; /* that a remote executor shares with its jobs; else NULL */
    const char *title;  /* what the runs are for */
    int jobs; /* at once, at most; 0: as many as there is room for, where that is remote */
} Workplace;

typedef struct Executor {
    const char *name;
    bool is_remote; /* jobs live on without this process, in a folder that stays */
    /* Makes room, and takes the user's signals from now on; NULL after a message. */
    void *(*open)(const Workplace *place);
    /* Begins a job, whose number is the caller's own. False after a message. */
    bool (*start)(void *state, const Job *job, int number);
    /* Waits for at most a second; for EVENT_ENDED says which job, and its status as from wait(),
     * for EVENT_INTERRUPTED the signal in the place of the status. */
    Event (*wait)(void *state, int *number, int *status);
    /* Ends what still runs, or leaves it, where that is remote. */
    void (*stop)(void *state);
    /* How many jobs of a folder run, and wait to; NULL: that is not to be asked. */
    bool (*count)(const char *folder, int *running, int *waiting);
    /* After stop: signals end the process again, one that came meanwhile at once. */
    void (*close)(void *state);
} Executor;

extern const Executor executor_local;
extern const Executor executor_slurm;

#endif
