/* sin, cos, ex2, lg2, tanh: PTX specifies their results only up to an error bound. They are
 * computed in double by plain arithmetic that is the same on every host, to better than 2^-40 of
 * the result, and then rounded once. The polynomials are Taylor series, long enough for the range
 * of the reduced argument. */
#include "isa/exec/maps.h"

#include "isa/exec/approx.h"

#define IN(x)  flush_f32(x, sub)
#define OUT(x) flush_f32(x, sub)

INLINE float flush_f32(float x, uint32_t sub) {
    const uint32_t bits = bits_of_f32(x), least = sub & ISA_MOD_FTZ ? 0x00800000 : 0;
    return (bits & 0x7fffffff) < least ? f32_of_bits(bits & 0x80000000) : x;
}

#include "isa/exec/exec_approx.def"
