/* AES-128 of random blocks under a random key; the reference follows FIPS 197 byte by byte. */
#include "common/workload.h"

#include <string.h>

enum {
    THREADS = 256,
    CTA_BLOCKS = THREADS / 4,
    ROUNDS = 10,
    KEY_WORDS = 4 * (ROUNDS + 1),
    TABLES = 4,
    ENTRIES = 256
};

enum { BLOCKS };

static const WorkloadInfo INFO = {
    .name = "aes",
    .summary = "Encrypts blocks by AES-128 with tables in shared memory.",
    .parameters =
        {
            [BLOCKS] = {"blocks", "of 16 bytes", {100, 4096, 16448}, 1u << 24, 0},
        },
};

/* x times 2 in the field of 256 elements. */
static uint8_t times_2(uint8_t x) { return (uint8_t)(x << 1 ^ (x >> 7) * 0x1b); }

static uint8_t rotate_byte(uint8_t x, int bits) { return (uint8_t)(x << bits | x >> (8 - bits)); }

/* The substitution of every byte: the field's inverse, then an affine map. The powers of 3 are all
 * elements except 0, and the powers of its inverse 0xf6 are their inverses. */
static void fill_substitution(uint8_t substitution[ENTRIES]) {
    uint8_t power = 1, inverse = 1;
    do {
        power ^= times_2(power);
        inverse ^= (uint8_t)(inverse << 1);
        inverse ^= (uint8_t)(inverse << 2);
        inverse ^= (uint8_t)(inverse << 4);
        inverse ^= (uint8_t)((inverse >> 7) * 0x09);
        substitution[power] =
            (uint8_t)(inverse ^ rotate_byte(inverse, 1) ^ rotate_byte(inverse, 2) ^
                      rotate_byte(inverse, 3) ^ rotate_byte(inverse, 4) ^ 0x63);
    } while (power != 1);
    substitution[0] = 0x63;
}

static void fill_tables(const uint8_t *substitution, uint32_t tables[TABLES][ENTRIES]) {
    for (int x = 0; x < ENTRIES; x++) {
        uint32_t s = substitution[x], s2 = times_2(substitution[x]);
        uint32_t column = s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
        for (int t = 0; t < TABLES; t++) {
            tables[t][x] = column;
            column = column << 8 | column >> 24;
        }
    }
}

static void expand_key(const uint8_t *substitution, uint8_t keys[4 * KEY_WORDS]) {
    uint8_t constant = 1;
    for (int i = 16; i < 4 * KEY_WORDS; i += 4) {
        for (int j = 0; j < 4; j++)
            keys[i + j] = keys[i - 16 + j] ^
                          (i % 16 ? keys[i - 4 + j] : substitution[keys[i - 4 + (j + 1) % 4]]);
        if (i % 16) continue;
        keys[i] ^= constant;
        constant = times_2(constant);
    }
}

static void encrypt(const uint8_t *substitution, const uint8_t *keys, const uint8_t *plain,
                    uint8_t *s) {
    for (int i = 0; i < 16; i++)
        s[i] = plain[i] ^ keys[i];
    for (int round = 1; round <= ROUNDS; round++) {
        uint8_t t[16];
        for (int i = 0; i < 16; i++)
            t[i] = substitution[s[(i + 4 * (i % 4)) % 16]];
        for (int i = 0; i < 16; i++) {
            const uint8_t *column = t + i / 4 * 4;
            uint8_t a = column[i % 4], b = column[(i + 1) % 4];
            uint8_t c = column[(i + 2) % 4], d = column[(i + 3) % 4];
            uint8_t mixed = round < ROUNDS ? times_2(a ^ b) ^ b ^ c ^ d : a;
            s[i] = mixed ^ keys[16 * round + i];
        }
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    size_t blocks = workload.values[BLOCKS], size_bytes = 16 * blocks;
    unsigned ctas = workload_divide_up(workload.values[BLOCKS], CTA_BLOCKS);
    uint8_t *plain = workload_random_bytes(&workload, size_bytes, 256);
    uint8_t substitution[ENTRIES], keys[4 * KEY_WORDS];
    uint32_t tables[TABLES][ENTRIES];
    memcpy(keys, workload_random_bytes(&workload, 16, 256), 16);
    fill_substitution(substitution);
    fill_tables(substitution, tables);
    expand_key(substitution, keys);

    workload_set_variable(&workload, "tables", tables, sizeof tables);
    CUtexObject round_keys = workload_bind_words(workload_upload(keys, sizeof keys), KEY_WORDS);
    /* The padding of the last CTA is encrypted too. */
    CUdeviceptr device_plain = workload_upload_zeros((size_t)ctas * CTA_BLOCKS * 16);
    workload_copy_to_device(device_plain, plain, size_bytes);
    CUdeviceptr cipher = workload_device_alloc((size_t)ctas * CTA_BLOCKS * 16);
    workload_launch(&workload, "aes", (WorkloadShape){ctas, 1, THREADS, 1},
                    (void *[]){&round_keys, &device_plain, &cipher});

    uint8_t *expected = workload_host_alloc(&workload, blocks, 16);
    for (size_t i = 0; i < size_bytes; i += 16)
        encrypt(substitution, keys, plain + i, expected + i);
    bool is_right = workload_verify_bytes(&workload, cipher, expected, size_bytes);
    return workload_finish(&workload, is_right, "bytes", size_bytes);
}
