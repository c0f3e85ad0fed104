/* The driver's tables: handles with generations, and address regions. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "driver/handles.h"
#include "driver/regions.h"

static void test_handles(void **state) {
    (void)state;
    Handles handles = {0};
    int first, second;
    uint64_t a = handles_add(&handles, HANDLE_STREAM, &first);
    uint64_t b = handles_add(&handles, HANDLE_EVENT, &second);
    assert_true(a > 2 && b > 2 && a != b);
    assert_ptr_equal(handles_get(&handles, HANDLE_STREAM, a), &first);
    assert_null(handles_get(&handles, HANDLE_EVENT, a)); /* another kind */
    assert_null(handles_get(&handles, HANDLE_STREAM, a + 1));
    assert_null(handles_get(&handles, HANDLE_STREAM, 0));
    assert_null(handles_get(&handles, HANDLE_STREAM, UINT64_MAX));
    assert_ptr_equal(handles_remove(&handles, HANDLE_STREAM, a), &first);
    assert_null(handles_remove(&handles, HANDLE_STREAM, a));
    free(handles.slots);
}

/* A slot is used again, but a stale handle of it is not taken for the new one. */
static void test_stale_handles(void **state) {
    (void)state;
    Handles handles = {0};
    int object;
    uint64_t stale[200];
    for (int i = 0; i < 200; i++) {
        stale[i] = handles_add(&handles, HANDLE_EVENT, &object);
        handles_remove(&handles, HANDLE_EVENT, stale[i]);
    }
    assert_int_equal(handles.count, 1);
    uint64_t live = handles_add(&handles, HANDLE_EVENT, &object);
    for (int i = 0; i < 200; i++)
        assert_null(handles_get(&handles, HANDLE_EVENT, stale[i]));
    assert_non_null(handles_get(&handles, HANDLE_EVENT, live));
    assert_int_equal(handles_at(&handles, 0), live);
    free(handles.slots);
}

static void test_many_handles(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    Handles handles = {0};
    static int objects[COUNT];
    uint64_t list[COUNT];
    for (int i = 0; i < COUNT; i++)
        list[i] = handles_add(&handles, HANDLE_ARRAY, &objects[i]);
    for (int i = 0; i < COUNT; i += 2)
        handles_remove(&handles, HANDLE_ARRAY, list[i]);
    for (int i = 0; i < COUNT; i += 2)
        list[i] = handles_add(&handles, HANDLE_ARRAY, &objects[i]);
    assert_int_equal(handles.count, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(handles_get(&handles, HANDLE_ARRAY, list[i]), &objects[i]);
    free(handles.slots);
}

static void test_regions(void **state) {
    (void)state;
    Regions regions = {0};
    assert_null(regions_find(&regions, 0));
    /* added from both ends towards the middle */
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t at = i % 2 ? 199 - i : i;
        assert_true(regions_add(&regions, (Region){.start = at * 100, .size = 50}));
    }
    assert_int_equal(regions.count, 100);
    assert_false(regions_add(&regions, (Region){.start = 40, .size = 100})); /* overlaps two */
    assert_false(regions_add(&regions, (Region){.start = 10, .size = 1}));   /* inside one */
    assert_true(regions_add(&regions, (Region){.start = 50, .size = 50}));   /* fits exactly */
    for (uint32_t i = 1; i < regions.count; i++)
        assert_true(regions.items[i - 1].start < regions.items[i].start);
    assert_int_equal(regions_find(&regions, 249)->start, 200);
    assert_null(regions_find(&regions, 250));
    regions_remove(&regions, regions_find(&regions, 200));
    assert_null(regions_find(&regions, 200));
    assert_int_equal(regions_find(&regions, 99)->start, 50);
    free(regions.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_stale_handles),
        cmocka_unit_test(test_many_handles),
        cmocka_unit_test(test_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
