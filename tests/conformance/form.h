/* Instruction forms: a row of a table describes many spellings of an instruction in one pattern.
 * Each spelling becomes a Form, with types and modifiers for its reference function.
 *
 * Patterns are in the notation of the PTX ISA manual: ".rn" is required, "(.u32,.s32)" requires one
 * of the words, "{.rn,.rz}" allows one of them. Words are written in the order of the pattern.
 * "#note" after a word is not part of it. The tests have their own types, so that nothing here
 * depends on the code under test. */
#ifndef TYTO_TESTS_CONFORMANCE_FORM_H
#define TYTO_TESTS_CONFORMANCE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gmp.h>
#include <mpfr.h>

#include "real.h"

enum {
    FORM_LANES = 32,
    FORM_MAX_OPERANDS = 7, /* destinations and sources together */
    FORM_MAX_WORDS = 16,
    FORM_TEXT_BYTES = 128
};

typedef enum TypeKind { KIND_BITS, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT, KIND_PRED } TypeKind;

typedef struct Type {
    const char *name; /* name in PTX, without the dot */
    TypeKind kind;
    int bits;             /* bits of an element */
    int elements;         /* number of elements in a register, at least 1 */
    const Format *format; /* for KIND_FLOAT */
} Type;

const Type *type_find(const char *name, size_t length); /* Returns NULL if there is no such type. */
const Type *type_named(const char *name);
/* The low `bits` bits as an integer of the type. */
__int128 type_integer(const Type *type, uint64_t bits);
uint64_t type_mask(int bits);
/* Bits of the register that holds a value of the type: 16, 32 or 64; 1 for a predicate. */
int type_register_bits(const Type *type);

typedef struct Form Form;

/* Computes one destination for one thread. `in` has the sources' bits, in order, zero-extended. For
 * a packed type it computes one element, from one element of each packed source. */
typedef uint64_t Reference(const Form *form, const uint64_t *in);

/* The lanes of one warp: which of them execute, their sources and their expected results. */
typedef struct WarpCase {
    uint32_t active;                            /* lanes that execute the instruction */
    bool is_group;                              /* other lanes execute in groups of their own */
    uint64_t in[FORM_MAX_OPERANDS][FORM_LANES]; /* by source */
    uint64_t out[2][FORM_LANES];                /* by destination */
    uint32_t undefined;                         /* lanes with an undefined first result (ISA) */
} WarpCase;
typedef void WarpReference(const Form *form, WarpCase *warp);

/* One row of a table of instructions.
 *
 * `operands`: a letter per operand, destinations before "=":
 *   0 1 2  the pattern's first, second, third type     w  the first type at twice its width
 *   u  .u32     n  .u32, mostly a small number         p  predicate
 *   s  .s32     l  .u32 below 32
 *   k  the carry flag (written after the instruction, read before it)
 *   m  the mask of the lanes that execute it (sources only)
 *   i  a constant, each value from 0 to `constants` - 1 in turn */
typedef struct Row {
    const char *pattern;
    const char *operands;
    Reference *reference;                                  /* for the first destination */
    Reference *second;                                     /* for the second one */
    WarpReference *warp;                                   /* instead of both: for whole warps */
    bool (*is_open)(const Form *form, const uint64_t *in); /* whether the ISA allows any result */
    double ulps;           /* largest error of an approximation, in units of the last place */
    int constants;         /* number of values of operand i */
    unsigned flags;        /* ROW_... */
    const char *selectors; /* sets of operand suffixes: ",.b0,.h1;.b3,.b0,.h0" */
} Row;

enum {
    ROW_EXACT_NAN = 1 << 0,   /* a NaN result must have exactly these bits */
    ROW_WIDE = 1 << 1,        /* also with registers wider than the types */
    ROW_SPARE = 1 << 2,       /* many similar forms: fewer cases of each */
    ROW_NO_CONSTANT = 1 << 3, /* the last source must be a register */
    ROW_WHOLE = 1 << 4,       /* the reference computes all elements of a packed result */
    ROW_UPPER_HALF = 1 << 5   /* only the upper 32 bits of an .f64 result count */
};

typedef struct Form {
    char text[FORM_TEXT_BYTES];    /* "add.rn.ftz.f32" */
    char storage[FORM_TEXT_BYTES]; /* its words, each ended by a NUL */
    uint8_t words[FORM_MAX_WORDS]; /* offsets of the words; the first is the opcode */
    int word_count;
    const Type *types[4];
    int type_count;
    const Row *row;
    char letters[FORM_MAX_OPERANDS];         /* letter of each operand */
    const Type *operands[FORM_MAX_OPERANDS]; /* destinations, then sources */
    int register_bits[FORM_MAX_OPERANDS];    /* size of the register that holds the operand */
    const char *suffixes[FORM_MAX_OPERANDS]; /* ".b0" or "" */
    int suffix_bytes[FORM_MAX_OPERANDS];
    int destinations, sources;
    int constant; /* value of operand i */
    /* Modifiers, for reference functions. */
    bool ftz, sat, relu, nan, xorsign, cc, wrap, satfinite;
    bool hi;
    int element;      /* index of the element to compute, for packed values */
    mpfr_rnd_t round; /* .rn, .rz, ... */
    int integral;     /* an mpfr_rnd_t of .rni, .rzi, ...; -1 when there is none */
    int compare;      /* index in FORM_COMPARISONS, or -1 */
} Form;

enum { EQ, NE, LT, LE, GT, GE, LO, LS, HI, HS, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };

static inline const char *form_word(const Form *form, int index) {
    return form->storage + form->words[index];
}
/* Whether `word` (without its dot) is a modifier of the form. */
bool form_has(const Form *form, const char *word);
/* Index of the modifier in `words`, a list that ends with NULL; -1 if there is no such modifier. */
int form_which(const Form *form, const char *const *words);
/* Type of a source. Sources start at operands[form->destinations]. */
static inline const Type *form_source(const Form *form, int index) {
    return form->operands[form->destinations + index];
}

typedef void FormVisit(void *user, const char *spelling);
/* Calls `visit` for every spelling of `opcode` with the pattern of modifiers. */
void form_expand(const char *opcode, const char *pattern, FormVisit *visit, void *user);

/* Visits every form of the row: by spelling, then register widths, selectors and constants. */
typedef void FormUse(void *user, const Form *form);
void form_each(const Row *row, FormUse *use, void *user);
/* Parses a spelling into opcode, types and modifiers. */
void form_parse(Form *form, const char *spelling);

#endif
