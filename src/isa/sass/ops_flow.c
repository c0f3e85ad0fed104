/* Branches, calls, the end of threads, convergence barriers, and barriers of the CTA.
 *
 * Lanes diverge at a branch and reconverge where the code says. BSSY records the lanes that execute
 * it in a convergence barrier. These lanes wait for one another at the BSYNC of that barrier,
 * except for lanes that BREAK has removed. The row of a barrier holds, in each lane, the lanes that
 * it meets. */
#include "isa/sass/translate.h"

/* ---- Branches ---- */

/* The predicates of a flow instruction, except its guard, become operands 1 and 2. */
static void put_conditions(Translator *t, int first, int count) {
    IsaInst *inst = &t->inst;
    int at = 1;
    inst->operand[1] = inst->operand[2] = ISA_PRED_TRUE;
    for (int i = first; i < first + count && at < 3; ++i) {
        const SassOperand *operand = tr_operand(t, i);
        bool negated;
        if (operand->kind != SASS_PRED && operand->kind != SASS_UPRED) continue;
        inst->operand[at] = tr_word(t, operand, &negated);
        if (negated) inst->sub |= at == 1 ? ISA_JUMP_NEGATED : ISA_JUMP_NEGATED_2;
        at++;
    }
}

/* The first operand of that kind; NULL: none. */
static const SassOperand *operand_of(const Translator *t, SassOperandKind kind) {
    for (int i = 0; i < t->sass->operand_count; ++i)
        if (tr_operand(t, i)->kind == kind) return tr_operand(t, i);
    return NULL;
}

static void jump_to(Translator *t, uint32_t pc) {
    t->inst.flow = ISA_FLOW_JUMP;
    t->inst.target = pc;
    t->info.flags |= ISA_IS_BRANCH;
}

/* The pc at an offset from the end of the instruction. */
static bool relative_pc(Translator *t, int64_t offset, uint32_t *pc) {
    const int64_t to = (int64_t)t->pc + 1 + offset / SASS_INST_BYTES;
    if (offset % SASS_INST_BYTES || to < 0 || to >= t->program->inst_count)
        return tr_refuse(t, "a target where there is no code");
    *pc = (uint32_t)to;
    return true;
}

bool tr_op_branch(Translator *t) {
    uint32_t pc = 0;
    const SassOperand *target = operand_of(t, SASS_TARGET);
    const SassOperand *uniform = operand_of(t, SASS_UREG);
    const bool has_uniform = uniform && !uniform->is_hidden;
    const uint8_t kind = tr_mod(t, SASS_MOD_BRANCH);
    if (has_uniform && kind != SASS_BRANCH_DIV && kind != SASS_BRANCH_CONV)
        return tr_refuse(t, "a branch by a uniform register");
    if (!target || !relative_pc(t, target->value, &pc)) return tr_refuse(t, "this target");
    put_conditions(t, 0, t->sass->operand_count);
    if (tr_mod(t, SASS_MOD_ANY)) t->inst.sub |= ISA_JUMP_ANY;
    if (has_uniform) {
        t->inst.operand[3] = tr_row(t, uniform);
        t->inst.sub |= (kind == SASS_BRANCH_DIV ? ISA_JUMP_APART : ISA_JUMP_TOGETHER) |
                       (uniform->is_inverted ? ISA_JUMP_INVERTED : 0);
    }
    jump_to(t, pc);
    return true;
}

/* Branches to an absolute address. Addresses of our code are relative to its start. Functions of
 * the system are resolved when a warp executes the branch. */
