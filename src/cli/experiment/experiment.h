/* A table or figure of a paper, as its file in experiments/ declares it: which programs run, in
 * which setups, what is computed of the runs, and what the paper published. docs/experiments.md
 * describes the file. All texts belong to the experiment. */
#ifndef TYTO_CLI_EXPERIMENT_EXPERIMENT_H
#define TYTO_CLI_EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/engine/fields.h"
#include "cli/engine/record.h"
#include "cli/engine/words.h"

/* A row: a program of the paper, or a way in which the programs of the setups are run. */
typedef struct Program {
    const char *label;         /* the paper's name */
    Words run;                 /* our workload, and its arguments after --size; none: the setup's */
    Words at_paper;            /* arguments that follow those at size paper */
    const char *kernel;        /* count launches of this kernel alone; NULL: all */
    const char *cta_scheduler; /* instead of the setup's; NULL: the setup's */
    const char *registers;  /* per thread, as the paper's compiler had them; NULL: our estimate */
    const char *stop_after; /* thread instructions that the paper's runs end after; NULL: none do */
    Words set;              /* "key=value" of the machine, after the setup's */
    int item;               /* which of the recorded things, from 1; 0: none */
} Program;

/* How programs are run: everything but the program and its size. */
typedef struct Setup {
    const char *name;
    const char *machine;   /* NULL: the experiment's */
    Words schedulers;      /* several: each program takes the one with the fewest cycles */
    Words cta_schedulers;  /* likewise; none: the machine's own */
    Words set;             /* "key=value" of the machine */
    Words run;             /* as a program's, for rows that have none */
    const char *registers; /* likewise */
    Recording record;
} Setup;

typedef enum Form {
    FORM_RATIO,        /* a value near 1: 1.33x */
    FORM_PERCENT,      /* a share: 62% */
    FORM_CHANGE,       /* a ratio less 1: +33% */
    FORM_DECREASE,     /* 1 less a ratio: 8% fewer */
    FORM_PER_THOUSAND, /* a share, of 1000 */
    FORM_NUMBER,
    FORM_INDEX, /* of a thing: the same or another */
    FORM_COUNT
} Form;

/* The row whose value divides a column's, besides that of the setup `over`. */
typedef enum Base { BASE_NONE, BASE_FIRST, BASE_PREVIOUS, BASE_COUNT } Base;

#define EXPERIMENT_ENDING ".yaml" /* of a file's name; what is before it is the id */

/* Whether a metric is a parameter of the run's scheduler, "scheduler.limit": of several, of the one
 * taken. */
bool experiment_is_of_scheduler(const char *metric);

/* The number that a scheduler's words, "swl:limit=4", give to such a metric's parameter; NAN: they
 * give none. */
double experiment_of_scheduler(const char *scheduler, const char *metric);

/* A column: sum of `metric` of a run, over the sum of `per`, over the same of another setup, or
 * over that one's sum of `over_metric`. */
typedef struct Column {
    const char *label;
    Words metric;      /* counters or ratios of a run, docs/metrics.md */
    Words per;         /* none: not divided */
    const char *setup; /* whose runs */
    const char *over;  /* setup whose value divides it; NULL: none */
    Words over_metric; /* what that value is of; none: `metric` */
    Base over_row;     /* row whose value divides it */
    const char
        *from; /* column of the values at which its bars begin, in a plot of spans; NULL: 0 */
    Form form; /* how it is shown */
    double threshold; /* the text divides programs by it; 0: none */
} Column;

typedef enum MeanKind {
    MEAN_ARITHMETIC,
    MEAN_GEOMETRIC,
    MEAN_HARMONIC,
    MEAN_LARGEST,   /* no mean: the best case */
    MEAN_SMALLEST,  /* likewise */
    MEAN_OF_VALUES, /* not of the ratios: the mean of the values over that of what divides them */
    MEAN_ABOVE,     /* no mean: how many programs' values are above `than` */
    MEAN_BELOW,     /* likewise below */
    MEAN_COUNT
} MeanKind;

typedef struct Mean {
    const char *label; /* the paper's name of it */
    MeanKind kind;
    Words of;    /* labels of programs; none: all */
    double than; /* of a count: the value, as the column shows it, that it counts from */
} Mean;

/* What a text says without a number of its own: "does not degrade", "the majority". */
typedef enum Bound { BOUND_NONE, BOUND_LEAST, BOUND_MOST, BOUND_COUNT } Bound;

/* What the paper says of a column. */
typedef struct Claim {
    const char *column;
    const char *place;    /* "section 5.1" */
    const char *examined; /* why ours differ, as found by examination; NULL: not examined */
    Words headline;       /* rows that a page of claims begins with */
    Bound bound;          /* the values are the least or the most that the text allows */
    double most;          /* of a least: the most that the text allows ("slightly"); 0: no most */
    const char *repeats;  /* experiment in which the same numbers are counted; NULL: here */
    const char *derived;  /* published numbers that these were computed from; NULL: the paper
                             prints these */
    const char *fitted;   /* what of ours was chosen by these numbers; NULL: nothing was */
    Values values;
} Claim;

typedef enum Plot {
    PLOT_BARS,  /* a group for each row, a bar for each column */
    PLOT_LINES, /* a line for each column along the rows */
    PLOT_SPANS, /* a bar for each row, from one column's value to another's */
    PLOT_COUNT
} Plot;

/* How the published numbers of an experiment are counted. */
typedef enum Counting {
    COUNT_EACH,
    COUNT_AS_ONE, /* all are of one run: a single claim */
    COUNTING_COUNT
} Counting;

typedef struct Experiment {
    const char *id; /* "owl-figure-7" */
    const char *paper;
    const char *title;
    const char *place; /* in the paper */
    const char *machine;
    Words absent; /* programs of the paper that we do not have */
    Counting counting;
    Plot plot;
    struct {
        Program *list;
        int count;
    } programs;
    struct {
        Setup *list;
        int count;
    } setups;
    struct {
        Column *list;
        int count;
    } columns;
    struct {
        Mean *list;
        int count;
    } means;
    struct {
        Claim *list;
        int count;
    } published;
    uint64_t hash;   /* of the file's bytes */
    FieldFile *file; /* what owns it all */
} Experiment;

/* Reads a file; NULL after messages with line and column. Schedulers that are shared objects, which
 * the file may name only if `allows_plugins`, become paths that lead there from the current folder.
 */
Experiment *experiment_read(const char *path, bool allows_plugins);
/* The same of a file's bytes; `path` is for messages. */
Experiment *experiment_parse(const char *path, const char *text, size_t length,
                             bool allows_plugins);
void experiment_free(Experiment *experiment); /* NULL is allowed */

int experiment_find_program(const Experiment *experiment, const char *label); /* -1: none */
/* Index of a row of the table: programs first, then means; -1: none. */
int experiment_find_row(const Experiment *experiment, const char *label);
const Setup *experiment_find_setup(const Experiment *experiment, const char *name);

#endif
