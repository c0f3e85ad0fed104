/* How many instructions a launch will execute: a copy of this process runs the kernel functionally,
 * which is many times faster, while the launch itself is timed. The copy shares nothing with this
 * process but the count, so a forecast cannot change a result. */
#ifndef TYTO_SIMULATOR_FORECAST_H
#define TYTO_SIMULATOR_FORECAST_H

#include "engine/launch/gpu.h"

typedef struct Forecast Forecast;

/* Copies the process at the begin of a launch, which must be the only one on the device. The copy
 * begins to count after FORECAST_DELAY_MS, so that it takes no processor time from a short launch.
 * NULL, which the other functions take too: there is no copy, or memory of the device is shared
 * with others, who would see what the copy writes, or what the kernel does is being recorded. */
Forecast *forecast_begin(Gpu *gpu, const GpuLaunch *launch);
enum { FORECAST_DELAY_MS = 1000 };

/* Warp instructions of the whole launch; 0: not known (yet). */
uint64_t forecast_instructions(const Forecast *forecast);

/* Ends the copy. */
void forecast_end(Forecast *forecast);

#endif
