/* The host's part of the checks: which are on, the reports of their findings, and what only the
 * host can find: copies of bytes without a writer, allocations that are not used or not freed. */
#ifndef TYTO_SIMULATOR_CHECKS_H
#define TYTO_SIMULATOR_CHECKS_H

#include "simulator/simulator.h"

/* What the options ask of the GPU. */
GpuChecks checks_of(const Options *options);
/* A list that prints each finding on stderr as it comes. */
Findings *checks_findings(const Options *options);

/* An allocation was made for the program, at the place where it is now. */
void checks_allocated(const TytoSimulator *simulator, uint64_t address);
/* One is about to be given back, by the program or (is_leaked) because its context ends. */
void checks_releasing(const TytoSimulator *simulator, uint64_t address, bool is_leaked);
/* Bytes of device memory are about to be copied. */
void checks_copying(const TytoSimulator *simulator, uint64_t address, uint64_t size);
/* The run ends: what the program allocated and is still there has leaked. */
void checks_end(const TytoSimulator *simulator);

/* Whether the summary of a run has to say what was found; `out` receives it. */
bool checks_summarise(const TytoSimulator *simulator, Text *out);

#endif
