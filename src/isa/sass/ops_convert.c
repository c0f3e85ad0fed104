/* Conversions, the function unit, special registers, and exchanges between the lanes of a warp. */
#include "isa/sass/translate.h"

#include <string.h>

#include "memory/memory.h"

static IsaInst *step2(Translator *t, IsaHandler handler, IsaOperand d, IsaOperand a) {
    IsaInst *step = tr_step(t, handler);
    step->operand[0] = d;
    step->operand[1] = a;
    return step;
}

/* ---- Conversions ---- */

static const PtxType float_types[] = {PTX_TYPE_NONE, PTX_F16, PTX_F32, PTX_F64, PTX_BF16};
static const PtxType integer_types[] = {PTX_U8, PTX_U16, PTX_U32, PTX_U64,
                                        PTX_S8, PTX_S16, PTX_S32, PTX_S64};

static PtxType float_type(uint8_t value) { return value < 5 ? float_types[value] : PTX_TYPE_NONE; }

/* The part of a register that an operand names, moved to its lower end. */
static IsaOperand part_of(Translator *t, const SassOperand *operand, IsaOperand row) {
    const uint32_t by = operand->suffix == SASS_SUFFIX_H1 || operand->suffix == SASS_SUFFIX_B2 ? 16
                        : operand->suffix == SASS_SUFFIX_B1                                    ? 8
                        : operand->suffix == SASS_SUFFIX_B3                                    ? 24
                                                                                               : 0;
    if (!by) return row;
    IsaInst *step = step2(t, ISA_DO_SHR_U32, tr_scratch(t), row);
    step->operand[2] = tr_constant(t, by);
    return step->operand[0];
}

/* A float source of any width, with its sign. */
static IsaOperand float_source(Translator *t, const SassOperand *operand, PtxType type) {
    if (type == PTX_F64) return tr_double(t, operand);
    if (type == PTX_F32) return tr_float(t, operand);
    const IsaOperand row = part_of(t, operand, tr_row(t, operand)), low = tr_scratch(t);
    step2(t, ISA_DO_CVT_U16_32, low, row);
    if (!operand->is_negated && !operand->is_absolute) return low;
    IsaInst *step = step2(t, ISA_DO_SIGN_F16X2, tr_scratch(t), low);
    step->imm = (operand->is_negated ? ISA_SIGN_NEGATIVE : 0) |
                (operand->is_absolute ? ISA_SIGN_ABSOLUTE : 0);
    IsaInst *cut = step2(t, ISA_DO_CVT_U16_32, tr_scratch(t), step->operand[0]);
    return cut->operand[0];
}

static IsaRound round_of(const Translator *t) {
    static const IsaRound round[] = {ISA_ROUND_NEAREST, ISA_ROUND_DOWN, ISA_ROUND_UP,
                                     ISA_ROUND_ZERO};
    return round[tr_mod(t, SASS_MOD_ROUND) & 3];
}
static PtxRound integral_of(const Translator *t) {
    static const PtxRound round[] = {PTX_RNI, PTX_RMI, PTX_RPI, PTX_RZI};
    return round[tr_mod(t, SASS_MOD_ROUND_INT) & 3];
}

/* The conversion of `row` into the instruction's first operand. */
static bool convert(Translator *t, IsaHandler handler, IsaConvert how, IsaOperand row) {
    const bool is_wide = how.destination_bits == 64;
    how.register_bits = is_wide ? 64 : 32;
    if (tr_mod(t, SASS_MOD_FTZ)) how.modifiers |= ISA_MOD_FTZ;
    if (handler == ISA_DO_CVT_TO_FLOAT && !is_wide)
        how.register_bits = how.destination_bits; /* the upper bits of the word are 0 */
    IsaInst *step = tr_step(t, handler);
    step->operand[1] = row;
    step->imm = isa_convert_imm(how);
    step->operand[0] = is_wide ? tr_scratch_pair(t) : tr_to(t, tr_operand(t, 0));
    if (is_wide) tr_split_to(t, tr_operand(t, 0), step->operand[0]);
    return true;
}

