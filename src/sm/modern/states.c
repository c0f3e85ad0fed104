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

/* Counts those of the warps that have no state yet. Returns the warps that still have none. */
static inline __attribute__((always_inline)) uint64_t take(WarpStates *sums, uint64_t cycles,
                                                           uint64_t left, uint64_t warps,
                                                           WarpState state) {
    warps &= left;
    sums->of[state] += cycles * (uint64_t)bits_count64(warps);
    return left & ~warps;
}

/* Counts warps whose next instruction finds its unit occupied. */
static uint64_t take_throttled(WarpStates *sums, uint64_t cycles, uint64_t left, uint64_t warps,
                               const uint64_t route[ROUTES]) {
    left = take(sums, cycles, left, warps & route[ROUTE_PIPE], WARP_STATE_math_pipe_throttle);
    left = take(sums, cycles, left, warps & route[ROUTE_MIO], WARP_STATE_mio_throttle);
    left = take(sums, cycles, left, warps & route[ROUTE_LG], WARP_STATE_lg_throttle);
    return take(sums, cycles, left, warps & route[ROUTE_TEXTURE], WARP_STATE_tex_throttle);
}

/* Warps of sub-cores whose Control stage accepts nothing. If a warp of the sub-core issued, the
 * stage accepted something. */
static uint64_t held_up(const ModernIssue *issue, const SmContext *sm) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < issue->subcores; s++) {
        const uint64_t mine = sm->view.scheduler_warps[s];
        const bool is_held = issue->subcore[s].issues_from > sm->cycle;
        if (is_held && !(mine & issue->states.issued)) warps |= mine;
    }
    return warps;
}

/* Counts ready warps that found no free place in this cycle. */
static uint64_t take_ready(ModernIssue *issue, const SmContext *sm, uint64_t left) {
    ModernStates *states = &issue->states;
    const uint64_t held = states->ready & held_up(issue, sm);
    left = take(&states->sums, 1, left, held, WARP_STATE_dispatch_stall);
    return take_throttled(&states->sums, 1, left, states->ready, states->route);
}

/* Counts warps that wait in SmWarps or at a barrier. */
static uint64_t take_held(ModernStates *states, const SmContext *sm, uint64_t cycles,
                          uint64_t left) {
    const SmWarps *warps = &sm->warps;
    const uint64_t barrier = states->barrier | sm->view.at_barrier;
    const uint64_t l1tex = warps->atomic_waits | warps->copy_waits | warps->load_waits;
    left = take(&states->sums, cycles, left, barrier, WARP_STATE_barrier);
    left = take(&states->sums, cycles, left, warps->fenced, WARP_STATE_membar);
    left = take(&states->sums, cycles, left, l1tex, WARP_STATE_long_scoreboard);
    left = take(&states->sums, cycles, left, warps->product_waits, WARP_STATE_math_pipe_throttle);
    const uint64_t others = warps->register_waits | warps->grid_waits;
    left = take(&states->sums, cycles, left, others, WARP_STATE_misc);
    return take(&states->sums, cycles, left, states->phase, WARP_STATE_short_scoreboard);
}

/* Counts warps whose delay is in a phase before its last one. */
static uint64_t take_early(ModernStates *states, uint64_t cycles, uint64_t left) {
    const uint64_t *early = states->early;
    left = take(&states->sums, cycles, left, early[DELAY_STALL], WARP_STATE_wait);
    left = take(&states->sums, cycles, left, early[DELAY_BRANCH], WARP_STATE_branch_resolving);
    return take(&states->sums, cycles, left, early[DELAY_FETCH], WARP_STATE_no_instruction);
}

/* Counts warps whose next instruction takes no slot and cannot be executed, because the queue is
 * full. */
static void take_rest(ModernIssue *issue, uint64_t cycles, uint64_t left) {
    ModernStates *states = &issue->states;
    const uint64_t free = issue->free & issue->wants[PIPE_MEMORY];
    left = take_throttled(&states->sums, cycles, left, free, states->route);
    take(&states->sums, cycles, left, left, WARP_STATE_misc);
}

