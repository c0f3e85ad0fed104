/* Video instructions: scalar ones on selected bytes and halves, and packed ones. */
#include "lanes.h"

#include <string.h>

typedef __int128 Wide;

/* ---- Operations on one pair of numbers ---- */

static Wide combine(const char *operation, Wide a, Wide b) {
    if (strncmp(operation, "add", 3) == 0) return a + b;
    if (strncmp(operation, "sub", 3) == 0) return a - b;
    if (strncmp(operation, "min", 3) == 0) return a < b ? a : b;
    if (strncmp(operation, "max", 3) == 0) return a > b ? a : b;
    if (strncmp(operation, "absdiff", 7) == 0) return a < b ? b - a : a - b;
    return (a + b + (a + b >= 0)) >> 1; /* avrg: halves are rounded away from zero */
}

static Wide saturate(const Type *type, Wide value) {
    Wide most = ((Wide)1 << (type->bits - (type->kind == KIND_SIGNED))) - 1;
    Wide least = type->kind == KIND_SIGNED ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

/* The part of a register that a suffix selects, extended as the type says. */
static Wide selected(const Form *form, int operand, uint64_t bits) {
    const Type *type = form->operands[operand];
    const char *suffix = form->suffixes[operand];
    if (!form->suffix_bytes[operand]) return type_integer(type, bits);
    const Type part = {"", type->kind, suffix[1] == 'b' ? 8 : 16, 1, NULL};
    return type_integer(&part, bits >> (suffix[2] - '0') * part.bits);
}

/* ---- Scalar ---- */

/* Finishes a result. It is saturated to the written part of d. Then it is combined with c, as the
 * destination's type; or, if a part of d is selected, it replaces that part of c. */
static uint64_t finish(const Form *form, const Type *type, Wide result, uint64_t c) {
    static const char *const seconds[] = {"add", "min", "max", NULL};
    const char *suffix = form->suffixes[0];
    const bool is_part = form->suffix_bytes[0] > 0;
    const int bits = !is_part ? 32 : suffix[1] == 'b' ? 8 : 16;
    const Type part = {"", type->kind, bits, 1, NULL};
    if (form->sat) result = saturate(&part, result);
    const int second = form_which(form, seconds);
    if (is_part) {
        const int at = (suffix[2] - '0') * bits;
        const uint64_t here = type_mask(bits) << at;
        return (c & ~here) | ((uint64_t)result << at & here);
    }
    if (second < 0) return (uint64_t)result;
    return (uint64_t)combine(seconds[second], type_integer(type, (uint64_t)result),
                             type_integer(type, c));
}

static uint64_t scalar(const Form *form, const uint64_t *in) {
    Wide result =
        combine(form_word(form, 0) + 1, selected(form, 1, in[0]), selected(form, 2, in[1]));
    return finish(form, form->types[0], result, form->sources > 2 ? in[2] : 0);
}

/* vshl, vshr: a count above 32 becomes 32, or wraps. */
static uint64_t shift(const Form *form, const uint64_t *in) {
    const Wide a = selected(form, 1, in[0]);
    const uint64_t asked = (uint64_t)selected(form, 2, in[1]);
    const int count = form->wrap ? (int)(asked % 32) : asked > 32 ? 32 : (int)asked;
    Wide result = a;
    if (strcmp(form_word(form, 0), "vshl") == 0) result = a * ((Wide)1 << count);
    else
        for (int i = 0; i < count; i++) /* rounds down */
            result = (result - (result & 1)) / 2;
    return finish(form, form->types[0], result, form->sources > 2 ? in[2] : 0);
}

static bool holds(const Form *form, Wide a, Wide b) {
    switch (form->compare) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    default: return a >= b;
    }
}

static uint64_t set(const Form *form, const uint64_t *in) {
    const Wide result = holds(form, selected(form, 1, in[0]), selected(form, 2, in[1]));
    return finish(form, type_named("u32"), result, form->sources > 2 ? in[2] : 0);
}

/* vmad is signed if a factor is signed. */
static uint64_t multiply_add(const Form *form, const uint64_t *in) {
    const bool is_signed =
        form->types[1]->kind == KIND_SIGNED || form->types[2]->kind == KIND_SIGNED;
    const Type word = {"", is_signed ? KIND_SIGNED : KIND_UNSIGNED, 32, 1, NULL};
    Wide result = selected(form, 1, in[0]) * selected(form, 2, in[1]);
    result += type_integer(&word, in[2]) + form_has(form, "po");
    const Wide divisor = form_has(form, "shr7") ? 1 << 7 : form_has(form, "shr15") ? 1 << 15 : 1;
    Wide quotient = result / divisor;
    if (quotient * divisor > result) quotient--; /* rounds down */
    return (uint64_t)(form->sat ? saturate(&word, quotient) : quotient);
}

/* ---- Packed ---- */

/* Element i of an operand: a suffix selects it from the elements of a and b; without a suffix it is
 * element i of the operand itself. */
static Wide element(const Form *form, int operand, const uint64_t *in, int i, const Type *type) {
    const int elements = 32 / type->bits;
    int from = (operand - 1) * elements + i;
    if (form->suffix_bytes[operand])
        from = form->suffixes[operand][form->suffix_bytes[operand] - 1 - i] - '0';
    return type_integer(type, in[from / elements] >> from % elements * type->bits);
}

