/* Building gathers, and going backwards through them (see the header). */
#include "base/gather.h"

bool gather_append(BitGather *gather, int to, int from) {
    struct BitRun *last = gather->count ? &gather->runs[gather->count - 1] : 0;
    if (last) {
        int width = __builtin_popcountll(last->mask);
        if (last->from + width == from && last->to + width == to) {
            last->mask = last->mask << 1 | 1;
            return true;
        }
    }
    if (gather->count == GATHER_MAX_RUNS) return false;
    gather->runs[gather->count++] =
        (struct BitRun){.mask = 1, .from = (uint8_t)from, .to = (uint8_t)to};
    return true;
}

uint64_t gather_scatter(const BitGather *gather, uint64_t result) {
    uint64_t source = 0;
    for (int i = 0; i < gather->count; i++)
        source |= (result >> gather->runs[i].to & gather->runs[i].mask) << gather->runs[i].from;
    return source;
}
