/* The progress line: how far a long launch is, on stderr when that is a terminal. A thread of its
 * own reads the GPU's counters; it changes nothing, so it cannot change a result. */
#ifndef TYTO_SIMULATOR_PROGRESS_H
#define TYTO_SIMULATOR_PROGRESS_H

#include "engine/launch/gpu.h"

typedef struct Progress Progress;

/* NULL, which the other functions take too, when stderr is no terminal. */
Progress *progress_new(const Gpu *gpu);
void progress_free(Progress *progress);
/* Between these two a launch of `kernel` (which must live as long) runs. */
void progress_begin(Progress *progress, const char *kernel);
void progress_end(Progress *progress);

#endif
