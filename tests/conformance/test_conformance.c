/* Executes every supported PTX instruction on edge cases, in every execution variant that this host
 * supports, and compares the results with an independent computation.
 *
 *     test_conformance [--thorough] [--device LIBRARY | --machine SM[:LEVEL]] [--absent] [--faults]
 *                      [--share I/N] [--first N] [TEXT]
 *
 * --thorough runs many more cases, and all values of 16-bit operands. TEXT selects the forms whose
 * text contains it. --device runs on a real GPU with that CUDA driver (libcuda.so.1) and also
 * compares the simulator with the GPU. --faults runs only what must fault there, which a process
 * can do once. --machine sm_90 or sm_90:-O1 runs the machine code that ptxas makes of each form;
 * differences.c lists what may differ. --absent reports what the assembler rejects, and why.
 * --share runs every N-th module and trial, starting with the I-th, and from number --first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembler.h"
#include "coverage.h"
#include "differences.h"
#include "harness.h"
#include "lanes.h"
#include "trial.h"

/* The sanitizers are slow, so they run an eighth of the cases. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { DIVISOR = 8 };
#else
enum { DIVISOR = 1 };
#endif

enum { EFFORT = 4, THOROUGH_EFFORT = 32, SKIPPED = 77 };

static const Row *const tables[] = {ROWS_INTEGER,     ROWS_BITS,    ROWS_COMPARE, ROWS_FLOAT,
                                    ROWS_APPROXIMATE, ROWS_CONVERT, ROWS_VIDEO,   ROWS_WARP};

static void report(const Harness *harness) {
    for (int i = 0; i < harness->worst_count; i++) {
        const Worst *worst = &harness->worst[i];
        printf("%-22s worst error %g ulp", worst->name, worst->ulps);
        if (worst->ulps > 0)
            printf(", of 0x%llx: 0x%llx, correctly rounded 0x%llx",
                   (unsigned long long)worst->operand, (unsigned long long)worst->got,
                   (unsigned long long)worst->expected);
        printf("\n");
    }
    printf("%llu instruction forms, %llu cases, in variants", (unsigned long long)harness->forms,
           (unsigned long long)harness->cases);
    for (int i = 0; i < harness->engine_count; i++)
        printf(" %s", harness->engines[i].variant);
    if (harness->absent)
        printf("\n%llu not taken by the assembler", (unsigned long long)harness->absent);
    if (harness->differing)
        printf("\n%llu differ as they may", (unsigned long long)harness->differing);
    printf("\n%llu passed, %llu failed\n", (unsigned long long)(harness->forms - harness->failures),
           (unsigned long long)harness->failures);
}

int main(int argc, char **argv) {
    static Harness harness = {.effort = EFFORT, .divisor = DIVISOR};
    const char *library = NULL, *machine = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--thorough") == 0) {
            harness.is_thorough = true;
            harness.effort = THOROUGH_EFFORT;
        } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            library = argv[++i];
        } else if (strcmp(argv[i], "--machine") == 0 && i + 1 < argc) {
            machine = argv[++i];
        } else if (strcmp(argv[i], "--absent") == 0) {
            harness.shows_absent = true;
        } else if (strcmp(argv[i], "--share") == 0 && i + 1 < argc) {
            sscanf(argv[++i], "%d/%d", &harness.share.index, &harness.share.of);
        } else if (strcmp(argv[i], "--faults") == 0) {
            harness.only_faults = true;
        } else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc) {
            harness.share.first = atoi(argv[++i]);
        } else {
            harness.filter = argv[i];
        }
    }
    if (machine && !assembler_is_there()) {
        printf("skipped: no ptxas on the PATH\n");
        return SKIPPED;
    }
    harness_start(&harness, library, machine);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !harness.only_faults; i++)
        lanes_run(&harness, tables[i]);
    if (!harness.only_faults) matrix_run(&harness);
    async_run(&harness);
    bulk_run(&harness);
    warpgroup_run(&harness);
    memory_run(&harness);
    atomics_run(&harness);
    address_run(&harness);
    control_run(&harness);
    registers_run(&harness);
    texture_run(&harness);
    surface_run(&harness);
    wide_run(&harness);
    const bool is_whole = !harness.filter && !harness.share.of;
    const char *code = harness.engines[0].machine; /* no coverage: ptxas lacks forms */
    const int missing = !is_whole ? 0
                        : code    ? differences_report_unused(code)
                                  : coverage_check(harness.spellings);
    report(&harness);
    const bool is_right = harness.forms > 0 && harness.failures == 0 && missing == 0;
    harness_end(&harness);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
