/* Replacement by priority: streaming lines are replaced first; persisting lines stay, up to the
 * limit. */
#include "cache/tag_array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { WAYS = 8, LINE = 128 };

/* One set of `ways`. At most `last_ways` of its lines may persist. */
static TagArray build(uint32_t ways, uint32_t last_ways, Arena *arena) {
    TagArray tags;
    TagArrayConfig config = {
        .sets = 1, .ways = ways, .line_bytes = LINE, .replacement = REPLACE_LRU};
    tag_array_init(&tags, &config, arena);
    tag_array_set_last_ways(&tags, last_ways);
    return tags;
}

static bool has(const TagArray *tags, uint64_t line) {
    return tag_array_find(tags, line * LINE) != TAG_NONE;
}

/* Uses a line; allocates it if it is absent. Returns whether that was possible. */
static bool use(TagArray *tags, uint64_t line, CachePriority priority) {
    TagEviction gone;
    int32_t place = tag_array_find(tags, line * LINE);
    if (place != TAG_NONE) {
        tag_array_touch_as(tags, place, priority);
        return true;
    }
    place = tag_array_reserve_as(tags, line * LINE, 1, priority, &gone);
    if (place != TAG_NONE) tag_array_fill(tags, place, 1);
    return place != TAG_NONE;
}

static void sweep(TagArray *tags, uint64_t first, uint64_t count, CachePriority priority) {
    for (uint64_t i = 0; i < count; i++)
        assert_true(use(tags, first + i, priority));
}

static uint32_t count(const TagArray *tags, uint64_t first, uint64_t lines) {
    uint32_t found = 0;
    for (uint64_t i = 0; i < lines; i++)
        found += has(tags, first + i);
    return found;
}

static void test_persisting_lines_stay_under_a_sweep_and_others_do_not(void **state) {
    (void)state;
    for (int persists = 0; persists < 2; persists++) {
        Arena *arena = arena_new();
        TagArray tags = build(WAYS, 6, arena);
        sweep(&tags, 0, 6, persists ? PRIORITY_LAST : PRIORITY_UNSAID);
        sweep(&tags, 100, 50, PRIORITY_UNSAID);
        assert_int_equal(count(&tags, 0, 6), persists ? 6 : 0);
        assert_int_equal(count(&tags, 148, 2), 2); /* ways that are not set aside work as before */
        arena_free(arena);
    }
}

static void test_what_persists_has_no_more_than_is_set_aside(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(WAYS, 3, arena);
    sweep(&tags, 0, 4, PRIORITY_LAST); /* the fourth replaces the oldest */
    assert_int_equal(count(&tags, 0, 4), 3);
    assert_false(has(&tags, 0));
    sweep(&tags, 100, 50, PRIORITY_NORMAL);
    assert_int_equal(count(&tags, 1, 3), 3);
    assert_int_equal(count(&tags, 145, 5), 5);
    arena_free(arena);
}

static void test_nothing_persists_where_nothing_is_set_aside(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(WAYS, 0, arena);
    sweep(&tags, 0, 4, PRIORITY_LAST);
    sweep(&tags, 100, 8, PRIORITY_UNSAID);
    assert_int_equal(count(&tags, 0, 4), 0);
    arena_free(arena);
}

static void test_streaming_lines_go_first_however_young(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(WAYS, WAYS, arena);
    sweep(&tags, 0, 7, PRIORITY_UNSAID);
    sweep(&tags, 100, 20, PRIORITY_FIRST);
    assert_int_equal(count(&tags, 0, 7), 7);
    assert_true(has(&tags, 119));
    arena_free(arena);
}

static void
test_a_line_in_use_persists_once_an_access_says_so_and_no_longer_than_that(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(WAYS, 6, arena);
    assert_true(use(&tags, 1, PRIORITY_UNSAID));
    assert_true(use(&tags, 1, PRIORITY_LAST));
    assert_true(use(&tags, 2, PRIORITY_LAST));
    assert_true(use(&tags, 2, PRIORITY_UNSAID)); /* no hint: nothing changes */
    sweep(&tags, 100, 20, PRIORITY_UNSAID);
    assert_int_equal(count(&tags, 1, 2), 2);
    assert_true(use(&tags, 2, PRIORITY_NORMAL));
    sweep(&tags, 200, 20, PRIORITY_UNSAID);
    assert_true(has(&tags, 1));
    assert_false(has(&tags, 2));
    tag_array_forget_last(&tags);
    sweep(&tags, 300, 20, PRIORITY_UNSAID);
    assert_false(has(&tags, 1));
    assert_int_equal(tags.ranked_lines, 0);
    arena_free(arena);
}

