/* Types, and the expansion of rows into forms. */
#include "form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types ---- */

static const Type types[] = {
    {"b8", KIND_BITS, 8, 1, NULL},
    {"b16", KIND_BITS, 16, 1, NULL},
    {"b32", KIND_BITS, 32, 1, NULL},
    {"b64", KIND_BITS, 64, 1, NULL},
    {"u8", KIND_UNSIGNED, 8, 1, NULL},
    {"u16", KIND_UNSIGNED, 16, 1, NULL},
    {"u32", KIND_UNSIGNED, 32, 1, NULL},
    {"u64", KIND_UNSIGNED, 64, 1, NULL},
    {"s8", KIND_SIGNED, 8, 1, NULL},
    {"s16", KIND_SIGNED, 16, 1, NULL},
    {"s32", KIND_SIGNED, 32, 1, NULL},
    {"s64", KIND_SIGNED, 64, 1, NULL},
    {"u16x2", KIND_UNSIGNED, 16, 2, NULL},
    {"s16x2", KIND_SIGNED, 16, 2, NULL},
    {"f16", KIND_FLOAT, 16, 1, &FORMAT_F16},
    {"bf16", KIND_FLOAT, 16, 1, &FORMAT_BF16},
    {"f32", KIND_FLOAT, 32, 1, &FORMAT_F32},
    {"f32x2", KIND_FLOAT, 32, 2, &FORMAT_F32},
    {"f64", KIND_FLOAT, 64, 1, &FORMAT_F64},
    {"tf32", KIND_FLOAT, 32, 1, &FORMAT_TF32},
    {"f16x2", KIND_FLOAT, 16, 2, &FORMAT_F16},
    {"bf16x2", KIND_FLOAT, 16, 2, &FORMAT_BF16},
    {"e4m3x2", KIND_FLOAT, 8, 2, &FORMAT_E4M3},
    {"e5m2x2", KIND_FLOAT, 8, 2, &FORMAT_E5M2},
    {"e4m3", KIND_FLOAT, 8, 1, &FORMAT_E4M3},
    {"e5m2", KIND_FLOAT, 8, 1, &FORMAT_E5M2},
    {"u4", KIND_UNSIGNED, 4, 1, NULL},
    {"s4", KIND_SIGNED, 4, 1, NULL},
    {"b1", KIND_BITS, 1, 1, NULL},
    {"pred", KIND_PRED, 1, 1, NULL},
};

const Type *type_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return &types[i];
    return NULL;
}

const Type *type_named(const char *name) { return type_find(name, strlen(name)); }

uint64_t type_mask(int bits) { return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

__int128 type_integer(const Type *type, uint64_t bits) {
    bits &= type_mask(type->bits);
    bool is_negative = type->kind == KIND_SIGNED && (bits >> (type->bits - 1) & 1);
    return (__int128)bits - (is_negative ? (__int128)1 << type->bits : 0);
}

int type_register_bits(const Type *type) {
    if (type->kind == KIND_PRED) return 1;
    int bits = type->bits * type->elements;
    return bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

static const Type *twice_as_wide(const Type *type) {
    char name[8];
    snprintf(name, sizeof name, "%c%d", type->name[0], type->bits * 2);
    return type_named(name);
}

/* ---- Patterns ---- */

typedef struct Expansion {
    FormVisit *visit;
    void *user;
    char text[FORM_TEXT_BYTES];
} Expansion;

static void expand_rest(Expansion *expansion, const char *pattern, size_t at);

/* One alternative: the word of `length` bytes, without its note. Then expands the rest. */
static void expand_word(Expansion *expansion, const char *word, size_t length, const char *rest,
                        size_t at) {
    const char *note = memchr(word, '#', length);
    if (note) length = (size_t)(note - word);
    memcpy(expansion->text + at, word, length);
    expand_rest(expansion, rest, at + length);
}

static void expand_rest(Expansion *expansion, const char *pattern, size_t at) {
    if (!*pattern) {
        expansion->text[at] = '\0';
        expansion->visit(expansion->user, expansion->text);
        return;
    }
    if (*pattern != '(' && *pattern != '{') {
        size_t length = strcspn(pattern, "({");
        size_t word = strcspn(pattern + 1, ".({") + 1;
        if (word < length) length = word;
        expand_word(expansion, pattern, length, pattern + length, at);
        return;
    }
    const char *end = strchr(pattern, *pattern == '(' ? ')' : '}');
    if (*pattern == '{') expand_rest(expansion, end + 1, at);
    for (const char *word = pattern + 1; word < end;) {
        size_t length = strcspn(word, ",)}");
        expand_word(expansion, word, length, end + 1, at);
        word += length + 1;
    }
}

void form_expand(const char *opcode, const char *pattern, FormVisit *visit, void *user) {
    Expansion expansion = {visit, user, ""};
    size_t length = strlen(opcode);
    memcpy(expansion.text, opcode, length);
    expand_rest(&expansion, pattern, length);
}

/* ---- Forms ---- */

bool form_has(const Form *form, const char *word) {
    for (int i = 1; i < form->word_count; i++)
        if (strcmp(form_word(form, i), word) == 0) return true;
    return false;
}

int form_which(const Form *form, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (form_has(form, words[i])) return i;
    return -1;
}

static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",
                                          "ls",  "hi",  "hs",  "equ", "neu", "ltu", "leu",
                                          "gtu", "geu", "num", "nan", NULL};
static const char *const rounds[] = {"rn", "rz", "rm", "rp", "rna", NULL};
static const char *const integrals[] = {"rni", "rzi", "rmi", "rpi", NULL};
static const mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU, MPFR_RNDNA};

