/* A launch of a run's record as bytes, by which another process of the same build gets it. */
#ifndef TYTO_STATS_RUN_BYTES_H
#define TYTO_STATS_RUN_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/run.h"

/* Adds the bytes of a launch. */
void run_add_kernel_bytes(const KernelStats *kernel, Text *out);
/* Adds the launch of such bytes to a run. False: they are no launch's. */
bool run_take_kernel_bytes(RunStats *run, const char *bytes, size_t length);

#endif
