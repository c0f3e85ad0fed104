/* A run that a front end asks for, and everything that determines its result. */
#ifndef TYTO_CLI_ENGINE_TASK_H
#define TYTO_CLI_ENGINE_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/engine/contents.h"
#include "cli/engine/record.h"
#include "cli/engine/store.h"
#include "cli/engine/words.h"

/* The request of a front end; the texts are copied. */
typedef struct TaskForm {
    Words program; /* a workload or program, and its arguments */
    const char *size,
        *seed; /* NULL: the program's default. A workload takes them as --size and --seed; in the
                  words of any other program they replace {size} and {seed} */
    const char *machine;       /* NULL: the default, as for the schedulers */
    const char *scheduler;     /* with its parameters */
    const char *cta_scheduler; /* likewise */
    Words set;                 /* "key=value" of the machine */
    Words options; /* other options of the simulator, names and values in turn; the last value of an
                      option counts */
    const char *registers;  /* of each thread; NULL: our estimate */
    const char *stop_after; /* thread instructions that end it; NULL: none do */
    Words inputs;           /* files that the program reads although its words do not name them */
    Words variables;        /* names of environment variables that the program reads */
    Recording record;
    bool allows_plugins; /* machine files may name code to load */
} TaskForm;

/* Takes the simulator's options from a command line. The form then owns its lists of words. */
void task_form_take(TaskForm *form, const Arguments *arguments);
/* Adds another option with its value, NULL for a flag. */
void task_form_add(TaskForm *form, const TytoOption *option, const char *value);
void task_form_free(TaskForm *form);

/* The first text of a form (machine, scheduler, value of the machine, ...) that is wrong by itself,
 * with the reason in `message`; NULL: none. */
const char *task_form_find_wrong(const TaskForm *form, char *message, size_t size_bytes);

/* Reduces a message of the simulator to the reason: removes the option at its start and the word
 * "error", which the user already knows. Keeps the place in a file that the option names. */
void task_cut_message(char *message);

typedef struct Task {
    RunKey key;        /* owned, as all below */
    Words line;        /* the command line that starts the program */
    Words options;     /* for the simulator, without the files of results */
    Words inputs;      /* files that its arguments and the form named when it was planned */
    Words variables;   /* names of the form's */
    bool is_kept;      /* the store had its result when it was planned */
    Recording record;  /* besides the counters */
    char name[33];     /* of its files: a hash of the key */
    RunState state;    /* in the store */
    bool is_replaying; /* its program has ended, and its recorded lookups are being replayed */
    int losses;        /* number of times that it was ended from outside */
    uint64_t failure;  /* a hash of the reason and the output of its failure; 0: no failure */
} Task;

/* Fills in a task. False if something that the form names does not exist: *why is the simulator's
 * reason (owned by the caller), or NULL after a message. */
bool task_make(Task *task, const TaskForm *form, Contents *contents, char **why);
void task_free(Task *task);
/* Whether everything that the run reads is unchanged since the task was made. False after a
 * message. */
bool task_is_current(const Task *task, Contents *contents);
/* The name of the run in messages, such as "spmv under gto on owl". The caller frees it. */
char *task_name(const RunKey *key);

#endif
