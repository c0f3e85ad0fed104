/* The profile of a run: for each instruction of each kernel what the counters count in total, and
 * for how long warps waited before it, by cause. Each is one row of a table. The sums of a kernel's
 * rows are the kernel's counters, which is checked after every run.
 *
 * A warp waits before the instruction that it issues next; in the cycle in which it issues, it is
 * at that instruction; once it has exited, at its exit. So each resident warp of each SM cycle is
 * in exactly one place for exactly one cause, and all cycles together are the counter warp_cycles.
 *
 * Left out: constant and texture caches. Fetches of instructions and write-backs of dirty lines
 * cause accesses below the SM that belong to no instruction; these are counted in a row of their
 * own in ProfileKernel. */
#ifndef TYTO_STATS_PROFILE_H
#define TYTO_STATS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"
#include "stats/source_files.h"

/* CAUSE(name, sentence, meaning): why a warp waits; "3 warps SENTENCE before k.ptx:7". The same
 * columns and causes define the struct, the checks, JSON, text, the library's rows and the table of
 * docs/profile.md. */
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
    CAUSE(lsu, "finding the load/store unit full", "it could issue, but the load/store unit takes nothing") \
    CAUSE(pipeline, "finding a pipeline full", "it could issue, but another pipeline takes nothing") \
    CAUSE(policy, "held back by the policy", "it could issue, but the policy does not let it") \
    CAUSE(turn, "ready to issue", "it could issue, but its scheduler issued another warp") \
    CAUSE(exited, "draining after exit", "it has exited, and something of it is under way")

/* COLUMN(name, unit, sum, at_end, meaning): what is counted of an instruction. `sum` is the counter
 * that the rows add up to, at_end: once nothing is under way. */
#define PROFILE_COUNTS(COLUMN) \
    COLUMN(issues, "warp instructions", warp_instructions, false, "issues, once per warp") \
    COLUMN(slots, "machine instructions", machine_instructions, false, "issue slots that they took, on a machine that issues its own instructions") \
    COLUMN(lanes, "thread instructions", thread_instructions, false, "issues, once per active lane") \
    COLUMN(divergent, "warp instructions", divergent_branches, false, "issues that split their warp") \
    COLUMN(completed, "warp instructions", warp_instructions, true, "issues whose instruction has ended") \
    COLUMN(latency_cycles, "SM cycles", none, false, "their time from issue until the results were written, or a store handed on") \
    COLUMN(requests, "warp instructions", memory_requests, false, "global and local instructions that made accesses") \
    COLUMN(accesses, "accesses", coalesced_accesses, false, "global and local accesses made from them") \
    COLUMN(least_accesses, "accesses", least_accesses, false, "accesses that the same lanes would have made with their data side by side") \
    COLUMN(shared_instructions, "warp instructions", shared_instructions, false, "those of them that went to shared memory") \
    COLUMN(shared_cycles, "SM cycles", shared_cycles, false, "cycles shared memory took them") \
    COLUMN(least_shared_cycles, "SM cycles", least_shared_cycles, false, "cycles without bank conflicts") \
    COLUMN(l1d_hits, "accesses", l1d_hits, false, "L1D lookups: data there") \
    COLUMN(l1d_pending_hits, "accesses", l1d_pending_hits, false, "L1D lookups: line already on its way") \
    COLUMN(l1d_misses, "accesses", l1d_misses, false, "L1D lookups: neither") \
    COLUMN(l2_hits, "accesses", l2_hits, true, "L2 lookups of its requests: data there") \
    COLUMN(l2_pending_hits, "accesses", l2_pending_hits, true, "L2 lookups of its requests: data already on their way") \
    COLUMN(l2_misses, "accesses", l2_misses, true, "L2 lookups of its requests: neither") \
    COLUMN(reads, "requests", reads_answered, false, "reads and atomics that left the SM and were answered") \
    COLUMN(read_cycles, "SM cycles", load_cycles, false, "their time from the SM's miss to the reply")
/* clang-format on */

typedef enum ProfileColumn {
#define PROFILE_CAUSE(name, ...) PROFILE_cycles_##name,
    PROFILE_CAUSES(PROFILE_CAUSE)
#undef PROFILE_CAUSE
        PROFILE_CAUSE_COUNT,
    PROFILE_BEFORE_COUNTS = PROFILE_CAUSE_COUNT - 1, /* the counts stand behind the causes */
#define PROFILE_COUNT(name, ...) PROFILE_##name,
    PROFILE_COUNTS(PROFILE_COUNT)
#undef PROFILE_COUNT
        PROFILE_COLUMN_COUNT
} ProfileColumn;

