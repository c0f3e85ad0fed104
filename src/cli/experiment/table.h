/* The table of an experiment, computed from its finished runs: a value for each program and column,
 * the means, and the published values. Values have the form in which they are shown: 62% is 62,
 * +33% is 33. */
#ifndef TYTO_CLI_EXPERIMENT_TABLE_H
#define TYTO_CLI_EXPERIMENT_TABLE_H

#include <stdbool.h>

#include "cli/experiment/study.h"

/* Verdicts compare the printed digits of both numbers. */
typedef enum Verdict {
    VERDICT_NONE,      /* no published value, or no value of ours */
    VERDICT_AGREES,    /* differs by at most half of the claim; within a bound */
    VERDICT_DIRECTION, /* differs by more, but is at least a third of the claim */
    VERDICT_DIFFERS,
    VERDICT_COUNT
} Verdict;

/* The kinds of published numbers. */
typedef enum ClaimKind {
    CLAIM_EFFECT,    /* a gain or loss of this size */
    CLAIM_NO_CHANGE, /* neither gain nor loss */
    CLAIM_VALUE,     /* a count, a share, a latency */
    CLAIM_ONE_SIDED, /* at least, or at most */
    CLAIM_KIND_COUNT
} ClaimKind;

/* A column's value in a setup, and its divisor. */
typedef struct Ratio {
    double value, base;
} Ratio;

typedef struct Cell {
    double value;     /* NAN: its runs are missing */
    double published; /* NAN: not published */
    Ratio ratio;      /* from which `value` is computed; not set for a mean */
    Verdict verdict;
    const Claim *claim; /* the claim that publishes it; NULL: not published */
    const Run *run;     /* the run of the value; NULL: missing, or the row is a mean */
    const Run *over;    /* the run whose value is the divisor; NULL: none */
} Cell;

typedef struct Table {
    const Experiment *experiment;
    int rows; /* programs, then means */
    int columns;
    Cell *cells; /* row by row */
} Table;

/* False after a message if the store fails or a metric does not exist. */
bool table_make(Table *table, const Study *study);
void table_free(Table *table);
const Cell *table_cell(const Table *table, int row, int column);
const char *table_row_label(const Table *table, int row);
/* How a cell is shown: in its column's form, or as a number if its row counts programs. */
Form table_form(const Table *table, int row, int column);
bool table_is_count(const Table *table, int row);
/* The kind of a cell's claim, which it must have. */
ClaimKind table_claim_kind(const Table *table, int row, int column);
/* Whether our value differs by at most a quarter of the published number. */
bool table_is_close(const Table *table, int row, int column);
/* "1.33x", "62%"; "-" for NAN. */
void table_format(Form form, double value, char *text, int size_bytes);
const char *table_verdict_name(Verdict verdict);
/* Counts the verdicts on all published numbers. */
void table_count_verdicts(const Table *table, int counts[VERDICT_COUNT]);
/* The verdict on an experiment whose numbers count as one claim: the verdict that at least half of
 * them reach. */
Verdict table_verdict_as_one(const Table *table);
/* The program without which less than half of a mean's effect remains, and the mean without it;
 * NULL: none. */
const char *table_rests_on(const Table *table, int row, int column, double *without);
/* For a column with a threshold: the number of programs on the paper's side of it, and of programs
 * with both values. */
void table_count_sides(const Table *table, int column, int *same, int *all);

#endif
