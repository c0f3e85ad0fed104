/* The sums of the issue stage (see the header). */
#include "sm/issue_sums.h"

/* Adds the instructions of a kind to every counter that counts them. */
static void add_kind(Counters *c, uint32_t kind, uint64_t count) {
    uint64_t *const unit[SM_UNITS] = {
        [SM_UNIT_SP] = &c->sp_instructions,         [SM_UNIT_SFU] = &c->sfu_instructions,
        [SM_UNIT_DP] = &c->dp_instructions,         [SM_UNIT_INT] = &c->int_instructions,
        [SM_UNIT_TENSOR] = &c->tensor_instructions, [SM_UNIT_LDST] = &c->ldst_instructions,
        [SM_UNIT_SP_OR_SFU] = &c->sp_instructions};
    uint32_t memory = kind & SM_COUNTS_ATOMIC;
    *unit[kind % SM_COUNTS_LOAD] += count;
    if (memory == SM_COUNTS_LOAD) c->load_instructions += count;
    if (memory == SM_COUNTS_STORE) c->store_instructions += count;
    if (memory == SM_COUNTS_ATOMIC) c->atomic_instructions += count;
    if (kind & SM_COUNTS_BRANCH) c->branches += count;
    if (kind & SM_COUNTS_BARRIER) c->barriers += count;
}

static void add_outcomes(Counters *c, const SmIssueSums *sums) {
    uint64_t *const counter_of[SM_OUTCOMES] = {
        [SM_ISSUED] = &c->issued,
        [SM_IDLE_NO_WARP] = &c->idle_no_warp,
        [SM_IDLE_BARRIER] = &c->idle_barrier,
        [SM_IDLE_BRANCH] = &c->idle_branch,
        [SM_IDLE_FETCH] = &c->idle_fetch,
        [SM_SCOREBOARD_MEMORY] = &c->scoreboard_memory,
        [SM_SCOREBOARD_OTHER] = &c->scoreboard_other,
        [SM_PIPELINE_LSU] = &c->pipeline_lsu,
        [SM_PIPELINE_OTHER] = &c->pipeline_other,
        [SM_THROTTLED] = &c->throttled,
    };
    for (int outcome = 0; outcome < SM_OUTCOMES; outcome++) {
        *counter_of[outcome] += sums->outcome[outcome];
        c->scheduler_cycles += sums->outcome[outcome];
    }
}

/* If the policy looks at every warp, it sees what the outcomes say. If the SM has no warps, all its
 * schedulers are idle (vacant). */
static void add_seen(Counters *c, const SmIssueSums *sums, uint32_t schedulers, bool looks) {
    const uint64_t *of = sums->outcome, *seen = sums->seen;
    const uint64_t vacant = sums->no_warp * schedulers;
    c->seen_vacant += vacant;
    c->seen_idle += (looks ? seen[SM_SEEN_IDLE]
                           : of[SM_IDLE_NO_WARP] + of[SM_IDLE_BARRIER] + of[SM_IDLE_BRANCH] +
                                 of[SM_IDLE_FETCH]) -
                    vacant;
    c->seen_scoreboard +=
        looks ? seen[SM_SEEN_SCOREBOARD] : of[SM_SCOREBOARD_MEMORY] + of[SM_SCOREBOARD_OTHER];
    c->seen_pipeline += looks ? seen[SM_SEEN_PIPELINE]
                              : of[SM_PIPELINE_LSU] + of[SM_PIPELINE_OTHER] + of[SM_THROTTLED];
}

void issue_sums_settle(SmIssueSums *sums, uint32_t schedulers, bool looks, Counters *c,
                       Histograms *histograms) {
    add_outcomes(c, sums);
    add_seen(c, sums, schedulers, looks);
    c->no_issue_cycles += sums->no_issue;
    c->NoWarpCycles += sums->no_warp;
    c->MemoryBlockCycles += sums->memory_block;
    for (uint32_t kind = 0; kind < SM_COUNTS; kind++)
        if (sums->kind[kind]) add_kind(c, kind, sums->kind[kind]);
    c->sp_instructions -= sums->to_sfu;
    c->sfu_instructions += sums->to_sfu;
    for (uint32_t lanes = 0; lanes <= ISA_LANES; lanes++)
        if (sums->lanes[lanes])
            histogram_add_all(histograms, HISTOGRAM_active_lanes, lanes, sums->lanes[lanes]);
    *sums = (SmIssueSums){0};
}
