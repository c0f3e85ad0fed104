/* Dependence counters (see the header). */
#include "sm/modern/counters.h"

#include <assert.h>
#include <string.h>

void counters_init(ModernCounters *counters, Arena *arena) {
    counters->releases = ARENA_ARRAY(arena, ModernRelease, MODERN_RELEASES);
    counters_start(counters);
}

void counters_start(ModernCounters *counters) {
    memset(counters->value, 0, sizeof counters->value);
    memset(counters->longs, 0, sizeof counters->longs);
    memset(counters->first, 0, sizeof counters->first);
    counters->occupied = 0;
    counters->free = counters->under_way = 0;
    counters->fresh = 1;
}

void counters_start_warp(ModernCounters *counters, int warp) {
    memset(counters->value[warp], 0, sizeof counters->value[warp]);
    memset(counters->longs[warp], 0, sizeof counters->longs[warp]);
    counters->generation[warp]++;
}

static uint16_t new_release(ModernCounters *counters) {
    const uint16_t index = counters->free;
    counters->under_way++;
    if (!index) {
        assert(counters->fresh < MODERN_RELEASES);
        return counters->fresh++;
    }
    counters->free = counters->releases[index].next;
    return index;
}

static void link_release(ModernCounters *counters, uint16_t index, uint32_t place) {
    counters->releases[index].next = counters->first[place];
    counters->first[place] = index;
    counters->occupied |= UINT64_C(1) << place;
}

void counters_fall_at(ModernCounters *counters, int warp, uint8_t counter, uint64_t cycle) {
    const uint16_t index = new_release(counters);
    counters->releases[index] = (ModernRelease){.cycle = cycle,
                                                .warp = (uint8_t)warp,
                                                .counter = counter,
                                                .generation = counters->generation[warp]};
    link_release(counters, index, (uint32_t)cycle % WHEEL_CYCLES);
}

/* Releases of a later turn of the wheel stay in their place. */
uint64_t counters_take_due(ModernCounters *counters, uint64_t cycle) {
    const uint32_t place = (uint32_t)cycle % WHEEL_CYCLES;
    uint64_t warps = 0;
    uint16_t index = counters->first[place];
    counters->first[place] = 0;
    counters->occupied &= ~(UINT64_C(1) << place);
    while (index) {
        ModernRelease *release = &counters->releases[index];
        const uint16_t next = release->next;
        if (release->cycle > cycle) {
            link_release(counters, index, place);
        } else {
            if (release->generation == counters->generation[release->warp]) {
                counters_fall(counters, release->warp, release->counter, false);
                warps |= UINT64_C(1) << release->warp;
            }
            counters->under_way--;
            release->next = counters->free;
            counters->free = index;
        }
        index = next;
    }
    return warps;
}
