/* Straight-line instructions by table. One row per form lists the types and modifiers that it
 * accepts, its operands, the handler that executes it, and the class that times it. The first row
 * that fits is used, so the row of the plain form comes before the row that handles all
 * modifiers. */
#include "isa/decode/decode.h"

#include <string.h>

typedef struct Form {
    uint8_t op;           /* PtxOpcode */
    uint8_t op_class;     /* IsaClass */
    uint16_t handler;     /* IsaHandler */
    uint32_t types;       /* set of PtxType */
    uint32_t types2;      /* set of PtxType; 0: no second type */
    const char *operands; /* one letter each, see decode_operands */
    uint8_t mul;          /* PtxMulMode */
    uint8_t sub;          /* PtxSub; 0: any */
    uint8_t sub2;         /* 1: the second PtxSub is required; 0: any */
    uint16_t rounds;      /* set of PtxRound that are allowed, besides none */
    uint32_t need;        /* required flags */
    uint32_t allow;       /* allowed flags */
    DecodeOp *finish;     /* sets inst.sub and inst.imm; NULL: sub holds the modifiers */
} Form;

#define T(type) (1u << (PTX_##type))
#define U16S16  (T(U16) | T(S16))
#define INT16   (T(U16) | T(S16) | T(B16))
#define INT32   (T(U32) | T(S32) | T(B32))
#define INT64   (T(U64) | T(S64) | T(B64))
#define ANY16   (INT16 | T(F16) | T(BF16))
#define ANY32   (INT32 | T(F32) | T(F16X2) | T(BF16X2) | T(U16X2) | T(S16X2))
#define ANY64   (INT64 | T(F64))

#define R(round) (1u << (PTX_##round))
#define NEAREST  R(RN)
#define DIRECTED (R(RZ) | R(RM) | R(RP))

#define FTZ    PTX_FLAG_FTZ
#define SAT    PTX_FLAG_SAT
#define CARRY  PTX_FLAG_CC
#define APPROX PTX_FLAG_APPROX
#define FULL   PTX_FLAG_FULL
#define RELU   PTX_FLAG_RELU
#define MINMAX (PTX_FLAG_NAN_RESULT | PTX_FLAG_XORSIGN | PTX_FLAG_ABS)
#define LOW    .mul = PTX_MUL_LO
#define HIGH   .mul = PTX_MUL_HI
#define WIDE   .mul = PTX_MUL_WIDE

/* Modifiers without effect on a machine that executes whole warps. */
#define IGNORED (PTX_FLAG_UNI | PTX_FLAG_SYNC | PTX_FLAG_ALIGNED | PTX_FLAG_NOFTZ | PTX_FLAG_STRONG)

/* ---- Setting sub and imm ---- */

static bool finish_table(Decoder *decoder) { /* lop3: the table, and how the predicate is
                                              * combined */
    IsaInst *inst = &decoder->draft.inst;
    inst->sub = (uint8_t)decoder->ptx->operands[4].imm;
    inst->imm = decoder->ptx->sub2 == PTX_SUB_OR ? ISA_COMPARE_OR : ISA_COMPARE_AND;
    if (decoder->negated) inst->imm |= ISA_COMPARE_NEGATE_C;
    return true;
}

static bool finish_shift_amount(Decoder *decoder) {
    decoder->draft.inst.sub = (decoder->ptx->flags & PTX_FLAG_SHIFTAMT) != 0;
    return true;
}

static bool finish_wrap(Decoder *decoder) {
    decoder->draft.inst.sub = (decoder->ptx->flags & PTX_FLAG_WRAP) != 0;
    return true;
}

static bool finish_permute(Decoder *decoder) {
    decoder->draft.inst.sub = (uint8_t)(decoder->ptx->sub - PTX_SUB_PRMT_F4E);
    return true;
}

static bool finish_dot(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    decoder->draft.inst.sub =
        (uint8_t)(ptx_type_is_signed(ptx->type) | ptx_type_is_signed(ptx->type2) << 1 |
                  (ptx->mul_mode == PTX_MUL_HI) << 2);
    return true;
}

static bool finish_carry(Decoder *decoder) {
    const PtxOpcode op = decoder->ptx->op;
    const bool reads = op == PTX_OP_ADDC || op == PTX_OP_SUBC || op == PTX_OP_MADC;
    decoder->draft.inst.sub = (uint8_t)(reads | ((decoder->ptx->flags & CARRY) != 0) << 1);
    return true;
}