static bool is_written(const Form *form, int i) {
    if (!form->suffix_bytes[0]) return true;
    return memchr(form->suffixes[0] + 2, '0' + i, (size_t)form->suffix_bytes[0] - 2) != NULL;
}

/* Sums over the elements (.add) use results with all bits. Elements that the mask leaves out are
 * not added; without .add they are those of c. vset has no destination type of its own; its results
 * are 0 or 1. */
static uint64_t packed(const Form *form, const uint64_t *in) {
    const char *name = form_word(form, 0) + 1;
    const bool is_set = strncmp(name, "set", 3) == 0;
    const int elements = name[strlen(name) - 1] - '0', bits = 32 / elements;
    const Type to = {"", form->types[0]->kind, bits, 1, NULL};
    const Type a = {"", form->types[is_set ? 0 : 1]->kind, bits, 1, NULL};
    const Type b = {"", form->types[is_set ? 1 : 2]->kind, bits, 1, NULL};
    const bool accumulates = form_has(form, "add");
    uint64_t result = in[2];
    for (int i = 0; i < elements; i++) {
        if (!is_written(form, i)) continue;
        const Wide x = element(form, 1, in, i, &a), y = element(form, 2, in, i, &b);
        Wide value = is_set ? (Wide)holds(form, x, y) : combine(name, x, y);
        if (form->sat) value = saturate(&to, value);
        const uint64_t here = type_mask(bits) << i * bits;
        if (accumulates) result += (uint64_t)value;
        else result = (result & ~here) | ((uint64_t)value << i * bits & here);
    }
    return result;
}

#define PAIR      "(.u32,.s32)(.u32,.s32)"
#define TYPES     "(.u32,.s32)(.u32,.s32)(.u32,.s32)"
#define ORDERS    "(.eq,.ne,.lt,.le,.gt,.ge)"
#define SELECTORS ",,;,.b0,;,,.h1;,.b3,.b1;,.h0,.b2;,.b2,.h1;,.h1,.h0"
#define PARTS     ".b0,,;.b3,.b1,;.h1,,.b2;.h0,.h1,.h0;.b2,,"
#define PICKS_2   ",,;.h0,.h31,;.h1,,.h02;.h10,.h33,.h12"
#define PICKS_4   ",,;.b2,.b7654,;.b310,.b0123,.b4567;.b31,,.b0246;.b3210,.b5071,"

#define ROW_OF(pattern, operands, reference, parts)                                                \
    {pattern, operands, reference, .selectors = parts, .flags = ROW_SPARE}
/* Every source of packed instructions is a register. */
#define ROW_PACKED(pattern, operands, parts)                                                       \
    {pattern, operands, packed, .selectors = parts, .flags = ROW_SPARE | ROW_NO_CONSTANT}
#define SCALAR(name)                                                                               \
    ROW_OF(name TYPES "{.sat}", "0=12", scalar, SELECTORS),                                        \
        ROW_OF(name TYPES "{.sat}", "0=120", scalar, PARTS),                                       \
        ROW_OF(name TYPES "{.sat}(.add,.min,.max)", "0=120", scalar, SELECTORS)
#define SHIFT(name)                                                                                \
    ROW_OF(name PAIR ".u32{.sat}(.clamp,.wrap)", "0=1n", shift, SELECTORS),                        \
        ROW_OF(name PAIR ".u32{.sat}(.clamp,.wrap)", "0=1n0", shift, PARTS),                       \
        ROW_OF(name PAIR ".u32{.sat}(.clamp,.wrap)(.add,.min,.max)", "0=1n0", shift, SELECTORS)
#define PACKED(name)                                                                               \
    ROW_PACKED(name "2" TYPES "{.sat,.add}", "0=12u", PICKS_2),                                    \
        ROW_PACKED(name "4" TYPES "{.sat,.add}", "0=12u", PICKS_4)

const Row ROWS_VIDEO[] = {
    SCALAR("vadd"),
    SCALAR("vsub"),
    SCALAR("vabsdiff"),
    SCALAR("vmin"),
    SCALAR("vmax"),
    PACKED("vadd"),
    PACKED("vsub"),
    PACKED("vabsdiff"),
    PACKED("vmin"),
    PACKED("vmax"),
    PACKED("vavrg"),
    SHIFT("vshl"),
    SHIFT("vshr"),
    ROW_OF("vset" PAIR ORDERS, "u=01", set, SELECTORS),
    ROW_OF("vset" PAIR ORDERS, "u=01u", set, PARTS),
    ROW_OF("vset" PAIR ORDERS "(.add,.min,.max)", "u=01u", set, SELECTORS),
    ROW_PACKED("vset2" PAIR ORDERS "{.add}", "u=01u", PICKS_2),
    ROW_PACKED("vset4" PAIR ORDERS "{.add}", "u=01u", PICKS_4),
    ROW_OF("vmad" TYPES "{.sat}{.po}{.shr7,.shr15}", "0=120", multiply_add, SELECTORS),
    {0},
};