/* A column as others see it. Those of causes are named cycles_CAUSE, in warp cycles. */
typedef struct ProfileColumnRow {
    const char *name, *unit, *meaning;
    const char *sentence; /* of a cause, else NULL */
    int sum;              /* CounterId that its rows add up to, -1: none */
    bool at_end;          /* they do so once nothing is under way */
} ProfileColumnRow;
extern const ProfileColumnRow profile_columns[PROFILE_COLUMN_COUNT];

/* What was counted in one place. */
typedef struct ProfileCounts {
    uint64_t of[PROFILE_COLUMN_COUNT];
} ProfileCounts;
void profile_add(ProfileCounts *sum, const ProfileCounts *counts);
bool profile_is_empty(const ProfileCounts *counts);
/* Warp cycles of all causes together. */
uint64_t profile_cycles(const ProfileCounts *counts);

/* An instruction. Texts are owned. */
typedef struct ProfileLine {
    uint32_t pc;          /* in the decoded program */
    uint32_t line;        /* in the PTX text */
    char *text;           /* of that line; its opcode where the text is not known */
    char *function;       /* that contains the instruction, as the PTX names it */
    char *source;         /* file of the source, NULL: unknown */
    uint32_t source_line; /* in it */
    ProfileCounts counts;
} ProfileLine;

/* Warps that waited in one place when a launch ended early. */
typedef struct ProfileStand {
    uint32_t pc;
    ProfileColumn cause; /* one of the causes */
    uint32_t warps;
} ProfileStand;

/* All launches of one kernel of one module. */
typedef struct ProfileKernel {
    char *name;   /* as the PTX names it; owned */
    char *module; /* file of the PTX; owned */
    uint64_t key; /* of the recording code: distinguishes kernels of one name */
    uint64_t launches;
    bool is_complete;   /* all of them ended by themselves */
    ProfileLine *lines; /* that did anything, by pc; owned */
    uint32_t line_count, line_capacity;
    ProfileStand *stands; /* of the launch that ended early; owned */
    uint32_t stand_count;
    ProfileCounts nobody; /* what no instruction of a warp caused */
    Counters counters;    /* what the launches counted */
} ProfileKernel;

typedef struct Profile {
    ProfileKernel *kernels; /* in the order of their first launch; owned */
    uint32_t count, capacity;
    SourceFiles files; /* of the source, whose lines may be shown */
} Profile;

Profile *profile_new(void);
void profile_free(Profile *profile); /* NULL is allowed */

/* The kernel with this key, made if need be. Valid until the next one is made. */
ProfileKernel *profile_kernel(Profile *profile, uint64_t key, const char *name, const char *module);
/* Its instruction at `pc`, made if need be with nothing but the pc: then *is_new, and the caller
 * fills in the rest. Valid until the next one is made. */
ProfileLine *profile_line(ProfileKernel *kernel, uint32_t pc, bool *is_new);
void profile_add_stand(ProfileKernel *kernel, const ProfileStand *stand);

/* All that was counted, including what belongs to no instruction. */
ProfileCounts profile_total(const ProfileKernel *kernel);
/* Whether the sums are those of the counters; `why` gets a line for each that is not. */
bool profile_check(const Profile *profile, Text *why);

/* Lines of the source: instructions of one place added up, in the order of file and line; those
 * without a place are not among them. */
typedef struct ProfileSource {
    const char *file; /* borrowed */
    uint32_t line;
    char *text; /* of the line, blanks before and behind left out; NULL: cannot be read; owned */
    bool is_outside; /* the file is not read because it is outside of the allowed folders */
    ProfileCounts counts;
} ProfileSource;
ProfileSource *profile_sources(const ProfileKernel *kernel, const SourceFiles *files,
                               uint32_t *count);
void profile_sources_free(ProfileSource *sources, uint32_t count);

/* An array with an object for each kernel (docs/profile.md). */
void profile_write_json(const Profile *profile, Json *json);
/* The places where warps waited longest, for people: in lines of at most `columns`, as far as the
 * figures allow; 0: lines of any length. */
void profile_report(const Profile *profile, int columns, Text *out);
/* Adds the page docs/profile.md. */
void profile_document(Text *out);

#endif
