/* cvt: every pair of types, rounding and modifier. */
#include "lanes.h"

#include <stdlib.h>

static const Type *to_type(const Form *form) { return form->types[0]; }
static const Type *from_type(const Form *form) { return form->types[1]; }

/* .ftz applies to values of type .f32, as source or as destination. */
static uint64_t flush(const Form *form, const Format *format, uint64_t bits) {
    return form->ftz && format == &FORMAT_F32 ? real_flush(format, bits) : bits;
}

/* ---- To integers ---- */

static uint64_t clamp(const Type *type, mpz_srcptr value) {
    mpz_t least, most;
    mpz_init(least);
    mpz_init_set_ui(most, 1);
    mpz_mul_2exp(most, most, (mp_bitcnt_t)(type->bits - (type->kind == KIND_SIGNED)));
    if (type->kind == KIND_SIGNED) mpz_neg(least, most);
    mpz_sub_ui(most, most, 1);
    mpz_srcptr inside = mpz_cmp(value, least) < 0 ? least : mpz_cmp(value, most) > 0 ? most : value;
    uint64_t magnitude = mpz_get_ui(inside);
    uint64_t result = mpz_sgn(inside) < 0 ? 0 - magnitude : magnitude;
    mpz_clear(least);
    mpz_clear(most);
    return result;
}

static uint64_t integer_to_integer(const Form *form, const uint64_t *in) {
    __int128 value = type_integer(from_type(form), in[0]);
    if (!form->sat) return (uint64_t)value;
    const Type *type = to_type(form);
    __int128 most = ((__int128)1 << (type->bits - (type->kind == KIND_SIGNED))) - 1;
    __int128 least = type->kind == KIND_SIGNED ? -most - 1 : 0;
    return (uint64_t)(value < least ? least : value > most ? most : value);
}

/* A NaN gives 0; if either side has 64 bits, it gives the middle of the unsigned range. */
static uint64_t nan_to_integer(const Form *form) {
    const Type *type = to_type(form);
    if (from_type(form)->bits < 64 && type->bits < 64) return 0;
    return UINT64_C(1) << (type->bits - 1);
}

static uint64_t float_to_integer(const Form *form, const uint64_t *in) {
    const Format *format = from_type(form)->format;
    uint64_t bits = flush(form, format, in[0]);
    RealClass class = real_class(format, bits);
    if (class == REAL_NAN) return nan_to_integer(form);
    if (class == REAL_INFINITE) bits = real_largest(&FORMAT_F64, real_sign(format, bits) != 0);
    Real x;
    real_set(&x, class == REAL_INFINITE ? &FORMAT_F64 : format, bits);
    mpz_t value;
    mpz_init(value);
    mpfr_get_z(value, x.value, (mpfr_rnd_t)form->integral);
    uint64_t result = clamp(to_type(form), value);
    mpz_clear(value);
    return result;
}

/* ---- To floating point ---- */

/* Applies .relu, .satfinite and .sat to a rounded result; `is_nan`: the source was a NaN. */
static uint64_t finish(const Form *form, const Format *format, uint64_t bits, bool is_nan) {
    bits = flush(form, format, bits);
    bool is_negative = real_sign(format, bits) != 0;
    if (form->sat) {
        if (is_nan || is_negative) return 0;
        return real_order(format, bits, real_one(format), true) > 0 ? real_one(format) : bits;
    }
    if (is_nan) return format->nan;
    if (form->relu && is_negative) return 0;
    RealClass class = real_class(format, bits);
    if (form->satfinite && (class == REAL_INFINITE || class == REAL_NAN))
        return real_largest(format, is_negative);
    return bits;
}

static uint64_t round_value(const Form *form, mpfr_srcptr value) {
    const Format *format = to_type(form)->format;
    return finish(form, format, real_round(format, value, form->round), mpfr_nan_p(value) != 0);
}

static uint64_t integer_to_float(const Form *form, const uint64_t *in) {
    MPFR_DECL_INIT(value, 64);
    if (from_type(form)->kind == KIND_SIGNED)
        mpfr_set_si(value, (long)type_integer(from_type(form), in[0]), MPFR_RNDN);
    else mpfr_set_ui(value, in[0] & type_mask(from_type(form)->bits), MPFR_RNDN);
    return round_value(form, value);
}

static uint64_t float_to_float(const Form *form, const uint64_t *in) {
    const Format *format = from_type(form)->format;
    Real x;
    real_set(&x, format, flush(form, format, in[0]));
    if (form->integral >= 0) mpfr_rint(x.value, x.value, (mpfr_rnd_t)form->integral);
    return round_value(form, x.value);
}

