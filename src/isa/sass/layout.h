/* Layout of the code and the constants of a cubin in a program. */
#ifndef TYTO_ISA_SASS_LAYOUT_H
#define TYTO_ISA_SASS_LAYOUT_H

#include "isa/sass/code.h"

/* Decodes the code sections, one after another: sets program->inst_count and code's tables by pc
 * and by section. Returns false after a message. */
bool layout_code(IsaProgram *program, Diag *diag);
/* Writes the addresses that relocations refer to into the module's data, and collects the contents
 * of constant banks (code->parts). Call layout_code first. Returns false after a message. */
bool layout_constants(IsaProgram *program, Diag *diag);
/* Collects the words of constant banks that operands read: program->bank_rows. */
void layout_bank_rows(IsaProgram *program);

#endif
