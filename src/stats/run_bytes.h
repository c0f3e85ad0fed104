/* A launch of a run's record as bytes, for another process of the same build. */
#ifndef TYTO_STATS_RUN_BYTES_H
#define TYTO_STATS_RUN_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/run.h"

/* Adds the bytes of a launch. */
void run_add_kernel_bytes(const KernelStats *kernel, Text *out);
/* Adds the launch in such bytes to a run. Returns false if they are not a launch. */
bool run_take_kernel_bytes(RunStats *run, const char *bytes, size_t length);

#endif
