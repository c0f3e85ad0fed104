/* Diagnostics: format of a line, limit on their number, hostile text, suggestions. */
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_line_names_place_kind_and_message(void **state) {
    (void)state;
    Diag *diag = diag_new();
    diag_error(diag, "k.ptx", 3, 14, "unknown opcode '%s'", "addd");
    diag_error(diag, "k.ptx", 4, 0, "no column");
    diag_error(diag, "k.ptx", 0, 0, "no line");
    diag_warning(diag, NULL, 0, 0, "no file");
    assert_string_equal(diag_text(diag), "k.ptx:3:14: error: unknown opcode 'addd'\n"
                                         "k.ptx:4: error: no column\n"
                                         "k.ptx: error: no line\n"
                                         "warning: no file\n");
    assert_int_equal(diag_error_count(diag), 3);
    assert_int_equal(diag_warning_count(diag), 1);
    diag_free(diag);
}

static int count_lines(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void errors_past_the_limit_are_only_counted(void **state) {
    (void)state;
    Diag *diag = diag_new();
    for (int i = 0; i < DIAG_MAX_ERRORS; i++)
        diag_error(diag, "f", i + 1, 1, "bad");
    assert_int_equal(count_lines(diag_text(diag)), DIAG_MAX_ERRORS);
    diag_error(diag, "f", 99, 1, "bad");
    assert_non_null(strstr(diag_text(diag), "\nand 1 more error\n"));
    for (int i = 0; i < 1000; i++)
        diag_error(diag, "f", 99, 1, "bad");
    assert_non_null(strstr(diag_text(diag), "\nand 1001 more errors\n"));
    for (int i = 0; i < 1000; i++)
        diag_warning(diag, "f", 99, 1, "odd");
    assert_int_equal(count_lines(diag_text(diag)), 2 * DIAG_MAX_ERRORS + 2);
    assert_int_equal(diag_error_count(diag), DIAG_MAX_ERRORS + 1001);
    diag_free(diag);
}

static void hostile_bytes_stay_on_one_line(void **state) {
    (void)state;
    Diag *diag = diag_new();
    diag_error(diag, "a\nb", 1, 1, "token '\x1b[2J\r\n\x7f'");
    assert_string_equal(diag_text(diag), "a?b:1:1: error: token '?[2J?"
                                         "?"
                                         "?'\n");
    diag_free(diag);
}

static void an_empty_report_is_empty(void **state) {
    (void)state;
    Diag *diag = diag_new();
    assert_string_equal(diag_text(diag), "");
    diag_free(diag);
    diag_free(NULL);
}

static void printing_writes_the_same_text(void **state) {
    (void)state;
    Diag *diag = diag_new();
    diag_error(diag, "f", 1, 1, "what: why");
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    diag_print(diag, stream);
    fclose(stream);
    assert_string_equal(bytes, diag_text(diag));
    free(bytes);
    diag_free(diag);
}

static void the_nearest_name_is_suggested_when_near_enough(void **state) {
    (void)state;
    static const char *const names[] = {"lrr",  "gto",       "two-level",
                                        "ccws", "cta-aware", "cta-aware-locality"};
    static const struct {
        const char *given, *nearest;
    } rows[] = {
        {"gtp", "gto"},
        {"got", "gto"},
        {"GTO", "gto"},
        {"twolevel", "two-level"},
        {"cta_aware", "cta-aware"},
        {"cta-aware", "cta-aware"},
        {"cta-aware-loc", "cta-aware"},
        {"xyz", NULL},
        {"", NULL},
        {"g", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *nearest = diag_nearest(rows[i].given, names, 6);
        if (rows[i].nearest) assert_string_equal(nearest, rows[i].nearest);
        else assert_null(nearest);
    }
    assert_null(diag_nearest("gto", names, 0));
}

static void a_name_of_any_length_can_be_asked_for(void **state) {
    (void)state;
    char longest[64], too_long[5000];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    const char *const names[] = {too_long, longest};
    assert_ptr_equal(diag_nearest(longest, names, 2), longest);
    assert_null(diag_nearest(too_long, names, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_names_place_kind_and_message),
        cmocka_unit_test(errors_past_the_limit_are_only_counted),
        cmocka_unit_test(hostile_bytes_stay_on_one_line),
        cmocka_unit_test(an_empty_report_is_empty),
        cmocka_unit_test(printing_writes_the_same_text),
        cmocka_unit_test(the_nearest_name_is_suggested_when_near_enough),
        cmocka_unit_test(a_name_of_any_length_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
