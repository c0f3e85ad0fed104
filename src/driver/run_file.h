/* A run's statistics as a file between processes of the same build: what tyto compare collects from
 * the runs that it starts. Neither the CTAs' records nor the samples are in it. */
#ifndef TYTO_DRIVER_RUN_FILE_H
#define TYTO_DRIVER_RUN_FILE_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"
#include "stats/run.h"

/* Adds the file's bytes. */
void run_file_write(const RunStats *run, Text *out);
/* Reads a file back; NULL with an error in `diag` when it is not one of this build's. Freed with
 * run_free. */
RunStats *run_file_read(const char *path, Diag *diag);

#endif
