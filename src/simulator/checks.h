/* The host's part of the checks: which ones are on, the reports of their findings, and what only
 * the host can find: copies of bytes that were never written, allocations that are not used or not
 * freed. */
#ifndef TYTO_SIMULATOR_CHECKS_H
#define TYTO_SIMULATOR_CHECKS_H

#include "simulator/simulator.h"

/* The checks that the options request of the GPU. */
GpuChecks checks_of(const Options *options);
/* Creates a list that prints each finding on stderr when it is added. */
Findings *checks_findings(const Options *options);

/* Called when an allocation was made for the program, at its present place in the code. */
void checks_allocated(const TytoSimulator *simulator, uint64_t address);
/* Called before an allocation is freed, by the program or (is_leaked) because its context is
 * destroyed. */
void checks_releasing(const TytoSimulator *simulator, uint64_t address, bool is_leaked);
/* Called before bytes of device memory are copied. */
void checks_copying(const TytoSimulator *simulator, uint64_t address, uint64_t size);
/* Called at the end of the run: allocations of the program that still exist have leaked. */
void checks_end(const TytoSimulator *simulator);

/* Whether the summary of a run must report findings; `out` receives the text. */
bool checks_summarise(const TytoSimulator *simulator, Text *out);

#endif
