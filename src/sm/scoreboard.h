/* Scoreboard: which registers of a warp have a result to come. Issue waits for read-after-write and
 * write-after-write; instructions read their operands at issue, so write-after-read needs no check.
 */
#ifndef TYTO_SM_SCOREBOARD_H
#define TYTO_SM_SCOREBOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "tyto/policy.h"

/* One warp's registers, bit per register number. */
typedef struct SmPending {
    uint64_t *all;    /* with a result to come */
    uint64_t *memory; /* those among them that come from memory */
    uint32_t count;   /* registers in `all` */
} SmPending;

/* Written by scoreboard.c alone. */
typedef struct SmScoreboard {
    SmPending warp[TYTO_MAX_WARPS];
    uint32_t words; /* of one warp's sets */
    uint32_t warps; /* slots in use */
} SmScoreboard;

void scoreboard_init(SmScoreboard *board, uint32_t warps);
void scoreboard_free(SmScoreboard *board);
/* Makes room for the registers of a program's functions. All warps must be reset afterwards. */
void scoreboard_start_kernel(SmScoreboard *board, const IsaProgram *program);
void scoreboard_reset(SmScoreboard *board, int warp);

/* `pool` is the program's registers, which info->regs is an index of. */
void scoreboard_reserve(SmScoreboard *board, int warp, const IsaReg *pool, const IsaInfo *info,
                        bool from_memory);
void scoreboard_release(SmScoreboard *board, int warp, const IsaReg *pool, const IsaInfo *info);
/* Whether the instruction's registers are free; *waits_memory: one of them comes from memory. */
bool scoreboard_is_clear(const SmScoreboard *board, int warp, const IsaReg *pool,
                         const IsaInfo *info, bool *waits_memory);
/* Registers of the warp with a result to come. */
static inline uint32_t scoreboard_pending(const SmScoreboard *board, int warp) {
    return board->warp[warp].count;
}

#endif
