/* Linear functions of bits: lists, polynomials, tables against the matrix, and rejected texts. */
#include "base/bit_hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static void lists_meet_at_their_lowest_bit(void **state) {
    (void)state;
    BitMatrix matrix;
    assert_true(bit_matrix_read(&matrix, " 11 .. 7 ^ 19,17,15..13 "));
    assert_int_equal(matrix.width, 5);
    assert_int_equal(bit_matrix_apply(&matrix, 1u << 7), 1);
    assert_int_equal(bit_matrix_apply(&matrix, 1u << 7 | 1u << 13), 0);
    assert_int_equal(bit_matrix_apply(&matrix, 1u << 19), 16);
    assert_int_equal(bit_matrix_apply(&matrix, 1u << 18), 0);
}

/* The remainder of the listed bits as a polynomial, by long division. */
static uint32_t remainder_of(uint64_t value, uint32_t polynomial, int degree) {
    for (int bit = 63; bit >= degree; bit--)
        if (value >> bit & 1) value ^= (uint64_t)polynomial << (bit - degree);
    return (uint32_t)value;
}

static void a_polynomial_hash_is_the_remainder_of_a_division(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t polynomial;
        int degree;
    } rows[] = {{"ipoly 0x13: 40..5", 0x13, 4},
                {"ipoly 0x25: 40..5", 0x25, 5},
                {"ipoly 0x43: 40..5", 0x43, 6},
                {"ipoly 3: 40..5", 3, 1}};
    uint64_t seed = 4711;
    for (int r = 0; r < 4; r++) {
        BitMatrix matrix;
        BitHash hash;
        assert_true(bit_matrix_read(&matrix, rows[r].text));
        assert_int_equal(matrix.width, rows[r].degree);
        bit_hash_init(&hash, &matrix);
        for (int i = 0; i < 1000; i++) {
            uint64_t source = next_random(&seed), listed = source >> 5 & 0xFFFFFFFFF;
            uint32_t expected = remainder_of(listed, rows[r].polynomial, rows[r].degree);
            assert_int_equal(bit_matrix_apply(&matrix, source), expected);
            assert_int_equal(bit_hash(&hash, source), expected);
        }
    }
}

static void texts_of_neither_form_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "11..",
                                        "7..11",
                                        "64",
                                        "11..7 ^",
                                        "1,,2",
                                        "ipoly",
                                        "ipoly 0x25",
                                        "ipoly 0x25:",
                                        "ipoly 0x25: 3",
                                        "ipoly 0: 9..1",
                                        "ipoly 1: 9..1",
                                        "ipoly 0x25: 9..1 ^ 12",
                                        "63..0",
                                        "ipoly 0x4000000: 63..0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        BitMatrix matrix;
        assert_false(bit_matrix_read(&matrix, texts[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_meet_at_their_lowest_bit),
        cmocka_unit_test(a_polynomial_hash_is_the_remainder_of_a_division),
        cmocka_unit_test(texts_of_neither_form_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
