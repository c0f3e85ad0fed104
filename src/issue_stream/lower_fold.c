/* What vanishes into a neighbour, and what must be put into a register first (see
 * issue_stream/lower.h). Every rule was seen in code of ptxas; docs/issue-stream.md lists them with
 * an example each. */
#include "issue_stream/lower_internal.h"

#include <stdlib.h>

static void set_slots(Lower *lower, int32_t inst, uint32_t slots) {
    lower->slots[inst].slots = (uint8_t)(slots < ISA_MAX_SLOTS ? slots : ISA_MAX_SLOTS);
}

static void add_slots(Lower *lower, int32_t inst, uint32_t slots) {
    set_slots(lower, inst, lower->slots[inst].slots + slots);
}

static void fold(Lower *lower, const PtxInst *inst) {
    int32_t index = lower_index(lower, inst);
    lower->is_folded[index] = true;
    set_slots(lower, index, 0);
}

static bool is_used_once(const Lower *lower, const PtxInst *inst) {
    const LowerReg *reg = lower_result(lower, lower_index(lower, inst));
    return reg && reg->uses == 1;
}

static bool is_in_block_of(const Lower *lower, const PtxInst *inst, int32_t other) {
    return lower->block_of[lower_index(lower, inst)] == lower->block_of[other];
}

static bool is_narrow_result(const Lower *lower, const PtxInst *inst) {
    const PtxOperand *to = &inst->operands[0];
    return to->kind == PTX_OPERAND_REG && lower->regs[to->reg].is_narrow;
}

static bool is_64(const PtxInst *inst) { return ptx_type_bits(inst->type) == 64; }

static bool is_float(const PtxInst *inst) { return ptx_type_is_float(inst->type); }

/* ---- Three operands ---- */

/* Sources of an instruction that are registers of the machine. */
static int inputs_of(const Lower *lower, const PtxInst *inst) {
    int inputs = 0;
    for (int i = 1; i < inst->operand_count; i++)
        inputs += !lower_is_zero(lower, &inst->operands[i]);
    return inputs;
}

typedef struct Chain {
    int inputs;   /* of the instruction with what has been folded into it */
    bool is_full; /* it multiplies or shifts, too: nothing else goes in */
} Chain;

static bool is_add(const PtxInst *inst) {
    return (inst->op == PTX_OP_ADD || inst->op == PTX_OP_SUB) &&
           !(inst->flags & (PTX_FLAG_CC | PTX_FLAG_SAT));
}

static bool all_uses_add(const Lower *lower, const PtxInst *inst) {
    const LowerReg *reg = lower_result(lower, lower_index(lower, inst));
    if (!reg) return false;
    for (int32_t u = 0; u < reg->uses; u++) {
        const LowerUse *use = &lower_uses(lower, reg)[u];
        if (use->is_address || use->operand < 0 || !is_add(&lower->function->insts[use->inst]))
            return false;
    }
    return true;
}

/* x * y + z is one instruction, and so is (x << 3) + z. */
static void fold_product(Lower *lower, int32_t index, const PtxOperand *operand, Chain *chain) {
    const PtxInst *inst = &lower->function->insts[index];
    const PtxInst *mul = lower_source(lower, operand, PTX_OP_MUL);
    const PtxInst *shl = lower_source(lower, operand, PTX_OP_SHL);
    if (chain->is_full || chain->inputs > 2) return;
    if (mul && mul->type == inst->type && mul->mul_mode == PTX_MUL_LO && is_used_once(lower, mul) &&
        is_in_block_of(lower, mul, index)) {
        fold(lower, mul);
        chain->is_full = true;
    }
    if (shl && inst->op == PTX_OP_ADD && shl->operands[2].kind == PTX_OPERAND_IMM &&
        all_uses_add(lower, shl)) {
        fold(lower, shl);
        chain->is_full = true;
    }
}

/* a + b + c is one instruction. */
static void fold_sum(Lower *lower, int32_t index, const PtxOperand *operand, Chain *chain) {
    const PtxInst *inst = &lower->function->insts[index];
    const LowerReg *reg = lower_reg(lower, operand);
    const PtxInst *source = reg ? &lower->function->insts[reg->def] : NULL;
    if (!source || !is_add(source) || source->type != inst->type || reg->uses != 1) return;
    int32_t at = lower_index(lower, source);
    if (chain->is_full || lower->slots[at].slots != 1 || !is_in_block_of(lower, source, index))
        return;
    int inputs = chain->inputs - 1 + inputs_of(lower, source);
    for (int i = 1; i < source->operand_count; i++)
        if (lower_reg(lower, &source->operands[i]) &&
            lower->is_folded[lower_reg(lower, &source->operands[i])->def])
            return;
    if (inputs > 3) return;
    fold(lower, source);
    chain->inputs = inputs;
}