/* Counts warps whose next instruction is not available. */
static void take_front(ModernStates *states, const uint64_t delay[DELAYS], uint64_t cycles,
                       uint64_t left) {
    WarpStates *sums = &states->sums;
    left = take(sums, cycles, left, delay[DELAY_BRANCH], WARP_STATE_branch_resolving);
    take(sums, cycles, left, delay[DELAY_FETCH], WARP_STATE_no_instruction);
}

/* Counts warps that are not ready. Each is counted in the first state that applies. It is not
 * published how the profiler counts a warp that waits for two things. A warp checks its counters
 * when its instruction is available, and its constant when the counters allow it (Huerta). */
static void take_waiting(ModernIssue *issue, const SmContext *sm, uint64_t cycles, uint64_t left) {
    ModernStates *states = &issue->states;
    WarpStates *sums = &states->sums;
    const uint64_t *delay = issue->delay, *early = states->early;
    if (left & sm->view.exited) left = take(sums, cycles, left, sm->view.exited, WARP_STATE_drain);
    if (left & (states->barrier | states->phase | sm->view.at_barrier | sm->warps.held))
        left = take_held(states, sm, cycles, left);
    if (early[DELAY_STALL] | early[DELAY_BRANCH] | early[DELAY_FETCH])
        left = take_early(states, cycles, left);
    left = take(sums, cycles, left, delay[DELAY_STALL], WARP_STATE_wait);
    const uint64_t front = left & (delay[DELAY_BRANCH] | delay[DELAY_FETCH]);
    if (front) take_front(states, delay, cycles, front);
    const uint64_t blocked = left & issue->blocked & ~front;
    if (blocked) {
        take(sums, cycles, blocked, states->l1tex, WARP_STATE_long_scoreboard);
        take(sums, cycles, blocked, ~states->l1tex, WARP_STATE_short_scoreboard);
    }
    left &= ~(front | blocked);
    if (!left) return;
    left = take(sums, cycles, left, delay[DELAY_CONSTANT], WARP_STATE_imc_miss);
    if (left) take_rest(issue, cycles, left);
}

/* ---- Cycles ---- */

static void count_now(ModernIssue *issue, const SmContext *sm) {
    ModernStates *states = &issue->states;
    uint64_t left = sm->view.resident;
    left = take(&states->sums, 1, left, states->issued, WARP_STATE_selected);
    if (left & states->ready) {
        left = take(&states->sums, 1, left, states->eligible, WARP_STATE_not_selected);
        if (left & states->ready) left = take_ready(issue, sm, left);
    }
    if (left) take_waiting(issue, sm, 1, left);
}

void states_count(ModernIssue *issue, const SmContext *sm) {
    if (issue->issued || issue->has_ready || issue->states.ready) count_now(issue, sm);
    else issue->states.pending++;
}

void states_count_pending(ModernIssue *issue, const SmContext *sm) {
    states_begin_cycle(&issue->states, sm);
    take_waiting(issue, sm, issue->states.pending, sm->view.resident);
    issue->states.pending = 0;
}

void states_count_asleep(ModernIssue *issue, const SmContext *sm, uint64_t cycles) {
    const uint64_t payers = modern_paying(issue);
    if (!payers) {
        issue->states.pending += cycles;
        return;
    }
    states_flush(issue, sm);
    states_begin_cycle(&issue->states, sm);
    take_waiting(issue, sm, cycles,
                 take(&issue->states.sums, cycles, sm->view.resident, payers, WARP_STATE_selected));
}

void states_settle(ModernIssue *issue, const SmContext *sm, WarpStates *sum) {
    states_flush(issue, sm);
    warp_states_add(sum, &issue->states.sums);
    issue->states.sums = (WarpStates){0};
}
