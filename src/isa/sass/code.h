/* What a program of machine code holds besides an IsaProgram's rows: the file that it came from,
 * and what a launch needs of it. */
#ifndef TYTO_ISA_SASS_CODE_H
#define TYTO_ISA_SASS_CODE_H

#include "base/text.h"
#include "isa/exec/handlers.h"
#include "isa/isa.h"
#include "sass/cubin.h"
#include "sass/sass.h"

/* A __constant__ variable, or a constant of the compiler's, in a bank. */
typedef struct SassBankPart {
    const uint8_t *bytes; /* NULL: what the variable holds at the launch */
    const PtxVar *var;
    uint32_t offset, size; /* bytes, in the bank */
    uint8_t bank;
    uint16_t function; /* whose bank it is; SASS_EVERY_FUNCTION */
} SassBankPart;
enum { SASS_EVERY_FUNCTION = UINT16_MAX };

typedef struct SassCode {
    const Cubin *cubin;
    unsigned sm;
    uint32_t gprs;        /* rows of registers in a frame; those of uniform registers follow */
    SassInst *insts;      /* by pc */
    uint16_t *section_of; /* by pc: section of the cubin */
    uint32_t *offset_of;  /* by pc: bytes from the start of the section */
    uint32_t *base_of;    /* by section: its first pc */
    SassBankPart *parts;
    uint32_t part_count, part_capacity;
    CubinLineTable lines;
} SassCode;

/* The module of a cubin as other parts see one: its kernels with their parameters, its variables.
 * It has no instructions. NULL after a message. Owned by the caller: ptx_module_free. `bytes` are
 * copied. */
PtxModule *isa_sass_module(const void *bytes, size_t size, const char *name, Diag *diag);

/* Frees what a program of machine code has outside of its arena; NULL is allowed. */
void isa_sass_free(SassCode *code);

/* Translates the functions of such a module, whose variables have their device addresses. A
 * function with an instruction that is not supported gets a refusal. NULL after a message. Owned by
 * the caller: isa_program_free; the module must outlive it. */
IsaProgram *isa_translate_variant(const PtxModule *module, const IsaVariant *variant, Diag *diag);

/* Whether the machine code names a function of the system, such as "malloc". */
bool isa_sass_names(const IsaProgram *program, const char *function);

/* The device address of the constant that machine code means by a generic address under
 * ISA_CONSTANT_UPPER; the same address when no variable is there. */
uint64_t isa_sass_constant(const IsaProgram *program, uint64_t address);

/* The instruction as the disassembler prints it, behind its offset: the byte in its section. */
void isa_say_operation(const IsaProgram *program, uint32_t pc, Text *out);
/* The same behind the name of the file, and the line of the source where it is known. */
void isa_say_machine(const IsaProgram *program, uint32_t pc, Text *out);

/* The line of the source that the instruction at pc comes from; NULL: not known. */
const CubinLine *isa_sass_line(const IsaProgram *program, uint32_t pc);

/* What a program is made of, in words: "sm_89, ptxas 13.0.88"; "" for PTX. */
void isa_say_code(const IsaProgram *program, char *text, size_t size);

#endif