/* A shift by a number, used once; NULL: the operand is none. */
static const PtxInst *shift_source(const Lower *lower, const PtxOperand *operand, PtxOpcode op) {
    const PtxInst *shift = lower_source(lower, operand, op);
    bool can = shift && shift->operands[2].kind == PTX_OPERAND_IMM && is_used_once(lower, shift);
    return can ? shift : NULL;
}

/* The sum or union of x << n and x >> 32 - n is one instruction. */
static bool fold_rotation(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    for (int i = 1; i < 3; i++) {
        const PtxInst *left = shift_source(lower, &inst->operands[i], PTX_OP_SHL);
        const PtxInst *right = shift_source(lower, &inst->operands[3 - i], PTX_OP_SHR);
        if (!left || !right || right->type == PTX_S32) continue;
        const LowerReg *turned = lower_reg(lower, &left->operands[1]);
        if (!turned || turned != lower_reg(lower, &right->operands[1])) continue;
        if (left->operands[2].imm + right->operands[2].imm != 32) continue;
        fold(lower, left);
        fold(lower, right);
        return true;
    }
    return false;
}

static void fold_into_add(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    if (ptx_type_bits(inst->type) != 32 || is_float(inst)) return;
    if (inst->op == PTX_OP_ADD && fold_rotation(lower, index)) return;
    Chain chain = {.inputs = inputs_of(lower, inst)};
    for (int i = 1; i < inst->operand_count; i++)
        fold_product(lower, index, &inst->operands[i], &chain);
    for (int i = 1; i < inst->operand_count; i++)
        fold_sum(lower, index, &inst->operands[i], &chain);
}

/* ---- Logic: any function of three words, and whether it is zero ---- */

static bool is_logic(const PtxInst *inst) {
    return (inst->op == PTX_OP_AND || inst->op == PTX_OP_OR || inst->op == PTX_OP_XOR ||
            inst->op == PTX_OP_NOT) &&
           inst->type != PTX_PRED;
}

static const PtxInst *logic_source(const Lower *lower, const PtxOperand *operand, int32_t index) {
    const LowerReg *reg = lower_reg(lower, operand);
    const PtxInst *source = reg ? &lower->function->insts[reg->def] : NULL;
    bool can = source && is_logic(source) && reg->uses == 1 && is_in_block_of(lower, source, index);
    return can ? source : NULL;
}

enum { FULL = 4 }; /* inputs of what nothing else takes in */

static void fold_into_logic(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    if (inst->op == PTX_OP_OR && ptx_type_bits(inst->type) == 32 && fold_rotation(lower, index)) {
        lower->inputs[index] = FULL;
        return;
    }
    int inputs = inputs_of(lower, inst);
    for (int i = 1; i < inst->operand_count; i++) {
        const PtxInst *source = logic_source(lower, &inst->operands[i], index);
        if (!source || source->type != inst->type) continue;
        int with = inputs - 1 + lower->inputs[lower_index(lower, source)];
        if (with > 3) continue;
        fold(lower, source);
        inputs = with;
    }
    lower->inputs[index] = (uint8_t)inputs;
}

/* (a & b) compared with zero is one instruction. */
static void fold_into_compare(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    bool is_equality = inst->compare == PTX_EQ || inst->compare == PTX_NE;
    if (is_64(inst) && (is_narrow_result(lower, inst))) return;
    if (!is_equality || inst->operand_count < 3 || !lower_is_zero(lower, &inst->operands[2]))
        return;
    const PtxInst *source = logic_source(lower, &inst->operands[1], index);
    if (source && ptx_type_bits(source->type) == 32) fold(lower, source);
}

/* ---- Floating point: products that are added, signs ---- */

static bool can_contract(const PtxInst *inst) {
    return inst->round == PTX_ROUND_NONE && !(inst->flags & PTX_FLAG_SAT);
}

