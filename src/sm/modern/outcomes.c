/* Outcomes of the sub-cores' cycles: why a sub-core issues nothing (see issue.h).
 *
 * Nothing here affects timing. */
#include "sm/modern/issue.h"

/* Counts those of the sub-cores that have no outcome yet. Returns the sub-cores that still have
 * none. */
static uint32_t take(uint64_t *count, uint32_t left, uint32_t subcores) {
    *count += (uint64_t)bits_count32(left & subcores);
    return left & ~subcores;
}

/* The outcome of a sub-core that has ready warps. */
static SmOutcome ready_cause(const ModernIssue *issue, const SmContext *sm, uint32_t s) {
    const uint64_t able = modern_ready_warps(issue, sm) & sm->view.scheduler_warps[s];
    const uint64_t full = modern_without_place(issue, sm, s);
    if (able & ~full || !(able & issue->allowed)) return SM_THROTTLED;
    return able & ~issue->wants[PIPE_MEMORY] ? SM_PIPELINE_OTHER : SM_PIPELINE_LSU;
}

/* Counts sub-cores none of whose warps has an instruction. */
static void count_empty(const ModernIssue *issue, const SmContext *sm, uint32_t left,
                        uint64_t counts[SM_OUTCOMES]) {
    const uint64_t live = context_live(sm);
    const struct {
        SmOutcome outcome;
        uint64_t warps;
    } causes[] = {{SM_SCOREBOARD_MEMORY, warps_memory_waits(&sm->warps)},
                  {SM_SCOREBOARD_OTHER, sm->warps.product_waits},
                  {SM_IDLE_BRANCH, issue->delay[DELAY_BRANCH]},
                  {SM_IDLE_FETCH, issue->delay[DELAY_FETCH]}};
    left = take(&counts[SM_IDLE_NO_WARP], left, ~modern_subcores_of(issue, live));
    for (size_t i = 0; i < sizeof causes / sizeof causes[0] && left; i++) {
        const uint32_t subcores = modern_subcores_of(issue, live & causes[i].warps);
        left = take(&counts[causes[i].outcome], left, subcores);
    }
    counts[SM_IDLE_BARRIER] += (uint64_t)bits_count32(left);
}

void modern_count_stalls(const ModernIssue *issue, const SmContext *sm, uint32_t subcores,
                         uint64_t counts[SM_OUTCOMES]) {
    const uint64_t ready = modern_ready_warps(issue, sm);
    const uint32_t able = subcores & modern_subcores_of(issue, ready);
    for (uint32_t rest = able; rest; rest &= rest - 1)
        counts[ready_cause(issue, sm, (uint32_t)bits_lowest32(rest))]++;
    const uint64_t valid =
        modern_with_instruction(issue, sm) & ~(sm->view.at_barrier | sm->warps.held);
    const uint32_t others = modern_subcores_of(issue, valid & ~issue->blocked_long);
    uint32_t left = take(&counts[SM_SCOREBOARD_OTHER], subcores & ~able, others);
    if (!left) return;
    left = take(&counts[SM_SCOREBOARD_MEMORY], left, modern_subcores_of(issue, valid));
    if (left) count_empty(issue, sm, left, counts);
}

void modern_foresee_outcomes(ModernIssue *issue, const SmContext *sm) {
    for (int outcome = 0; outcome < SM_OUTCOMES; outcome++)
        issue->asleep[outcome] = 0;
    issue->asleep[SM_ISSUED] = (uint64_t)bits_count32(issue->paying);
    modern_count_stalls(issue, sm, issue->all & ~issue->paying, issue->asleep);
}

/* ---- For policies that look at some warps ---- */

/* What the sub-core's cycle was, judged by the warps that the policy looks at. */
static SmSeen seen_of(const ModernIssue *issue, const SmContext *sm, uint32_t s, uint64_t looked) {
    const uint64_t able = sm->view.has_instruction & ~(sm->view.at_barrier | sm->warps.held);
    const uint64_t mine = able & looked & sm->view.scheduler_warps[s];
    if (!mine) return SM_SEEN_IDLE;
    return mine & modern_ready_warps(issue, sm) ? SM_SEEN_PIPELINE : SM_SEEN_SCOREBOARD;
}

void modern_count_seen(ModernIssue *issue, SmContext *sm) {
    const uint64_t looked = sched_agent_looks_at(&sm->policy, &sm->view);
    for (uint32_t s = 0; s < issue->subcores; s++) {
        const SmSeen seen = seen_of(issue, sm, s, looked);
        issue->sums.seen[issue->issued >> s & 1 ? SM_SEEN_ISSUE : seen]++;
        issue->subcore[s].seen = (uint8_t)(issue->paying >> s & 1 ? SM_SEEN_ISSUE : seen);
    }
}
