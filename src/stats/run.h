/* What one run leaves behind: who ran where, each kernel's statistics, and what the host saw.
 * Filled by whoever runs kernels; read by every writer (text, JSON, CSV). */
#ifndef TYTO_STATS_RUN_H
#define TYTO_STATS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "stats/timeseries.h"

/* When and where one CTA ran. */
typedef struct CtaRecord {
    uint32_t sm;    /* SM number */
    uint32_t slot;  /* CTA slot of the SM */
    uint64_t start; /* SM cycle of its launch, since the kernel's */
    uint64_t end;   /* SM cycle at which its last warp retired */
} CtaRecord;

/* How a kernel ended. */
typedef enum RunStatus {
    RUN_COMPLETE,
    RUN_INTERRUPTED,
    RUN_FAULT,
    RUN_STUCK,
    RUN_STATUSES
} RunStatus;
extern const char *const run_status_names[RUN_STATUSES];

typedef struct KernelStats {
    char *name;                 /* owned */
    uint32_t grid[3], block[3]; /* CTAs, threads */
    uint32_t registers;         /* of a thread */
    uint32_t shared_bytes;      /* of a CTA, static and dynamic */
    uint32_t ctas_per_sm;       /* that fit; 0 when untimed */
    RunStatus status;
    bool is_untimed;                                 /* ran functionally: all counters are 0 */
    uint64_t warp_instructions, thread_instructions; /* when untimed; else the counters have them */
    Counters counters;
    Histograms histograms;
    CtaRecord *ctas; /* by linear CTA index; owned; NULL when not recorded */
    uint64_t cta_count;
} KernelStats;

/* What differs from run to run. */
typedef struct HostStats {
    double wall_seconds;    /* in timed launches */
    double untimed_seconds; /* of the wall clock in the others */
    double cpu_seconds;     /* that the process had the processor in that time */
    uint64_t peak_memory_bytes;
} HostStats;

typedef struct RunStats {
    char *program, *machine, *scheduler, *cta_scheduler; /* owned */
    CountersShape shape;  /* of the machine; is_complete: all kernels were */
    KernelStats *kernels; /* in launch order; owned */
    int kernel_count, kernel_capacity;
    TimeSeries *series; /* owned; NULL without --sample */
    HostStats host;
} RunStats;

/* An empty run of so many SMs and schedulers per SM. The texts are copied. Freed by run_free. */
RunStats *run_new(const char *program, const char *machine, const char *scheduler,
                  const char *cta_scheduler, uint32_t sms, uint32_t schedulers);
void run_free(RunStats *run);

/* Adds a kernel, all counters 0. Valid until the next kernel is added. */
KernelStats *run_add_kernel(RunStats *run, const char *name);

/* Sums over the kernels that ran functionally. */
typedef struct UntimedTotal {
    int kernels;
    uint64_t warp_instructions, thread_instructions;
} UntimedTotal;
UntimedTotal run_untimed(const RunStats *run);

/* Sums over the timed kernels. */
Counters run_total(const RunStats *run);
void run_total_histograms(const RunStats *run, Histograms *total);

/* Checks every identity of every kernel and of the total; `why` as in counters_check, each line
 * headed by the kernel. */
bool run_check(const RunStats *run, Text *why);

/* A run as one JSON object, or several as {"runs": [...]}. */
void run_write_json(const RunStats *run, Json *json);
void run_write_comparison_json(const RunStats *const *runs, int count, Json *json);

/* A header line, and a line for each timed kernel and for the total of each run. */
void run_write_csv(const RunStats *const *runs, int count, Text *out);

/* A line for each CTA of each kernel: kernel, CTA, SM, slot, start, end (PRO figure 2). */
void run_write_ctas_csv(const RunStats *run, Text *out);

#endif
