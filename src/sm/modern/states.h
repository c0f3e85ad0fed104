/* The state of each resident warp, by the names of NVIDIA's profiler (stats/warp_states.h). Each
 * warp is in exactly one state in each cycle, so the states add up to the resident warps.
 *
 * A sub-core's turn determines which warps could issue. Sets of bits hold what the others wait for
 * (issue.h), so a few operations count a cycle for all warps. If a delay has several causes one
 * after another (stall count, fetch, constant), phases distinguish them. Whether a warp waits for
 * L1TEX follows from the route of the instructions that raised its counter.
 *
 * Nothing here affects timing. */
#ifndef TYTO_SM_MODERN_STATES_H
#define TYTO_SM_MODERN_STATES_H

#include "sm/context.h"
#include "sm/modern/row.h"
#include "sm/modern/wheel.h"

/* Why a warp waits for a cycle. */
typedef enum ModernDelay {
    DELAY_STALL,
    DELAY_BRANCH,
    DELAY_FETCH,
    DELAY_CONSTANT,
    DELAYS
} ModernDelay;

/* The phases of a delay before its last one; ModernIssue.delay holds the last one. */
typedef struct ModernPhases {
    uint64_t from;    /* cycle in which the first phase ends */
    uint64_t fetched; /* cycle in which a fetch that follows ends; equal to `from` if there is none,
                         or if it is the last phase */
    ModernDelay first;
} ModernPhases;

typedef struct ModernStates {
    /* Of this cycle: */
    uint64_t issued;   /* warps that took a slot */
    uint64_t ready;    /* warps that lacked only a place, at their sub-core's turn */
    uint64_t eligible; /* those of them that had a place */
    uint64_t barrier;  /* warps at a barrier at the start of the cycle */
    uint64_t phase;    /* the same at an mbarrier */
    /* Of next instructions and counters: */
    uint64_t early[DELAYS]; /* delayed warps whose delay is in a phase before its last one, by that
                               phase */
    uint64_t route[ROUTES]; /* warps by ModernRow.route of their next instruction */
    uint64_t l1tex;         /* warps that a counter raised by L1TEX blocks */
    uint8_t from_l1tex[TYTO_MAX_WARPS];  /* counters that L1TEX has raised since they were 0, one
                                            bit each */
    ModernPhases phases[TYTO_MAX_WARPS]; /* for delays with several phases */
    uint64_t pending; /* cycles to be counted at the next change; no warp was ready in them */
    WarpStates sums;  /* warp cycles since they were last settled */
} ModernStates;

/* ---- Calls by the issue stage ---- */

/* A warp starts in the slot. */
static inline void states_start_warp(ModernStates *states, int warp) {
    for (int why = 0; why < DELAYS; why++)
        states->early[why] &= ~(UINT64_C(1) << warp);
}

/* The warp issues an instruction that raises a counter, whose value before is `value`. */
static inline void states_raise(ModernStates *states, int warp, uint8_t counter, uint16_t value,
                                uint8_t route) {
    const uint32_t bit = 1u << counter, kept = value ? UINT32_MAX : ~bit;
    const uint32_t now = (states->from_l1tex[warp] & kept) | (route >= ROUTE_LG ? bit : 0);
    states->from_l1tex[warp] = (uint8_t)now;
}

/* These counters (at least one) block the warp's next instruction. */
static inline void states_block(ModernStates *states, int warp, uint32_t counters) {
    states->l1tex &= ~(UINT64_C(1) << warp);
    states->l1tex |= bits_if((states->from_l1tex[warp] & counters) != 0, warp);
}

/* Records the phases of a warp's delay that continues after `from`. Until `from` the warp waits for
 * `first`, then for a fetch until `fetched`, then for the last cause. */
static inline void states_split(ModernStates *states, int warp, ModernDelay first, uint64_t from,
                                uint64_t fetched) {
    states->phases[warp] = (ModernPhases){.from = from, .fetched = fetched, .first = first};
}
/* Sets the phase of the warp's delay from `cycle` on. */
void states_begin_phase(ModernStates *states, ModernWheel *wheel, int warp, uint64_t cycle);

/* ---- A cycle ---- */

static inline void states_begin_cycle(ModernStates *states, const SmContext *sm) {
    states->issued = states->ready = states->eligible = 0;
    states->barrier = sm->view.at_barrier;
    states->phase = sm->warps.phase_waits;
}

/* Records the result of a sub-core's turn: its ready warps, and those of them that its pipes
 * accept. */
static inline void states_look(ModernStates *states, uint64_t ready, uint64_t eligible) {
    states->ready |= ready;
    states->eligible |= eligible;
}

#endif
