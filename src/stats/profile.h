/* The profile of a run: for each instruction of each kernel, what the counters count in total, and
 * how long warps waited before it, by cause. Each column is one row of a table. The sums of a
 * kernel's instructions must equal the kernel's counters, which is checked after every run.
 *
 * A warp waits before the instruction that it issues next. In the cycle in which it issues, it
 * counts at that instruction; after it has exited, at its exit. So each resident warp of each SM
 * cycle is in exactly one place with exactly one cause, and the sum of all cycles is the counter
 * warp_cycles.
 *
 * Not included: constant and texture caches. Instruction fetches and write-backs of dirty lines
 * cause accesses below the SM that belong to no instruction; these are counted in a separate row of
 * ProfileKernel. */
#ifndef TYTO_STATS_PROFILE_H
#define TYTO_STATS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"
#include "stats/source_files.h"

/* CAUSE(name, sentence, meaning): why a warp waits; "3 warps SENTENCE before k.ptx:7". The struct,
 * the checks, JSON, text, the library's rows and the table of docs/profile.md are derived from
 * these columns and causes. */
/* clang-format off */
#define PROFILE_CAUSES(CAUSE) \
    CAUSE(issued, "issuing", "it issued this instruction") \
    CAUSE(barrier, "waiting at a barrier", "it waits at a CTA barrier") \
    CAUSE(branch, "waiting for instructions after a branch", "a taken branch refetches") \
    CAUSE(fetch, "waiting for instructions", "its instruction buffer is empty") \
    CAUSE(fetch_miss, "waiting for an instruction miss", "an L1I miss of its own is under way") \
    CAUSE(memory, "waiting for data from memory", "a register comes from global, local or texture memory") \
    CAUSE(atomic, "waiting for atomics", "its atomics must be answered first") \
    CAUSE(fence, "waiting at a memory fence", "a memory fence waits for its loads and stores") \
    CAUSE(copy, "waiting for asynchronous copies", "asynchronous copies must end first") \
    CAUSE(product, "waiting for products of a warpgroup", "a group of wgmma must end first") \
    CAUSE(registers, "waiting for registers that other warps give back", "setmaxnreg.inc waits for registers of its CTA") \
    CAUSE(grid, "waiting for the kernel before", "griddepcontrol.wait waits for the kernel that this one depends on") \
    CAUSE(result, "waiting for a result", "a register comes from a pipeline, shared or constant memory") \
    CAUSE(lsu, "finding the load/store unit full", "it could issue, but the load/store unit accepts nothing") \
    CAUSE(pipeline, "finding a pipeline full", "it could issue, but another pipeline accepts nothing") \
    CAUSE(policy, "held back by the policy", "it could issue, but the policy does not let it") \
    CAUSE(turn, "ready to issue", "it could issue, but its scheduler issued another warp") \
    CAUSE(exited, "draining after exit", "it has exited, but operations of it are still under way")

/* COLUMN(name, unit, sum, at_end, meaning): what is counted for an instruction. `sum` is the
 * counter that is the sum of the column. at_end: the sums are only equal once nothing is under
 * way. */
#define PROFILE_COUNTS(COLUMN) \
    COLUMN(issues, "warp instructions", warp_instructions, false, "issues, once per warp") \
    COLUMN(slots, "machine instructions", machine_instructions, false, "issue slots that they took, with sm.instructions: lowered") \
    COLUMN(lanes, "thread instructions", thread_instructions, false, "issues, once per active lane") \
    COLUMN(divergent, "warp instructions", divergent_branches, false, "issues that split their warp") \
    COLUMN(completed, "warp instructions", warp_instructions, true, "issues whose instruction has ended") \
    COLUMN(latency_cycles, "SM cycles", none, false, "time from their issue until the results were written, or a store was passed on") \
    COLUMN(requests, "warp instructions", memory_requests, false, "global and local instructions that made accesses") \
    COLUMN(accesses, "accesses", coalesced_accesses, false, "global and local accesses made by them") \
    COLUMN(least_accesses, "accesses", least_accesses, false, "accesses that the same lanes would have made with contiguous data") \
    COLUMN(shared_instructions, "warp instructions", shared_instructions, false, "issues that accessed shared memory") \
    COLUMN(shared_cycles, "SM cycles", shared_cycles, false, "cycles that shared memory took for them") \
    COLUMN(least_shared_cycles, "SM cycles", least_shared_cycles, false, "cycles without bank conflicts") \
    COLUMN(l1d_hits, "accesses", l1d_hits, false, "L1D lookups whose data were present") \
    COLUMN(l1d_pending_hits, "accesses", l1d_pending_hits, false, "L1D lookups whose line was already on its way") \
    COLUMN(l1d_misses, "accesses", l1d_misses, false, "L1D lookups whose line was neither present nor on its way") \
    COLUMN(l2_hits, "accesses", l2_hits, true, "L2 lookups of its requests whose data were present") \
    COLUMN(l2_pending_hits, "accesses", l2_pending_hits, true, "L2 lookups of its requests whose data were already on their way") \
    COLUMN(l2_misses, "accesses", l2_misses, true, "L2 lookups of its requests that were neither") \
    COLUMN(reads, "requests", reads_answered, false, "reads and atomics that left the SM and were answered") \
    COLUMN(read_cycles, "SM cycles", load_cycles, false, "time of these reads from the SM's miss to the reply")
