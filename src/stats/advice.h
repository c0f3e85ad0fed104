/* Advice on a kernel: what limits it, by rules. Each rule is one row with its name, the least
 * weight at which it is reported, and a description of when it applies and what its weight is.
 * docs/advice.md and `tyto explain` are derived from the rows; src/stats/advice.c has the
 * functions.
 *
 * A weight is a share of cycles, so that rules can be ordered. It is the part of the kernel's
 * cycles that the rule is about, not the time that a change would save. */
#ifndef TYTO_STATS_ADVICE_H
#define TYTO_STATS_ADVICE_H

#include "base/text.h"
#include "stats/counters.h"
#include "stats/levels.h"
#include "stats/occupancy.h"

/* RULE(name, title, least weight in percent, when it applies, what its weight is). Shares are of
 * the cycles with a warp. Exceptions: launch_bound uses all cycles; small_grid, tail and the memory
 * levels use the cycles after the launch latency. */
/* clang-format off */
#define ADVICE_RULES(RULE) \
    RULE(launch_bound, "launch-bound", 25, "always", "cycles before the first thread block can start (`idle_launch`), of all scheduler cycles") \
    RULE(small_grid, "small-grid", 25, "the grid has fewer thread blocks than fit on the GPU at once", "scheduler cycles without a warp (`idle_no_warp` less `idle_launch`)") \
    RULE(tail, "tail", 10, "the grid has at least as many thread blocks as fit at once", "SM cycles without a warp (`NoWarpCycles` less those of the launch)") \
    RULE(memory_bound, "memory-bound", 60, "always", "the largest share of its peak that L1D, L2 or DRAM used") \
    RULE(memory_latency, "memory-latency", 30, "L1D, L2 and DRAM used less than 60% of their peaks, and neither `uncoalesced` nor `contended-atomics` applies", "scheduler cycles that waited for memory (`scoreboard_memory`)") \
    RULE(uncoalesced, "uncoalesced", 5, "at least 25% of the accesses would not be needed with contiguous data, not counting atomics that wait for each other", "scheduler cycles that waited for memory or found the load/store unit full, times that share") \
    RULE(bank_conflicts, "bank-conflicts", 10, "always", "SM cycles that bank conflicts add to those of shared memory (`shared_cycles` less `least_shared_cycles`)") \
    RULE(contended_atomics, "contended-atomics", 10, "at least 50% of the atomics directly followed another atomic to the same sector (`atomic_contention`)", "scheduler cycles, of SMs with warps, that waited for memory or a result, found the load/store unit full, or had only finished warps; times the share of atomics among the accesses") \
    RULE(low_occupancy, "low-occupancy", 15, "less than 50% of an SM's warps fit, and the grid has at least as many thread blocks as fit at once", "scheduler cycles that waited for memory or a result, times the share of warps that do not fit") \
    RULE(divergence, "divergence", 5, "instructions use at most 75% of the lanes", "scheduler cycles that issued or waited for a result, times the share of unused lanes") \
    RULE(barrier_bound, "barrier-bound", 20, "always", "scheduler cycles at a barrier (`idle_barrier`)") \
    RULE(fetch_bound, "fetch-bound", 20, "always", "scheduler cycles that waited for instructions (`idle_fetch`, `idle_branch`)") \
    RULE(load_store_bound, "load-store-bound", 30, "neither `uncoalesced` nor `contended-atomics` applies", "scheduler cycles in which a ready instruction found the load/store unit full (`pipeline_lsu`)") \
    RULE(pipe_bound, "pipe-bound", 30, "always", "scheduler cycles in which a ready instruction found another pipeline full (`pipeline_other`)") \
    RULE(result_latency, "result-latency", 40, "always", "scheduler cycles that waited for a result (`scoreboard_other`)") \
    RULE(issue_bound, "issue-bound", 60, "always", "scheduler cycles that issued") \
    RULE(held_back, "held-back", 20, "always", "scheduler cycles in which the policy let no ready warp issue (`throttled`)")
/* clang-format on */

#define ADVICE_ID(name, ...) ADVICE_##name,
typedef enum AdviceRule { ADVICE_RULES(ADVICE_ID) ADVICE_RULE_COUNT } AdviceRule;
#undef ADVICE_ID

enum { ADVICE_MOST = 3 /* most sentences on a kernel */ };

/* The input of the rules. */
typedef struct AdviceFacts {
    const Counters *counters;
    const LevelPeaks *peaks;
    const Occupancy *occupancy; /* NULL: several launches; rules that need it do not apply */
    uint64_t ctas;              /* CTAs of the grid */
    uint32_t sms;
} AdviceFacts;

/* Finds the rules that apply, at most ADVICE_MOST, in descending order of weight. Returns their
 * number. */
int advice_find(const AdviceFacts *facts, AdviceRule rules[static ADVICE_MOST]);
/* A rule's weight; 0 if it does not apply. */
double advice_weight(const AdviceFacts *facts, AdviceRule rule);
/* Adds the sentence of a rule that applies. */
void advice_say(const AdviceFacts *facts, AdviceRule rule, Text *out);

/* Adds the rules that apply, as an array of JSON objects and as text lines. */
void advice_write_json(const AdviceFacts *facts, Json *json);
void advice_report(const AdviceFacts *facts, Text *out);

/* The name of a rule as it is written, "launch-bound"; NULL after the last. */
const char *advice_name(int rule);
/* Adds the description of a rule, in several lines. */
void advice_explain(AdviceRule rule, Text *out);
/* Adds the text of docs/advice.md. */
void advice_document(Text *out);

#endif
