/* Floating-point arithmetic that is exactly defined: correctly rounded by MPFR. */
#include "lanes.h"

static const Format *format_of(const Form *form) {
    const Format *format = form->types[0]->format;
    if (!form->ftz) return format;
    return format == &FORMAT_F32 ? &FORMAT_F32_FTZ : &FORMAT_F16_FTZ;
}

/* A source as the instruction reads it. */
static uint64_t read(const Form *form, uint64_t bits) {
    return form->ftz ? real_flush(format_of(form), bits) : bits;
}

/* A result as the instruction writes it. Whether it is subnormal is decided after rounding to the
 * precision of a normal number. A value that only the coarser rounding of subnormals would raise to
 * the least normal number counts as subnormal. */
static uint64_t finish(const Form *form, uint64_t bits) {
    const Format *format = format_of(form);
    if (form->ftz) bits = real_flush(format, bits);
    const bool is_nan = real_class(format, bits) == REAL_NAN;
    const bool is_negative = real_sign(format, bits) != 0;
    if (form->sat) {
        if (is_nan || is_negative) return 0;
        return real_order(format, bits, real_one(format), true) > 0 ? real_one(format) : bits;
    }
    return form->relu && is_negative && !is_nan ? 0 : bits;
}

/* ---- Arithmetic ---- */

static uint64_t binary(const Form *form, const uint64_t *in, RealBinary *function) {
    return finish(form, real_binary(function, format_of(form), form->round, read(form, in[0]),
                                    read(form, in[1])));
}
static uint64_t add(const Form *form, const uint64_t *in) { return binary(form, in, mpfr_add); }
static uint64_t subtract(const Form *form, const uint64_t *in) {
    return binary(form, in, mpfr_sub);
}
static uint64_t multiply(const Form *form, const uint64_t *in) {
    return binary(form, in, mpfr_mul);
}
static uint64_t divide(const Form *form, const uint64_t *in) { return binary(form, in, mpfr_div); }

static uint64_t multiply_add(const Form *form, const uint64_t *in) {
    return finish(form, real_fma(format_of(form), form->round, read(form, in[0]), read(form, in[1]),
                                 read(form, in[2])));
}

/* A sum or product of halves and a float; the halves' types are the form's second one. */
static uint64_t widened(const Form *form, uint64_t bits) {
    return real_unary(mpfr_set, &FORMAT_F32, MPFR_RNDN, form->types[1]->format, bits);
}
static uint64_t add_mixed(const Form *form, const uint64_t *in) {
    const uint64_t wide[] = {widened(form, in[0]), in[1]};
    return add(form, wide);
}
static uint64_t subtract_mixed(const Form *form, const uint64_t *in) {
    const uint64_t wide[] = {widened(form, in[0]), in[1]};
    return subtract(form, wide);
}
static uint64_t multiply_add_mixed(const Form *form, const uint64_t *in) {
    const uint64_t wide[] = {widened(form, in[0]), widened(form, in[1]), in[2]};
    return multiply_add(form, wide);
}

static int reciprocal(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t round) {
    return mpfr_ui_div(result, 1, x, round);
}
static uint64_t unary(const Form *form, const uint64_t *in, RealUnary *function) {
    const Format *format = format_of(form);
    return finish(form, real_unary(function, format, form->round, format, read(form, in[0])));
}
static uint64_t invert(const Form *form, const uint64_t *in) { return unary(form, in, reciprocal); }
static uint64_t square_root(const Form *form, const uint64_t *in) {
    return unary(form, in, mpfr_sqrt);
}

/* ---- Signs ---- */

static uint64_t absolute(const Form *form, const uint64_t *in) {
    uint64_t bits = read(form, in[0]);
    return bits ^ real_sign(format_of(form), bits);
}
static uint64_t sign_bit(const Form *form) { return UINT64_C(1) << (format_of(form)->bits - 1); }
static uint64_t negate(const Form *form, const uint64_t *in) {
    return read(form, in[0]) ^ sign_bit(form);
}
static uint64_t copy_sign(const Form *form, const uint64_t *in) {
    return (in[0] & sign_bit(form)) | (in[1] & ~sign_bit(form));
}

static uint64_t test_property(const Form *form, const uint64_t *in) {
    static const char *const properties[] = {"finite", "infinite",  "number", "notanumber",
                                             "normal", "subnormal", NULL};
    RealClass class = real_class(format_of(form), in[0]);
    switch (form_which(form, properties)) {
    case 0: return class != REAL_INFINITE && class != REAL_NAN;
    case 1: return class == REAL_INFINITE;
    case 2: return class != REAL_NAN;
    case 3: return class == REAL_NAN;
    case 4: return class == REAL_NORMAL || class == REAL_ZERO;
    default: return class == REAL_SUBNORMAL;
    }
}

/* ---- Minimum and maximum: -0 is below +0; a NaN loses against a number, unless .NaN ---- */

static uint64_t extreme(const Form *form, const uint64_t *in, int sign) {
    const Format *format = format_of(form);
    uint64_t a = read(form, in[0]), b = read(form, in[1]);
    uint64_t sign_of_product = real_sign(format, a) ^ real_sign(format, b);
    if (form->xorsign) {
        a &= ~sign_bit(form);
        b &= ~sign_bit(form);
    }
    const bool a_is_nan = real_class(format, a) == REAL_NAN;
    const bool b_is_nan = real_class(format, b) == REAL_NAN;
    if ((a_is_nan && b_is_nan) || (form->nan && (a_is_nan || b_is_nan))) return format->nan;
    uint64_t result = a_is_nan ? b : a;
    if (!a_is_nan && !b_is_nan && real_order(format, b, a, false) == sign) result = b;
    return form->xorsign ? result | sign_of_product : result;
}
static uint64_t minimum(const Form *form, const uint64_t *in) { return extreme(form, in, -1); }
static uint64_t maximum(const Form *form, const uint64_t *in) { return extreme(form, in, 1); }