void form_parse(Form *form, const char *spelling) {
    memset(form, 0, sizeof *form);
    snprintf(form->text, sizeof form->text, "%s", spelling);
    snprintf(form->storage, sizeof form->storage, "%s", spelling);
    char *rest = form->storage;
    for (char *word; (word = strsep(&rest, "."));)
        form->words[form->word_count++] = (uint8_t)(word - form->storage);
    for (int i = 1; i < form->word_count; i++) {
        const Type *type = type_named(form_word(form, i));
        if (type && form->type_count < 4) form->types[form->type_count++] = type;
    }
    form->ftz = form_has(form, "ftz");
    form->sat = form_has(form, "sat");
    form->relu = form_has(form, "relu");
    form->nan = form_has(form, "NaN");
    form->xorsign = form_has(form, "xorsign");
    form->cc = form_has(form, "cc");
    form->wrap = form_has(form, "wrap");
    form->satfinite = form_has(form, "satfinite");
    form->hi = form_has(form, "hi");
    form->compare = form_which(form, comparisons);
    int round = form_which(form, rounds), integral = form_which(form, integrals);
    form->round = modes[round < 0 ? 0 : round];
    form->integral = integral < 0 ? -1 : (int)modes[integral];
}

static const Type *letter_type(const Form *form, char letter) {
    switch (letter) {
    case '0':
    case '1':
    case '2': return form->types[letter - '0'];
    case 'w': return twice_as_wide(form->types[0]);
    case 'p': return type_named("pred");
    case 's': return type_named("s32");
    default: return type_named("u32");
    }
}

static void set_operands(Form *form) {
    bool is_source = false;
    int count = 0;
    for (const char *letter = form->row->operands; *letter; letter++) {
        if (*letter == '=') {
            is_source = true;
            continue;
        }
        form->letters[count] = *letter;
        form->operands[count] = letter_type(form, *letter);
        form->register_bits[count] = type_register_bits(form->operands[count]);
        form->suffixes[count] = "";
        ++*(is_source ? &form->sources : &form->destinations);
        count++;
    }
}

typedef struct Enumeration {
    const Row *row;
    FormUse *use;
    void *user;
} Enumeration;

static void each_constant(const Enumeration *enumeration, Form *form) {
    for (int i = 0; i < (form->row->constants ? form->row->constants : 1); i++) {
        form->constant = i;
        enumeration->use(enumeration->user, form);
    }
}

/* Visits each set of suffixes: the destination's, then the sources', separated by commas. */
static void each_selector(const Enumeration *enumeration, Form *form) {
    if (!form->row->selectors) {
        each_constant(enumeration, form);
        return;
    }
    for (const char *set = form->row->selectors;; set++) {
        for (int i = 0; i < form->destinations + form->sources; i++) {
            form->suffixes[i] = set;
            form->suffix_bytes[i] = (int)strcspn(set, ",;");
            set += form->suffix_bytes[i];
            if (*set == ',') set++;
        }
        each_constant(enumeration, form);
        if (!*set) return;
    }
}

static void each_width(const Enumeration *enumeration, Form *form) {
    each_selector(enumeration, form);
    if (!(form->row->flags & ROW_WIDE)) return;
    int narrow[2] = {form->register_bits[0], form->register_bits[1]};
    for (int d = narrow[0]; d <= 64; d *= 2)
        for (int a = narrow[1]; a <= 64; a *= 2) {
            if (d == narrow[0] && a == narrow[1]) continue;
            if (d != narrow[0] && form->operands[0]->kind == KIND_FLOAT) continue;
            if (a != narrow[1] && form->operands[1]->kind == KIND_FLOAT) continue;
            form->register_bits[0] = d;
            form->register_bits[1] = a;
            each_selector(enumeration, form);
        }
}

static void visit_spelling(void *user, const char *spelling) {
    const Enumeration *enumeration = user;
    Form form;
    form_parse(&form, spelling);
    form.row = enumeration->row;
    set_operands(&form);
    each_width(enumeration, &form);
}

void form_each(const Row *row, FormUse *use, void *user) {
    Enumeration enumeration = {row, use, user};
    form_expand("", row->pattern, visit_spelling, &enumeration);
}
