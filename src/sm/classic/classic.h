/* The core of GPUs up to Pascal, as simulators model it: fetch through an L1I into instruction
 * buffers, a scoreboard, operand collectors before the pipelines, and results on buses
 * (docs/sm.md). The parts of its record are the other files of this folder; classic.c calls them in
 * order within a cycle. */
#ifndef TYTO_SM_CLASSIC_CLASSIC_H
#define TYTO_SM_CLASSIC_CLASSIC_H

#include "sm/core.h"

extern const SmCore sm_core_classic;

#endif
