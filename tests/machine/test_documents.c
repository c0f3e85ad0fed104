/* The generated pages of docs/ must match the tables. TYTO_BLESS=1 rewrites them. usage:
 * test_documents ROOT */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "simulator/options.h"
#include "machine/machine_file.h"
#include "ptx/document.h"
#include "sched/listing.h"
#include "stats/advice.h"
#include "stats/counters.h"
#include "stats/profile.h"

static const char *root;

static void check_page(const char *name, void (*document)(Text *out)) {
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/%s", root, name);
    Text page = {0};
    document(&page);
    if (getenv("TYTO_BLESS")) assert_true(text_write_file(path, page.bytes, page.length));
    size_t length;
    char *stored = text_read_file(path, 1 << 20, &length);
    if (!stored || strcmp(stored, text_string(&page)))
        fail_msg("%s is out of date: TYTO_BLESS=1 meson test -C build documents", path);
    free(stored);
    text_free(&page);
}

static void test_machine_parameters(void **state) {
    (void)state;
    check_page("machine-parameters.md", machine_document);
}

static void test_options(void **state) {
    (void)state;
    check_page("options.md", options_document);
}

static void test_metrics(void **state) {
    (void)state;
    check_page("metrics.md", counters_document);
}

static void test_profile(void **state) {
    (void)state;
    check_page("profile.md", profile_document);
}

static void test_advice(void **state) {
    (void)state;
    check_page("advice.md", advice_document);
}

static void test_schedulers(void **state) {
    (void)state;
    check_page("schedulers.md", sched_document);
}

static void test_instructions(void **state) {
    (void)state;
    check_page("instructions.md", ptx_document);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    root = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_parameters),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
