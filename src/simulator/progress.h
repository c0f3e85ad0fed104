/* The progress line on stderr, which shows how far a long launch is. On a terminal, one line is
 * rewritten; otherwise a line is printed now and then. A separate thread reads the GPU's counters;
 * it changes nothing, so it cannot affect a result. */
#ifndef TYTO_SIMULATOR_PROGRESS_H
#define TYTO_SIMULATOR_PROGRESS_H

#include "engine/launch/gpu.h"

typedef struct Progress Progress;

/* Returns NULL, which the other functions accept, if no thread could be started. */
Progress *progress_new(const Gpu *gpu);
void progress_free(Progress *progress);
/* Called before and after a launch of `kernel`, a string that must stay valid meanwhile. */
void progress_begin(Progress *progress, const char *kernel);
void progress_end(Progress *progress);

/* Estimates the remaining seconds of a launch after `seconds` seconds. CTAs that are resident count
 * as half done. NaN until as many CTAs are done as are resident, because the first ones predict
 * nothing. */
double progress_left(const GpuProgress *now, double seconds);
/* Whether a line is printed `periods` periods (of a quarter of a second) after a launch began. */
bool progress_is_due(int periods, bool is_terminal);

#endif
