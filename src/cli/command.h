/* Commands of `tyto`: the description of a command, and functions that all commands share. The
 * command uses the library as any program does: it includes only public headers. */
#ifndef TYTO_CLI_COMMAND_H
#define TYTO_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/engine/words.h"
#include "tyto/tyto.h"

/* Exit statuses, as docs/command.md lists them. */
enum {
    EXIT_DONE = 0,
    /* The kernel failed, the input (PTX, data, a recording, results, a database) cannot be read or
     * has errors, or a file could not be written at the end. */
    EXIT_FAILED = 1,
    /* Nothing was started: the command line is wrong, or it names a machine, a scheduler, a program
     * to compare, a sweep or an experiment that does not exist or has errors, or a file for results
     * that cannot be written. */
    EXIT_USAGE = 2,
    EXIT_FOUND = 3,        /* the run finished, and the checks found errors */
    EXIT_CANNOT_RUN = 126, /* the program cannot be executed */
    EXIT_NOT_FOUND = 127   /* there is no such program */
};

/* An option that was given. */
typedef struct GivenOption {
    const TytoOption *option;
    const char
        *value; /* NULL for a flag, and for an optional value ("[=PORT]") that was not given */
} GivenOption;

/* A parsed command line. */
typedef struct Arguments {
    GivenOption *options; /* the command's own, in the order given */
    int option_count;
    const char **simulator; /* the simulator's options: names and values in turn, checked */
    int simulator_count;
    char *snapshot; /* file of --snapshot, which --live adds to those; owned, NULL: none */
    const TytoOption **given; /* the simulator's options that were given, in order */
    int given_count;
    char **operands; /* the words that are not options; ends with NULL */
    int operand_count;
    Words command; /* the whole command line: tyto, the command, and the other words; owns the list
                    */
} Arguments;

typedef struct Command {
    const char *name;
    const char *operands; /* "FILE..." */
    const char *summary;  /* one line */
    const char *text;     /* paragraphs and examples of its help */
    const TytoOption *options;
    int option_count;
    bool has_simulator;   /* takes the simulator's options too ... */
    bool makes_runs;      /* ... except options of a single run, because it makes several */
    bool ends_at_operand; /* what follows the first operand belongs to another program ... */
    bool (*shares_options)(const char *operand); /* ... except Tyto's options, after an operand for
                                                    which this is true */
    bool takes_unknown;   /* everything from the first unknown option on belongs to it too */
    int most_operands;    /* at most this many operands; -1: any number */
    bool lists_workloads; /* its help lists the workloads */
    int lowest_operands;  /* at least this many */
    int (*run)(Arguments *arguments);
} Command;

extern const Command command_run;
extern const Command command_compare;
extern const Command command_sweep;
extern const Command command_league;
extern const Command command_reproduce;
extern const Command command_report;
extern const Command command_launch;
extern const Command command_cc;
extern const Command command_ptx;
extern const Command command_disasm;
extern const Command command_new;
extern const Command command_completion;
extern const Command command_machines;
extern const Command command_schedulers;
extern const Command command_workloads;
extern const Command command_metrics;
extern const Command command_explain;
extern const Command command_cost;
extern const Command command_cache;
extern const Command command_help;

/* All commands, in the order of the help. */
extern const Command *const commands[];
extern const int command_count;
const Command *command_find(const char *name); /* NULL: no such command */

/* The simulator's option of this name; NULL: none. */
const TytoOption *option_find(const char *name);

/* The last value given for an option ("--kernel"), NULL when it was not given. */
const char *arguments_value(const Arguments *arguments, const char *name);
bool arguments_has(const Arguments *arguments, const char *name);
/* The number of processes to run at once: the value of --jobs, by default the number of the host's
 * processors. False after a message. */
bool arguments_jobs(const Arguments *arguments, int *jobs);
/* Whether the command passes this option to the simulator unchanged; it does so unless it has its
 * own option for the same purpose. */
bool command_takes(const Command *command, const TytoOption *option);
/* Whether one of the simulator's options was given. */
bool arguments_gave(const Arguments *arguments, const char *name);
/* Whether all given options of the simulator are allowed in a command that makes several runs.
 * False after a message. */
bool arguments_check_runs(const Arguments *arguments, const char *command);
/* Whether the environment adds no options to those of the command line. False after a message. */
bool arguments_check_environment(const char *command);
/* Whether an option writes to standard output. */
bool arguments_writes_output(const Arguments *arguments);
/* The option that writes the same file as `path`, or standard output like `path`; *place becomes
 * the name of that file for messages. NULL: none. */
const char *arguments_find_writer(const Arguments *arguments, const char *path, const char **place);
/* Parses the words after the command's name. False after a message. */
bool arguments_parse(const Command *command, int count, char **words, Arguments *out);
void arguments_free(Arguments *arguments);

/* "tyto: error: ..." on stderr, in colour on a terminal. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints to standard output, with '?' for each control character except tabs and line ends, because
 * names of files and functions must not control the terminal. */
void put_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The width for printf ("%*s", "%-*s") that pads a text to `columns` columns. printf counts bytes,
 * not columns. */
int pad_text(const char *text, int columns);

/* Arguments for "%s%s%s" at the end of a message: the name that was probably meant (tyto_nearest).
 * They print nothing if it is NULL. */
#define MEANT(nearest)                                                                             \
    (nearest) ? "; did you mean '" : "", (nearest) ? (nearest) : "", (nearest) ? "'?" : ""

/* The index of a kernel in the module that was loaded from `path`; -1 after a message. */
int find_kernel(const TytoModule *module, const char *path, const char *name);

/* Zeroed memory. Ends the program when there is no memory left. */
void *allocate(size_t count, size_t size);

#endif
