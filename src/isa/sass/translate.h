/* The translator's internals: shared by translate.c (programs, operands) and the files that each
 * translate one kind of operation.
 *
 * A machine instruction becomes one IsaInst. If PTX has a handler for the whole instruction, the
 * IsaInst uses it. Otherwise it executes a list of steps, each with one handler (ISA_DO_SEQUENCE).
 * All instructions of a program share one frame: the registers, one row each; the uniform
 * registers, whose rows hold the value in all lanes; scratch rows; the convergence barriers, one
 * row each, which hold the lanes that meet as each lane knows them; and the predicates. */
#ifndef TYTO_ISA_SASS_TRANSLATE_H
#define TYTO_ISA_SASS_TRANSLATE_H

#include "isa/exec/handlers.h"
#include "isa/exec/sass.h"
#include "isa/sass/code.h"

enum {
    TR_STEPS = 48, /* maximum per instruction */
    TR_REGS = 40,
    TR_UNIFORM = 64, /* rows of uniform registers, at least */
    TR_MOST_UNIFORM = 256,
    TR_SCRATCH = 24,  /* rows for intermediate results */
    TR_PAIRS = 16,    /* pairs of rows for intermediate results */
    TR_BARRIERS = 16, /* B0 to B15 */
    /* predicate words */
    TR_P0 = 2,
    TR_P_SINK = TR_P0 + 7,
    TR_UP0 = TR_P_SINK + 1,
    TR_UP_SINK = TR_UP0 + 7,
    TR_WORDS = TR_UP_SINK + 1, /* scratch words start here */
    TR_SCRATCH_WORDS = 8,
    /* register numbers for the timing model */
    TR_NUMBER_UNIFORM = 256,
    TR_NUMBER_P = TR_NUMBER_UNIFORM + TR_MOST_UNIFORM,
    TR_NUMBER_UP = TR_NUMBER_P + 8
};
static_assert(TR_NUMBER_UP + 8 == ISA_MACHINE_REGISTERS, "the last are the uniform predicates");

typedef struct TrRegs {
    IsaReg reg[TR_REGS];
    uint8_t count;
} TrRegs;

typedef struct Translator {
    IsaProgram *program;
    IsaExec *const *table;
    struct ConstantPool *pool;
    uint32_t pool_base;                                    /* bytes of bank rows, which are first */
    uint32_t gprs;                                         /* number of register rows */
    uint32_t scratch_row, pair_row, barrier_row, sink_row; /* first rows */
    uint32_t return_row;                                   /* two rows: the return address */
    const SassInst *sass;                                  /* the instruction being translated */
    uint32_t pc;
    IsaInst inst;
    IsaInfo info;
    TrRegs destinations, sources, addresses;
    IsaInst step[TR_STEPS];
    uint32_t steps, rows_used, pairs_used, words_used;
    bool is_uniform; /* all lanes execute the steps */
    const char *refusal;
    uint32_t step_count, step_capacity, reg_count, reg_capacity, wide_count, wide_capacity;
} Translator;

/* Translates t->sass into t->inst, t->info and steps. Returns false if not supported; t->refusal
 * has the reason. */
typedef bool TranslateOp(Translator *t);
#define OP(operation, function) TranslateOp function;
#include "isa/sass/operations.def"
#undef OP

/* The instruction's control information (control.c). */
IsaControl tr_control(const SassInst *inst);

