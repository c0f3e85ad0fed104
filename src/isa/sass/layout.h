/* Where the code and the constants of a cubin lie in a program. */
#ifndef TYTO_ISA_SASS_LAYOUT_H
#define TYTO_ISA_SASS_LAYOUT_H

#include "isa/sass/code.h"

/* Decodes the code sections, one behind the other: program->inst_count, and code's tables by pc and
 * by section. False after a message. */
bool layout_code(IsaProgram *program, Diag *diag);
/* Puts the addresses that relocations ask for into the module's data, and collects what lies in
 * constant banks (code->parts). Needs layout_code. False after a message. */
bool layout_constants(IsaProgram *program, Diag *diag);
/* Collects the words of constant banks that operands name: program->bank_rows. */
void layout_bank_rows(IsaProgram *program);

#endif
