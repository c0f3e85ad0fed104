/* The inside of issue_stream/lower.h: what is known of a function while its issue slots are worked
 * out. */
#ifndef TYTO_ISSUE_STREAM_LOWER_INTERNAL_H
#define TYTO_ISSUE_STREAM_LOWER_INTERNAL_H

#include "issue_stream/lower.h"

/* What a register holds, as far as an operand can name it without a register. */
typedef enum LowerKind {
    LOWER_VALUE,     /* a value that is computed */
    LOWER_IMMEDIATE, /* a number, or the address of a variable in shared or local memory */
    LOWER_BANK       /* a word of constant memory: a parameter, a size of the launch, an address */
} LowerKind;

/* Where a register is read. */
typedef struct LowerUse {
    int32_t inst;
    int32_t operand; /* index among its operands; LOWER_GUARD, LOWER_ARGUMENT */
    bool is_address; /* the base of a memory operand */
} LowerUse;
enum { LOWER_GUARD = -1, LOWER_ARGUMENT = -2 };

typedef struct LowerReg {
    int32_t def;       /* the instruction that writes it; the last of several, -1: none */
    int32_t defs;      /* how many do */
    int32_t first_use; /* in Lower.uses */
    int32_t uses;
    uint8_t kind;      /* LowerKind */
    bool is_zero;      /* the number 0, which is a register of the machine */
    bool is_narrow;    /* of 64 bits: the upper half is not used */
    bool is_varying;   /* may differ from lane to lane */
    int32_t kept_in;   /* a constant: 1 + the last block in which it was put into a register */
    uint8_t alignment; /* binary logarithm of what its value is a multiple of */
} LowerReg;

typedef struct Lower {
    const PtxFunction *function;
    LowerReg *regs;    /* of function->regs */
    int32_t varying;   /* registers that vary */
    LowerUse *uses;    /* by register */
    int32_t *block_of; /* block of each instruction */
    bool *in_loop;     /* of each block: it may run again */
    IsaSlots *slots;   /* of each instruction */
    bool *is_folded;   /* of each instruction: another one does its work */
    bool *is_joined;   /* of each instruction: a load that another load does together with its
                          own */
    uint8_t *inputs;   /* of logic: words that it is a function of, with what it took in */
} Lower;

/* The operand's register, where it is one that a single instruction writes; else NULL. */
LowerReg *lower_reg(const Lower *lower, const PtxOperand *operand);
/* The instruction that computes an operand, if one alone does and is of this kind; else NULL. */
const PtxInst *lower_source(const Lower *lower, const PtxOperand *operand, PtxOpcode op);
/* What an operand is. */
LowerKind lower_kind(const Lower *lower, const PtxOperand *operand);
bool lower_varies(const Lower *lower, const PtxOperand *operand);
bool lower_is_zero(const Lower *lower, const PtxOperand *operand);
/* The register that an instruction writes, if it writes one alone; else NULL. */
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
/* lower_flow.c: slots of branches, and of what they need. */
void lower_flow(Lower *lower);

#endif
