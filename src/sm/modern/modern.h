/* The core of today's NVIDIA GPUs (docs/modern-core.md): four sub-cores that issue by the control
 * bits of machine code, without a scoreboard and without operand collectors. What happens to an
 * instruction is known when it issues, so that nothing is stepped until it does: a warp waits for a
 * cycle in a wheel of times, or for dependence counters, which such a wheel or the load/store unit
 * releases.
 *
 * The parts of its record are the other files of this folder; modern.c orders them within a cycle.
 * Facts that are called Huerta's are from R. Huerta et al., "Dissecting and Modeling the
 * Architecture of Modern GPU Cores", MICRO 2025. */
#ifndef TYTO_SM_MODERN_MODERN_H
#define TYTO_SM_MODERN_MODERN_H

#include "sm/core.h"

extern const SmCore sm_core_modern;

#endif