static IsaConvert between(PtxType from, PtxType to) {
    return (IsaConvert){.source = (uint8_t)from,
                        .destination = (uint8_t)to,
                        .source_bits = (uint8_t)ptx_type_bits(from),
                        .destination_bits = (uint8_t)ptx_type_bits(to),
                        .is_source_signed = ptx_type_is_signed(from),
                        .is_destination_signed = ptx_type_is_signed(to)};
}

/* d, a */
static bool op_f2f(Translator *t) {
    const PtxType from = float_type(tr_mod(t, SASS_MOD_FLOAT_FROM));
    const PtxType to = float_type(tr_mod(t, SASS_MOD_FLOAT_TO));
    if (from == PTX_TYPE_NONE || to == PTX_TYPE_NONE) return tr_refuse(t, "these types");
    IsaConvert how = between(from, to);
    how.round = round_of(t) & 7;
    return convert(t, ISA_DO_CVT_TO_FLOAT, how, float_source(t, tr_operand(t, 1), from));
}

static bool op_frnd(Translator *t) {
    const PtxType type = float_type(tr_mod(t, SASS_MOD_FLOAT_FROM32));
    if (type == PTX_TYPE_NONE) return tr_refuse(t, "this type");
    IsaConvert how = between(type, type);
    how.integral = (uint8_t)integral_of(t);
    return convert(t, ISA_DO_CVT_TO_FLOAT, how, float_source(t, tr_operand(t, 1), type));
}

static bool op_f2i(Translator *t) {
    const PtxType from = float_type(tr_mod(t, SASS_MOD_FLOAT_FROM32));
    if (from == PTX_TYPE_NONE) return tr_refuse(t, "this type");
    IsaConvert how = between(from, integer_types[tr_mod(t, SASS_MOD_INT_TO) & 7]);
    how.integral = (uint8_t)integral_of(t);
    return convert(t, ISA_DO_CVT_TO_INT, how, float_source(t, tr_operand(t, 1), from));
}

static bool from_integer(Translator *t, PtxType from, PtxType to) {
    const SassOperand *operand = tr_operand(t, 1);
    if (to == PTX_TYPE_NONE) return tr_refuse(t, "this type");
    if (operand->is_absolute) return tr_refuse(t, "an absolute value");
    const bool is_wide = ptx_type_bits(from) == 64;
    IsaOperand row = is_wide ? tr_joined(t, operand) : part_of(t, operand, tr_row(t, operand));
    if (operand->is_negated) {
        const IsaOperand positive = row;
        row = is_wide ? tr_scratch_pair(t) : tr_scratch(t);
        step2(t, is_wide ? ISA_DO_NEG_64 : ISA_DO_NEG_32, row, positive);
    }
    IsaConvert how = between(from, to);
    how.round = round_of(t) & 7;
    return convert(t, ISA_DO_CVT_TO_FLOAT, how, row);
}
static bool op_i2f(Translator *t) {
    const uint8_t to = tr_mod(t, SASS_MOD_FLOAT_TO32); /* 0: bfloat16, from sm_90 on */
    return from_integer(t, integer_types[tr_mod(t, SASS_MOD_INT_FROM) & 7],
                        to ? float_type(to) : PTX_BF16);
}

/* d, a: clamped to a narrower type */
static bool op_i2i(Translator *t) {
    static const PtxType types[] = {PTX_U8, PTX_S8, PTX_U16, PTX_S16};
    IsaConvert how = between(PTX_S32, types[tr_mod(t, SASS_MOD_PACKED_TO) & 3]);
    how.modifiers = ISA_MOD_SAT;
    return convert(t, ISA_DO_CVT_INT, how, tr_row(t, tr_operand(t, 1)));
}
static bool op_i2fp(Translator *t) {
    return from_integer(t, integer_types[tr_mod(t, SASS_MOD_INT_FROM_FULL) & 7],
                        float_type(tr_mod(t, SASS_MOD_FLOAT_TO)));
}

