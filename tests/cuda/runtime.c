/* Tests of the device runtime: output, assertions, traps, time, registers with a thread's place. */
#include "kernel_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 4096 };

static const char EXPECTED_OUTPUT[] = "plain\n"
                                      "-5 4000000000 beef q %\n"
                                      "-1234567890123 18446744073709551615 123456789abc\n"
                                      "[    42] [42    ] [000042] [+42]\n"
                                      "1.500000 3.142 1.234568e+04 0.0001\n"
                                      "[text] [   right] [l   ] [    7]\n"
                                      "thread 5 of warp 0\n"
                                      "thread 21 of warp 0\n"
                                      "thread 37 of warp 1\n"
                                      "thread 53 of warp 1\n";

/* Launches the kernel with standard output redirected to a file, and reads the file into `text`. */
static CUresult launch_captured(Session *session, const Shape *shape, char *text) {
    FILE *file = tmpfile();
    fflush(stdout);
    int original = dup(STDOUT_FILENO);
    if (!file || original < 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
        session_check(CUDA_ERROR_OPERATING_SYSTEM, "redirecting standard output");
    CUresult result = session_launch(session, shape, NULL);
    fflush(stdout);
    dup2(original, STDOUT_FILENO);
    close(original);
    rewind(file);
    text[fread(text, 1, OUTPUT_BYTES - 1, file)] = '\0';
    fclose(file);
    return result;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of `text`, sorted, because the order of the warps depends on the machine. */
static unsigned sort_lines(char *text, char **lines, unsigned capacity) {
    unsigned count = 0;
    for (char *line = strtok(text, "\n"); line && count < capacity; line = strtok(NULL, "\n"))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    return count;
}

static bool print(Session *session) {
    enum { MOST_LINES = 32 };
    char got[OUTPUT_BYTES], expected[OUTPUT_BYTES];
    char *got_lines[MOST_LINES], *expected_lines[MOST_LINES];
    session_check(launch_captured(session, &(Shape){.block = {64}}, got), "print");
    memcpy(expected, EXPECTED_OUTPUT, sizeof EXPECTED_OUTPUT);
    unsigned got_count = sort_lines(got, got_lines, MOST_LINES);
    unsigned expected_count = sort_lines(expected, expected_lines, MOST_LINES);
    for (unsigned i = 0; i < expected_count && i < got_count; i++) {
        if (strcmp(got_lines[i], expected_lines[i]) == 0) continue;
        fprintf(stderr, "print: got '%s', expected '%s'\n", got_lines[i], expected_lines[i]);
        return false;
    }
    if (got_count != expected_count)
        fprintf(stderr, "print: got %u lines, expected %u\n", got_count, expected_count);
    return got_count == expected_count;
}

/* Returns true if the kernel, given one buffer, ends with `expected`. */
static bool ends_with(Session *session, CUresult expected) {
    uint32_t words[32] = {0};
    CUdeviceptr out = session_upload(words, sizeof words);
    CUresult got = session_launch(session, &(Shape){.grid = {2}, .block = {32}}, (void *[]){&out});
    if (got != expected)
        fprintf(stderr, "%s: ended with error %d, expected %d\n", session->name, (int)got,
                (int)expected);
    return got == expected;
}

static bool assert_fail(Session *session) { return ends_with(session, CUDA_ERROR_ASSERT); }
static bool trap(Session *session) { return ends_with(session, CUDA_ERROR_LAUNCH_FAILED); }

static void assert_pass(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out.words[i] = in.words[i] + 1;
}

static void clocks(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        out.words[i] = in.words[i];
        for (unsigned k = 0; k < 10; k++)
            out.words[i] = out.words[i] * 1664525u + 1013904223u;
    }
}

static void launch_bounds(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t lane = i % 32, *row = out.words + 4 * i;
        uint32_t equal = (uint32_t)1 << lane, below = equal - 1;
        uint32_t above = ~(equal | below);
        row[0] = lane + 3200;
        row[1] = (equal ^ below ^ (equal | below)) + 3 * above + 5 * (equal | above);
        row[2] = in.words[i] + 128 + 1000 * 3 + 1000000 * 2;
        row[3] = 1;
    }
}

const KernelTest RUNTIME_TESTS[] = {
    {.name = "print", .run = print},
    {.name = "assert_fail", .run = assert_fail},
    {.name = "trap", .run = trap},
    {.name = "assert_pass",
     .shape = {.grid = {2}, .block = {64}},
     .in = {KIND_WORDS, 128},
     .out = {KIND_WORDS, 128},
     .reference = assert_pass},
    {.name = "clocks",
     .shape = {.grid = {2}, .block = {64}},
     .in = {KIND_WORDS, 128},
     .out = {KIND_WORDS, 128},
     .reference = clocks},
    {.name = "launch_bounds",
     .shape = {.grid = {3}, .block = {128}},
     .in = {KIND_WORDS, 384},
     .out = {KIND_WORDS, 384 * 4},
     .reference = launch_bounds},
    {0},
};
