/* Reads an L1D trace block by block, in any order, so that it can be gone through backwards too.
 * Memory holds one block, and 16 bytes for each block of the file. */
#ifndef TYTO_CACHE_L1D_READER_H
#define TYTO_CACHE_L1D_READER_H

#include <stdio.h>

#include "base/diag.h"
#include "cache/l1d_trace.h"

typedef struct L1dReader L1dReader;

/* Opens a trace and finds its blocks and its end. NULL, with one error in `diag`, when the file
 * cannot be read, is no trace, or is damaged or cut short where that can be seen without unpacking
 * it. */
L1dReader *l1d_reader_open(const char *path, Diag *diag);
/* The same for an open file that can be positioned, which the reader takes over; `name` is for
 * messages. */
L1dReader *l1d_reader_from(FILE *file, const char *name, Diag *diag);
void l1d_reader_free(L1dReader *reader); /* NULL is allowed */

const L1dTraceHeader *l1d_reader_header(const L1dReader *reader);
const L1dTraceTotals *l1d_reader_totals(const L1dReader *reader);
/* The text of a name of the origin; NULL: there is none. */
const char *l1d_reader_origin(const L1dReader *reader, const char *name);
uint64_t l1d_reader_blocks(const L1dReader *reader);
/* Number of the first record of a block; of a block past the last one: the number of all records.
 */
uint64_t l1d_reader_first(const L1dReader *reader, uint64_t block);

/* The records of a block, in order, and how many (never 0). Valid until the next call. NULL with
 * one error in `diag` when the block is damaged. */
const L1dRecord *l1d_reader_block(L1dReader *reader, uint64_t block, uint32_t *count, Diag *diag);

#endif