static void fold_into_float_add(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    if (!can_contract(inst)) return;
    for (int i = 1; i < inst->operand_count; i++) {
        const PtxInst *mul = lower_source(lower, &inst->operands[i], PTX_OP_MUL);
        if (!mul || mul->type != inst->type || !can_contract(mul) || !is_used_once(lower, mul))
            continue;
        fold(lower, mul);
        return;
    }
}

/* A sign is a modifier of the operand that has it. */
static void fold_sign(Lower *lower, int32_t index) {
    const LowerReg *reg = lower_result(lower, index);
    if (!reg || !is_float(&lower->function->insts[index])) return;
    for (int32_t u = 0; u < reg->uses; u++) {
        const LowerUse *use = &lower_uses(lower, reg)[u];
        const PtxInst *user = &lower->function->insts[use->inst];
        bool can = use->operand > 0 && is_float(user) && user->op != PTX_OP_ST &&
                   user->op != PTX_OP_MOV && user->op != PTX_OP_SELP;
        if (!can) return;
    }
    fold(lower, &lower->function->insts[index]);
}

/* ---- 64 bits ---- */

static bool is_address_only(const Lower *lower, const LowerReg *reg) {
    for (int32_t u = 0; u < reg->uses; u++)
        if (!lower_uses(lower, reg)[u].is_address) return false;
    return true;
}

static bool has_immediate(const Lower *lower, const PtxInst *inst) {
    return lower_kind(lower, &inst->operands[1]) == LOWER_IMMEDIATE ||
           lower_kind(lower, &inst->operands[2]) == LOWER_IMMEDIATE;
}

/* An addition that is part of the addresses made of it: [R + number]. */
static bool is_offset(const Lower *lower, const PtxInst *inst) {
    const LowerReg *reg = lower_result(lower, lower_index(lower, inst));
    if (!reg || inst->op != PTX_OP_ADD || !is_64(inst) || !has_immediate(lower, inst)) return false;
    return reg->is_narrow || is_address_only(lower, reg);
}

/* Whether every reader of a product or shifted value adds something to it in one instruction. */
static bool is_added_everywhere(const Lower *lower, const PtxInst *inst) {
    const LowerReg *reg = lower_result(lower, lower_index(lower, inst));
    if (!reg || !all_uses_add(lower, inst)) return false;
    for (int32_t u = 0; u < reg->uses; u++)
        if (is_offset(lower, &lower->function->insts[lower_uses(lower, reg)[u].inst])) return false;
    return reg->uses > 0;
}

/* A 32-bit integer seen as one of 64. */
static bool is_widened(const Lower *lower, const PtxOperand *operand) {
    const PtxInst *cvt = lower_source(lower, operand, PTX_OP_CVT);
    return cvt && !ptx_type_is_float(cvt->type) && !ptx_type_is_float(cvt->type2) &&
           ptx_type_bits(cvt->type) == 64 && ptx_type_bits(cvt->type2) <= 32;
}

/* base + x * y or base + (x << 3), of 64 bits. */
static void fold_into_wide_add(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    if (is_offset(lower, inst)) {
        set_slots(lower, index, 0);
        lower->is_folded[index] = true;
        return;
    }
    bool is_narrow = is_narrow_result(lower, inst);
    if (is_narrow) set_slots(lower, index, 1);
    for (int i = 1; i < 3; i++) {
        const PtxInst *mul = lower_source(lower, &inst->operands[i], PTX_OP_MUL);
        const PtxInst *shl = lower_source(lower, &inst->operands[i], PTX_OP_SHL);
        bool is_product =
            mul && (mul->mul_mode == PTX_MUL_WIDE ||
                    (mul->mul_mode == PTX_MUL_LO && is_widened(lower, &mul->operands[1])));
        if (is_product) {
            set_slots(lower, index, 1);
            if (is_added_everywhere(lower, mul)) fold(lower, mul);
            return;
        }
        if (shl && shl->operands[2].kind == PTX_OPERAND_IMM) {
            bool is_free = is_used_once(lower, shl) || is_widened(lower, &shl->operands[1]);
            if (is_free && is_added_everywhere(lower, shl)) fold(lower, shl);
            return;
        }
    }
}

/* Whether half a word of a logical operation's number leaves the other operand as it is, or is all
 * of the result. */
static bool is_trivial_half(const PtxInst *inst, uint32_t half) {
    return half == 0 || (half == UINT32_MAX && inst->op != PTX_OP_XOR);
}

