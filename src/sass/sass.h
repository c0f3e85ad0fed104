/* Machine code of NVIDIA GPUs from Volta on (sm_70 to sm_120): decoding of 128-bit instructions.
 *
 * The decoder knows the meaning of each bit; it does not execute. isa/sass/ translates decoded
 * instructions to those that the interpreter executes, and print.c prints them.
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
    SASS_URZ = 255, /* the uniform register that reads 0; encoded as 63 before sm_100 */
    SASS_PT = 7,    /* the predicate that is always true; in both files */
    SASS_NO_COUNTER = 7
};

/* Operations: one for each mnemonic. Its operand forms are rows of the tables ops_*.def. */
typedef enum SassOp {
    SASS_OP_NONE, /* unknown */
#define SASS_MNEMONIC(name) SASS_OP_##name,
#include "sass/mnemonics.def"
#undef SASS_MNEMONIC
    SASS_OPS
} SassOp;

/* Modifiers: the fields of an instruction other than its operands. The tables of forms give the
 * bits of each field, and modifiers.def its values, with their text. */
typedef enum SassModifier {
    SASS_MOD_NONE,
#define SASS_MODIFIER(name, width) SASS_MOD_##name,
#include "sass/modifiers.def"
#undef SASS_MODIFIER
    SASS_MODIFIERS
} SassModifier;

/* Values of modifiers: SASS_ROUND_RZ and so on. A flag's value is 1. */
enum {
#define SASS_VALUE(modifier, name, value, text) SASS_##modifier##_##name = (value),
#include "sass/modifiers.def"
#undef SASS_VALUE
};

/* The suffix of a register in its operand: the half or byte that is read, the order of a matrix,
 * the scale or width of an address. */
typedef enum SassSuffix {
    SASS_SUFFIX_NONE,
#define SASS_SUFFIX(name, text) SASS_SUFFIX_##name,
#include "sass/suffixes.def"
#undef SASS_SUFFIX
    SASS_SUFFIXES
} SassSuffix;

typedef enum SassOperandKind {
    SASS_NO_OPERAND,
    SASS_REG,        /* value: 0 to 255, SASS_RZ */
    SASS_UREG,       /* value: 0 to 62 (from sm_100 on 0 to 254), SASS_URZ */
    SASS_PRED,       /* value: 0 to 7, SASS_PT */
    SASS_UPRED,      /* the same, in the uniform file */
    SASS_PREDS,      /* PR: all predicates as one number */
    SASS_UPREDS,     /* UPR: the same, in the uniform file */
    SASS_IMM,        /* value: the integer, sign-extended if the form says so */
    SASS_F32,        /* value: the 32 bits of a float */
    SASS_F64,        /* value: the 64 bits of a double; its lower half is 0 */
    SASS_F16X2,      /* value: the 32 bits of two halves; the text has the upper one first */
    SASS_BF16X2,     /* the same for two bfloat16 */
    SASS_CONST,      /* c[bank][reg + ureg + value]; reg SASS_RZ, ureg SASS_URZ: none */
    SASS_UCONST,     /* cx[ureg][reg + value]: a bank by its handle */
    SASS_ADDRESS,    /* [reg + ureg + value]; SASS_RZ, SASS_URZ add nothing. suffix: of reg */
    SASS_SREG,       /* value: number of a special register */
    SASS_BARRIER,    /* value: convergence barrier B0 to B15 */
    SASS_WARP_STATE, /* value: warp state that BMOV moves, such as MACTIVE */
    SASS_COUNTER,    /* value: dependence counter SB0 to SB5 */
    SASS_COUNTERS,   /* value: set of dependence counters, one bit each */
    SASS_GDESC,      /* value: uniform register with matrix descriptors */
    SASS_GSB,        /* value: counter of a warpgroup's products; or SASS_NO_COUNTER */
    SASS_TARGET,     /* value: byte offset relative to the next instruction; an absolute address if
                      * the form has .ABS */
    SASS_CHOICE      /* value: a SassModifier that is printed at this position */
} SassOperandKind;

enum { SASS_NO_DESCRIPTOR = 255 };

/* One operand, in the order of the disassembly, destinations first. An operand has the same
 * position in all encodings of an operation, whether or not it is printed. */