static void test_an_unchanged_hit_is_no_use(void **state) {
    (void)state;
    for (int is_used = 0; is_used < 2; is_used++) {
        Arena *arena = arena_new();
        TagArray tags = build(2, 2, arena);
        sweep(&tags, 0, 2, PRIORITY_UNSAID);
        assert_true(use(&tags, 0, is_used ? PRIORITY_UNSAID : PRIORITY_UNCHANGED));
        assert_true(use(&tags, 5, PRIORITY_UNSAID));
        assert_int_equal(has(&tags, 0), is_used);
        arena_free(arena);
    }
}

static void test_a_set_whose_other_lines_are_under_way_gives_up_no_persisting_one(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(4, 2, arena);
    TagEviction gone;
    sweep(&tags, 0, 2, PRIORITY_LAST);
    for (uint64_t line = 10; line < 12; line++)
        assert_true(tag_array_reserve(&tags, line * LINE, 1, &gone) != TAG_NONE);
    assert_false(use(&tags, 12, PRIORITY_UNSAID));
    assert_true(use(&tags, 3, PRIORITY_LAST)); /* replaces the oldest */
    assert_int_equal(count(&tags, 0, 2), 1);
    tag_array_set_last_ways(&tags, 0); /* lines in the set stay, and may be replaced */
    assert_true(use(&tags, 12, PRIORITY_UNSAID));
    arena_free(arena);
}

static void test_free_places_are_taken_before_streaming_lines(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(2, 2, arena);
    assert_true(use(&tags, 0, PRIORITY_FIRST));
    assert_true(use(&tags, 1, PRIORITY_UNSAID));
    assert_true(has(&tags, 0));
    tag_array_invalidate(&tags, tag_array_find(&tags, 0));
    assert_int_equal(tags.ranked_lines, 0);
    arena_free(arena);
}

/* Sets that are scanned and sets that keep lists replace the same lines. */
static void test_lists_and_scans_agree(void **state) {
    (void)state;
    enum { MANY = 4 * TAG_SCANNED_WAYS };
    Arena *arena = arena_new();
    TagArray listed = build(MANY, MANY / 2, arena);
    uint64_t seed = 20;
    uint64_t age[4 * MANY] = {0};
    uint8_t rank[4 * MANY] = {0};
    for (uint64_t now = 1; now < 20000; now++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        uint64_t line = seed % (2 * MANY);
        CachePriority priority = (CachePriority)(seed >> 32 & 1 ? PRIORITY_FIRST : PRIORITY_UNSAID);
        bool was_there = has(&listed, line);
        uint64_t goes = UINT64_MAX;
        uint32_t there = 0;
        for (uint64_t i = 0; i < 2 * MANY && !was_there; i++) {
            if (!age[i]) continue;
            there++;
            if (goes == UINT64_MAX || rank[i] > rank[goes] ||
                (rank[i] == rank[goes] && age[i] < age[goes]))
                goes = i;
        }
        assert_true(use(&listed, line, priority));
        if (!was_there && there == MANY) {
            assert_false(has(&listed, goes));
            age[goes] = 0;
        }
        age[line] = now;
        if (!was_there || priority != PRIORITY_UNSAID) rank[line] = priority == PRIORITY_FIRST;
    }
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_persisting_lines_stay_under_a_sweep_and_others_do_not),
        cmocka_unit_test(test_what_persists_has_no_more_than_is_set_aside),
        cmocka_unit_test(test_nothing_persists_where_nothing_is_set_aside),
        cmocka_unit_test(test_streaming_lines_go_first_however_young),
        cmocka_unit_test(
            test_a_line_in_use_persists_once_an_access_says_so_and_no_longer_than_that),
        cmocka_unit_test(test_an_unchanged_hit_is_no_use),
        cmocka_unit_test(test_a_set_whose_other_lines_are_under_way_gives_up_no_persisting_one),
        cmocka_unit_test(test_free_places_are_taken_before_streaming_lines),
        cmocka_unit_test(test_lists_and_scans_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