/* A number may leave work in one half alone: a shift by 32 or more, a mask. */
static void halve_by_number(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    if (inst->operand_count < 3 || inst->operands[2].kind != PTX_OPERAND_IMM || !is_64(inst))
        return;
    uint64_t number = (uint64_t)inst->operands[2].imm;
    bool shifts = inst->op == PTX_OP_SHL || (inst->op == PTX_OP_SHR && inst->type != PTX_S64);
    bool masks = is_logic(inst) && lower->slots[index].slots == 2;
    if (shifts && number >= 32 && lower->slots[index].slots == 2) set_slots(lower, index, 1);
    if (masks)
        set_slots(lower, index,
                  2u - is_trivial_half(inst, (uint32_t)number) -
                      is_trivial_half(inst, (uint32_t)(number >> 32)));
}

/* Reduces 64-bit instructions whose upper half is not used. */
static void narrow(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    uint8_t *slots = &lower->slots[index].slots;
    if (!inst->has_destination || *slots < 2 || !is_narrow_result(lower, inst)) return;
    switch (inst->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_NEG:
    case PTX_OP_SHL:
    case PTX_OP_SELP:
    case PTX_OP_MUL:
    case PTX_OP_MAD: *slots = 1; return;
    default: return;
    }
}

/* A product of widened 32-bit values is that of the values themselves. */
static void fold_wide_product(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    if (inst->mul_mode == PTX_MUL_LO && is_64(inst) && is_widened(lower, &inst->operands[1]))
        set_slots(lower, index, 1);
}

/* A sum or product is brought to 0 to 1 as it is computed. */
static bool is_saturated_source(const Lower *lower, const PtxInst *cvt) {
    const LowerReg *reg = lower_reg(lower, &cvt->operands[1]);
    const PtxInst *source = reg ? &lower->function->insts[reg->def] : NULL;
    bool can = cvt->type == PTX_F32 && cvt->type2 == PTX_F32 && cvt->flags & PTX_FLAG_SAT;
    return can && source && reg->uses == 1 && source->type == PTX_F32 &&
           (source->op == PTX_OP_ADD || source->op == PTX_OP_MUL || source->op == PTX_OP_FMA);
}

/* The sign of a widened index goes into what it is added to. */
static void fold_widening(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    const LowerReg *reg = lower_result(lower, index);
    if (is_saturated_source(lower, inst)) {
        set_slots(lower, index, 0);
        return;
    }
    if (!reg || !is_widened(lower, &inst->operands[0])) return;
    if (reg->is_narrow) {
        set_slots(lower, index, 0);
        return;
    }
    for (int32_t u = 0; u < reg->uses; u++) {
        const PtxInst *user = &lower->function->insts[lower_uses(lower, reg)[u].inst];
        bool takes_sign = user->op == PTX_OP_SHL || user->op == PTX_OP_MUL;
        if (!takes_sign || lower_uses(lower, reg)[u].operand < 0) return;
    }
    set_slots(lower, index, 0);
}

/* ---- Moves and loads of constants ---- */

/* Whether a register and the one that it is moved to hold different values later on: the old value
 * is read again while the register already has its next one. */
static bool needs_copy(const Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    const PtxOperand *to = &inst->operands[0], *from = &inst->operands[1];
    if (to->kind != PTX_OPERAND_REG || from->kind != PTX_OPERAND_REG) return false;
    const LowerReg *target = &lower->regs[to->reg], *source = &lower->regs[from->reg];
    if (source->kind != LOWER_VALUE) return false;
    if (target->defs > 1 && source->uses > 1) return true;
    if (source->defs < 2 || source->def < index) return false;
    for (int32_t u = 0; u < target->uses; u++)
        if (lower_uses(lower, target)[u].inst > source->def) return true;
    return false;
}

static void cost_move(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    const PtxOperand *from = &inst->operands[1];
    bool is_phi = !lower_result(lower, index);
    if (inst->type == PTX_PRED) return;
    if (from->kind == PTX_OPERAND_SREG) {
        set_slots(lower, index, lower_kind(lower, from) == LOWER_VALUE || is_phi);
        return;
    }
    if (from->kind == PTX_OPERAND_VECTOR && ptx_type_bits(inst->type) == 32)
        set_slots(lower, index, 1);
    if (needs_copy(lower, index) || (is_phi && lower_kind(lower, from) != LOWER_VALUE))
        set_slots(lower, index, ptx_type_bits(inst->type) == 64 ? 2 : 1);
}

