/* Kernels of known behaviour, run in detail on a shipped machine under named policies. */
#ifndef TYTO_TESTS_SCHED_ON_MACHINE_H
#define TYTO_TESTS_SCHED_ON_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/launch/gpu.h"

/* The kernel `walk`: each group of `share` warps has a set of `lines` 128-byte lines. Every warp
 * reads its group's set `rounds` times, `spread` (1 to 32) lines with each load, and executes
 * `work` dependent multiply-adds for each load. The kernel `phases` reads nothing. It has a barrier
 * after each of `rounds` phases; in a phase, warp w executes (5w + 3 phase) mod 8 times `work`
 * multiply-adds. */
typedef struct Workload {
    const char *kernel;           /* "walk" or "phases" */
    const char *machine;          /* shipped machine; NULL: run functionally */
    const char *set;              /* changes to it, separated by commas; NULL: none */
    const char *scheduler;        /* warp scheduler; NULL: gto */
    const char *cta_scheduler;    /* NULL: as many CTAs as fit */
    uint32_t ctas, warps_per_cta; /* the grid */
    uint32_t lines, rounds, share, work, spread;
    uint8_t carve_out; /* as in a launch: preferred percentage plus 1; 0: none */
    uint32_t threads;  /* of the host, which share the work of some cycles; 0: one */
    bool never_sleeps; /* SMs are stepped in every cycle */
} Workload;

typedef struct Outcome {
    Counters counters; /* of the run */
    uint64_t hash;     /* of the results */
} Outcome;

/* Runs a workload and checks every counter identity. Fails the test if the kernel fails. */
Outcome run_on_machine(const Workload *workload);

/* Runs a workload whose kernel must fail. Returns the message, which is valid until the next
 * call. */
const char *failure_on_machine(const Workload *workload);

/* The SM that ran a CTA in the last run. */
uint32_t last_sm_of(uint64_t cta);

/* The sum over SMs of the value that the warp scheduler reports under `name` at the end of the last
 * run. */
double last_report(const char *name);
bool has_report(const char *name); /* whether it reports this value */

/* The number that the CTA scheduler reports under `name` at the end of the last run. */
double last_cta_report(const char *name);

/* The same for an item of a list. */
double last_cta_report_at(const char *list, uint32_t index);

#endif
