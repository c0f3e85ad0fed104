/* Logic, shifts, bit fields, permutations, selection: bit by bit, following the definitions in the
 * PTX ISA. */
#include "lanes.h"

#include <string.h>

static int width_of(const Form *form) { return form->types[form->type_count - 1]->bits; }
static uint64_t bit(uint64_t value, int position) { return value >> position & 1; }

/* ---- Logic ---- */

static uint64_t logic_and(const Form *form, const uint64_t *in) {
    return (void)form, in[0] & in[1];
}
static uint64_t logic_or(const Form *form, const uint64_t *in) { return (void)form, in[0] | in[1]; }
static uint64_t logic_xor(const Form *form, const uint64_t *in) {
    return (void)form, in[0] ^ in[1];
}
static uint64_t logic_not(const Form *form, const uint64_t *in) { return (void)form, ~in[0]; }
static uint64_t logic_cnot(const Form *form, const uint64_t *in) { return (void)form, in[0] == 0; }
static uint64_t copy(const Form *form, const uint64_t *in) { return (void)form, in[0]; }

/* The table's bit at index 4 a + 2 b + c, for each position. */
static uint64_t logic_table(const Form *form, const uint64_t *in) {
    uint64_t result = 0;
    for (int i = 0; i < 32; i++) {
        int index = (int)(bit(in[0], i) * 4 + bit(in[1], i) * 2 + bit(in[2], i));
        result |= bit((uint64_t)form->constant, index) << i;
    }
    return result;
}
static uint64_t logic_table_predicate(const Form *form, const uint64_t *in) {
    uint64_t is_set = logic_table(form, in) != 0;
    return form_has(form, "and") ? is_set & in[4] : is_set | in[4];
}

/* ---- Shifts ---- */

static uint64_t shift_left(const Form *form, const uint64_t *in) {
    return in[1] >= (uint64_t)width_of(form) ? 0 : in[0] << in[1];
}

static uint64_t shift_right(const Form *form, const uint64_t *in) {
    uint64_t amount = in[1] < (uint64_t)width_of(form) ? in[1] : (uint64_t)width_of(form);
    return (uint64_t)(type_integer(form->types[0], in[0]) >> amount);
}

static uint64_t shift_funnel(const Form *form, const uint64_t *in) {
    uint64_t amount = form->wrap ? in[2] % 32 : in[2] < 32 ? in[2] : 32;
    unsigned __int128 both = (unsigned __int128)in[1] << 32 | in[0];
    return (uint64_t)(form_has(form, "l") ? both << amount >> 32 : both >> amount);
}

/* ---- Counting and finding ---- */

static uint64_t count_ones(const Form *form, const uint64_t *in) {
    uint64_t ones = 0;
    for (int i = 0; i < width_of(form); i++)
        ones += bit(in[0], i);
    return ones;
}
static uint64_t count_leading_zeros(const Form *form, const uint64_t *in) {
    int zeros = 0, width = width_of(form);
    while (zeros < width && !bit(in[0], width - 1 - zeros))
        zeros++;
    return (uint64_t)zeros;
}
static uint64_t reverse(const Form *form, const uint64_t *in) {
    uint64_t result = 0;
    for (int i = 0; i < width_of(form); i++)
        result |= bit(in[0], i) << (width_of(form) - 1 - i);
    return result;
}

static uint64_t find_leading(const Form *form, const uint64_t *in) {
    int top = width_of(form) - 1;
    uint64_t sign = form->types[0]->kind == KIND_SIGNED ? bit(in[0], top) : 0;
    for (int i = top; i >= 0; i--)
        if (bit(in[0], i) != sign) return (uint64_t)(form_has(form, "shiftamt") ? top - i : i);
    return UINT32_MAX;
}

static uint64_t find_nth(const Form *form, const uint64_t *in) {
    int base = (int)in[1];
    int64_t offset = (int64_t)type_integer(form_source(form, 2), in[2]);
    if (offset == 0) return bit(in[0], base) ? (uint64_t)base : UINT32_MAX;
    int64_t left = offset < 0 ? -offset : offset;
    for (int i = base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1)
        if (bit(in[0], i) && --left == 0) return (uint64_t)i;
    return UINT32_MAX;
}

/* ---- Fields ---- */

static uint64_t extract_field(const Form *form, const uint64_t *in) {
    int top = width_of(form) - 1, position = (int)(in[1] & 0xff), length = (int)(in[2] & 0xff);
    int last = position + length - 1 < top ? position + length - 1 : top;
    uint64_t sign = form->types[0]->kind == KIND_SIGNED && length ? bit(in[0], last) : 0;
    uint64_t result = 0;
    for (int i = 0; i <= top; i++) {
        bool is_inside = i < length && position + i <= top;
        result |= (is_inside ? bit(in[0], position + i) : sign) << i;
    }
    return result;
}

static uint64_t insert_field(const Form *form, const uint64_t *in) {
    int position = (int)(in[2] & 0xff), length = (int)(in[3] & 0xff);
    uint64_t result = in[1];
    for (int i = 0; i < length && position + i < width_of(form); i++)
        result = (result & ~(UINT64_C(1) << (position + i))) | bit(in[0], i) << (position + i);
    return result;
}