/* Of three, or with .abs of their magnitudes. */
static uint64_t extreme_of_three(const Form *form, const uint64_t *in, int sign) {
    const uint64_t ignored = form_has(form, "abs") ? sign_bit(form) : 0;
    uint64_t pair[] = {in[0] & ~ignored, in[1] & ~ignored};
    pair[0] = extreme(form, pair, sign);
    pair[1] = in[2] & ~ignored;
    return extreme(form, pair, sign);
}
static uint64_t minimum_of_three(const Form *form, const uint64_t *in) {
    return extreme_of_three(form, in, -1);
}
static uint64_t maximum_of_three(const Form *form, const uint64_t *in) {
    return extreme_of_three(form, in, 1);
}

#define ROUND ".rn,.rz,.rm,.rp"
#define HALF  "(.f16,.f16x2)"
#define BHALF "(.bf16,.bf16x2)"

const Row ROWS_FLOAT[] = {
    {"add{" ROUND "}{.ftz}{.sat}.f32", "0=00", add},
    {"add{" ROUND "}{.ftz}.f32x2", "0=00", add},
    {"add{" ROUND "}{.sat}.f32(.f16,.bf16)", "0=10", add_mixed},
    {"add{" ROUND "}.f64", "0=00", add},
    {"add{.rn}{.ftz}{.sat}" HALF, "0=00", add},
    {"add{.rn}" BHALF, "0=00", add},
    {"sub{" ROUND "}{.ftz}{.sat}.f32", "0=00", subtract},
    {"sub{" ROUND "}{.ftz}.f32x2", "0=00", subtract},
    {"sub{" ROUND "}{.sat}.f32(.f16,.bf16)", "0=10", subtract_mixed},
    {"sub{" ROUND "}.f64", "0=00", subtract},
    {"sub{.rn}{.ftz}{.sat}" HALF, "0=00", subtract},
    {"sub{.rn}" BHALF, "0=00", subtract},
    {"mul{" ROUND "}{.ftz}{.sat}.f32", "0=00", multiply},
    {"mul{" ROUND "}{.ftz}.f32x2", "0=00", multiply},
    {"mul{" ROUND "}.f64", "0=00", multiply},
    {"mul{.rn}{.ftz}{.sat}" HALF, "0=00", multiply},
    {"mul{.rn}" BHALF, "0=00", multiply},
    {"fma(" ROUND "){.ftz}{.sat}.f32", "0=000", multiply_add},
    {"fma(" ROUND "){.ftz}.f32x2", "0=000", multiply_add},
    {"fma(" ROUND "){.sat}.f32(.f16,.bf16)", "0=110", multiply_add_mixed},
    {"fma(" ROUND ").f64", "0=000", multiply_add},
    {"fma.rn{.ftz}{.sat,.relu}" HALF, "0=000", multiply_add},
    {"fma.rn{.relu}" BHALF, "0=000", multiply_add},
    {"mad{" ROUND "}{.ftz}{.sat}.f32", "0=000", multiply_add},
    {"mad(" ROUND ").f64", "0=000", multiply_add},
    {"div(" ROUND "){.ftz}.f32", "0=00", divide},
    {"div(" ROUND ").f64", "0=00", divide},
    {"rcp(" ROUND "){.ftz}.f32", "0=0", invert},
    {"rcp(" ROUND ").f64", "0=0", invert},
    {"sqrt(" ROUND "){.ftz}.f32", "0=0", square_root},
    {"sqrt(" ROUND ").f64", "0=0", square_root},
    {"abs{.ftz}(.f32,.f16,.f16x2)", "0=0", absolute},
    {"abs(.f64,.bf16,.bf16x2)", "0=0", absolute},
    {"neg{.ftz}(.f32,.f16,.f16x2)", "0=0", negate},
    {"neg(.f64,.bf16,.bf16x2)", "0=0", negate},
    {"min{.ftz}{.NaN}{.xorsign.abs}(.f32,.f16,.f16x2)", "0=00", minimum, .flags = ROW_EXACT_NAN},
    {"min{.NaN}{.xorsign.abs}" BHALF, "0=00", minimum, .flags = ROW_EXACT_NAN},
    {"min{.ftz}{.NaN}{.abs}.f32", "0=000", minimum_of_three, .flags = ROW_EXACT_NAN},
    {"min.f64", "0=00", minimum},
    {"max{.ftz}{.NaN}{.xorsign.abs}(.f32,.f16,.f16x2)", "0=00", maximum, .flags = ROW_EXACT_NAN},
    {"max{.NaN}{.xorsign.abs}" BHALF, "0=00", maximum, .flags = ROW_EXACT_NAN},
    {"max{.ftz}{.NaN}{.abs}.f32", "0=000", maximum_of_three, .flags = ROW_EXACT_NAN},
    {"max.f64", "0=00", maximum},
    {"copysign(.f32,.f64)", "0=00", copy_sign, .flags = ROW_EXACT_NAN},
    {"testp(.finite,.infinite,.number,.notanumber,.normal,.subnormal)(.f32,.f64)", "p=0",
     test_property},
    {0},
};
