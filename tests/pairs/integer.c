/* Compares dp4a, dp2a and the video instructions with bfe, plain arithmetic and bfi. */
#include "pairs.h"

/* %r0 to %r2 are a, b and c of the thread. */
static void load_abc(Pair *pair) {
    pair_add(pair, "mul.wide.u32 %%x0, %%t, 12;\nadd.u64 %%x0, %%x0, %%in;\n"
                   "ld.global.u32 %%r0, [%%x0];\nld.global.u32 %%r1, [%%x0+4];\n"
                   "ld.global.u32 %%r2, [%%x0+8];\n");
}

static void store_result(Pair *pair) {
    pair_add(pair, "mul.wide.u32 %%x0, %%t, 4;\nadd.u64 %%x0, %%x0, %%out;\n"
                   "st.global.u32 [%%x0], %%r3;\n");
    pair_end(pair);
}

/* ---- dp4a, dp2a ---- */

void pair_make_dot_product(Pair *pair) {
    const Word a = pair_word(pair, "u32 s32"), b = pair_word(pair, "u32 s32");
    const Word form = pair_word(pair, "dp4a dp2a.lo dp2a.hi");
    const bool has_halves = !pair_word_is(form, "dp4a");
    const int first = pair_word_is(form, "dp2a.hi") ? 16 : 0;
    pair_begin(pair, "one", "");
    load_abc(pair);
    pair_add(pair, "%.*s.%.*s.%.*s %%r3, %%r0, %%r1, %%r2;\n", form.length, form.text, a.length,
             a.text, b.length, b.text);
    store_result(pair);
    pair_begin(pair, "other", "");
    load_abc(pair);
    pair_add(pair, "mov.u32 %%r3, %%r2;\n");
    for (int i = 0; i < (has_halves ? 2 : 4); i++)
        pair_add(pair,
                 "bfe.%.*s %%r4, %%r0, %d, %d;\nbfe.%.*s %%r5, %%r1, %d, 8;\n"
                 "mad.lo.u32 %%r3, %%r4, %%r5, %%r3;\n",
                 a.length, a.text, has_halves ? 16 * i : 8 * i, has_halves ? 16 : 8, b.length,
                 b.text, first + 8 * i);
    store_result(pair);
}

/* ---- Video ---- */

/* Clamps the s64 in %x1 to `bits` bits of the type. */
static void saturate(Pair *pair, int bits, bool is_signed) {
    const long long highest = (1LL << (is_signed ? bits - 1 : bits)) - 1;
    const long long lowest = is_signed ? -highest - 1 : 0;
    pair_add(pair, "min.s64 %%x1, %%x1, %lld;\nmax.s64 %%x1, %%x1, %lld;\n", highest, lowest);
}

/* %x`to` = the `bits` bits of %r`from` from bit `first` on, extended as the type requires. */
static void take(Pair *pair, int to, int from, int first, int bits, Word type) {
    pair_add(pair, "bfe.%.*s %%r8, %%r%d, %d, %d;\ncvt.%c64.%.*s %%x%d, %%r8;\n", type.length,
             type.text, from, first, bits, type.text[0], type.length, type.text, to);
}

/* %x1 = %x2 combined with %x3. */
static void combine(Pair *pair, Word form) {
    if (pair_word_is(form, "vabsdiff"))
        pair_add(pair, "sub.s64 %%x1, %%x2, %%x3;\nabs.s64 %%x1, %%x1;\n");
    else if (pair_word_is(form, "vavrg")) /* rounds halves away from zero */
        pair_add(pair, "add.s64 %%x1, %%x2, %%x3;\nsetp.ge.s64 %%p0, %%x1, 0;\n"
                       "@%%p0 add.s64 %%x1, %%x1, 1;\nshr.s64 %%x1, %%x1, 1;\n");
    else pair_add(pair, "%.*s.s64 %%x1, %%x2, %%x3;\n", form.length - 1, form.text + 1);
}

/* A part of a register: all of it, a byte or a half. */
typedef struct Part {
    char suffix[4]; /* "", ".b1", ".h0" */
    int first, bits;
} Part;

static Part draw_part(Pair *pair) {
    const uint32_t part = pair_draw(pair, 9);
    if (part < 4) return (Part){{'.', 'b', (char)('0' + part), 0}, 8 * (int)part, 8};
    if (part < 6) return (Part){{'.', 'h', (char)('0' + part - 4), 0}, 16 * (int)(part - 4), 16};
    return (Part){"", 0, 32};
}

