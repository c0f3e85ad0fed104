/* Events that stages post when something that a warp waited for is over. The issue stage handles
 * them in the order of posting before the schedulers pick (issue_hear). It handles fetched
 * instructions after that (issue_hear_fetched). It then frees registers and wakes warps, so no
 * stage behind issue needs to know which warp waits for what. */
#ifndef TYTO_SM_EVENTS_H
#define TYTO_SM_EVENTS_H

#include <assert.h>
#include <stdint.h>

typedef enum SmEventKind {
    SM_EVENT_INST_DONE,   /* instruction: its results are written, or it has none to wait for */
    SM_EVENT_STORE_DONE,  /* warp: one access of a store is acknowledged, or absorbed by the L1D */
    SM_EVENT_ATOMIC_DONE, /* warp: one access of an atomic is answered */
    SM_EVENT_WAIT_DONE    /* warp: a bulk copy, a product of its warpgroup, or a wait for registers
                             or another grid is over */
} SmEventKind;

typedef struct SmEvent {
    uint16_t index; /* index of the instruction, or the warp's slot */
    uint8_t kind;   /* SmEventKind */
} SmEvent;

/* More events than one cycle can bring: results of four sub-cores and completions of the load/store
 * unit. */
enum { SM_MAX_EVENTS = 128 };

typedef struct SmEvents {
    uint64_t fetched; /* warps whose instruction buffer was filled, one bit each */
    uint32_t count;   /* all other events */
    SmEvent items[SM_MAX_EVENTS];
} SmEvents;

static inline void events_post(SmEvents *events, SmEventKind kind, uint32_t index) {
    assert(events->count < SM_MAX_EVENTS);
    events->items[events->count++] = (SmEvent){.index = (uint16_t)index, .kind = (uint8_t)kind};
}
static inline void events_post_fetched(SmEvents *events, int warp) {
    events->fetched |= UINT64_C(1) << warp;
}

#endif
