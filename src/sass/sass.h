/* Machine code of NVIDIA GPUs from Volta on (sm_70 to sm_120): an instruction of 128 bits, decoded.
 *
 * The decoder knows what each bit means; it does not execute. isa/machine/ turns decoded
 * instructions into what the interpreter executes, and print.c into text.
 *
 * Sources of the encodings: CuAssembler's labelled encodings (sm_70 to sm_86), Mesa's NAK compiler
 * (sm_70 to sm_120), and the output of ptxas for PTX of known meaning. */
#ifndef TYTO_SASS_SASS_H
#define TYTO_SASS_SASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SASS_INST_BYTES = 16,
    SASS_MAX_OPERANDS = 12,
    SASS_RZ = 255,  /* the register that reads 0 */
    SASS_URZ = 63,  /* the uniform register that reads 0 (sm_100 and later: 255) */
    SASS_PT = 7,    /* the predicate that is true; of both files */
    SASS_NO_COUNTER = 7
};

/* Operations: one for each mnemonic. The operand forms of one are rows of ops.def. */
typedef enum SassOp {
    SASS_OP_NONE, /* not known */
#define SASS_MNEMONIC(name) SASS_OP_##name,
#include "sass/mnemonics.def"
#undef SASS_MNEMONIC
    SASS_OPS
} SassOp;

/* Modifiers: what a field beside the operands says. ops.def gives its bits for each form, and
 * modifiers.def the values that it may have, with their text. */
typedef enum SassModifier {
#define SASS_MODIFIER(name) SASS_MOD_##name,
#include "sass/modifier_names.def"
#undef SASS_MODIFIER
    SASS_MODIFIERS
} SassModifier;

typedef enum SassOperandKind {
    SASS_NO_OPERAND,
    SASS_REG,       /* value: 0 to 255, SASS_RZ */
    SASS_UREG,      /* value: 0 to 63, SASS_URZ */
    SASS_PRED,      /* value: 0 to 7, SASS_PT */
    SASS_UPRED,     /* the same, of the uniform file */
    SASS_IMM,       /* value: an integer, as it is meant: sign-extended where the form says so */
    SASS_FLOAT,     /* value: the 32 bits; text as a number. Of double operations, which take the upper
                       half of a double: those 32 bits, see SassForm */
    SASS_CONST,     /* c[bank][value]; reg: index register, SASS_RZ none; ureg likewise */
    SASS_UCONST,    /* cx[ureg][value]: a bank by its handle */
    SASS_ADDRESS,   /* [reg + ureg + value]; width of the registers in the modifiers */
    SASS_SREG,      /* value: number of a special register */
    SASS_BARRIER,   /* value: convergence barrier B0 to B15 */
    SASS_COUNTER,   /* value: dependence counter SB0 to SB5 */
    SASS_TARGET,    /* value: byte offset from the start of the next instruction */
    SASS_MASK       /* value: a set of bits, such as DEPBAR's counters or P2R's byte */
} SassOperandKind;

/* One operand, in the order of the disassembly: destinations first. */
typedef struct SassOperand {
    uint8_t kind; /* SassOperandKind */
    bool is_destination;
    bool is_negated;  /* -a; of predicates !p */
    bool is_absolute; /* |a| */
    bool is_inverted; /* ~a */
    bool is_reused;   /* kept in the register file cache */
    uint8_t reg;      /* CONST, ADDRESS: the index or base register; SASS_RZ: none */
    uint8_t ureg;     /* CONST, UCONST, ADDRESS: the uniform register; SASS_URZ: none */
    uint8_t bank;     /* CONST: 0 to 31 */
    int64_t value;
} SassOperand;

/* Bits 105 to 125: how the instruction is issued. */
typedef struct SassControl {
    uint8_t stall;         /* cycles until the warp's next instruction, 0 to 15 */
    bool yields;           /* CuAssembler's Y: bit 109 is 0 */
    uint8_t write_counter; /* 0 to 5: released when the result is written; SASS_NO_COUNTER */
    uint8_t read_counter;  /* 0 to 5: released when the sources are read; SASS_NO_COUNTER */
    uint8_t wait_mask;     /* counters that must be 0 before issue, bit each */
    uint8_t reuse;         /* bit for each source slot */
} SassControl;

/* Units of an SM's sub-core, as far as an instruction's timing depends on them. */
typedef enum SassUnit {
    SASS_UNIT_ALU,     /* integer logic, comparisons, minimum */
    SASS_UNIT_FMA,     /* 32-bit floating point and integer multiplication */
    SASS_UNIT_HALF,    /* HADD2, HMUL2, HFMA2 */
    SASS_UNIT_DOUBLE,
    SASS_UNIT_TENSOR,
    SASS_UNIT_SFU,     /* MUFU, conversions, bit counts */
    SASS_UNIT_UNIFORM, /* the uniform data path */
    SASS_UNIT_MEMORY,  /* loads, stores, atomics, shuffles */
    SASS_UNIT_TEXTURE,
    SASS_UNIT_BRANCH,  /* control flow, barriers, everything else */
    SASS_UNITS
} SassUnit;

/* A row of ops.def: an operation with one form of operands. Opaque but for what follows. */
typedef struct SassForm {
    const char *name;   /* mnemonic: "IADD3" */
    uint8_t op;         /* SassOp */
    uint8_t unit;       /* SassUnit */
    bool is_variable;   /* its latency varies: dependence counters guard its result */
    uint16_t opcode;    /* bits 0 to 11 */
    uint8_t first_sm, last_sm; /* architectures that have it: 70 to 120 */
    const struct SassField *fields; /* what its other bits mean (decode.c) */
} SassForm;

typedef struct SassInst {
    const SassForm *form; /* NULL: not known */
    uint8_t op;           /* SassOp */
    uint8_t guard;        /* predicate, SASS_PT: always */
    bool guard_is_negated;
    bool guard_is_uniform;
    uint8_t operand_count;
    SassControl control;
    uint8_t modifier[SASS_MODIFIERS]; /* value of each; 0 where the form has no such field */
    SassOperand operand[SASS_MAX_OPERANDS];
    uint64_t bits[2];
    uint64_t unknown[2]; /* bits that are set and have no known meaning in this form */
} SassInst;

/* Decodes the instruction at `words` for architecture sm (75 for sm_75). Returns false when the
 * operation is not known; `inst` has its bits, its guard and its control then, and no form. Any
 * bits are safe. */
bool sass_decode(unsigned sm, const uint64_t words[2], SassInst *inst);

/* Writes the instruction in the notation of NVIDIA's disassembler, without the final semicolon;
 * at most `size` bytes with the terminating 0. `pc`: its byte offset in the function, from which
 * branch targets are printed. Returns the length, as snprintf. */
size_t sass_print(const SassInst *inst, uint64_t pc, char *text, size_t size);

/* Text of a modifier's value, with the leading dot; "" when it is not printed. */
const char *sass_modifier_text(const SassInst *inst, SassModifier modifier);

/* Name of a special register, such as "SR_TID.X"; NULL: not known. */
const char *sass_sreg_name(unsigned number);

#endif
