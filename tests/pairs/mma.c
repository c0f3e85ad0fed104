/* Compares mma.sync with scalar arithmetic in the order that docs/matrix.md describes: integers
 * exactly, f64 as a chain of fma, other floating point in blocks whose products are aligned to the
 * greatest exponent, truncated and added. The layout of fragments is that of the PTX ISA, "Matrix
 * Fragments for mma". */
#include "pairs.h"

#include <math.h>
#include <string.h>

typedef enum Arithmetic { INTEGERS, BITS, DOUBLES, BLOCKS } Arithmetic;

/* An input type: how its elements are built and added. */
typedef struct Input {
    const char *name;
    int bits;
    Arithmetic arithmetic;
    int fraction, exponent; /* in bits; for BLOCKS */
    bool has_infinity;      /* otherwise only all ones is not a number */
    int block, kept;        /* products that are added at once, fraction bits kept (matrix.md) */
} Input;

static const Input inputs[] = {
    {"f16", 16, BLOCKS, 10, 5, true, 8, 24},  {"bf16", 16, BLOCKS, 7, 8, true, 8, 24},
    {"tf32", 32, BLOCKS, 10, 8, true, 4, 24}, {"e4m3", 8, BLOCKS, 3, 4, false, 16, 13},
    {"e5m2", 8, BLOCKS, 2, 5, true, 16, 13},  {"f64", 64, DOUBLES, 0, 0, true, 0, 0},
    {"s8", 8, INTEGERS, 0, 0, true, 0, 0},    {"u8", 8, INTEGERS, 0, 0, true, 0, 0},
    {"s4", 4, INTEGERS, 0, 0, true, 0, 0},    {"u4", 4, INTEGERS, 0, 0, true, 0, 0},
    {"b1", 1, BITS, 0, 0, true, 0, 0},
};

typedef struct Shape {
    const char *inputs; /* allowed types of A and B, chosen independently */
    const char *results;
    int m, k; /* n is 8 */
} Shape;

static const Shape shapes[] = {
    {"f16", "f16 f32", 16, 8}, {"f16", "f16 f32", 16, 16},       {"bf16", "f32", 16, 8},
    {"bf16", "f32", 16, 16},   {"tf32", "f32", 16, 4},           {"tf32", "f32", 16, 8},
    {"f64", "f64", 8, 4},      {"e4m3 e5m2", "f16 f32", 16, 16}, {"e4m3 e5m2", "f16 f32", 16, 32},
    {"s8 u8", "s32", 8, 16},   {"s8 u8", "s32", 16, 16},         {"s8 u8", "s32", 16, 32},
    {"s4 u4", "s32", 8, 32},   {"s4 u4", "s32", 16, 32},         {"s4 u4", "s32", 16, 64},
    {"b1", "s32", 8, 128},     {"b1", "s32", 16, 128},           {"b1", "s32", 16, 256},
};

enum {
    LANE_BYTES = 128, /* of a lane's fragments in the input: A, then B, then C */
    B_AT = 32,
    C_AT = 64,
    MATRIX_A_AT = 32 * LANE_BYTES, /* elements of A by rows, 8 bytes each: a double or an integer */
    MATRIX_B_AT = MATRIX_A_AT + 16 * 256 * 8 /* of B by columns */
};

typedef struct Product {
    Pair *pair;
    Shape shape;
    Input a, b;
    Word result, modifier; /* type of C and D; rounding, saturation or operation */
} Product;

static Input input_named(Word name) {
    int i = 0;
    while (!pair_word_is(name, inputs[i].name))
        i++;
    return inputs[i];
}

/* ---- Operands ---- */

/* The exact value of a number in a format. */
static double value_of(uint32_t bits, int fraction, int exponent) {
    const int biased = (int)(bits >> fraction) & ((1 << exponent) - 1);
    const double part = (double)(bits & ((1u << fraction) - 1)) / (double)(1u << fraction);
    const int bias = (1 << (exponent - 1)) - 1;
    const double magnitude = biased ? ldexp(1 + part, biased - bias) : ldexp(part, 1 - bias);
    return bits >> (fraction + exponent) & 1 ? -magnitude : magnitude;
}

