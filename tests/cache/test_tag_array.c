/* Tag array: compared with a naive model under random use; sectors, partial writes, evictions,
 * limits. */
#include "cache/tag_array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static TagArray build(TagArrayConfig config, Arena *arena) {
    TagArray tags;
    tag_array_init(&tags, &config, arena);
    return tags;
}

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

/* A set as a list, the next victim first: textbook LRU and FIFO. */
typedef struct NaiveSet {
    uint64_t lines[TAG_MAX_WAYS];
    uint32_t count;
} NaiveSet;

/* Uses `line`. Returns whether it was present, and in `gone` the evicted line (UINT64_MAX:
 * none). */
static bool naive_use(NaiveSet *set, uint32_t ways, bool is_lru, uint64_t line, uint64_t *evicted) {
    *evicted = UINT64_MAX;
    uint32_t i = 0;
    while (i < set->count && set->lines[i] != line)
        i++;
    bool is_hit = i < set->count;
    if (is_hit && !is_lru) return true;
    if (!is_hit && set->count == ways) {
        *evicted = set->lines[0];
        i = 0;
    }
    if (is_hit || set->count == ways) {
        memmove(&set->lines[i], &set->lines[i + 1], sizeof *set->lines * (set->count - 1 - i));
        set->count--;
    }
    set->lines[set->count++] = line;
    return is_hit;
}

static void against_naive_model(void **state) {
    (void)state;
    static const struct {
        uint32_t sets, ways;
        Replacement replacement;
    } rows[] = {
        {1, 1, REPLACE_LRU},  {1, 4, REPLACE_LRU},   {8, 4, REPLACE_LRU},   {4, 16, REPLACE_LRU},
        {1, 64, REPLACE_LRU}, {8, 4, REPLACE_FIFO},  {1, 1, REPLACE_FIFO},  {2, 7, REPLACE_FIFO},
        {4, 65, REPLACE_LRU}, {2, 256, REPLACE_LRU}, {1, 512, REPLACE_LRU}, {2, 100, REPLACE_FIFO},
    };
    uint64_t seed = 4711;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        Arena *arena = arena_new();
        TagArray tags = build((TagArrayConfig){.sets = rows[r].sets,
                                               .ways = rows[r].ways,
                                               .line_bytes = 128,
                                               .replacement = rows[r].replacement},
                              arena);
        NaiveSet naive[8] = {0};
        uint32_t span = rows[r].sets * rows[r].ways * 2;
        TagHint hint = {0};
        for (int i = 0; i < 20000; i++) {
            uint64_t line = next_random(&seed) % span, evicted;
            bool is_hit = naive_use(&naive[line % rows[r].sets], rows[r].ways,
                                    rows[r].replacement == REPLACE_LRU, line, &evicted);
            int32_t place;
            TagResult result = tag_array_probe(&tags, line * 128 + 64, 1, &place);
            assert_int_equal(result, is_hit ? TAG_HIT : TAG_MISS);
            /* A hint never changes an answer, whatever its line. */
            if (i % 3) assert_int_equal(tag_array_find_again(&tags, line * 128, &hint), place);
            if (is_hit) {
                tag_array_touch(&tags, place);
                continue;
            }
            TagEviction gone;
            place = tag_array_reserve(&tags, line * 128 + 64, 1, &gone);
            assert_true(place >= 0);
            assert_int_equal(gone.has_line, evicted != UINT64_MAX);
            if (gone.has_line) assert_true(gone.address == evicted * 128);
            tag_array_fill(&tags, place, 1);
        }
        arena_free(arena);
    }
}

static void line_life(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build((TagArrayConfig){.sets = 1, .ways = 2, .line_bytes = 128}, arena);
    TagEviction gone;
    int32_t place;
    int32_t a = tag_array_reserve(&tags, 0x1000, 1, &gone);
    assert_false(gone.has_line);
    assert_int_equal(tag_array_probe(&tags, 0x1040, 1, &place), TAG_PENDING);
    assert_int_equal(place, a);
    assert_true(tag_array_can_reserve(&tags, 0x2000));
    tag_array_reserve(&tags, 0x2000, 1, &gone);
    /* both ways are pending: the reservation fails */
    assert_false(tag_array_can_reserve(&tags, 0x3000));
    assert_int_equal(tag_array_reserve(&tags, 0x3000, 1, &gone), TAG_NONE);
    tag_array_fill(&tags, a, 1);
    assert_int_equal(tag_array_probe(&tags, 0x1040, 1, &place), TAG_HIT);
    tags.lines[a].filler_thread = 1234;
    tag_array_write(&tags, a, 1);
    assert_int_equal(tag_array_next_dirty(&tags, 0), a);
    assert_int_equal(tag_array_next_dirty(&tags, a + 1), TAG_NONE);
    /* the older line is pending and stays; the dirty one is evicted with all that was recorded
     * about it */
    assert_int_equal(tag_array_reserve(&tags, 0x3000, 1, &gone), a);
    assert_true(gone.has_line && gone.address == 0x1000);
    assert_int_equal(gone.dirty, 1);
    assert_int_equal(gone.valid, 1);
    assert_int_equal(gone.filler_thread, 1234);
    assert_int_equal(tags.lines[a].filler_thread, 0);
    arena_free(arena);
}

