/* The text that identifies everything a run depends on (tyto_identity). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/tyto.h"

/* The identity of a run with these options, which end with NULL. */
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

/* The code and compute capability of a functional run are those of its machine. */
static void a_functional_run_is_of_its_machine(void **state) {
    (void)state;
    char *named = IDENTITY("--functional", "--set", "gpu.compute_capability=8.0");
    expect(named, "gpu.compute_capability 8.0", true);
    expect(IDENTITY("--functional"), "warps", false);
    expect(IDENTITY("--machine", "gtx480"), "warps", true);
}

static void the_profiled_clock_is_the_machines_own(void **state) {
    (void)state;
    static const char noc[] = "clock.noc=1500 MHz", set[] = "clock.profiled=700 MHz";
    expect(IDENTITY("--machine", "gtx480", "--set", set), "clock.sm 700 MHz", true);
    expect(IDENTITY("--machine", "v100", "--set", set), "clock.sm 1380 MHz", true);
    expect(IDENTITY("--machine", "v100", "--set", set, "--clock", "boost"), "clock.sm 1380 MHz",
           true);
    expect(IDENTITY("--machine", "v100", "--set", set, "--clock", "profiled"), "clock.sm 700 MHz",
           true);
    expect(IDENTITY("--machine", "v100", "--set", set, "--clock", "profiled"), "clock.noc 1400 MHz",
           true);
    expect(IDENTITY("--machine", "v100", "--set", set, "--set", noc, "--clock", "profiled"),
           "clock.noc 760.870 MHz", true);
    expect(IDENTITY("--machine", "v100", "--set", set, "--clock", "profiled"), "clock.l2 1380 MHz",
           true);
    char message[256];
    const char *options[] = {"--machine", "gtx480", "--clock", "profiled"};
    assert_null(tyto_identity(4, options, message, sizeof message));
    assert_non_null(strstr(message, "machine gtx480 does not state the clock of a profiler"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_assembler_of_machine_code),
        cmocka_unit_test(code_overrides_the_machine),
        cmocka_unit_test(a_functional_run_is_of_its_machine),
        cmocka_unit_test(the_profiled_clock_is_the_machines_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