/* A finite number, with any exponent or with one near that of 1. */
static uint32_t draw_number(Pair *pair, int fraction, int exponent, bool has_infinity) {
    const uint32_t top = (1u << exponent) - 1;
    uint32_t biased = pair_draw(pair, has_infinity ? top : top + 1);
    if (pair_draw(pair, 4)) biased = (top >> 1) - 3 + pair_draw(pair, 7);
    if (!pair_draw(pair, 16)) biased = 0;
    uint32_t part = pair_draw(pair, 1u << fraction);
    if (!has_infinity && biased == top && part == (1u << fraction) - 1) part = 0;
    return (pair_draw(pair, 2) << exponent | biased) << fraction | part;
}

/* The position of an element: byte offset of the lane's registers, register, and lowest bit in
 * it. */
static void put(Pair *pair, int lane, int at, int reg, int shift, int bits, uint32_t raw) {
    uint32_t *word = &pair->in_words[(lane * LANE_BYTES + at) / 4 + reg];
    const uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    *word = (*word & ~(mask << shift)) | (raw & mask) << shift;
}

/* Draws the elements of A or of B and puts them both where the lanes' registers are loaded from and
 * into the whole matrix. `line` is a row of A or a column of B. */
static void draw_matrix(const Product *product, bool is_b) {
    Pair *pair = product->pair;
    const Input input = is_b ? product->b : product->a;
    const int lines = is_b ? 8 : product->shape.m, halves = lines / 8;
    const int each = input.bits < 32 ? 32 / input.bits : 1; /* elements per register */
    for (int line = 0; line < lines; line++)
        for (int k = 0; k < product->shape.k; k++) {
            const int lane = line % 8 * 4 + k / each % 4, part = k % each;
            const int reg = k / each / 4 * halves + line / 8;
            const int cell = ((is_b ? MATRIX_B_AT : MATRIX_A_AT) / 8) + line * product->shape.k + k;
            const int at = is_b ? B_AT : 0;
            int64_t whole = 0;
            if (input.arithmetic == DOUBLES) {
                pair->in_doubles[cell] = ((double)pair_bits(pair) - 0x1p31) / 1024;
                pair->in_doubles[(lane * LANE_BYTES + at) / 8] = pair->in_doubles[cell];
                continue;
            }
            uint32_t raw = pair_bits(pair) >> (32 - input.bits);
            if (input.arithmetic == BLOCKS) {
                raw = draw_number(pair, input.fraction, input.exponent, input.has_infinity);
                pair->in_doubles[cell] = value_of(raw, input.fraction, input.exponent);
                if (input.bits == 32) raw = raw << 13 | pair_draw(pair, 1 << 13); /* not used */
            } else {
                const int unused = 64 - input.bits;
                whole = (int64_t)((uint64_t)raw << unused);
                whole =
                    input.name[0] == 's' ? whole >> unused : (int64_t)((uint64_t)whole >> unused);
                memcpy(&pair->in_doubles[cell], &whole, sizeof whole);
            }
            put(pair, lane, at, reg, part * input.bits, input.bits, raw);
        }
}

static void draw_c(const Product *product) {
    Pair *pair = product->pair;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const int cell = (lane * LANE_BYTES + C_AT) / 4;
            if (pair_word_is(product->result, "f64"))
                pair->in_doubles[cell / 2 + i % 2] = (double)pair_bits(pair) / 8;
            else if (pair_word_is(product->result, "f16"))
                put(pair, lane, C_AT, i / 2, i % 2 * 16, 16, draw_number(pair, 10, 5, true));
            else if (pair_word_is(product->result, "f32"))
                pair->in_words[cell + i] = draw_number(pair, 23, 8, true);
        }
}

/* ---- The instruction ---- */

/* Registers of a lane for a fragment of `elements` elements. */
static int registers_for(int elements, int bits) {
    return bits == 64 ? elements / 32 : (elements * bits + 1023) / 1024;
}

static void write_list(Pair *pair, const char *prefix, int first, int count, const char *end) {
    for (int i = 0; i < count; i++)
        pair_add(pair, "%s%s%d", i ? ", " : "{", prefix, first + i);
    pair_add(pair, "}%s", end);
}

