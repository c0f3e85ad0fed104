/* From PTX to what a GPU of today issues. A machine runs instructions that ptxas made of the PTX. A
 * parameter is an operand in constant memory and no load; a 64-bit addition takes two instructions;
 * the address base + 4 * index takes one; a short branch becomes a predicate. isa_lower works out,
 * once for a program, how many issue slots each PTX instruction takes. Its effect stays that of the
 * PTX. docs/issue-stream.md has the rules and the measurements that they are compared with.
 *
 * One unit in five files: lower.c (the order of the passes, places in the program), lower_values.c
 * (what registers hold, and which instructions read them), lower_fold.c (what vanishes into a
 * neighbour), lower_flow.c (branches), lower_cost.c with lower.def (what a form takes alone).
 *
 * Left out: the order that ptxas gives instructions, loops that it unrolls beyond what lower_flow.c
 * says, common expressions that it finds in several PTX instructions, spilling. */
#ifndef TYTO_ISSUE_STREAM_LOWER_H
#define TYTO_ISSUE_STREAM_LOWER_H

#include "isa/isa.h"

/* One of each instruction of the program; in its arena. */
const IsaSlots *isa_lower(const IsaProgram *program);

#endif
