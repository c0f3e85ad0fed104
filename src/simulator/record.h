/* Keeps the record of a simulator's run: launches are added, and at the end the files that the
 * options name are written. It works in the same way with and without timing. */
#ifndef TYTO_SIMULATOR_RECORD_H
#define TYTO_SIMULATOR_RECORD_H

#include "base/diag.h"
#include "simulator/options.h"
#include "engine/launch/gpu.h"
#include "engine/observe/watch.h"
#include "stats/run.h"

/* Adds a launch that has run. If `watch` has recorded CTAs, they are moved to the record. */
void record_launch(RunStats *run, const Gpu *gpu, const GpuLaunch *launch, uint32_t stream,
                   const GpuResult *result, Watch *watch);

/* Adds the origin and what only the host knows. Must be called before any report. */
void record_sign(RunStats *run);

/* Writes the JSON object of a signed run, followed by a newline. */
void record_add_profile(const RunStats *run, Text *out);
void record_add_json(const RunStats *run, Text *out);

/* Checks that the counters of a signed run are consistent, and writes the files that the options
 * name. Returns false with errors in `diag`. */
bool record_write(const RunStats *run, const Options *options, Diag *diag);

#endif
