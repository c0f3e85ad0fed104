/* What the SM needs of an instruction, one row for each of a program: registers and banks as words
 * of bits, pipeline, times, and what it counts as. Worked out once for a machine and a program, so
 * that the stages look up what they would otherwise derive in every cycle. */
#ifndef TYTO_SM_OP_H
#define TYTO_SM_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/source.h"
#include "sm/sm_config.h"

/* SmOp.traits */
enum {
    SM_OP_L1D_LOAD = 1,   /* goes through the L1D: one that policies may hold back */
    SM_OP_LONG = 2,       /* its result comes from beyond the SM's own shared and constant memory */
    SM_OP_SHARED = 4,     /* what it does is seen by other SMs, or may depend on what they did */
    SM_OP_PHASE = 8,      /* may end a phase of an mbarrier, or wait for the end of one */
    SM_OP_HOLDS = 16,     /* a load until whose end its warp issues nothing */
    SM_OP_MORE = 32,      /* does more to its warp than to its registers */
    SM_OP_HINTED = 64,    /* accesses memory, and says more of it than what and where */
    SM_OP_READS_OWN = 128 /* reads a register that it writes */
};

/* What an instruction counts as, in addition to its lanes, packed: its SmUnit, then the bits
 * below. */
enum {
    SM_COUNTS_LOAD = 8,
    SM_COUNTS_STORE = 16,
    SM_COUNTS_ATOMIC = 24, /* of these three one at most */
    SM_COUNTS_BRANCH = 32,
    SM_COUNTS_BARRIER = 64, /* no instruction is both */
    SM_COUNTS = 96          /* kinds that can be told apart */
};
_Static_assert((int)SM_UNITS <= (int)SM_COUNTS_LOAD, "an SmUnit lies below the bits");

/* Registers, bit for number modulo SM_OP_REGS. Aligned as its words are, so that rows stay small.
 */
typedef unsigned __int128 SmRegs __attribute__((aligned(8)));
enum { SM_OP_REGS = 128 };

typedef struct SmOp {
    SmRegs uses;      /* registers that must be free before it issues */
    SmRegs results;   /* those among them that it writes */
    uint64_t reads;   /* banks of its operands for warp 0, the pattern repeated over the word */
    uint64_t writes;  /* likewise of its results */
    uint32_t regs;    /* IsaInfo.regs */
    uint16_t latency; /* SmOpConfig, as the next */
    uint16_t initiation;
    uint16_t flags;       /* IsaInfo.flags, the first 16 */
    uint16_t use_count;   /* all registers at `regs`, the guard's among them */
    uint16_t read_count;  /* operands that the collector fetches */
    uint8_t result_count; /* registers written: the first ones at `regs` */
    uint8_t unit;         /* SmUnit */
    uint8_t traits;       /* SM_OP_... */
    uint8_t counts;       /* SM_COUNTS_... and unit */
    IsaSlots slots;       /* it takes; 1 each where PTX is issued */
} SmOp;
_Static_assert(sizeof(SmOp) == 72, "a kernel's rows share the host's first cache with the SMs");

/* The rows of a program's instructions. The table is the caller's to free. */
SmOp sm_op(const SmConfig *config, const IsaInfo *info, const IsaReg *pool);
/* The same as a machine issues it that has instructions of its own. */
void sm_op_lower(SmOp *op, const SmConfig *config, const IsaInfo *info, IsaSlots slots);
/* The row of an instruction of a program, timed as one of that class. */
SmOp sm_op_at(const SmConfig *config, const WarpProgram *program, uint32_t pc, IsaClass class);
SmOp *sm_ops_new(const SmConfig *config, const WarpProgram *program);

/* Cycles from an instruction to the next that needs its result, in addition to its latency: one
 * less where the collector makes several steps a cycle, and where no operand is waited for. */
uint32_t sm_op_distance(const SmConfig *config);
/* The longest latency of an instruction on the machine. */
uint32_t sm_op_longest(const SmConfig *config);

/* Slots that an instruction takes whose active and executing lanes were these. */
static inline uint32_t sm_op_slots(const SmOp *op, uint32_t active, uint32_t lanes) {
    if (!lanes) return op->slots.passed;
    return lanes == active ? op->slots.taken : op->slots.slots;
}

/* The banks of a warp's registers from those of warp 0. */
static inline uint64_t sm_op_banks(uint64_t banks, uint32_t shift, uint64_t all) {
    return (banks << (shift & 63) | banks >> (-shift & 63)) & all;
}

#endif
