/* Control bits for code that has none: PTX, unchanged or lowered. A compiler knows how long each
 * instruction takes, and so does this pass. Instructions of fixed latency get stall counts.
 * Instructions of variable or long latency get a dependence counter, and the readers of their
 * results wait for it.
 *
 * Within a basic block the pass knows which results are pending. For other blocks it knows only
 * which counters each register's results may use. The first reader in a block waits for all of
 * these, which costs nothing if they have fallen. At the end of a block all its fixed-latency
 * results are available. */
#ifndef TYTO_SM_MODERN_ASSIGN_H
#define TYTO_SM_MODERN_ASSIGN_H

#include "isa/source.h"
#include "sm/sm_config.h"

/* Returns one row per instruction of the program; the caller frees the table. */
IsaControl *assign_controls(const SmConfig *config, const WarpProgram *program);

#endif
