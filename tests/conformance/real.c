/* Formats and correctly rounded operations, based on MPFR. */
#include "real.h"

#include <math.h>

/* The NaN of f32 and of the half formats is PTX's canonical NaN. */
const Format FORMAT_F16 = {16, 0, 11, 5, true, 0x7fff};
const Format FORMAT_BF16 = {16, 0, 8, 8, true, 0x7fff};
const Format FORMAT_F32 = {32, 0, 24, 8, true, 0x7fffffff};
const Format FORMAT_F16_FTZ = {16, 0, 11, 5, true, 0x7fff, true};
const Format FORMAT_F32_FTZ = {32, 0, 24, 8, true, 0x7fffffff, true};
const Format FORMAT_F64 = {64, 0, 53, 11, true, 0x7fffffffffffffff};
const Format FORMAT_TF32 = {19, 13, 11, 8, true, 0x7fffffff};
const Format FORMAT_E4M3 = {8, 0, 4, 4, false, 0x7f};
const Format FORMAT_E5M2 = {8, 0, 3, 5, true, 0x7f};

/* ---- Bits ---- */

typedef struct Fields {
    bool is_negative;
    int exponent; /* biased */
    uint64_t fraction;
} Fields;

static uint64_t low(int bits) { return (UINT64_C(1) << bits) - 1; }
static int bias(const Format *format) { return (1 << (format->exponent_bits - 1)) - 1; }
/* Exponent of the smallest normal number. */
static int least_exponent(const Format *format) { return 1 - bias(format); }

static Fields fields_of(const Format *format, uint64_t bits) {
    bits >>= format->shift;
    int fraction_bits = format->precision - 1;
    return (Fields){bits >> (format->bits - 1) & 1,
                    (int)(bits >> fraction_bits & low(format->exponent_bits)),
                    bits & low(fraction_bits)};
}

static uint64_t bits_of(const Format *format, Fields fields) {
    uint64_t bits = (uint64_t)fields.is_negative << (format->bits - 1) |
                    (uint64_t)fields.exponent << (format->precision - 1) | fields.fraction;
    return bits << format->shift;
}

RealClass real_class(const Format *format, uint64_t bits) {
    Fields fields = fields_of(format, bits);
    int top = (int)low(format->exponent_bits);
    if (fields.exponent == 0) return fields.fraction ? REAL_SUBNORMAL : REAL_ZERO;
    if (fields.exponent < top) return REAL_NORMAL;
    if (!format->has_infinity)
        return fields.fraction == low(format->precision - 1) ? REAL_NAN : REAL_NORMAL;
    return fields.fraction ? REAL_NAN : REAL_INFINITE;
}

uint64_t real_sign(const Format *format, uint64_t bits) {
    return bits & UINT64_C(1) << (format->bits - 1 + format->shift);
}

uint64_t real_infinity(const Format *format, bool is_negative) {
    return bits_of(format, (Fields){is_negative, (int)low(format->exponent_bits), 0});
}

uint64_t real_largest(const Format *format, bool is_negative) {
    int top = (int)low(format->exponent_bits);
    uint64_t fraction = low(format->precision - 1);
    if (!format->has_infinity) return bits_of(format, (Fields){is_negative, top, fraction - 1});
    return bits_of(format, (Fields){is_negative, top - 1, fraction});
}

uint64_t real_one(const Format *format) {
    return bits_of(format, (Fields){false, bias(format), 0});
}

uint64_t real_flush(const Format *format, uint64_t bits) {
    return real_class(format, bits) == REAL_SUBNORMAL ? real_sign(format, bits) : bits;
}

/* Position among all numbers of the format, in order; `between_zeros` is the distance of -0 and
 * +0. */
static __int128 position(const Format *format, uint64_t bits, int between_zeros) {
    uint64_t sign = real_sign(format, bits);
    __int128 magnitude = (bits ^ sign) >> format->shift;
    return sign ? -magnitude - between_zeros : magnitude;
}

int real_order(const Format *format, uint64_t a, uint64_t b, bool are_zeros_equal) {
    __int128 x = position(format, a, !are_zeros_equal), y = position(format, b, !are_zeros_equal);
    return (x > y) - (x < y);
}

double real_distance(const Format *format, uint64_t a, uint64_t b) {
    bool is_nan = real_class(format, a) == REAL_NAN;
    if (is_nan != (real_class(format, b) == REAL_NAN)) return HUGE_VAL;
    if (is_nan) return 0;
    __int128 steps = position(format, a, 0) - position(format, b, 0);
    return (double)(steps < 0 ? -steps : steps);
}

/* ---- Values ---- */

void real_init(Real *real, int precision) {
    mpfr_custom_init(real->limbs, precision);
    mpfr_custom_init_set(real->value, MPFR_NAN_KIND, 0, precision, real->limbs);
}

