/* Closures with captures by value and by reference, passed to function templates. */
#include "kernel.h"

template <class Body> static __device__ void for_each_bit(unsigned word, Body body) {
    for (unsigned bit = 0; bit < 32; bit++)
        if ((word >> bit) & 1) body(bit);
}

template <class Select> static __device__ __noinline__ unsigned smallest(Select select) {
    unsigned best = 0;
    for (unsigned k = 1; k < 10; k++)
        if (select(k) < select(best)) best = k;
    return best;
}

extern "C" __global__ void lambdas(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], weighted = 0;
    for_each_bit(x, [&weighted](unsigned bit) { weighted += bit * bit; });
    auto distance = [x](unsigned k) { return (x * (k + 1)) % 101; };
    out[i] = weighted * 16 + smallest(distance);
}
