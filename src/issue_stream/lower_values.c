/* What registers hold and which instructions read them (see issue_stream/lower_internal.h). Facts
 * are found by iterating over the instructions until nothing changes; each fact changes a register
 * at most once. */
#include "issue_stream/lower_internal.h"

#include <stdlib.h>

#include "base/bits.h"

/* ---- Who reads and writes ---- */

typedef void VisitReg(Lower *lower, int32_t reg, LowerUse use);

static bool is_list(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR;
}

static void visit_operand(Lower *lower, const PtxOperand *operand, LowerUse use, VisitReg *visit) {
    if (is_list(operand)) {
        for (int i = 0; i < operand->count; i++)
            visit_operand(lower, &operand->items[i], use, visit);
        return;
    }
    use.is_address = operand->kind == PTX_OPERAND_MEM;
    if ((operand->kind == PTX_OPERAND_REG || use.is_address) && operand->reg >= 0)
        visit(lower, operand->reg, use);
}

static void visit_reads(Lower *lower, int32_t index, VisitReg *visit) {
    const PtxInst *inst = &lower->function->insts[index];
    for (int i = inst->has_destination; i < inst->operand_count; i++)
        visit_operand(lower, &inst->operands[i], (LowerUse){.inst = index, .operand = i}, visit);
    for (int i = 0; i < inst->call_argument_count; i++)
        visit_operand(lower, &inst->call_arguments[i],
                      (LowerUse){.inst = index, .operand = LOWER_ARGUMENT}, visit);
    if (inst->guard >= 0)
        visit(lower, inst->guard, (LowerUse){.inst = index, .operand = LOWER_GUARD});
}

static void visit_writes(Lower *lower, int32_t index, VisitReg *visit) {
    const PtxInst *inst = &lower->function->insts[index];
    const LowerUse use = {.inst = index};
    if (inst->has_destination) visit_operand(lower, &inst->operands[0], use, visit);
    for (int i = 0; i < inst->call_return_count; i++)
        visit_operand(lower, &inst->call_returns[i], use, visit);
}

static void note_write(Lower *lower, int32_t reg, LowerUse use) {
    lower->regs[reg].def = use.inst;
    lower->regs[reg].defs++;
}

static void count_use(Lower *lower, int32_t reg, LowerUse use) {
    (void)use;
    lower->regs[reg].uses++;
}

static void note_use(Lower *lower, int32_t reg, LowerUse use) {
    LowerReg *r = &lower->regs[reg];
    lower->uses[r->first_use + r->uses++] = use;
}

static void find_uses(Lower *lower) {
    const PtxFunction *f = lower->function;
    int32_t total = 0;
    for (int32_t i = 0; i < f->inst_count; i++) {
        visit_writes(lower, i, note_write);
        visit_reads(lower, i, count_use);
    }
    for (int32_t r = 0; r < f->reg_count; r++) {
        lower->regs[r].first_use = total;
        total += lower->regs[r].uses;
        lower->regs[r].uses = 0;
    }
    lower->uses = base_malloc(sizeof *lower->uses * ((size_t)total + 1));
    for (int32_t i = 0; i < f->inst_count; i++)
        visit_reads(lower, i, note_use);
}

static void find_blocks(Lower *lower) {
    const PtxFunction *f = lower->function;
    for (int32_t b = 0; b < f->block_count; b++)
        for (int32_t i = f->blocks[b].first; i <= f->blocks[b].last; i++)
            lower->block_of[i] = b;
}

/* Marks the blocks between a backward branch and its target. */
static void find_loops(Lower *lower) {
    const PtxFunction *f = lower->function;
    for (int32_t b = 0; b < f->block_count; b++)
        for (int s = 0; s < f->blocks[b].successor_count; s++)
            for (int32_t in = f->blocks[b].successors[s]; in <= b; in++)
                lower->in_loop[in] = true;
}

/* ---- Looking up ---- */

LowerReg *lower_reg(const Lower *lower, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_REG) return NULL;
    LowerReg *reg = &lower->regs[operand->reg];
    bool is_single = reg->defs == 1 && lower->function->insts[reg->def].guard < 0;
    return is_single ? reg : NULL;
}

const PtxInst *lower_source(const Lower *lower, const PtxOperand *operand, PtxOpcode op) {
    const LowerReg *reg = lower_reg(lower, operand);
    if (!reg) return NULL;
    const PtxInst *inst = &lower->function->insts[reg->def];
    return inst->op == op ? inst : NULL;
}

LowerReg *lower_result(const Lower *lower, int32_t inst) {
    const PtxInst *ptx = &lower->function->insts[inst];
    return ptx->has_destination ? lower_reg(lower, &ptx->operands[0]) : NULL;
}

static LowerKind kind_of_address(const PtxOperand *operand) {
    PtxSpace space = operand->var ? operand->var->space : PTX_SPACE_GLOBAL;
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_LOCAL ? LOWER_IMMEDIATE : LOWER_BANK;
}

