/* A table or figure of a paper, as its file in experiments/ declares it: the programs, their
 * setups, the values computed from the runs, and the published numbers. docs/experiments.md
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
    const char *kernel;        /* count only launches of this kernel; NULL: all */
    const char *cta_scheduler; /* instead of the setup's; NULL: the setup's */
    const char
        *registers; /* per thread, as the paper's compiler allocated them; NULL: our estimate */
    const char *stop_after; /* thread instructions after which the paper's runs end; NULL: they run
                               to the end */
    Words set;              /* "key=value" of the machine, after the setup's */
    int item;               /* index of the recorded item, from 1; 0: none */
} Program;

/* How programs are run: everything except the program and its size. */
typedef struct Setup {
    const char *name;
    const char *machine;   /* NULL: the experiment's */
    Words schedulers;      /* several: each program takes the one with the fewest cycles */
    Words cta_schedulers;  /* likewise; none: the machine's own */
    Words set;             /* "key=value" of the machine */
    Words run;             /* workload and arguments, for rows that have none */
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
    FORM_INDEX, /* index of an item: the same or another */
    FORM_COUNT
} Form;

/* The row whose value divides a column's values, in addition to the setup `over`. */
typedef enum Base { BASE_NONE, BASE_FIRST, BASE_PREVIOUS, BASE_COUNT } Base;

#define EXPERIMENT_ENDING ".yaml" /* of a file's name; the part before it is the id */

/* Whether a metric is a parameter of the run's scheduler, "scheduler.limit". If the setup has
 * several schedulers, it is a parameter of the best one. */
bool experiment_is_of_scheduler(const char *metric);

/* The number that a scheduler's text, "swl:limit=4", sets for such a parameter; NAN: it sets none.
 */
double experiment_of_scheduler(const char *scheduler, const char *metric);

/* A column: the sum of `metric` of a run, divided by the sum of `per`, divided by the same value of
 * another setup, or by that setup's sum of `over_metric`. */
typedef struct Column {
    const char *label;
    Words metric;      /* counters or ratios of a run, docs/metrics.md */
    Words per;         /* none: not divided */
    const char *setup; /* whose runs */
    const char *over;  /* setup whose value divides it; NULL: none */
    Words over_metric; /* metrics of that value; none: `metric` */
    Base over_row;     /* row whose value divides it */
    const char *from;  /* in a plot of spans, the column with the starts of its bars; NULL: 0 */
    Form form;         /* how values are shown */
    double threshold;  /* the text divides the programs at this value; 0: none */
} Column;

typedef enum MeanKind {
    MEAN_ARITHMETIC,
    MEAN_GEOMETRIC,
    MEAN_HARMONIC,
    MEAN_LARGEST,   /* not a mean: the best case */
    MEAN_SMALLEST,  /* likewise */
    MEAN_OF_VALUES, /* not of the ratios: the mean of the values divided by the mean of their
                       divisors */
    MEAN_ABOVE,     /* not a mean: the number of programs with values above `than` */
    MEAN_BELOW,     /* likewise below */
    MEAN_COUNT
} MeanKind;

typedef struct Mean {
    const char *label; /* the paper's name for it */
    MeanKind kind;
    Words of;    /* labels of programs; none: all */
    double than; /* for counts: the threshold, as the column shows values */
} Mean;

/* A claim of a bound, such as "does not degrade" or "the majority". */
typedef enum Bound { BOUND_NONE, BOUND_LEAST, BOUND_MOST, BOUND_COUNT } Bound;

/* The paper's claims about a column. */
typedef struct Claim {
    const char *column;
    const char *place;    /* "section 5.1" */
    const char *examined; /* why our values differ, as an examination found; NULL: not examined */
    Words headline;       /* rows for the headlines of a page of claims */
    Bound bound;          /* whether the values are lower or upper bounds */
    double most;          /* for a lower bound: the upper bound in the text ("slightly"); 0: none */
    const char *repeats;  /* the experiment that counts the same numbers; NULL: this one */
    const char *derived; /* published numbers from which these were computed; NULL: the paper prints
                            these */
    const char *fitted;  /* the part of our model that was fitted to these numbers; NULL: none */
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
    COUNT_AS_ONE, /* all numbers are of one run and count as one claim */
    COUNTING_COUNT
} Counting;

/* Experiments that one command runs together, and that share a page of claims. */
typedef enum Group {
    GROUP_PAPERS, /* tables and figures of the four papers whose machines Tyto models */
    GROUP_LATER,  /* headlines of other schedulers' papers, on the nearest machine and programs */
    GROUP_COUNT
} Group;

typedef struct Experiment {
    const char *id; /* "owl-figure-7" */
    Group group;
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
    FieldFile *file; /* owns everything */
} Experiment;

/* Reads a file; NULL after messages with line and column. The file may name shared objects as
 * schedulers only if `allows_plugins`; they become paths relative to the current folder. */
Experiment *experiment_read(const char *path, bool allows_plugins);
/* Reads a file's bytes in the same way; `path` is for messages. */
Experiment *experiment_parse(const char *path, const char *text, size_t length,
                             bool allows_plugins);
void experiment_free(Experiment *experiment); /* NULL is allowed */

int experiment_find_program(const Experiment *experiment, const char *label); /* -1: none */
/* Index of a row of the table: programs come first, then means; -1: none. */
int experiment_find_row(const Experiment *experiment, const char *label);
const Setup *experiment_find_setup(const Experiment *experiment, const char *name);

#endif
