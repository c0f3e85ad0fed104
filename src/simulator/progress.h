/* The progress line: how far a long launch is, on stderr: on a terminal again and again in one
 * line, else a line now and then. A thread of its own reads the GPU's counters; it changes nothing,
 * so it cannot change a result. */
#ifndef TYTO_SIMULATOR_PROGRESS_H
#define TYTO_SIMULATOR_PROGRESS_H

#include "engine/launch/gpu.h"

typedef struct Progress Progress;

/* NULL, which the other functions take too: no thread could be started. */
Progress *progress_new(const Gpu *gpu);
void progress_free(Progress *progress);
/* Between these two a launch of `kernel` (which must live as long) runs. */
void progress_begin(Progress *progress, const char *kernel);
void progress_end(Progress *progress);

/* Seconds that are left of a launch after `seconds` seconds. CTAs that are resident count as half
 * done. NaN until as many are done as are resident, since the first ones predict nothing. */
double progress_left(const GpuProgress *now, double seconds);
/* Whether a line is written `periods` periods, a quarter of a second each, after a launch began. */
bool progress_is_due(int periods, bool is_terminal);

#endif
