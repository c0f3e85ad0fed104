/* What is computed of a function once it has been read: control flow, liveness, registers. */
#ifndef TYTO_PTX_ANALYSIS_H
#define TYTO_PTX_ANALYSIS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/ptx.h"

/* Analyses every function of the module: the following steps, in this order, that of order.c where
 * `is_compiled`. False, with an error, when one is too large. */
bool ptx_analyse(PtxModule *module, bool is_compiled, Diag *diag);

/* Registers of a thread up to which NVIDIA's assembler starts loads early: by the numbers that it
 * gives kernels (docs/ptx.md), and as many as a full SM has for each. */
enum { PTX_EARLY_REGISTERS = 32 };

/* 32-bit registers that a value of the type takes; predicates have words of their own. */
static inline int32_t ptx_words(PtxType type) {
    return type == PTX_PRED ? 0 : ptx_type_bits(type) > 32 ? 2 : 1;
}

/* ---- flow.c ---- */

/* Cuts the function into basic blocks and finds their successors. A block ends at branches, ret,
 * exit, trap and calls that do not return; the successor block_count is the virtual exit. */
void ptx_find_blocks(Arena *arena, PtxFunction *function);

/* ---- post_dominator.c ---- */

/* Sets PtxBlock.post_dominator and PtxInst.reconverge. Blocks that cannot reach the exit (infinite
 * loops) are taken to leave from the last block of the loop in the text. */
void ptx_find_post_dominators(PtxFunction *function);

/* ---- main_exit.c ---- */

/* For each block the last one of the way by which its threads are taken to leave, -1 where none
 * does. Every block of a way has the same; other ways out end threads early. */
void ptx_find_main_exits(const PtxFunction *function, int32_t *main_exit);

/* ---- liveness.c ---- */

/* Where a register is live, as one stretch of positions: instruction i reads at position 2i and
 * writes at 2i + 1. */
typedef struct PtxInterval {
    int32_t start, end; /* both included; start -1: the register does not occur */
} PtxInterval;

typedef struct PtxLiveness {
    PtxInterval *intervals; /* one for each register; freed with free() */
    int32_t pressure;       /* most 32-bit registers live at one point, predicates left out */
} PtxLiveness;

/* Finds where each register of the function is live, on the control flow of one thread. A guarded
 * write does not end what was live before. `budget` is the number of steps left, and is lowered;
 * false when it ran out (then nothing needs freeing). */
bool ptx_find_liveness(const PtxFunction *function, PtxLiveness *liveness, int64_t *budget);

/* ---- order.c ---- */

/* Puts the instructions of each block in an order in which long waits overlap, as a compiler does
 * that makes machine code of them. Blocks keep their places, and the function computes the same.
 * Its liveness, which is that of the text, must be computed again. */
void ptx_order(PtxFunction *function, const PtxLiveness *liveness);

/* ---- allocate.c ---- */

/* Sets PtxReg.slot of every register, row_count and pred_count: registers whose intervals do not
 * meet share slots. */
void ptx_allocate(PtxFunction *function, const PtxInterval *intervals);

/* ---- registers.c ---- */

/* The register count that decides occupancy of one function alone, from its pressure. */
int32_t ptx_estimate_registers(const PtxFunction *function, int32_t pressure);

/* ---- reach.c ---- */

/* Lays out shared memory for each kernel, and raises PtxFunction.registers of every function to
 * that of what it may call, bounded by .maxnreg. Reports kernels that need too much. */
bool ptx_find_reach(PtxModule *module, Diag *diag);

#endif
