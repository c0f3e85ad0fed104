/* The first word of the SHA-1 of every window of five words in a random stream; the reference
 * follows FIPS 180-4. */
#include "common/workload.h"

enum { THREADS = 128, WINDOW_WORDS = 5, DIGEST_WORDS = 5, BLOCK_WORDS = 16, ROUNDS = 80 };

enum { WINDOWS };

static const WorkloadInfo INFO = {
    .name = "storegpu",
    .summary = "SHA-1 of every overlapping window of 20 bytes of a stream, the first word of it.",
    .parameters =
        {
            [WINDOWS] = {"windows", "to hash", {1000, 8192, 49152}, 1u << 26, 0},
        },
};

static uint32_t rotate(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

static uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d) {
    switch (round / 20) {
    case 0: return ((b & c) ^ (~b & d)) + 0x5a827999u;
    case 1: return (b ^ c ^ d) + 0x6ed9eba1u;
    case 2: return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdcu;
    default: return (b ^ c ^ d) + 0xca62c1d6u;
    }
}

/* The same bytes in the other order. */
static uint32_t swap_bytes(uint32_t x) {
    return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

/* Both as they lie in memory: bytes in order, four a little-endian word. */
static uint32_t hash(const uint32_t *window) {
    static const uint32_t start[DIGEST_WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                                                 0xc3d2e1f0};
    uint32_t w[ROUNDS] = {[WINDOW_WORDS] = 0x80000000, [BLOCK_WORDS - 1] = 32 * WINDOW_WORDS};
    for (int i = 0; i < WINDOW_WORDS; i++)
        w[i] = swap_bytes(window[i]);
    for (int i = BLOCK_WORDS; i < ROUNDS; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t s[DIGEST_WORDS];
    for (int i = 0; i < DIGEST_WORDS; i++)
        s[i] = start[i];
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t next = rotate(s[0], 5) + mix(i, s[1], s[2], s[3]) + s[4] + w[i];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    return swap_bytes(start[0] + s[0]);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned windows = workload.values[WINDOWS];
    size_t word_count = (size_t)windows + WINDOW_WORDS - 1;
    uint32_t *words = workload_random_words(&workload, word_count, 1u << 31);

    CUdeviceptr device_words = workload_upload(words, word_count * sizeof *words);
    CUdeviceptr digests = workload_device_alloc(windows * sizeof(uint32_t));
    workload_launch(&workload, "storegpu", workload_cover(windows, THREADS),
                    (void *[]){&device_words, &digests, &windows});

    uint32_t *expected = workload_host_alloc(&workload, windows, sizeof *expected);
    for (size_t i = 0; i < windows; i++)
        expected[i] = hash(words + i);
    bool is_right = workload_verify_words(&workload, digests, expected, windows);
    return workload_finish(&workload, is_right, "digests", windows);
}