/* Parameters of a function, and what it returns, come in registers. */
static void cost_load(Lower *lower, int32_t index) {
    const LowerReg *reg = lower_result(lower, index);
    const PtxInst *inst = &lower->function->insts[index];
    bool is_passed = inst->space == PTX_SPACE_PARAM && inst->operands[1].reg < 0 &&
                     (!lower->function->is_kernel || inst->operands[1].var != NULL);
    if ((reg && reg->kind == LOWER_BANK) || is_passed) set_slots(lower, index, 0);
    if (inst->vector > 4) set_slots(lower, index, 2);
}

/* Whether anyone reads what an atomic found, however often its register is written. */
static bool is_result_read(const Lower *lower, const PtxInst *inst) {
    if (!inst->has_destination) return false;
    const PtxOperand *old = &inst->operands[0];
    if (old->kind == PTX_OPERAND_REG) return lower->regs[old->reg].uses > 0;
    return old->kind != PTX_OPERAND_SINK;
}

/* Adds to one place by all lanes are made one by their warp. */
static void cost_atomic(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    bool is_reduction = inst->op == PTX_OP_RED;
    const PtxOperand *address = &inst->operands[!is_reduction];
    bool is_used = is_result_read(lower, inst);
    lower->slots[index].is_forgotten = !is_used;
    int bits = ptx_type_bits(inst->type);
    if (inst->space == PTX_SPACE_SHARED && inst->sub == PTX_SUB_ADD && is_float(inst)) {
        set_slots(lower, index, 7);
        return;
    }
    bool is_one_place = address->kind == PTX_OPERAND_MEM &&
                        (address->reg < 0 || !lower->regs[address->reg].is_varying);
    if (inst->sub != PTX_SUB_ADD || is_float(inst) || bits != 32 || !is_one_place) return;
    set_slots(lower, index, is_used ? 12 : 7);
}

/* ---- Shared loads side by side ---- */

enum { QUAD_BYTES = 16, NEXT_LOADS = 64 };

/* After it, memory of the space may hold something else. */
static bool ends_row(const PtxInst *inst, PtxSpace space) {
    switch (inst->op) {
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED: return inst->space == space || inst->space == PTX_SPACE_NONE;
    case PTX_OP_BAR:
    case PTX_OP_CALL:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE: return true;
    default: return false;
    }
}

static bool is_shared_word(const PtxInst *inst) {
    return inst->op == PTX_OP_LD && inst->space == PTX_SPACE_SHARED && inst->vector <= 1 &&
           ptx_type_bits(inst->type) == 32 && inst->guard < 0 &&
           !(inst->flags & PTX_FLAG_VOLATILE) && inst->operands[1].kind == PTX_OPERAND_MEM;
}

/* Loads of the four words, or two, of one aligned place are one load: the first of them. */
static void join_loads(Lower *lower, int32_t index, int bytes) {
    const PtxFunction *f = lower->function;
    const PtxOperand *base = &f->insts[index].operands[1];
    int32_t found[QUAD_BYTES / 4] = {index}, count = 1;
    int32_t last = f->blocks[lower->block_of[index]].last;
    if (base->imm % bytes) return;
    for (int32_t i = index + 1;
         i <= last && i < index + NEXT_LOADS && !ends_row(&f->insts[i], PTX_SPACE_SHARED); i++) {
        if (!is_shared_word(&f->insts[i]) || lower->is_folded[i]) continue;
        const PtxOperand *other = &f->insts[i].operands[1];
        if (other->reg != base->reg || other->var != base->var) continue;
        int64_t word = (other->imm - base->imm) / 4;
        if (other->imm <= base->imm || word >= bytes / 4 || found[word]) continue;
        found[word] = i;
        count++;
    }
    if (count < bytes / 4) return;
    for (int32_t word = 1; word < bytes / 4; word++) {
        fold(lower, &f->insts[found[word]]);
        lower->is_joined[found[word]] = true;
    }
    lower->is_folded[index] = true; /* taken */
}