static bool finish_flush(Decoder *decoder) {
    decoder->draft.inst.sub = (decoder->ptx->flags & FTZ) != 0;
    return true;
}

static bool finish_select(Decoder *decoder) { /* selp: a negated predicate */
    decoder->draft.inst.imm = decoder->negated ? -1 : 0;
    return true;
}

static bool finish_predicates(Decoder *decoder) {
    decoder->draft.inst.imm = (int64_t)decoder->negated;
    return true;
}

static bool finish_not(Decoder *decoder) {
    decoder->draft.inst.imm = (int64_t)(decoder->negated ^ 2);
    return true;
}

static bool finish_sub(Decoder *decoder) {
    decoder->draft.inst.sub = (uint8_t)decoder->ptx->sub;
    return true;
}

/* vote: without .sync all executing lanes take part. */
static bool finish_vote(Decoder *decoder) {
    IsaInst *inst = &decoder->draft.inst;
    inst->sub = (uint8_t)decoder->ptx->sub;
    inst->imm = decoder->negated ? -1 : 0;
    if (decoder->ptx->operand_count < 3)
        inst->operand[2] = decode_constant(decoder, UINT32_MAX, false);
    return true;
}

static bool finish_stack(Decoder *decoder) { /* alloca: 8 bytes is the default alignment */
    const PtxInst *ptx = decoder->ptx;
    const bool has_alignment = ptx->op == PTX_OP_ALLOCA && ptx->operand_count > 2;
    const int64_t align = has_alignment ? ptx->operands[2].imm : 8;
    if (align <= 0 || align > 4096 || (align & (align - 1)))
        return decode_unsupported(decoder, "an alignment of %lld bytes", (long long)align);
    decoder->draft.inst.imm = align;
    decoder->draft.inst.size = (uint8_t)(ptx_type_bits(ptx->type) / 8);
    return true;
}

static bool finish_shfl(Decoder *decoder) {
    decoder->draft.inst.imm = (decoder->ptx->flags & PTX_FLAG_SYNC) != 0;
    return true;
}

static bool finish_fence(Decoder *decoder) {
    decoder->draft.info.flags |= ISA_IS_FENCE;
    decoder->draft.inst.sub = decoder->ptx->scope == PTX_CTA ? ISA_FENCE_CTA : 0;
    if (decoder->ptx->sub == PTX_SUB_PROXY_ASYNC) decoder->draft.inst.sub = ISA_FENCE_PROXY;
    if (decoder->ptx->scope == PTX_CTA) decoder->draft.info.flags |= ISA_IS_CTA_FENCE;
    return true;
}

/* ---- The table ---- */

#define FORM(op_, types_, operands_, handler_, class_, ...)                                        \
    {.op = PTX_OP_##op_,                                                                           \
     .types = types_,                                                                              \
     .operands = operands_,                                                                        \
     .handler = ISA_DO_##handler_,                                                                 \
     .op_class = ISA_CLASS_##class_,                                                               \
     __VA_ARGS__},

