/* Kernels of known behaviour, run in detail on a shipped machine under named policies. */
#ifndef TYTO_TESTS_SCHED_ON_MACHINE_H
#define TYTO_TESTS_SCHED_ON_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/launch/gpu.h"

/* The kernel `walk`: groups of `share` warps have a set of `lines` 128-byte lines each, and every
 * warp reads its group's set `rounds` times, `spread` (1 to 32) lines with each load, and does
 * `work` dependent multiply-adds for each load. The kernel `phases` (a barrier after each of
 * `rounds` phases, in which warp w does (5w + 3 phase) mod 8 times `work` of them) reads nothing.
 */
typedef struct Workload {
    const char *kernel;           /* "walk" or "phases" */
    const char *machine;          /* shipped; NULL: run functionally */
    const char *set;              /* changes to it, with commas between them; NULL: none */
    const char *scheduler;        /* warp scheduler; NULL: gto */
    const char *cta_scheduler;    /* NULL: as many CTAs as fit */
    uint32_t ctas, warps_per_cta; /* the grid */
    uint32_t lines, rounds, share, work, spread;
    uint8_t carve_out; /* as a launch has it: percent preferred, and 1; 0: none is */
    uint32_t threads;  /* of the host; they share some cycles; 0: one */
    bool never_sleeps; /* SMs are stepped in every cycle */
} Workload;

typedef struct Outcome {
    Counters counters; /* of the run */
    uint64_t hash;     /* of the results */
} Outcome;

/* Runs it; fails the test when the kernel fails. Every counter identity is checked. */
Outcome run_on_machine(const Workload *workload);

/* Runs it, and expects that the kernel fails; the message, valid until the next. */
const char *failure_on_machine(const Workload *workload);

/* The SM on which a CTA of the last run was. */
uint32_t last_sm_of(uint64_t cta);

/* The sum over SMs of what the warp scheduler reports under `name` at the end of the last run. */
double last_report(const char *name);
bool has_report(const char *name); /* whether it reports such a thing */

/* The number that the CTA scheduler reports under `name` at the end of the last run. */
double last_cta_report(const char *name);

/* The same of a list's item. */
double last_cta_report_at(const char *list, uint32_t index);

#endif