bool tr_op_jump(Translator *t) {
    const SassOperand *target = operand_of(t, SASS_TARGET);
    if (!target) return tr_refuse(t, "this target");
    const uint64_t address = (uint64_t)target->value, to = address / SASS_INST_BYTES;
    if (address - ISA_BUILTIN_ADDRESS < SASS_INST_BYTES * PTX_BUILTIN_COUNT) {
        t->inst.operand[0] = tr_constant(t, (uint32_t)address);
        put_conditions(t, 0, t->sass->operand_count);
        t->inst.flow = ISA_FLOW_JUMP_LANES;
        return true;
    }
    if (to >= t->program->inst_count) return tr_refuse(t, "a target where there is no code");
    put_conditions(t, 0, t->sass->operand_count);
    jump_to(t, (uint32_t)to);
    return true;
}

/* Each lane jumps to an address in a register, relative or absolute. */
bool tr_op_jump_lanes(Translator *t) {
    const SassOperand *reg = operand_of(t, SASS_REG), *target = operand_of(t, SASS_TARGET);
    if (!reg) reg = operand_of(t, SASS_UREG);
    if (!reg) return tr_refuse(t, "this target");
    const bool is_absolute = tr_mod(t, SASS_MOD_ABS) == SASS_ABS_ABS;
    const int64_t offset = target ? target->value : 0;
    t->inst.operand[0] = tr_row(t, reg);
    t->inst.imm = is_absolute ? offset : ((int64_t)t->pc + 1) * SASS_INST_BYTES + offset;
    put_conditions(t, 0, t->sass->operand_count);
    t->inst.flow = ISA_FLOW_JUMP_LANES;
    t->info.flags |= ISA_IS_BRANCH;
    return true;
}

bool tr_op_call(Translator *t) {
    t->info.flags |= ISA_IS_CALL;
    if (operand_of(t, SASS_REG)) return tr_op_jump_lanes(t);
    return tr_mod(t, SASS_MOD_ABS) == SASS_ABS_ABS ? tr_op_jump(t) : tr_op_branch(t);
}

/* The address after the instruction, or the address of a target. */
bool tr_op_lepc(Translator *t) {
    const SassOperand *target = operand_of(t, SASS_TARGET);
    const int64_t address = ((int64_t)t->pc + 1) * SASS_INST_BYTES + (target ? target->value : 0);
    for (uint32_t i = 0; i < 2; ++i)
        tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, tr_operand(t, 0), i),
                 tr_constant(t, i ? 0 : (uint32_t)address));
    return true;
}

bool tr_op_ret(Translator *t) {
    t->info.flags |= ISA_IS_RET;
    return tr_op_jump_lanes(t);
}

static bool has_condition(Translator *t) {
    const SassOperand *condition = operand_of(t, SASS_PRED);
    return condition && !(condition->value == SASS_PT && !condition->is_negated);
}

bool tr_op_exit(Translator *t) {
    t->inst.flow = has_condition(t) ? ISA_FLOW_EXIT_IF : ISA_FLOW_EXIT;
    put_conditions(t, 0, t->sass->operand_count);
    t->info.flags |= ISA_IS_EXIT;
    return true;
}

bool tr_op_trap(Translator *t) {
    t->inst.flow = ISA_FLOW_TRAP;
    return true;
}

/* ---- Convergence ---- */

bool tr_op_bssy(Translator *t) {
    if (has_condition(t)) return tr_refuse(t, "a predicate in addition to the guard");
    tr_step(t, ISA_DO_BARRIER_SET)->operand[0] = tr_barrier(t, operand_of(t, SASS_BARRIER));
    return true;
}

/* Waits for the lanes that a row names. */
static void wait_for(Translator *t, IsaOperand members, bool is_here) {
    t->inst.flags |= ISA_MEETS;
    t->info.flags |= ISA_NEEDS_MEMBERS;
    t->inst.target = (uint32_t)members;
    t->inst.sub = is_here ? ISA_SYNC_IS_HERE : 0;
}

bool tr_op_bsync(Translator *t) {
    if (has_condition(t)) return tr_refuse(t, "a predicate in addition to the guard");
    wait_for(t, tr_barrier(t, operand_of(t, SASS_BARRIER)), true);
    tr_step(t, ISA_DO_NOP);
    t->inst.sub |= ISA_SYNC_IS_MEETING;
    return true;
}