static void sectors(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(
        (TagArrayConfig){
            .sets = 4, .ways = 2, .line_bytes = 128, .sector_bytes = 32, .tracks_bytes = true},
        arena);
    assert_int_equal(tag_array_sectors(&tags, 0x1000, 128), 0xF);
    assert_int_equal(tag_array_sectors(&tags, 0x1020, 4), 0x2);
    assert_int_equal(tag_array_sectors(&tags, 0x103C, 8), 0x6);
    assert_int_equal(tag_array_sectors(&tags, 0x1060, 32), 0x8);

    TagEviction gone;
    int32_t found, place = tag_array_reserve(&tags, 0x1000, 0x1, &gone);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x1, &found), TAG_PENDING);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x3, &found), TAG_SECTOR_MISS);
    tag_array_expect(&tags, place, 0x2);
    tag_array_fill(&tags, place, 0x1);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x1, &found), TAG_HIT);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x3, &found), TAG_PENDING);

    /* a write to a pending sector keeps it dirty through the fill; it becomes valid only then */
    tag_array_write(&tags, place, 0x2);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x2, &found), TAG_PENDING);
    tag_array_fill(&tags, place, 0x2);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x3, &found), TAG_HIT);
    assert_int_equal(tags.lines[place].dirty, 0x2);

    /* a partly written sector misses until its other bytes are written or fetched */
    tag_array_write_bytes(&tags, place, 2, 0x0000FFFF);
    assert_int_equal(tags.lines[place].dirty, 0x6);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x4, &found), TAG_SECTOR_MISS);
    tag_array_write_bytes(&tags, place, 2, 0xFFFF0000);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x4, &found), TAG_HIT);
    tag_array_write_bytes(&tags, place, 3, 0xF);
    tag_array_expect(&tags, place, 0x8);
    tag_array_fill(&tags, place, 0x8);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x8, &found), TAG_HIT);
    assert_int_equal(tags.lines[place].dirty, 0xE);

    tag_array_clean(&tags, place, 0xE);
    assert_int_equal(tag_array_next_dirty(&tags, 0), TAG_NONE);
    assert_int_equal(tags.lines[place].valid, 0xF);

    /* writes to the previous line of this place do not count for the next line */
    tag_array_invalidate(&tags, place);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x1, &found), TAG_MISS);
    assert_int_equal(tag_array_reserve(&tags, 0x1000, 0, &gone), place);
    tag_array_write_bytes(&tags, place, 2, 0xFFFF0000);
    assert_int_equal(tag_array_probe(&tags, 0x1000, 0x4, &found), TAG_SECTOR_MISS);
    arena_free(arena);
}

static void invalidate_all(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArray tags = build(
        (TagArrayConfig){
            .sets = 2, .ways = 2, .line_bytes = 64, .sector_bytes = 32, .tracks_bytes = true},
        arena);
    TagEviction gone;
    int32_t found, settled = tag_array_reserve(&tags, 0x000, 0x3, &gone);
    tag_array_fill(&tags, settled, 0x3);
    int32_t waiting = tag_array_reserve(&tags, 0x040, 0x1, &gone);
    tag_array_write_bytes(&tags, waiting, 1, 0x0000FFFF);
    tag_array_invalidate_all(&tags);
    assert_int_equal(tag_array_probe(&tags, 0x000, 0x1, &found), TAG_MISS);
    assert_int_equal(tag_array_probe(&tags, 0x040, 0x1, &found), TAG_PENDING);
    assert_int_equal(tags.lines[waiting].dirty, 0);
    tag_array_write_bytes(&tags, waiting, 1, 0xFFFF0000);
    assert_int_equal(tag_array_probe(&tags, 0x040, 0x2, &found), TAG_SECTOR_MISS);
    assert_true(tag_array_address(&tags, waiting) == 0x040);
    arena_free(arena);
}

