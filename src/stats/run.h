/* The record of a run: who ran where, what each kernel did, and what the host saw. Timed runs and
 * functional ones fill the same record; the driver's results and every writer (text, JSON, CSV)
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

/* When and where one CTA ran that has ended. */
typedef struct CtaRecord {
    uint64_t cta;   /* its linear index in the grid */
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
    RUN_STOPPED, /* after as many instructions as asked (--stop-after) */
    RUN_RUNNING, /* it goes on: of snapshots only */
    RUN_STATUSES
} RunStatus;
extern const char *const run_status_names[RUN_STATUSES];

/* What a kernel that was timed counted. */
typedef struct KernelFigures {
    Counters counters;
    Histograms histograms;
    Spreads spreads; /* over the SMs */
    WarpStates states;
} KernelFigures;

/* What only a kernel that was timed has. */
typedef struct KernelTiming {
    uint32_t ctas_per_sm; /* that fit */
    Occupancy occupancy;  /* and why no more do */
    Pack figures;         /* a KernelFigures; owned */
    CtaRecord *ctas;      /* those that ended, by their index; owned; NULL when not recorded */
    uint64_t cta_count;   /* of ctas */
} KernelTiming;

/* One launch of a kernel. */
typedef struct KernelStats {
    char *name;                 /* owned */
    uint32_t grid[3], block[3]; /* CTAs, threads */
    uint32_t cluster[3];        /* CTAs of a cluster; all 0: there were no clusters */
    uint32_t registers;         /* of a thread */
    uint32_t shared_bytes;      /* of a CTA, static and dynamic */
    char code[64];              /* "ptx", "lowered ptx", "sm_89, ptxas 13.0.88"; "": unknown */
    uint32_t stream;            /* that it was launched into; 0: the legacy default stream */
    bool has_overlapped;        /* with another kernel: counts of what they share are in both */
    RunStatus status;           /* how it ended */
    uint64_t warp_instructions,
        thread_instructions; /* when not timed; else the counters have them */
    uint64_t time_ps;        /* simulated; functionally a mere clock */
    double wall_seconds;     /* of the host */
    double cpu_seconds;      /* that the process had the processor in that time */
    KernelTiming *timing;    /* owned; NULL: ran functionally */
} KernelStats;

/* ROW(name, meaning): all that decides what a run comes to, as texts, in the order in which they
 * are written. Hashes are of contents: what the machine's values are, which bytes a plug-in has. */
#define RUN_ORIGIN(ROW)                                                                            \
    ROW(tyto_version, "of the library")                                                            \
    ROW(library_hash, "of its linker's identifier, or of its file")                                \
    ROW(command, "that makes the run again; files that it writes are left out")                    \
    ROW(program, "what ran: a workload, a program, a PTX file")                                    \
    ROW(arguments, "what it was given")                                                            \
    ROW(size, "of its input, where it says so (the workloads do)")                                 \
    ROW(seed, "of its input, likewise")                                                            \
    ROW(program_hash, "of the executable, and of the PTX that it loaded")                          \
    ROW(machine, "its name")                                                                       \
    ROW(machine_hash, "of all of its values")                                                      \
    ROW(overrides, "what --set changed of it")                                                     \
    ROW(options, "other options of the simulator but files")                                       \
    ROW(scheduler, "of warps, with its parameters; none: the whole run is functional")             \
    ROW(scheduler_hash, "of that, and of the bytes of a shared object")                            \
    ROW(cta_scheduler, "of thread blocks, likewise")                                               \
    ROW(cta_scheduler_hash, "likewise")

typedef struct RunStats {
#define RUN_ORIGIN_FIELD(name, meaning) char *name; /* owned; NULL: none */
    RUN_ORIGIN(RUN_ORIGIN_FIELD)
#undef RUN_ORIGIN_FIELD
    CountersShape shape;  /* of the machine; is_complete: all kernels were */
    LevelPeaks peaks;     /* of the machine; 0: unknown */
    KernelStats *kernels; /* in the order in which they ended; owned */
    int kernel_count, kernel_capacity;
    TimeSeries *series;         /* owned; NULL without --sample */
    Profile *profile;           /* owned; NULL without --profile */
    Units *units;               /* of the machine; owned; NULL: the whole run is functional */
    bool tells_units;           /* each unit is written, not only how they differ */
    Findings *findings;         /* of the checks; owned; NULL: nothing was looked for */
    uint64_t peak_memory_bytes; /* of the host */
    char *ending; /* "signal 11 (Segmentation fault)": the program did not end by itself, and what
                     follows from its launches alone is all that is known; owned, NULL: it did */
} RunStats;

