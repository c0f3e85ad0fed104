/* Integer arithmetic, with 128-bit integers. */
#include "lanes.h"

typedef __int128 Wide;

static Wide source(const Form *form, int index, const uint64_t *in) {
    return type_integer(form_source(form, index), in[index]);
}

static Wide least(const Type *type) {
    return type->kind == KIND_SIGNED ? -((Wide)1 << (type->bits - 1)) : 0;
}
static Wide most(const Type *type) {
    return ((Wide)1 << (type->bits - (type->kind == KIND_SIGNED))) - 1;
}
static uint64_t saturate(const Type *type, Wide value) {
    if (value < least(type)) value = least(type);
    return (uint64_t)(value > most(type) ? most(type) : value);
}
static Wide magnitude(Wide value) { return value < 0 ? -value : value; }

/* ---- Sums ---- */

static uint64_t add(const Form *form, const uint64_t *in) {
    Wide sum = source(form, 0, in) + source(form, 1, in);
    return form->sat ? saturate(form->types[0], sum) : (uint64_t)sum;
}

static uint64_t subtract(const Form *form, const uint64_t *in) {
    Wide difference = source(form, 0, in) - source(form, 1, in);
    return form->sat ? saturate(form->types[0], difference) : (uint64_t)difference;
}

/* The carry that is read: the last source, if there is one. */
static uint64_t carry_in(const Form *form, const uint64_t *in) {
    int last = form->sources - 1;
    return form->letters[form->destinations + last] == 'k' ? in[last] : 0;
}

/* Instructions without .cc do not change the flag. */
static uint64_t carry_of(const Form *form, const uint64_t *in, unsigned __int128 total) {
    return form->cc ? (uint64_t)(total >> form->types[0]->bits) & 1 : carry_in(form, in);
}

static uint64_t add_carry(const Form *form, const uint64_t *in) {
    return in[0] + in[1] + carry_in(form, in);
}
static uint64_t add_carry_out(const Form *form, const uint64_t *in) {
    return carry_of(form, in, (unsigned __int128)in[0] + in[1] + carry_in(form, in));
}
/* The borrow: 1 if an instruction reads the flag and the flag is 0. */
static uint64_t borrow_in(const Form *form, const uint64_t *in) {
    bool takes_flag = form->letters[form->destinations + form->sources - 1] == 'k';
    return takes_flag && !carry_in(form, in);
}
static uint64_t subtract_carry(const Form *form, const uint64_t *in) {
    return in[0] - in[1] - borrow_in(form, in);
}
static uint64_t subtract_carry_out(const Form *form, const uint64_t *in) {
    return form->cc ? (Wide)in[0] >= (Wide)in[1] + (Wide)borrow_in(form, in) : carry_in(form, in);
}

static uint64_t sad(const Form *form, const uint64_t *in) {
    return (uint64_t)(source(form, 2, in) + magnitude(source(form, 0, in) - source(form, 1, in)));
}

/* ---- Products ---- */

/* The half of the product that the form selects; the product of 64-bit operands has 128 bits. */
static uint64_t product_part(const Form *form, const uint64_t *in) {
    const Type *type = form->types[0];
    if (type->kind == KIND_SIGNED) {
        Wide product = source(form, 0, in) * source(form, 1, in);
        return (uint64_t)(form->hi ? product >> type->bits : product);
    }
    unsigned __int128 product = (unsigned __int128)in[0] * in[1];
    return (uint64_t)(form->hi ? product >> type->bits : product);
}

static uint64_t multiply(const Form *form, const uint64_t *in) { return product_part(form, in); }

static uint64_t multiply_add(const Form *form, const uint64_t *in) {
    uint64_t part = product_part(form, in);
    if (!form->sat) return part + in[2];
    return saturate(form->types[0], type_integer(form->types[0], part) + source(form, 2, in));
}

static unsigned __int128 multiply_add_total(const Form *form, const uint64_t *in) {
    uint64_t part = product_part(form, in) & type_mask(form->types[0]->bits);
    return (unsigned __int128)part + in[2] + carry_in(form, in);
}
static uint64_t multiply_add_carry(const Form *form, const uint64_t *in) {
    return (uint64_t)multiply_add_total(form, in);
}
static uint64_t multiply_add_carry_out(const Form *form, const uint64_t *in) {
    return carry_of(form, in, multiply_add_total(form, in));
}

/* The low 24 bits of a source. */
static Wide low24(const Form *form, uint64_t bits) {
    Wide value = bits & 0xffffff;
    return form->types[0]->kind == KIND_SIGNED && value >> 23 ? value - (1 << 24) : value;
}
static uint64_t multiply24(const Form *form, const uint64_t *in) {
    Wide product = low24(form, in[0]) * low24(form, in[1]);
    return (uint64_t)(form->hi ? product >> 16 : product);
}
static uint64_t multiply_add24(const Form *form, const uint64_t *in) {
    Wide part = type_integer(form->types[0], multiply24(form, in));
    Wide sum = part + source(form, 2, in);
    return form->sat ? saturate(form->types[0], sum) : (uint64_t)sum;
}

