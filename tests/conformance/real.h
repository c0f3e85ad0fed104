/* Floating-point formats based on MPFR: the exact value of a pattern of bits, and the rounding of
 * an operation's exact result to a format, including subnormal numbers and overflow. */
#ifndef TYTO_TESTS_CONFORMANCE_REAL_H
#define TYTO_TESTS_CONFORMANCE_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include <gmp.h>
#include <mpfr.h>

typedef struct Format {
    int bits;      /* size of sign, exponent and fraction */
    int shift;     /* unused low bits in the register (tf32) */
    int precision; /* bits of the significand with the leading one */
    int exponent_bits;
    bool has_infinity; /* else the highest exponent encodes numbers and one NaN */
    uint64_t nan;      /* the NaN that operations return */
    bool flushes;      /* results rounded to less than the least normal number become 0 */
} Format;

extern const Format FORMAT_F16_FTZ, FORMAT_F32_FTZ; /* for .ftz: results are flushed */
extern const Format FORMAT_F16, FORMAT_BF16, FORMAT_F32, FORMAT_F64, FORMAT_TF32, FORMAT_E4M3,
    FORMAT_E5M2;

/* ---- Bits ---- */

typedef enum RealClass {
    REAL_ZERO,
    REAL_SUBNORMAL,
    REAL_NORMAL,
    REAL_INFINITE,
    REAL_NAN
} RealClass;
RealClass real_class(const Format *format, uint64_t bits);
uint64_t real_sign(const Format *format, uint64_t bits); /* the sign bit, at its position */
uint64_t real_infinity(const Format *format, bool is_negative);
uint64_t real_largest(const Format *format, bool is_negative);
uint64_t real_one(const Format *format);
/* Replaces a subnormal number by a zero of the same sign. */
uint64_t real_flush(const Format *format, uint64_t bits);
/* Compares as numbers: -1, 0 or 1 if a is below, equal to, or above b. -0 may be below +0. Neither
 * may be a NaN. */
int real_order(const Format *format, uint64_t a, uint64_t b, bool are_zeros_equal);
/* Distance from a to b in numbers of the format, across zero; HUGE_VAL if exactly one of them is a
 * NaN. */
double real_distance(const Format *format, uint64_t a, uint64_t b);

/* ---- Arithmetic ---- */

/* An MPFR number that needs no allocation. */
typedef struct Real {
    mpfr_t value;
    mp_limb_t limbs[20];
} Real;
void real_init(Real *real, int precision); /* at most 1280 bits */
void real_set(Real *real, const Format *format, uint64_t bits);

/* Converts `value` to the format. `value` is an exact result rounded to the format's precision with
 * unbounded exponent; `ternary` says on which side of the exact result it lies. */
uint64_t real_finish(const Format *format, mpfr_ptr value, int ternary, mpfr_rnd_t round);
/* A value of any precision rounded to the format. MPFR_RNDNA: to nearest, ties away from zero. */
uint64_t real_round(const Format *format, mpfr_srcptr value, mpfr_rnd_t round);

/* One operation on numbers of one format, its result rounded to another. */
typedef int RealUnary(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int RealBinary(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
uint64_t real_unary(RealUnary *function, const Format *to, mpfr_rnd_t round, const Format *from,
                    uint64_t a);
uint64_t real_binary(RealBinary *function, const Format *format, mpfr_rnd_t round, uint64_t a,
                     uint64_t b);
uint64_t real_fma(const Format *format, mpfr_rnd_t round, uint64_t a, uint64_t b, uint64_t c);

#endif
