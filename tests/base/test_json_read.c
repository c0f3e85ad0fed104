/* The JSON reader accepts what the writer writes, and nothing that is not JSON. */
#include "base/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void what_is_written_reads_back(void **state) {
    (void)state;
    Text out = {0};
    Json json;
    char key[16], text[32];
    json_begin(&json, &out);
    json_object(&json);
    json_key(&json, "name");
    json_string(&json, "a\"b\\c\n\x01 \xc3\xa9");
    json_key(&json, "skipped");
    json_array(&json);
    json_object(&json);
    json_key(&json, "deep");
    json_double(&json, -1.5e300);
    json_end_object(&json);
    json_null(&json);
    json_end_array(&json);
    json_key(&json, "most");
    json_uint(&json, UINT64_MAX);
    json_key(&json, "yes");
    json_bool(&json, true);
    json_end_object(&json);
    JsonReader reader = json_reader(out.bytes);
    assert_true(json_enter_object(&reader));
    assert_true(json_next_key(&reader, key, sizeof key));
    assert_string_equal(key, "name");
    json_read_string(&reader, text, sizeof text);
    assert_string_equal(text, "a\"b\\c\n\x01 \xc3\xa9");
    assert_true(json_next_key(&reader, key, sizeof key));
    json_skip(&reader);
    assert_true(json_next_key(&reader, key, sizeof key));
    assert_string_equal(key, "most");
    assert_true(json_read_uint(&reader) == UINT64_MAX);
    assert_true(json_next_key(&reader, key, sizeof key));
    assert_true(json_read_bool(&reader));
    assert_false(json_next_key(&reader, key, sizeof key));
    assert_true(json_is_over(&reader));
    text_free(&out);
}

static void arrays_are_walked(void **state) {
    (void)state;
    JsonReader reader = json_reader(" [ 1 , 22,333 ] ");
    uint64_t sum = 0;
    int count = 0;
    assert_true(json_enter_array(&reader));
    for (; json_next_value(&reader); count++)
        sum += json_read_uint(&reader);
    assert_int_equal(count, 3);
    assert_int_equal(sum, 356);
    assert_true(json_is_over(&reader));
    reader = json_reader("[]");
    assert_true(json_enter_array(&reader));
    assert_false(json_next_value(&reader));
    assert_true(json_is_over(&reader));
}

static void null_is_no_object_and_an_empty_text(void **state) {
    (void)state;
    char text[4] = "x";
    JsonReader reader = json_reader("[null, null]");
    assert_true(json_enter_array(&reader));
    assert_true(json_next_value(&reader));
    assert_false(json_enter_object(&reader));
    assert_true(json_next_value(&reader));
    json_read_string(&reader, text, sizeof text);
    assert_string_equal(text, "");
    assert_false(json_next_value(&reader));
    assert_true(json_is_over(&reader));
}

static void a_long_text_is_cut_to_the_room(void **state) {
    (void)state;
    char text[4];
    JsonReader reader = json_reader("\"abcdefgh\"");
    json_read_string(&reader, text, sizeof text);
    assert_string_equal(text, "abc");
    assert_true(json_is_over(&reader));
}

static void what_is_no_json_is_bad(void **state) {
    (void)state;
    static const char *const texts[] = {"",         "{",           "[1",           "{\"a\" 1}",
                                        "{\"a\":}", "[1,]",        "\"open",       "{\"a\":1,}",
                                        "tru",      "\"\\u12g4\"", "\"\\q\"",      "[1] 2",
                                        "{1:2}",    "nul",         "[\"\\u00e9\"]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        JsonReader reader = json_reader(texts[i]);
        json_skip(&reader);
        if (json_is_over(&reader)) fail_msg("%s was read", texts[i]);
    }
    JsonReader reader = json_reader("1.5");
    json_read_uint(&reader);
    assert_false(json_is_over(&reader));
}

static void nesting_has_a_limit(void **state) {
    (void)state;
    char text[256];
    for (int depth = 60; depth <= 120; depth += 60) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        JsonReader reader = json_reader(text);
        json_skip(&reader);
        assert_int_equal(json_is_over(&reader), depth == 60);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(arrays_are_walked),
        cmocka_unit_test(null_is_no_object_and_an_empty_text),
        cmocka_unit_test(a_long_text_is_cut_to_the_room),
        cmocka_unit_test(what_is_no_json_is_bad),
        cmocka_unit_test(nesting_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