bool tr_op_break(Translator *t) {
    bool negated = false;
    const SassOperand *condition = operand_of(t, SASS_PRED);
    const IsaOperand leaves = condition ? tr_word(t, condition, &negated) : ISA_PRED_TRUE;
    IsaInst *step =
        tr_step2(t, ISA_DO_BARRIER_LEAVE, tr_barrier(t, operand_of(t, SASS_BARRIER)), leaves);
    step->imm = negated;
    return true;
}

/* (p,) mask (, target). .EXCLUSIVE and .COLLECTIVE: the lanes of one mask continue without the
 * others until a BSYNC, because the votes and reductions that follow have no mask. .COLLECTIVE: all
 * of them execute what follows, up to ENDCOLLECTIVE, together; the target is after it. */
bool tr_op_warpsync(Translator *t) {
    const SassOperand *reg = operand_of(t, SASS_REG);
    const SassOperand *mask = reg ? reg : tr_operand(t, t->sass->operand_count - 1);
    if (has_condition(t)) return tr_refuse(t, "a predicate in addition to the guard");
    wait_for(t, tr_mod(t, SASS_MOD_ALL) ? tr_constant(t, UINT32_MAX) : tr_row(t, mask),
             tr_mod(t, SASS_MOD_COLLECTIVE));
    if (tr_mod(t, SASS_MOD_EXCLUSIVE) || tr_mod(t, SASS_MOD_COLLECTIVE)) {
        t->inst.flow = ISA_FLOW_SPLIT;
        t->info.flags |= ISA_IS_BRANCH;
    } else {
        tr_step(t, ISA_DO_NOP);
    }
    return true;
}

/* Moves between a register and a convergence barrier. */
bool tr_op_bmov(Translator *t) {
    const SassOperand *to = tr_operand(t, 0), *from = tr_operand(t, 1);
    const bool is_saved = to->kind == SASS_REG;
    const SassOperand *barrier = is_saved ? from : to, *reg = is_saved ? to : from;
    if (barrier->value >= TR_BARRIERS || (reg->kind != SASS_REG))
        return tr_refuse(t, "this state of the warp");
    if (is_saved) tr_step2(t, ISA_DO_MOV_32, tr_to(t, reg), tr_barrier(t, barrier));
    else tr_step2(t, ISA_DO_MOV_32, tr_barrier(t, barrier), tr_row(t, reg));
    return true;
}

/* Moves between a register and half of the return address, in which such code keeps values. */
bool tr_op_rpcmov(Translator *t) {
    const IsaOperand half =
        (IsaOperand)((t->return_row + tr_mod(t, SASS_MOD_RPC_PART)) * ISA_ROW_BYTES);
    const SassOperand *reg = operand_of(t, SASS_REG);
    const bool is_read = tr_operand(t, 0)->kind == SASS_REG;
    if (!reg) return tr_refuse(t, "this source");
    if (is_read) tr_step2(t, ISA_DO_MOV_32, tr_to(t, reg), half);
    else tr_step2(t, ISA_DO_MOV_32, half, tr_row(t, reg));
    return true;
}

/* Also used for hints to caches, which do not change results, and for reports of errors of other
 * CTAs, which do not occur here. */
bool tr_op_nop(Translator *t) {
    tr_step(t, ISA_DO_NOP);
    return true;
}

/* A loop that sleeps counts as waiting for another thread, whatever it reads. */
bool tr_op_nanosleep(Translator *t) {
    t->info.flags |= ISA_LOOKS;
    return tr_op_nop(t);
}

