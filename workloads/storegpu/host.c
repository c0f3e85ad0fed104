/* The first word of the SHA-1 of every window of 13 words, or more, in a random stream; the
 * reference follows FIPS 180-4. */
#include "common/workload.h"

enum { THREADS = 128, DIGEST_WORDS = 5, BLOCK_WORDS = 16, ENDING_WORDS = 3, ROUNDS = 80 };

enum { WINDOWS, BLOCKS };

static const WorkloadInfo INFO = {
    .name = "storegpu",
    .summary = "SHA-1 of every overlapping window of 52 bytes of a stream, the first word of it.",
    .parameters =
        {
            [WINDOWS] = {"windows", "to hash", {1000, 8192, 49152}, 1u << 26, 0},
            [BLOCKS] = {"blocks", "of 64 bytes in a window with its padding", {1, 1, 1}, 64, 0},
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

/* The same bytes in reverse order. */
static uint32_t swap_bytes(uint32_t x) {
    return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

static void add_block(uint32_t digest[DIGEST_WORDS], const uint32_t block[BLOCK_WORDS]) {
    uint32_t w[ROUNDS], s[DIGEST_WORDS];
    for (int i = 0; i < ROUNDS; i++)
        w[i] = i < BLOCK_WORDS ? block[i]
                               : rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - BLOCK_WORDS], 1);
    for (int i = 0; i < DIGEST_WORDS; i++)
        s[i] = digest[i];
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t next = rotate(s[0], 5) + mix(i, s[1], s[2], s[3]) + s[4] + w[i];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    for (int i = 0; i < DIGEST_WORDS; i++)
        digest[i] += s[i];
}

/* Both are as in memory: bytes in order, four in a little-endian word. The padding is a byte 0x80,
 * then the count of bits as a 64-bit word. */
static uint32_t hash(const uint32_t *window, uint32_t words) {
    uint32_t digest[DIGEST_WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (uint32_t from = 0; from < words + ENDING_WORDS; from += BLOCK_WORDS) {
        uint32_t block[BLOCK_WORDS] = {0};
        for (uint32_t i = 0; i < BLOCK_WORDS && from + i <= words; i++)
            block[i] = from + i < words ? swap_bytes(window[from + i]) : 0x80000000;
        if (from + BLOCK_WORDS == words + ENDING_WORDS) block[BLOCK_WORDS - 1] = 32 * words;
        add_block(digest, block);
    }
    return swap_bytes(digest[0]);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned windows = workload.values[WINDOWS];
    unsigned window_words = workload.values[BLOCKS] * BLOCK_WORDS - ENDING_WORDS;
    size_t word_count = (size_t)windows + window_words - 1;
    uint32_t *words = workload_random_words(&workload, word_count, 1u << 31);

    CUdeviceptr device_words = workload_upload(words, word_count * sizeof *words);
    CUdeviceptr digests = workload_device_alloc(windows * sizeof(uint32_t));
    unsigned bytes = window_words * (unsigned)sizeof *words, step = sizeof *words, missing = 0;
    workload_launch(&workload, "storegpu", workload_cover(windows, THREADS),
                    (void *[]){&device_words, &bytes, &step, &windows, &missing, &digests});

    uint32_t *expected = workload_host_alloc(&workload, windows, sizeof *expected);
    for (size_t i = 0; i < windows; i++)
        expected[i] = hash(words + i, window_words);
    bool is_right = workload_verify_words(&workload, digests, expected, windows);
    return workload_finish(&workload, is_right, "digests", windows);
}
