/* The scoreboard (see the header): the exact sets for programs with more registers than
 * SM_OP_REGS. */
#include "sm/classic/scoreboard.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"

void scoreboard_init(SmScoreboard *board, uint32_t warps) {
    *board = (SmScoreboard){.is_exact = true, .words = 1, .warps = warps};
}

void scoreboard_free(SmScoreboard *board) { free(board->sets); }

void scoreboard_start_kernel(SmScoreboard *board) { board->is_exact = true; }

static uint64_t *all_of(const SmScoreboard *board, int warp) {
    return &board->sets[(size_t)warp * 2 * board->words];
}

static uint64_t *memory_of(const SmScoreboard *board, int warp) {
    return all_of(board, warp) + board->words;
}

/* Copies a warp's bits to its exact sets. */
static void copy_words(SmScoreboard *board, int warp) {
    const SmPending *pending = &board->warp[warp];
    memset(all_of(board, warp), 0, 2 * board->words * sizeof(uint64_t));
    for (uint32_t i = 0; i < board->words && i < 2; i++) {
        all_of(board, warp)[i] = (uint64_t)(pending->all >> 64 * i);
        memory_of(board, warp)[i] = (uint64_t)(pending->memory >> 64 * i);
    }
}

/* Grows the exact sets to `words` words. Without exact sets so far (is_exact), the bits of the
 * warps are the contents. */
static void grow(SmScoreboard *board, uint32_t words) {
    const SmScoreboard old = *board;
    board->words = words;
    board->sets = base_calloc((size_t)2 * words * board->warps, sizeof(uint64_t));
    for (int w = 0; w < (int)board->warps; w++) {
        copy_words(board, w);
        if (old.is_exact) continue;
        memcpy(all_of(board, w), all_of(&old, w), old.words * sizeof(uint64_t));
        memcpy(memory_of(board, w), memory_of(&old, w), old.words * sizeof(uint64_t));
    }
    free(old.sets);
}

void scoreboard_begin_grid(SmScoreboard *board, uint32_t registers) {
    uint32_t words = (uint32_t)bits_words(registers);
    if (words * 64 <= SM_OP_REGS) return;
    if (words > board->words) grow(board, words);
    else if (board->is_exact)
        for (int w = 0; w < (int)board->warps; w++)
            copy_words(board, w);
    board->is_exact = false;
}

void scoreboard_reset(SmScoreboard *board, int warp, const IsaReg *pool) {
    board->warp[warp] = (SmPending){0};
    board->pool[warp] = pool;
    if (!board->is_exact) memset(all_of(board, warp), 0, 2 * board->words * sizeof(uint64_t));
}

void scoreboard_reserve_exactly(SmScoreboard *board, int warp, const SmOp *op) {
    uint64_t *all = all_of(board, warp), *memory = memory_of(board, warp);
    const IsaReg *regs = &board->pool[warp][op->regs];
    for (int i = 0; i < op->result_count; i++) {
        bits_set(all, regs[i].number);
        if (op->traits & SM_OP_LONG) bits_set(memory, regs[i].number);
    }
}

/* Folds an exact set to SM_OP_REGS bits. */
static SmRegs fold(const uint64_t *set, uint32_t words) {
    uint64_t word[2] = {0};
    for (uint32_t i = 0; i < words; i++)
        word[i % 2] |= set[i];
    return (SmRegs)word[1] << 64 | word[0];
}

void scoreboard_release_exactly(SmScoreboard *board, int warp, const SmOp *op) {
    uint64_t *all = all_of(board, warp), *memory = memory_of(board, warp);
    const IsaReg *regs = &board->pool[warp][op->regs];
    for (int i = 0; i < op->result_count; i++) {
        bits_clear(all, regs[i].number);
        bits_clear(memory, regs[i].number);
    }
    board->warp[warp].all = fold(all, board->words);
    board->warp[warp].memory = fold(memory, board->words);
}

static bool has_source_in_memory(const SmScoreboard *board, int warp, const SmOp *op) {
    const IsaReg *regs = &board->pool[warp][op->regs];
    for (int i = op->result_count; i < op->use_count; i++) {
        uint32_t number = regs[i].number;
        bool is_there = board->is_exact ? board->warp[warp].memory >> (number % SM_OP_REGS) & 1
                                        : bits_get(memory_of(board, warp), number);
        if (is_there) return true;
    }
    return false;
}

static void inherit_exactly(SmScoreboard *board, int warp, const SmOp *op, bool is_in_memory) {
    uint64_t *memory = memory_of(board, warp);
    const IsaReg *regs = &board->pool[warp][op->regs];
    for (int i = 0; i < op->result_count; i++) {
        if (is_in_memory) bits_set(memory, regs[i].number);
        else bits_clear(memory, regs[i].number);
    }
    board->warp[warp].memory = fold(memory, board->words);
}

void scoreboard_inherit(SmScoreboard *board, int warp, const SmOp *op) {
    SmPending *pending = &board->warp[warp];
    bool is_in_memory = has_source_in_memory(board, warp, op);
    if (!board->is_exact) inherit_exactly(board, warp, op, is_in_memory);
    else if (is_in_memory) pending->memory |= op->results;
    else pending->memory &= ~op->results;
}

/* Whether none of an instruction's registers `first` to `end` - 1 has a pending result. */
static bool is_free(const SmScoreboard *board, int warp, const SmOp *op, int first, int end) {
    const IsaReg *regs = &board->pool[warp][op->regs];
    for (int i = first; i < end; i++) {
        uint32_t number = regs[i].number;
        bool is_pending = board->is_exact ? board->warp[warp].all >> (number % SM_OP_REGS) & 1
                                          : bits_get(all_of(board, warp), number);
        if (is_pending) return false;
    }
    return true;
}

bool scoreboard_has_sources_exactly(const SmScoreboard *board, int warp, const SmOp *op) {
    return is_free(board, warp, op, op->result_count, op->use_count);
}

bool scoreboard_has_results_exactly(const SmScoreboard *board, int warp, const SmOp *op) {
    return is_free(board, warp, op, 0, op->result_count);
}

bool scoreboard_is_clear_exactly(const SmScoreboard *board, int warp, const SmOp *op,
                                 bool *waits_memory) {
    const uint64_t *all = all_of(board, warp), *memory = memory_of(board, warp);
    const IsaReg *regs = &board->pool[warp][op->regs];
    bool is_clear = true;
    *waits_memory = false;
    for (int i = 0; i < op->use_count; i++) {
        is_clear &= !bits_get(all, regs[i].number);
        *waits_memory |= bits_get(memory, regs[i].number);
    }
    return is_clear;
}
