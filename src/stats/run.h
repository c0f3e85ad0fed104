/* The record of a run: its origin, what each kernel did, and what the host measured. Timed and
 * functional runs fill the same record. The driver's results and every writer (text, JSON, CSV)
 * read it. */
#ifndef TYTO_STATS_RUN_H
#define TYTO_STATS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "stats/advice.h"
#include "stats/counters.h"
#include "stats/findings.h"
#include "stats/histogram.h"
#include "stats/levels.h"
#include "stats/occupancy.h"
#include "stats/pack.h"
#include "stats/profile.h"
#include "stats/timeseries.h"
#include "stats/units.h"
#include "stats/warp_states.h"

/* When and where a finished CTA ran. */
typedef struct CtaRecord {
    uint64_t cta;   /* its linear index in the grid */
    uint32_t sm;    /* SM number */
    uint32_t slot;  /* CTA slot of the SM */
    uint64_t start; /* SM cycle of its launch, relative to the kernel's */
    uint64_t end;   /* SM cycle at which its last warp retired */
} CtaRecord;

/* How a kernel ended. */
typedef enum RunStatus {
    RUN_COMPLETE,
    RUN_INTERRUPTED,
    RUN_FAULT,
    RUN_STUCK,
    RUN_STOPPED, /* stopped by --stop-after */
    RUN_RUNNING, /* still running; only in snapshots */
    RUN_STATUSES
} RunStatus;
extern const char *const run_status_names[RUN_STATUSES];

/* The counts of a timed kernel. */
typedef struct KernelFigures {
    Counters counters;
    Histograms histograms;
    Spreads spreads; /* over the SMs */
    WarpStates states;
} KernelFigures;

/* What only a timed kernel has. */
typedef struct KernelTiming {
    uint32_t ctas_per_sm; /* CTAs that fit on an SM, ... */
    Occupancy occupancy;  /* ... and why not more */
    Pack figures;         /* a KernelFigures; owned */
    CtaRecord *ctas;      /* finished CTAs, by index; owned; NULL if not recorded */
    uint64_t cta_count;   /* length of `ctas` */
} KernelTiming;

/* One launch of a kernel. */
typedef struct KernelStats {
    char *name;                 /* owned */
    uint32_t grid[3], block[3]; /* CTAs, threads */
    uint32_t cluster[3];        /* CTAs of a cluster; all 0: no clusters */
    uint32_t registers;         /* registers per thread */
    uint32_t shared_bytes;      /* shared memory of a CTA, static and dynamic */
    char code[64];              /* "ptx", "lowered ptx", "sm_89, ptxas 13.0.88"; "": unknown */
    uint32_t stream;            /* stream that it was launched into; 0: the legacy default stream */
    bool has_overlapped; /* it overlapped with another kernel: both include the counts of shared
                            units */
    RunStatus status;    /* how it ended */
    uint64_t warp_instructions, thread_instructions; /* if not timed; else the counters have them */
    uint64_t time_ps;     /* simulated time; in functional runs only a clock */
    double wall_seconds;  /* time that the host took */
    double cpu_seconds;   /* CPU time of the process in that time */
    KernelTiming *timing; /* owned; NULL: it ran functionally */
} KernelStats;

/* ROW(name, meaning): everything that determines a run, as texts, in the order in which they are
 * written. Hashes are of contents: the values of the machine, the bytes of a plug-in. */
#define RUN_ORIGIN(ROW)                                                                            \
    ROW(tyto_version, "version of the library")                                                    \
    ROW(library_hash, "hash of the linker's build identifier, or of the file")                     \
    ROW(command, "command that repeats the run, without files that it writes")                     \
    ROW(program, "what was run: a workload, a program, a PTX file")                                \
    ROW(arguments, "arguments of the program")                                                     \
    ROW(size, "size of its input, if it reports it (as workloads do)")                             \
    ROW(seed, "seed of its input, likewise")                                                       \
    ROW(program_hash, "hash of the executable and of the PTX that it loaded")                      \
    ROW(machine, "name of the machine")                                                            \
    ROW(machine_hash, "hash of all values of the machine")                                         \
    ROW(overrides, "changes of the machine by --set")                                              \
    ROW(options, "other options of the simulator, except files")                                   \
    ROW(scheduler, "warp scheduler with parameters; none: functional run")                         \
    ROW(scheduler_hash, "hash of that, and of the bytes of a shared object")                       \
    ROW(cta_scheduler, "thread block scheduler, likewise")                                         \
    ROW(cta_scheduler_hash, "hash, likewise")

typedef struct RunStats {
#define RUN_ORIGIN_FIELD(name, meaning) char *name; /* owned; NULL: none */
    RUN_ORIGIN(RUN_ORIGIN_FIELD)
#undef RUN_ORIGIN_FIELD
    CountersShape shape;  /* of the machine; is_complete: all kernels completed */
    LevelPeaks peaks;     /* of the machine; 0: unknown */
    KernelStats *kernels; /* in the order in which they ended; owned */
    int kernel_count, kernel_capacity;
    TimeSeries *series;         /* owned; NULL without --sample */
    Profile *profile;           /* owned; NULL without --profile */
    Units *units;               /* units of the machine; owned; NULL: the whole run is functional */
    bool tells_units;           /* write each unit, not only how they differ */
    Findings *findings;         /* findings of the checks; owned; NULL: no checks */
    uint64_t peak_memory_bytes; /* peak memory of the host process */
    char *ending; /* how the program ended if it did not end by itself, "signal 11 (Segmentation
                     fault)". Then the record only has what follows from its launches. Owned; NULL:
                     it ended by itself */
} RunStats;

