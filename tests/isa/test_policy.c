/* Cache policies and windows: the layout that NVIDIA's library documents, and the resulting
 * priorities of addresses. */
#include "isa/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

/* The share of a MiB's lines to which a policy assigns `wanted`, in 16ths, rounded. */
static uint32_t share_of(uint64_t policy, PtxEvict wanted) {
    uint32_t count = 0;
    for (uint64_t address = 0; address < MIB; address += 128)
        count += policy_for(policy, address) == wanted;
    return (uint32_t)((count * 16 + MIB / 256) / (MIB / 128));
}

/* The values are those of CCCL's constants (__l2_interleave_streaming, ...). */
static void test_whole_fractions_have_the_values_of_the_vendors_library(void **state) {
    (void)state;
    static const struct {
        PtxEvict primary;
        uint64_t value;
    } rows[] = {{PTX_EVICT_UNCHANGED, UINT64_C(0x10F0000000000000)},
                {PTX_EVICT_FIRST, UINT64_C(0x12F0000000000000)},
                {PTX_EVICT_LAST, UINT64_C(0x14F0000000000000)},
                {PTX_EVICT_NORMAL, UINT64_C(0x16F0000000000000)}};
    for (int i = 0; i < 4; i++) {
        assert_true(policy_of_fraction(rows[i].primary, PTX_EVICT_NONE, 1) == rows[i].value);
        assert_int_equal(policy_for(rows[i].value, 0x12345680), rows[i].primary);
    }
    assert_int_equal(policy_for(0, 0x1000), PTX_EVICT_NONE);
}

static void test_a_fraction_is_that_share_of_the_lines(void **state) {
    (void)state;
    for (uint32_t sixteenths = 1; sixteenths <= 16; sixteenths++) {
        uint64_t policy =
            policy_of_fraction(PTX_EVICT_LAST, PTX_EVICT_FIRST, (float)sixteenths / 16);
        assert_int_equal(share_of(policy, PTX_EVICT_LAST), sixteenths);
        assert_int_equal(share_of(policy, PTX_EVICT_FIRST), 16 - sixteenths);
    }
    uint64_t least = policy_of_fraction(PTX_EVICT_LAST, PTX_EVICT_NONE, -3);
    assert_int_equal(share_of(least, PTX_EVICT_LAST), 1);
    assert_int_equal(share_of(least, PTX_EVICT_UNCHANGED), 15);
    assert_int_equal(
        share_of(policy_of_fraction(PTX_EVICT_LAST, PTX_EVICT_NONE, 5), PTX_EVICT_LAST), 16);
}

static void test_a_range_is_a_run_of_blocks(void **state) {
    (void)state;
    uint64_t base = 0x7f0000000 + 3 * MIB;
    uint64_t policy =
        policy_of_range(PTX_EVICT_LAST, PTX_EVICT_FIRST, base, 1 << 20, 4 << 20); /* of 32 KiB */
    assert_int_equal(policy_for(policy, base - 1), PTX_EVICT_FIRST);
    assert_int_equal(policy_for(policy, base), PTX_EVICT_LAST);
    assert_int_equal(policy_for(policy, base + MIB - 1), PTX_EVICT_LAST);
    assert_int_equal(policy_for(policy, base + MIB), PTX_EVICT_FIRST);
    /* A block has at least 4 KiB, and a range that covers a part of it covers it all. */
    policy = policy_of_range(PTX_EVICT_LAST, PTX_EVICT_NONE, base + 100, 200, 200);
    assert_int_equal(policy_for(policy, base), PTX_EVICT_LAST);
    assert_int_equal(policy_for(policy, base + 4095), PTX_EVICT_LAST);
    assert_int_equal(policy_for(policy, base + 4096), PTX_EVICT_UNCHANGED);
}

static void test_a_window_has_a_share_of_hits_and_nothing_beyond_it(void **state) {
    (void)state;
    PolicyWindow window = {.address = MIB,
                           .bytes = MIB,
                           .share = 0.25f,
                           .hit = PTX_EVICT_LAST,
                           .miss = PTX_EVICT_FIRST};
    uint32_t hits = 0;
    for (uint64_t address = MIB; address < 2 * MIB; address += 128) {
        PtxEvict said = policy_window_for(&window, address);
        assert_true(said == PTX_EVICT_LAST || said == PTX_EVICT_FIRST);
        hits += said == PTX_EVICT_LAST;
    }
    assert_in_range(hits, MIB / 128 / 4 - 16, MIB / 128 / 4 + 16);
    assert_int_equal(policy_window_for(&window, MIB - 1), PTX_EVICT_NONE);
    assert_int_equal(policy_window_for(&window, 2 * MIB), PTX_EVICT_NONE);
    window.share = 1;
    assert_int_equal(policy_window_for(&window, 2 * MIB - 1), PTX_EVICT_LAST);
    window.share = 0;
    assert_int_equal(policy_window_for(&window, MIB), PTX_EVICT_FIRST);
    assert_int_equal(policy_window_for(&(PolicyWindow){0}, 0), PTX_EVICT_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_fractions_have_the_values_of_the_vendors_library),
        cmocka_unit_test(test_a_fraction_is_that_share_of_the_lines),
        cmocka_unit_test(test_a_range_is_a_run_of_blocks),
        cmocka_unit_test(test_a_window_has_a_share_of_hits_and_nothing_beyond_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