/* d, a, b, c: two floats into halves, the first one the upper */
static bool op_f2fp(Translator *t) {
    const uint8_t to = tr_mod(t, SASS_MOD_F2FP_TO); /* from sm_89 on */
    const bool is_bf16 =
        to == SASS_F2FP_TO_BF16 || tr_mod(t, SASS_MOD_PACK_TYPE) == SASS_PACK_TYPE_BF16;
    if (tr_mod(t, SASS_MOD_PACK) != SASS_PACK_PACK_AB ||
        tr_mod(t, SASS_MOD_PACKING) != SASS_PACKING_PACK_AB)
        return tr_refuse(t, "this way of packing");
    if ((to != SASS_F2FP_TO_F16 && to != SASS_F2FP_TO_BF16) ||
        tr_mod(t, SASS_MOD_F2FP_FROM) != SASS_F2FP_FROM_F32 || tr_mod(t, SASS_MOD_SATFINITE))
        return tr_refuse(t, "these types");
    const IsaOperand x = tr_float(t, tr_operand(t, 1)), y = tr_float(t, tr_operand(t, 2));
    IsaConvert how = between(PTX_F32, is_bf16 ? PTX_BF16X2 : PTX_F16X2);
    how.round = round_of(t) & 7;
    how.register_bits = 32;
    if (tr_mod(t, SASS_MOD_RELU)) how.modifiers |= ISA_MOD_RELU;
    IsaInst *step = tr_step(t, ISA_DO_CVT_PACK);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = x;
    step->operand[2] = y;
    step->imm = isa_convert_imm(how);
    return true;
}

/* ---- The function unit ---- */

static bool op_mufu(Translator *t) {
    static const struct {
        uint8_t function;
        IsaHandler handler;
        uint8_t sub;
    } rows[] = {{SASS_FUNCTION_COS, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_COS},
                {SASS_FUNCTION_SIN, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_SIN},
                {SASS_FUNCTION_EX2, ISA_DO_EX2_F32, ISA_MOD_FTZ},
                {SASS_FUNCTION_LG2, ISA_DO_LG2_F32, ISA_MOD_FTZ},
                {SASS_FUNCTION_RCP, ISA_DO_RCP_F32_MOD, ISA_MOD_FTZ},
                {SASS_FUNCTION_RSQ, ISA_DO_RSQRT_F32, ISA_MOD_FTZ},
                {SASS_FUNCTION_RCP64H, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_RCP64H},
                {SASS_FUNCTION_RSQ64H, ISA_DO_FUNCTION_UNIT, ISA_FUNCTION_RSQ64H},
                {SASS_FUNCTION_SQRT, ISA_DO_SQRT_F32_MOD, ISA_MOD_FTZ},
                {SASS_FUNCTION_TANH, ISA_DO_TANH_F32, 0}};
    const uint8_t function = tr_mod(t, SASS_MOD_FUNCTION);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].function != function) continue;
        const SassOperand *from = tr_operand(t, 1);
        const bool is_upper = from->kind == SASS_F64; /* the upper word of a double */
        const IsaOperand x =
            is_upper ? tr_constant(t, (uint32_t)((uint64_t)from->value >> 32)) : tr_float(t, from);
        if (is_upper && (from->is_negated || from->is_absolute))
            return tr_refuse(t, "the sign of an immediate");
        step2(t, rows[i].handler, tr_to(t, tr_operand(t, 0)), x)->sub = rows[i].sub;
        t->info.op_class = ISA_CLASS_SFU;
        return true;
    }
    return tr_refuse(t, "this function");
}

/* p, a, b */
static bool op_fchk(Translator *t) {
    const IsaOperand x = tr_float(t, tr_operand(t, 1)), y = tr_float(t, tr_operand(t, 2));
    IsaInst *step = tr_step(t, ISA_DO_CHECK_DIVISION);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = x;
    step->operand[2] = y;
    t->info.op_class = ISA_CLASS_SFU;
    return true;
}

/* ---- Special registers ---- */

