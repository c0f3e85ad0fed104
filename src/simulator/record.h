/* How a simulator keeps the record of its run: launches go in, the files that the options name come
 * out, the same way with timing and without. */
#ifndef TYTO_SIMULATOR_RECORD_H
#define TYTO_SIMULATOR_RECORD_H

#include "base/diag.h"
#include "simulator/options.h"
#include "engine/launch/gpu.h"
#include "engine/observe/watch.h"
#include "stats/run.h"

/* Adds a launch that has run. The CTAs that `watch` recorded, if it did, become the record's. */
void record_launch(RunStats *run, const Gpu *gpu, const GpuLaunch *launch, uint32_t stream,
                   const GpuResult *result, Watch *watch);

/* Adds what the host knows; before any report. */
void record_sign(RunStats *run);

/* The JSON object of a signed run, with a newline. */
void record_add_profile(const RunStats *run, Text *out);
void record_add_json(const RunStats *run, Text *out);

/* Checks a signed run's identities and writes the files that the options name. False with errors in
 * `diag`. */
bool record_write(const RunStats *run, const Options *options, Diag *diag);

#endif
