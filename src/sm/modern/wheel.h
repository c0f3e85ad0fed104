/* A timing wheel: which warps have something due in each of the next cycles. */
#ifndef TYTO_SM_MODERN_WHEEL_H
#define TYTO_SM_MODERN_WHEEL_H

#include "base/bits.h"

enum { WHEEL_CYCLES = 64 };

typedef struct ModernWheel {
    uint64_t occupied;            /* places with warps, one bit per cycle modulo WHEEL_CYCLES */
    uint64_t warps[WHEEL_CYCLES]; /* by place, one bit per warp */
} ModernWheel;

/* Schedules the warp for `cycle`, which is after `now`. If `cycle` is further ahead than the
 * wheel's size, the warp comes out earlier and must be put in again. */
static inline void wheel_put(ModernWheel *wheel, int warp, uint64_t now, uint64_t cycle) {
    const uint64_t last = now + WHEEL_CYCLES - 1;
    const uint32_t place = (uint32_t)(cycle < last ? cycle : last) % WHEEL_CYCLES;
    wheel->warps[place] |= UINT64_C(1) << warp;
    wheel->occupied |= UINT64_C(1) << place;
}

/* Takes out the warps that are due in `cycle`. No cycle with warps may be skipped. */
static inline uint64_t wheel_take(ModernWheel *wheel, uint64_t cycle) {
    const uint32_t place = (uint32_t)cycle % WHEEL_CYCLES;
    const uint64_t warps = wheel->warps[place];
    wheel->warps[place] = 0;
    wheel->occupied &= ~(UINT64_C(1) << place);
    return warps;
}

/* Whether the place of `cycle` is occupied; it is less than WHEEL_CYCLES cycles ahead. */
static inline bool wheel_has(uint64_t occupied, uint64_t cycle) {
    return occupied >> (cycle % WHEEL_CYCLES) & 1;
}

/* The first cycle after `now` whose place is occupied; UINT64_MAX: none. */
static inline uint64_t wheel_cycle_after(uint64_t occupied, uint64_t now) {
    if (!occupied) return UINT64_MAX;
    const uint32_t first = (uint32_t)(now + 1) % WHEEL_CYCLES;
    return now + 1 + (uint64_t)bits_lowest64(bits_turned_right64(occupied, first));
}

#endif