static int result_bits(const Product *product) {
    const Word result = product->result;
    return pair_word_is(result, "f64") ? 64 : pair_word_is(result, "f16") ? 16 : 32;
}

/* Loads or stores registers, starting at offset `at` from %x0. */
static void move_registers(Pair *pair, bool is_double, bool stores, int first, int count, int at) {
    const char *prefix = is_double ? "%d" : "%r";
    const int bytes = is_double ? 8 : 4;
    for (int i = 0; i < count; i++)
        if (stores)
            pair_add(pair, "st.global.b%d [%%x0+%d], %s%d;\n", 8 * bytes, at + i * bytes, prefix,
                     first + i);
        else
            pair_add(pair, "ld.global.b%d %s%d, [%%x0+%d];\n", 8 * bytes, prefix, first + i,
                     at + i * bytes);
}

static void write_instruction(const Product *product) {
    enum { A = 0, B = 8, C = 12, D = 16 }; /* first registers */
    Pair *pair = product->pair;
    const bool is_double = product->a.arithmetic == DOUBLES;
    const bool is_last = product->a.arithmetic == BITS; /* the modifier */
    const char *prefix = is_double ? "%d" : "%r";
    const int m = product->shape.m, k = product->shape.k;
    const int a = registers_for(m * k, product->a.bits), b = registers_for(8 * k, product->b.bits);
    const int d = registers_for(m * 8, result_bits(product));
    const Word result = product->result, modifier = product->modifier;
    pair_begin(pair, "one", "");
    pair_add(pair, "mad.wide.u32 %%x0, %%l, %d, %%in;\n", LANE_BYTES);
    move_registers(pair, is_double, false, A, a, 0);
    move_registers(pair, is_double, false, B, b, B_AT);
    move_registers(pair, is_double, false, C, d, C_AT);
    pair_add(pair, "mma.sync.aligned.m%dn8k%d.row.col%.*s.%.*s.%s.%s.%.*s%.*s ", m, k,
             is_last ? 0 : modifier.length, modifier.text, result.length, result.text,
             product->a.name, product->b.name, result.length, result.text,
             is_last ? modifier.length : 0, modifier.text);
    write_list(pair, prefix, D, d, ", ");
    write_list(pair, prefix, A, a, ", ");
    write_list(pair, prefix, B, b, ", ");
    write_list(pair, prefix, C, d, ";\n");
    pair_add(pair, "mad.wide.u32 %%x0, %%l, 16, %%out;\n");
    move_registers(pair, is_double, true, D, d, 0);
    pair_end(pair);
}

/* ---- One element by scalar arithmetic: %x1 points into A's row, %x2 into B's column ---- */

/* Ends a loop that processes `step` elements per iteration. */
static void end_loop(const Product *product, int label, int step) {
    pair_add(product->pair,
             "add.u64 %%x1, %%x1, %d;\nadd.u64 %%x2, %%x2, %d;\nadd.u32 %%r0, %%r0, %d;\n"
             "setp.lt.u32 %%p0, %%r0, %d;\n@%%p0 bra NEXT_%d;\n",
             8 * step, 8 * step, step, product->shape.k, label);
}

/* %x3 = C's element plus the products; stores it. */
static void add_integers(const Product *product, int label, int offset) {
    Pair *pair = product->pair;
    pair_add(pair,
             "ld.global.s32 %%x3, [%%x0+%d];\nNEXT_%d:\nld.global.s64 %%x4, [%%x1];\n"
             "ld.global.s64 %%x5, [%%x2];\n",
             C_AT + offset, label);
    if (product->a.arithmetic == BITS)
        pair_add(pair, "%.3s.b64 %%x4, %%x4, %%x5;\nadd.s64 %%x3, %%x3, %%x4;\n",
                 product->modifier.text + 1);
    else pair_add(pair, "mad.lo.s64 %%x3, %%x4, %%x5, %%x3;\n");
    end_loop(product, label, 1);
    if (pair_word_is(product->modifier, ".satfinite"))
        pair_add(pair, "min.s64 %%x3, %%x3, 2147483647;\nmax.s64 %%x3, %%x3, -2147483648;\n");
    pair_add(pair, "st.global.b32 [%%x6+%d], %%x3;\n", offset);
}

