/* What a run records besides its counters: read from the files of options --ctas and --policies, of
 * which PRO's Figure 2 and Table IV are made; or the result of a replay, for CCWS's figures. */
#ifndef TYTO_CLI_ENGINE_RECORD_H
#define TYTO_CLI_ENGINE_RECORD_H

#include <stdbool.h>

#define RECORD_CYCLES "1000" /* SM cycles between two samples of the order */

/* What is kept of a run besides its counters. */
typedef enum Recording {
    RECORD_NOTHING,
    RECORD_CTAS,   /* when each thread block of SM 0 ran, PRO's order of them every 1000 cycles */
    RECORD_LRU,    /* the counts of a replay of the run's L1D lookups on its L1D */
    RECORD_BELADY, /* likewise under Belady's policy */
    RECORD_UNBOUNDED, /* likewise without replacement */
    RECORDING_COUNT
} Recording;
extern const char *const record_names[RECORDING_COUNT + 1]; /* ends with NULL */

/* What a metric of a record, "list.field", is of. */
typedef struct RecordPart {
    const char *name;            /* of the list, or of the one thing that there is */
    Recording recording;         /* with which it is kept */
    bool has_items;              /* it is a list */
    const char *(*field)(int i); /* names of its fields, NULL after the last; NULL: numbers from 1
                                  */
} RecordPart;

/* The part that a metric is of; NULL: there is none, or it has no such field. */
const RecordPart *record_find_part(const char *metric);

/* The first launch on SM 0 as JSON; NULL after a message. The caller frees it. Thread blocks are
 * numbered from 0 in the order in which they began there.
 *   ctas      {start, end} of each, SM cycles
 *   order     every 1000 cycles, the scheduler's order as {"1": highest, "2": next, ...}; empty
 * when it reports none progress  likewise, PRO's order by progress alone */
char *record_read(const char *ctas_path, const char *policies_path);
/* What tyto cache --json wrote to `path`, as {`name`: ...}; NULL after a message. The caller frees
 * it. */
char *record_read_replay(const char *name, const char *path);

#endif
