/* SHA-1 of a window of 52 bytes at every fourth byte of a stream, as storage systems do to find
 * equal data. A window and its padding are one block of 16 words (if there are more blocks, all but
 * the last are full). Every thread keeps its block in shared memory, with word i of a warp's
 * threads contiguous. It converts its bytes there to the order of SHA-1, and works on them there.
 * As in StoreGPU's kernel sha1_overlap, the digest's words have 64 bits, and the lower 32 count.
 * The first word is written, byte by byte (its FEATURE_REDUCED_HASH_SIZE). A CTA of 128 threads
 * uses all but 128 bytes of 16 KB, so that 3 fit on an SM with 48 KB. */
#include "tyto_device.h"

enum { WARP = 32, BLOCK_WORDS = 16, BLOCK_BYTES = 4 * BLOCK_WORDS, ROUNDS = 80, ENDING = 12 };
enum { SHARED_WORDS = 4 * 1024 - 32 };

static __device__ unsigned long rotate(unsigned long x, unsigned bits) {
    return x << bits | (x & 0xffffffffu) >> (32 - bits);
}

/* The round's function of three words, and its constant. */
static __device__ unsigned long mix(int round, unsigned long b, unsigned long c, unsigned long d) {
    if (round < 20) return (d ^ (b & (c ^ d))) + 0x5a827999u;
    if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1u;
    if (round < 60) return ((b & c) | (d & (b | c))) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static __device__ void put_bytes(unsigned char *to, unsigned x) {
    to[0] = (unsigned char)(x >> 24);
    to[1] = (unsigned char)(x >> 16);
    to[2] = (unsigned char)(x >> 8);
    to[3] = (unsigned char)x;
}

static __device__ unsigned get_bytes(const unsigned char *from) {
    return (unsigned)from[0] << 24 | (unsigned)from[1] << 16 | (unsigned)from[2] << 8 | from[3];
}

/* The rest of the window, 0x80, zeros, and the total length in bits. */
static __device__ void load_last(unsigned *block, const unsigned *words, unsigned left,
                                 unsigned bytes) {
    int zeros = (int)(BLOCK_BYTES - ENDING - left) / 4, i;
#pragma unroll 1
    for (i = 0; i < zeros; i++)
        block[(BLOCK_WORDS - 3 - i) * WARP] = 0;
#pragma unroll 1
    for (int j = 0; j < BLOCK_WORDS - 3 - zeros; j++)
        block[j * WARP] = words[j];
    block[(BLOCK_WORDS - 3 - i) * WARP] = 0x80u;
    put_bytes((unsigned char *)&block[(BLOCK_WORDS - 2) * WARP], bytes >> 29);
    put_bytes((unsigned char *)&block[(BLOCK_WORDS - 1) * WARP], bytes << 3);
}

static __device__ void load_full(unsigned *block, const unsigned *words) {
#pragma unroll
    for (int i = 0; i < BLOCK_WORDS; i++)
        block[i * WARP] = words[i];
}

extern "C" __global__ void storegpu(const unsigned char *stream, int bytes, int step, int windows,
                                    int missing, unsigned char *digests) {
    __shared__ unsigned blocks[SHARED_WORDS];
    int window = (int)(threadIdx.x + blockDim.x * blockIdx.x);
    if (window >= windows) return;
    if (window == windows - 1) bytes -= missing;

    unsigned *w = blocks + threadIdx.x / WARP * BLOCK_WORDS * WARP + threadIdx.x % WARP;
    const unsigned *words = (const unsigned *)(stream + window * step);
    unsigned size = (unsigned)bytes, last = size / BLOCK_BYTES;
    unsigned s0 = 0x67452301u, s1 = 0xefcdab89u, s2 = 0x98badcfeu, s3 = 0x10325476u,
             s4 = 0xc3d2e1f0u;
#pragma unroll 1
    for (unsigned pass = 0; pass <= last; pass++, words += BLOCK_WORDS) {
        if (pass == last) load_last(w, words, size - last * BLOCK_BYTES, size);
        else load_full(w, words);
#pragma unroll
        for (int i = 0; i < BLOCK_WORDS; i++)
            w[i * WARP] = get_bytes((const unsigned char *)&w[i * WARP]);

        unsigned long a = s0, b = s1, c = s2, d = s3, e = s4;
#pragma unroll
        for (int round = 0; round < ROUNDS; round++) {
            unsigned *word = &w[round % BLOCK_WORDS * WARP];
            unsigned long value;
            if (round < BLOCK_WORDS) {
                value = *word;
            } else {
                unsigned mixed = w[(round + 13) % BLOCK_WORDS * WARP] ^
                                 w[(round + 8) % BLOCK_WORDS * WARP] ^
                                 w[(round + 2) % BLOCK_WORDS * WARP] ^ *word;
                value = (unsigned)rotate(mixed, 1);
                *word = (unsigned)value;
            }
            unsigned long next = rotate(a, 5) + mix(round, b, c, d) + e + value;
            e = d;
            d = c;
            c = rotate(b, 30);
            b = a;
            a = next;
        }
        s0 += (unsigned)a;
        s1 += (unsigned)b;
        s2 += (unsigned)c;
        s3 += (unsigned)d;
        s4 += (unsigned)e;
    }
    put_bytes(digests + window * 4, s0);
}