static void add_doubles(const Product *product, int label, int offset) {
    const Word round = product->modifier.length ? product->modifier : (Word){3, ".rn"};
    pair_add(product->pair,
             "ld.global.f64 %%d0, [%%x0+%d];\nNEXT_%d:\nld.global.f64 %%d1, [%%x1];\n"
             "ld.global.f64 %%d2, [%%x2];\nfma%.*s.f64 %%d0, %%d1, %%d2, %%d0;\n",
             C_AT + offset, label, round.length, round.text);
    end_loop(product, label, 1);
    pair_add(product->pair, "st.global.f64 [%%x6+%d], %%d0;\n", offset);
}

/* %r`to` = the exponent of %d`of`, but at least `least`; for a zero, a value far below all
 * others. */
static void take_exponent(Pair *pair, int to, int of, int least) {
    pair_add(pair,
             "mov.b64 %%x7, %%d%d;\nshr.u64 %%x7, %%x7, 52;\ncvt.u32.u64 %%r%d, %%x7;\n"
             "and.b32 %%r%d, %%r%d, 2047;\nsub.s32 %%r%d, %%r%d, 1023;\n"
             "max.s32 %%r%d, %%r%d, %d;\nsetp.eq.f64 %%p1, %%d%d, 0d0000000000000000;\n"
             "selp.s32 %%r%d, -1000, %%r%d, %%p1;\n",
             of, to, to, to, to, to, to, to, least, of, to, to);
}

/* Factors of product i of a block: %d1 and %d2. */
static void load_factors(Pair *pair, int i) {
    pair_add(pair, "ld.global.f64 %%d1, [%%x1+%d];\nld.global.f64 %%d2, [%%x2+%d];\n", 8 * i,
             8 * i);
}

/* %d5 = %x5 in units of %d4, rounded to the result type: f32 truncated, f16 to nearest. */
static void round_block(const Product *product) {
    pair_add(product->pair, "cvt.rn.f64.s64 %%d5, %%x5;\nmul.f64 %%d5, %%d5, %%d4;\n");
    if (result_bits(product) == 16)
        pair_add(product->pair, "cvt.rn.f16.f64 %%h0, %%d5;\ncvt.f64.f16 %%d5, %%h0;\n");
    else /* infinite from 2^128 on */
        pair_add(product->pair,
                 "abs.f64 %%d6, %%d5;\nsetp.ge.f64 %%p2, %%d6, 0d47f0000000000000;\n"
                 "cvt.rz.f32.f64 %%f0, %%d5;\ncvt.f64.f32 %%d6, %%f0;\n"
                 "@%%p2 mul.f64 %%d6, %%d5, 0d7ff0000000000000;\nmov.f64 %%d5, %%d6;\n");
}

/* Adds a block of products to the running sum in %d0: aligned to the greatest exponent, %r1, and
 * truncated below `kept` bits. */
static void add_block(const Product *product) {
    Pair *pair = product->pair;
    const Input a = product->a, b = product->b;
    const int least_a = 2 - (1 << (a.exponent - 1)), least_b = 2 - (1 << (b.exponent - 1));
    take_exponent(pair, 1, 0, -126);
    for (int i = 0; i < a.block; i++) {
        load_factors(pair, i);
        take_exponent(pair, 2, 1, least_a);
        take_exponent(pair, 3, 2, least_b);
        pair_add(pair, "add.s32 %%r2, %%r2, %%r3;\nmax.s32 %%r1, %%r1, %%r2;\n");
    }
    pair_add(pair,
             "max.s32 %%r1, %%r1, -300;\nsub.s32 %%r4, %d, %%r1;\nadd.s32 %%r5, %%r1, %d;\n"
             "cvt.u64.u32 %%x7, %%r4;\nshl.b64 %%x7, %%x7, 52;\nmov.b64 %%d3, %%x7;\n"
             "cvt.u64.u32 %%x7, %%r5;\nshl.b64 %%x7, %%x7, 52;\nmov.b64 %%d4, %%x7;\n"
             "mul.f64 %%d5, %%d0, %%d3;\ncvt.rzi.s64.f64 %%x5, %%d5;\n",
             1023 + a.kept, 1023 - a.kept);
    for (int i = 0; i < a.block; i++) {
        load_factors(pair, i);
        pair_add(pair, "mul.f64 %%d5, %%d1, %%d2;\nmul.f64 %%d5, %%d5, %%d3;\n"
                       "cvt.rzi.s64.f64 %%x7, %%d5;\nadd.s64 %%x5, %%x5, %%x7;\n");
    }
    round_block(product);
    pair_add(pair, "testp.infinite.f64 %%p3, %%d0;\n@!%%p3 mov.f64 %%d0, %%d5;\n");
}