/* Records why the instruction cannot run; returns false. */
bool tr_refuse(Translator *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline const SassOperand *tr_operand(const Translator *t, int index) {
    return &t->sass->operand[index];
}
static inline uint8_t tr_mod(const Translator *t, SassModifier modifier) {
    return t->sass->modifier[modifier];
}

/* ---- Steps ---- */

/* Adds a step with that handler. */
IsaInst *tr_step(Translator *t, IsaHandler handler);
/* The same, and sets its first operands. */
static inline IsaInst *tr_step2(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a) {
    IsaInst *step = tr_step(t, handler);
    step->operand[0] = d;
    step->operand[1] = a;
    return step;
}
static inline IsaInst *tr_step3(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a,
                                IsaOperand b) {
    IsaInst *step = tr_step2(t, handler, d, a);
    step->operand[2] = b;
    return step;
}
static inline IsaInst *tr_step4(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a,
                                IsaOperand b, IsaOperand c) {
    IsaInst *step = tr_step3(t, handler, d, a, b);
    step->operand[3] = c;
    return step;
}
/* A row, a pair of rows or a word for an intermediate result, valid to the end of the
 * instruction. */
IsaOperand tr_scratch(Translator *t);
IsaOperand tr_scratch_pair(Translator *t);
IsaOperand tr_scratch_word(Translator *t);
IsaOperand tr_constant(Translator *t, uint32_t value);
void tr_add_wide(Translator *t, IsaOperand operand);

/* ---- Operands ---- */

/* Row of a 32-bit source, without its signs. */
IsaOperand tr_row(Translator *t, const SassOperand *operand);
/* Row of word `add` of a source; 0 is the lowest. */
IsaOperand tr_word_row(Translator *t, const SassOperand *operand, uint32_t add);
/* Rows of the lower and the upper word of a 64-bit source. */
void tr_pair(Translator *t, const SassOperand *operand, IsaOperand *low, IsaOperand *high);
/* Register `number` + `add` of a vector register's operand; the zero row of RZ. */
IsaOperand tr_register(Translator *t, const SassOperand *operand, uint32_t add);
/* Row of register `number` for a step. It is not added to the instruction's lists. */
IsaOperand tr_gpr(const Translator *t, uint32_t number);
/* Signs of a source in the form of the handlers' imm: ISA_SIGN_... */
int64_t tr_signs(const SassOperand *operand);
/* Row of a float with its sign. / The same for a double, joined. */
IsaOperand tr_float(Translator *t, const SassOperand *operand);
IsaOperand tr_double(Translator *t, const SassOperand *operand);
/* Row of two halves, with signs and selection of halves (ops_float.c). */
IsaOperand tr_halves(Translator *t, const SassOperand *operand);
/* A joined pair of integers. / The same, or a number whose sign fills the upper word. */
IsaOperand tr_joined(Translator *t, const SassOperand *operand);
IsaOperand tr_wide_term(Translator *t, const SassOperand *operand);
/* Rows of a destination. */
IsaOperand tr_to(Translator *t, const SassOperand *operand);
IsaOperand tr_to_register(Translator *t, const SassOperand *operand, uint32_t add);
/* Splits a joined result into the two registers of a destination. */
void tr_split_to(Translator *t, const SassOperand *operand, IsaOperand pair);
/* Word of a predicate source; *negated: the operand is !p. / Word of a predicate destination. */
IsaOperand tr_word(Translator *t, const SassOperand *operand, bool *negated);
IsaOperand tr_word_to(Translator *t, const SassOperand *operand);
/* Place of a texture instruction's handle, if it is in a constant bank. */
bool tr_bank_of_handle(const SassInst *inst, uint8_t *bank, uint32_t *offset);
/* Whether a register selects the word of a constant bank. */
bool tr_is_indexed(const SassOperand *operand);
/* The row of a convergence barrier. */
IsaOperand tr_barrier(const Translator *t, const SassOperand *operand);

/* ---- Shared by several kinds of operations ---- */

static inline uint32_t tr_bit(bool is_set, int bit) { return is_set ? 1u << bit : 0; }
/* The instruction's rounding mode. */
IsaRound tr_round(const Translator *t);
/* d, a, b, p; a is operand `at`: the minimum if p is true, otherwise the maximum. `sub` is that of
 * the handlers (ops_integer.c). */
bool tr_minmax(Translator *t, IsaHandler least, IsaHandler greatest, uint8_t sub, bool is_float,
               int at);

#endif
