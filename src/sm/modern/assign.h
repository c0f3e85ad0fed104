/* Control bits for code that has none: PTX, as it is or lowered. A compiler knows how long each
 * instruction takes, and so does this pass: what takes a fixed time gets stall counts, what varies
 * or takes long a dependence counter, and what reads its result waits for that.
 *
 * Within a basic block it knows what is under way. Of other blocks it knows which counter each
 * register's results ever have: the first reader in a block waits for all of these, which costs
 * nothing when they have fallen. A block ends when its fixed results are there. */
#ifndef TYTO_SM_MODERN_ASSIGN_H
#define TYTO_SM_MODERN_ASSIGN_H

#include "isa/source.h"
#include "sm/sm_config.h"

/* A row for each of the program's; the caller's to free. */
IsaControl *assign_controls(const SmConfig *config, const WarpProgram *program);

#endif
