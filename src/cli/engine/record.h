/* A run's record besides its counters: the files of options --ctas and --policies, for PRO's Figure
 * 2 and Table IV; or the result of a replay, for CCWS's figures. */
#ifndef TYTO_CLI_ENGINE_RECORD_H
#define TYTO_CLI_ENGINE_RECORD_H

#include <stdbool.h>

#define RECORD_CYCLES "1000" /* SM cycles between two samples of the order */

/* The kinds of record besides a run's counters. */
typedef enum Recording {
    RECORD_NOTHING,
    RECORD_CTAS,   /* when each thread block of SM 0 ran, PRO's order of them every 1000 cycles */
    RECORD_LRU,    /* the counts of a replay of the run's L1D lookups on its L1D */
    RECORD_BELADY, /* likewise under Belady's policy */
    RECORD_UNBOUNDED, /* likewise without replacement */
    RECORDING_COUNT
} Recording;
extern const char *const record_names[RECORDING_COUNT + 1]; /* ends with NULL */

/* A part of a record, to which a metric "list.field" refers. */
typedef struct RecordPart {
    const char *name;            /* of the list, or of the single thing */
    Recording recording;         /* the record that contains it */
    bool has_items;              /* the part is a list */
    const char *(*field)(int i); /* names of its fields, NULL after the last; NULL: numbers from 1
                                  */
} RecordPart;

/* The part to which a metric refers; NULL: there is none, or it has no such field. */
const RecordPart *record_find_part(const char *metric);

/* The first launch on SM 0 as JSON; NULL after a message. The caller frees it. Thread blocks are
 * numbered from 0 in the order in which they began there.
 *   ctas      {start, end} of each, SM cycles
 *   order     the scheduler's order every 1000 cycles as {"1": highest, "2": next, ...};
 *             empty if it reports none
 *   progress  likewise, PRO's order by progress alone */
char *record_read(const char *ctas_path, const char *policies_path);
/* Reads the file that tyto cache --json wrote to `path`, as {`name`: ...}; NULL after a message.
 * The caller frees it. */
char *record_read_replay(const char *name, const char *path);

#endif
