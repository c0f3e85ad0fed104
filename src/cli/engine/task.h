/* A run that a front end asks for, and all that decides it. */
#ifndef TYTO_CLI_ENGINE_TASK_H
#define TYTO_CLI_ENGINE_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/engine/contents.h"
#include "cli/engine/record.h"
#include "cli/engine/store.h"
#include "cli/engine/words.h"

/* What a front end says; the texts are copied. */
typedef struct TaskForm {
    Words program;             /* a workload or program, and its arguments */
    const char *size, *seed;   /* NULL: the program's own; a workload takes them as --size and
                                  --seed, any other program in the place of {size} and {seed} */
    const char *machine;       /* NULL: the default, as for the schedulers */
    const char *scheduler;     /* with its parameters */
    const char *cta_scheduler; /* likewise */
    Words set;                 /* "key=value" of the machine */
    Words options;             /* other options of the simulator, names and values in turn; of one
                                  that is there twice the last holds */
    const char *registers;     /* of each thread; NULL: our estimate */
    const char *stop_after;    /* thread instructions that end it; NULL: none do */
    Words inputs;    /* files that the program reads without their being among its words */
    Words variables; /* of the environment, that it looks at; names */
    Recording record;
    bool allows_plugins; /* files of machines may name code that is loaded */
} TaskForm;

/* Takes the simulator's options from a command line. The lists of words are owned from then on. */
void task_form_take(TaskForm *form, const Arguments *arguments);
/* Adds another one, with its value, NULL for a flag. */
void task_form_add(TaskForm *form, const TytoOption *option, const char *value);
void task_form_free(TaskForm *form);

/* The text of a form (machine, scheduler, value of the machine, ...) that is wrong by itself, with
 * the reason in `message`; NULL: none is. */
const char *task_form_find_wrong(const TaskForm *form, char *message, size_t size_bytes);

/* Reduces a message of the simulator to what is wrong. The option at its start and the word "error"
 * go, as the user already knows both. The place in a file that the option names stays. */
void task_cut_message(char *message);

typedef struct Task {
    RunKey key;        /* owned, as all below */
    Words line;        /* the program as it is started */
    Words options;     /* for the simulator, but for the files of results */
    Words inputs;      /* files that its arguments named when it was planned, and the form */
    Words variables;   /* names of the form's */
    bool is_kept;      /* the store had its result when it was planned */
    Recording record;  /* besides the counters */
    char name[33];     /* of its files: a hash of the key */
    RunState state;    /* in the store */
    bool is_replaying; /* its program has ended, what it recorded is being replayed */
    int losses;        /* how often it was ended from outside */
    uint64_t failure;  /* a hash of how it failed and what it printed then; 0: no failure */
} Task;

/* Fills in a task. False: something named does not exist; *why says what the simulator has to say
 * of it (owned by the caller), or is NULL after a message. */
bool task_make(Task *task, const TaskForm *form, Contents *contents, char **why);
void task_free(Task *task);
/* Whether all that the run reads is what it was when the task was made. False after a message. */
bool task_is_current(const Task *task, Contents *contents);
/* "spmv under gto on owl", the way messages name it. The caller frees it. */
char *task_name(const RunKey *key);

#endif