static const Form forms[] = {
#include "isa/decode/forms.def"
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

/* ---- Matching ---- */

/* Whether the form has that many operands. */
static bool fits_count(const Form *form, int count) {
    int most = 0, least = 0;
    for (const char *letter = form->operands; *letter; ++letter) {
        most += *letter != '?';
        least += *letter != '?' && (letter == form->operands || letter[-1] != '?');
    }
    return count >= least && count <= most;
}

static bool fits(const Form *form, const PtxInst *ptx) {
    const uint32_t flags = ptx->flags & ~(uint32_t)IGNORED;
    return form->op == ptx->op && (form->types >> ptx->type & 1) &&
           fits_count(form, ptx->operand_count) &&
           (form->types2 ? form->types2 >> ptx->type2 & 1 : ptx->type2 == PTX_TYPE_NONE) &&
           form->mul == ptx->mul_mode && (!form->sub || form->sub == ptx->sub) &&
           (!form->sub2 || ptx->sub2) &&
           (ptx->round == PTX_ROUND_NONE || (form->rounds >> ptx->round & 1)) &&
           (flags & form->need) == form->need && !(flags & ~(form->need | form->allow));
}

/* The modifiers that floating-point handlers support, as ISA_MOD_ bits. */
static uint8_t modifiers(const PtxInst *ptx) {
    static const uint8_t rounds[] = {
        [PTX_RZ] = ISA_ROUND_ZERO,
        [PTX_RM] = ISA_ROUND_DOWN,
        [PTX_RP] = ISA_ROUND_UP,
        [PTX_RPI] = 0,
    };
    static const struct {
        uint32_t flag;
        uint8_t modifier;
    } map[] = {{PTX_FLAG_FTZ, ISA_MOD_FTZ},         {PTX_FLAG_SAT, ISA_MOD_SAT},
               {PTX_FLAG_RELU, ISA_MOD_RELU},       {PTX_FLAG_NAN_RESULT, ISA_MOD_NAN},
               {PTX_FLAG_XORSIGN, ISA_MOD_XORSIGN}, {PTX_FLAG_ABS, ISA_MOD_ABS}};
    uint8_t sub = rounds[ptx->round];
    for (size_t i = 0; i < sizeof map / sizeof map[0]; ++i)
        if (ptx->flags & map[i].flag) sub |= map[i].modifier;
    return sub;
}

static PtxType wider(PtxType type) {
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    case PTX_S32: return PTX_S64;
    default: return type;
    }
}

static bool decode_letter(Decoder *decoder, char letter, const PtxOperand *operand, int *at) {
    const PtxInst *ptx = decoder->ptx;
    IsaOperand *out = &decoder->draft.inst.operand[*at];
    const int here = (*at)++;
    switch (letter) {
    case 'd': return decode_destination(decoder, operand, out);
    case 'a': return decode_source(decoder, operand, ptx->type, out);
    case 's': return decode_source(decoder, operand, ptx->type2, out);
    case 'w': return decode_source(decoder, operand, wider(ptx->type), out);
    case 'u': return decode_source(decoder, operand, PTX_U32, out);
    case 'P': return decode_pred_destination(decoder, operand, here);
    case 'p': return decode_pred_source(decoder, operand, here);
    case 'Q': /* d|p: the predicate is optional */
        (*at)++;
        out[1] = (IsaOperand)decoder->scratch_pred;
        if (operand->kind != PTX_OPERAND_PAIR) return decode_destination(decoder, operand, out);
        return decode_destination(decoder, &operand->items[0], out) &&
               decode_pred_destination(decoder, &operand->items[1], here + 1);
    default: return false;
    }
}

/* Operand letters: d destination, a source of the type, s source of the second type, w source of
 * twice the width, u 32-bit source, P and p predicates, Q a destination with an optional predicate
 * (two operands), . an operand that is decoded elsewhere, ? before an optional operand. */
static bool decode_operands(Decoder *decoder, const char *letters) {
    const PtxInst *ptx = decoder->ptx;
    int at = 0, operand = 0;
    for (const char *letter = letters; *letter; ++letter) {
        if (*letter == '?') ++letter;
        if (operand >= ptx->operand_count) break;
        const PtxOperand *here = &ptx->operands[operand++];
        if (*letter != '.' && !decode_letter(decoder, *letter, here, &at)) return false;
    }
    return true;
}

/* A .sync instruction waits for the lanes of its last operand, .sync.aligned for the whole warp. */
static bool decode_members(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    if (!(ptx->flags & PTX_FLAG_SYNC)) return true;
    IsaOperand members = decode_constant(decoder, UINT32_MAX, false);
    if (!(ptx->flags & PTX_FLAG_ALIGNED) &&
        !decode_source(decoder, &ptx->operands[ptx->operand_count - 1], PTX_U32, &members))
        return false;
    decode_set_members(decoder, members);
    return true;
}

bool decode_form(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    for (int i = 0; i < FORM_COUNT; ++i) {
        const Form *form = &forms[i];
        if (!fits(form, ptx)) continue;
        if (!decode_operands(decoder, form->operands)) return false;
        decoder->draft.inst.sub = modifiers(ptx);
        decoder->draft.info.op_class = form->op_class;
        decoder->draft.info.element_bytes = (uint8_t)(ptx_type_bits(ptx->type) / 8);
        decode_set_handler(decoder, (IsaHandler)form->handler);
        return (!form->finish || form->finish(decoder)) && decode_members(decoder);
    }
    return decode_unsupported(decoder, "this combination of types and modifiers");
}
