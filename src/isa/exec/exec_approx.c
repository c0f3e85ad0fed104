/* sin, cos, ex2, lg2, tanh: PTX leaves their results open within an error bound. Here they are
 * computed in double by plain arithmetic, the same on every host, to better than 2^-40 of the
 * result before they are rounded once. The polynomials are Taylor's, long enough for the reduced
 * argument's range. */
#include "isa/exec/maps.h"

#include "isa/exec/approx.h"

#define IN(x)  flush_f32(x, sub)
#define OUT(x) flush_f32(x, sub)

INLINE float flush_f32(float x, uint32_t sub) {
    const uint32_t bits = bits_of_f32(x), least = sub & ISA_MOD_FTZ ? 0x00800000 : 0;
    return (bits & 0x7fffffff) < least ? f32_of_bits(bits & 0x80000000) : x;
}

#include "isa/exec/exec_approx.def"