static bool is_same_place(const PtxInst *inst, const PtxInst *other) {
    if (other->op != PTX_OP_LD) return false; /* which may have no operands */
    const PtxOperand *a = &inst->operands[1], *b = &other->operands[1];
    return inst->space == other->space && inst->type == other->type &&
           inst->vector == other->vector && other->guard < 0 && a->reg == b->reg &&
           a->var == b->var && a->imm == b->imm && b->kind == PTX_OPERAND_MEM;
}

/* Whether the instruction writes a register, alone or among others. */
static bool writes(const PtxInst *inst, int32_t reg) {
    if (!inst->has_destination) return inst->op == PTX_OP_CALL;
    const PtxOperand *to = &inst->operands[0];
    bool is_list = to->kind == PTX_OPERAND_VECTOR || to->kind == PTX_OPERAND_PAIR;
    for (int i = 0; is_list && i < to->count; i++)
        if (to->items[i].kind == PTX_OPERAND_REG && to->items[i].reg == reg) return true;
    return to->kind == PTX_OPERAND_REG && to->reg == reg;
}

/* A word that has been loaded already, and not stored to since, is not loaded again. */
static void drop_loads(Lower *lower, int32_t index) {
    const PtxFunction *f = lower->function;
    const PtxInst *inst = &f->insts[index];
    bool can = inst->op == PTX_OP_LD && inst->guard < 0 && lower->slots[index].slots == 1 &&
               !(inst->flags & (PTX_FLAG_VOLATILE | PTX_FLAG_STRONG)) &&
               inst->operands[1].kind == PTX_OPERAND_MEM;
    if (!can) return;
    for (int32_t i = index - 1; i >= f->blocks[lower->block_of[index]].first; i--) {
        const PtxInst *other = &f->insts[i];
        bool is_address_new = inst->operands[1].reg >= 0 && writes(other, inst->operands[1].reg);
        if (ends_row(other, inst->space) || is_address_new) return;
        if (is_same_place(inst, other)) {
            fold(lower, inst);
            return;
        }
    }
}

static uint8_t alignment_of_base(const Lower *lower, const PtxOperand *base) {
    if (base->reg >= 0) {
        const LowerReg *reg = &lower->regs[base->reg];
        return reg->defs == 1 && !base->var ? reg->alignment : 0;
    }
    return base->var && base->var->align >= QUAD_BYTES ? 4 : 0;
}

static void join_shared_loads(Lower *lower) {
    const PtxFunction *f = lower->function;
    for (int bytes = QUAD_BYTES; bytes >= QUAD_BYTES / 2; bytes /= 2) {
        for (int32_t i = 0; i < f->inst_count; i++) {
            if (!is_shared_word(&f->insts[i]) || lower->is_folded[i]) continue;
            const uint8_t zeros = alignment_of_base(lower, &f->insts[i].operands[1]);
            if (UINT32_C(1) << (zeros & 31) >= (uint32_t)bytes) join_loads(lower, i, bytes);
        }
    }
}

/* ---- Constants that must be in a register ---- */

static bool is_arithmetic(const PtxInst *inst) {
    switch (inst->op) {
    case PTX_OP_MOV:
    case PTX_OP_LD:
    case PTX_OP_CVTA:
    case PTX_OP_CALL:
    case PTX_OP_BRA:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_BAR:
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_PRMT:
    case PTX_OP_BFE:
    case PTX_OP_BFI:
    case PTX_OP_TEX: return false;
    default: return true;
    }
}

/* A word of constant memory is put into a register in each block that names it so, or once before
 * a loop. */
static void keep_in_register(Lower *lower, const PtxOperand *operand, int32_t index, bool is_wide) {
    LowerReg *reg = lower_reg(lower, operand);
    int32_t block = lower->block_of[index];
    bool is_in_loop = lower->in_loop[block];
    if (!reg || reg->kept_in == block + 1 || (is_in_loop && reg->kept_in)) return;
    reg->kept_in = block + 1;
    add_slots(lower, is_in_loop ? reg->def : index, is_wide && !reg->is_narrow ? 2 : 1);
}

/* An instruction names one constant at most; the others come from registers. */
static void cost_constants(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    int constants = 0;
    if (!is_arithmetic(inst) || lower->slots[index].slots == 0) return;
    for (int i = inst->has_destination; i < inst->operand_count; i++) {
        const PtxOperand *operand = &inst->operands[i];
        LowerKind kind = lower_kind(lower, operand);
        if (kind == LOWER_VALUE || lower_is_zero(lower, operand)) continue;
        if (++constants < 2) continue;
        if (kind == LOWER_BANK) keep_in_register(lower, operand, index, is_64(inst));
        else add_slots(lower, index, 1);
    }
}

