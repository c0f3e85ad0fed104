/* Executes random kernels as PTX and as the machine code that ptxas makes of them: every register
 * that they write must be the same.
 *
 *     test_differential [--arch SM]... [--level LEVEL]... [--seed N] [--first N] [--kernels N]
 *                       [--approximate] [--refused] [--keep FOLDER]
 *
 * Kernels have numbers: `--first 1234 --kernels 1` runs one. --arch and --level select
 * architectures and levels (by default sm_75 and sm_90; -O0, -O1 and -O3). --approximate adds
 * instructions whose results only have an error bound. Kernels with instructions that are not
 * supported as machine code are only counted; --refused also prints them. A kernel that differs is
 * made as short as possible and printed; --keep writes it to FOLDER. The exit status is 77 if
 * there is no ptxas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "maker.h"
#include "shrink.h"

/* With the sanitizers this takes too long. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

enum { MAX_CHOICES = 8, MAX_REPORTS = 8, SKIPPED = 77 };

typedef struct Options {
    const char *architectures[MAX_CHOICES], *levels[MAX_CHOICES];
    int architecture_count, level_count;
    uint64_t seed;
    uint32_t first, kernels;
    bool has_approximate, shows_refused;
    const char *folder; /* NULL: differences are only printed */
} Options;

static void keep(const Options *options, const char *architecture, const char *level,
                 Program *program) {
    char path[512];
    Text ptx = {0};
    int line;
    snprintf(path, sizeof path, "%s/%s%s-%u.ptx", options->folder, architecture, level,
             program->number);
    program_write_header(options->seed, &ptx, &line);
    program_write(program, &ptx, &line);
    if (!text_write_file(path, ptx.bytes, ptx.length)) perror(path);
    text_free(&ptx);
}

/* Counts for one architecture. */
typedef struct Tally {
    int runs, differing, refused; /* kernels times levels */
} Tally;

static void report(const Options *options, Comparison *comparison, const char *level,
                   Program *program, Verdict verdict) {
    const char *architecture = comparison->engines[0]->architecture;
    Text text = {0};
    if (compare_one(comparison, level, program) == verdict)
        shrink(comparison, level, program, verdict);
    compare_one(comparison, level, program);
    compare_describe(comparison, &text);
    program_print(program, &text);
    fprintf(stderr, "--- seed %llu, kernel %u, %s, %s\n%s", (unsigned long long)options->seed,
            program->number, architecture, level, text_string(&text));
    text_free(&text);
    if (options->folder) keep(options, architecture, level, program);
}

static void run_level(const Options *options, Comparison *comparison, const char *level,
                      Program *programs, int count, Tally *tally) {
    Verdict verdicts[COMPARE_MAX_PROGRAMS];
    tally->runs += count;
    if (!compare_run(comparison, level, programs, count, verdicts)) {
        tally->differing += count;
        return;
    }
    for (int i = 0; i < count; i++) {
        if (verdicts[i] == VERDICT_SAME) continue;
        int *number = verdicts[i] == VERDICT_REFUSED ? &tally->refused : &tally->differing;
        if (++*number > MAX_REPORTS) continue;
        if (verdicts[i] == VERDICT_DIFFERENT || options->shows_refused)
            report(options, comparison, level, &programs[i], verdicts[i]);
    }
}

/* Runs `count` kernels, starting at `first`, at every level. */
static void run_module(const Options *options, Comparison *comparison, const FormList *forms,
                       uint32_t first, int count, Tally *tally) {
    static Program programs[COMPARE_MAX_PROGRAMS];
    for (int i = 0; i < count; i++)
        generate(&programs[i], forms, options->seed, first + (uint32_t)i);
    for (int l = 0; l < options->level_count; l++)
        run_level(options, comparison, options->levels[l], programs, count, tally);
    for (int i = 0; i < count; i++)
        program_free(&programs[i]);
}

static bool run_architecture(const Options *options, const FormList *forms,
                             const char *architecture) {
    static Comparison comparison;
    Tally tally = {0};
    compare_start(&comparison, architecture, options->seed);
    for (uint32_t at = 0; at < options->kernels;) {
        const uint32_t first = options->first + at;
        uint32_t count = COMPARE_MAX_PROGRAMS - first % COMPARE_MAX_PROGRAMS;
        if (count > options->kernels - at) count = options->kernels - at;
        run_module(options, &comparison, forms, first, (int)count, &tally);
        at += count;
    }
    compare_end(&comparison);
    printf("%s: %u kernels, %d runs: %d differ, %d refused\n", architecture, options->kernels,
           tally.runs, tally.differing, tally.refused);
    for (int r = 0; r < comparison.refusal_count; r++)
        printf("%6d x %s\n", comparison.refusals[r].count, comparison.refusals[r].text);
    fflush(stdout);
    return tally.differing == 0;
}

/* Whether argv[*index] is the option `name` with a value; if so, advances to the value. */
static bool is_option(char **argv, int *index, const char *name) {
    if (strcmp(argv[*index], name) != 0 || !argv[*index + 1]) return false;
    ++*index;
    return true;
}

static bool read_options(Options *options, char **argv) {
    for (int i = 1; argv[i]; i++) {
        if (is_option(argv, &i, "--arch") && options->architecture_count < MAX_CHOICES)
            options->architectures[options->architecture_count++] = argv[i];
        else if (is_option(argv, &i, "--level") && options->level_count < MAX_CHOICES)
            options->levels[options->level_count++] = argv[i];
        else if (is_option(argv, &i, "--seed")) options->seed = strtoull(argv[i], NULL, 0);
        else if (is_option(argv, &i, "--first"))
            options->first = (uint32_t)strtoul(argv[i], NULL, 0);
        else if (is_option(argv, &i, "--kernels"))
            options->kernels = (uint32_t)strtoul(argv[i], NULL, 0);
        else if (is_option(argv, &i, "--keep")) options->folder = argv[i];
        else if (strcmp(argv[i], "--approximate") == 0) options->has_approximate = true;
        else if (strcmp(argv[i], "--refused") == 0) options->shows_refused = true;
        else return false;
    }
    return true;
}

static void set_defaults(Options *options) {
    static const char *const levels[] = {"-O0", "-O1", "-O3"};
    if (!options->architecture_count) {
        options->architectures[options->architecture_count++] = "sm_75";
        options->architectures[options->architecture_count++] = "sm_90";
    }
    if (!options->level_count) {
        memcpy(options->levels, levels, sizeof levels);
        options->level_count = sizeof levels / sizeof *levels;
    }
}

int main(int argc, char **argv) {
    Options options = {.seed = 1, .kernels = 100};
    bool is_right = true;
    if (argc < 1 || !read_options(&options, argv)) {
        fprintf(stderr, "test_differential: an option is not known; see its source\n");
        return 2;
    }
    if (is_sanitized) {
        printf("skipped: takes too long under the sanitizers\n");
        return SKIPPED;
    }
    if (system("ptxas --version >/dev/null 2>&1") != 0) {
        printf("skipped: there is no ptxas on the PATH\n");
        return SKIPPED;
    }
    set_defaults(&options);
    FormList *forms = forms_new(options.has_approximate);
    for (int a = 0; a < options.architecture_count; a++)
        is_right &= run_architecture(&options, forms, options.architectures[a]);
    forms_free(forms);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
