/* Special registers, and exchanges between the lanes of a warp. */
#include "isa/sass/translate.h"

#include <string.h>

#include "memory/memory.h"

/* ---- Special registers ---- */

/* The PTX special register with the same value. Some hold a PTX register from bit `from` on; their
 * other bits are not used. */
static const struct {
    const char *name;
    PtxSreg sreg;
    uint8_t from;
} specials[] = {
    {"SR_LANEID", PTX_SREG_LANEID, 0},
    {"SR_CLOCK", PTX_SREG_CLOCK, 0},
    {"SR_CLOCKLO", PTX_SREG_CLOCK, 0},
    {"SR_CLOCKHI", PTX_SREG_CLOCK_HI, 0},
    {"SR_VIRTUALSMID", PTX_SREG_SMID, 0},
    {"SR_TID.X", PTX_SREG_TID_X, 0},
    {"SR_TID.Y", PTX_SREG_TID_Y, 0},
    {"SR_TID.Z", PTX_SREG_TID_Z, 0},
    {"SR_CTAID.X", PTX_SREG_CTAID_X, 0},
    {"SR_CTAID.Y", PTX_SREG_CTAID_Y, 0},
    {"SR_CTAID.Z", PTX_SREG_CTAID_Z, 0},
    {"SR_EQMASK", PTX_SREG_LANEMASK_EQ, 0},
    {"SR_LTMASK", PTX_SREG_LANEMASK_LT, 0},
    {"SR_LEMASK", PTX_SREG_LANEMASK_LE, 0},
    {"SR_GTMASK", PTX_SREG_LANEMASK_GT, 0},
    {"SR_GEMASK", PTX_SREG_LANEMASK_GE, 0},
    {"SR_SMEMSZ", PTX_SREG_TOTAL_SMEM_SIZE, 0},
    {"SR_GLOBALTIMERLO", PTX_SREG_GLOBALTIMER_LO, 0},
    {"SR_GLOBALTIMERHI", PTX_SREG_GLOBALTIMER_HI, 0},
    {"SR_CgaCtaId", PTX_SREG_CLUSTER_CTARANK, 0},
    {"SRZ", PTX_SREG_TID_W, 0},
    {"SR_VIRTID", PTX_SREG_WARPID, 8},
    {"SR_VIRTCFG", PTX_SREG_NWARPID, 8},
};

/* Registers with a fixed value. SR_SWINHI is the upper word of a generic address of shared memory,
 * whose lower word is the address itself. Such a pair can only be used where only the lower word is
 * read, as copies do. As an address it faults, because the window's lower word is not 0 here.
 * SR_LMEMHIOFF is where a stack would overflow; there is no such place here, because accesses are
 * checked. SR138 selects one of several launches in constant bank 0 of sm_100 and later; here there
 * is one. */
static const struct {
    const char *name;
    uint32_t value;
} fixed[] = {{"SR_SWINHI", ISA_SHARED_UPPER}, {"SR_LMEMHIOFF", 0}, {"SR138", 0}};

static bool read_special(Translator *t, uint32_t number, uint32_t add, uint8_t bytes) {
    const char *name = sass_sreg_name(number);
    for (size_t i = 0; name && i < sizeof fixed / sizeof fixed[0]; ++i) {
        if (strcmp(fixed[i].name, name) != 0) continue;
        const IsaOperand to = tr_to_register(t, tr_operand(t, 0), add);
        tr_step2(t, ISA_DO_MOV_32, to, tr_constant(t, fixed[i].value));
        return true;
    }
    for (size_t i = 0; name && i < sizeof specials / sizeof specials[0]; ++i) {
        if (strcmp(specials[i].name, name) != 0) continue;
        const IsaOperand to = tr_to_register(t, tr_operand(t, 0), add);
        const IsaOperand value = specials[i].from ? tr_scratch(t) : to;
        IsaInst *step = tr_step(t, ISA_DO_SREG);
        step->operand[0] = value;
        step->sub = (uint8_t)specials[i].sreg;
        step->size = bytes;
        if (specials[i].from)
            tr_step3(t, ISA_DO_SHL_32, to, value, tr_constant(t, specials[i].from));
        return true;
    }
    return tr_refuse(t, "special register %s", name ? name : "that is not known");
}

