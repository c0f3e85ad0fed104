/* Instruction forms: a row of a table describes many spellings of an instruction in one pattern.
 * Each spelling is a Form, taken apart into types and modifiers for its reference function.
 *
 * Patterns are in the notation of the PTX ISA manual: ".rn" must be there, "(.u32,.s32)" one of
 * them must, "{.rn,.rz}" one of them may. Words are written in the order of the pattern. "#note"
 * behind a word is not part of it. The tests have their own types, so that nothing here depends on
 * what it tests. */
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
    const char *name; /* as PTX has it, without the dot */
    TypeKind kind;
    int bits;             /* of an element */
    int elements;         /* 1, or as many as a register holds */
    const Format *format; /* KIND_FLOAT */
} Type;

const Type *type_find(const char *name, size_t length); /* NULL: no such type */
const Type *type_named(const char *name);
/* An integer of `bits` low bits as the type reads it. */
__int128 type_integer(const Type *type, uint64_t bits);
uint64_t type_mask(int bits);
/* Bits of the register that holds a value of the type: 16, 32 or 64; 1 for a predicate. */
int type_register_bits(const Type *type);

typedef struct Form Form;

/* The value of one destination for one thread. Operands are the sources' bits, in order, zero-
 * extended. Of a packed type it is asked for one element, and gets one element of each packed
 * source. */
typedef uint64_t Reference(const Form *form, const uint64_t *in);

/* The lanes of one warp: which execute, what they read, and what they have to write. */
typedef struct WarpCase {
    uint32_t active;                            /* lanes that execute the instruction */
    bool is_group;                              /* and others do, which `active` does not name */
    uint64_t in[FORM_MAX_OPERANDS][FORM_LANES]; /* by source */
    uint64_t out[2][FORM_LANES];                /* by destination */
    uint32_t undefined;                         /* lanes whose first result the ISA leaves open */
} WarpCase;
typedef void WarpReference(const Form *form, WarpCase *warp);

/* One line of a table of instructions.
 *
 * `operands`: a letter per operand, destinations before "=":
 *   0 1 2  the pattern's first, second, third type     w  the first type at twice its width
 *   u  .u32     n  .u32, mostly a small number         p  predicate
 *   s  .s32     l  .u32 below 32
 *   k  the carry flag (written behind the instruction, read before it)
 *   m  the mask of the lanes that execute it (sources only)
 *   i  a constant, each value from 0 to `constants` - 1 in turn */
typedef struct Row {
    const char *pattern;
    const char *operands;
    Reference *reference;                                  /* of the first destination */
    Reference *second;                                     /* of the second one */
    WarpReference *warp;                                   /* in place of both: of whole warps */
    bool (*is_open)(const Form *form, const uint64_t *in); /* whether the ISA allows any result */
    double ulps;           /* how far an approximation may be off, in units of the last place */
    int constants;         /* values of operand i */
    unsigned flags;        /* ROW_... */
    const char *selectors; /* sets of operand suffixes: ",.b0,.h1;.b3,.b0,.h0" */
} Row;

enum {
    ROW_EXACT_NAN = 1 << 0,   /* a NaN result is this very NaN */
    ROW_WIDE = 1 << 1,        /* also with registers wider than the types */
    ROW_SPARE = 1 << 2,       /* many forms alike: fewer cases of each */
    ROW_NO_CONSTANT = 1 << 3, /* the last source must be a register */
    ROW_WHOLE = 1 << 4,       /* the reference gives the whole of a packed result */
    ROW_UPPER_HALF = 1 << 5   /* of an .f64 result only the upper 32 bits count */
};

typedef struct Form {
    char text[FORM_TEXT_BYTES];    /* "add.rn.ftz.f32" */
    char storage[FORM_TEXT_BYTES]; /* its words, each ended by a NUL */
    uint8_t words[FORM_MAX_WORDS]; /* where they start; the first is the opcode */
    int word_count;
    const Type *types[4];
    int type_count;
    const Row *row;
    char letters[FORM_MAX_OPERANDS];         /* of the operands */
    const Type *operands[FORM_MAX_OPERANDS]; /* destinations, then sources */
    int register_bits[FORM_MAX_OPERANDS];    /* of the register that holds the operand */
    const char *suffixes[FORM_MAX_OPERANDS]; /* ".b0" or "" */
    int suffix_bytes[FORM_MAX_OPERANDS];
    int destinations, sources;
    int constant; /* of operand i */
    /* Modifiers, for reference functions. */
    bool ftz, sat, relu, nan, xorsign, cc, wrap, satfinite;
    bool hi;
    int element;      /* of a packed value: which one is asked for */
    mpfr_rnd_t round; /* .rn, .rz, ... */
    int integral;     /* an mpfr_rnd_t of .rni, .rzi, ...; -1 when there is none */
    int compare;      /* index in FORM_COMPARISONS, -1 */
} Form;

enum { EQ, NE, LT, LE, GT, GE, LO, LS, HI, HS, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };

static inline const char *form_word(const Form *form, int index) {
    return form->storage + form->words[index];
}
/* Whether `word` (without its dot) is a modifier of the form. */
bool form_has(const Form *form, const char *word);
/* Index of the modifier among `words`, a list that ends with NULL; -1 when none is there. */
int form_which(const Form *form, const char *const *words);
/* The first source's index in operands is form->destinations. */
static inline const Type *form_source(const Form *form, int index) {
    return form->operands[form->destinations + index];
}

typedef void FormVisit(void *user, const char *spelling);
/* Calls `visit` for every spelling of `opcode` and a pattern of modifiers. */
void form_expand(const char *opcode, const char *pattern, FormVisit *visit, void *user);

/* Every form of the row, by spelling, then register widths, selectors and constants. */
typedef void FormUse(void *user, const Form *form);
void form_each(const Row *row, FormUse *use, void *user);
/* Takes a spelling apart: opcode, types, modifiers. */
void form_parse(Form *form, const char *spelling);

#endif
