/* Builds gathers, and inverts them (see the header). */
#include "base/gather.h"

bool gather_append(BitGather *gather, int to, int from) {
    const uint64_t bit = UINT64_C(1) << to;
    const uint8_t turn = (uint8_t)((to - from) & 63);
    struct BitRun *last = gather->count ? &gather->runs[gather->count - 1] : 0;
    if (last) {
        bool is_next = to > 0 && last->mask >> (to - 1) == 1;
        if (is_next && last->turn == turn) {
            last->mask |= bit;
            return true;
        }
    }
    if (gather->count == GATHER_MAX_RUNS) return false;
    gather->runs[gather->count++] = (struct BitRun){.mask = bit, .turn = turn};
    return true;
}

uint64_t gather_scatter(const BitGather *gather, uint64_t result) {
    uint64_t source = 0;
    for (int i = 0; i < gather->count; i++)
        source |= gather_turn(result & gather->runs[i].mask, (uint8_t)(-gather->runs[i].turn & 63));
    return source;
}