/* clang-format on */

typedef enum ProfileColumn {
#define PROFILE_CAUSE(name, ...) PROFILE_cycles_##name,
    PROFILE_CAUSES(PROFILE_CAUSE)
#undef PROFILE_CAUSE
        PROFILE_CAUSE_COUNT,
    PROFILE_BEFORE_COUNTS = PROFILE_CAUSE_COUNT - 1, /* counts come after the causes */
#define PROFILE_COUNT(name, ...) PROFILE_##name,
    PROFILE_COUNTS(PROFILE_COUNT)
#undef PROFILE_COUNT
        PROFILE_COLUMN_COUNT
} ProfileColumn;

/* A column in the public interface. Columns of causes are named cycles_CAUSE and are in warp
 * cycles. */
typedef struct ProfileColumnRow {
    const char *name, *unit, *meaning;
    const char *sentence; /* sentence of a cause; else NULL */
    int sum;              /* CounterId that is the sum of the column; -1: none */
    bool at_end;          /* the sum is only equal once nothing is under way */
} ProfileColumnRow;
extern const ProfileColumnRow profile_columns[PROFILE_COLUMN_COUNT];

/* The counts of one place. */
typedef struct ProfileCounts {
    uint64_t of[PROFILE_COLUMN_COUNT];
} ProfileCounts;
void profile_add(ProfileCounts *sum, const ProfileCounts *counts);
bool profile_is_empty(const ProfileCounts *counts);
/* Warp cycles of all causes together. */
uint64_t profile_cycles(const ProfileCounts *counts);

/* An instruction. It owns its texts. */
typedef struct ProfileLine {
    uint32_t pc;          /* index in the decoded program */
    uint32_t line;        /* line in the PTX text */
    char *text;           /* text of that line, or the opcode if the text is unknown */
    char *function;       /* name in the PTX of the function that contains it */
    char *source;         /* source file; NULL: unknown */
    uint32_t source_line; /* line in it */
    ProfileCounts counts;
} ProfileLine;

/* Warps that waited in one place when a launch ended early. */
typedef struct ProfileWait {
    uint32_t pc;
    ProfileColumn cause; /* one of the causes */
    uint32_t warps;
} ProfileWait;

/* All launches of one kernel of one module. */
typedef struct ProfileKernel {
    char *name;   /* name in the PTX; owned */
    char *module; /* file of the PTX; owned */
    uint64_t key; /* chosen by the recording code: tells kernels of one name apart */
    uint64_t launches;
    bool is_complete;   /* all of them completed */
    ProfileLine *lines; /* instructions with counts, by pc; owned */
    uint32_t line_count, line_capacity;
    ProfileWait *waits; /* warps when the launch that ended early did so; owned */
    uint32_t wait_count;
    ProfileCounts nobody; /* counts that belong to no instruction of a warp */
    Counters counters;    /* counters of the launches */
} ProfileKernel;

typedef struct Profile {
    ProfileKernel *kernels; /* kernels, in the order of their first launch; owned */
    uint32_t count, capacity;
    SourceFiles files; /* source files whose lines may be shown */
} Profile;

Profile *profile_new(void);
void profile_free(Profile *profile); /* NULL is allowed */

/* The kernel with this key, added if it is missing. Valid until the next one is added. */
ProfileKernel *profile_kernel(Profile *profile, uint64_t key, const char *name, const char *module);
/* Its instruction at `pc`. If it is missing, it is added with only the pc, *is_new is set, and the
 * caller must fill in the rest. Valid until the next one is added. */
ProfileLine *profile_line(ProfileKernel *kernel, uint32_t pc, bool *is_new);
void profile_add_wait(ProfileKernel *kernel, const ProfileWait *wait);

/* The sum of all counts, including those that belong to no instruction. */
ProfileCounts profile_total(const ProfileKernel *kernel);
/* Whether the sums equal the counters; `why` receives a line for each that does not. */
bool profile_check(const Profile *profile, Text *why);

/* Source lines: the counts of instructions of one place are added up. They are sorted by file and
 * line. Instructions without a place are not included. */
typedef struct ProfileSource {
    const char *file; /* borrowed */
    uint32_t line;
    char *text;      /* text of the line without surrounding blanks; NULL: cannot be read; owned */
    bool is_outside; /* the file is not read because it is outside the allowed folders */
    ProfileCounts counts;
} ProfileSource;
ProfileSource *profile_sources(const ProfileKernel *kernel, const SourceFiles *files,
                               uint32_t *count);
void profile_sources_free(ProfileSource *sources, uint32_t count);

/* Adds an array with an object for each kernel (docs/profile.md). */
void profile_write_json(const Profile *profile, Json *json);
/* Adds the places where warps waited longest, as text in lines of at most `columns` columns, as far
 * as the figures fit; 0: no limit. */
void profile_report(const Profile *profile, int columns, Text *out);
/* Adds the text of docs/profile.md. */
void profile_document(Text *out);

#endif
