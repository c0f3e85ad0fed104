/* Scoreboard: which registers of a warp have a result to come. Issue waits for read-after-write and
 * write-after-write; instructions read their operands at issue, so write-after-read needs no check.
 */
#include "sm/sm_internal.h"

#include <string.h>

void scoreboard_reset(Sm *sm, int warp) {
    size_t bytes = sm->scoreboard_words * sizeof(uint64_t);
    memset(sm->warps[warp].pending, 0, bytes);
    memset(sm->warps[warp].pending_memory, 0, bytes);
    sm->warps[warp].pending_count = 0;
}

void scoreboard_reserve(Sm *sm, int warp, const IsaInfo *info, bool from_memory) {
    SmWarp *w = &sm->warps[warp];
    const IsaReg *regs = &sm->reg_pool[info->regs];
    for (int i = 0; i < info->dst_count; i++) {
        bits_set(w->pending, regs[i].number);
        if (from_memory) bits_set(w->pending_memory, regs[i].number);
    }
    w->pending_count += info->dst_count;
}

void scoreboard_release(Sm *sm, int warp, const IsaInfo *info) {
    SmWarp *w = &sm->warps[warp];
    const IsaReg *regs = &sm->reg_pool[info->regs];
    for (int i = 0; i < info->dst_count; i++) {
        bits_clear(w->pending, regs[i].number);
        bits_clear(w->pending_memory, regs[i].number);
    }
    w->pending_count -= info->dst_count;
}

bool scoreboard_is_clear(const Sm *sm, int warp, const IsaInfo *info, bool *waits_memory) {
    const SmWarp *w = &sm->warps[warp];
    *waits_memory = false;
    if (w->pending_count == 0) return true;
    const IsaReg *regs = &sm->reg_pool[info->regs];
    int count = info->dst_count + info->src_count + info->address_count + info->guard_count;
    bool is_clear = true;
    for (int i = 0; i < count; i++) {
        if (!bits_get(w->pending, regs[i].number)) continue;
        is_clear = false;
        *waits_memory |= bits_get(w->pending_memory, regs[i].number);
    }
    return is_clear;
}
