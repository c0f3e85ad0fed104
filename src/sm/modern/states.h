/* The state of each resident warp, by the names of NVIDIA's profiler (stats/warp_states.h). Each
 * warp is in exactly one state in each cycle, and all states together are the resident warps.
 *
 * A sub-core's turn says which warps could issue. What the others wait for is known as words of
 * bits (issue.h), so a cycle is counted by a few operations for all warps. Phases distinguish the
 * causes of a delay that has several, one after the other (stall count, fetch, constant). The route
 * of the instructions that raised a counter says whether it waits for L1TEX.
 *
 * Nothing here has an influence on time. */
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

/* The phases of a delay before its last one, which ModernIssue.delay has. */
typedef struct ModernPhases {
    uint64_t from;    /* cycle in which the first phase ends */
    uint64_t fetched; /* cycle in which a fetch that follows ends; `from`: none does, or it is the
                         last phase */
    ModernDelay first;
} ModernPhases;

typedef struct ModernStates {
    /* Of this cycle */
    uint64_t issued;   /* warps that took a slot */
    uint64_t ready;    /* warps that lacked nothing but a place, at their sub-core's turn */
    uint64_t eligible; /* those of them that had one */
    uint64_t barrier;  /* warps at a barrier when the cycle began */
    uint64_t phase;    /* the same at an mbarrier */
    /* Of next instructions and counters */
    uint64_t early[DELAYS]; /* delayed warps whose delay is in a phase before its
                               last, by that phase */
    uint64_t route[ROUTES]; /* warps by ModernRow.route of their next instruction */
    uint64_t l1tex;         /* of warps that a counter keeps, those kept by one that L1TEX raised */
    uint8_t from_l1tex[TYTO_MAX_WARPS];  /* counters raised by L1TEX since they were 0, bit each */
    ModernPhases phases[TYTO_MAX_WARPS]; /* of delays that have several */
    uint64_t pending; /* cycles to be counted when something changes: no warp was ready in them */
    WarpStates sums;  /* warp cycles since they were last settled */
} ModernStates;

/* ---- What issue tells ---- */

/* A warp comes into the slot. */
static inline void states_start_warp(ModernStates *states, int warp) {
    for (int why = 0; why < DELAYS; why++)
        states->early[why] &= ~(UINT64_C(1) << warp);
}

/* The warp issues an instruction that raises a counter, which has this value before. */
static inline void states_raise(ModernStates *states, int warp, uint8_t counter, uint16_t value,
                                uint8_t route) {
    const uint32_t bit = 1u << counter, kept = value ? UINT32_MAX : ~bit;
    const uint32_t now = (states->from_l1tex[warp] & kept) | (route >= ROUTE_LG ? bit : 0);
    states->from_l1tex[warp] = (uint8_t)now;
}

/* These counters, one at least, keep the warp's next instruction. */
static inline void states_block(ModernStates *states, int warp, uint32_t counters) {
    states->l1tex &= ~(UINT64_C(1) << warp);
    states->l1tex |= bits_if((states->from_l1tex[warp] & counters) != 0, warp);
}

/* The warp's delay goes on after `from`, until when it waits for `first`: for a fetch until
 * `fetched`, and then for its last cause. */
static inline void states_split(ModernStates *states, int warp, ModernDelay first, uint64_t from,
                                uint64_t fetched) {
    states->phases[warp] = (ModernPhases){.from = from, .fetched = fetched, .first = first};
}
/* The phase of the warp's delay from `cycle` on. */
void states_begin_phase(ModernStates *states, ModernWheel *wheel, int warp, uint64_t cycle);

/* ---- A cycle ---- */

static inline void states_begin_cycle(ModernStates *states, const SmContext *sm) {
    states->issued = states->ready = states->eligible = 0;
    states->barrier = sm->view.at_barrier;
    states->phase = sm->warps.phase_waits;
}

/* A sub-core's turn: which of its warps are ready, and which of these its pipes take. */
static inline void states_look(ModernStates *states, uint64_t ready, uint64_t eligible) {
    states->ready |= ready;
    states->eligible |= eligible;
}

#endif
