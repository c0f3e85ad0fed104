/* An executor runs programs. It is a struct of functions, so that the same runs can be made on one
 * host or on a cluster. */
#ifndef TYTO_CLI_ENGINE_EXECUTOR_H
#define TYTO_CLI_ENGINE_EXECUTOR_H

#include <stdbool.h>

#include "cli/engine/words.h"

/* A program to run; the texts need not outlive the call of `start`. */
typedef struct Job {
    const char *name;   /* of its files in the folder; unique among all runs */
    Words line;         /* the program and its arguments; the list ends with NULL */
    Words options;      /* for TYTO_OPTIONS, --json among them */
    const char *output; /* file for what the program prints */
} Job;

/* The status of a job that could not write its result, which is an error of the host and not of the
 * program: EX_TEMPFAIL of sysexits.h, with which any program asks to be run again. An environment
 * variable of the job passes it to the library. */
enum { EXECUTOR_UNWRITTEN = 75 };
#define EXECUTOR_TELL_UNWRITTEN "TYTO_UNWRITTEN"

/* The result of waiting. */
typedef enum Event {
    EVENT_NONE,        /* the time has passed */
    EVENT_ENDED,       /* a job ended */
    EVENT_INTERRUPTED, /* the user wants to stop: Ctrl-C, or a signal to end */
    EVENT_FAILED       /* nothing more can be run; already reported */
} Event;

/* Where and how many jobs run. */
typedef struct Workplace {
    const char *folder; /* shared by a remote executor and its jobs; else NULL */
    const char *title;  /* what the runs are for */
    int jobs;           /* most jobs at once; 0: as many as a remote executor has room for */
} Workplace;

typedef struct Executor {
    const char *name;
    bool is_remote; /* jobs continue without this process, in a permanent folder */
    /* Prepares the executor, and handles the user's signals from now on; NULL after a message. */
    void *(*open)(const Workplace *place);
    /* Starts a job; the caller chooses its number. False after a message. */
    bool (*start)(void *state, const Job *job, int number);
    /* Waits for at most a second. For EVENT_ENDED it returns the job and its status in the form of
     * wait(), for EVENT_INTERRUPTED the signal instead of the status. */
    Event (*wait)(void *state, int *number, int *status);
    /* Ends the jobs that still run; a remote executor may leave them running. */
    void (*stop)(void *state);
    /* The numbers of a folder's jobs that run and that wait; NULL: unknown to this executor. */
    bool (*count)(const char *folder, int *running, int *waiting);
    /* Call after stop: signals end the process again; a signal that is pending does so at once. */
    void (*close)(void *state);
} Executor;

extern const Executor executor_local;
extern const Executor executor_slurm;

#endif