/* v...(second) d, a, b, c; or, if d is a part, the result is merged into c. */
void pair_make_video(Pair *pair) {
    const Word form = pair_word(pair, "vadd vsub vabsdiff vmin vmax");
    const Word types = pair_word(pair, "u32 s32"), a = pair_word(pair, "u32 s32"),
               b = pair_word(pair, "u32 s32");
    const bool is_signed = types.text[0] == 's', saturates = pair_draw(pair, 2);
    const Part from_a = draw_part(pair), from_b = draw_part(pair);
    const bool merges = pair_draw(pair, 2);
    Part to = {"", 0, 32};
    while (merges && to.bits == 32)
        to = draw_part(pair);
    const Word second = merges ? (Word){0, ""} : pair_word(pair, ".add .min .max");
    pair_begin(pair, "one", "");
    load_abc(pair);
    pair_add(pair, "%.*s.%.*s.%.*s.%.*s%s%.*s %%r3%s, %%r0%s, %%r1%s, %%r2;\n", form.length,
             form.text, types.length, types.text, a.length, a.text, b.length, b.text,
             saturates ? ".sat" : "", second.length, second.text, to.suffix, from_a.suffix,
             from_b.suffix);
    store_result(pair);
    pair_begin(pair, "other", "");
    load_abc(pair);
    take(pair, 2, 0, from_a.first, from_a.bits, a);
    take(pair, 3, 1, from_b.first, from_b.bits, b);
    combine(pair, form);
    if (saturates) saturate(pair, to.bits, is_signed);
    pair_add(pair, "cvt.u32.u64 %%r3, %%x1;\n");
    if (merges) pair_add(pair, "bfi.b32 %%r3, %%r3, %%r2, %d, %d;\n", to.first, to.bits);
    else
        pair_add(pair, "%.*s.%.*s %%r3, %%r3, %%r2;\n", second.length - 1, second.text + 1,
                 types.length, types.text);
    store_result(pair);
}

/* v...2 and v...4, on all elements or those of a mask, with any selection of elements of a and
 * b. */
void pair_make_packed_video(Pair *pair) {
    const Word form = pair_word(pair, "vadd vsub vabsdiff vmin vmax vavrg");
    const Word types = pair_word(pair, "u32 s32"), a = pair_word(pair, "u32 s32"),
               b = pair_word(pair, "u32 s32"), more = pair_word(pair, ".sat .add .");
    const int elements = pair_draw(pair, 2) ? 4 : 2, bits = 32 / elements;
    const char unit = elements == 4 ? 'b' : 'h';
    const bool sums = pair_word_is(more, ".add"), saturates = pair_word_is(more, ".sat");
    const uint32_t mask = 1 + pair_draw(pair, (1u << elements) - 1);
    uint32_t pick[2][4]; /* element of a and b, concatenated, for each element of d */
    char masks[8] = "", picks[2][8] = {"", ""};
    for (int i = elements - 1, at = 0; i >= 0; i--)
        if (mask >> i & 1) masks[at++] = (char)('0' + i);
    for (int operand = 0; operand < 2; operand++)
        for (int i = 0; i < elements; i++) {
            pick[operand][i] = pair_draw(pair, 2 * (uint32_t)elements);
            picks[operand][elements - 1 - i] = (char)('0' + pick[operand][i]);
        }
    pair_begin(pair, "one", "");
    load_abc(pair);
    pair_add(pair, "%.*s%d.%.*s.%.*s.%.*s%.*s %%r3.%c%s, %%r0.%c%s, %%r1.%c%s, %%r2;\n",
             form.length, form.text, elements, types.length, types.text, a.length, a.text, b.length,
             b.text, more.length > 1 ? more.length : 0, more.text, unit, masks, unit, picks[0],
             unit, picks[1]);
    store_result(pair);
    pair_begin(pair, "other", "");
    load_abc(pair);
    pair_add(pair, "mov.u32 %%r3, %%r2;\n");
    for (int i = 0; i < elements; i++) {
        if (!(mask >> i & 1)) continue;
        for (int operand = 0; operand < 2; operand++) {
            const int from = (int)pick[operand][i];
            take(pair, 2 + operand, from / elements, from % elements * bits, bits, operand ? b : a);
        }
        combine(pair, form);
        if (saturates) saturate(pair, bits, types.text[0] == 's');
        pair_add(pair, "cvt.u32.u64 %%r4, %%x1;\n");
        if (sums) pair_add(pair, "add.u32 %%r3, %%r3, %%r4;\n");
        else pair_add(pair, "bfi.b32 %%r3, %%r4, %%r3, %d, %d;\n", i * bits, bits);
    }
    store_result(pair);
}
