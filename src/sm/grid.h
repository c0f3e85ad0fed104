/* A grid that runs on an SM, and what its CTAs on this SM share. Each warp points to its grid
 * (SmWarp.grid), so that CTAs of several grids can be resident at once. sm.c writes the record when
 * the grid begins. */
#ifndef TYTO_SM_GRID_H
#define TYTO_SM_GRID_H

#include "isa/source.h"
#include "sm/coalesce.h"
#include "sm/op.h"

enum {
    SM_MAX_GRIDS = 16 /* grids that have begun and not ended on one SM: as many kernels as compute
                         capability 2.x runs concurrently (CUDA C Programming Guide 4.2, 3.2.5.3) */
};

/* What an SM counts for each of its grids even if several run at the same time. */
typedef struct SmGridCounts {
    uint64_t warp_instructions, thread_instructions;
    uint64_t ctas_launched, ctas_finished;
    uint64_t warps_launched, warps_finished;
} SmGridCounts;

typedef struct SmGrid {
    const SmOp *ops;      /* rows of its program, by pc */
    const void *rows;     /* the core's own rows (SmCore.rows); NULL: none */
    const IsaInfo *infos; /* shared with its source; also what they point to: */
    const IsaReg *regs;
    WarpSource *source;    /* executes the grid's instructions */
    void *user;            /* SmGridStart.user */
    uint32_t cta_limit;    /* most CTAs of it resident on the SM at once */
    uint32_t resident;     /* CTAs of it resident on the SM; written by warps.c */
    uint32_t registers;    /* registers of the SM per CTA */
    uint32_t shared_bytes; /* bytes of shared memory per CTA */
    bool is_out;           /* its last CTA has been dispatched */
    bool waits;            /* a grid that it depends on still runs */
    uint64_t code;         /* offset of its program among those of the SM's grids, in bytes */
    SmLayout layout;       /* layout of its local memory and parameters */
    SmGridCounts counts;   /* while several grids are on the SM: issue.c; CTAs and warps: warps.c */
} SmGrid;

#endif
