/* The core of current NVIDIA GPUs (docs/modern-core.md): four sub-cores that issue by the control
 * bits of machine code, without a scoreboard and without operand collectors. The timing of an
 * instruction is known when it issues, so nothing is stepped until that time. A warp waits for a
 * cycle in a timing wheel, or for dependence counters, which a timing wheel or the load/store unit
 * releases.
 *
 * The parts of its record are the other files of this folder; modern.c calls them in order within a
 * cycle. Facts marked "Huerta" are from R. Huerta et al., "Dissecting and Modeling the Architecture
 * of Modern GPU Cores", MICRO 2025. */
#ifndef TYTO_SM_MODERN_MODERN_H
#define TYTO_SM_MODERN_MODERN_H

#include "sm/core.h"

extern const SmCore sm_core_modern;

#endif
