/* Bit tricks at the edges of the word. */
#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void words_are_counted_and_searched(void **state) {
    (void)state;
    for (int i = 0; i < 64; i++) {
        uint64_t word = UINT64_C(1) << i;
        assert_int_equal(bits_lowest64(word | UINT64_C(1) << 63), i);
        assert_int_equal(bits_highest64(word | 1), i);
        assert_int_equal(bits_count64(bits_low_mask(i)), i);
        assert_true(bits_is_power_of_two(word));
        if (i > 1) assert_false(bits_is_power_of_two(word - 1));
        if (i > 31) continue;
        assert_int_equal(bits_lowest32((uint32_t)word | 1u << 31), i);
        assert_int_equal(bits_highest32((uint32_t)word | 1), i);
        assert_int_equal(bits_count32((uint32_t)bits_low_mask(i)), i);
    }
    assert_false(bits_is_power_of_two(0));
    assert_int_equal(bits_low_mask(64), UINT64_MAX);
    assert_int_equal(bits_low_mask(0), 0);
}

static void sizes_round_up(void **state) {
    (void)state;
    assert_int_equal(bits_align_up(0, 16), 0);
    assert_int_equal(bits_align_up(1, 16), 16);
    assert_int_equal(bits_align_up(16, 16), 16);
    assert_int_equal(bits_align_up(100, 48), 144);
    assert_int_equal(bits_words(0), 0);
    assert_int_equal(bits_words(64), 1);
    assert_int_equal(bits_words(65), 2);
}

static void a_set_changes_one_bit_at_a_time(void **state) {
    (void)state;
    uint64_t set[3] = {0};
    for (size_t i = 0; i < 192; i += 3)
        bits_set(set, i);
    for (size_t i = 0; i < 192; i++)
        assert_int_equal(bits_get(set, i), i % 3 == 0);
    for (size_t i = 0; i < 192; i += 6)
        bits_clear(set, i);
    for (size_t i = 0; i < 192; i++)
        assert_int_equal(bits_get(set, i), i % 6 == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted_and_searched),
        cmocka_unit_test(sizes_round_up),
        cmocka_unit_test(a_set_changes_one_bit_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
