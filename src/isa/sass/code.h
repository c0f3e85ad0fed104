/* Data of a machine code program in addition to an IsaProgram's rows: the file that it came from,
 * and what a launch needs of it. */
#ifndef TYTO_ISA_SASS_CODE_H
#define TYTO_ISA_SASS_CODE_H

#include "base/text.h"
#include "isa/exec/handlers.h"
#include "isa/isa.h"
#include "sass/cubin.h"
#include "sass/sass.h"

/* A __constant__ variable, or a constant of the compiler, in a bank. */
typedef struct SassBankPart {
    const uint8_t *bytes; /* NULL: the value of the variable at the launch */
    const PtxVar *var;
    uint32_t offset, size; /* in bytes, in the bank */
    uint8_t bank;
    uint16_t function; /* the function whose bank it is; SASS_EVERY_FUNCTION */
} SassBankPart;
enum { SASS_EVERY_FUNCTION = UINT16_MAX };

typedef struct SassCode {
    const Cubin *cubin;
    unsigned sm;
    uint32_t gprs;        /* rows of registers in a frame; the uniform registers follow */
    uint32_t uniforms;    /* their rows */
    SassInst *insts;      /* by pc */
    uint16_t *section_of; /* by pc: section of the cubin */
    uint32_t *offset_of;  /* by pc: bytes from the start of the section */
    uint32_t *base_of;    /* by section: its first pc */
    SassBankPart *parts;
    uint32_t part_count, part_capacity;
    CubinLineTable lines;
    bool asks_textures; /* reads the table of isa_describe_textures */
} SassCode;

/* Whether machine code for an architecture (90 for sm_90) can be executed. */
bool isa_sass_runs(uint32_t architecture);

/* A function of the system that the cubin calls and Tyto lacks, such as the tensor copies that
 * ptxas does not compile for sm_120; NULL: none. The text is in `arena` or in `bytes`. */
const char *isa_sass_lacks(const void *bytes, size_t size, Arena *arena);

/* Creates the module of a cubin, as other parts of the simulator use it: kernels with their
 * parameters, and variables, but no instructions. Returns NULL after a message. The caller owns it
 * (ptx_module_free). `bytes` are copied. */
PtxModule *isa_sass_module(const void *bytes, size_t size, const char *name, Diag *diag);

/* Frees the parts of a machine code program that are not in its arena; NULL is allowed. */
void isa_sass_free(SassCode *code);

/* Translates the functions of such a module. Its variables must have their device addresses. A
 * function with an instruction that is not supported gets a refusal. Returns NULL after a message.
 * The caller owns the program (isa_program_free); the module must outlive it. */
IsaProgram *isa_translate_variant(const PtxModule *module, const IsaVariant *variant, Diag *diag);

/* Whether the machine code refers to a function of the system, such as "malloc". */
bool isa_sass_names(const IsaProgram *program, const char *function);

/* The device address of the constant that a generic address under ISA_CONSTANT_UPPER refers to.
 * Returns the address unchanged if there is no variable. */
uint64_t isa_sass_constant(const IsaProgram *program, uint64_t address);

/* The instruction as the disassembler prints it, after its byte offset in the section. */
void isa_say_operation(const IsaProgram *program, uint32_t pc, Text *out);
/* The same, after the name of the file and, if known, the line of the source. */
void isa_say_machine(const IsaProgram *program, uint32_t pc, Text *out);
/* ", source FILE:LINE"; nothing if the line is not known. */
void isa_say_source(const IsaProgram *program, uint32_t pc, Text *out);

/* The source line of the instruction at pc; NULL: not known. */
const CubinLine *isa_sass_line(const IsaProgram *program, uint32_t pc);

/* What a program was made from, as text: "sm_89, ptxas 13.0.88"; "" for PTX. */
void isa_say_code(const IsaProgram *program, char *text, size_t size);

#endif
