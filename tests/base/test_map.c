/* The string map: insertion order, odd keys, replacement, growth. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void iteration_is_in_the_order_of_insertion(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static int values[COUNT];
    Map *map = map_new();
    char key[16];
    for (int i = 0; i < COUNT; i++) {
        int length = snprintf(key, sizeof(key), "%%r%d", i * 7919 % COUNT);
        assert_null(map_put(map, key, (size_t)length, &values[i]));
    }
    assert_int_equal(map_count(map), COUNT);
    for (int i = 0; i < COUNT; i++) {
        int length = snprintf(key, sizeof(key), "%%r%d", i * 7919 % COUNT);
        assert_string_equal(map_key(map, (size_t)i), key);
        assert_ptr_equal(map_value(map, (size_t)i), &values[i]);
        assert_ptr_equal(map_get(map, key, (size_t)length), &values[i]);
    }
    map_free(map);
}

static void a_second_put_replaces_and_returns_the_first(void **state) {
    (void)state;
    int first, second;
    Map *map = map_new();
    assert_null(map_put(map, "a", 1, &first));
    assert_null(map_put(map, "b", 1, &first));
    assert_ptr_equal(map_put(map, "a", 1, &second), &first);
    assert_ptr_equal(map_get(map, "a", 1), &second);
    assert_ptr_equal(map_get(map, "b", 1), &first);
    assert_int_equal(map_count(map), 2);
    assert_string_equal(map_key(map, 0), "a");
    map_free(map);
}

static void the_length_decides_where_a_key_ends(void **state) {
    (void)state;
    int values[4];
    char name[] = "register";
    Map *map = map_new();
    map_put(map, name, 3, &values[0]);
    map_put(map, name, 8, &values[1]);
    map_put(map, "", 0, &values[2]);
    map_put(map, "a\0b", 3, &values[3]);
    name[0] = 'X';
    assert_ptr_equal(map_get(map, "reg", 3), &values[0]);
    assert_ptr_equal(map_get(map, "register", 8), &values[1]);
    assert_ptr_equal(map_get(map, "", 0), &values[2]);
    assert_ptr_equal(map_get(map, "a\0b", 3), &values[3]);
    assert_false(map_has(map, "a", 1));
    assert_false(map_has(map, "a\0c", 3));
    assert_string_equal(map_key(map, 0), "reg");
    map_free(map);
}

static void a_null_value_is_present(void **state) {
    (void)state;
    Map *map = map_new();
    assert_false(map_has(map, "k", 1));
    assert_null(map_put(map, "k", 1, NULL));
    assert_true(map_has(map, "k", 1));
    assert_null(map_get(map, "k", 1));
    assert_int_equal(map_count(map), 1);
    map_free(map);
}

static void an_empty_map_holds_nothing(void **state) {
    (void)state;
    Map *map = map_new();
    assert_int_equal(map_count(map), 0);
    assert_null(map_get(map, "", 0));
    map_free(map);
    map_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iteration_is_in_the_order_of_insertion),
        cmocka_unit_test(a_second_put_replaces_and_returns_the_first),
        cmocka_unit_test(the_length_decides_where_a_key_ends),
        cmocka_unit_test(a_null_value_is_present),
        cmocka_unit_test(an_empty_map_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
