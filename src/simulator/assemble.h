/* Uses machine code instead of PTX, if the machine or --code prefers it. */
#ifndef TYTO_SIMULATOR_ASSEMBLE_H
#define TYTO_SIMULATOR_ASSEMBLE_H

#include "simulator/simulator.h"
#include "simulator/timed_run.h"

/* Whether kernels execute machine code if it is available, according to the machine. */
bool assemble_is_wanted(const MachineConfig *machine);

/* Warns, once, that a module has PTX for a newer GPU than the device. */
void simulator_tell_newer(TytoSimulator *simulator, const GpuModule *gpu, const char *name);
/* Replaces the PTX of a module by machine code that ptxas makes from it for the device, if that is
 * wanted. The cubin is allocated in `arena`. If it cannot be made, the PTX stays, and a warning is
 * printed on standard error, once for each simulator. The caller holds the lock. */
void simulator_assemble(TytoSimulator *simulator, GpuImage *images, int count, Arena *arena);

#endif
