/* Edge values and random values of every type. */
#include "values.h"

#include <string.h>

uint64_t values_next(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t bits = *state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* ---- Lists without repetition ---- */

typedef struct Edges {
    uint64_t *bits;
    size_t count;
} Edges;

static void add_edge(Edges *edges, uint64_t bits) {
    for (size_t i = 0; i < edges->count; i++)
        if (edges->bits[i] == bits) return;
    if (edges->count < VALUES_MAX_EDGES) edges->bits[edges->count++] = bits;
}

/* ---- Integers ---- */

static void add_integers(Edges *edges, int bits) {
    static const uint64_t small[] = {0,  1,  2,  3,  5,  7,   8,   15,  16, 17,
                                     31, 32, 33, 63, 64, 127, 128, 255, 256};
    uint64_t mask = type_mask(bits), top = UINT64_C(1) << (bits - 1);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        add_edge(edges, small[i] & mask);
    uint64_t half = UINT64_C(1) << bits / 2;
    uint64_t limits[] = {mask,         mask - 1,   mask - 2,    top,
                         top - 1,      top + 1,    top >> 1,    half,
                         half - 1,     half + 1,   mask - half, mask / 3,
                         mask / 3 * 2, mask - 127, mask - 128,  0x0123456789abcdef & mask};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        add_edge(edges, limits[i]);
}

/* Shift counts, positions, widths and selectors. */
static void add_small_numbers(Edges *edges) {
    static const uint32_t numbers[] = {
        0,      1,      2,      3,          4,          5,          7,          8,
        9,      15,     16,     17,         23,         24,         30,         31,
        32,     33,     47,     48,         62,         63,         64,         65,
        127,    128,    255,    256,        257,        288,        0x3210,     0x7654,
        0xfedc, 0x8000, 0xffff, 0x80000000, 0x80000001, 0xffffffe0, 0xfffffffe, 0xffffffff};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_edge(edges, numbers[i]);
}

/* ---- Floating point ---- */

/* Numbers at the limits of integer types and of other formats, ties between integers, and some
 * ordinary numbers. Each is rounded to the format, and used with both signs. */
static const double numbers[] = {
    1,
    2,
    3,
    4,
    0.5,
    1.5,
    2.5,
    3.5,
    0.75,
    0.25,
    1.0 / 3,
    3.14159265358979,
    1.5707963267948966,
    10,
    100,
    0.49999997,
    0.50000006,
    126.5,
    127,
    127.5,
    128,
    128.5,
    254.5,
    255.5,
    256,
    1023.5,
    2047.5,
    32766.5,
    32767.5,
    32768.5,
    65503,
    65504,
    65519,
    65520,
    65534.5,
    65535.5,
    65536,
    8388607.5,
    8388608,
    16777215,
    16777216,
    16777217,
    2147483520,
    2147483647,
    2147483647.5,
    2147483648,
    4294967040,
    4294967295,
    4294967295.5,
    4294967296,
    0x1p52,
    0x1p53,
    0x1.fffffep62,
    0x1.fffffffffffffp62,
    0x1p63,
    0x1.fffffep63,
    0x1.fffffffffffffp63,
    0x1p64,
    0x1p100,
    0x1.8p127,
    0x1.fep127,
    0x1.fffffep127,
    0x1.ffffffp127,
    0x1p128,
    0x1p1000,
    0x1p-1,
    0x1p-8,
    0x1p-9,
    0x1.8p-9,
    0x1p-10,
    0x1p-11,
    0x1.8p-11,
    0x1p-12,
    0x1p-14,
    0x1p-15,
    0x1p-16,
    0x1p-17,
    0x1.8p-17,
    0x1p-23,
    0x1p-24,
    0x1.8p-24,
    0x1p-25,
    0x1.8p-25,
    0x1p-52,
    0x1p-53,
    0x1p-54,
    0x1p-100,
    0x1p-125,
    0x1p-126,
    0x1.fffffcp-127,
    0x1p-127,
    0x1p-133,
    0x1p-134,
    0x1.8p-134,
    0x1p-148,
    0x1p-149,
    0x1p-150,
    0x1.8p-150,
    0x1p-1000,
    416,
    432,
    448,
    464,
    464.5,
    480,
    57344,
    61440,
    61441,
};

static void add_signed(Edges *edges, const Format *format, uint64_t bits) {
    add_edge(edges, bits);
    add_edge(edges, bits | UINT64_C(1) << (format->bits - 1 + format->shift));
}

static void add_floats(Edges *edges, const Format *format) {
    uint64_t one = real_one(format), unit = UINT64_C(1) << format->shift;
    uint64_t least_normal = unit << (format->precision - 1);
    uint64_t infinity = real_infinity(format, false), quiet = least_normal >> 1;
    uint64_t bits[] = {0,
                       unit,
                       2 * unit,
                       3 * unit,
                       least_normal - unit,
                       least_normal,
                       least_normal + unit,
                       one - unit,
                       one + unit,
                       one + 2 * unit,
                       real_largest(format, false) - unit,
                       real_largest(format, false),
                       infinity,
                       infinity | quiet,
                       infinity | unit,
                       infinity | (least_normal - unit)};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        add_signed(edges, format, bits[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        MPFR_DECL_INIT(value, 53);
        mpfr_set_d(value, numbers[i], MPFR_RNDN);
        add_signed(edges, format, real_round(format, value, MPFR_RNDN));
    }
}

static uint64_t random_float(const Format *format, uint64_t *state) {
    uint64_t random = values_next(state), bits = random >> (64 - format->bits) << format->shift;
    uint64_t kind = values_next(state) % 8;
    int fraction_bits = format->precision - 1 + format->shift;
    if (kind < 2) return bits;
    if (kind < 3 && fraction_bits > 3) return bits & ~type_mask(fraction_bits - 3); /* few digits */
    /* near one: exponents within some digits above and below */
    uint64_t spread = kind < 6 ? (uint64_t)format->precision + 3 : 3;
    uint64_t one = real_one(format) >> fraction_bits;
    uint64_t exponent = one - spread / 2 + values_next(state) % spread;
    uint64_t kept =
        bits & (type_mask(fraction_bits) | UINT64_C(1) << (format->bits - 1 + format->shift));
    return kept | (exponent & type_mask(format->exponent_bits)) << fraction_bits;
}

/* ---- Operands ---- */

static void add_elements(Edges *edges, const Type *type) {
    if (type->kind == KIND_FLOAT) add_floats(edges, type->format);
    else add_integers(edges, type->bits);
}

/* Pairs of edge values of elements, each value in each position. */
static void add_packed(Edges *edges, const Type *type) {
    uint64_t bits[VALUES_MAX_EDGES];
    Edges single = {bits, 0};
    add_elements(&single, type);
    uint64_t state = 7;
    for (size_t i = 0; i < single.count; i++) {
        uint64_t other = single.bits[values_next(&state) % single.count];
        add_edge(edges, single.bits[i] | other << type->bits);
        add_edge(edges, other | single.bits[i] << type->bits);
    }
}

size_t values_edges(const Form *form, int index, uint64_t bits[VALUES_MAX_EDGES]) {
    const Type *type = form->operands[index];
    Edges edges = {bits, 0};
    switch (form->letters[index]) {
    case 'p':
    case 'k':
        add_edge(&edges, 0);
        add_edge(&edges, 1);
        break;
    case 'm':
    case 'i': add_edge(&edges, 0); break;
    case 'n': add_small_numbers(&edges); break;
    case 'l':
        for (uint64_t i = 0; i < 32; i++)
            add_edge(&edges, i);
        break;
    default:
        if (type->kind == KIND_PRED) {
            add_edge(&edges, 0);
            add_edge(&edges, 1);
        } else if (type->elements > 1) {
            add_packed(&edges, type);
        } else {
            add_elements(&edges, type);
        }
    }
    return edges.count;
}

uint64_t values_random(const Form *form, int index, uint64_t *state) {
    const Type *type = form->operands[index];
    uint64_t random = values_next(state);
    switch (form->letters[index]) {
    case 'p':
    case 'k': return random & 1;
    case 'm':
    case 'i': return 0;
    case 'l': return random % 32;
    case 'n': return random & 0x300000000 ? (uint32_t)random % 70 : (uint32_t)random;
    default: break;
    }
    if (type->kind == KIND_PRED) return random & 1;
    if (type->kind == KIND_FLOAT) {
        uint64_t bits = 0;
        for (int i = 0; i < type->elements; i++)
            bits |= random_float(type->format, state) << i * type->bits;
        return bits;
    }
    /* with any number of leading zeros or ones */
    int width = type->bits * type->elements;
    uint64_t value = random & type_mask(width);
    uint64_t keep = values_next(state);
    if (type->elements > 1 || keep % 4 == 0) return value;
    value >>= keep / 8 % (unsigned)width;
    return keep & 4 ? ~value & type_mask(width) : value;
}
