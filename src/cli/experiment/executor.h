/* What runs programs: a struct of functions, so that the same experiments can run on one host or on
 * a cluster. One that is there: local processes. */
#ifndef TYTO_CLI_EXPERIMENT_EXECUTOR_H
#define TYTO_CLI_EXPERIMENT_EXECUTOR_H

#include <stdbool.h>

/* A program to run; the texts live until it has ended. */
typedef struct Job {
    char **words;               /* the program and its arguments, ends with NULL */
    const char *const *options; /* for TYTO_OPTIONS, --json among them */
    int option_count;
    const char *output; /* file for what the program prints */
} Job;

/* What happened while waiting. */
typedef enum Event {
    EVENT_NONE,       /* the time is over */
    EVENT_ENDED,      /* a job ended */
    EVENT_INTERRUPTED /* the user wants to stop: Ctrl-C, or a signal to end */
} Event;

typedef struct Executor {
    const char *name;
    /* Makes room for `jobs` at once, and takes the user's signals from now on; NULL after a
     * message.
     */
    void *(*open)(int jobs);
    /* Begins a job, whose number is the caller's own. False after a message. */
    bool (*start)(void *state, const Job *job, int number);
    /* Waits for at most a second; for EVENT_ENDED says which job, and its status as from wait(). */
    Event (*wait)(void *state, int *number, int *status);
    /* Ends what still runs. */
    void (*stop)(void *state);
    /* After stop: signals end the process again, one that came meanwhile at once. */
    void (*close)(void *state);
} Executor;

extern const Executor executor_local;

#endif