typedef struct SassOperand {
    uint8_t kind; /* SassOperandKind */
    bool is_destination;
    bool is_hidden;     /* not printed because it has no effect, such as an unused carry */
    bool is_negated;    /* -a; of predicates !p */
    bool is_absolute;   /* |a| */
    bool is_inverted;   /* ~a */
    bool is_reused;     /* kept in the register file cache */
    bool is_bracketed;  /* UREG: it holds an address, printed in brackets */
    uint8_t place;      /* REG: number of the source in the register file cache, from 1; 0: none */
    bool has_ureg;      /* CONST, ADDRESS: the form has a uniform register, which may be URZ */
    uint8_t suffix;     /* SassSuffix */
    uint8_t reg;        /* CONST, UCONST, ADDRESS: the index or base register; SASS_RZ: none */
    uint8_t ureg;       /* CONST, UCONST, ADDRESS: the uniform register; SASS_URZ: none */
    uint8_t descriptor; /* ADDRESS: uniform register with the memory descriptor, or
                         * SASS_NO_DESCRIPTOR */
    uint8_t bank;       /* CONST: 0 to 31 */
    int64_t value;
} SassOperand;

/* Bits 105 to 125: control of the issue. */
typedef struct SassControl {
    uint8_t stall;         /* cycles until the warp's next instruction, 0 to 15 */
    bool yields;           /* CuAssembler's Y: bit 109 is 0 */
    uint8_t write_counter; /* 0 to 5: counter released when the result is written; or
                            * SASS_NO_COUNTER */
    uint8_t read_counter;  /* 0 to 5: counter released when the sources are read; or
                            * SASS_NO_COUNTER */
    uint8_t wait_mask;     /* counters that must be 0 before issue, one bit each */
    uint8_t reuse;         /* one bit for each source slot */
} SassControl;

/* Units of an SM's sub-core, as far as they affect an instruction's timing. */
typedef enum SassUnit {
    SASS_UNIT_ALU,  /* integer logic, comparisons, minimum */
    SASS_UNIT_FMA,  /* 32-bit floating point and integer multiplication */
    SASS_UNIT_HALF, /* HADD2, HMUL2, HFMA2 */
    SASS_UNIT_DOUBLE,
    SASS_UNIT_TENSOR,
    SASS_UNIT_SFU,     /* MUFU, conversions, bit counts */
    SASS_UNIT_UNIFORM, /* the uniform data path */
    SASS_UNIT_MEMORY,  /* loads, stores, atomics, shuffles */
    SASS_UNIT_TEXTURE,
    SASS_UNIT_BRANCH, /* control flow, barriers, everything else */
    SASS_UNITS
} SassUnit;

/* A row of the tables of forms (ops_*.def): an operation, and the meaning of its bits. */
typedef struct SassForm {
    const char *name;  /* mnemonic: "IADD3" */
    uint16_t op;       /* SassOp */
    uint16_t opcode;   /* bits 0 to 8 */
    uint8_t encodings; /* bit N: bits 9 to 11 may be N: the kind of the second or third source */
    uint8_t unit;      /* SassUnit */
    bool is_variable;  /* its latency varies: dependence counters protect its result */
    uint8_t first_sm, last_sm;      /* architectures that have it, first and last: 70 to 120 */
    const struct SassField *fields; /* its operands and modifiers (form.h) */
} SassForm;

typedef struct SassInst {
    const SassForm *form; /* NULL: unknown */
    uint16_t op;          /* SassOp */
    uint8_t sm;           /* the architecture that it was decoded for */
    uint8_t guard;        /* predicate; SASS_PT: always */
    bool guard_is_negated;
    bool guard_is_uniform;
    uint8_t operand_count;
    SassControl control;
    uint8_t modifier[SASS_MODIFIERS]; /* value of each modifier; 0 if the form does not have it */
    SassOperand operand[SASS_MAX_OPERANDS];
    uint64_t bits[2];
    uint64_t unknown[2]; /* set bits without a known meaning in this form */
} SassInst;

/* Decodes the instruction at `words` for architecture sm (75 for sm_75). Returns false if the
 * operation is unknown; then `inst` has its bits, guard and control, but no form. Any bits are
 * safe. */
bool sass_decode(unsigned sm, const uint64_t words[2], SassInst *inst);

/* Writes the instruction in the notation of NVIDIA's disassembler, without the final semicolon; at
 * most `size` bytes with the terminating 0. `pc`: its byte offset in the function, from which
 * branch targets are computed. Returns the length, as snprintf does. */
size_t sass_print(const SassInst *inst, uint64_t pc, char *text, size_t size);

/* Text of a modifier's value, with the leading dot; "" if it is not printed. */
const char *sass_modifier_text(const SassInst *inst, SassModifier modifier);

/* Name of a special register, such as "SR_TID.X"; NULL if unknown. */
const char *sass_sreg_name(unsigned number);

#endif
