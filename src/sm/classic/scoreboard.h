/* Scoreboard: which registers of a warp have a pending result. Issue waits for read-after-write and
 * write-after-write hazards. Instructions read their operands at issue, so write-after-read needs
 * no check.
 *
 * A warp has SM_OP_REGS bits for all its registers. If no function of a program has more registers
 * than that, the bits are exact. Otherwise there are additional sets with one bit per register,
 * which are checked only when the bits report a possible hazard. */
#ifndef TYTO_SM_SCOREBOARD_H
#define TYTO_SM_SCOREBOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/op.h"
#include "tyto/policy.h"

/* One warp's registers. */
typedef struct SmPending {
    SmRegs all;    /* registers with a pending result */
    SmRegs memory; /* registers among those whose result comes from memory */
} SmPending;

/* Written only by scoreboard.c and the functions below. */
typedef struct SmScoreboard {
    SmPending warp[TYTO_MAX_WARPS];
    const IsaReg *pool[TYTO_MAX_WARPS]; /* registers of the warp's program, indexed by SmOp.regs */
    bool is_exact;                      /* `warp` is exact */
    uint32_t words;                     /* words of one exact set */
    uint32_t warps;                     /* warp slots in use */
    uint64_t *sets; /* two sets per warp: `all`, and `memory`; NULL: never needed */
} SmScoreboard;

void scoreboard_init(SmScoreboard *board, uint32_t warps);
void scoreboard_free(SmScoreboard *board);
/* Resets the scoreboard when there is no grid. Every warp must be reset when it starts. */
void scoreboard_start_kernel(SmScoreboard *board);
/* Makes room for programs whose functions have at most `registers` registers. */
void scoreboard_begin_grid(SmScoreboard *board, uint32_t registers);
/* Clears the registers of a warp that starts; `pool`: registers of its program. */
void scoreboard_reset(SmScoreboard *board, int warp, const IsaReg *pool);

/* The exact versions of the three functions below, for a `warp` that is not exact. */
void scoreboard_reserve_exactly(SmScoreboard *board, int warp, const SmOp *op);
void scoreboard_release_exactly(SmScoreboard *board, int warp, const SmOp *op);
bool scoreboard_is_clear_exactly(const SmScoreboard *board, int warp, const SmOp *op,
                                 bool *waits_memory);

/* The same on the bits alone; sufficient if these are exact. */
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

/* Records that the instruction has issued: its results are pending. */
static inline void scoreboard_reserve(SmScoreboard *board, int warp, const SmOp *op) {
    scoreboard_reserve_words(board, warp, op);
    if (!board->is_exact) scoreboard_reserve_exactly(board, warp, op);
}

/* The pending results of the instruction become available with its sources. They count as results
 * from memory while a source does. */
void scoreboard_inherit(SmScoreboard *board, int warp, const SmOp *op);

static inline void scoreboard_release(SmScoreboard *board, int warp, const SmOp *op) {
    scoreboard_release_words(board, warp, op);
    if (!board->is_exact) scoreboard_release_exactly(board, warp, op);
}

/* Whether the instruction's registers are free; *waits_memory: one of them waits for memory. */
static inline bool scoreboard_is_clear(const SmScoreboard *board, int warp, const SmOp *op,
                                       bool *waits_memory) {
    bool is_clear = scoreboard_looks_clear(board, warp, op, waits_memory);
    if (board->is_exact || is_clear) return is_clear;
    return scoreboard_is_clear_exactly(board, warp, op, waits_memory);
}

/* Whether the registers that it reads are free; and whether those that it writes are free. */
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

/* Whether any register of the warp has a pending result. */
static inline bool scoreboard_has_pending(const SmScoreboard *board, int warp) {
    return board->warp[warp].all != 0;
}

#endif
