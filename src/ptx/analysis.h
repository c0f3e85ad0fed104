/* Analyses of a function after it has been read: control flow, liveness, registers. */
#ifndef TYTO_PTX_ANALYSIS_H
#define TYTO_PTX_ANALYSIS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/ptx.h"

/* Analyses every function of the module: the following steps, in this order; order.c only if
 * `is_compiled`. Returns false, after an error, if a function is too large. */
bool ptx_analyse(PtxModule *module, bool is_compiled, Diag *diag);

/* Number of registers per thread up to which NVIDIA's assembler starts loads early. Derived from
 * the numbers that it assigns to kernels (docs/ptx.md); also the number that each thread of a full
 * SM can have. */
enum { PTX_EARLY_REGISTERS = 32 };

/* Number of 32-bit registers for a value of the type; predicates have their own words. */
static inline int32_t ptx_words(PtxType type) {
    return type == PTX_PRED ? 0 : ptx_type_bits(type) > 32 ? 2 : 1;
}

/* ---- flow.c ---- */

/* Divides the function into basic blocks and finds their successors. A block ends at branches, ret,
 * exit, trap and calls that do not return. The successor block_count is the virtual exit. */
void ptx_find_blocks(Arena *arena, PtxFunction *function);

/* ---- post_dominator.c ---- */

/* Sets PtxBlock.post_dominator and PtxInst.reconverge. Blocks that cannot reach the exit (infinite
 * loops) are treated as if the last block of the loop in the text had an edge to the exit. */
void ptx_find_post_dominators(PtxFunction *function);

/* ---- main_exit.c ---- */

/* For each block, the exit block through which its threads are assumed to leave; -1 if there is
 * none. Threads that take other exits count as ending early. */
void ptx_find_main_exits(const PtxFunction *function, int32_t *main_exit);

/* ---- liveness.c ---- */

/* The range of positions in which a register is live: instruction i reads at position 2i and writes
 * at 2i + 1. */
typedef struct PtxInterval {
    int32_t start, end; /* both inclusive; start -1: the register does not occur */
} PtxInterval;

typedef struct PtxLiveness {
    PtxInterval *intervals; /* one per register; free with free() */
    int32_t pressure;       /* maximum number of 32-bit registers that are live at one point,
                             * without predicates */
} PtxLiveness;

/* Finds where each register of the function is live, on the control flow of one thread. A guarded
 * write does not end the old value. `budget` is the number of steps left; the function reduces it.
 * Returns false if it is used up (then nothing needs to be freed). */
bool ptx_find_liveness(const PtxFunction *function, PtxLiveness *liveness, int64_t *budget);

/* ---- order.c ---- */

/* Reorders the instructions of each block so that long waits overlap, as a compiler to machine code
 * does. Blocks stay in place, and the function computes the same. Compute liveness again
 * afterwards: `liveness` is that of the text. */
void ptx_order(PtxFunction *function, const PtxLiveness *liveness);

/* ---- allocate.c ---- */

/* Sets PtxReg.slot of every register, row_count and pred_count. Registers whose intervals do not
 * overlap share slots. */
void ptx_allocate(PtxFunction *function, const PtxInterval *intervals);

/* ---- registers.c ---- */

/* The register count of one function alone, from its pressure. It determines occupancy. */
int32_t ptx_estimate_registers(const PtxFunction *function, int32_t pressure);

/* ---- reach.c ---- */

/* Assigns shared memory addresses for each kernel, and raises PtxFunction.registers of every
 * function to the maximum of the functions it may call, bounded by .maxnreg. Reports kernels that
 * need too much. */
bool ptx_find_reach(PtxModule *module, Diag *diag);

#endif
