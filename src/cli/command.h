/* Commands of `tyto`: what a command is, and what all of them share. The command is a user of the
 * library like any other: it includes public headers only. */
#ifndef TYTO_CLI_COMMAND_H
#define TYTO_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/engine/words.h"
#include "tyto/tyto.h"

/* Exit statuses, as docs/command.md lists them. */
enum {
    EXIT_DONE = 0,
    /* The kernel failed, what is worked on (PTX, data, a recording, results, a database) cannot be
     * read or has mistakes, or a file could not be written at the end. */
    EXIT_FAILED = 1,
    /* Nothing has begun: the command line makes no sense, or says to run what cannot be: a machine,
     * a scheduler, a program of a comparison, a sweep or an experiment that is not there or has
     * mistakes, or a file for results that cannot be written. */
    EXIT_USAGE = 2,
    EXIT_FOUND = 3,        /* the run is done, and the checks found errors */
    EXIT_CANNOT_RUN = 126, /* the program cannot be executed */
    EXIT_NOT_FOUND = 127   /* there is no such program */
};

/* An option that was given. */
typedef struct GivenOption {
    const TytoOption *option;
    const char *value; /* NULL for a flag, and for one that may be left out ("[=PORT]") */
} GivenOption;

/* A command line, taken apart. */
typedef struct Arguments {
    GivenOption *options; /* the command's own, in the order given */
    int option_count;
    const char **simulator; /* the simulator's options: names and values in turn, checked */
    int simulator_count;
    char *snapshot;           /* that --live adds to those; owned, NULL: none */
    const TytoOption **given; /* the simulator's options that were given, in order */
    int given_count;
    char **operands; /* what is no option; ends with NULL */
    int operand_count;
    Words command; /* the whole command line: tyto, the command, and what follows; the list is owned
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
    bool makes_runs;      /* ... but for those that are of one run: it makes several */
    bool ends_at_operand; /* what follows the first operand belongs to another program ... */
    bool (*shares_options)(const char *operand); /* ... but for our options, after such a one */
    bool takes_unknown;   /* so does everything from the first unknown option on */
    int most_operands;    /* at most this many operands; -1: any number */
    bool lists_workloads; /* its help names them */
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

/* One of the simulator's options; NULL: there is none of the name. */
const TytoOption *option_find(const char *name);

/* The last value given for an option ("--kernel"), NULL when it was not given. */
const char *arguments_value(const Arguments *arguments, const char *name);
bool arguments_has(const Arguments *arguments, const char *name);
/* The processes to run at once: what --jobs says, else as many as the host has processors. False
 * after a message. */
bool arguments_jobs(const Arguments *arguments, int *jobs);
/* Whether the command takes this option of the simulator unchanged, because it lacks an option of
 * its own for it. */
bool command_takes(const Command *command, const TytoOption *option);
/* Whether one of the simulator's options was given. */
bool arguments_gave(const Arguments *arguments, const char *name);
/* Whether all of the simulator's options that were given can be those of several runs. False after
 * a message. */
bool arguments_check_runs(const Arguments *arguments, const char *command);
/* Whether nothing in the environment would add to what the command line says. False after a
 * message. */
bool arguments_check_environment(const char *command);
/* Whether a file that an option names is standard output. */
bool arguments_writes_output(const Arguments *arguments);
/* The option by which the same file, or standard output, is written as `path` says, with what it is
 * in *place; NULL: none. */
const char *arguments_find_writer(const Arguments *arguments, const char *path, const char **place);
/* Takes the words after the command's name apart. False after a message. */
bool arguments_parse(const Command *command, int count, char **words, Arguments *out);
void arguments_free(Arguments *arguments);

/* "tyto: error: ..." on stderr, in colour on a terminal. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Printed on standard output, with '?' for each control character but tabs and ends of lines: what
 * names of files and functions hold must not steer the terminal. */
void put_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The width for printf ("%*s", "%-*s") that fills a text up to `columns` columns. printf counts
 * bytes, not columns. */
int pad_text(const char *text, int columns);

/* Arguments for "%s%s%s" at a message's end: the name that was probably meant (tyto_nearest). They
 * print nothing when it is NULL. */
#define MEANT(nearest)                                                                             \
    (nearest) ? "; did you mean '" : "", (nearest) ? (nearest) : "", (nearest) ? "'?" : ""

/* The index of a kernel of the module that came from `path`; -1 after a message. */
int find_kernel(const TytoModule *module, const char *path, const char *name);

/* malloc that ends the program when memory is out. Zeroed. */
void *allocate(size_t count, size_t size);

#endif
