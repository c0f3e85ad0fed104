/* The JSON writer: layout, escapes, and numbers that read back to the same bits. */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void nested_values_are_laid_out(void **state) {
    (void)state;
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    json_object(&json);
    json_key(&json, "name");
    json_string(&json, "gto");
    json_key(&json, "empty");
    json_array(&json);
    json_end_array(&json);
    json_key(&json, "kernels");
    json_array(&json);
    json_object(&json);
    json_key(&json, "cycles");
    json_uint(&json, UINT64_MAX);
    json_key(&json, "ipc");
    json_double(&json, -0.5);
    json_end_object(&json);
    json_bool(&json, true);
    json_bool(&json, false);
    json_null(&json);
    json_end_array(&json);
    json_key(&json, "none");
    json_object(&json);
    json_end_object(&json);
    json_end_object(&json);
    assert_string_equal(out.bytes, "{\n"
                                   "  \"name\": \"gto\",\n"
                                   "  \"empty\": [],\n"
                                   "  \"kernels\": [\n"
                                   "    {\n"
                                   "      \"cycles\": 18446744073709551615,\n"
                                   "      \"ipc\": -0.5\n"
                                   "    },\n"
                                   "    true,\n"
                                   "    false,\n"
                                   "    null\n"
                                   "  ],\n"
                                   "  \"none\": {}\n"
                                   "}");
    text_free(&out);
}

static void every_level_up_to_the_limit_can_be_open(void **state) {
    (void)state;
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        json_array(&json);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        json_end_array(&json);
    assert_int_equal(json.depth, 0);
    assert_int_equal(out.bytes[out.length - 1], ']');
    text_free(&out);
}

static void check_string(const char *value, const char *expected) {
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    json_string(&json, value);
    assert_string_equal(out.bytes, expected);
    text_free(&out);
}

static void strings_are_escaped_and_made_valid(void **state) {
    (void)state;
    check_string("", "\"\"");
    check_string("a\"b\\c/\n\t\r\x01\x7f", "\"a\\\"b\\\\c/\\n\\t\\u000d\\u0001\\u007f\"");
    check_string("\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e",
                 "\"\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e\"");
    check_string("\xff", "\"\\ufffd\"");
    check_string("\xe2\x82", "\"\\ufffd\\ufffd\"");                       /* cut off */
    check_string("\xc0\xaf", "\"\\ufffd\\ufffd\"");                       /* overlong */
    check_string("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong */
    check_string("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* surrogate */
    check_string("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* past U+10FFFF */
    check_string("\x80"
                 "a",
                 "\"\\ufffda\"");
}

static void check_double(double value, const char *expected) {
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    json_double(&json, value);
    assert_string_equal(out.bytes, expected);
    text_free(&out);
}

static void doubles_use_the_fewest_digits(void **state) {
    (void)state;
    check_double(0, "0");
    check_double(-0.0, "-0");
    check_double(0.1, "0.1");
    check_double(1.0 / 3, "0.3333333333333333");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(100000, "100000");
    check_double(1e22, "1e+22");
    check_double(-2.5e-7, "-2.5e-07");
    check_double(5e-324, "5e-324");
    check_double(DBL_MAX, "1.7976931348623157e+308");
    check_double(NAN, "null");
    check_double(INFINITY, "null");
    check_double(-INFINITY, "null");
}

static void random_doubles_read_back_the_same(void **state) {
    (void)state;
    uint64_t random = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
    Text out = {0};
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double value;
        memcpy(&value, &random, sizeof(value));
        if (!isfinite(value)) continue;
        Json json;
        text_clear(&out);
        json_begin(&json, &out);
        json_double(&json, value);
        char *end;
        double back = strtod(out.bytes, &end);
        assert_memory_equal(&back, &value, sizeof(value));
        assert_int_equal(*end, 0);
    }
    text_free(&out);
}

/* The linker redirects this program's snprintf and strtod to these two (tests/base/meson.build).
 * They can imitate a locale that writes the decimal point as a comma, because few hosts have one
 * installed. */
int __wrap_snprintf(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double __real_strtod(const char *text, char **end);
double __wrap_strtod(const char *text, char **end);

static bool has_decimal_comma;

static void replace(char *text, char from, char to) {
    char *found = strchr(text, from);
    if (found && has_decimal_comma) *found = to;
}

int __wrap_snprintf(char *out, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(out, size, format, args);
    va_end(args);
    replace(out, '.', ',');
    return length;
}

double __wrap_strtod(const char *text, char **end) {
    char copy[64];
    if (!has_decimal_comma) return __real_strtod(text, end);
    assert_true(strlen(text) < sizeof(copy));
    strcpy(copy, text);
    replace(copy, ',', '.');
    return __real_strtod(copy, NULL);
}

static void a_locale_with_a_decimal_comma_changes_nothing(void **state) {
    (void)state;
    has_decimal_comma = true;
    check_double(0.1, "0.1");
    check_double(-1.5e-300, "-1.5e-300");
    check_double(12, "12");
    has_decimal_comma = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_values_are_laid_out),
        cmocka_unit_test(every_level_up_to_the_limit_can_be_open),
        cmocka_unit_test(strings_are_escaped_and_made_valid),
        cmocka_unit_test(doubles_use_the_fewest_digits),
        cmocka_unit_test(random_doubles_read_back_the_same),
        cmocka_unit_test(a_locale_with_a_decimal_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
