/* SHA-1 of a window of 20 bytes at every fourth byte of a stream, as storage systems do to find
 * where equal data begin. A CTA of 128 threads stages its stretch of the stream in shared memory;
 * a window is one padded block of 64 bytes. Words hold their bytes in big-endian order. */
#include "tyto_device.h"

enum { THREADS = 128, WINDOW_WORDS = 5, DIGEST_WORDS = 5, BLOCK_WORDS = 16, ROUNDS = 80 };

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
    __shared__ unsigned staged[THREADS + WINDOW_WORDS - 1];
    unsigned first = blockIdx.x * THREADS, thread = threadIdx.x;
    for (unsigned i = thread; i < THREADS + WINDOW_WORDS - 1; i += THREADS)
        staged[i] = first + i < windows + WINDOW_WORDS - 1 ? words[first + i] : 0;
    __syncthreads();
    if (first + thread >= windows) return;

    unsigned w[BLOCK_WORDS] = {};
    for (int i = 0; i < WINDOW_WORDS; i++)
        w[i] = staged[thread + i];
    w[WINDOW_WORDS] = 0x80000000u;
    w[BLOCK_WORDS - 1] = WINDOW_WORDS * 32;

    const unsigned start[DIGEST_WORDS] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                                          0xc3d2e1f0u};
    unsigned a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        unsigned *word = &w[round % BLOCK_WORDS];
        if (round >= BLOCK_WORDS)
            *word = rotate(w[(round + 13) % BLOCK_WORDS] ^ w[(round + 8) % BLOCK_WORDS] ^
                               w[(round + 2) % BLOCK_WORDS] ^ *word,
                           1);
        unsigned next = rotate(a, 5) + mix(round, b, c, d) + e + *word;
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    unsigned *digest = digests + (first + thread) * DIGEST_WORDS;
    digest[0] = start[0] + a;
    digest[1] = start[1] + b;
    digest[2] = start[2] + c;
    digest[3] = start[3] + d;
    digest[4] = start[4] + e;
}
