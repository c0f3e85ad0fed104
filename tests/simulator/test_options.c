/* The option table and its parser. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "simulator/options.h"

/* Options parsed from a string, and the messages about it. */
typedef struct Parsed {
    Options *options;
    Diag *diag;
    bool is_right;
} Parsed;

static Parsed parse(const char *string) {
    Parsed parsed = {options_new(), diag_new(), false};
    parsed.is_right = options_parse_string(parsed.options, "TYTO_OPTIONS", string, parsed.diag);
    return parsed;
}

static void drop(Parsed *parsed) {
    options_free(parsed->options);
    diag_free(parsed->diag);
}

/* `string` must be refused with a message that contains `part`. */
static void refuse(const char *string, const char *part) {
    Parsed parsed = parse(string);
    assert_false(parsed.is_right);
    if (!strstr(diag_text(parsed.diag), part))
        fail_msg("'%s' gives: %s, without: %s", string, diag_text(parsed.diag), part);
    drop(&parsed);
}

static void test_defaults(void **state) {
    (void)state;
    Parsed parsed = parse("");
    assert_true(parsed.is_right);
    assert_int_equal(parsed.options->memory_bytes, 0); /* that of the machine */
    assert_int_equal(parsed.options->stack_bytes, 64 << 10);
    assert_int_equal(parsed.options->heap_bytes, 8 << 20);
    assert_int_equal(parsed.options->registers, 0);
    assert_int_equal(parsed.options->instruction_limit, 0);
    assert_false(parsed.options->is_quiet);
    assert_null(parsed.options->json_path);
    assert_string_equal(parsed.options->machine, TYTO_DEFAULT_MACHINE);
    drop(&parsed);
}

static void test_values(void **state) {
    (void)state;
    Parsed parsed =
        parse("--functional --memory 512MiB --stack=2K --limit-insts 1000 --json=a.json "
              "--dump-registers 12:3:1 --memory 1GiB --set a=1 --machine owl --set b=2 "
              "--registers 35");
    assert_true(parsed.is_right);
    assert_true(parsed.options->is_functional);
    assert_int_equal(parsed.options->memory_bytes, 1 << 30); /* the later one wins */
    assert_int_equal(parsed.options->stack_bytes, 2048);
    assert_int_equal(parsed.options->registers, 35);
    assert_int_equal(parsed.options->instruction_limit, 1000);
    assert_string_equal(parsed.options->json_path, "a.json");
    assert_string_equal(parsed.options->machine, "owl");
    assert_int_equal(parsed.options->sets.count, 2);
    assert_string_equal(parsed.options->sets.items[0], "a=1");
    assert_string_equal(parsed.options->sets.items[1], "b=2");
    assert_int_equal(parsed.options->dump.line, 12);
    assert_int_equal(parsed.options->dump.cta, 3);
    assert_int_equal(parsed.options->dump.warp, 1);
    drop(&parsed);
    parsed = parse("--dump-registers 0x120");
    assert_true(parsed.is_right);
    assert_int_equal(parsed.options->dump.line, 0x120);
    drop(&parsed);
}

static void test_quoting(void **state) {
    (void)state;
    Parsed parsed = parse("\t--json 'a b'\"\\\"c\"\\ d'\\'  \n");
    assert_true(parsed.is_right);
    assert_string_equal(parsed.options->json_path, "a b\"c d\\");
    drop(&parsed);
    refuse("--json 'a", "not closed");
}