/* b ones, starting at bit a and ending at bit 31. A position or width of 32 or more is taken modulo
 * 32 (.wrap); or it gives no ones, or all ones up to bit 31 (.clamp). */
static uint64_t make_mask(const Form *form, const uint64_t *in) {
    uint64_t from = in[0], length = in[1];
    if (form->wrap) {
        from %= 32;
        length %= 32;
    }
    uint64_t result = 0;
    for (uint64_t i = 0; i < 32; i++)
        if (i >= from && i < from + length) result |= UINT64_C(1) << i;
    return result;
}

static uint64_t extend(const Form *form, const uint64_t *in) {
    uint64_t length = form->wrap ? in[1] % 32 : in[1];
    if (length >= 32) return in[0];
    if (length == 0) return 0;
    uint64_t result = in[0] & type_mask((int)length);
    bool is_negative = form->types[0]->kind == KIND_SIGNED && bit(result, (int)length - 1);
    return is_negative ? result | ~type_mask((int)length) : result;
}

/* ---- Permutations ---- */

static uint64_t byte_of(const uint64_t *in, int index) {
    return in[index / 4] >> index % 4 * 8 & 0xff;
}

/* Each nibble of c selects a byte of b:a or, if its bit 3 is set, that byte's sign. */
static uint64_t permute(const Form *form, const uint64_t *in) {
    (void)form;
    uint64_t result = 0;
    for (int i = 0; i < 4; i++) {
        int nibble = (int)(in[2] >> i * 4 & 0xf);
        uint64_t byte = byte_of(in, nibble & 7);
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << i * 8;
    }
    return result;
}

/* The manual's table of modes: the four bytes, highest first, for c = 0, 1, 2, 3. */
static uint64_t permute_mode(const Form *form, const uint64_t *in) {
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
    static const char *const bytes[][4] = {
        {"3210", "4321", "5432", "6543"}, {"5670", "6701", "7012", "0123"},
        {"0000", "1111", "2222", "3333"}, {"3210", "3211", "3222", "3333"},
        {"0000", "1110", "2210", "3210"}, {"1010", "3232", "1010", "3232"}};
    const char *selected = bytes[form_which(form, modes)][in[2] & 3];
    uint64_t result = 0;
    for (int i = 0; i < 4; i++)
        result = result << 8 | byte_of(in, selected[i] - '0');
    return result;
}

/* ---- Selection ---- */

static uint64_t select(const Form *form, const uint64_t *in) {
    return (void)form, in[2] ? in[0] : in[1];
}

/* The first if the third is not negative; -0 counts as not negative, a NaN as negative. */
static uint64_t select_by_sign(const Form *form, const uint64_t *in) {
    if (form->types[1]->kind != KIND_FLOAT) return in[2] >> 31 ? in[1] : in[0];
    uint64_t c = form->ftz ? real_flush(&FORMAT_F32, in[2]) : in[2];
    if (real_class(&FORMAT_F32, c) == REAL_NAN) return in[1];
    return real_order(&FORMAT_F32, c, 0, true) >= 0 ? in[0] : in[1];
}

#define BITS "(.b16,.b32,.b64)"
#define ALL  "(.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64)"

const Row ROWS_BITS[] = {
    {"and(.pred,.b16,.b32,.b64)", "0=00", logic_and},
    {"or(.pred,.b16,.b32,.b64)", "0=00", logic_or},
    {"xor(.pred,.b16,.b32,.b64)", "0=00", logic_xor},
    {"not(.pred,.b16,.b32,.b64)", "0=0", logic_not},
    {"cnot" BITS, "0=0", logic_cnot},
    {"mov(.pred,.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64)", "0=0", copy},
    {"lop3.b32", "0=000i", logic_table, .constants = 256},
    {"lop3(.and,.or).b32", "0p=000ip", logic_table, logic_table_predicate, .constants = 256},
    {"shl" BITS, "0=0n", shift_left},
    {"shr(.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64)", "0=0n", shift_right},
    {"shf(.l,.r)(.clamp,.wrap).b32", "0=00n", shift_funnel},
    {"popc(.b32,.b64)", "u=0", count_ones},
    {"clz(.b32,.b64)", "u=0", count_leading_zeros},
    {"brev(.b32,.b64)", "0=0", reverse},
    {"bfind{.shiftamt}(.u32,.u64,.s32,.s64)", "u=0", find_leading},
    {"fns.b32", "u=uls", find_nth},
    {"bfe(.u32,.u64,.s32,.s64)", "0=0nn", extract_field},
    {"bfi(.b32,.b64)", "0=00nn", insert_field},
    {"bmsk(.clamp,.wrap).b32", "0=nn", make_mask},
    {"szext(.clamp,.wrap)(.u32,.s32)", "0=0n", extend},
    {"prmt.b32", "0=00n", permute},
    {"prmt.b32(.f4e,.b4e,.rc8,.ecl,.ecr,.rc16)", "0=00n", permute_mode},
    {"selp" ALL, "0=00p", select},
    {"slct" ALL ".s32", "0=001", select_by_sign},
    {"slct{.ftz}" ALL ".f32", "0=001", select_by_sign},
    {0},
};