/* ---- Quotients ----
 * The ISA leaves division by zero to the machine. As docs/isa.md says, quotient and remainder are
 * then all ones. The one quotient that overflows wraps. */

static uint64_t divide(const Form *form, const uint64_t *in) {
    Wide divisor = source(form, 1, in);
    return divisor ? (uint64_t)(source(form, 0, in) / divisor) : UINT64_MAX;
}
static uint64_t remainder_of(const Form *form, const uint64_t *in) {
    Wide divisor = source(form, 1, in);
    return divisor ? (uint64_t)(source(form, 0, in) % divisor) : UINT64_MAX;
}

/* ---- One operand, minimum, maximum ---- */

static uint64_t absolute(const Form *form, const uint64_t *in) {
    return (uint64_t)magnitude(source(form, 0, in));
}
static uint64_t negate(const Form *form, const uint64_t *in) {
    return (uint64_t)-source(form, 0, in);
}

static uint64_t rectified(const Form *form, Wide value) {
    return (uint64_t)(form->relu && value < 0 ? 0 : value);
}
static uint64_t minimum(const Form *form, const uint64_t *in) {
    Wide a = source(form, 0, in), b = source(form, 1, in);
    return rectified(form, a < b ? a : b);
}
static uint64_t maximum(const Form *form, const uint64_t *in) {
    Wide a = source(form, 0, in), b = source(form, 1, in);
    return rectified(form, a > b ? a : b);
}

/* ---- Dot products ---- */

/* Sum of products of parts of a (`a_bits` each) and bytes of b, from byte `b_from`. */
static uint64_t dot(const Form *form, const uint64_t *in, int a_bits, int b_from) {
    const Type a = {"", form->types[0]->kind, a_bits, 1, NULL};
    const Type b = {"", form->types[1]->kind, 8, 1, NULL};
    Wide sum = type_integer(form_source(form, 2), in[2]);
    for (int i = 0; i < 32 / a_bits; i++)
        sum += type_integer(&a, in[0] >> i * a_bits) * type_integer(&b, in[1] >> (b_from + i) * 8);
    return (uint64_t)sum;
}
static uint64_t dot4(const Form *form, const uint64_t *in) { return dot(form, in, 8, 0); }
static uint64_t dot2(const Form *form, const uint64_t *in) {
    return dot(form, in, 16, form->hi ? 2 : 0);
}

#define INTS    "(.u16,.u32,.u64,.s16,.s32,.s64)"
#define CARRIES "(.u32,.s32,.u64,.s64)"
#define SIGNED  "(.s16,.s32,.s64)"

const Row ROWS_INTEGER[] = {
    {"add" INTS, "0=00", add},
    {"add.sat.s32", "0=00", add},
    {"add(.u16x2,.s16x2)", "0=00", add},
    {"sub" INTS, "0=00", subtract},
    {"sub.sat.s32", "0=00", subtract},
    {"add.cc" CARRIES, "0k=00", add_carry, add_carry_out},
    {"addc{.cc}" CARRIES, "0k=00k", add_carry, add_carry_out},
    {"sub.cc" CARRIES, "0k=00", subtract_carry, subtract_carry_out},
    {"subc{.cc}" CARRIES, "0k=00k", subtract_carry, subtract_carry_out},
    {"mul(.lo,.hi)" INTS, "0=00", multiply},
    {"mul.wide(.u16,.u32,.s16,.s32)", "w=00", multiply},
    {"mad(.lo,.hi)" INTS, "0=000", multiply_add},
    {"mad.wide(.u16,.u32,.s16,.s32)", "w=00w", multiply_add},
    {"mad.hi.sat.s32", "0=000", multiply_add},
    {"mad(.lo,.hi).cc" CARRIES, "0k=000", multiply_add_carry, multiply_add_carry_out},
    {"madc(.lo,.hi){.cc}" CARRIES, "0k=000k", multiply_add_carry, multiply_add_carry_out},
    {"mul24(.lo,.hi)(.u32,.s32)", "0=00", multiply24},
    {"mad24(.lo,.hi)(.u32,.s32)", "0=000", multiply_add24},
    {"mad24.hi.sat.s32", "0=000", multiply_add24},
    {"div" INTS, "0=00", divide},
    {"rem" INTS, "0=00", remainder_of},
    {"sad" INTS, "0=000", sad},
    {"abs" SIGNED, "0=0", absolute},
    {"neg" SIGNED, "0=0", negate},
    {"min" INTS, "0=00", minimum},
    {"max" INTS, "0=00", maximum},
    {"min(.u16x2,.s16x2)", "0=00", minimum},
    {"max(.u16x2,.s16x2)", "0=00", maximum},
    {"min.relu(.s32,.s16x2)", "0=00", minimum},
    {"max.relu(.s32,.s16x2)", "0=00", maximum},
    {"dp4a(.u32,.s32)(.u32,.s32)", "u=01u", dot4},
    {"dp2a(.lo,.hi)(.u32,.s32)(.u32,.s32)", "u=01u", dot2},
    {0},
};
