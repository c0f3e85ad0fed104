/* Issue slots that a current GPU needs for PTX. A GPU runs the instructions that ptxas generates
 * from the PTX. There, a parameter is an operand in constant memory and needs no load; a 64-bit
 * addition takes two instructions; the address base + 4 * index takes one; a short branch becomes a
 * predicate. isa_lower computes, once per program, how many issue slots each PTX instruction takes.
 * The effect of the instructions stays that of the PTX. docs/issue-stream.md has the rules and the
 * measurements that they were compared with.
 *
 * One unit in five files: lower.c (the order of the passes, positions in the program),
 * lower_values.c (what registers hold, and which instructions read them), lower_fold.c (what is
 * folded into a neighbouring instruction), lower_flow.c (branches), lower_cost.c with lower.def
 * (the cost of a form by itself).
 *
 * Left out: the order in which ptxas puts instructions, loops that it unrolls other than those in
 * lower_flow.c, common subexpressions that it finds across PTX instructions, spilling. */
#ifndef TYTO_ISSUE_STREAM_LOWER_H
#define TYTO_ISSUE_STREAM_LOWER_H

#include "isa/isa.h"

/* One entry for each instruction of the program; allocated in the program's arena. */
const IsaSlots *isa_lower(const IsaProgram *program);

#endif
