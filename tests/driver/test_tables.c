/* The driver's tables: handles with generations. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "driver/handles.h"

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

/* A slot is reused, but its stale handles are not accepted. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_stale_handles),
        cmocka_unit_test(test_many_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
