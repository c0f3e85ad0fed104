/* PTX to machine code by NVIDIA's assembler, ptxas, where the user has it. */
#ifndef TYTO_DRIVER_MODULE_ASSEMBLE_H
#define TYTO_DRIVER_MODULE_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "engine/launch/gpu.h"

/* Assembles a PTX text for an architecture (75 for sm_75) with the ptxas on the PATH; the cubin
 * comes into `arena`. Returns false when there is no ptxas, silently, or with a warning: when its
 * files cannot be written, and when it refuses the text, with its words. */
bool assemble_ptx(const GpuImage *ptx, uint32_t architecture, Arena *arena, GpuImage *cubin,
                  Diag *diag);

#endif
