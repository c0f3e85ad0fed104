/* What the parts of the PTX reader share: the state of reading one module, and how to report a
 * mistake. Every function that reads something returns false after it reported an error; the
 * statement loop then goes on behind the next ';'. */
#ifndef TYTO_PTX_READER_H
#define TYTO_PTX_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/lex.h"
#include "ptx/names.h"
#include "ptx/ptx.h"
#include "ptx/shape.h"

enum {
    READER_MAX_ERRORS = 100,      /* then reading stops */
    READER_MAX_NESTING = 64,      /* parentheses and braces inside each other */
    READER_MAX_REGS = 1 << 22,    /* registers of one function */
    READER_MAX_ORDINAL = 1 << 30, /* registers declared, beyond which all get the same ordinal */
    READER_MAX_SHARED_BYTES = 1 << 24, /* of a variable, and of a CTA: the shared window */
    READER_MAX_LOCAL_BYTES = 1 << 25,  /* .local of one function: the local window (memory.h) */
    READER_MAX_PARAM_BYTES = 1 << 20,  /* parameters and call arguments of one function */
    READER_MAX_TARGET_USES = 1 << 23,  /* targets of all indexed branches and calls of a module */
    READER_MAX_LIST = 65535,           /* items of a vector, a parameter list, a target list */
    READER_DIRECTIVES = 19
};
#define READER_MAX_VAR_BYTES (UINT64_C(1) << 40) /* of any variable: 1 TiB */

/* A name used before the place where it is declared: a label, a prototype, a target list. */
typedef struct Reference {
    Name *name;
    PtxOperand *operand; /* completed when the name is known */
    BindingKind kind;    /* what it must be: LABEL, TARGETS, or PROTO (then TARGETS will do, too) */
    int line, column;
} Reference;

/* A place in the text to go back to. */
typedef struct ReaderPlace {
    Lexer lexer;
    Token token;
} ReaderPlace;

typedef struct Reader {
    Lexer lexer;
    Token token; /* the next one, not yet consumed */
    PtxModule *module;
    Arena *arena; /* the module's */
    Diag *diag;
    Names names;
    int32_t module_regs; /* registers declared outside of functions */
    int errors;          /* reported so far */
    bool may_be_special; /* the operand at hand is what a mov reads: a special register, too */
    int nesting;         /* open parentheses of an expression, braces of an initialiser */
    const char *refusal; /* outside of functions: what of the directive at hand is not supported,
                            with its place; NULL */

    /* Growing arrays; the module's and the function's copies are exact. */
    int var_capacity, function_capacity, file_capacity; /* of the arrays in `module` */

    /* The function being read. */
    PtxFunction *function; /* NULL outside */
    PtxInst *insts;
    int32_t inst_count, inst_capacity;
    PtxReg *regs;
    int32_t reg_count, reg_capacity;
    int32_t declared_regs; /* registers declared in the function, named or not */
    PtxVar **locals;
    int32_t local_count, local_capacity;
    Reference *references; /* not yet completed */
    int32_t reference_count, reference_capacity;
    int64_t target_uses;  /* sum of the lengths of the lists of targets that were named */
    uint64_t param_top;   /* end of the call-site .param variables of the open scopes */
    int32_t loc;          /* of the last .loc, in the module's from 1; 0: none */
    int32_t first_loc;    /* of the function's, counted the same way */
    int32_t loc_capacity; /* of the module's locs */
} Reader;

/* ---- reader.c: tokens, errors, growing arrays ---- */