/* Counters that a kernel has which ran functionally: its instructions. */
enum { RUN_FUNCTIONAL_COUNTERS = 2 };
extern const CounterId run_functional_counters[RUN_FUNCTIONAL_COUNTERS];

/* An empty run without timing. Texts are copied, here and below. Freed by run_free. */
RunStats *run_new(const char *program);
/* Makes an empty run a timed one, on a machine with this number of SMs and schedulers per SM. */
void run_set_machine(RunStats *run, const char *machine, const char *scheduler,
                     const char *cta_scheduler, uint32_t sms, uint32_t schedulers);
void run_free(RunStats *run); /* NULL is allowed */

/* Whether the run was timed; else it is functional as a whole. */
static inline bool run_is_timed(const RunStats *run) { return run->scheduler != NULL; }

/* A text of the run's origin: 0 <= i < RUN_ORIGINS, in order. */
#define RUN_ORIGIN_INDEX(name, meaning) RUN_ORIGIN_##name,
typedef enum RunOrigin { RUN_ORIGIN(RUN_ORIGIN_INDEX) RUN_ORIGINS } RunOrigin;
#undef RUN_ORIGIN_INDEX
extern const char *const run_origin_names[RUN_ORIGINS];
const char *run_origin(const RunStats *run, RunOrigin which); /* NULL: none */
/* Puts a text in place of the one before. NULL: none. */
void run_set_origin(RunStats *run, RunOrigin which, const char *text);

/* Adds a kernel that ran functionally, all figures 0. Valid until the next kernel is added. */
KernelStats *run_add_kernel(RunStats *run, const char *name);
/* Makes it one that was timed, all counters 0. */
KernelTiming *run_add_timing(KernelStats *kernel);
/* Keeps what a timed kernel counted, in the place of what was kept; packed, because a run may have
 * launches by the hundred thousand. */
void run_set_figures(KernelTiming *timing, const KernelFigures *figures);
KernelFigures run_figures(const KernelTiming *timing);

/* A kernel's counters; without timing all are 0 but the functional ones. */
Counters run_kernel_counters(const KernelStats *kernel);

/* What rules of advice look at: a timed kernel's, with its counters, and those of the run's total.
 * They do not hold where kernels overlapped. */
AdviceFacts run_kernel_facts(const RunStats *run, const KernelStats *kernel,
                             const Counters *counters);
AdviceFacts run_total_facts(const RunStats *run, const Counters *total);
bool run_has_overlap(const RunStats *run); /* any kernel did */

/* Whether a kernel is part of the run's total. Kernels without timing are not when others were
 * timed or could have been: --kernels or --skip left them out. */
bool run_is_counted(const RunStats *run, const KernelStats *kernel);
/* Sums over the kernels that are part of the total. */
Counters run_total(const RunStats *run);
void run_total_histograms(const RunStats *run, Histograms *total);
WarpStates run_total_states(const RunStats *run);

/* Sums over the kernels that were left out. */
typedef struct UntimedTotal {
    int kernels;       /* how many */
    Counters counters; /* the functional ones */
} UntimedTotal;
UntimedTotal run_untimed(const RunStats *run);

/* What differs from run to run. */
typedef struct HostStats {
    double wall_seconds;    /* in the launches of the total */
    double untimed_seconds; /* of the wall clock in those left out */
    double cpu_seconds;     /* that the process had the processor in the former */
} HostStats;
HostStats run_host(const RunStats *run);

/* Checks every identity of every timed kernel and of their total; `why` as in counters_check, each
 * line headed by the kernel. Identities do not hold for kernels that overlapped, as some counters
 * are of the kernel alone, nor for a total with one of them. */
bool run_check(const RunStats *run, Text *why);

/* The origin, as keys of the JSON object that is open. */
void run_write_origin(const RunStats *run, Json *json);
/* The same as fields of CSV, quoted where they need it, between commas; and their names likewise.
 */
void run_add_origin_fields(const RunStats *run, Text *out);
void run_add_origin_names(Text *out);
/* And as names and texts in turn, each with its NUL; what there is none of is left out. */
void run_add_origin_texts(const RunStats *run, Text *out);
/* A run as one JSON object. */
void run_write_json(const RunStats *run, Json *json);

/* A header line, and a line for each timed kernel and for the total of each run, which must have
 * timing. */
void run_write_csv(const RunStats *const *runs, int count, Text *out);

/* A line for each unit of the machine, of a run that has them. */
void run_write_units_csv(const RunStats *run, Text *out);

/* A line for each CTA of each kernel: kernel, CTA, SM, slot, start, end (PRO figure 2). */
void run_write_ctas_csv(const RunStats *run, Text *out);

#endif
