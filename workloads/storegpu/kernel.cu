/* SHA-1 of a window of 20 bytes at every fourth byte of a stream, as storage systems do to find
 * where equal data begin. A window is one padded block of 16 words; every thread keeps its own in
 * shared memory, word i of a warp's threads side by side, and works on it there. A CTA of 128
 * threads takes as much shared memory as StoreGPU's kernel sha1_overlap does, all but 128 bytes of
 * 16 KB, so that 3 fit on an SM of 48 KB. Words hold their bytes in big-endian order. */
#include "tyto_device.h"

enum { WARP = 32, WINDOW_WORDS = 5, DIGEST_WORDS = 5, BLOCK_WORDS = 16, ROUNDS = 80 };
enum { SHARED_WORDS = 4 * 1024 - 32 };

static __device__ unsigned rotate(unsigned x, unsigned bits) {
    return __funnelshift_l(x, x, bits);
}

/* The round's function of three words, and its constant. */
static __device__ unsigned mix(int round, unsigned b, unsigned c, unsigned d) {
    if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999u;
    if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1u;
    if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

extern "C" __global__ void storegpu(const unsigned *words, unsigned *digests, unsigned windows) {
    __shared__ unsigned blocks[SHARED_WORDS];
    unsigned thread = threadIdx.x, window = blockIdx.x * blockDim.x + thread;
    if (window >= windows) return;

    /* volatile: its words stay where they are and are not kept in registers. */
    volatile unsigned *w = blocks + thread / WARP * BLOCK_WORDS * WARP + thread % WARP;
    for (int i = 0; i < BLOCK_WORDS; i++)
        w[i * WARP] = i < WINDOW_WORDS    ? words[window + i]
                      : i == WINDOW_WORDS ? 0x80000000u
                                          : 0;
    w[(BLOCK_WORDS - 1) * WARP] = WINDOW_WORDS * 32;

    const unsigned start[DIGEST_WORDS] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                                          0xc3d2e1f0u};
    unsigned a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        volatile unsigned *word = &w[round % BLOCK_WORDS * WARP];
        unsigned value = *word;
        if (round >= BLOCK_WORDS) {
            value = rotate(w[(round + 13) % BLOCK_WORDS * WARP] ^
                               w[(round + 8) % BLOCK_WORDS * WARP] ^
                               w[(round + 2) % BLOCK_WORDS * WARP] ^ value,
                           1);
            *word = value;
        }
        unsigned next = rotate(a, 5) + mix(round, b, c, d) + e + value;
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    unsigned *digest = digests + window * DIGEST_WORDS;
    digest[0] = start[0] + a;
    digest[1] = start[1] + b;
    digest[2] = start[2] + c;
    digest[3] = start[3] + d;
    digest[4] = start[4] + e;
}
