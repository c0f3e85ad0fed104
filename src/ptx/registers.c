/* The number of registers per thread that a kernel has on hardware. This is a model of what
 * NVIDIA's assembler reports, with four constants fitted to it (docs/ptx.md has the data and the
 * remaining error).
 *
 * Liveness alone gives too low a number. The assembler starts loads early to overlap their
 * latencies, and each pending load occupies its destination. It stops doing so at about 32
 * registers. Functions that follow the calling convention may always use the scratch registers. */
#include "ptx/analysis.h"

enum {
    ALWAYS_USED = 1,     /* in addition to live registers */
    CALLER_MINIMUM = 24, /* for kernels that call: the scratch registers of the convention */
    MINIMUM = 8          /* for any kernel */
};

static int32_t words_of(const PtxFunction *function, const PtxOperand *operand) {
    int32_t words = 0;
    if (operand->kind == PTX_OPERAND_REG) return ptx_words(function->regs[operand->reg].type);
    for (int i = 0; i < operand->count; i++)
        words += words_of(function, &operand->items[i]);
    return words;
}

static bool is_early_load(const PtxInst *inst) {
    bool is_load = inst->op == PTX_OP_LD || inst->op == PTX_OP_LDU || inst->op == PTX_OP_TEX;
    return is_load && inst->space != PTX_SPACE_PARAM && inst->space != PTX_SPACE_CONST;
}

/* Whether loads cannot move across the instruction. */
static bool stops_loads(const PtxInst *inst) {
    return inst->op == PTX_OP_BAR || inst->op == PTX_OP_CLUSTER_BARRIER ||
           inst->op == PTX_OP_CALL || inst->op == PTX_OP_MEMBAR || inst->op == PTX_OP_FENCE ||
           inst->op == PTX_OP_ATOM;
}

/* Maximum number of 32-bit words that are loaded in one basic block with nothing in between that
 * stops loads. */
static int32_t words_in_flight(const PtxFunction *function) {
    int32_t most = 0;
    for (int32_t b = 0; b < function->block_count; b++) {
        int32_t words = 0;
        for (int32_t i = function->blocks[b].first; i <= function->blocks[b].last; i++) {
            const PtxInst *inst = &function->insts[i];
            if (stops_loads(inst)) words = 0;
            if (is_early_load(inst)) words += words_of(function, &inst->operands[0]);
            if (words > most) most = words;
        }
    }
    return most;
}

static bool has_call(const PtxFunction *function) {
    for (int32_t i = 0; i < function->inst_count; i++) {
        if (function->insts[i].op == PTX_OP_CALL) return true;
    }
    return false;
}

int32_t ptx_estimate_registers(const PtxFunction *function, int32_t pressure) {
    int32_t registers = pressure + ALWAYS_USED;
    int32_t early =
        registers + (words_in_flight(function) * 3 + 2) / 4; /* three quarters of the words */
    if (early > PTX_EARLY_REGISTERS) early = PTX_EARLY_REGISTERS;
    if (early > registers) registers = early;
    int32_t minimum = has_call(function) ? CALLER_MINIMUM : MINIMUM;
    return registers > minimum ? registers : minimum;
}
