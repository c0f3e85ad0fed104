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
    return (a + b + (a + b >= 0)) >> 1; /* avrg: halves go away from zero */
}

static Wide saturate(const Type *type, Wide value) {
    Wide most = ((Wide)1 << (type->bits - (type->kind == KIND_SIGNED))) - 1;
    Wide least = type->kind == KIND_SIGNED ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

/* The part of a register that a suffix selects, as the type has its sign. */
static Wide selected(const Form *form, int operand, uint64_t bits) {
    const Type *type = form->operands[operand];
    const char *suffix = form->suffixes[operand];
    if (!form->suffix_bytes[operand]) return type_integer(type, bits);
    const Type part = {"", type->kind, suffix[1] == 'b' ? 8 : 16, 1, NULL};
    return type_integer(&part, bits >> (suffix[2] - '0') * part.bits);
}

/* ---- Scalar ---- */

/* The second operation works on the first's result as the destination's type has it. */
static uint64_t scalar(const Form *form, const uint64_t *in) {
    static const char *const seconds[] = {"add", "min", "max", NULL};
    const Type *type = form->types[0];
    Wide result =
        combine(form_word(form, 0) + 1, selected(form, 1, in[0]), selected(form, 2, in[1]));
    if (form->sat) result = saturate(type, result);
    int second = form_which(form, seconds);
    if (second < 0) return (uint64_t)result;
    Wide c = type_integer(type, in[2]);
    return (uint64_t)combine(seconds[second], type_integer(type, (uint64_t)result), c);
}

/* ---- Packed ---- */

/* Every element takes part: masks and selectors of elements are refused at load. Sums over the
 * elements (.add) are of results with all their bits. */
static uint64_t packed(const Form *form, const uint64_t *in) {
    const char *name = form_word(form, 0) + 1;
    int elements = name[strlen(name) - 1] - '0', bits = 32 / elements;
    const Type to = {"", form->types[0]->kind, bits, 1, NULL};
    const Type a = {"", form->types[1]->kind, bits, 1, NULL};
    const Type b = {"", form->types[2]->kind, bits, 1, NULL};
    const bool accumulates = form_has(form, "add");
    uint64_t result = accumulates ? in[2] : 0;
    for (int from = 0; from < 32; from += bits) {
        Wide value =
            combine(name, type_integer(&a, in[0] >> from), type_integer(&b, in[1] >> from));
        if (form->sat) value = saturate(&to, value);
        if (accumulates) result += (uint64_t)value;
        else result |= ((uint64_t)value & type_mask(bits)) << from;
    }
    return result;
}

#define TYPES     "(.u32,.s32)(.u32,.s32)(.u32,.s32)"
#define SELECTORS ",,;,.b0,;,,.h1;,.b3,.b1;,.h0,.b2;,.b2,.h1;,.h1,.h0"

#define SCALAR(name)                                                                               \
    {name TYPES "{.sat}", "0=12", scalar, .selectors = SELECTORS, .flags = ROW_SPARE}, {           \
        name TYPES "{.sat}(.add,.min,.max)", "0=120", scalar, .selectors = SELECTORS,              \
            .flags = ROW_SPARE                                                                     \
    }
#define PACKED(name) {name TYPES "{.sat,.add}", "0=12u", packed, .flags = ROW_SPARE}

const Row ROWS_VIDEO[] = {
    SCALAR("vadd"),  SCALAR("vsub"),      SCALAR("vabsdiff"),
    SCALAR("vmin"),  SCALAR("vmax"),      PACKED("vadd4"),
    PACKED("vsub4"), PACKED("vabsdiff4"), PACKED("vmin4"),
    PACKED("vmax4"), PACKED("vavrg4"),    PACKED("vadd2"),
    PACKED("vsub2"), PACKED("vabsdiff2"), PACKED("vmin2"),
    PACKED("vmax2"), PACKED("vavrg2"),    {0},
};
