/* The progress line on stderr, which shows how far a long launch is. On a terminal, one line is
 * rewritten; otherwise a line is printed now and then. A separate thread reads the GPU's counters;
 * it changes nothing, so it cannot affect a result. */
#ifndef TYTO_SIMULATOR_PROGRESS_H
#define TYTO_SIMULATOR_PROGRESS_H

#include "engine/launch/gpu.h"
#include "simulator/forecast.h"

typedef struct Progress Progress;

/* Returns NULL, which the other functions accept, if no thread could be started. */
Progress *progress_new(const Gpu *gpu);
void progress_free(Progress *progress);
/* Whether a forecast of a launch helps: progress is shown on a terminal, and this is the first
 * launch of the kernel, or the last one was long and had another number of CTAs. */
bool progress_wants_forecast(Progress *progress, const char *kernel, uint64_t ctas);
/* Called before and after a launch of `kernel`, a string that must stay valid meanwhile, as must
 * the forecast (or NULL). */
void progress_begin(Progress *progress, const char *kernel, const Forecast *forecast);
void progress_end(Progress *progress);

/* Estimates the remaining seconds of a launch after `seconds` seconds. CTAs that are resident count
 * as half done. NaN until as many CTAs are done as are resident, because the first ones predict
 * nothing. */
double progress_left(const GpuProgress *now, double seconds);
/* Whether a line is printed `periods` periods (of a quarter of a second) after a launch began. */
bool progress_is_due(int periods, bool is_terminal);
/* Estimates the remaining seconds of a launch that will execute `total` warp instructions. NaN if
 * `total` is 0 (unknown) or none was executed so far. */
double progress_left_by(uint64_t done, uint64_t total, double seconds);

#endif