/* Two sources: the first becomes the upper element. */
static uint64_t float_pair(const Form *form, const uint64_t *in) {
    return float_to_float(form, &in[form->element == 0]);
}

/* cvt.pack: b lowest, then a, then c. The ISA uses types here that no register has. */
static uint64_t pack_integers(const Form *form, const uint64_t *in) {
    const char *to = form_word(form, 3);
    const int bits = atoi(to + 1);
    const __int128 most = ((__int128)1 << (bits - (to[0] == 's'))) - 1;
    const __int128 least = to[0] == 's' ? -most - 1 : 0;
    uint64_t result = form->sources > 2 ? in[2] : 0;
    for (int operand = 0; operand < 2; operand++) {
        const __int128 value = type_integer(type_named("s32"), in[operand]);
        const __int128 limited = value < least ? least : value > most ? most : value;
        result = result << bits | ((uint64_t)limited & type_mask(bits));
    }
    return result & type_mask(32);
}

#define INTS      "(.u8,.s8,.u16,.u32,.u64,.s16,.s32,.s64)"
#define ROUND     ".rn,.rz,.rm,.rp"
#define INT_ROUND ".rni,.rzi,.rmi,.rpi"
#define PLAIN     ROW_NO_CONSTANT
#define RAGGED    (ROW_NO_CONSTANT | ROW_WIDE)

const Row ROWS_CONVERT[] = {
    {"cvt{.sat}" INTS INTS, "0=1", integer_to_integer, .flags = RAGGED},
    {"cvt(" INT_ROUND "){.sat}" INTS "(.f16,.f32,.f64)", "0=1", float_to_integer, .flags = RAGGED},
    {"cvt(" INT_ROUND ")" INTS ".bf16", "0=1", float_to_integer, .flags = RAGGED},
    {"cvt(" INT_ROUND ").ftz{.sat}" INTS ".f32", "0=1", float_to_integer, .flags = RAGGED},
    {"cvt(" ROUND "){.sat}(.f16,.f32,.f64)" INTS, "0=1", integer_to_float, .flags = RAGGED},
    {"cvt(" ROUND ").bf16" INTS, "0=1", integer_to_float, .flags = RAGGED},
    {"cvt(" ROUND ").ftz{.sat}.f32" INTS, "0=1", integer_to_float, .flags = PLAIN},
    {"cvt{" INT_ROUND "}{.ftz}{.sat}.f32.f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{" INT_ROUND "}{.sat}.f64.f64", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{" INT_ROUND "}{.sat}.f16.f16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{" INT_ROUND "}.bf16.bf16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{.ftz}{.sat}.f64.f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{.sat}.f64.f16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt.f64.bf16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{.ftz}{.sat}.f32.f16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{.ftz}.f32.bf16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(" ROUND "){.ftz}{.sat}.f32.f64", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(" ROUND "){.ftz}{.sat}.f16.f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(" ROUND "){.ftz}.bf16.f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(.rn,.rz){.relu}{.satfinite}(.f16,.bf16).f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(" ROUND "){.sat}.f16.f64", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(" ROUND ").bf16(.f16,.f64)", "0=1", float_to_float, .flags = PLAIN},
    {"cvt{" ROUND "}.f16.bf16", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(.rn,.rz){.relu}{.satfinite}(.f16x2,.bf16x2).f32", "0=11", float_pair, .flags = PLAIN},
    {"cvt.rna{.satfinite}.tf32.f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt(.rn,.rz){.relu}{.satfinite}.tf32.f32", "0=1", float_to_float, .flags = PLAIN},
    {"cvt.rn.satfinite{.relu}(.e4m3x2,.e5m2x2).f32", "0=11", float_pair, .flags = PLAIN},
    {"cvt.rn.satfinite{.relu}(.e4m3x2,.e5m2x2).f16x2", "0=1", float_to_float, .flags = PLAIN},
    {"cvt.rn{.relu}.f16x2(.e4m3x2,.e5m2x2)", "0=1", float_to_float, .flags = PLAIN},
    {"cvt.pack.sat(.u16#pack,.s16#pack).s32", "u=ss", pack_integers},
    {"cvt.pack.sat(.u8#pack,.s8#pack,.u4#pack,.s4#pack,.u2,.s2).s32.b32", "u=ssu", pack_integers},
    {0},
};
