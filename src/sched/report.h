/* Writers of what policies report (tyto/policy.h, TytoReport). */
#ifndef TYTO_SCHED_REPORT_H
#define TYTO_SCHED_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "stats/run.h"
#include "tyto/policy.h"

/* Reports of many policies at many times, one line per number. */
typedef struct SchedCsv {
    FILE *file;         /* borrowed */
    const char *kernel; /* name of the running kernel */
    uint64_t cycle;     /* SM cycle since its launch */
    int sm;             /* SM of the policy that reports; SCHED_CSV_CTAS: the CTA scheduler */
} SchedCsv;
enum { SCHED_CSV_CTAS = -1 };

/* Writes the head: kernel, cycle, sm (empty for the CTA scheduler), name, index (in a list), value,
 * unit, and the origin's columns. The origin is known only at the end. It is filled in only in the
 * last line, whose name is "origin", because there may be millions of other lines. */
void sched_csv_start(FILE *file);
void sched_csv_end(FILE *file, const RunStats *run);
TytoReport sched_report_csv(SchedCsv *csv);

#endif
