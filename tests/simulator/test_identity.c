/* What decides a run, as text (tyto_identity). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/tyto.h"

/* The identity of a run with these options, up to a NULL. */
static char *identity(const char *const *options) {
    char message[256];
    int count = 0;
    while (options[count])
        count++;
    char *text = tyto_identity(count, options, message, sizeof message);
    assert_non_null(text);
    return text;
}

#define IDENTITY(...) identity((const char *const[]){__VA_ARGS__, NULL})

static void expect(char *text, const char *part, bool is_there) {
    if ((strstr(text, part) != NULL) != is_there) fail_msg("%s: %s", part, text);
    free(text);
}

static void names_the_assembler_of_machine_code(void **state) {
    (void)state;
    setenv("PATH", "/nowhere", 1);
    expect(IDENTITY("--code", "machine"), "\nptxas none\n", true);
    expect(IDENTITY("--set", "sm.instructions=machine"), "\nptxas none\n", true);
    expect(IDENTITY("--functional", "--code", "machine"), "\nptxas none\n", true);
    expect(IDENTITY("--set", "sm.instructions=machine", "--code", "ptx"), "ptxas", false);
    expect(IDENTITY("--machine", "h100"), "\nptxas none\n", true);
    expect(IDENTITY("--machine", "v100"), "ptxas", false);
    expect(IDENTITY("--functional"), "ptxas", false);
}

static void code_overrides_the_machine(void **state) {
    (void)state;
    expect(IDENTITY("--machine", "v100"), "sm.instructions lowered", true);
    expect(IDENTITY("--machine", "h100"), "sm.instructions machine", true);
    expect(IDENTITY("--machine", "h100", "--code", "ptx"), "sm.instructions ptx", true);
    expect(IDENTITY("--code", "lowered", "--set", "sm.instructions=machine"),
           "sm.instructions lowered", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_assembler_of_machine_code),
        cmocka_unit_test(code_overrides_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