/* griddepcontrol: ACQBULK waits, PREEXIT lets dependents begin. */
bool tr_op_dependency(Translator *t) {
    const bool is_wait = t->sass->op == SASS_OP_ACQBULK;
    t->info.flags |= ISA_IS_DEPENDENCY;
    t->info.advice = is_wait ? ISA_DEPENDENCY_WAIT : ISA_DEPENDENCY_TRIGGER;
    return tr_op_nop(t);
}

/* ---- Barriers of the CTA ---- */

/* Results of reductions are kept for B2R in a separate row and word, at the end of the scratch. */
static IsaOperand result_row(const Translator *t) {
    return (IsaOperand)((t->sink_row + 1) * ISA_ROW_BYTES);
}
enum { RESULT_WORD = TR_WORDS + TR_SCRATCH_WORDS - 1 };

static const SassOperand *last_predicate(const Translator *t) {
    const SassOperand *found = NULL;
    for (int i = 0; i < t->sass->operand_count; ++i)
        if (tr_operand(t, i)->kind == SASS_PRED) found = tr_operand(t, i);
    return found;
}

/* number (, count) (, p) */
bool tr_op_bar(Translator *t) {
    static const PtxSub reductions[] = {PTX_SUB_POPC, PTX_SUB_AND, PTX_SUB_OR};
    IsaInst *inst = &t->inst;
    const uint8_t op = tr_mod(t, SASS_MOD_BAR_OP), how = tr_mod(t, SASS_MOD_BAR_RED);
    if (op > SASS_BAR_OP_RED || how > 2) return tr_refuse(t, "this kind of barrier");
    const SassOperand *number = tr_operand(t, 0), *count = tr_operand(t, 1);
    inst->operand[0] = tr_row(t, number);
    inst->operand[1] = ISA_SINK;
    const bool has_count = (count->kind == SASS_REG && count->value != SASS_RZ) ||
                           (count->kind == SASS_IMM && count->value);
    if (has_count) inst->operand[1] = tr_row(t, count);
    inst->flow = ISA_FLOW_BARRIER;
    inst->flags |= ISA_MEETS;
    t->info.flags |= ISA_IS_BARRIER;
    inst->sub = (uint8_t)(op == SASS_BAR_OP_RED   ? PTX_SUB_BAR_RED
                          : op == SASS_BAR_OP_ARV ? PTX_SUB_BAR_ARRIVE
                                                  : PTX_SUB_BAR_SYNC);
    if (op != SASS_BAR_OP_RED) return true;
    bool negated = false;
    const SassOperand *voted = last_predicate(t);
    inst->operand[2] = how == SASS_BAR_RED_POPC ? result_row(t) : RESULT_WORD;
    inst->operand[3] = voted ? tr_word(t, voted, &negated) : ISA_PRED_TRUE;
    inst->imm = negated | (int64_t)reductions[how] << 8;
    return true;
}

/* A barrier of all threads of the cluster: UCGABAR_ARV, UCGABAR_WAIT. */
bool tr_op_cga_barrier(Translator *t) {
    const bool is_arrival = t->sass->op == SASS_OP_UCGABAR_ARV;
    t->is_uniform = false;
    t->inst.operand[0] = tr_constant(t, 0);
    t->inst.operand[1] = ISA_SINK;
    t->inst.flow = ISA_FLOW_CLUSTER;
    t->inst.flags |= ISA_MEETS;
    t->inst.sub = is_arrival ? PTX_SUB_BAR_ARRIVE : PTX_SUB_BAR_SYNC;
    t->info.flags |= ISA_IS_BULK | (is_arrival ? 0 : ISA_IS_BARRIER);
    return true;
}

/* d, p */
bool tr_op_b2r(Translator *t) {
    if (tr_mod(t, SASS_MOD_B2R) != SASS_B2R_RESULT) return tr_refuse(t, "this state of a barrier");
    tr_step2(t, ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), result_row(t));
    tr_step2(t, ISA_DO_PRED_MOV, tr_word_to(t, tr_operand(t, 1)), RESULT_WORD);
    return true;
}