static void add_blocks(const Product *product, int label, int offset) {
    Pair *pair = product->pair;
    const bool is_half = result_bits(product) == 16;
    if (is_half)
        pair_add(pair, "ld.global.b16 %%h0, [%%x0+%d];\ncvt.f64.f16 %%d0, %%h0;\n", C_AT + offset);
    else pair_add(pair, "ld.global.f32 %%f0, [%%x0+%d];\ncvt.f64.f32 %%d0, %%f0;\n", C_AT + offset);
    pair_add(pair, "NEXT_%d:\n", label);
    add_block(product);
    end_loop(product, label, product->a.block);
    if (is_half)
        pair_add(pair, "cvt.rn.f16.f64 %%h0, %%d0;\nst.global.b16 [%%x6+%d], %%h0;\n", offset);
    else pair_add(pair, "cvt.rn.f32.f64 %%f0, %%d0;\nst.global.f32 [%%x6+%d], %%f0;\n", offset);
}

static void write_arithmetic(const Product *product) {
    static void (*const add[])(const Product *, int, int) = {[INTEGERS] = add_integers,
                                                             [BITS] = add_integers,
                                                             [DOUBLES] = add_doubles,
                                                             [BLOCKS] = add_blocks};
    Pair *pair = product->pair;
    const int row_bytes = product->shape.k * 8;
    pair_begin(pair, "other", "");
    pair_add(pair, "mad.wide.u32 %%x0, %%l, %d, %%in;\nmad.wide.u32 %%x6, %%l, 16, %%out;\n",
             LANE_BYTES);
    for (int i = 0; i < product->shape.m / 4; i++) {
        pair_add(pair,
                 "shr.u32 %%r6, %%l, 2;\nadd.u32 %%r6, %%r6, %d;\nand.b32 %%r7, %%l, 3;\n"
                 "mad.lo.u32 %%r7, %%r7, 2, %d;\nmad.wide.u32 %%x1, %%r6, %d, %%in;\n"
                 "add.u64 %%x1, %%x1, %d;\nmad.wide.u32 %%x2, %%r7, %d, %%in;\n"
                 "add.u64 %%x2, %%x2, %d;\nmov.u32 %%r0, 0;\n",
                 i / 2 * 8, i % 2, row_bytes, MATRIX_A_AT, row_bytes, MATRIX_B_AT);
        add[product->a.arithmetic](product, i, i * result_bits(product) / 8);
    }
    pair_end(pair);
}

void pair_make_mma(Pair *pair) {
    static const char *const modifiers[] = {[INTEGERS] = ".satfinite .",
                                            [BITS] = ".xor.popc .and.popc",
                                            [DOUBLES] = ".rn .rz .rm .rp .",
                                            [BLOCKS] = "."};
    Product product = {.pair = pair,
                       .shape = shapes[pair_draw(pair, sizeof shapes / sizeof *shapes)]};
    product.a = input_named(pair_word(pair, product.shape.inputs));
    product.b = input_named(pair_word(pair, product.shape.inputs));
    product.result = pair_word(pair, product.shape.results);
    product.modifier = pair_word(pair, modifiers[product.a.arithmetic]);
    if (product.modifier.length == 1) product.modifier.length = 0;
    draw_matrix(&product, false);
    draw_matrix(&product, true);
    draw_c(&product);
    write_instruction(&product);
    write_arithmetic(&product);
}