/* Counters that a functional kernel has: its instructions. */
enum { RUN_FUNCTIONAL_COUNTERS = 2 };
extern const CounterId run_functional_counters[RUN_FUNCTIONAL_COUNTERS];

/* Creates an empty run without timing; free it with run_free. Texts are copied, here and below. */
RunStats *run_new(const char *program);
/* Turns an empty run into a timed one, on a machine with this number of SMs and schedulers per
 * SM. */
void run_set_machine(RunStats *run, const char *machine, const char *scheduler,
                     const char *cta_scheduler, uint32_t sms, uint32_t schedulers);
void run_free(RunStats *run); /* NULL is allowed */

/* Whether the run was timed; otherwise all of it is functional. */
static inline bool run_is_timed(const RunStats *run) { return run->scheduler != NULL; }

/* Index of a text of the run's origin, from 0 to RUN_ORIGINS - 1, in order. */
#define RUN_ORIGIN_INDEX(name, meaning) RUN_ORIGIN_##name,
typedef enum RunOrigin { RUN_ORIGIN(RUN_ORIGIN_INDEX) RUN_ORIGINS } RunOrigin;
#undef RUN_ORIGIN_INDEX
extern const char *const run_origin_names[RUN_ORIGINS];
const char *run_origin(const RunStats *run, RunOrigin which); /* NULL: none */
/* Replaces a text of the origin. NULL: none. */
void run_set_origin(RunStats *run, RunOrigin which, const char *text);

/* Adds a functional kernel with all figures 0. The result is valid until the next kernel is
 * added. */
KernelStats *run_add_kernel(RunStats *run, const char *name);
/* Turns it into a timed kernel with all counters 0. */
KernelTiming *run_add_timing(KernelStats *kernel);
/* Stores the counts of a timed kernel, replacing earlier ones. They are packed, because a run may
 * have hundreds of thousands of launches. */
void run_set_figures(KernelTiming *timing, const KernelFigures *figures);
KernelFigures run_figures(const KernelTiming *timing);

/* A kernel's counters. Without timing, all but the functional ones are 0. */
Counters run_kernel_counters(const KernelStats *kernel);

/* The input of the rules of advice for a timed kernel, with its counters, and for the run's total.
 * It is not meaningful if kernels overlapped. */
AdviceFacts run_kernel_facts(const RunStats *run, const KernelStats *kernel,
                             const Counters *counters);
AdviceFacts run_total_facts(const RunStats *run, const Counters *total);
bool run_has_overlap(const RunStats *run); /* whether any kernel overlapped with another */

/* Whether a kernel is part of the run's total. A functional kernel is not if the run is timed: then
 * --kernels or --skip excluded it. */
bool run_is_counted(const RunStats *run, const KernelStats *kernel);
/* Sums over the kernels that are part of the total. */
Counters run_total(const RunStats *run);
void run_total_histograms(const RunStats *run, Histograms *total);
WarpStates run_total_states(const RunStats *run);

/* Sums over the kernels that were excluded. */
typedef struct UntimedTotal {
    int kernels;       /* number of kernels */
    Counters counters; /* functional counters */
} UntimedTotal;
UntimedTotal run_untimed(const RunStats *run);

/* Host measurements, which differ from run to run. */
typedef struct HostStats {
    double wall_seconds;    /* wall clock time of the launches in the total */
    double untimed_seconds; /* wall clock time of the excluded launches */
    double cpu_seconds;     /* CPU time of the process in wall_seconds */
} HostStats;
HostStats run_host(const RunStats *run);

/* Checks every identity of every timed kernel and of their total. `why` is as in counters_check,
 * with each kernel's name before its lines. Identities do not hold for kernels that overlapped,
 * because some counters are of the kernel alone, nor for a total with such a kernel. */
bool run_check(const RunStats *run, Text *why);

/* Writes the origin as keys of the JSON object that is open. */
void run_write_origin(const RunStats *run, Json *json);
/* Adds the origin as CSV fields, quoted if necessary and separated by commas; and the names of
 * these fields. */
void run_add_origin_fields(const RunStats *run, Text *out);
void run_add_origin_names(Text *out);
/* Adds the origin as names and texts in turn, each ending with NUL, without those that are
 * missing. */
void run_add_origin_texts(const RunStats *run, Text *out);
/* Writes a run as a JSON object. */
void run_write_json(const RunStats *run, Json *json);

/* Adds CSV: a header, then a line for each timed kernel and for the total of each run. All runs
 * must be timed. */
void run_write_csv(const RunStats *const *runs, int count, Text *out);

/* Adds CSV: a line for each unit of the machine, for a run that has units. */
void run_write_units_csv(const RunStats *run, Text *out);

/* Adds CSV: a line for each CTA of each kernel: kernel, CTA, SM, slot, start, end (PRO figure
 * 2). */
void run_write_ctas_csv(const RunStats *run, Text *out);

#endif
