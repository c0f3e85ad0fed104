/* Set functions: plain, the two of the GTX 480, sums, and rejected texts. */
#include "cache/set_index.h"
#include "cache/cache_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static SetIndex build(const char *text, uint32_t sets, uint32_t line_bytes) {
    SetIndex index;
    Diag *diag = diag_new();
    bool is_good = set_index_init(&index, text, sets, line_bytes, diag);
    assert_string_equal(diag_text(diag), "");
    assert_true(is_good);
    diag_free(diag);
    return index;
}

static uint32_t bit(uint64_t address, int i) { return (uint32_t)(address >> i & 1); }

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static void plain(void **state) {
    (void)state;
    SetIndex index = build(NULL, 64, 128);
    assert_int_equal(set_index_of(&index, 0x12340), 0x12340 / 128 % 64);
    index = build(NULL, 1, 64);
    assert_int_equal(build("", 1, 64).bits.count, index.bits.count);
    assert_int_equal(set_index_of(&index, UINT64_MAX), 0);
}

/* L1D: bits 11..7 XOR {19, 17, 15..13}; L2: bits {13..9, 7}, with the recorded example. */
static void gtx480(void **state) {
    (void)state;
    SetIndex l1d = build("11..7 ^ 19,17,15..13", 32, 128);
    SetIndex l2 = build(" 13 .. 9 , 7 ", 64, 128);
    uint64_t seed = 99;
    for (int i = 0; i < 1000; i++) {
        uint64_t a = next_random(&seed);
        uint32_t hash =
            bit(a, 19) << 4 | bit(a, 17) << 3 | bit(a, 15) << 2 | bit(a, 14) << 1 | bit(a, 13);
        assert_int_equal(set_index_of(&l1d, a), (a >> 7 & 31) ^ hash);
        assert_int_equal(set_index_of(&l2, a), (a >> 9 & 31) << 1 | bit(a, 7));
    }
    /* 0xC0012340 lies at `rest` 0x80003040 of its channel: set 48 */
    assert_int_equal(set_index_of(&l2, 0x80003040), 48);
}

/* The polynomial hash of GPGPU-Sim 4.2's Volta, as observed: for each bit of the set, the bits
 * above the set that are XORed into it. */
static void polynomial(void **state) {
    (void)state;
    static const uint32_t takes_in[] = {0x3E69, 0x7CD2, 0x47CD, 0x0F9A, 0x1F34};
    SetIndex index = build("ipoly 0x25: 32..18,17..14,7", 32, 128);
    uint64_t seed = 7;
    for (int i = 0; i < 1000; i++) {
        uint64_t a = next_random(&seed);
        uint32_t set = (uint32_t)(a >> 14 & 15) << 1 | bit(a, 7);
        for (int b = 0; b < 5; b++)
            set ^= (uint32_t)(__builtin_popcount((uint32_t)(a >> 18) & takes_in[b]) & 1) << b;
        assert_int_equal(set_index_of(&index, a), set);
    }
    assert_int_equal(set_index_of(&index, 0xC0000000), 16);
    assert_int_equal(set_index_of(&index, 0xC0004000), 18);
    assert_int_equal(set_index_of(&index, 0xC0012340), 24);
}

/* Lists that have more pieces than fit in runs give the same index. */
static void many_pieces(void **state) {
    (void)state;
    SetIndex index = build("7,9,11,13,15 ^ 8,10,12,14,16 ^ 20,22,24,26,28", 32, 128);
    assert_true(index.is_hashed);
    assert_int_equal(set_index_of(&index, 1 << 7 | 1 << 10), 0x18);
    assert_int_equal(set_index_of(&index, 1 << 7 | 1 << 8), 0);
    assert_int_equal(set_index_of(&index, 1 << 28 | 1 << 15 | 1 << 13), 2);
}

/* The sets of the simulator by CCWS's authors: the line's number plus seven times the tag. */
static void sum(void **state) {
    (void)state;
    SetIndex index = build("11..7 + 7 x 16..12", 32, 128);
    uint64_t seed = 11;
    for (int i = 0; i < 1000; i++) {
        uint64_t a = next_random(&seed);
        assert_int_equal(set_index_of(&index, a), ((a >> 7) + 7 * (a >> 12)) & 31);
    }
    char text[CACHE_INDEX_BYTES];
    CacheConfig config = {
        .size_bytes = 32768, .line_bytes = 128, .ways = 8, .index = CACHE_INDEX_SUMMED};
    cache_config_set_index(&config, 0, text);
    assert_string_equal(text, "11,10,9,8,7 + 7 x 16,15,14,13,12");
    cache_config_set_index(&config, 1 << 9 | 1 << 13, text); /* bits that all addresses share */
    assert_string_equal(text, "12,11,10,8,7 + 7 x 18,17,16,15,14");
    config.ways = 256;
    cache_config_set_index(&config, 0, text);
    assert_string_equal(text, "");
}

static void rejected(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t sets, line_bytes;
        const char *why;
    } rows[] = {
        {NULL, 48, 128, "48 sets"},
        {NULL, 0, 128, "0 sets"},
        {NULL, 64, 96, "96 bytes per line"},
        {"", 32, 128, "not lists"},
        {"11..", 32, 128, "not lists"},
        {"7..11", 32, 128, "not lists"},
        {"11..7 ^", 32, 128, "not lists"},
        {"11..7,", 32, 128, "not lists"},
        {"11..7 & 3", 32, 128, "not lists"},
        {"10..6", 32, 128, "bits from 7 to 63"},
        {"64", 2, 128, "not lists"},
        {"99999999999999999999", 2, 128, "not lists"},
        {"40..8", 32, 128, "not lists"},
        {"10..7", 32, 128, "makes 4 bits, but 32 sets need 5"},
        {"12..7", 32, 128, "makes 6 bits"},
        {"ipoly 0x25 32..18,17..14,7", 32, 128, "not lists"},
        {"ipoly 0x25: 9..7", 32, 128, "not lists"},
        {"ipoly 1: 9..7", 1, 128, "not lists"},
        {"ipoly 0x25: 12..6", 32, 128, "bits from 7 to 63"},
        {"ipoly 0x13: 12..7", 32, 128, "makes 4 bits"},
        {"11..7 + 16..12", 32, 128, "not lists"},
        {"11..7 + 0 x 16..12", 32, 128, "not lists"},
        {"11..7 + 7 x 17..12", 32, 128, "not lists"},
        {"11..7 + 7 x 16..12 + 9 x 18", 32, 128, "not lists"},
        {"11..7 + 7 x 8..4", 32, 128, "bits from 7 to 63"},
        {"10..7 + 7 x 16..12", 32, 128, "not lists"},
        {"10..7 + 7 x 15..12", 32, 128, "makes 4 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SetIndex index;
        Diag *diag = diag_new();
        assert_false(set_index_init(&index, rows[i].text, rows[i].sets, rows[i].line_bytes, diag));
        assert_non_null(strstr(diag_text(diag), rows[i].why));
        diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),       cmocka_unit_test(gtx480), cmocka_unit_test(polynomial),
        cmocka_unit_test(many_pieces), cmocka_unit_test(sum),    cmocka_unit_test(rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
