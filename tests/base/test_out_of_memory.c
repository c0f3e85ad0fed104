/* A size that no host can allocate ends the process with one message, from each function that
 * allocates. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* volatile: otherwise the compiler warns about the sizes that it can see, and drops the calls */
static volatile size_t impossible = SIZE_MAX - 100;
static void *volatile result;

static void ask_malloc(void) { result = base_malloc(impossible); }
static void ask_calloc(void) { result = base_calloc(impossible, 16); }
static void ask_realloc(void) { result = base_realloc(NULL, impossible); }
static void ask_lines(void) { result = base_alloc_lines(impossible); }
static void ask_arena(void) { result = arena_alloc(arena_new(), impossible); }

/* Runs `ask` in a child; its standard error goes to `message`. Returns the exit status. */
static int run_child(void (*ask)(void), char *message, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        ask();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(ends[0], message + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    message[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void an_impossible_size_ends_with_a_message(void **state) {
    (void)state;
    void (*const asks[])(void) = {ask_malloc, ask_calloc, ask_realloc, ask_lines, ask_arena};
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        char message[4096];
        int status = run_child(asks[i], message, sizeof(message));
        assert_int_equal(status, EXIT_FAILURE);
        assert_non_null(strstr(message, "tyto: the host has no memory left"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_impossible_size_ends_with_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