/* d, number: a CS2R of 64 bits reads two registers, the lower first. */
bool tr_op_s2r(Translator *t) {
    const uint32_t number = (uint32_t)tr_operand(t, 1)->value;
    const bool may_be_wide = t->sass->op == SASS_OP_CS2R || t->sass->op == SASS_OP_CS2UR;
    if (!may_be_wide || !tr_mod(t, SASS_MOD_CS2R_WIDTH)) return read_special(t, number, 0, 4);
    const uint32_t next = number == 255 ? 255 : number + 1;
    return read_special(t, number, 0, 4) && read_special(t, next, 1, 4);
}

/* ---- Lanes ---- */

/* d, p, q: a vote of the executing lanes. d: the ballot. p: whether all, some, or all or none are
 * true. */
bool tr_op_vote(Translator *t) {
    bool negated;
    static const PtxSub mode[] = {PTX_SUB_VOTE_ALL, PTX_SUB_VOTE_ANY, PTX_SUB_VOTE_UNI};
    const uint8_t which = tr_mod(t, SASS_MOD_VOTE);
    const IsaOperand q = tr_word(t, tr_operand(t, 2), &negated), all = tr_constant(t, UINT32_MAX);
    const int64_t flip = negated ? (int64_t)UINT32_MAX : 0;
    if (which > 2) return tr_refuse(t, "this mode");
    t->is_uniform = false; /* the executing lanes vote */
    const IsaOperand ballot = tr_scratch(t), truth = tr_scratch_word(t);
    IsaInst *step = tr_step2(t, ISA_DO_VOTE_BALLOT, ballot, q);
    step->operand[2] = all;
    step->imm = flip;
    step = tr_step2(t, ISA_DO_VOTE_PRED, truth, q);
    step->operand[2] = all;
    step->imm = flip;
    step->sub = (uint8_t)mode[which];
    const bool is_uniform = t->sass->op == SASS_OP_VOTEU;
    tr_step2(t, is_uniform ? ISA_DO_TO_UNIFORM : ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), ballot);
    const IsaOperand to = tr_word_to(t, tr_operand(t, 1));
    if (!is_uniform) {
        tr_step2(t, ISA_DO_PRED_MOV, to, truth);
        return true;
    }
    /* all lanes get the same result, including those that did not vote */
    tr_step2(t, ISA_DO_SPREAD, to, truth);
    return true;
}

/* p, d, a, lane, clamp */
bool tr_op_shfl(Translator *t) {
    static const IsaHandler mode[] = {ISA_DO_SHFL_IDX, ISA_DO_SHFL_UP, ISA_DO_SHFL_DOWN,
                                      ISA_DO_SHFL_BFLY};
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), y = tr_row(t, tr_operand(t, 3));
    const IsaOperand z = tr_row(t, tr_operand(t, 4));
    IsaInst *step = tr_step(t, mode[tr_mod(t, SASS_MOD_SHFL) & 3]);
    step->operand[0] = tr_to(t, tr_operand(t, 1));
    step->operand[1] = tr_word_to(t, tr_operand(t, 0));
    step->operand[2] = x;
    step->operand[3] = y;
    step->operand[4] = z;
    t->info.op_class = ISA_CLASS_SHUFFLE;
    return true;
}

