/* Scoreboard: which registers of a warp have a result to come. Issue waits for read-after-write and
 * write-after-write; instructions read their operands at issue, so write-after-read needs no check.
 *
 * A warp has SM_OP_REGS bits for all its registers. Where a program's functions have no more than
 * that they are the whole truth; where one has more, sets with a bit for each register stand
 * behind them, and are asked only when they say "perhaps". */
#ifndef TYTO_SM_SCOREBOARD_H
#define TYTO_SM_SCOREBOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/op.h"
#include "tyto/policy.h"

/* One warp's registers. */
typedef struct SmPending {
    SmRegs all;    /* with a result to come */
    SmRegs memory; /* those among them that come from memory */
} SmPending;

/* Written by scoreboard.c and the functions below alone. */
typedef struct SmScoreboard {
    SmPending warp[TYTO_MAX_WARPS];
    const IsaReg *pool[TYTO_MAX_WARPS]; /* registers of its program, which SmOp.regs indexes */
    bool is_exact;                      /* `warp` says it all */
    uint32_t words;                     /* of one of a warp's exact sets */
    uint32_t warps;                     /* slots in use */
    uint64_t *sets; /* of each warp two: all, and from memory; NULL where never needed */
} SmScoreboard;

void scoreboard_init(SmScoreboard *board, uint32_t warps);
void scoreboard_free(SmScoreboard *board);
/* No grid is there: all warps must be reset when they start. */
void scoreboard_start_kernel(SmScoreboard *board);
/* Makes room for programs whose functions have up to `registers` registers. */
void scoreboard_begin_grid(SmScoreboard *board, uint32_t registers);
/* The warp starts, in a program of these registers. */
void scoreboard_reset(SmScoreboard *board, int warp, const IsaReg *pool);

/* The same as the three below where `warp` does not say it all. */
void scoreboard_reserve_exactly(SmScoreboard *board, int warp, const SmOp *op);
void scoreboard_release_exactly(SmScoreboard *board, int warp, const SmOp *op);
bool scoreboard_is_clear_exactly(const SmScoreboard *board, int warp, const SmOp *op,
                                 bool *waits_memory);

/* And of the words of bits alone, which is all where they say it all. */
static inline void scoreboard_reserve_words(SmScoreboard *board, int warp, const SmOp *op) {
    SmPending *pending = &board->warp[warp];
    pending->all |= op->results;
    if (op->traits & SM_OP_LONG) pending->memory |= op->results;
}
static inline void scoreboard_release_words(SmScoreboard *board, int warp, const SmOp *op) {
    SmPending *pending = &board->warp[warp];
    pending->all &= ~op->results;
    pending->memory &= ~op->results;
}
static inline bool scoreboard_looks_clear(const SmScoreboard *board, int warp, const SmOp *op,
                                          bool *waits_memory) {
    const SmPending *pending = &board->warp[warp];
    *waits_memory = (pending->memory & op->uses) != 0;
    return !(pending->all & op->uses);
}

/* The instruction has issued: its results are to come. */
static inline void scoreboard_reserve(SmScoreboard *board, int warp, const SmOp *op) {
    scoreboard_reserve_words(board, warp, op);
    if (!board->is_exact) scoreboard_reserve_exactly(board, warp, op);
}

/* The instruction's results, which are to come, come with its sources: they come from memory while
 * a source does. */
void scoreboard_inherit(SmScoreboard *board, int warp, const SmOp *op);

static inline void scoreboard_release(SmScoreboard *board, int warp, const SmOp *op) {
    scoreboard_release_words(board, warp, op);
    if (!board->is_exact) scoreboard_release_exactly(board, warp, op);
}

/* Whether the instruction's registers are free; *waits_memory: one of them comes from memory. */
static inline bool scoreboard_is_clear(const SmScoreboard *board, int warp, const SmOp *op,
                                       bool *waits_memory) {
    bool is_clear = scoreboard_looks_clear(board, warp, op, waits_memory);
    if (board->is_exact || is_clear) return is_clear;
    return scoreboard_is_clear_exactly(board, warp, op, waits_memory);
}

/* Whether the registers that it reads are free, and whether those are that it writes. */
bool scoreboard_has_sources_exactly(const SmScoreboard *board, int warp, const SmOp *op);
bool scoreboard_has_results_exactly(const SmScoreboard *board, int warp, const SmOp *op);
static inline bool scoreboard_has_sources(const SmScoreboard *board, int warp, const SmOp *op) {
    if (!(board->warp[warp].all & op->uses)) return true;
    return scoreboard_has_sources_exactly(board, warp, op);
}
static inline bool scoreboard_has_results(const SmScoreboard *board, int warp, const SmOp *op) {
    if (!(board->warp[warp].all & op->results)) return true;
    return !board->is_exact && scoreboard_has_results_exactly(board, warp, op);
}

/* Whether any register of the warp has a result to come. */
static inline bool scoreboard_has_pending(const SmScoreboard *board, int warp) {
    return board->warp[warp].all != 0;
}

#endif
