/* Ranges of addresses: order, neighbours and gaps against a plain list, and growth. */
#include "base/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOW = 4096, GRAIN = 16 };

typedef struct Item {
    Range range;
    uint64_t tag; /* any data of the owner */
} Item;

static void what_is_added_is_found_by_every_address_in_it(void **state) {
    (void)state;
    Ranges *ranges = ranges_new(sizeof(Item), LOW, UINT64_MAX, GRAIN);
    assert_null(ranges_find(ranges, LOW));
    /* added alternately from both ends */
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t at = LOW + 100 * (i % 2 ? 1999 - i : i);
        assert_non_null(ranges_add(ranges, &(Item){{at, at + 50}, i}));
    }
    assert_int_equal(ranges_count(ranges), 1000);
    assert_null(ranges_add(ranges, &(Item){{LOW + 40, LOW + 140}, 0})); /* overlaps two */
    assert_null(ranges_add(ranges, &(Item){{LOW + 10, LOW + 11}, 0}));  /* inside one */
    assert_non_null(ranges_add(ranges, &(Item){{LOW + 50, LOW + 100}, 7}));
    assert_int_equal(((Item *)ranges_find(ranges, LOW + 249))->range.start, LOW + 200);
    assert_null(ranges_find(ranges, LOW + 250));
    assert_int_equal(((Item *)ranges_find(ranges, LOW + 99))->tag, 7);
    ranges_remove(ranges, ranges_find(ranges, LOW + 200));
    assert_null(ranges_find(ranges, LOW + 200));
    void *previous;
    Item *next = ranges_at_or_after(ranges, LOW + 200, &previous);
    assert_int_equal(next->range.start, LOW + 400);
    assert_int_equal(((Item *)previous)->range.start, LOW + 50);
    ranges_free(ranges);
    ranges_free(NULL);
}

/* The plain list that the ranges are compared with. */
enum { MOST = 3000 };
typedef struct Model {
    Range list[MOST]; /* in rising order */
    size_t count;
} Model;

static size_t model_place(const Model *model, uint64_t address) {
    size_t i = 0;
    while (i < model->count && model->list[i].end <= address)
        i++;
    return i;
}

static uint64_t model_gap(const Model *model, uint64_t high, uint64_t size, uint64_t align) {
    uint64_t end = LOW;
    for (size_t i = 0; i <= model->count; i++) {
        uint64_t start = (end + align - 1) & ~(align - 1);
        uint64_t limit = i < model->count ? model->list[i].start : high;
        if (start < limit && limit - start >= size) return start;
        if (i < model->count) end = model->list[i].end;
    }
    return 0;
}

static void check_against(const Model *model, Ranges *ranges, uint64_t high, uint64_t size,
                          uint64_t align) {
    uint64_t start, expected = model_gap(model, high, size, align);
    bool is_found = ranges_find_gap(ranges, size, align, &start);
    assert_int_equal(is_found ? start : 0, expected);
    assert_int_equal(ranges_count(ranges), model->count);
}

static void model_add(Model *model, Range range) {
    size_t at = model_place(model, range.start);
    memmove(&model->list[at + 1], &model->list[at], (model->count - at) * sizeof *model->list);
    model->list[at] = range;
    model->count++;
}

static void model_remove(Model *model, size_t at) {
    model->count--;
    memmove(&model->list[at], &model->list[at + 1], (model->count - at) * sizeof *model->list);
}

/* First fit, as for device memory, with random releases: gaps, items and neighbours equal those of
 * the plain list. */
static void gaps_are_those_of_a_plain_list(void **state) {
    (void)state;
    static Model model;
    uint64_t seed = 11, high = LOW + 40000 * GRAIN;
    Ranges *ranges = ranges_new(sizeof(Item), LOW, high, GRAIN);
    for (int step = 0; step < 20000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t pick = seed >> 33, size = 1 + (seed >> 40) % 300,
                 align = (uint64_t)GRAIN << (seed >> 50) % 3;
        check_against(&model, ranges, high, size, align);
        bool is_growing = step / 4000 % 2 == 0;
        uint64_t start;
        if (model.count < MOST && pick % 8 < (is_growing ? 6 : 2)) {
            if (!ranges_find_gap(ranges, size, align, &start)) continue;
            assert_non_null(ranges_add(ranges, &(Item){{start, start + size}, start}));
            model_add(&model, (Range){start, start + size});
        } else if (model.count) {
            size_t at = pick % model.count;
            void *previous;
            Item *item = ranges_at_or_after(ranges, model.list[at].start, &previous);
            assert_int_equal(item->range.start, model.list[at].start);
            assert_int_equal(item->tag, model.list[at].start);
            assert_int_equal(previous ? ((Item *)previous)->range.end : 0,
                             at ? model.list[at - 1].end : 0);
            ranges_remove(ranges, item);
            model_remove(&model, at);
        }
    }
    while (ranges_count(ranges))
        ranges_remove(ranges, ranges_at_or_after(ranges, 0, NULL));
    model.count = 0;
    check_against(&model, ranges, high, 1, GRAIN);
    ranges_free(ranges);
}

/* Two hundred thousand ranges, added and removed in order, in reverse and from the middle. A list
 * that moves all later items would need minutes, and the test would exceed its time limit. */
static void many_ranges_are_no_burden(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    Ranges *ranges = ranges_new(sizeof(Item), 0, UINT64_MAX, GRAIN);
    for (int order = 0; order < 3; order++) {
        for (uint64_t i = 0; i < COUNT; i++) {
            uint64_t start;
            assert_true(ranges_find_gap(ranges, GRAIN, GRAIN, &start));
            assert_int_equal(start, i * GRAIN);
            ranges_add(ranges, &(Item){{start, start + 1}, i});
        }
        for (uint64_t i = 0; i < COUNT; i++) {
            uint64_t at = order == 0 ? i : order == 1 ? COUNT - 1 - i : (COUNT / 2 + i) % COUNT;
            Item *item = ranges_find(ranges, at * GRAIN);
            assert_int_equal(item->tag, at);
            ranges_remove(ranges, item);
        }
    }
    assert_int_equal(ranges_count(ranges), 0);
    ranges_free(ranges);
}

static void gaps_are_not_looked_for_below_the_lowest_address(void **state) {
    (void)state;
    enum { BELOW = 600 }; /* more than fits in a chunk */
    uint64_t start;
    Ranges *ranges = ranges_new(sizeof(Item), UINT64_C(1) << 20, UINT64_MAX, GRAIN);
    for (uint64_t i = 0; i < BELOW; i++)
        assert_non_null(ranges_add(ranges, &(Item){{LOW + 64 * i, LOW + 64 * i + 4}, i}));
    assert_true(ranges_find_gap(ranges, 32, GRAIN, &start));
    assert_int_equal(start, 1 << 20);
    assert_non_null(ranges_add(ranges, &(Item){{(1 << 20) + 64, (1 << 20) + 128}, 0}));
    assert_true(ranges_find_gap(ranges, 64, GRAIN, &start));
    assert_int_equal(start, 1 << 20);
    assert_true(ranges_find_gap(ranges, 65, GRAIN, &start));
    assert_int_equal(start, (1 << 20) + 128);
    assert_int_equal(((Item *)ranges_find(ranges, LOW + 64 * 500))->tag, 500);
    ranges_free(ranges);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_found_by_every_address_in_it),
        cmocka_unit_test(gaps_are_those_of_a_plain_list),
        cmocka_unit_test(many_ranges_are_no_burden),
        cmocka_unit_test(gaps_are_not_looked_for_below_the_lowest_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
