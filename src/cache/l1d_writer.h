/* Writes an L1D trace during the run. Records are collected in blocks, compressed and written, so
 * memory does not grow with the run. */
#ifndef TYTO_CACHE_L1D_WRITER_H
#define TYTO_CACHE_L1D_WRITER_H

#include "base/diag.h"
#include "base/text.h"
#include "cache/l1d_trace.h"

typedef struct L1dWriter L1dWriter;

/* Opens the file ("-" is standard output) and writes its header. Returns NULL, with an error in
 * `diag`, if the file cannot be opened. */
L1dWriter *l1d_writer_open(const char *path, const L1dTraceHeader *header, Diag *diag);

/* Adds a record. If a write fails, l1d_writer_close reports it; nothing is written after it. */
void l1d_writer_add(L1dWriter *writer, const L1dRecord *record);

/* Writes the remaining records, the totals and the origin (l1d_trace.h; NULL: none), and frees the
 * writer. Returns false, with one error in `diag`, if any part could not be written. */
bool l1d_writer_close(L1dWriter *writer, const L1dTraceTotals *totals, const Text *origin,
                      Diag *diag);

/* Frees the writer and keeps the old file unchanged. NULL is allowed. */
void l1d_writer_abandon(L1dWriter *writer);

#endif
