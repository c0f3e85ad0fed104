/* The warps' states (see the header). */
#include "sm/modern/states.h"

#include "sm/modern/issue.h"

/* ---- Phases of a delay ---- */

void states_begin_phase(ModernStates *states, ModernWheel *wheel, int warp, uint64_t cycle) {
    const ModernPhases *phases = &states->phases[warp];
    const uint64_t bit = UINT64_C(1) << warp;
    states_start_warp(states, warp);
    if (phases->from > cycle) {
        states->early[phases->first] |= bit;
        wheel_put(wheel, warp, cycle, phases->from);
    } else if (phases->fetched > cycle) {
        states->early[DELAY_FETCH] |= bit;
        wheel_put(wheel, warp, cycle, phases->fetched);
    }
}

/* ---- Counting ---- */

/* Cycles that are counted, and the warps that are in no state yet. */
typedef struct Count {
    WarpStates *sums;
    uint64_t cycles;
    uint64_t left;
} Count;

static inline __attribute__((always_inline)) void take(Count *count, uint64_t warps,
                                                       WarpState state) {
    warps &= count->left;
    count->left &= ~warps;
    count->sums->of[state] += count->cycles * (uint64_t)bits_count64(warps);
}

/* Warps of sub-cores whose Control stage takes nothing. One that issued took something. */
static uint64_t held_up(const ModernIssue *issue, const SmContext *sm) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < issue->subcores; s++) {
        const uint64_t mine = sm->view.scheduler_warps[s];
        const bool is_held = issue->subcore[s].issues_from > sm->cycle;
        if (is_held && !(mine & issue->states.issued)) warps |= mine;
    }
    return warps;
}

/* Warps that find what their next instruction goes to taken. */
static void take_throttled(Count *count, uint64_t warps, const uint64_t route[ROUTES]) {
    take(count, warps & route[ROUTE_PIPE], WARP_STATE_math_pipe_throttle);
    take(count, warps & route[ROUTE_MIO], WARP_STATE_mio_throttle);
    take(count, warps & route[ROUTE_LG], WARP_STATE_lg_throttle);
    take(count, warps & route[ROUTE_TEXTURE], WARP_STATE_tex_throttle);
}

/* Ready warps that no place was free for. */
static void take_ready(Count *count, const ModernIssue *issue, const SmContext *sm) {
    const uint64_t ready = issue->states.ready;
    take(count, ready & held_up(issue, sm), WARP_STATE_dispatch_stall);
    take_throttled(count, ready, issue->states.route);
}

/* Warps whose next instruction takes no slot, and could not pass: the queue is full. */
static void take_rest(Count *count, const ModernIssue *issue) {
    take_throttled(count, issue->free & issue->wants[PIPE_MEMORY], issue->states.route);
    take(count, UINT64_MAX, WARP_STATE_misc);
}

/* What residency holds. */
static void take_held(Count *count, const ModernStates *states, const SmContext *sm) {
    const SmWarps *warps = &sm->warps;
    take(count, states->barrier | sm->view.at_barrier, WARP_STATE_barrier);
    take(count, warps->fenced, WARP_STATE_membar);
    take(count, warps->atomic_waits | warps->copy_waits | warps->load_waits,
         WARP_STATE_long_scoreboard);
    take(count, states->phase, WARP_STATE_short_scoreboard);
}

/* Delays in a phase before their last. */
static void take_early(Count *count, const uint64_t early[DELAYS]) {
    take(count, early[DELAY_STALL], WARP_STATE_wait);
    take(count, early[DELAY_BRANCH], WARP_STATE_branch_resolving);
    take(count, early[DELAY_FETCH], WARP_STATE_no_instruction);
}

/* Each resident warp gets the first state that it is in. What the profiler does with one that waits
 * for two things is not published: a warp looks at its counters when its instruction is there, and
 * at a constant when its counters let it (Huerta). */
static inline __attribute__((always_inline)) void
count_cycles(ModernIssue *issue, const SmContext *sm, uint64_t selected, uint64_t cycles) {
    ModernStates *states = &issue->states;
    const uint64_t *delay = issue->delay, *early = states->early;
    Count count = {&states->sums, cycles, sm->view.resident};
    take(&count, selected, WARP_STATE_selected);
    take(&count, states->eligible, WARP_STATE_not_selected);
    if (count.left & states->ready) take_ready(&count, issue, sm);
    take(&count, sm->view.exited, WARP_STATE_drain);
    if (count.left & (states->barrier | states->phase | sm->view.at_barrier | sm->warps.held))
        take_held(&count, states, sm);
    if (early[DELAY_STALL] | early[DELAY_BRANCH] | early[DELAY_FETCH]) take_early(&count, early);
    take(&count, delay[DELAY_STALL], WARP_STATE_wait);
    take(&count, delay[DELAY_BRANCH], WARP_STATE_branch_resolving);
    take(&count, delay[DELAY_FETCH], WARP_STATE_no_instruction);
    take(&count, states->l1tex, WARP_STATE_long_scoreboard);
    take(&count, issue->blocked, WARP_STATE_short_scoreboard);
    take(&count, delay[DELAY_CONSTANT], WARP_STATE_imc_miss);
    if (count.left) take_rest(&count, issue);
}

/* Warps that take further slots of their last instruction. */
static uint64_t paying(const ModernIssue *issue, const SmContext *sm) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        warps |= bits_if(issue->subcore[s].paid_until > sm->cycle, issue->subcore[s].payer);
    return warps;
}

void states_count(ModernIssue *issue, const SmContext *sm) {
    if (sm->view.resident) count_cycles(issue, sm, issue->states.issued | paying(issue, sm), 1);
}

/* The last step found what outcome the sub-cores have until something changes. */
static uint64_t paying_asleep(const ModernIssue *issue) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        warps |= bits_if(issue->subcore[s].outcome == SM_ISSUED, issue->subcore[s].payer);
    return warps;
}

void states_count_asleep(ModernIssue *issue, const SmContext *sm, uint64_t cycles) {
    if (!sm->view.resident) return;
    states_begin_cycle(&issue->states, sm);
    count_cycles(issue, sm, paying_asleep(issue), cycles);
}

void states_settle(ModernStates *states, WarpStates *sum) {
    warp_states_add(sum, &states->sums);
    states->sums = (WarpStates){0};
}
