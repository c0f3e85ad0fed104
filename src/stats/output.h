/* Putting a finished document where the user wants it. */
#ifndef TYTO_STATS_OUTPUT_H
#define TYTO_STATS_OUTPUT_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"

/* Writes `text` to the file `path` ("-" is standard output). On failure (no such folder, a full
 * disk, a closed pipe) one error goes to `diag`, an old file is left as it was, and false is
 * returned. */
bool output_write(const char *path, const Text *text, Diag *diag);

/* Tells that `path` cannot be written, errno being the reason. */
void output_failed(const char *path, Diag *diag);

#endif
