/* MSHRs: merging, completion in order, one entry with one request, and random use compared with a
 * naive model. */
#include "cache/mshr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void merge_and_drain(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, 2, 3, 0, arena);
    int32_t a = mshr_allocate(&mshr, 0x1000, 1);
    int32_t b = mshr_allocate(&mshr, 0x2000, 2);
    assert_true(mshr_is_full(&mshr));
    assert_int_equal(mshr_find(&mshr, 0x1000), a);
    assert_int_equal(mshr_find(&mshr, 0x3000), MSHR_NONE);
    mshr_merge(&mshr, a, 3);
    assert_true(mshr_can_merge(&mshr, a));
    mshr_merge(&mshr, a, 4);
    assert_false(mshr_can_merge(&mshr, a));
    assert_false(mshr_has_ready(&mshr));

    mshr_complete(&mshr, b);
    mshr_complete(&mshr, a);
    assert_int_equal(mshr_find(&mshr, 0x1000), MSHR_NONE);
    assert_true(mshr_is_full(&mshr)); /* until drained */
    static const uint32_t order[] = {2, 1, 3, 4};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mshr_peek(&mshr), order[i]);
        assert_int_equal(mshr_pop(&mshr), order[i]);
        assert_false(mshr_is_full(&mshr));
    }
    assert_false(mshr_has_ready(&mshr));
    assert_int_equal(mshr.used, 0);
    arena_free(arena);
}

/* Two entries of two requests each share three places for requests. */
static void few_places(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, 2, 2, 3, arena);
    int32_t a = mshr_allocate(&mshr, 0x1000, 1);
    mshr_merge(&mshr, a, 2);
    assert_false(mshr_is_full(&mshr));
    int32_t b = mshr_allocate(&mshr, 0x2000, 3);
    assert_false(mshr_has_place(&mshr));
    assert_false(mshr_can_merge(&mshr, b));
    mshr_complete(&mshr, a);
    assert_false(mshr_has_place(&mshr)); /* until one request is popped */
    assert_int_equal(mshr_pop(&mshr), 1);
    assert_true(mshr_can_merge(&mshr, b));
    assert_true(mshr_is_full(&mshr)); /* the other request keeps the entry */
    assert_int_equal(mshr_pop(&mshr), 2);
    mshr_allocate(&mshr, 0x3000, 4);
    assert_true(mshr_is_full(&mshr));
    assert_true(mshr_can_merge(&mshr, b));
    mshr_merge(&mshr, b, 5);
    assert_false(mshr_has_place(&mshr));
    arena_free(arena);
}

/* The limit on requests alone prevents the allocation of a new line. */
static void no_place(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, 4, 4, 2, arena);
    mshr_merge(&mshr, mshr_allocate(&mshr, 0x1000, 1), 2);
    assert_true(mshr_is_full(&mshr));
    arena_free(arena);
}

/* Two MSHR files that share three places, in addition to their own. */
static void shared_places(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Mshr one, other;
    uint32_t shared = 3;
    mshr_init(&one, 2, 2, 0, arena);
    mshr_init(&other, 2, 2, 0, arena);
    mshr_share(&one, &shared);
    mshr_share(&other, &shared);
    int32_t a = mshr_allocate(&one, 0x1000, 1), b = mshr_allocate(&other, 0x1000, 2);
    mshr_merge(&one, a, 3);
    assert_int_equal(shared, 0);
    assert_true(mshr_is_full(&one) && mshr_is_full(&other));
    assert_false(mshr_can_merge(&other, b));
    mshr_complete(&one, a);
    mshr_pop(&one);
    assert_int_equal(shared, 1);
    assert_true(mshr_can_merge(&other, b));
    arena_free(arena);
}

/* The key of an entry that is completed but not drained may be fetched again. */
static void same_key_again(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, 2, 2, 0, arena);
    mshr_complete(&mshr, mshr_allocate(&mshr, 0x40, 1));
    int32_t again = mshr_allocate(&mshr, 0x40, 2);
    assert_int_equal(mshr_find(&mshr, 0x40), again);
    assert_int_equal(mshr_pop(&mshr), 1);
    assert_false(mshr_has_ready(&mshr));
    mshr_complete(&mshr, again);
    assert_int_equal(mshr_pop(&mshr), 2);
    arena_free(arena);
}

static void smallest(void **state) {
    (void)state;
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, 1, 1, 0, arena);
    for (uint32_t i = 0; i < 100; i++) {
        int32_t entry = mshr_allocate(&mshr, i * 64, i);
        assert_true(mshr_is_full(&mshr));
        assert_false(mshr_can_merge(&mshr, entry));
        mshr_complete(&mshr, entry);
        assert_int_equal(mshr_pop(&mshr), i);
    }
    arena_free(arena);
}

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

/* Random use of few keys: every request returns once, in order, after its key is completed. */
static void against_naive_model(void **state) {
    (void)state;
    enum { ENTRIES = 32, MERGES = 4, KEYS = 100 };
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, ENTRIES, MERGES, 0, arena);
    uint32_t pending[KEYS][MERGES], counts[KEYS] = {0}; /* the naive model, by key */
    uint32_t ready[ENTRIES * MERGES], ready_count = 0;  /* in the order of return */
    uint64_t seed = 5;
    for (uint32_t i = 0; i < 200000; i++) {
        uint64_t r = next_random(&seed);
        uint32_t k = (uint32_t)(r % KEYS);
        uint64_t key = k * UINT64_C(0x100000020);
        int32_t entry = mshr_find(&mshr, key);
        assert_int_equal(entry != MSHR_NONE, counts[k] != 0);
        if (r >> 32 & 1) {
            if (entry != MSHR_NONE && mshr_can_merge(&mshr, entry)) mshr_merge(&mshr, entry, i);
            else if (entry == MSHR_NONE && !mshr_is_full(&mshr)) mshr_allocate(&mshr, key, i);
            else continue;
            assert_true(counts[k] < MERGES);
            pending[k][counts[k]++] = i;
        } else if (entry != MSHR_NONE && (r >> 33 & 1)) {
            mshr_complete(&mshr, entry);
            memcpy(&ready[ready_count], pending[k], sizeof **pending * counts[k]);
            ready_count += counts[k];
            counts[k] = 0;
        } else {
            assert_int_equal(mshr_has_ready(&mshr), ready_count != 0);
            if (!ready_count) continue;
            assert_int_equal(mshr_pop(&mshr), ready[0]);
            memmove(ready, ready + 1, sizeof *ready * --ready_count);
        }
    }
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_and_drain),
        cmocka_unit_test(few_places),
        cmocka_unit_test(no_place),
        cmocka_unit_test(shared_places),
        cmocka_unit_test(same_key_again),
        cmocka_unit_test(smallest),
        cmocka_unit_test(against_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
