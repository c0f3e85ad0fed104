/* A grid that runs on an SM: what its CTAs there share. Each warp points to its grid (SmWarp.grid),
 * so that CTAs of several grids can be resident at once. sm.c writes the record when the grid
 * begins. */
#ifndef TYTO_SM_GRID_H
#define TYTO_SM_GRID_H

#include "isa/source.h"
#include "sm/op.h"

enum { SM_MAX_GRIDS = 1 /* begun and not ended on one SM */ };

typedef struct SmGrid {
    const SmOp *ops;      /* rows of its program, by pc */
    const IsaInfo *infos; /* the same as its source has them; and what they point into: */
    const IsaReg *regs;
    WarpSource *source; /* executes its instructions */
    void *user;         /* SmGridStart.user */
    uint32_t cta_limit; /* CTAs of it resident on the SM at once, at most */
    uint32_t resident;  /* CTAs of it resident on the SM: warps.c */
} SmGrid;

#endif
