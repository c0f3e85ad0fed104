/* Reads an L1D trace block by block, in any order, so that a trace can also be read backwards.
 * Memory holds one block, and 16 bytes for each block of the file. */
#ifndef TYTO_CACHE_L1D_READER_H
#define TYTO_CACHE_L1D_READER_H

#include <stdio.h>

#include "base/diag.h"
#include "cache/l1d_trace.h"

typedef struct L1dReader L1dReader;

/* Opens a trace and finds its blocks and its end. Returns NULL, with one error in `diag`, if the
 * file cannot be read, is not a trace, or is damaged or cut short in a way that can be detected
 * without decompression. */
L1dReader *l1d_reader_open(const char *path, Diag *diag);
/* The same for an open file that supports seeking; the reader takes ownership of it. `name` is for
 * messages. */
L1dReader *l1d_reader_from(FILE *file, const char *name, Diag *diag);
void l1d_reader_free(L1dReader *reader); /* NULL is allowed */

const L1dTraceHeader *l1d_reader_header(const L1dReader *reader);
const L1dTraceTotals *l1d_reader_totals(const L1dReader *reader);
/* The text for a name of the origin; NULL: the name does not exist. */
const char *l1d_reader_origin(const L1dReader *reader, const char *name);
uint64_t l1d_reader_blocks(const L1dReader *reader);
/* The number of the first record of a block; for the block past the last one, the number of all
 * records. */
uint64_t l1d_reader_first(const L1dReader *reader, uint64_t block);

/* Returns the records of a block, in order, and their number (never 0) in *count. Valid until the
 * next call. Returns NULL, with one error in `diag`, if the block is damaged. */
const L1dRecord *l1d_reader_block(L1dReader *reader, uint64_t block, uint32_t *count, Diag *diag);

#endif
