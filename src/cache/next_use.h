/* When each lookup's line is wanted next: what Belady's policy needs to know of the future.
 *
 * The trace is gone through backwards once, and the answers are kept in a temporary file (8 bytes
 * for each record, in TMPDIR or /tmp), so memory holds one block and the lines of the trace, not
 * its lookups. "Wanted" is by a load or a store that takes its line; a line that is dropped before,
 * by a store or a flush, is not wanted any more, since keeping it would not have helped. */
#ifndef TYTO_CACHE_NEXT_USE_H
#define TYTO_CACHE_NEXT_USE_H

#include "cache/l1d_reader.h"

#define NEXT_USE_NEVER (UINT64_MAX - 1)

typedef struct NextUse NextUse;

/* Goes through the trace with lines of 1 << line_shift bytes. NULL with one error in `diag` when
 * the trace is damaged or the temporary file cannot be written. */
NextUse *next_use_new(L1dReader *reader, int line_shift, Diag *diag);
void next_use_free(NextUse *next); /* NULL is allowed */

/* For each record of a block the number of the record at which its line is wanted next, or
 * NEXT_USE_NEVER. Valid until the next call; NULL with one error in `diag`. */
const uint64_t *next_use_block(NextUse *next, uint64_t block, Diag *diag);

#endif