/* Random reservations, fills, writes and invalidations. Compares an array of many ways, which keeps
 * lists and a hash table, with arrays of 64 ways, which scan all of them. */
static void lists_and_scans_agree(void **state) {
    (void)state;
    Arena *arena = arena_new();
    TagArrayConfig config = {
        .sets = 2, .ways = 65, .line_bytes = 128, .sector_bytes = 32, .dirty_share = 30};
    TagArray listed = build(config, arena);
    tag_array_set_ways(&listed, 40);
    config.ways = 40;
    TagArray scanned = build(config, arena);
    assert_non_null(listed.list);
    assert_null(scanned.list);
    uint64_t seed = 99;
    for (int i = 0; i < 50000; i++) {
        uint64_t address = next_random(&seed) % 128 * 128;
        uint8_t sector = (uint8_t)(1u << next_random(&seed) % 4);
        int32_t a, b;
        TagResult result = tag_array_probe(&listed, address, sector, &a);
        assert_int_equal(result, tag_array_probe(&scanned, address, sector, &b));
        assert_int_equal(listed.dirty_lines, scanned.dirty_lines);
        uint32_t what = (uint32_t)(next_random(&seed) % 16);
        if (result == TAG_MISS) {
            TagEviction gone_a, gone_b;
            uint8_t pending = what < 8 ? sector : 0;
            a = tag_array_reserve(&listed, address, pending, &gone_a);
            b = tag_array_reserve(&scanned, address, pending, &gone_b);
            assert_int_equal(a == TAG_NONE, b == TAG_NONE);
            assert_int_equal(gone_a.has_line, gone_b.has_line);
            assert_int_equal(gone_a.address, gone_b.address);
            assert_int_equal(gone_a.dirty, gone_b.dirty);
        } else if (what < 8) {
            tag_array_fill(&listed, a, listed.lines[a].pending);
            tag_array_fill(&scanned, b, scanned.lines[b].pending);
            tag_array_touch(&listed, a);
            tag_array_touch(&scanned, b);
        } else if (what < 12) {
            tag_array_write(&listed, a, sector);
            tag_array_write(&scanned, b, sector);
        } else if (what < 14) {
            tag_array_clean(&listed, a, 0xF);
            tag_array_clean(&scanned, b, 0xF);
        } else if (!listed.lines[a].pending) {
            tag_array_invalidate(&listed, a);
            tag_array_invalidate(&scanned, b);
        }
        if (i % 5000 == 0) {
            tag_array_invalidate_all(&listed);
            tag_array_invalidate_all(&scanned);
        }
    }
    arena_free(arena);
}

/* While few lines are dirty, the oldest clean line is evicted. Once the dirty share is reached, the
 * oldest line is. */
static void dirty_lines_stay_until_they_are_their_share(void **state) {
    (void)state;
    for (uint32_t ways = 4; ways <= 128; ways *= 32) {
        Arena *arena = arena_new();
        TagArray tags = build(
            (TagArrayConfig){.sets = 1, .ways = ways, .line_bytes = 128, .dirty_share = 50}, arena);
        TagEviction gone;
        for (uint32_t i = 0; i < ways; i++)
            tag_array_fill(&tags, tag_array_reserve(&tags, i * 128, 0, &gone), 1);
        for (uint32_t i = 0; i < ways / 2 - 1; i++)
            tag_array_write(&tags, tag_array_find(&tags, i * 128), 1);
        int32_t place = tag_array_reserve(&tags, ways * 128, 0, &gone);
        assert_int_equal(gone.address, (ways / 2 - 1) * 128);
        tag_array_write(&tags, place, 1); /* now half of all are dirty */
        tag_array_reserve(&tags, (ways + 1) * 128, 0, &gone);
        assert_int_equal(gone.address, 0);
        assert_int_equal(gone.dirty, 1);
        arena_free(arena);
    }
}

