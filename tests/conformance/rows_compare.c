/* setp and set: every comparison of every type, alone and combined with a predicate. */
#include "lanes.h"

/* -1, 0, 1; or 2 if the operands are unordered. */
static int order(const Form *form, const Type *type, uint64_t a, uint64_t b) {
    if (type->kind != KIND_FLOAT) {
        __int128 x = type_integer(type, a), y = type_integer(type, b);
        return (x > y) - (x < y);
    }
    const Format *format = type->format;
    if (form->ftz) {
        a = real_flush(format, a);
        b = real_flush(format, b);
    }
    if (real_class(format, a) == REAL_NAN || real_class(format, b) == REAL_NAN) return 2;
    return real_order(format, a, b, true);
}

static bool holds(int comparison, int order) {
    const bool is_unordered = order == 2;
    switch (comparison) {
    case EQ: return order == 0;
    case NE: return order == -1 || order == 1;
    case LT:
    case LO: return order == -1;
    case LE:
    case LS: return order == -1 || order == 0;
    case GT:
    case HI: return order == 1;
    case GE:
    case HS: return order == 1 || order == 0;
    case EQU: return is_unordered || order == 0;
    case NEU: return is_unordered || order != 0;
    case LTU: return is_unordered || order < 0;
    case LEU: return is_unordered || order <= 0;
    case GTU: return is_unordered || order > 0;
    case GEU: return is_unordered || order >= 0;
    case NUM: return !is_unordered;
    default: return is_unordered;
    }
}

static uint64_t combine(const Form *form, uint64_t truth, const uint64_t *in) {
    if (form_has(form, "and")) return truth & in[2];
    if (form_has(form, "or")) return truth | in[2];
    if (form_has(form, "xor")) return truth ^ in[2];
    return truth;
}

/* The comparison of one element of the sources. */
static uint64_t truth_of(const Form *form, const uint64_t *in, int element) {
    const Type *type = form_source(form, 0);
    int from = type->bits * element;
    uint64_t mask = type_mask(type->bits);
    return holds(form->compare, order(form, type, in[0] >> from & mask, in[1] >> from & mask));
}

static uint64_t set_first(const Form *form, const uint64_t *in) {
    return combine(form, truth_of(form, in, 0), in);
}
static uint64_t set_complement(const Form *form, const uint64_t *in) {
    return combine(form, !truth_of(form, in, 0), in);
}
static uint64_t set_high(const Form *form, const uint64_t *in) {
    return combine(form, truth_of(form, in, 1), in);
}

/* The result is 1.0 or all ones; a pair of sources gives a pair of results, also as halves of an
 * integer. */
static uint64_t set_value(const Form *form, const uint64_t *in) {
    const Type *to = form->types[0], *from = form->types[1];
    int bits = to->kind == KIND_FLOAT || from->elements == 1 ? to->bits : 16;
    uint64_t one = to->kind == KIND_FLOAT ? real_one(to->format) : type_mask(bits), result = 0;
    for (int e = 0; e < from->elements; e++)
        if (combine(form, truth_of(form, in, e), in)) result |= one << e * bits;
    return result;
}

#define SIGNED_ORDER   "(.eq,.ne,.lt,.le,.gt,.ge)"
#define UNSIGNED_ORDER "(.eq,.ne,.lt,.le,.gt,.ge,.lo,.ls,.hi,.hs)"
#define FLOAT_ORDER    "(.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan)"
#define COMBINE        "(.and,.or,.xor)"

/* A predicate, a predicate and its complement, and both combined with a third predicate. */
#define SETP(comparison, types)                                                                    \
    {"setp" comparison types, "p=00", set_first, .flags = ROW_SPARE},                              \
        {"setp" comparison types, "pp=00", set_first, set_complement, .flags = ROW_SPARE},         \
        {"setp" comparison COMBINE types, "p=00p", set_first, .flags = ROW_SPARE}, {               \
        "setp" comparison COMBINE types, "pp=00p", set_first, set_complement, .flags = ROW_SPARE   \
    }

/* Halves have no complement. */
#define SETP_HALF(types)                                                                           \
    {"setp" FLOAT_ORDER types, "p=00", set_first, .flags = ROW_SPARE}, {                           \
        "setp" FLOAT_ORDER COMBINE types, "p=00p", set_first, .flags = ROW_SPARE                   \
    }

/* Pairs: the predicates of the low and the high half. */
#define SETP_PAIR(types)                                                                           \
    {"setp" FLOAT_ORDER types, "pp=00", set_first, set_high, .flags = ROW_SPARE}, {                \
        "setp" FLOAT_ORDER COMBINE types, "pp=00p", set_first, set_high, .flags = ROW_SPARE        \
    }

#define SET(comparison, to, from)                                                                  \
    {"set" comparison to from, "0=11", set_value, .flags = ROW_SPARE | ROW_WHOLE}, {               \
        "set" comparison COMBINE to from, "0=11p", set_value, .flags = ROW_SPARE | ROW_WHOLE       \
    }

const Row ROWS_COMPARE[] = {
    SETP("(.eq,.ne)", "(.b16,.b32,.b64)"),
    SETP(SIGNED_ORDER, "(.s16,.s32,.s64)"),
    SETP(UNSIGNED_ORDER, "(.u16,.u32,.u64)"),
    SETP(FLOAT_ORDER, "{.ftz}.f32"),
    SETP(FLOAT_ORDER, ".f64"),
    SETP_HALF("{.ftz}.f16"),
    SETP_HALF(".bf16"),
    SETP_PAIR("{.ftz}.f16x2"),
    SETP_PAIR(".bf16x2"),
    SET("(.eq,.ne)", "(.u32,.s32,.f32)", "(.b16,.b32,.b64)"),
    SET(SIGNED_ORDER, "(.u32,.s32,.f32)", "(.s16,.s32,.s64)"),
    SET(UNSIGNED_ORDER, "(.u32,.s32,.f32)", "(.u16,.u32,.u64)"),
    SET(FLOAT_ORDER, "{.ftz}(.u32,.s32,.f32)", ".f32"),
    SET(FLOAT_ORDER, "(.u32,.s32,.f32)", ".f64"),
    SET(FLOAT_ORDER, "{.ftz}(.u16,.s16,.u32,.s32,.f16)", ".f16"),
    SET(FLOAT_ORDER, "(.u16,.s16,.u32,.s32,.bf16)", ".bf16"),
    SET(FLOAT_ORDER, "{.ftz}(.u32,.s32,.f16x2)", ".f16x2"),
    SET(FLOAT_ORDER, "(.u32,.s32,.bf16x2)", ".bf16x2"),
    {0},
};
