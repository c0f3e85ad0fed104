/* SHA-1 of a window of 20 bytes at every fourth byte of a stream, as storage systems do to find
 * where equal data begin. A window is one padded block of 16 words; every thread keeps its own in
 * shared memory, word i of a warp's threads side by side, turns its bytes there into the order of
 * SHA-1, and works on it there. As in StoreGPU's kernel sha1_overlap the first word of a digest
 * leaves, byte by byte (its FEATURE_REDUCED_HASH_SIZE), and a CTA of 128 threads takes all but 128
 * bytes of 16 KB, so that 3 fit on an SM of 48 KB. */
#include "tyto_device.h"

enum { WARP = 32, WINDOW_WORDS = 5, BLOCK_WORDS = 16, ROUNDS = 80 };
static const unsigned START = 0x67452301u;
enum { SHARED_WORDS = 4 * 1024 - 32 };

static __device__ unsigned rotate(unsigned x, unsigned bits) {
    return x << bits | x >> (32 - bits);
}

/* The round's function of three words, and its constant. */
static __device__ unsigned mix(int round, unsigned b, unsigned c, unsigned d) {
    if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999u;
    if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1u;
    if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static __device__ void put_bytes(volatile unsigned char *to, unsigned x) {
    to[0] = (unsigned char)(x >> 24);
    to[1] = (unsigned char)(x >> 16);
    to[2] = (unsigned char)(x >> 8);
    to[3] = (unsigned char)x;
}

static __device__ unsigned get_bytes(const volatile unsigned char *from) {
    return (unsigned)from[0] << 24 | (unsigned)from[1] << 16 | (unsigned)from[2] << 8 | from[3];
}

extern "C" __global__ void storegpu(const unsigned *words, unsigned char *digests,
                                    unsigned windows) {
    __shared__ unsigned blocks[SHARED_WORDS];
    unsigned thread = threadIdx.x, window = blockIdx.x * blockDim.x + thread;
    if (window >= windows) return;

    /* volatile: its words stay where they are and are not kept in registers. */
    volatile unsigned *w = blocks + thread / WARP * BLOCK_WORDS * WARP + thread % WARP;
    for (int i = 0; i < BLOCK_WORDS - 2; i++)
        w[i * WARP] = i < WINDOW_WORDS ? words[window + i] : i == WINDOW_WORDS ? 0x80u : 0;
    put_bytes((volatile unsigned char *)&w[(BLOCK_WORDS - 2) * WARP], 0);
    put_bytes((volatile unsigned char *)&w[(BLOCK_WORDS - 1) * WARP], WINDOW_WORDS * 32);
#pragma unroll
    for (int i = 0; i < BLOCK_WORDS; i++)
        w[i * WARP] = get_bytes((const volatile unsigned char *)&w[i * WARP]);

    unsigned a = START, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, e = 0xc3d2e1f0u;
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        volatile unsigned *word = &w[round % BLOCK_WORDS * WARP];
        unsigned value = *word;
        if (round >= BLOCK_WORDS) {
            value =
                rotate(w[(round + 13) % BLOCK_WORDS * WARP] ^ w[(round + 8) % BLOCK_WORDS * WARP] ^
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
    put_bytes(digests + window * 4, START + a);
}