/* What is stored, and the address of an access, come from registers. */
static void cost_operands(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    bool is_store = inst->op == PTX_OP_ST || inst->op == PTX_OP_RED || inst->op == PTX_OP_ATOM;
    for (int i = inst->has_destination; i < inst->operand_count; i++) {
        const PtxOperand *operand = &inst->operands[i];
        if (operand->kind == PTX_OPERAND_MEM && operand->reg >= 0 &&
            inst->space != PTX_SPACE_PARAM && lower->regs[operand->reg].kind == LOWER_BANK) {
            const PtxOperand base = {.kind = PTX_OPERAND_REG, .reg = operand->reg};
            keep_in_register(lower, &base, index, true);
        }
        if (!is_store || lower_is_zero(lower, operand)) continue;
        LowerKind kind = lower_kind(lower, operand);
        if (kind == LOWER_BANK) keep_in_register(lower, operand, index, is_64(inst));
        if (kind == LOWER_IMMEDIATE) add_slots(lower, index, is_64(inst) ? 2 : 1);
    }
}

/* base + 4 * index with a base that is the same for all lanes, which is named as a constant is,
 * leaves no room for the 4: it is put into a register once in a block. */
static void cost_scale(Lower *lower, int32_t index, int32_t *last_block, int64_t *last_scale) {
    const PtxInst *inst = &lower->function->insts[index];
    if (inst->op != PTX_OP_ADD || !is_64(inst) || lower->slots[index].slots != 1) return;
    for (int i = 1; i < 3; i++) {
        const PtxInst *mul = lower_source(lower, &inst->operands[i], PTX_OP_MUL);
        const PtxOperand *base = &inst->operands[3 - i];
        if (!mul || mul->operands[2].kind != PTX_OPERAND_IMM ||
            lower_kind(lower, base) == LOWER_IMMEDIATE || lower_varies(lower, base))
            continue;
        bool is_there =
            *last_block == lower->block_of[index] && *last_scale == mul->operands[2].imm;
        if (!is_there) add_slots(lower, index, 1);
        *last_block = lower->block_of[index];
        *last_scale = mul->operands[2].imm;
        return;
    }
}

/* ---- All of it ---- */

static void fold_instruction(Lower *lower, int32_t index) {
    const PtxInst *inst = &lower->function->insts[index];
    switch (inst->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
        if (is_float(inst)) fold_into_float_add(lower, index);
        else if (is_64(inst) && is_add(inst) && inst->op == PTX_OP_ADD)
            fold_into_wide_add(lower, index);
        else if (is_add(inst)) fold_into_add(lower, index);
        return;
    case PTX_OP_MUL:
        if (!is_float(inst)) fold_wide_product(lower, index);
        return;
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
        if (is_logic(inst)) fold_into_logic(lower, index);
        return;
    case PTX_OP_SETP: fold_into_compare(lower, index); return;
    case PTX_OP_NEG:
    case PTX_OP_ABS: fold_sign(lower, index); return;
    case PTX_OP_CVT: fold_widening(lower, index); return;
    case PTX_OP_MOV: cost_move(lower, index); return;
    case PTX_OP_LD: cost_load(lower, index); return;
    case PTX_OP_ATOM:
    case PTX_OP_RED: cost_atomic(lower, index); return;
    default: return;
    }
}

void lower_fold(Lower *lower) {
    const PtxFunction *f = lower->function;
    int32_t block = -1;
    int64_t scale = 0;
    for (int32_t i = 0; i < f->inst_count; i++)
        set_slots(lower, i, lower_cost(&f->insts[i]));
    for (int32_t i = 0; i < f->inst_count; i++)
        fold_instruction(lower, i);
    for (int32_t i = 0; i < f->inst_count; i++) {
        halve_by_number(lower, i);
        narrow(lower, i);
    }
    for (int32_t i = 0; i < f->inst_count; i++)
        drop_loads(lower, i);
    join_shared_loads(lower);
    for (int32_t i = 0; i < f->inst_count; i++) {
        cost_constants(lower, i);
        cost_operands(lower, i);
        cost_scale(lower, i, &block, &scale);
    }
}
