/* The progress line: the time left in a launch, and when the line is printed. */
#include "simulator/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void assert_near(double a, double b) { assert_true(fabs(a - b) < 1e-9); }

static double left(uint64_t done, uint64_t begun, uint64_t total, double seconds) {
    return progress_left(
        &(GpuProgress){.done_ctas = done, .begun_ctas = begun, .total_ctas = total}, seconds);
}

static void test_the_time_left_follows_from_the_blocks_done(void **state) {
    (void)state;
    assert_near(left(100, 120, 1000, 11), 11 * (1000 / 110.0 - 1));
    assert_near(left(50, 50, 100, 20), 20);
    assert_near(left(990, 1000, 1000, 199), 199 * (1000 / 995.0 - 1));
    assert_near(left(1000, 1000, 1000, 5), 0);
}

static void test_a_count_of_instructions_gives_the_time_left(void **state) {
    (void)state;
    assert_near(progress_left_by(250, 1000, 10), 30);
    assert_near(progress_left_by(1000, 1000, 10), 0);
    assert_near(progress_left_by(1200, 1000, 10), 0); /* a loop that polls takes more turns */
    assert_true(isnan(progress_left_by(250, 0, 10)));
    assert_true(isnan(progress_left_by(0, 1000, 10)));
}

/* The first wave says nothing about the rest: its blocks run side by side. */
static void test_the_first_blocks_tell_nothing(void **state) {
    (void)state;
    assert_true(isnan(left(0, 0, 100, 5)));
    assert_true(isnan(left(0, 100, 100, 5)));
    assert_true(isnan(left(9, 19, 100, 5)));
    assert_true(left(10, 20, 100, 5) > 0);
}

/* A child of fork does not have the progress thread. It waits neither for it nor for a lock that it
 * held. */
static void test_a_child_of_fork_waits_for_nothing(void **state) {
    (void)state;
    Diag *diag = diag_new();
    Gpu *gpu = gpu_new(&(GpuOptions){0}, diag);
    assert_non_null(gpu);
    Progress *progress = progress_new(gpu);
    progress_begin(progress, "kernel", NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        progress_end(progress);
        progress_begin(progress, "other", NULL);
        progress_free(progress);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    progress_end(progress);
    progress_free(progress);
    gpu_free(gpu);
    diag_free(diag);
}

static void test_a_terminal_has_a_line_after_a_second_and_a_file_now_and_then(void **state) {
    (void)state;
    int lines = 0;
    assert_false(progress_is_due(3, true));
    assert_true(progress_is_due(4, true));
    assert_true(progress_is_due(5, true));
    for (int periods = 1; periods <= 4 * 180; periods++)
        lines += progress_is_due(periods, false);
    assert_int_equal(lines, 5); /* after 10, 30, 60, 120 and 180 seconds */
    assert_true(progress_is_due(4 * 10, false));
    assert_false(progress_is_due(4 * 9, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_time_left_follows_from_the_blocks_done),
        cmocka_unit_test(test_a_count_of_instructions_gives_the_time_left),
        cmocka_unit_test(test_the_first_blocks_tell_nothing),
        cmocka_unit_test(test_a_child_of_fork_waits_for_nothing),
        cmocka_unit_test(test_a_terminal_has_a_line_after_a_second_and_a_file_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