static void test_mistakes(void **state) {
    (void)state;
    refuse("--memroy 1GiB", "did you mean '--memory'?");
    refuse("--zzzzzz", "unknown option --zzzzzz");
    refuse("memory", "unknown option memory");
    refuse("--memory", "needs a value: SIZE");
    refuse("--memory lots", "not a size");
    refuse("--memory 4", "between 1MiB and 1024GiB");
    refuse("--memory 99999999999999999999", "not a size");
    refuse("--memory 99999999999G", "not a size");
    refuse("--memory -1", "not a size");
    refuse("--limit-insts 1K", "not a whole number");
    refuse("--json ''", "cannot be empty");
    refuse("--quiet=1", "takes no value");
    refuse("--compute-capability 6.1",
           "6.1: must be 7.0, 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0 or 12.1");
    refuse("--compute-capability 80", "must be 7.0");
    refuse("--compute-capability ''", "must be 7.0");
    refuse("--dump-registers 0", "LINE");
    refuse("--dump-registers 1:2:3:4", "LINE");
    refuse("--dump-registers 1:", "LINE");
}

/* Every mistake is reported, not only the first. The message names the source of the words. */
static void test_all_mistakes_are_told(void **state) {
    (void)state;
    Parsed parsed = parse("--nonsense --memory x --quiet");
    assert_int_equal(diag_error_count(parsed.diag), 2);
    assert_non_null(strstr(diag_text(parsed.diag), "TYTO_OPTIONS: error:"));
    assert_true(parsed.options->is_quiet);
    drop(&parsed);
}

/* Walks the table: every row is documented, and every default is accepted as a value. */
static void test_every_row(void **state) {
    (void)state;
    assert_true(tyto_option_count() > 0);
    for (int i = 0; i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        assert_memory_equal(option->name, "--", 2);
        assert_true(strlen(option->help) > 10 && strlen(option->group) > 0);
        char message[256];
        const char *words[] = {option->name, option->initial};
        if (option->initial)
            assert_int_equal(tyto_check_options(2, words, message, sizeof message), TYTO_OK);
        TytoStatus status = tyto_check_options(1, words, message, sizeof message);
        assert_int_equal(status, option->argument ? TYTO_BAD_OPTION : TYTO_OK);
    }
}

/* A value that the option accepts. */
static const char *any_value(const TytoOption *option) {
    return option->traits & TYTO_OPTION_FILE ? "-" : option->initial ? "7" : "name";
}

static void test_every_option_about_timing_is_refused_without_it(void **state) {
    (void)state;
    int count = 0;
    for (int i = 0; i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        if (!(option->traits & TYTO_OPTION_TIMED)) continue;
        char message[256];
        const char *words[] = {"--functional", option->name,
                               option->argument ? any_value(option) : "--quiet"};
        assert_int_equal(tyto_check_options(3, words, message, sizeof message), TYTO_BAD_OPTION);
        assert_non_null(strstr(message, option->name));
        assert_non_null(strstr(message, "needs timing"));
        words[0] = "--verbose";
        assert_int_equal(tyto_check_options(3, words, message, sizeof message), TYTO_OK);
        count++;
    }
    assert_true(count > 5);
    const char *at_default[] = {"--functional", "--skip", "0"};
    assert_int_equal(tyto_check_options(3, at_default, NULL, 0), TYTO_OK);
}

static void test_every_file_is_looked_at_before_the_run(void **state) {
    (void)state;
    int count = 0;
    for (int i = 0; i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        char message[256];
        const char *words[] = {option->name, "/no/such/folder/x"};
        if (!(option->traits & TYTO_OPTION_FILE)) continue;
        assert_true(option->traits & TYTO_OPTION_ONE_RUN);
        assert_int_equal(tyto_check_options(2, words, message, sizeof message), TYTO_BAD_OPTION);
        assert_non_null(strstr(message, "/no/such/folder/x: error: cannot be written"));
        count++;
    }
    assert_true(count > 5);
}

static void test_of_no_options_none_is_written(void **state) {
    (void)state;
    Options *options = options_new();
    Text text = {0};
    options_write_given(options, NULL, &text);
    assert_string_equal(text_string(&text), "");
    text_free(&text);
    options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_of_no_options_none_is_written),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_all_mistakes_are_told),
        cmocka_unit_test(test_every_option_about_timing_is_refused_without_it),
        cmocka_unit_test(test_every_file_is_looked_at_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
