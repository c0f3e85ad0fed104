/* Writes a finished document to its destination. */
#ifndef TYTO_STATS_OUTPUT_H
#define TYTO_STATS_OUTPUT_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"

/* Writes `text` to the file `path` ("-" is standard output). If this fails (missing folder, full
 * disk, closed pipe), it adds one error to `diag`, leaves an old file unchanged, and returns
 * false. */
bool output_write(const char *path, const Text *text, Diag *diag);

/* Reports that `path` cannot be written; errno has the reason. */
void output_failed(const char *path, Diag *diag);

#endif
