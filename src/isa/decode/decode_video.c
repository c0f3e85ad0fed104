/* Video instructions: types, selected parts of operands and element masks are encoded in an
 * IsaVideo. */
#include "isa/decode/decode.h"

typedef struct Operation {
    uint8_t op, operation, parts;
} Operation;

static const Operation operations[] = {
    {PTX_OP_VADD, ISA_VIDEO_ADD, 1},          {PTX_OP_VSUB, ISA_VIDEO_SUB, 1},
    {PTX_OP_VABSDIFF, ISA_VIDEO_ABSDIFF, 1},  {PTX_OP_VMIN, ISA_VIDEO_MIN, 1},
    {PTX_OP_VMAX, ISA_VIDEO_MAX, 1},          {PTX_OP_VMAD, ISA_VIDEO_MAD, 1},
    {PTX_OP_VSET, ISA_VIDEO_SET, 1},          {PTX_OP_VSHL, ISA_VIDEO_SHL, 1},
    {PTX_OP_VSHR, ISA_VIDEO_SHR, 1},          {PTX_OP_VADD2, ISA_VIDEO_ADD, 2},
    {PTX_OP_VSUB2, ISA_VIDEO_SUB, 2},         {PTX_OP_VABSDIFF2, ISA_VIDEO_ABSDIFF, 2},
    {PTX_OP_VMIN2, ISA_VIDEO_MIN, 2},         {PTX_OP_VMAX2, ISA_VIDEO_MAX, 2},
    {PTX_OP_VAVRG2, ISA_VIDEO_AVERAGE, 2},    {PTX_OP_VSET2, ISA_VIDEO_SET, 2},
    {PTX_OP_VADD4, ISA_VIDEO_ADD, 4},         {PTX_OP_VSUB4, ISA_VIDEO_SUB, 4},
    {PTX_OP_VABSDIFF4, ISA_VIDEO_ABSDIFF, 4}, {PTX_OP_VMIN4, ISA_VIDEO_MIN, 4},
    {PTX_OP_VMAX4, ISA_VIDEO_MAX, 4},         {PTX_OP_VAVRG4, ISA_VIDEO_AVERAGE, 4},
    {PTX_OP_VSET4, ISA_VIDEO_SET, 4}};

static const Operation *operation_of(PtxOpcode op) {
    const Operation *row = operations;
    while (row->op != op)
        row++;
    return row;
}

/* The elements that a packed instruction computes. */
static void decode_elements(Decoder *decoder, int parts) {
    const PtxOperand *operands = decoder->ptx->operands;
    IsaInst *inst = &decoder->draft.inst;
    inst->sub = (uint8_t)((1 << parts) - 1);
    if (operands[0].pick.count) {
        inst->sub = 0;
        for (int i = 0; i < operands[0].pick.count; i++)
            inst->sub |= (uint8_t)(1 << operands[0].pick.at[i]);
    }
    for (int source = 0; source < 2; source++)
        for (int i = 0; i < parts; i++) {
            const PtxPick *pick = &operands[1 + source].pick;
            const int from = pick->count ? pick->at[i] : source * parts + i;
            inst->target |= (uint32_t)from << (source * 16 + i * 4);
        }
}

/* vset has no result type; the result is unsigned. */
static void set_types(IsaVideo *video, const PtxInst *ptx, bool is_set) {
    video->is_signed = !is_set && ptx_type_is_signed(ptx->type);
    video->is_a_signed = ptx_type_is_signed(is_set ? ptx->type : ptx->type2);
    video->is_b_signed = ptx_type_is_signed(is_set ? ptx->type2 : ptx->type3);
}

static bool decode_mad(Decoder *decoder, IsaVideo *video) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *operands = ptx->operands;
    video->adds_one = (ptx->flags & PTX_FLAG_PLUS_ONE) != 0;
    video->shift = ptx->sub == PTX_SUB_SHR7 ? 7 : ptx->sub == PTX_SUB_SHR15 ? 15 : 0;
    video->negates_product = operands[1].is_minus != operands[2].is_minus;
    video->negates_c = operands[3].is_minus && !video->negates_product;
    const bool is_negated = operands[1].is_minus || operands[2].is_minus || operands[3].is_minus;
    video->is_signed =
        video->is_a_signed || video->is_b_signed || video->negates_product || operands[3].is_minus;
    if (operands[3].is_minus && video->negates_product)
        return decode_unsupported(decoder, "a negated product with a negated c");
    return !(video->adds_one && is_negated) ||
           decode_unsupported(decoder, "negated operands together with .po");
}

bool decode_video(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const Operation *row = operation_of(ptx->op);
    const bool is_set = row->operation == ISA_VIDEO_SET, has_c = ptx->operand_count > 3;
    IsaVideo video = {.operation = (uint8_t)(row->operation + (is_set ? ptx->compare : 0)),
                      .second = (uint8_t)ptx->sub2,
                      .select_a = (uint8_t)ptx->operands[1].select,
                      .select_b = (uint8_t)ptx->operands[2].select,
                      .select_d = (uint8_t)ptx->operands[0].select,
                      .parts = row->parts,
                      .is_saturating = (ptx->flags & PTX_FLAG_SAT) != 0,
                      .wraps = (ptx->flags & PTX_FLAG_WRAP) != 0};
    set_types(&video, ptx, is_set);
    if (row->parts > 1) decode_elements(decoder, row->parts);
    else if (ptx->op == PTX_OP_VMAD) {
        if (!decode_mad(decoder, &video)) return false;
    } else if (!video.second && has_c != (video.select_d != PTX_SELECT_NONE)) {
        return decode_unsupported(decoder, has_c ? "c without a part of d to merge with it"
                                                 : "a part of d without c for the others");
    }
    decoder->draft.inst.imm = isa_video_imm(video);
    if (!has_c) decoder->draft.inst.operand[3] = decode_constant(decoder, 0, false);
    return true;
}
