/* Byte permutation with selectors known and unknown, sign-replicating ones included, the special
 * modes of prmt, and arithmetic on the bytes of a word. */
#include "kernel.h"

extern "C" __global__ void byte_ops(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], y = in[(i + 1) % n], forward, backward, edge;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(forward) : "r"(x), "r"(y), "r"(i));
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(backward) : "r"(x), "r"(y), "r"(i));
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(edge) : "r"(x), "r"(y), "r"(i));
    unsigned permuted = __byte_perm(x, y, 0x5140) ^ __byte_perm(x, y, i * 0x1357);
    unsigned signs;
    asm("prmt.b32 %0, %1, %2, 0xb8f9;" : "=r"(signs) : "r"(x), "r"(y));
    unsigned average = 0;
    for (unsigned byte = 0; byte < 32; byte += 8)
        average |= ((((x >> byte) & 255) + ((y >> byte) & 255) + 1) / 2) << byte;
    out[i] = permuted + forward * 3 + backward * 5 + edge * 7 + signs * 11 + average * 13;
}
