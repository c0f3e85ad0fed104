/* Shared by the parts of the PTX reader: the state of reading one module, and error reporting.
 * Every function that reads something returns false after it has reported an error. The statement
 * loop then continues after the next ';'. */
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
    READER_MAX_ERRORS = 100,      /* reading stops after this many */
    READER_MAX_NESTING = 64,      /* nesting of parentheses and braces */
    READER_MAX_REGS = 1 << 22,    /* registers of one function */
    READER_MAX_ORDINAL = 1 << 30, /* declared registers; all further ones get the same ordinal */
    READER_MAX_SHARED_BYTES = 1 << 24, /* per variable and per CTA: the shared window */
    READER_MAX_LOCAL_BYTES = 1 << 25,  /* .local of one function: the local window (memory.h) */
    READER_MAX_PARAM_BYTES = 1 << 20,  /* parameters and call arguments of one function */
    READER_MAX_TARGET_USES = 1 << 23,  /* targets of all indexed branches and calls in a module */
    READER_MAX_LIST = 65535,           /* items of a vector, a parameter list, a target list */
    READER_DIRECTIVES = 19
};
#define READER_MAX_VAR_BYTES (UINT64_C(1) << 40) /* limit of any variable: 1 TiB */

/* A name used before the place where it is declared: a label, a prototype, a target list. */
typedef struct Reference {
    Name *name;
    PtxOperand *operand; /* completed when the name is declared */
    BindingKind kind;    /* required kind: LABEL, TARGETS, or PROTO (which also accepts TARGETS) */
    int line, column;
} Reference;

/* A position in the text, to go back to. */
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
    bool may_be_special; /* the operand is a source of mov, so may be a special register */
    int nesting;         /* open parentheses of an expression, or braces of an initialiser */
    const char *refusal; /* outside of functions: what is not supported in the current directive,
                          * with its place; NULL */

    /* Growing arrays; the module's and the function's copies are exact. */
    int var_capacity, function_capacity, file_capacity; /* of the arrays in `module` */

    /* The function being read. */
    PtxFunction *function; /* NULL outside of functions */
    PtxInst *insts;
    int32_t inst_count, inst_capacity;
    PtxReg *regs;
    int32_t reg_count, reg_capacity;
    int32_t declared_regs; /* registers declared in the function, used or not */
    PtxVar **locals;
    int32_t local_count, local_capacity;
    Reference *references; /* not yet completed */
    int32_t reference_count, reference_capacity;
    int64_t target_uses;  /* total length of the target lists that were used */
    uint64_t param_top;   /* end of the call-site .param variables of the open scopes */
    int32_t loc;          /* the last .loc: index in the module's list plus 1; 0: none */
    int32_t first_loc;    /* the function's first .loc, counted the same way */
    int32_t loc_capacity; /* capacity of the module's locs */
} Reader;

/* ---- reader.c: tokens, errors, growing arrays ---- */

