/* Dependence counters, and the timing wheel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/modern/counters.h"

static Arena *arena;
static ModernCounters counters;

static int set_up(void **state) {
    (void)state;
    arena = arena_new();
    counters_init(&counters, arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(arena);
    return 0;
}

static ModernRow waits_for(uint8_t mask) {
    return (ModernRow){.wait_mask = mask, .waits_for = ISA_NO_COUNTER};
}

static void test_what_is_put_into_the_wheel_comes_out_in_its_cycle(void **state) {
    (void)state;
    for (uint64_t now = 1000; now < 1000 + WHEEL_CYCLES; now++)
        for (uint64_t ahead = 1; ahead < WHEEL_CYCLES; ahead++) {
            ModernWheel wheel = {0};
            wheel_put(&wheel, 5, now, now + ahead);
            assert_int_equal(wheel_cycle_after(wheel.occupied, now), now + ahead);
            assert_int_equal(wheel_take(&wheel, now + ahead - 1), 0);
            assert_int_equal(wheel_take(&wheel, now + ahead), 1 << 5);
            assert_int_equal(wheel_cycle_after(wheel.occupied, now), UINT64_MAX);
        }
}

static void test_what_is_further_away_comes_out_in_time(void **state) {
    (void)state;
    ModernWheel wheel = {0};
    wheel_put(&wheel, 0, 10, 10 + 500);
    assert_in_range(wheel_cycle_after(wheel.occupied, 10), 11, 10 + WHEEL_CYCLES);
}

static void test_a_counter_blocks_until_it_has_fallen(void **state) {
    (void)state;
    const ModernRow row = waits_for(1 << 2);
    counters_raise(&counters, 7, 2, false);
    counters_raise(&counters, 7, 2, true);
    for (uint8_t mask = 0; mask < 1 << ISA_COUNTERS; mask++) {
        const ModernRow other = waits_for(mask);
        assert_int_equal(counters_block(counters.value[7], &other), mask & 1 << 2);
        assert_int_equal(counters_block(counters.value[8], &other), 0);
    }
    assert_true(counters_are_raised(&counters, 7));
    assert_int_equal(counters.longs[7][2], 1);
    counters_fall(&counters, 7, 2, true);
    assert_int_equal(counters_block(counters.value[7], &row), 1 << 2);
    counters_fall(&counters, 7, 2, false);
    assert_int_equal(counters_block(counters.value[7], &row), 0);
    assert_false(counters_are_raised(&counters, 7));
}

/* DEPBAR.LE SB3, n */
static void test_depbar_waits_for_so_many(void **state) {
    (void)state;
    for (uint8_t at_most = 0; at_most < 4; at_most++) {
        const ModernRow row = {.waits_for = 3, .at_most = at_most};
        counters_start(&counters);
        for (int value = 0; value < 6; value++) {
            assert_int_equal(counters_block(counters.value[1], &row) != 0, value > at_most);
            counters_raise(&counters, 1, 3, false);
        }
    }
}

/* Includes falls that are further away than one turn of the wheel, and several in one cycle. */
static void test_counters_fall_in_their_cycle(void **state) {
    (void)state;
    static const uint64_t cycles[] = {1, 2, 2, 63, 64, 65, 128, 700, 1000};
    enum { COUNT = sizeof cycles / sizeof cycles[0], NOW = 5000 };
    uint32_t left = COUNT;
    for (int i = 0; i < COUNT; i++) {
        counters_raise(&counters, 3, 0, false);
        counters_fall_at(&counters, 3, 0, NOW + cycles[i]);
    }
    for (uint64_t cycle = NOW + 1; cycle <= NOW + 1000; cycle++) {
        uint32_t due = 0;
        for (int i = 0; i < COUNT; i++)
            due += NOW + cycles[i] == cycle;
        assert_true(counters_next(&counters, cycle - 1) >= cycle);
        assert_int_equal(counters_step(&counters, cycle), due ? 1 << 3 : 0);
        left -= due;
        assert_int_equal(counters.value[3][0], left);
    }
    assert_int_equal(counters_next(&counters, NOW + 1000), UINT64_MAX);
}

/* A warp may exit before its results arrive, and another warp may take its slot. */
static void test_a_new_warp_does_not_hear_of_the_last_ones(void **state) {
    (void)state;
    counters_raise(&counters, 3, 1, false);
    counters_fall_at(&counters, 3, 1, 20);
    counters_start_warp(&counters, 3);
    counters_raise(&counters, 3, 1, false);
    assert_int_equal(counters_step(&counters, 20), 0);
    assert_int_equal(counters.value[3][1], 1);
}

static void test_records_are_used_again(void **state) {
    (void)state;
    for (uint64_t cycle = 1; cycle < 5 * MODERN_RELEASES; cycle++) {
        assert_true(counters_have_room(&counters));
        counters_raise(&counters, 0, 0, false);
        counters_fall_at(&counters, 0, 0, cycle + 1);
        counters_step(&counters, cycle + 1);
    }
    int more = 0;
    for (; counters_have_room(&counters); more += RELEASES_EACH)
        for (int i = 0; i < RELEASES_EACH; i++)
            counters_fall_at(&counters, 0, 0, 100000);
    assert_in_range(more, MODERN_RELEASES / 2, MODERN_RELEASES - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_put_into_the_wheel_comes_out_in_its_cycle,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_further_away_comes_out_in_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_counter_blocks_until_it_has_fallen, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_depbar_waits_for_so_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counters_fall_in_their_cycle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_new_warp_does_not_hear_of_the_last_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_records_are_used_again, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