/* Launch dimensions are in constant memory; thread positions must be read from special
 * registers. */
static LowerKind kind_of_sreg(PtxSreg sreg) {
    switch (sreg) {
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z:
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z: return LOWER_BANK;
    case PTX_SREG_TID_W:
    case PTX_SREG_NTID_W:
    case PTX_SREG_CTAID_W:
    case PTX_SREG_NCTAID_W: /* 0 */
    case PTX_SREG_WARP_SZ: return LOWER_IMMEDIATE;
    default: return LOWER_VALUE;
    }
}

LowerKind lower_kind(const Lower *lower, const PtxOperand *operand) {
    const LowerReg *reg;
    switch (operand->kind) {
    case PTX_OPERAND_IMM: return LOWER_IMMEDIATE;
    case PTX_OPERAND_ADDRESS: return kind_of_address(operand);
    case PTX_OPERAND_FUNC: return LOWER_BANK;
    case PTX_OPERAND_SREG: return kind_of_sreg(operand->sreg);
    case PTX_OPERAND_REG:
        reg = lower_reg(lower, operand);
        return reg ? (LowerKind)reg->kind : LOWER_VALUE;
    default: return LOWER_VALUE;
    }
}

bool lower_is_zero(const Lower *lower, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_IMM) return operand->imm == 0;
    const LowerReg *reg = lower_reg(lower, operand);
    return reg && reg->is_zero;
}

/* ---- What registers hold ---- */

/* A load whose address is known when the kernel starts. */
static bool is_fixed_load(const Lower *lower, const PtxInst *inst) {
    if (inst->op != PTX_OP_LD || inst->vector > 1 || inst->operands[1].reg >= 0) return false;
    if (inst->space == PTX_SPACE_CONST) return true;
    return inst->space == PTX_SPACE_PARAM && lower->function->is_kernel;
}

/* LOWER_IMMEDIATE if all sources of an instruction are immediates; otherwise LOWER_VALUE. */
static LowerKind kind_of_sources(const Lower *lower, const PtxInst *inst) {
    for (int i = 1; i < inst->operand_count; i++)
        if (lower_kind(lower, &inst->operands[i]) != LOWER_IMMEDIATE) return LOWER_VALUE;
    return LOWER_IMMEDIATE;
}

static LowerKind kind_of_result(const Lower *lower, const PtxInst *inst) {
    switch (inst->op) {
    case PTX_OP_LD: return is_fixed_load(lower, inst) ? LOWER_BANK : LOWER_VALUE;
    case PTX_OP_MOV: return lower_kind(lower, &inst->operands[1]);
    case PTX_OP_CVTA:
        return inst->space == PTX_SPACE_GLOBAL || inst->flags & PTX_FLAG_TO
                   ? lower_kind(lower, &inst->operands[1])
                   : LOWER_VALUE;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_SHL:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR: return kind_of_sources(lower, inst);
    default: return LOWER_VALUE;
    }
}

static void find_kinds(Lower *lower) {
    for (int32_t i = 0; i < lower->function->inst_count; i++) {
        LowerReg *reg = lower_result(lower, i);
        if (!reg) continue;
        const PtxInst *inst = &lower->function->insts[i];
        reg->kind = (uint8_t)kind_of_result(lower, inst);
        reg->is_zero = inst->op == PTX_OP_MOV && lower_is_zero(lower, &inst->operands[1]);
    }
}

/* ---- Lanes ---- */

static bool is_varying_sreg(PtxSreg sreg) {
    return kind_of_sreg(sreg) == LOWER_VALUE && sreg != PTX_SREG_CTAID_X &&
           sreg != PTX_SREG_CTAID_Y && sreg != PTX_SREG_CTAID_Z && sreg != PTX_SREG_WARPID &&
           sreg != PTX_SREG_SMID;
}

bool lower_varies(const Lower *lower, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_SREG) return is_varying_sreg(operand->sreg);
    if (is_list(operand)) {
        for (int i = 0; i < operand->count; i++)
            if (lower_varies(lower, &operand->items[i])) return true;
        return false;
    }
    bool is_read = operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_MEM;
    return is_read && operand->reg >= 0 && lower->regs[operand->reg].is_varying;
}

static bool is_varying_result(const Lower *lower, const PtxInst *inst) {
    switch (inst->op) {
    case PTX_OP_ATOM:
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD:
    case PTX_OP_SHFL:
    case PTX_OP_CALL: return true;
    case PTX_OP_VOTE:
    case PTX_OP_REDUX:
    case PTX_OP_ACTIVEMASK: return false;
    default: break;
    }
    if (inst->guard >= 0 && lower->regs[inst->guard].is_varying) return true;
    for (int i = inst->has_destination; i < inst->operand_count; i++)
        if (lower_varies(lower, &inst->operands[i])) return true;
    return false;
}