/* Consumes the current token. Bad tokens are reported and skipped here. */
void reader_next(Reader *reader);
/* Reports an error at the given place, or at the current token. Always returns false. */
bool reader_error_at(Reader *reader, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports what is not supported, with its place. The current function then cannot run; outside of
 * functions, names that the current directive declares cannot be used. Other functions of the
 * module can run. Only the first refusal is kept. Later errors are not reported, because the
 * refusal may have caused them. Returns false. */
bool reader_refuse(Reader *reader, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool reader_error(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Refuses the current word in a place where `what` is expected, because a later version of the ISA
 * may define it. A word that begins another directive is not refused. Returns false. */
bool reader_unknown_word(Reader *reader, const char *what);
/* The current token as "'foo'" or "end of file"; valid until the next call. */
const char *reader_token_text(Reader *reader);

bool reader_at(const Reader *reader, int symbol);
bool reader_at_word(const Reader *reader, const char *word);
bool reader_accept(Reader *reader, int symbol);
bool reader_accept_word(Reader *reader, const char *word);
bool reader_expect(Reader *reader, int symbol, const char *where);
/* Interns and consumes a NAME. Returns NULL after an error, which says that `what` was expected. */
Name *reader_expect_name(Reader *reader, const char *what);
/* The type that a WORD names; NONE if it is not a type. */
PtxType reader_type_of(const Token *token);
/* The words that begin a directive of a module, and whether the current token is one. */
extern const char *const reader_directives[READER_DIRECTIVES];
bool reader_at_directive(const Reader *reader);
ReaderPlace reader_place(const Reader *reader);
void reader_go_back(Reader *reader, const ReaderPlace *place);
/* Skips to after the next ';' of this statement, or to the '}' that ends the scope. */
void reader_skip_statement(Reader *reader);

/* Records that `operand` waits for the declaration of `name`. */
void reader_add_reference(Reader *reader, Name *name, PtxOperand *operand, BindingKind kind,
                          const Token *place);

/* Grows `array`, if needed, so that it has room for one more item. */
void *reader_grow(void *array, int64_t count, int32_t *capacity, size_t item_bytes);

/* ---- constant.c ---- */

typedef struct Constant {
    bool is_float;
    bool is_unsigned; /* integers: unsigned 64 bits */
    int float_bits;   /* 32: value has the bits of a float; otherwise of a double */
    uint64_t value;
    int line, column;
} Constant;

bool constant_read(Reader *reader, Constant *constant);
/* An integer constant from `low` to `high`; `what` is its name in messages. */
bool constant_read_integer(Reader *reader, const char *what, uint64_t low, uint64_t high,
                           uint64_t *value);
double constant_as_double(const Constant *constant);
/* Converts a constant to the bits of a value of `type`. Returns false, after an error, if they do
 * not fit together (an integer for .f32). Integers are truncated to the type's width; signed types
 * are sign-extended. */
bool constant_convert(Reader *reader, const Constant *constant, PtxType type, uint64_t *bits);
/* The same for the initial value of a variable, where a floating-point number may also initialise
 * bits. .b32 takes the single-precision bits. Other widths take the lowest bits of the number as
 * written: 32 bits for 0f3F800000 and 64 bits for any other. ptxas does the same. */
bool constant_convert_initial(Reader *reader, const Constant *constant, PtxType type,
                              uint64_t *bits);

/* ---- variable.c ---- */

/* Whether the current token is a state space of variables. */
bool variable_at_space(const Reader *reader);

/* Reads a variable declaration, starting at its state space: ".global .align 4 .u32 a[2] = {1,
 * 2};". The `linkage` words before it have been read. */
bool variable_read(Reader *reader, PtxLinkage linkage);
/* Reads "(.param .u32 a, ...)", including the parentheses, as the parameters or returns of a
 * function or prototype. */
bool variable_read_parameters(Reader *reader, bool is_kernel, PtxVar **vars, uint16_t *count);
/* Reads a register declaration after ".reg", inside or outside of a function. */
bool variable_read_registers(Reader *reader);
/* Adds a register to the function being read. Returns -1, after an error, if there are too many. */
int32_t variable_new_register(Reader *reader, const char *name, PtxType type, int32_t ordinal,
                              int line);

/* .reg .v4 .f32 v: four registers v.x ... v.w, to which `binding` refers. */
bool variable_new_vector(Reader *reader, const char *name, PtxType type, int count, int32_t ordinal,
                         int line, Binding *binding);
/* A 128-bit register: a vector of two 64-bit registers, to which `binding` refers. */
bool variable_new_pair(Reader *reader, const char *name, int32_t ordinal, int line,
                       Binding *binding);

/* ---- operand.c ---- */

/* Reads the operands of an instruction after its spelling, checks them against the shape, and
 * stores them in `inst`. */
bool operand_read_all(Reader *reader, const PtxShape *shape, PtxInst *inst);
/* Reads one operand without checking it. An IMM then keeps its Constant.float_bits in `reg`, until
 * it is converted to its final type. */
bool operand_read(Reader *reader, PtxOperand *operand);
/* The meaning of `name` here. Creates registers of ranges. Returns NULL, without a message, if it
 * has no meaning. */
Binding *operand_resolve(Reader *reader, Name *name);
/* Reports that `name` is not declared, with a suggestion. Always returns false. */
bool operand_undeclared(Reader *reader, Name *name, const char *what, int line, int column);
/* Checks an operand against its slot. */
bool operand_check(Reader *reader, const PtxShape *shape, const PtxSlot *slot, PtxInst *inst,
                   PtxOperand *operand);
/* Replaces '_' for a vector by one '_' per element: {_, _}. */
void operand_spread_sink(Reader *reader, PtxOperand *operand, int count);
/* The width of addresses in bits, as specified by the module. If it does not specify one, the first
 * address that is used sets it to `bits`. ptxas does the same: .address_size came with PTX 2.3. */
int operand_address_bits(Reader *reader, int bits);
/* Whether a register of type `reg` may be used for an operand of type `want`. */
bool operand_register_fits(PtxType reg, PtxType want, bool is_relaxed);

/* ---- texture.c ---- */

/* Reads the operands of a texture or surface instruction. */
bool texture_read(Reader *reader, const PtxShape *shape, PtxInst *inst);

/* ---- call.c ---- */

/* Reads the operands of a call. */
bool call_read(Reader *reader, PtxInst *inst);
/* Reads ".callprototype", ".branchtargets" or ".calltargets" after its label. */
bool call_read_prototype(Reader *reader, Name *label, int line);
bool call_read_targets(Reader *reader, Name *label, int line, bool is_branch);
/* Checks the arguments of every call of the function against the callee, and converts constant
 * arguments. Call it after all functions of the module have been read. */
void call_check_all(Reader *reader, const PtxFunction *function);
/* Whether a function header has predicates only where ptxas accepts them. */
bool call_check_predicates(Reader *reader, const PtxFunction *header);

/* ---- module_registers.c ---- */

/* Passes registers that are declared outside of functions from function to function, as hidden
 * parameters and results of each function that names them or calls one that does. Call it after all
 * calls have been checked. */
void module_registers_pass(Reader *reader);

/* ---- body.c ---- */

/* Reads a function's body, from '{' to '}', into `function`. */
bool body_read(Reader *reader, PtxFunction *function);
/* Appends an instruction to the function. */
void reader_add_instruction(Reader *reader, const PtxInst *inst);
/* Reads the strings of a .pragma and ignores them. */
bool body_read_pragma(Reader *reader);

#endif
