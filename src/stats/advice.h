/* Advice on a kernel: what limits it, by rules. One row each: its name, the least weight at which
 * it is reported, when it applies and what its weight is, in words. docs/advice.md and `tyto
 * explain` derive from the rows; src/stats/advice.c has the functions.
 *
 * A weight is a share of cycles, so that rules can be put in order: the part of the kernel's cycles
 * to which the rule points, which is not the time that a change would save. */
#ifndef TYTO_STATS_ADVICE_H
#define TYTO_STATS_ADVICE_H

#include "base/text.h"
#include "stats/counters.h"
#include "stats/levels.h"
#include "stats/occupancy.h"

/* RULE(name, title, least weight in percent, when it applies, what its weight is). Shares are of
 * the cycles with a warp; those of launch_bound are of all cycles, those of small_grid, tail and
 * the levels of memory of the cycles behind the launch latency. */
/* clang-format off */
#define ADVICE_RULES(RULE) \
    RULE(launch_bound, "launch-bound", 25, "always", "cycles before the first thread block can start (`idle_launch`), of all scheduler cycles") \
    RULE(small_grid, "small-grid", 25, "the grid has fewer thread blocks than fit on the GPU at once", "scheduler cycles without a warp (`idle_no_warp` less `idle_launch`)") \
    RULE(tail, "tail", 10, "the grid has as many thread blocks as fit at once, or more", "SM cycles without a warp (`NoWarpCycles` less those of the launch)") \
    RULE(memory_bound, "memory-bound", 60, "always", "the largest share of its peak that L1D, L2 or DRAM used") \
    RULE(memory_latency, "memory-latency", 30, "L1D, L2 and DRAM used less than 60% of their peaks, and neither `uncoalesced` nor `contended-atomics` says why", "scheduler cycles that waited for memory (`scoreboard_memory`)") \
    RULE(uncoalesced, "uncoalesced", 5, "at least 25% of the accesses would not be needed with the data side by side, atomics that come in turn left out", "scheduler cycles that waited for memory or found the load/store unit full, times that share") \
    RULE(bank_conflicts, "bank-conflicts", 10, "always", "SM cycles that bank conflicts add to those of shared memory (`shared_cycles` less `least_shared_cycles`)") \
    RULE(contended_atomics, "contended-atomics", 10, "at least 50% of the atomics came to a sector right behind another (`atomic_contention`)", "scheduler cycles, of SMs with warps, that waited for memory or a result, found the load/store unit full, or had only warps that had ended; times the share of atomics among the accesses") \
    RULE(low_occupancy, "low-occupancy", 15, "less than 50% of an SM's warps fit, and the grid has as many thread blocks as fit at once, or more", "scheduler cycles that waited for memory or a result, times the share of warps that do not fit") \
    RULE(divergence, "divergence", 5, "instructions use at most 75% of the lanes", "scheduler cycles that issued or waited for a result, times the share of lanes that are not used") \
    RULE(barrier_bound, "barrier-bound", 20, "always", "scheduler cycles at a barrier (`idle_barrier`)") \
    RULE(fetch_bound, "fetch-bound", 20, "always", "scheduler cycles that waited for instructions (`idle_fetch`, `idle_branch`)") \
    RULE(load_store_bound, "load-store-bound", 30, "neither `uncoalesced` nor `contended-atomics` says why", "scheduler cycles in which a ready instruction found the load/store unit full (`pipeline_lsu`)") \
    RULE(pipe_bound, "pipe-bound", 30, "always", "scheduler cycles in which a ready instruction found another pipeline full (`pipeline_other`)") \
    RULE(result_latency, "result-latency", 40, "always", "scheduler cycles that waited for a result (`scoreboard_other`)") \
    RULE(issue_bound, "issue-bound", 60, "always", "scheduler cycles that issued") \
    RULE(held_back, "held-back", 20, "always", "scheduler cycles in which the policy let no ready warp issue (`throttled`)")
/* clang-format on */

#define ADVICE_ID(name, ...) ADVICE_##name,
typedef enum AdviceRule { ADVICE_RULES(ADVICE_ID) ADVICE_RULE_COUNT } AdviceRule;
#undef ADVICE_ID

enum { ADVICE_MOST = 3 /* sentences on a kernel */ };

/* What the rules look at. */
typedef struct AdviceFacts {
    const Counters *counters;
    const LevelPeaks *peaks;
    const Occupancy *occupancy; /* NULL: of several launches; rules that need it say nothing */
    uint64_t ctas;              /* of the grid */
    uint32_t sms;
} AdviceFacts;

/* The rules that apply, the one with the most weight first, ADVICE_MOST at most: their number. */
int advice_find(const AdviceFacts *facts, AdviceRule rules[static ADVICE_MOST]);
/* A rule's weight; 0 where it does not apply. */
double advice_weight(const AdviceFacts *facts, AdviceRule rule);
/* Adds what a rule that applies says, one sentence. */
void advice_say(const AdviceFacts *facts, AdviceRule rule, Text *out);

/* Adds the rules that apply: an array of objects, and lines for people. */
void advice_write_json(const AdviceFacts *facts, Json *json);
void advice_report(const AdviceFacts *facts, Text *out);

/* The name of a rule as it is written, "launch-bound"; NULL behind the last. */
const char *advice_name(int rule);
/* Adds what a rule says of itself: some lines for people. */
void advice_explain(AdviceRule rule, Text *out);
/* Adds the page docs/advice.md. */
void advice_document(Text *out);

#endif
