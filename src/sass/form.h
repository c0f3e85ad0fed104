/* The bit layout of a form: one SassField for each operand and each modifier, in the order in which
 * they are printed. */
#ifndef TYTO_SASS_FORM_H
#define TYTO_SASS_FORM_H

#include "sass/sass.h"

/* Positions that many forms share, as bit numbers. */
enum {
    SASS_AT_DST = 16,
    SASS_AT_A = 24, /* first source */
    SASS_AT_B = 32, /* second source: register, immediate, constant or uniform register */
    SASS_AT_C = 64  /* third source */
};

typedef enum SassFieldKind {
    SASS_FIELD_END,

    /* Not operands. */
    SASS_FIELD_MODIFIER, /* printed after the mnemonic */
    SASS_FIELD_SET,      /* no bits: the form itself sets the modifier to `value` */
    SASS_FIELD_ORDER,    /* ORDER and SCOPE of a memory access in four bits */
    SASS_FIELD_FILLER,   /* bits without meaning */

    /* Operands. */
    SASS_FIELD_CHOICE, /* a modifier that is printed among the operands */
    SASS_FIELD_REG,
    SASS_FIELD_UREG,
    SASS_FIELD_PRED,
    SASS_FIELD_UPRED,
    SASS_FIELD_PREDS,
    SASS_FIELD_UPREDS,
    SASS_FIELD_B,      /* the operand at bit 32, by bits 9 to 11 */
    SASS_FIELD_SECOND, /* of three sources: at bit 32, or at bit 64 if the third is at 32 */
    SASS_FIELD_THIRD,
    SASS_FIELD_IMM,
    SASS_FIELD_CONST,   /* of LDC: byte offset at 38, bank at 54, index register at 24 */
    SASS_FIELD_TEXTURE, /* a texture handle: c[bank][4 * offset], or a uniform register */
    SASS_FIELD_ADDRESS,
    SASS_FIELD_COPY_TO,     /* LDGSTS: the address in shared memory */
    SASS_FIELD_COPY_FROM,   /* LDGSTS: the address in global memory */
    SASS_FIELD_BRANCH_UREG, /* BRA, bit 91 set: a uniform register at 24, inverted by bit 30 */
    SASS_FIELD_SREG,
    SASS_FIELD_BARRIER,
    SASS_FIELD_WARP_STATE,
    SASS_FIELD_COUNTER,
    SASS_FIELD_COUNTERS,
    SASS_FIELD_GDESC, /* the first of four uniform registers: two matrix descriptors */
    SASS_FIELD_GSB,   /* a counter of a warpgroup's products; 7: none */
    SASS_FIELD_TARGET,
    SASS_FIELD_FAR_TARGET /* 48 bits from bit 34; sm_90 has 8 lower bits at 16 */
} SassFieldKind;

/* Flags of fields. */
enum {
    SASS_DST = 1 << 0,       /* a destination */
    SASS_OPTIONAL = 1 << 1,  /* not printed if it is PT, !PT, RZ or 0: see is_hidden */
    SASS_NEG = 1 << 2,       /* has a negation bit, at the usual position for its slot */
    SASS_ABS = 1 << 3,       /* the same for the absolute value */
    SASS_INV = 1 << 4,       /* the negation bit inverts */
    SASS_NEG_X = 1 << 5,     /* it negates, and inverts with .X */
    SASS_HALF = 1 << 6,      /* the slot has the layout of half operations */
    SASS_UNIFORM = 1 << 7,   /* the registers are uniform ones */
    SASS_SIGNED = 1 << 8,    /* immediates are sign-extended */
    SASS_LONG = 1 << 10,     /* addresses without a uniform register: 32 bits of offset at bit 32 */
    SASS_NEG_AT_B = 1 << 11, /* has a negation bit only in slot B */
    SASS_MIXED = 1 << 12,    /* halves, pairs: the upper one may be negated separately */
    SASS_FLIPPED = 1 << 9,   /* predicates: the field holds 7 minus the number */
    SASS_BRACKETED = 1 << 13 /* uniform registers: hold an address, printed in brackets */
};

typedef struct SassField {
    uint8_t kind;                 /* SassFieldKind */
    uint8_t bit, width;           /* position */
    uint8_t high_bit, high_width; /* position of the upper part, if the field has two parts */
    uint8_t modifier;             /* MODIFIER, SET, CHOICE: the modifier */
    uint8_t value;                /* SET: the modifier's value. FILLER, OPTIONAL: the usual value */
    uint8_t immediate;      /* B, SECOND, THIRD: SassOperandKind of an immediate; 0: SASS_IMM */
    uint8_t neg;            /* predicates: the negation bit; 0: none */
    uint8_t reuse;          /* the bit that keeps a register in the register file cache; 0: none */
    uint8_t suffixes;       /* SassSuffixSet; 0: none */
    uint8_t suffix_bit;     /* of predicates: the bit that selects the uniform file. Of halves: the
                               place in operand c; 0: bit 81 */
    uint8_t descriptor_bit; /* addresses: the bit that makes the uniform register a descriptor */
    uint8_t shown_by;       /* a modifier; printed only if it is not 0 */
    uint8_t hidden_by;      /* a modifier; not printed if it is not 0 */
    uint8_t shift;          /* immediates, addresses: the field counts units of 2^shift */
    uint16_t flags;
} SassField;

/* Sets of suffixes that a field of up to 2 bits selects from. */
typedef enum SassSuffixSet {
    SASS_NO_SUFFIXES,
    SASS_SUFFIXES_HALF,  /* which half of a pair */
    SASS_SUFFIXES_UPPER, /* one bit: the upper half */
    SASS_SUFFIXES_BYTE,  /* which byte */
    SASS_SUFFIXES_PART,  /* which half or byte, by the width of the source of a conversion */
    SASS_SUFFIXES_ORDER, /* one bit: rows or columns of a matrix */
    SASS_SUFFIXES_PAIR   /* two floats, or one twice; with SASS_MIXED a third bit, for the sign */
} SassSuffixSet;

/* The form of these bits on that architecture; NULL if there is none. */
const SassForm *sass_form_find(unsigned sm, const uint64_t words[2]);

/* All forms, by increasing opcode. */
extern const SassForm sass_forms[];
extern const size_t sass_form_count;

/* Text of a value of a modifier; NULL if the value is unknown. */
const char *sass_value_text(unsigned modifier, unsigned value);

#endif