static void mark_varying(Lower *lower, int32_t reg, LowerUse use) {
    (void)use;
    lower->varying += !lower->regs[reg].is_varying;
    lower->regs[reg].is_varying = true;
}

static void find_varying(Lower *lower) {
    for (int32_t before = -1; before != lower->varying;) {
        before = lower->varying;
        for (int32_t i = 0; i < lower->function->inst_count; i++)
            if (is_varying_result(lower, &lower->function->insts[i]))
                visit_writes(lower, i, mark_varying);
    }
}

/* ---- Upper halves ---- */

/* Whether the lower half of a 64-bit result depends only on the lower halves of its sources. */
static bool keeps_halves_apart(const PtxInst *inst) {
    switch (inst->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_NEG:
    case PTX_OP_MOV:
    case PTX_OP_SELP:
    case PTX_OP_SHL:
    case PTX_OP_CVTA: return true;
    case PTX_OP_MUL:
    case PTX_OP_MAD: return inst->mul_mode == PTX_MUL_LO;
    default: return false;
    }
}

static bool wants_upper_half(const Lower *lower, const LowerUse *use) {
    const PtxInst *inst = &lower->function->insts[use->inst];
    if (use->is_address) return inst->space == PTX_SPACE_GLOBAL || inst->space == PTX_SPACE_NONE;
    if (inst->op == PTX_OP_CVT) /* an integer is truncated; all of a float is needed */
        return ptx_type_bits(inst->type) > 32 || ptx_type_is_float(inst->type) ||
               ptx_type_is_float(inst->type2);
    if (!keeps_halves_apart(inst) || !inst->has_destination) return true;
    const PtxOperand *to = &inst->operands[0];
    return to->kind != PTX_OPERAND_REG || !lower->regs[to->reg].is_narrow;
}

static bool is_narrow(const Lower *lower, const LowerReg *reg) {
    for (int32_t u = 0; u < reg->uses; u++)
        if (wants_upper_half(lower, &lower_uses(lower, reg)[u])) return false;
    return true;
}

static void find_narrow(Lower *lower) {
    const PtxFunction *f = lower->function;
    for (int32_t r = 0; r < f->reg_count; r++)
        lower->regs[r].is_narrow = ptx_type_bits(f->regs[r].type) == 64;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int32_t r = f->reg_count - 1; r >= 0; r--) {
            LowerReg *reg = &lower->regs[r];
            if (!reg->is_narrow || is_narrow(lower, reg)) continue;
            reg->is_narrow = false;
            has_changed = true;
        }
    }
}

/* ---- Alignment ---- */

enum { MOST_ALIGNED = 63 };

static uint8_t zeros_below(uint64_t value) {
    return value ? (uint8_t)bits_lowest64(value) : MOST_ALIGNED;
}

static uint8_t alignment_of(const Lower *lower, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_IMM) return zeros_below((uint64_t)operand->imm);
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->var &&
        operand->var->space == PTX_SPACE_SHARED)
        return zeros_below(operand->var->address | (uint64_t)operand->imm);
    const LowerReg *reg = lower_reg(lower, operand);
    return reg ? reg->alignment : 0;
}

static uint8_t alignment_of_result(const Lower *lower, const PtxInst *inst) {
    uint8_t a = inst->operand_count > 1 ? alignment_of(lower, &inst->operands[1]) : 0;
    uint8_t b = inst->operand_count > 2 ? alignment_of(lower, &inst->operands[2]) : 0;
    uint8_t least = a < b ? a : b, sum = (uint8_t)(a + b);
    switch (inst->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVTA: return a;
    case PTX_OP_CVT: return ptx_type_is_float(inst->type) ? 0 : a;
    case PTX_OP_ADD:
    case PTX_OP_SUB: return least;
    case PTX_OP_MUL: return sum < MOST_ALIGNED ? sum : MOST_ALIGNED;
    case PTX_OP_SHL:
        if (inst->operands[2].kind != PTX_OPERAND_IMM) return a;
        sum = (uint8_t)(a + (inst->operands[2].imm & 63));
        return sum < MOST_ALIGNED ? sum : MOST_ALIGNED;
    default: return 0;
    }
}

static void find_alignment(Lower *lower) {
    for (int32_t i = 0; i < lower->function->inst_count; i++) {
        LowerReg *reg = lower_result(lower, i);
        if (reg) reg->alignment = alignment_of_result(lower, &lower->function->insts[i]);
    }
}

void lower_find_values(Lower *lower) {
    for (int32_t r = 0; r < lower->function->reg_count; r++)
        lower->regs[r].def = -1;
    find_uses(lower);
    find_blocks(lower);
    find_loops(lower);
    find_kinds(lower);
    find_varying(lower);
    find_narrow(lower);
    find_alignment(lower);
}
