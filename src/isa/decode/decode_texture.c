/* Texture and surface instructions. texture_inst.h describes their operands. */
#include "isa/decode/decode.h"

#include "isa/exec/texture_inst.h"
#include "ptx/texture.h"

enum { HANDLE_AT = 4, PREDICATE_AT = 5 };

/* A handle in a register, or a variable whose address stands for the handle it holds. */
static bool decode_handle(Decoder *decoder, const PtxOperand *operand, IsaOperand *out) {
    return decode_source(decoder, operand, PTX_U64, out);
}

/* The values that are read or stored. */
static bool decode_data(Decoder *decoder, PtxType type, bool is_stored) {
    const PtxOperand *data = &decoder->ptx->operands[PTX_TEXTURE_DATA];
    IsaInst *inst = &decoder->draft.inst;
    const bool has_flag = data->kind == PTX_OPERAND_PAIR;
    inst->operand[PREDICATE_AT] = ISA_SINK;
    if (has_flag && !decode_pred_destination(decoder, &data->items[1], PREDICATE_AT)) return false;
    if (has_flag) data = data->items;
    const bool is_list = data->kind == PTX_OPERAND_VECTOR;
    const PtxOperand *element = is_list ? data->items : data;
    const int count = is_list ? data->count : 1;
    for (int i = 0; i < 4; ++i) {
        inst->operand[i] = ISA_SINK;
        if (i >= count || element[i].kind == PTX_OPERAND_SINK) continue;
        const int bits = decode_reg_bits(decoder, &element[i]);
        if (bits == 64) inst->flags |= ISA_DST_IS_64;
        if (is_stored ? !decode_source(decoder, &element[i], type, &inst->operand[i])
                      : !decode_destination(decoder, &element[i], &inst->operand[i]))
            return false;
    }
    return true;
}

/* Converts the elements of a list to rows; leaves the rows unchanged if there is no list. */
static bool decode_list(Decoder *decoder, const PtxOperand *list, int first, int count,
                        PtxType type, IsaOperand *rows) {
    if (list->kind != PTX_OPERAND_VECTOR) return true;
    for (int i = 0; i < count; ++i)
        if (!decode_source(decoder, &list->items[first + i], type, &rows[i])) return false;
    return true;
}

static bool decode_rows(Decoder *decoder, PtxType type, IsaTextureRows *rows) {
    const PtxInst *ptx = decoder->ptx;
    const PtxOperand *operands = ptx->operands;
    const PtxGeometry *geometry = ptx_geometry(ptx->sub2);
    const int axes = geometry->axes, first = geometry->has_layer;
    const PtxOperand *coordinates = &operands[PTX_TEXTURE_COORDINATES];
    if (geometry->is_cube && operands[PTX_TEXTURE_OFFSET].kind != PTX_OPERAND_NONE)
        return decode_unsupported(decoder, "offsets on the faces of a cube");
    if (first && !decode_source(decoder, &coordinates->items[0], PTX_U32, &rows->layer))
        return false;
    if (operands[PTX_TEXTURE_SAMPLER].kind != PTX_OPERAND_NONE &&
        !decode_handle(decoder, &operands[PTX_TEXTURE_SAMPLER], &rows->sampler))
        return false;
    if (ptx->sub == PTX_SUB_TEX_LEVEL && ptx->op == PTX_OP_TEX &&
        !decode_source(decoder, &operands[PTX_TEXTURE_LEVEL], type, &rows->level))
        return false;
    return decode_list(decoder, coordinates, first, axes, type, rows->at) &&
           decode_list(decoder, &operands[PTX_TEXTURE_LEVEL], 0, axes, PTX_F32,
                       rows->gradient[0]) &&
           decode_list(decoder, &operands[PTX_TEXTURE_GRADIENT_Y], 0, axes, PTX_F32,
                       rows->gradient[1]) &&
           decode_list(decoder, &operands[PTX_TEXTURE_OFFSET], 0, axes, PTX_S32, rows->offset);
}

/* Ends an instruction: stores its settings, and the rows that did not fit into its operands. */
static void finish(Decoder *decoder, const IsaTexture *texture, const IsaTextureRows *rows) {
    IsaOperand all[sizeof *rows / sizeof(IsaOperand)];
    memcpy(all, rows, sizeof all);
    memcpy(&decoder->draft.inst.imm, texture, sizeof *texture);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        const uint32_t at = decode_add_wide(decoder, all[i]);
        if (i == 0) decoder->draft.inst.reconverge = at;
    }
}

static void clear_rows(IsaTextureRows *rows) {
    IsaOperand all[sizeof *rows / sizeof(IsaOperand)];
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        all[i] = ISA_SINK;
    memcpy(rows, all, sizeof all);
}