static const struct {
    const char *name;
    PtxSreg sreg;
} specials[] = {
    {"SR_LANEID", PTX_SREG_LANEID},
    {"SR_CLOCK", PTX_SREG_CLOCK},
    {"SR_CLOCKLO", PTX_SREG_CLOCK},
    {"SR_CLOCKHI", PTX_SREG_CLOCK_HI},
    {"SR_VIRTID", PTX_SREG_SMID},
    {"SR_VIRTUALSMID", PTX_SREG_SMID},
    {"SR_TID.X", PTX_SREG_TID_X},
    {"SR_TID.Y", PTX_SREG_TID_Y},
    {"SR_TID.Z", PTX_SREG_TID_Z},
    {"SR_CTAID.X", PTX_SREG_CTAID_X},
    {"SR_CTAID.Y", PTX_SREG_CTAID_Y},
    {"SR_CTAID.Z", PTX_SREG_CTAID_Z},
    {"SR_EQMASK", PTX_SREG_LANEMASK_EQ},
    {"SR_LTMASK", PTX_SREG_LANEMASK_LT},
    {"SR_LEMASK", PTX_SREG_LANEMASK_LE},
    {"SR_GTMASK", PTX_SREG_LANEMASK_GT},
    {"SR_GEMASK", PTX_SREG_LANEMASK_GE},
    {"SR_SMEMSZ", PTX_SREG_TOTAL_SMEM_SIZE},
    {"SR_GLOBALTIMERLO", PTX_SREG_GLOBALTIMER_LO},
    {"SR_GLOBALTIMERHI", PTX_SREG_GLOBALTIMER_HI},
    {"SR_CgaCtaId", PTX_SREG_CLUSTER_CTARANK},
    {"SRZ", PTX_SREG_TID_W},
};

/* Registers that are the same for all. SR_SWINHI is the upper word of a generic address of shared
 * memory, whose lower word is the address itself: such a pair is good where only the lower word is
 * used, as copies do; as an address it faults, because the window's lower word is not 0 here.
 * SR_LMEMHIOFF is where a stack would overflow: nowhere, accesses are checked. */
static const struct {
    const char *name;
    uint32_t value;
} fixed[] = {{"SR_SWINHI", ISA_SHARED_UPPER}, {"SR_LMEMHIOFF", 0}};

static bool read_special(Translator *t, uint32_t number, uint32_t add, uint8_t bytes) {
    const char *name = sass_sreg_name(number);
    for (size_t i = 0; name && i < sizeof fixed / sizeof fixed[0]; ++i) {
        if (strcmp(fixed[i].name, name) != 0) continue;
        const IsaOperand to = tr_to_register(t, tr_operand(t, 0), add);
        step2(t, ISA_DO_MOV_32, to, tr_constant(t, fixed[i].value));
        return true;
    }
    for (size_t i = 0; name && i < sizeof specials / sizeof specials[0]; ++i) {
        if (strcmp(specials[i].name, name) != 0) continue;
        IsaInst *step = tr_step(t, ISA_DO_SREG);
        step->operand[0] = tr_to_register(t, tr_operand(t, 0), add);
        step->sub = (uint8_t)specials[i].sreg;
        step->size = bytes;
        return true;
    }
    return tr_refuse(t, "special register %s", name ? name : "that is not known");
}

/* d, number: CS2R of 64 bits reads two, the lower first. */
static bool op_s2r(Translator *t) {
    const uint32_t number = (uint32_t)tr_operand(t, 1)->value;
    if (t->sass->op != SASS_OP_CS2R || !tr_mod(t, SASS_MOD_CS2R_WIDTH))
        return read_special(t, number, 0, 4);
    const uint32_t next = number == 255 ? 255 : number + 1;
    return read_special(t, number, 0, 4) && read_special(t, next, 1, 4);
}

/* ---- Lanes ---- */

/* d, p, q: the vote of the lanes that execute; its ballot, and whether all, some or equal. */
static bool op_vote(Translator *t) {
    bool negated;
    static const PtxSub mode[] = {PTX_SUB_VOTE_ALL, PTX_SUB_VOTE_ANY, PTX_SUB_VOTE_UNI};
    const uint8_t which = tr_mod(t, SASS_MOD_VOTE);
    const IsaOperand q = tr_word(t, tr_operand(t, 2), &negated), all = tr_constant(t, UINT32_MAX);
    const int64_t flip = negated ? (int64_t)UINT32_MAX : 0;
    if (which > 2) return tr_refuse(t, "this mode");
    t->is_uniform = false; /* who votes are the lanes that execute */
    const IsaOperand ballot = tr_scratch(t), truth = tr_scratch_word(t);
    IsaInst *step = step2(t, ISA_DO_VOTE_BALLOT, ballot, q);
    step->operand[2] = all;
    step->imm = flip;
    step = step2(t, ISA_DO_VOTE_PRED, truth, q);
    step->operand[2] = all;
    step->imm = flip;
    step->sub = (uint8_t)mode[which];
    const bool is_uniform = t->sass->op == SASS_OP_VOTEU;
    step2(t, is_uniform ? ISA_DO_TO_UNIFORM : ISA_DO_MOV_32, tr_to(t, tr_operand(t, 0)), ballot);
    const IsaOperand to = tr_word_to(t, tr_operand(t, 1));
    if (!is_uniform) {
        step2(t, ISA_DO_PRED_MOV, to, truth);
        return true;
    }
    /* the same answer for all lanes, those that did not vote too */
    step2(t, ISA_DO_SPREAD, to, truth);
    return true;
}

