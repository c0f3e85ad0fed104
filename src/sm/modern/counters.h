/* Dependence counters: six per warp. An instruction that names a counter raises it when it issues.
 * The counter falls when the result is written or the sources are read. A raise becomes visible a
 * cycle later, so the warp's next instruction sees it from two cycles after issue on (Huerta). */
#ifndef TYTO_SM_MODERN_COUNTERS_H
#define TYTO_SM_MODERN_COUNTERS_H

#include "base/arena.h"
#include "base/bits.h"
#include "sm/modern/row.h"
#include "sm/modern/wheel.h"

enum {
    MODERN_RELEASES = 1024, /* records per SM, plus one: more than common machines' pipes hold */
    RELEASES_EACH = 2       /* most per instruction */
};

/* A counter's fall in a cycle that is known. */
typedef struct ModernRelease {
    uint64_t cycle;
    uint16_t next; /* next in the same place or in the free list; 0: none */
    uint8_t warp, counter;
    uint16_t generation; /* of the warp slot; the slot may hold another warp by then */
} ModernRelease;

typedef struct ModernCounters {
    uint16_t value[TYTO_MAX_WARPS][ISA_COUNTERS];
    uint16_t longs[TYTO_MAX_WARPS][ISA_COUNTERS]; /* of these values: raises for data from memory */
    uint16_t generation[TYTO_MAX_WARPS];
    uint64_t occupied;            /* places of the wheel with releases, one bit each */
    uint16_t first[WHEEL_CYCLES]; /* first release, by cycle modulo the array's size */
    uint16_t free, fresh;         /* first free record in the list; first record never used */
    uint16_t under_way;           /* number of records in use */
    ModernRelease *releases;      /* MODERN_RELEASES records; indices start at 1 */
} ModernCounters;

void counters_init(ModernCounters *counters, Arena *arena);
void counters_start(ModernCounters *counters);
/* Clears the counters of a warp that starts in the slot. */
void counters_start_warp(ModernCounters *counters, int warp);

static inline void counters_raise(ModernCounters *counters, int warp, uint8_t counter,
                                  bool is_long) {
    counters->value[warp][counter]++;
    counters->longs[warp][counter] += is_long;
}
static inline void counters_fall(ModernCounters *counters, int warp, uint8_t counter,
                                 bool is_long) {
    counters->value[warp][counter]--;
    counters->longs[warp][counter] -= is_long;
}

/* Schedules the fall of a raised counter in `cycle`, which must be in the future. */
void counters_fall_at(ModernCounters *counters, int warp, uint8_t counter, uint64_t cycle);
static inline bool counters_have_room(const ModernCounters *counters) {
    return counters->under_way + RELEASES_EACH < MODERN_RELEASES;
}
/* Lowers the counters that are due in this cycle. Returns their warps. */
uint64_t counters_take_due(ModernCounters *counters, uint64_t cycle);
static inline uint64_t counters_step(ModernCounters *counters, uint64_t cycle) {
    return counters->occupied >> (cycle % WHEEL_CYCLES) & 1 ? counters_take_due(counters, cycle)
                                                            : 0;
}
/* The first cycle after `now` in which a counter may fall; UINT64_MAX: none. */
static inline uint64_t counters_next(const ModernCounters *counters, uint64_t now) {
    return wheel_cycle_after(counters->occupied, now);
}

/* The counters that keep an instruction from issuing, one bit each. */
static inline uint32_t counters_block(const uint16_t value[ISA_COUNTERS], const ModernRow *row) {
    uint32_t blocking = 0;
    for (uint32_t left = row->wait_mask; left; left &= left - 1)
        blocking |= (uint32_t)(value[bits_lowest32(left)] != 0) << bits_lowest32(left);
    if (row->waits_for < ISA_COUNTERS && value[row->waits_for] > row->at_most)
        blocking |= 1u << row->waits_for;
    return blocking;
}
/* Whether any counter of the warp is raised. */
static inline bool counters_are_raised(const ModernCounters *counters, int warp) {
    uint32_t all = 0;
    for (int counter = 0; counter < ISA_COUNTERS; counter++)
        all |= counters->value[warp][counter];
    return all != 0;
}

#endif