/* tex, tld4 */
static bool decode_fetch(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const PtxType type = ptx->op == PTX_OP_TEX ? ptx->type2 : PTX_F32;
    IsaTexture texture = {.geometry = (uint8_t)ptx->sub2,
                          .chooses = (uint8_t)ptx->sub,
                          .type = (uint8_t)ptx->type,
                          .has_texel = type != PTX_F32};
    if (ptx->op == PTX_OP_TLD4) {
        texture.component = (uint8_t)(ptx->sub - PTX_SUB_TLD4_R);
        texture.chooses = PTX_SUB_TEX_BASE;
    }
    IsaTextureRows rows;
    clear_rows(&rows);
    decode_fill_access(decoder, ISA_MEMORY_TEXTURE, ptx->vector ? ptx->vector : 1);
    decoder->draft.info.space = PTX_SPACE_TEX;
    decode_set_handler(decoder, ptx->op == PTX_OP_TEX ? ISA_DO_TEX : ISA_DO_TLD4);
    if (!decode_data(decoder, ptx->type, false) ||
        !decode_handle(decoder, &ptx->operands[PTX_TEXTURE_HANDLE], &inst->operand[HANDLE_AT]) ||
        !decode_rows(decoder, type, &rows))
        return false;
    finish(decoder, &texture, &rows);
    return true;
}

/* suld, sust, sured: the timing model treats them as a load, a store and a reduction of global
 * memory. */
static bool decode_surface(Decoder *decoder) {
    static const IsaMemoryKind kinds[] = {ISA_MEMORY_LOAD, ISA_MEMORY_STORE, ISA_MEMORY_ATOMIC};
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const int what = ptx->op == PTX_OP_SULD ? 0 : ptx->op == PTX_OP_SUST ? 1 : 2;
    const IsaTexture texture = {.geometry = (uint8_t)ptx->sub2,
                                .query = (uint8_t)ptx->sub,
                                .boundary = (uint8_t)ptx->boundary,
                                .type = (uint8_t)ptx->type,
                                .is_formatted = ptx->is_formatted};
    IsaTextureRows rows;
    clear_rows(&rows);
    decode_fill_access(decoder, kinds[what], ptx->vector ? ptx->vector : 1);
    inst->space = PTX_SPACE_GLOBAL;
    decoder->draft.info.space = PTX_SPACE_GLOBAL;
    if (what == 2) decoder->draft.info.flags |= ISA_IS_REDUCTION;
    decode_set_handler(decoder, what == 0 ? ISA_DO_SULD : what == 1 ? ISA_DO_SUST : ISA_DO_SURED);
    if (!decode_data(decoder, ptx->type, what > 0) ||
        !decode_handle(decoder, &ptx->operands[PTX_TEXTURE_HANDLE], &inst->operand[HANDLE_AT]) ||
        !decode_rows(decoder, PTX_S32, &rows))
        return false;
    finish(decoder, &texture, &rows);
    return true;
}

/* txq, suq */
static bool decode_query(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const IsaTexture texture = {.query = (uint8_t)ptx->sub};
    const PtxOperand *level = &ptx->operands[PTX_TEXTURE_LEVEL];
    IsaTextureRows rows;
    clear_rows(&rows);
    inst->sub = ptx->op == PTX_OP_SUQ;
    decode_set_handler(decoder, ISA_DO_TXQ);
    if (!decode_destination(decoder, &ptx->operands[PTX_TEXTURE_DATA], &inst->operand[0]) ||
        !decode_handle(decoder, &ptx->operands[PTX_TEXTURE_HANDLE], &inst->operand[HANDLE_AT]))
        return false;
    if (level->kind != PTX_OPERAND_NONE && !decode_source(decoder, level, PTX_U32, &rows.level))
        return false;
    finish(decoder, &texture, &rows);
    return true;
}

bool decode_texture(Decoder *decoder) {
    switch (decoder->ptx->op) {
    case PTX_OP_TEX:
    case PTX_OP_TLD4: return decode_fetch(decoder);
    case PTX_OP_TXQ:
    case PTX_OP_SUQ: return decode_query(decoder);
    default: return decode_surface(decoder);
    }
}

/* istypep p, a */
bool decode_istypep(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    decoder->draft.inst.sub = (uint8_t)ptx->sub;
    decode_set_handler(decoder, ISA_DO_ISTYPEP);
    return decode_pred_destination(decoder, &ptx->operands[0], 0) &&
           decode_source(decoder, &ptx->operands[1], PTX_U64, &decoder->draft.inst.operand[1]);
}