void real_set(Real *real, const Format *format, uint64_t bits) {
    real_init(real, 64);
    Fields fields = fields_of(format, bits);
    int sign = fields.is_negative ? -1 : 1;
    RealClass class = real_class(format, bits);
    if (class == REAL_NAN) return;
    if (class == REAL_INFINITE) {
        mpfr_set_inf(real->value, sign);
    } else if (class == REAL_ZERO) {
        mpfr_set_zero(real->value, sign);
    } else {
        int fraction_bits = format->precision - 1;
        uint64_t significand = fields.fraction;
        if (class == REAL_NORMAL) significand |= UINT64_C(1) << fraction_bits;
        int exponent = fields.exponent ? fields.exponent : 1;
        mpfr_set_ui_2exp(real->value, significand, exponent - bias(format) - fraction_bits,
                         MPFR_RNDN);
        mpfr_setsign(real->value, real->value, fields.is_negative, MPFR_RNDN);
    }
}

/* The bits of a number that the format can represent. */
static uint64_t encode(const Format *format, mpfr_ptr value) {
    if (mpfr_nan_p(value)) return format->nan;
    bool is_negative = mpfr_signbit(value);
    if (mpfr_inf_p(value)) { /* a format without infinity has a NaN of that sign instead */
        uint64_t infinity = real_infinity(format, is_negative);
        return format->has_infinity ? infinity : infinity | low(format->precision - 1);
    }
    if (mpfr_zero_p(value)) return bits_of(format, (Fields){is_negative, 0, 0});
    int exponent = (int)mpfr_get_exp(value) - 1, least = least_exponent(format);
    bool is_normal = exponent >= least;
    Real scaled;
    real_init(&scaled, 64);
    mpfr_abs(scaled.value, value, MPFR_RNDN);
    mpfr_mul_2si(scaled.value, scaled.value, format->precision - 1 - (is_normal ? exponent : least),
                 MPFR_RNDN);
    uint64_t significand = mpfr_get_ui(scaled.value, MPFR_RNDN);
    return bits_of(format, (Fields){is_negative, is_normal ? exponent + bias(format) : 0,
                                    significand & low(format->precision - 1)});
}

/* ---- Rounding ---- */

uint64_t real_finish(const Format *format, mpfr_ptr value, int ternary, mpfr_rnd_t round) {
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    int top = bias(format) + (format->has_infinity ? 1 : 2);
    if (format->flushes && mpfr_regular_p(value) && mpfr_get_exp(value) <= least_exponent(format))
        return bits_of(format, (Fields){mpfr_signbit(value), 0, 0});
    mpfr_set_emin(least_exponent(format) - format->precision + 2);
    mpfr_set_emax(top);
    ternary = mpfr_check_range(value, ternary, round);
    mpfr_subnormalize(value, ternary, round);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return encode(format, value);
}

/* Rounds to nearest, ties away from zero: the number farther from zero, unless the nearer one is
 * closer. */
static uint64_t round_ties_away(const Format *format, mpfr_srcptr value) {
    uint64_t inner = real_round(format, value, MPFR_RNDZ), outer = inner;
    mpfr_rnd_t away = mpfr_signbit(value) ? MPFR_RNDD : MPFR_RNDU;
    outer = real_round(format, value, away);
    if (real_class(format, outer) == REAL_INFINITE) /* halfway to the number that would follow */
        return real_round(format, value, MPFR_RNDN);
    Real near_zero, far;
    real_set(&near_zero, format, inner);
    real_set(&far, format, outer);
    Real below, above;
    real_init(&below, 1200);
    real_init(&above, 1200);
    mpfr_sub(below.value, value, near_zero.value, MPFR_RNDN);
    mpfr_sub(above.value, far.value, value, MPFR_RNDN);
    return mpfr_cmpabs(below.value, above.value) < 0 ? inner : outer;
}

uint64_t real_round(const Format *format, mpfr_srcptr value, mpfr_rnd_t round) {
    if (round == MPFR_RNDNA && mpfr_number_p(value)) return round_ties_away(format, value);
    if (round == MPFR_RNDNA) round = MPFR_RNDN;
    Real result;
    real_init(&result, format->precision);
    int ternary = mpfr_set(result.value, value, round);
    return real_finish(format, result.value, ternary, round);
}

uint64_t real_unary(RealUnary *function, const Format *to, mpfr_rnd_t round, const Format *from,
                    uint64_t a) {
    Real x, result;
    real_set(&x, from, a);
    real_init(&result, to->precision);
    int ternary = function(result.value, x.value, round);
    return real_finish(to, result.value, ternary, round);
}

uint64_t real_binary(RealBinary *function, const Format *format, mpfr_rnd_t round, uint64_t a,
                     uint64_t b) {
    Real x, y, result;
    real_set(&x, format, a);
    real_set(&y, format, b);
    real_init(&result, format->precision);
    int ternary = function(result.value, x.value, y.value, round);
    return real_finish(format, result.value, ternary, round);
}

uint64_t real_fma(const Format *format, mpfr_rnd_t round, uint64_t a, uint64_t b, uint64_t c) {
    Real x, y, z, result;
    real_set(&x, format, a);
    real_set(&y, format, b);
    real_set(&z, format, c);
    real_init(&result, format->precision);
    int ternary = mpfr_fma(result.value, x.value, y.value, z.value, round);
    return real_finish(format, result.value, ternary, round);
}