/* Otherwise a set of only dirty lines could never take a new line. */
static void dirty_lines_go_where_none_else_can(void **state) {
    (void)state;
    for (uint32_t ways = 4; ways <= 128; ways *= 32) {
        Arena *arena = arena_new();
        TagArray tags = build(
            (TagArrayConfig){.sets = 4, .ways = ways, .line_bytes = 128, .dirty_share = 50}, arena);
        TagEviction gone;
        int32_t place = TAG_NONE;
        for (uint32_t i = 0; i < ways; i++) {
            place = tag_array_reserve(&tags, i * 512, 0, &gone);
            tag_array_write(&tags, place, 1);
        }
        tag_array_expect(&tags, place, 1); /* one is pending and may become clean */
        assert_false(tag_array_can_reserve(&tags, ways * 512));
        assert_int_equal(tag_array_reserve(&tags, ways * 512, 0, &gone), TAG_NONE);
        tag_array_fill(&tags, place, 1);
        assert_true(tag_array_can_reserve(&tags, ways * 512));
        assert_int_not_equal(tag_array_reserve(&tags, ways * 512, 0, &gone), TAG_NONE);
        assert_int_equal(gone.address, 0);
        assert_int_equal(gone.dirty, 1);
        arena_free(arena);
    }
}

/* With fewer ways in use, a set holds and finds fewer lines; later it uses all ways again. */
static void ways_can_be_lent_away(void **state) {
    (void)state;
    for (uint32_t most = 8; most <= 256; most *= 32) {
        Arena *arena = arena_new();
        TagArray tags = build((TagArrayConfig){.sets = 4, .ways = most, .line_bytes = 128}, arena);
        for (uint32_t ways = 3; ways <= most; ways += most - 3) {
            TagEviction gone;
            uint32_t lost = 0;
            tag_array_invalidate_all(&tags);
            tag_array_set_ways(&tags, ways);
            for (uint32_t i = 0; i < 4 * ways + 4; i++) {
                tag_array_reserve(&tags, i * 128, 0, &gone);
                lost += gone.has_line;
            }
            assert_int_equal(lost, 4);
            for (uint32_t i = 0; i < 4 * ways + 4; i++)
                assert_int_equal(tag_array_find(&tags, i * 128) != TAG_NONE, i >= 4);
        }
        arena_free(arena);
    }
}

/* A freed place is used before any line is evicted, even if it was allocated earlier. */
static void free_places_first(void **state) {
    (void)state;
    for (int one = 0; one < 2; one++) {
        Arena *arena = arena_new();
        TagArray tags = build((TagArrayConfig){.sets = 1, .ways = 2, .line_bytes = 64}, arena);
        TagEviction gone;
        int32_t waiting = tag_array_reserve(&tags, 0x000, 1, &gone);
        int32_t freed = tag_array_reserve(&tags, 0x040, 1, &gone);
        tag_array_fill(&tags, freed, 1);
        if (one) tag_array_invalidate(&tags, freed);
        else tag_array_invalidate_all(&tags);
        tag_array_fill(&tags, waiting, 1);
        assert_int_equal(tag_array_reserve(&tags, 0x080, 1, &gone), freed);
        assert_false(gone.has_line);
        arena_free(arena);
    }
}

/* FIFO: a use does not protect a line; LRU: it does. */
static void replacement(void **state) {
    (void)state;
    static const struct {
        Replacement replacement;
        uint64_t goes;
    } rows[] = {{REPLACE_FIFO, 0x0000}, {REPLACE_LRU, 0x1000}};
    for (int r = 0; r < 2; r++) {
        Arena *arena = arena_new();
        TagArray tags = build(
            (TagArrayConfig){
                .sets = 1, .ways = 2, .line_bytes = 64, .replacement = rows[r].replacement},
            arena);
        TagEviction gone;
        for (uint64_t address = 0; address < 0x2000; address += 0x1000)
            tag_array_fill(&tags, tag_array_reserve(&tags, address, 1, &gone), 1);
        tag_array_touch(&tags, tag_array_find(&tags, 0));
        tag_array_reserve(&tags, 0x2000, 1, &gone);
        assert_true(gone.address == rows[r].goes);
        arena_free(arena);
    }
    assert_string_equal(replacement_names[REPLACE_LRU], "lru");
    assert_string_equal(write_policy_names[WRITE_EVICT], "write-evict");
    assert_string_equal(write_allocate_names[ALLOCATE_NONE], "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_naive_model),
        cmocka_unit_test(line_life),
        cmocka_unit_test(sectors),
        cmocka_unit_test(invalidate_all),
        cmocka_unit_test(lists_and_scans_agree),
        cmocka_unit_test(dirty_lines_stay_until_they_are_their_share),
        cmocka_unit_test(dirty_lines_go_where_none_else_can),
        cmocka_unit_test(ways_can_be_lent_away),
        cmocka_unit_test(free_places_first),
        cmocka_unit_test(replacement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
