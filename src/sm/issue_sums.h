/* Sums that the issue stage keeps between two updates of the counters: scheduler cycles by outcome,
 * and instructions by kind and by lanes. The stage updates sums and not counters so that a step
 * touches few lines of the host's cache. */
#ifndef TYTO_SM_ISSUE_SUMS_H
#define TYTO_SM_ISSUE_SUMS_H

#include "sm/op.h"
#include "stats/counters.h"
#include "stats/histogram.h"

/* What a scheduler did last; also holds for the cycles in which it does not pick. */
typedef enum SmOutcome {
    SM_ISSUED,
    SM_IDLE_NO_WARP,
    SM_IDLE_BARRIER,
    SM_IDLE_BRANCH,
    SM_IDLE_FETCH,
    SM_SCOREBOARD_MEMORY,
    SM_SCOREBOARD_OTHER,
    SM_PIPELINE_LSU,
    SM_PIPELINE_OTHER,
    SM_THROTTLED,
    SM_OUTCOMES
} SmOutcome;

/* What a scheduler's cycle was, judged only by the warps that its policy looks at (the seen_*
 * counters). */
typedef enum SmSeen {
    SM_SEEN_ISSUE,
    SM_SEEN_IDLE,
    SM_SEEN_SCOREBOARD,
    SM_SEEN_PIPELINE,
    SM_SEEN
} SmSeen;

/* Counts since they were last added to the counters. */
typedef struct SmIssueSums {
    uint64_t memory_block;         /* MemoryBlockCycles */
    uint64_t no_warp;              /* NoWarpCycles */
    uint64_t no_issue;             /* no_issue_cycles */
    uint64_t outcome[SM_OUTCOMES]; /* scheduler cycles by outcome, of all schedulers */
    uint64_t seen[SM_SEEN];        /* the same by SmSeen, if the policy looks at only some warps */
    uint64_t lanes[ISA_LANES + 1]; /* instructions by the number of lanes that executed them */
    uint64_t kind[SM_COUNTS];      /* instructions by SmOp.counts */
    uint64_t to_sfu;               /* instructions for SP or SFU that went to SFU */
} SmIssueSums;

/* Adds the sums to the counters and to the histogram of active lanes, and clears them.
 * `schedulers`: number of schedulers of the SM; `looks`: its policy looks at only some warps. */
void issue_sums_settle(SmIssueSums *sums, uint32_t schedulers, bool looks, Counters *counters,
                       Histograms *histograms);

#endif
