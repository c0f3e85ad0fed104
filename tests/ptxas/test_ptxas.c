/* Running ptxas and caching its output, with a script in place of ptxas. */
#include "ptxas/ptxas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "ptxas/kept.h"

/* Adds a line to the file `calls` and writes its options and the text as the "cubin". Refuses a
 * text with the word "wrong", and finds no calling convention for a text with "several". */
static const char script[] =
    "#!/bin/sh\n"
    "if [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit; fi\n"
    "echo $1 >>\"$(dirname \"$0\")/calls\"\n"
    "if grep -q wrong \"$2\"; then echo 'not PTX'; exit 255; fi\n"
    "if grep -q several \"$2\"; then echo 'multiple return values found, disabling ABI'; fi\n"
    "{ printf '%s ' $1; cat \"$2\"; } >\"$4\"\n";

static char folder[] = "/tmp/test-ptxas-XXXXXX";

static char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    text_write_file(path_of("ptxas"), script, sizeof script - 1);
    chmod(path_of("ptxas"), 0755);
    char path[512];
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* How often the script was called for a cubin. */
static int calls(void) {
    size_t length, count = 0;
    char *text = text_read_file(path_of("calls"), 1 << 16, &length);
    for (size_t i = 0; text && i < length; i++)
        count += text[i] == '\n';
    free(text);
    return (int)count;
}

/* Assembles a text and checks the cubin (NULL: there must be none). Returns the number of
 * warnings. */
static int assemble(const char *text, uint32_t architecture, const char *expected) {
    const PtxasInput input = {"kernel.ptx", text, strlen(text), architecture};
    Arena *arena = arena_new();
    Diag *diag = diag_new();
    size_t size = 0;
    const char *cubin = ptxas_assemble(&input, arena, &size, diag);
    assert_int_equal(cubin != NULL, expected != NULL);
    if (expected) {
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(cubin, expected, size);
    }
    const int warnings = diag_warning_count(diag);
    arena_free(arena);
    diag_free(diag);
    return warnings;
}

/* ---- Tests ---- */

static void keeps_what_was_made(void **state) {
    (void)state;
    umask(002); /* as on systems where each user has a group */
    assert_int_equal(assemble("one", 80, "-arch=sm_80 one"), 0);
    assert_int_equal(calls(), 1);
    assert_int_equal(assemble("one", 80, "-arch=sm_80 one"), 0);
    assert_int_equal(calls(), 1);
    assemble("two", 80, "-arch=sm_80 two");
    assemble("one", 90, "-arch=sm_90 one");
    assert_int_equal(calls(), 3);
}

static void takes_no_other_assembler_for_it(void **state) {
    (void)state;
    const int before = calls();
    assemble("new", 80, "-arch=sm_80 new");
    FILE *file = fopen(path_of("ptxas"), "a");
    fputs("# another version\n", file);
    fclose(file);
    assemble("new", 80, "-arch=sm_80 new");
    assert_int_equal(calls(), before + 2);
}

/* Writes a byte into every cached file, at `offset`. */
static void damage(long offset) {
    char command[512];
    snprintf(command, sizeof command,
             "for f in %s/tyto/cubins/*; do printf X | dd of=$f bs=1 seek=%ld conv=notrunc "
             "status=none; done",
             folder, offset);
    assert_int_equal(system(command), 0);
}

static void takes_no_damaged_file(void **state) {
    (void)state;
    const int before = calls();
    assemble("whole", 80, "-arch=sm_80 whole");
    const long offsets[] = {0, 8, 40, 58}; /* magic, key, size, cubin */
    for (int i = 0; i < 4; i++) {
        damage(offsets[i]);
        assemble("whole", 80, "-arch=sm_80 whole");
        assert_int_equal(calls(), before + 2 + i);
    }
}

static void says_why_a_text_is_refused(void **state) {
    (void)state;
    const int before = calls();
    assert_int_equal(assemble("wrong", 80, NULL), 1);
    assert_int_equal(assemble("wrong", 80, NULL), 1);
    assert_int_equal(calls(), before + 2);
}

static void takes_no_code_that_loses_results(void **state) {
    (void)state;
    const int before = calls();
    assert_int_equal(assemble("several", 80, NULL), 1);
    assert_int_equal(assemble("several", 80, NULL), 1);
    assert_int_equal(calls(), before + 2);
}

static void works_without_a_cache(void **state) {
    (void)state;
    const int before = calls();
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    assemble("no cache", 80, "-arch=sm_80 no cache");
    assemble("no cache", 80, "-arch=sm_80 no cache");
    assert_int_equal(calls(), before + 2);
    setenv("TMPDIR", "/dev/null", 1);
    assert_int_equal(assemble("no folder", 80, NULL), 1);
    unsetenv("TMPDIR");
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void is_silent_without_ptxas(void **state) {
    (void)state;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(assemble("any", 80, NULL), 0);
    setenv("PATH", path, 1);
    free(path);
}

static void tells_its_version(void **state) {
    (void)state;
    assert_string_equal(ptxas_version(), "13.0.88");
}

static void removes_what_was_used_longest_ago(void **state) {
    (void)state;
    Text kept = {0};
    text_printf(&kept, "%s/trim", folder);
    mkdir(text_string(&kept), 0700);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "trim/%d", i);
        text_write_file(path_of(name), "0123456789", 10);
        const struct timespec times[2] = {{.tv_sec = 1000 + (i ^ 1)}, {.tv_sec = 1000 + (i ^ 1)}};
        utimensat(0, path_of(name), times, 0);
    }
    kept_trim(text_string(&kept), 25); /* the oldest are 1 and 0 */
    assert_int_not_equal(access(path_of("trim/0"), F_OK), 0);
    assert_int_not_equal(access(path_of("trim/1"), F_OK), 0);
    assert_int_equal(access(path_of("trim/2"), F_OK), 0);
    assert_int_equal(access(path_of("trim/3"), F_OK), 0);
    text_free(&kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_was_made),
        cmocka_unit_test(takes_no_other_assembler_for_it),
        cmocka_unit_test(takes_no_damaged_file),
        cmocka_unit_test(says_why_a_text_is_refused),
        cmocka_unit_test(takes_no_code_that_loses_results),
        cmocka_unit_test(works_without_a_cache),
        cmocka_unit_test(is_silent_without_ptxas),
        cmocka_unit_test(tells_its_version),
        cmocka_unit_test(removes_what_was_used_longest_ago),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