/* p, d, a */
bool tr_op_match(Translator *t) {
    const bool is_wide = tr_mod(t, SASS_MOD_MATCH64), is_any = tr_mod(t, SASS_MOD_MATCH);
    const IsaOperand x = is_wide ? tr_joined(t, tr_operand(t, 2)) : tr_row(t, tr_operand(t, 2));
    const IsaOperand all = tr_constant(t, UINT32_MAX), to = tr_to(t, tr_operand(t, 1));
    if (is_any) {
        tr_step2(t, is_wide ? ISA_DO_MATCH_ANY_64 : ISA_DO_MATCH_ANY_32, to, x)->operand[2] = all;
        return true;
    }
    IsaInst *step = tr_step(t, is_wide ? ISA_DO_MATCH_ALL_64 : ISA_DO_MATCH_ALL_32);
    step->operand[0] = to;
    step->operand[1] = tr_word_to(t, tr_operand(t, 0));
    step->operand[2] = x;
    step->operand[3] = all;
    return true;
}

/* uniform d, a */
bool tr_op_redux(Translator *t) {
    static const PtxSub mode[] = {PTX_SUB_AND, PTX_SUB_OR,  PTX_SUB_XOR,
                                  PTX_SUB_ADD, PTX_SUB_MIN, PTX_SUB_MAX};
    const bool is_minmax = t->sass->op == SASS_OP_CREDUX;
    const uint8_t which = !is_minmax                   ? tr_mod(t, SASS_MOD_REDUX)
                          : tr_mod(t, SASS_MOD_CREDUX) ? SASS_REDUX_MIN
                                                       : SASS_REDUX_MAX;
    if (which > 5) return tr_refuse(t, "this reduction");
    t->is_uniform = false;
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), part = tr_scratch(t);
    IsaInst *step = tr_step2(
        t, tr_mod(t, SASS_MOD_SIGNED_VALUE) ? ISA_DO_REDUX_S32 : ISA_DO_REDUX_U32, part, x);
    step->operand[2] = tr_constant(t, UINT32_MAX);
    step->sub = (uint8_t)mode[which];
    tr_step2(t, ISA_DO_TO_UNIFORM, tr_to(t, tr_operand(t, 0)), part);
    return true;
}

/* p, uniform d, a: p is whether a lane's value differs from d (.OR: or p was true) */
bool tr_op_r2ur(Translator *t) {
    t->is_uniform = false; /* the value comes from an executing lane */
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), chosen = tr_to(t, tr_operand(t, 1));
    tr_step2(t, ISA_DO_TO_UNIFORM, chosen, x);
    if (tr_operand(t, 0)->value == SASS_PT) return true;
    const IsaOperand differs = tr_word_to(t, tr_operand(t, 0));
    IsaInst *step = tr_step(t, ISA_DO_SETP_EQ_32);
    step->operand[0] = differs;
    step->operand[1] = TR_P_SINK;
    step->operand[2] = x;
    step->operand[3] = chosen;
    step->operand[4] = differs;
    step->sub = ISA_COMPARE_NEGATE;
    if (!tr_mod(t, SASS_MOD_OR)) return true;
    bool negated; /* calls tr_word to record that the predicate is read */
    step->operand[4] = tr_word(t, tr_operand(t, 0), &negated);
    step->sub |= ISA_COMPARE_OR;
    return true;
}

/* p, uniform d, q: d is the lowest executing lane; p is true in this lane. */
bool tr_op_elect(Translator *t) {
    bool negated;
    if (tr_word(t, tr_operand(t, 2), &negated) != ISA_PRED_TRUE || negated)
        return tr_refuse(t, "candidates by predicate");
    const IsaOperand leader = tr_scratch(t), here = tr_scratch(t);
    tr_step(t, ISA_DO_ACTIVEMASK)->operand[0] = here;
    tr_step3(t, ISA_DO_ELECT, leader, tr_word_to(t, tr_operand(t, 0)), here)->flags |=
        ISA_NAMES_NO_MEMBERS;
    tr_step2(t, ISA_DO_TO_UNIFORM, tr_to(t, tr_operand(t, 1)), leader);
    return true;
}
