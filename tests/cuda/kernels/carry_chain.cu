/* Carry chains in inline assembly: 96-bit sum and difference, and a 64 x 64 -> 128-bit product by
 * mad.lo.cc and madc.hi. */
#include "kernel.h"

extern "C" __global__ void carry_chain(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n / 8) return;
    const unsigned *a = in + 8 * i, *b = a + 4;
    unsigned *result = out + 8 * i;
    unsigned s0, s1, s2, d0, d1, d2;
    asm("{ add.cc.u32 %0, %3, %6; addc.cc.u32 %1, %4, %7; addc.u32 %2, %5, %8; }"
        : "=&r"(s0), "=&r"(s1), "=r"(s2)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(b[0]), "r"(b[1]), "r"(b[2]));
    asm("{ sub.cc.u32 %0, %3, %6; subc.cc.u32 %1, %4, %7; subc.u32 %2, %5, %8; }"
        : "=&r"(d0), "=&r"(d1), "=r"(d2)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(b[0]), "r"(b[1]), "r"(b[2]));
    unsigned p0, p1, p2, p3;
    asm("{ mul.lo.u32 %0, %4, %6; mul.hi.u32 %1, %4, %6;"
        "  mad.lo.cc.u32 %1, %4, %7, %1; madc.hi.u32 %2, %4, %7, 0;"
        "  mad.lo.cc.u32 %1, %5, %6, %1; madc.hi.cc.u32 %2, %5, %6, %2; addc.u32 %3, 0, 0;"
        "  mad.lo.cc.u32 %2, %5, %7, %2; madc.hi.u32 %3, %5, %7, %3; }"
        : "=&r"(p0), "=&r"(p1), "=&r"(p2), "=&r"(p3)
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
    result[0] = s0;
    result[1] = s1;
    result[2] = s2 ^ d2;
    result[3] = d0 + d1;
    result[4] = p0;
    result[5] = p1;
    result[6] = p2;
    result[7] = p3;
}
