/* When each lookup's line is needed next: the knowledge of the future that Belady's policy
 * requires.
 *
 * The trace is read backwards once, and the results are stored in a temporary file (8 bytes per
 * record, in TMPDIR or /tmp). So memory holds one block and the lines of the trace, but not its
 * lookups. A line is needed by a load, or by a store that allocates its line. A line that a store
 * or a flush drops before that is not needed any more, because keeping it would not have helped. */
#ifndef TYTO_CACHE_NEXT_USE_H
#define TYTO_CACHE_NEXT_USE_H

#include "cache/l1d_reader.h"

#define NEXT_USE_NEVER (UINT64_MAX - 1)

typedef struct NextUse NextUse;

/* Processes the trace with lines of 1 << line_shift bytes. Returns NULL, with one error in `diag`,
 * if the trace is damaged or the temporary file cannot be written. */
NextUse *next_use_new(L1dReader *reader, int line_shift, Diag *diag);
void next_use_free(NextUse *next); /* NULL is allowed */

/* For each record of a block, the number of the record that needs its line next, or NEXT_USE_NEVER.
 * Valid until the next call. Returns NULL, with one error in `diag`, on failure. */
const uint64_t *next_use_block(NextUse *next, uint64_t block, Diag *diag);

#endif