/* Consumes the current token. Bad tokens are reported and skipped here. */
void reader_next(Reader *reader);
/* Reports an error at the place given, or at the current token; always false. */
bool reader_error_at(Reader *reader, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What is not supported, with its place: the function at hand cannot run; outside of functions,
 * what the directive at hand declares cannot be used. The module's other functions can run. The
 * first one is kept; mistakes behind it may be its doing, and are not reported. Returns false. */
bool reader_refuse(Reader *reader, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool reader_error(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Refuses the current word, in a place where only `what` may be: a later version of the ISA may
 * know it. A word that begins another directive is not refused here. Returns false. */
bool reader_unknown_word(Reader *reader, const char *what);
/* "'foo'" or "end of file", of the current token; valid until the next call. */
const char *reader_token_text(Reader *reader);

bool reader_at(const Reader *reader, int symbol);
bool reader_at_word(const Reader *reader, const char *word);
bool reader_accept(Reader *reader, int symbol);
bool reader_accept_word(Reader *reader, const char *word);
bool reader_expect(Reader *reader, int symbol, const char *where);
/* Interns and consumes a NAME; NULL after an error, which says `what` was expected. */
Name *reader_expect_name(Reader *reader, const char *what);
/* The type that a WORD names; NONE when it is none. */
PtxType reader_type_of(const Token *token);
/* The words that begin a directive of a module, and whether one is at hand. */
extern const char *const reader_directives[READER_DIRECTIVES];
bool reader_at_directive(const Reader *reader);
ReaderPlace reader_place(const Reader *reader);
void reader_go_back(Reader *reader, const ReaderPlace *place);
/* Skips to behind the next ';' of this statement, or to the '}' that ends the scope. */
void reader_skip_statement(Reader *reader);

/* Records that `operand` waits for the meaning of `name`. */
void reader_add_reference(Reader *reader, Name *name, PtxOperand *operand, BindingKind kind,
                          const Token *place);

/* `array` grown so that it has room for one item more. */
void *reader_grow(void *array, int64_t count, int32_t *capacity, size_t item_bytes);

/* ---- constant.c ---- */

typedef struct Constant {
    bool is_float;
    bool is_unsigned; /* integers: 64 bits without sign */
    int float_bits;   /* 32: value holds the bits of a float; else of a double */
    uint64_t value;
    int line, column;
} Constant;

bool constant_read(Reader *reader, Constant *constant);
/* An integer constant from `low` to `high`; `what` names it in messages. */
bool constant_read_integer(Reader *reader, const char *what, uint64_t low, uint64_t high,
                           uint64_t *value);
double constant_as_double(const Constant *constant);
/* The bits of a constant for a value of `type`; false, with an error, when the two do not go
 * together (an integer for .f32). Integers are cut to the type's width, signed types sign-extended.
 */
bool constant_convert(Reader *reader, const Constant *constant, PtxType type, uint64_t *bits);
/* The same for the initial value of a variable, where a floating-point number may stand for bits:
 * .b32 is that of single precision; other widths take the lowest bits of the number as written, 32
 * of 0f3F800000 and 64 of any other. So ptxas has it. */
bool constant_convert_initial(Reader *reader, const Constant *constant, PtxType type,
                              uint64_t *bits);

/* ---- variable.c ---- */

/* Whether a state space of variables is at hand. */
bool variable_at_space(const Reader *reader);

/* Reads a variable declaration from its state space on: ".global .align 4 .u32 a[2] = {1, 2};".
 * The `linkage` words before it have been read. */
bool variable_read(Reader *reader, PtxLinkage linkage);
/* Reads "(.param .u32 a, ...)", the parentheses included, as the parameters or returns of a
 * function or prototype. */
bool variable_read_parameters(Reader *reader, bool is_kernel, PtxVar **vars, uint16_t *count);
/* Reads a register declaration from behind ".reg", inside or outside of a function. */
bool variable_read_registers(Reader *reader);
/* A new register of the function being read; -1, with an error, when there are too many. */
int32_t variable_new_register(Reader *reader, const char *name, PtxType type, int32_t ordinal,
                              int line);

/* .reg .v4 .f32 v: four registers v.x ... v.w, which `binding` names. */
bool variable_new_vector(Reader *reader, const char *name, PtxType type, int count, int32_t ordinal,
                         int line, Binding *binding);
/* A register of 128 bits: a vector of two of 64, which `binding` names. */
bool variable_new_pair(Reader *reader, const char *name, int32_t ordinal, int line,
                       Binding *binding);

/* ---- operand.c ---- */

/* Reads the operands of an instruction behind its spelling, checks them against the shape, and
 * stores them in `inst`. */
bool operand_read_all(Reader *reader, const PtxShape *shape, PtxInst *inst);
/* Reads one operand without checking it. An IMM then keeps in `reg` its Constant.float_bits, until
 * it is converted to the type it is used as. */
bool operand_read(Reader *reader, PtxOperand *operand);
/* What `name` means here; registers of ranges come to life. NULL, without a message, when it means
 * nothing. */
Binding *operand_resolve(Reader *reader, Name *name);
/* Reports that `name` is not declared, with what may have been meant. Always false. */
bool operand_undeclared(Reader *reader, Name *name, const char *what, int line, int column);
/* Checks an operand against what it must be. */
bool operand_check(Reader *reader, const PtxShape *shape, const PtxSlot *slot, PtxInst *inst,
                   PtxOperand *operand);
/* '_' for a vector stands for as many: {_, _}. */
void operand_spread_sink(Reader *reader, PtxOperand *operand, int count);
/* The width of addresses, bits: what the module says; of one that says nothing, `bits`, the width
 * of an address that it uses. So ptxas has it: .address_size came with PTX 2.3. */
int operand_address_bits(Reader *reader, int bits);
/* Whether a register of type `reg` may stand for an operand of type `want`. */
bool operand_register_fits(PtxType reg, PtxType want, bool is_relaxed);

/* ---- texture.c ---- */

/* Reads the operands of a texture or surface instruction. */
bool texture_read(Reader *reader, const PtxShape *shape, PtxInst *inst);

/* ---- call.c ---- */

/* Reads the operands of a call. */
bool call_read(Reader *reader, PtxInst *inst);
/* Reads ".callprototype", ".branchtargets" or ".calltargets" behind its label. */
bool call_read_prototype(Reader *reader, Name *label, int line);
bool call_read_targets(Reader *reader, Name *label, int line, bool is_branch);
/* Checks the arguments of every call of the function against what is called, and converts those
 * that are constants. For when every function of the module is known. */
void call_check_all(Reader *reader, const PtxFunction *function);
/* Whether the header of a function has predicates only where ptxas takes them. */
bool call_check_predicates(Reader *reader, const PtxFunction *header);

/* ---- module_registers.c ---- */

/* Hands the registers that are declared outside of functions from function to function: as hidden
 * parameters and results of each function that names them or calls one that does. For when every
 * call has been checked. */
void module_registers_pass(Reader *reader);

/* ---- body.c ---- */

/* Reads a function's body, from '{' to '}', into `function`. */
bool body_read(Reader *reader, PtxFunction *function);
/* Appends an instruction to those of the function. */
void reader_add_instruction(Reader *reader, const PtxInst *inst);
/* Reads the strings of a .pragma, and drops them. */
bool body_read_pragma(Reader *reader);

#endif
