/* What stages tell the SM of: that something a warp waited for is over. They post; issue hears all
 * of it in the order of posting before the schedulers look (issue_hear), and of what was fetched
 * after that (issue_hear_fetched), and frees registers and wakes warps. So no stage past issue
 * knows who waits for what. */
#ifndef TYTO_SM_EVENTS_H
#define TYTO_SM_EVENTS_H

#include <assert.h>
#include <stdint.h>

typedef enum SmEventKind {
    SM_EVENT_INST_DONE,   /* instruction: its results are written, or it has none to wait for */
    SM_EVENT_STORE_DONE,  /* warp: one access of a store is acknowledged, or absorbed by the L1D */
    SM_EVENT_ATOMIC_DONE, /* warp: one access of an atomic is answered */
    SM_EVENT_WAIT_DONE    /* warp: a bulk copy, a product of its warpgroup, or a wait for registers
                             or for another grid is over */
} SmEventKind;

typedef struct SmEvent {
    uint16_t index; /* of the instruction, or slot of the warp */
    uint8_t kind;   /* SmEventKind */
} SmEvent;

/* More than one cycle can bring: the results of four sub-cores and what the load/store unit ends.
 */
enum { SM_MAX_EVENTS = 128 };

typedef struct SmEvents {
    uint64_t fetched; /* warps whose instruction buffer was filled, bit each */
    uint32_t count;   /* of all else */
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
