/* Arithmetic on char and short: promotion, wrap-around, sign extension, and stores of narrow words
 * into neighbouring bytes. */
#include "kernel.h"

extern "C" __global__ void narrow_types(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    signed char c = (signed char)in[i];
    unsigned char u = (unsigned char)(in[i] >> 8);
    short s = (short)(in[i] >> 16);
    c = (signed char)(c * 3 + u);
    u = (unsigned char)(u - s);
    s = (short)(s * c);
    s = (short)(s >> 3);
    bool is_less = (signed char)u < c;
    unsigned char *bytes = (unsigned char *)&out[i];
    bytes[0] = (unsigned char)c;
    bytes[1] = (unsigned char)(u / 3 + is_less);
    *(short *)(bytes + 2) = (short)(s % 77);
}
