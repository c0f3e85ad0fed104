/* The scoreboard (see the header): two sets of registers and a count for every warp. */
#include "sm/scoreboard.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

void scoreboard_init(SmScoreboard *board, uint32_t warps) {
    *board = (SmScoreboard){.warps = warps};
}

void scoreboard_free(SmScoreboard *board) {
    for (uint32_t w = 0; w < board->warps; w++) {
        free(board->warp[w].all);
        free(board->warp[w].memory);
    }
}

/* Words of bits that a warp needs, over all functions of the program. */
static uint32_t words_of(const IsaProgram *program) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < program->function_count; i++)
        if ((uint32_t)program->functions[i].ptx->reg_count > most)
            most = (uint32_t)program->functions[i].ptx->reg_count;
    return (uint32_t)bits_words(most);
}

void scoreboard_start_kernel(SmScoreboard *board, const IsaProgram *program) {
    uint32_t words = words_of(program);
    if (words <= board->words) return;
    board->words = words;
    for (uint32_t w = 0; w < board->warps; w++) {
        SmPending *pending = &board->warp[w];
        pending->all = base_realloc(pending->all, words * sizeof(uint64_t));
        pending->memory = base_realloc(pending->memory, words * sizeof(uint64_t));
    }
}

void scoreboard_reset(SmScoreboard *board, int warp) {
    size_t bytes = board->words * sizeof(uint64_t);
    memset(board->warp[warp].all, 0, bytes);
    memset(board->warp[warp].memory, 0, bytes);
    board->warp[warp].count = 0;
}

void scoreboard_reserve(SmScoreboard *board, int warp, const IsaReg *pool, const IsaInfo *info,
                        bool from_memory) {
    SmPending *pending = &board->warp[warp];
    const IsaReg *regs = &pool[info->regs];
    for (int i = 0; i < info->dst_count; i++) {
        bits_set(pending->all, regs[i].number);
        if (from_memory) bits_set(pending->memory, regs[i].number);
    }
    pending->count += info->dst_count;
}

void scoreboard_release(SmScoreboard *board, int warp, const IsaReg *pool, const IsaInfo *info) {
    SmPending *pending = &board->warp[warp];
    const IsaReg *regs = &pool[info->regs];
    for (int i = 0; i < info->dst_count; i++) {
        bits_clear(pending->all, regs[i].number);
        bits_clear(pending->memory, regs[i].number);
    }
    pending->count -= info->dst_count;
}

bool scoreboard_is_clear(const SmScoreboard *board, int warp, const IsaReg *pool,
                         const IsaInfo *info, bool *waits_memory) {
    const SmPending *pending = &board->warp[warp];
    *waits_memory = false;
    if (pending->count == 0) return true;
    const IsaReg *regs = &pool[info->regs];
    int count = info->dst_count + info->src_count + info->address_count + info->guard_count;
    bool is_clear = true;
    for (int i = 0; i < count; i++) {
        if (!bits_get(pending->all, regs[i].number)) continue;
        is_clear = false;
        *waits_memory |= bits_get(pending->memory, regs[i].number);
    }
    return is_clear;
}
