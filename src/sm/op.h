/* What the SM needs to know about an instruction, one row per instruction of a program: registers
 * and banks as bit sets, pipeline, timing, and what it counts as. The rows are computed once per
 * machine and program, so that the stages look up what they would otherwise derive in every
 * cycle. */
#ifndef TYTO_SM_OP_H
#define TYTO_SM_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/source.h"
#include "sm/sm_config.h"

/* SmOp.traits */
enum {
    SM_OP_L1D_LOAD = 1,   /* goes through the L1D; policies may hold it back */
    SM_OP_LONG = 2,       /* its result comes from outside the SM's shared and constant memory */
    SM_OP_SHARED = 4,     /* its effect is visible to other SMs, or may depend on theirs */
    SM_OP_PHASE = 8,      /* may end a phase of an mbarrier, or wait for its end */
    SM_OP_HOLDS = 16,     /* a load that blocks its warp until it completes */
    SM_OP_MORE = 32,      /* affects its warp beyond its registers */
    SM_OP_HINTED = 64,    /* accesses memory and carries hints about the access */
    SM_OP_READS_OWN = 128 /* reads a register that it writes */
};

/* What an instruction counts as, in addition to its lanes: its SmUnit, combined with the bits
 * below. */
enum {
    SM_COUNTS_LOAD = 8,
    SM_COUNTS_STORE = 16,
    SM_COUNTS_ATOMIC = 24, /* at most one of these three */
    SM_COUNTS_BRANCH = 32,
    SM_COUNTS_BARRIER = 64, /* not together with SM_COUNTS_BRANCH */
    SM_COUNTS = 96          /* number of different kinds */
};
_Static_assert((int)SM_UNITS <= (int)SM_COUNTS_LOAD, "an SmUnit lies below the bits");

/* A set of registers: one bit per number modulo SM_OP_REGS. Aligned like its words, so that rows
 * stay small. */
typedef unsigned __int128 SmRegs __attribute__((aligned(8)));
enum { SM_OP_REGS = 128 };

typedef struct SmOp {
    SmRegs uses;      /* registers that must be free before it issues */
    SmRegs results;   /* registers in `uses` that it writes */
    uint64_t reads;   /* banks of its operands for warp 0; the pattern repeats over the word */
    uint64_t writes;  /* the same for its results */
    uint32_t regs;    /* IsaInfo.regs */
    uint16_t latency; /* SmOpConfig; also the next */
    uint16_t initiation;
    uint16_t flags;       /* IsaInfo.flags, the first 16 */
    uint16_t use_count;   /* all registers from `regs` on, including the guard's */
    uint16_t read_count;  /* operands that the collector reads */
    uint8_t result_count; /* registers written; they are the first ones at `regs` */
    uint8_t unit;         /* SmUnit */
    uint8_t traits;       /* SM_OP_... bits */
    uint8_t counts;       /* SM_COUNTS_... bits and unit */
    IsaSlots slots;       /* issue slots that it takes; 1 each if the machine issues PTX */
} SmOp;
_Static_assert(sizeof(SmOp) == 72, "a kernel's rows share the host's first cache with the SMs");

/* The rows of a program's instructions. The caller frees the table. */
SmOp sm_op(const SmConfig *config, const IsaInfo *info, const IsaReg *pool);
/* Changes the row to that of the machine instructions that PTX is lowered to. */
void sm_op_lower(SmOp *op, const SmConfig *config, const IsaInfo *info, IsaSlots slots);
/* The row of an instruction of a program, timed as class `class`. */
SmOp sm_op_at(const SmConfig *config, const WarpProgram *program, uint32_t pc, IsaClass class);
SmOp *sm_ops_new(const SmConfig *config, const WarpProgram *program);

/* Cycles from an instruction to the next one that needs its result, in addition to the latency. One
 * cycle less if the collector makes several steps per cycle, and one less if operands are always
 * available. */
uint32_t sm_op_distance(const SmConfig *config);
/* The longest latency of an instruction on this machine. */
uint32_t sm_op_longest(const SmConfig *config);

/* Issue slots of an instruction, given its active and its executing lanes. */
static inline uint32_t sm_op_slots(const SmOp *op, uint32_t active, uint32_t lanes) {
    if (!lanes) return op->slots.passed;
    return lanes == active ? op->slots.taken : op->slots.slots;
}

/* The banks of a warp's registers, computed from those of warp 0. */
static inline uint64_t sm_op_banks(uint64_t banks, uint32_t shift, uint64_t all) {
    return (banks << (shift & 63) | banks >> (-shift & 63)) & all;
}

#endif
