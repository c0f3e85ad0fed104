/* Approximate functions. The ISA only bounds their error; here each result must be within the given
 * number of units in the last place of MPFR's correctly rounded result, including special values.
 * The bounds of the ISA are far wider than these: see docs/conformance.md. */
#include "lanes.h"

static const Format *format_of(const Form *form) { return form->types[0]->format; }

static uint64_t flush(const Form *form, uint64_t bits) {
    return form->ftz ? real_flush(format_of(form), bits) : bits;
}

static uint64_t apply(const Form *form, uint64_t bits, RealUnary *function) {
    const Format *format = format_of(form);
    return flush(form, real_unary(function, format, MPFR_RNDN, format, flush(form, bits)));
}

static int reciprocal(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t round) {
    return mpfr_ui_div(result, 1, x, round);
}
/* The reciprocal square root of -0 is -infinity. */
static int reciprocal_root(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t round) {
    if (!mpfr_zero_p(x)) return mpfr_rec_sqrt(result, x, round);
    mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
    return 0;
}

static uint64_t invert(const Form *form, const uint64_t *in) {
    return apply(form, in[0], reciprocal);
}
static uint64_t root(const Form *form, const uint64_t *in) { return apply(form, in[0], mpfr_sqrt); }
static uint64_t invert_root(const Form *form, const uint64_t *in) {
    return apply(form, in[0], reciprocal_root);
}
static uint64_t sine(const Form *form, const uint64_t *in) { return apply(form, in[0], mpfr_sin); }
static uint64_t cosine(const Form *form, const uint64_t *in) {
    return apply(form, in[0], mpfr_cos);
}
static uint64_t power(const Form *form, const uint64_t *in) {
    return apply(form, in[0], mpfr_exp2);
}
static uint64_t logarithm(const Form *form, const uint64_t *in) {
    return apply(form, in[0], mpfr_log2);
}
static uint64_t tangent(const Form *form, const uint64_t *in) {
    return apply(form, in[0], mpfr_tanh);
}

/* The ISA bounds the error of sin and cos up to |x| = 100 pi; here it is tested up to 2^20. */
static bool is_far_out(const Form *form, const uint64_t *in) {
    return (void)form, (in[0] & 0x7fffffff) > 0x49800000;
}

/* div.approx treats divisors beyond 2^126 as infinite, except that the quotient of two infinities
 * is NaN. */
static uint64_t divide(const Form *form, const uint64_t *in) {
    const Format *format = format_of(form);
    uint64_t a = flush(form, in[0]), b = flush(form, in[1]);
    uint64_t size = b & 0x7fffffff;
    if (form_has(form, "approx") && size > 0x7e800000 && size < 0x7f800000)
        b = real_infinity(format, real_sign(format, b) != 0);
    return flush(form, real_binary(mpfr_div, format, MPFR_RNDN, a, b));
}

/* The approximations of .f64 that use the upper 32 bits: 20 bits of fraction. The reference is
 * exact for the truncated operand; the error is in units of the result's upper half. */
static uint64_t upper_half(const Form *form, uint64_t bits, RealUnary *function) {
    static const Format UPPER = {32, 32, 21, 11, true, 0x7fffffff00000000};
    (void)form;
    uint64_t cut = bits & 0xffffffff00000000; /* may turn a NaN into an infinity */
    uint64_t result = real_unary(function, &UPPER, MPFR_RNDN, &UPPER, real_flush(&UPPER, cut));
    return real_flush(&UPPER, result);
}
static uint64_t invert_upper(const Form *form, const uint64_t *in) {
    return upper_half(form, in[0], reciprocal);
}
static uint64_t invert_root_upper(const Form *form, const uint64_t *in) {
    return upper_half(form, in[0], reciprocal_root);
}

const Row ROWS_APPROXIMATE[] = {
    {"rcp.approx{.ftz}.f32", "0=0", invert, .ulps = 1},
    {"rcp.approx.ftz.f64", "0=0", invert_upper, .ulps = 1, .flags = ROW_UPPER_HALF},
    {"sqrt.approx{.ftz}.f32", "0=0", root, .ulps = 1},
    {"rsqrt.approx{.ftz}.f32", "0=0", invert_root, .ulps = 1},
    {"rsqrt.approx.f64", "0=0", invert_root, .ulps = 1},
    {"rsqrt.approx.ftz.f64", "0=0", invert_root_upper, .ulps = 1, .flags = ROW_UPPER_HALF},
    {"sin.approx{.ftz}.f32", "0=0", sine, .is_open = is_far_out, .ulps = 1},
    {"cos.approx{.ftz}.f32", "0=0", cosine, .is_open = is_far_out, .ulps = 1},
    {"ex2.approx{.ftz}.f32", "0=0", power, .ulps = 1},
    {"ex2.approx(.f16,.f16x2)", "0=0", power, .ulps = 1},
    {"ex2.approx.ftz(.bf16,.bf16x2)", "0=0", power, .ulps = 1},
    {"lg2.approx{.ftz}.f32", "0=0", logarithm, .ulps = 1},
    {"tanh.approx(.f32,.f16,.f16x2,.bf16,.bf16x2)", "0=0", tangent, .ulps = 1},
    {"div(.approx,.full){.ftz}.f32", "0=00", divide, .ulps = 1},
    {0},
};