/* p, d, a, lane, clamp */
static bool op_shfl(Translator *t) {
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
static bool op_match(Translator *t) {
    const bool is_wide = tr_mod(t, SASS_MOD_MATCH64), is_any = tr_mod(t, SASS_MOD_MATCH);
    const IsaOperand x = is_wide ? tr_joined(t, tr_operand(t, 2)) : tr_row(t, tr_operand(t, 2));
    const IsaOperand all = tr_constant(t, UINT32_MAX), to = tr_to(t, tr_operand(t, 1));
    if (is_any) {
        step2(t, is_wide ? ISA_DO_MATCH_ANY_64 : ISA_DO_MATCH_ANY_32, to, x)->operand[2] = all;
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
static bool op_redux(Translator *t) {
    static const PtxSub mode[] = {PTX_SUB_AND, PTX_SUB_OR,  PTX_SUB_XOR,
                                  PTX_SUB_ADD, PTX_SUB_MIN, PTX_SUB_MAX};
    const uint8_t which = tr_mod(t, SASS_MOD_REDUX);
    if (which > 5) return tr_refuse(t, "this reduction");
    t->is_uniform = false;
    const IsaOperand x = tr_row(t, tr_operand(t, 1)), part = tr_scratch(t);
    IsaInst *step =
        step2(t, tr_mod(t, SASS_MOD_SIGNED_VALUE) ? ISA_DO_REDUX_S32 : ISA_DO_REDUX_U32, part, x);
    step->operand[2] = tr_constant(t, UINT32_MAX);
    step->sub = (uint8_t)mode[which];
    step2(t, ISA_DO_TO_UNIFORM, tr_to(t, tr_operand(t, 0)), part);
    return true;
}

/* p, uniform d, a: p where a lane's value is another one (.OR: or where p was true) */
static bool op_r2ur(Translator *t) {
    t->is_uniform = false; /* the value is that of a lane that executes */
    const IsaOperand x = tr_row(t, tr_operand(t, 2)), chosen = tr_to(t, tr_operand(t, 1));
    step2(t, ISA_DO_TO_UNIFORM, chosen, x);
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
    bool negated; /* notes that it is read */
    step->operand[4] = tr_word(t, tr_operand(t, 0), &negated);
    step->sub |= ISA_COMPARE_OR;
    return true;
}

/* ---- The table ---- */

static TranslateOp *const table[SASS_OPS] = {
    [SASS_OP_F2F] = op_f2f,     [SASS_OP_F2I] = op_f2i,     [SASS_OP_I2F] = op_i2f,
    [SASS_OP_I2I] = op_i2i,     [SASS_OP_I2FP] = op_i2fp,   [SASS_OP_FRND] = op_frnd,
    [SASS_OP_F2FP] = op_f2fp,   [SASS_OP_MUFU] = op_mufu,   [SASS_OP_FCHK] = op_fchk,
    [SASS_OP_S2R] = op_s2r,     [SASS_OP_S2UR] = op_s2r,    [SASS_OP_CS2R] = op_s2r,
    [SASS_OP_VOTE] = op_vote,   [SASS_OP_VOTEU] = op_vote,  [SASS_OP_SHFL] = op_shfl,
    [SASS_OP_MATCH] = op_match, [SASS_OP_REDUX] = op_redux, [SASS_OP_R2UR] = op_r2ur,
};

TranslateOp *tr_convert(uint16_t op) { return table[op]; }
