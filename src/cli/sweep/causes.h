/* Causes of the differences between the columns of a league: quantities that policies act on, in
 * each column and in the baseline's, and whether the rows in which they change are the rows that
 * gain. */
#ifndef TYTO_CLI_SWEEP_CAUSES_H
#define TYTO_CLI_SWEEP_CAUSES_H

#include <stdbool.h>

#include "cli/sweep/league.h"

/* Quantities that a policy may act on. */
typedef enum Cause {
    CAUSE_OWN_HITS,   /* L1D hits on lines that the same warp brought in, of all lookups */
    CAUSE_OTHER_HITS, /* L1D hits on lines that another warp brought in, of all lookups */
    CAUSE_THROTTLED,  /* scheduler cycles in which the policy lets no ready instruction issue */
    CAUSE_IDLE,       /* scheduler cycles without a valid instruction */
    CAUSE_WARPS,      /* mean warps on an SM */
    CAUSE_ROW_HITS,   /* share of DRAM requests that found their row open */
    CAUSE_PREFETCHES, /* share of lines prefetched into L2 that were used */
    CAUSES
} Cause;

typedef struct CauseRow {
    const char *name;   /* heading of its column */
    const char *metric; /* a counter or a ratio */
    const char *of;     /* the counter that divides the metric; NULL: the metric is the quantity */
} CauseRow;
extern const CauseRow cause_rows[CAUSES];

typedef struct Causes {
    int columns;           /* as in the league */
    double *means[CAUSES]; /* of each column, over the complete rows that have it; NAN: none has */
    /* Of each column: Spearman's rank correlation over the complete rows between the speed-up and
     * the change of the quantity from the baseline; NAN: fewer than CAUSES_LEAST_ROWS rows, or one
     * of the two is the same in all of them. */
    double *agreement[CAUSES];
} Causes;

enum { CAUSES_LEAST_ROWS = 5 };

/* The causes of a league; NULL after a message when the store fails. */
Causes *causes_new(const Sweep *sweep, Store *store, const League *league);
void causes_free(Causes *causes); /* NULL is allowed */

#endif
