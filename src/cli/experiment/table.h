/* The table of an experiment, computed of its finished runs: a value for each program and column,
 * the means, and what the paper published. Values are as they are shown: 62% is 62, +33% is 33. */
#ifndef TYTO_CLI_EXPERIMENT_TABLE_H
#define TYTO_CLI_EXPERIMENT_TABLE_H

#include <stdbool.h>

#include "cli/experiment/study.h"

/* By the digits that are printed of both numbers. */
typedef enum Verdict {
    VERDICT_NONE,      /* nothing published, or no value of ours */
    VERDICT_AGREES,    /* off by at most half of the claim; on the right side of a bound */
    VERDICT_DIRECTION, /* off by more, but at least a third of the claim */
    VERDICT_DIFFERS,
    VERDICT_COUNT
} Verdict;

/* What a published number says. */
typedef enum ClaimKind {
    CLAIM_EFFECT,    /* something gains or loses so much */
    CLAIM_NO_CHANGE, /* it does neither */
    CLAIM_VALUE,     /* a count, a share, a latency */
    CLAIM_ONE_SIDED, /* no less, or no more */
    CLAIM_KIND_COUNT
} ClaimKind;

/* A column's value in a setup, and what it is shown over. */
typedef struct Ratio {
    double value, base;
} Ratio;

typedef struct Cell {
    double value;     /* NAN: its runs are missing */
    double published; /* NAN: not published */
    Ratio ratio;      /* that `value` shows; of a mean: not set */
    Verdict verdict;
    const Claim *claim; /* that it was published in; NULL: not published */
    const Run *run;     /* whose value it is; NULL: missing, or the row is a mean */
    const Run *over;    /* whose value that one's is divided by; NULL: none */
} Cell;

typedef struct Table {
    const Experiment *experiment;
    int rows; /* programs, then means */
    int columns;
    Cell *cells; /* row by row */
} Table;

/* False after a message: the store fails, or a metric does not exist. */
bool table_make(Table *table, const Study *study);
void table_free(Table *table);
const Cell *table_cell(const Table *table, int row, int column);
const char *table_row_label(const Table *table, int row);
/* How a cell is shown: as its column, or as a number where its row is a count of programs. */
Form table_form(const Table *table, int row, int column);
bool table_is_count(const Table *table, int row);
/* The kind of a cell's claim, which it must have. */
ClaimKind table_claim_kind(const Table *table, int row, int column);
/* Whether ours is off by at most a quarter of the published number. */
bool table_is_close(const Table *table, int row, int column);
/* "1.33x", "62%"; "-" for NAN. */
void table_format(Form form, double value, char *text, int size_bytes);
const char *table_verdict_name(Verdict verdict);
/* Counts of the verdicts on all published numbers. */
void table_count_verdicts(const Table *table, int counts[VERDICT_COUNT]);
/* The verdict on an experiment whose numbers are one claim: what half of them have at least. */
Verdict table_verdict_as_one(const Table *table);
/* The program without which less than half of a mean's effect is left, and the mean without it;
 * NULL: there is none. */
const char *table_rests_on(const Table *table, int row, int column, double *without);
/* Programs of a column with a threshold on the paper's side of it, and all that have both values.
 */
void table_count_sides(const Table *table, int column, int *same, int *all);

#endif
