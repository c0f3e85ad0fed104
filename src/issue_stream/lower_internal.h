/* Internals of issue_stream/lower.h: what is known about a function while its issue slots are
 * computed. */
#ifndef TYTO_ISSUE_STREAM_LOWER_INTERNAL_H
#define TYTO_ISSUE_STREAM_LOWER_INTERNAL_H

#include "issue_stream/lower.h"

/* What a register holds, in terms of how an operand can name it without using a register. */
typedef enum LowerKind {
    LOWER_VALUE,     /* a computed value */
    LOWER_IMMEDIATE, /* an immediate, or the address of a variable in shared or local memory */
    LOWER_BANK       /* a word of constant memory: a parameter, a launch dimension, an address */
} LowerKind;

/* Where a register is read. */
typedef struct LowerUse {
    int32_t inst;
    int32_t operand; /* operand index; LOWER_GUARD, LOWER_ARGUMENT */
    bool is_address; /* the base of a memory operand */
} LowerUse;
enum { LOWER_GUARD = -1, LOWER_ARGUMENT = -2 };

typedef struct LowerReg {
    int32_t def;       /* the instruction that writes it, the last of several; -1: none */
    int32_t defs;      /* number of instructions that write it */
    int32_t first_use; /* in Lower.uses */
    int32_t uses;
    uint8_t kind;      /* LowerKind */
    bool is_zero;      /* the immediate 0, for which the machine has a register */
    bool is_narrow;    /* of 64 bits, and the upper half is not used */
    bool is_varying;   /* may differ from lane to lane */
    int32_t kept_in;   /* of a constant: 1 + the last block in which it was put into a register */
    uint8_t alignment; /* log2 of a power of two that divides its value */
} LowerReg;

typedef struct Lower {
    const PtxFunction *function;
    LowerReg *regs;    /* by register of the function */
    int32_t varying;   /* number of registers that may vary from lane to lane */
    LowerUse *uses;    /* grouped by register */
    int32_t *block_of; /* block of each instruction */
    bool *in_loop;     /* by block: it may run more than once */
    IsaSlots *slots;   /* by instruction */
    bool *is_folded;   /* by instruction: another instruction does its work */
    bool *is_joined;   /* by instruction: a load that is combined with another load */
    uint8_t *inputs;   /* of logic operations: number of words that it is a function of, with what
                        * was folded into it */
} Lower;

/* The operand's register if exactly one instruction writes it; otherwise NULL. */
LowerReg *lower_reg(const Lower *lower, const PtxOperand *operand);
/* The instruction that computes the operand, if exactly one does and its opcode is `op`; otherwise
 * NULL. */
const PtxInst *lower_source(const Lower *lower, const PtxOperand *operand, PtxOpcode op);
/* What the operand is. */
LowerKind lower_kind(const Lower *lower, const PtxOperand *operand);
bool lower_varies(const Lower *lower, const PtxOperand *operand);
bool lower_is_zero(const Lower *lower, const PtxOperand *operand);
/* The register that an instruction writes, if it writes exactly one; otherwise NULL. */
LowerReg *lower_result(const Lower *lower, int32_t inst);
/* The uses of a register. */
static inline const LowerUse *lower_uses(const Lower *lower, const LowerReg *reg) {
    return &lower->uses[reg->first_use];
}
static inline int32_t lower_index(const Lower *lower, const PtxInst *inst) {
    return (int32_t)(inst - lower->function->insts);
}

/* lower_values.c: fills regs, uses and block_of. */
void lower_find_values(Lower *lower);
/* lower_cost.c: the slots of a form by itself. */
uint32_t lower_cost(const PtxInst *inst);
/* lower_fold.c: slots of everything but branches. */
void lower_fold(Lower *lower);
/* lower_flow.c: slots of branches and of what they require. */
void lower_flow(Lower *lower);

#endif
