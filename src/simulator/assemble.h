/* Machine code in place of PTX, when the machine or --code prefers it. */
#ifndef TYTO_SIMULATOR_ASSEMBLE_H
#define TYTO_SIMULATOR_ASSEMBLE_H

#include "simulator/simulator.h"
#include "simulator/timed_run.h"

/* Whether kernels execute machine code where there is some: as the machine says. */
bool assemble_is_wanted(const MachineConfig *machine);

/* Says, once, that a module is PTX for a newer GPU than the device. */
void simulator_tell_newer(TytoSimulator *simulator, const GpuModule *gpu, const char *name);
/* Replaces the PTX of a module by what ptxas makes of it for the device, if that is wanted. The
 * cubin is allocated in `arena`. Where it cannot be made, the PTX stays, and a warning on standard
 * error says so, once for a simulator. The caller holds the lock. */
void simulator_assemble(TytoSimulator *simulator, GpuImage *images, int count, Arena *arena);

#endif
