/* base/columns: the number of terminal columns that a text takes. */
#include "base/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_widths(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int columns;
    } rows[] = {
        {"", 0},
        {"gto", 3},
        {"h\u00e9lice", 6},
        {"he\u0301lice", 6}, /* a combining accent */
        {"\u6f22\u5b57", 4}, /* two columns each */
        {"\uff21", 2},       /* a full-width A */
        {"\u00fc\u0416\u03a9", 3},
        {"\u2500\u2192", 2}, /* a line, an arrow */
        {"\U0001F600", 2},
        {"a\u200b", 1},   /* a zero-width space */
        {"\xe9t\xe9", 3}, /* Latin-1, which is not valid UTF-8: one column for each byte */
        {"\xe6\xbc", 2},  /* cut off */
        {"\xff\x80", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(columns_of(rows[i].text), rows[i].columns);
}

static void test_fields_of_printf(void **state) {
    (void)state;
    char field[64];
    static const char *const texts[] = {"gto", "h\u00e9lice", "\u6f22\u5b57",
                                        "longer than the field"};
    for (int i = 0; i < 4; i++) {
        snprintf(field, sizeof field, "%*s", columns_pad(texts[i], 8), texts[i]);
        assert_int_equal(columns_of(field), i < 3 ? 8 : 21);
        assert_non_null(strstr(field, texts[i]));
    }
}

static void test_characters(void **state) {
    (void)state;
    int columns;
    assert_int_equal(columns_of_first("\u6f22x", &columns), 3);
    assert_int_equal(columns, 2);
    assert_int_equal(columns_of_first("x\u6f22", &columns), 1);
    assert_int_equal(columns, 1);
    assert_int_equal(columns_of_first("\xe6x", &columns), 1);
    assert_int_equal(columns, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_fields_of_printf),
        cmocka_unit_test(test_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
