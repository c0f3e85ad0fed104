/* wgmma and setmaxnreg: the asynchronous matrix instructions of four warps. */
#include "isa/decode/decode.h"

#include "isa/exec/matrix.h"
#include "isa/exec/wgmma.h"

/* Adds D's registers to the wide operands. The timing model does not track them: a reader waits for
 * the group of products instead. */
static bool add_sums(Decoder *decoder, const PtxOperand *d, int count) {
    const bool is_vector = d->kind == PTX_OPERAND_VECTOR;
    decoder->draft.inst.operand[0] = count;
    decoder->draft.inst.reconverge = decoder->wide_count;
    for (int i = 0; i < count; ++i) {
        const PtxOperand *item = is_vector ? &d->items[i] : d;
        if (item->kind != PTX_OPERAND_REG)
            return decode_unsupported(decoder, "a result that is thrown away");
        decode_add_wide(decoder, decoder->function->regs[item->reg].slot * ISA_ROW_BYTES);
    }
    return true;
}

/* operand[1]: number of registers of A, which follow D's in the wide operands; 0: operand[2] is A's
 * descriptor. */
static bool add_factor(Decoder *decoder, const PtxOperand *a) {
    IsaInst *inst = &decoder->draft.inst;
    if (a->kind != PTX_OPERAND_VECTOR) return decode_source(decoder, a, PTX_U64, &inst->operand[2]);
    inst->operand[1] = a->count;
    for (int i = 0; i < a->count; ++i) {
        IsaOperand row;
        if (!decode_source(decoder, &a->items[i], PTX_B32, &row)) return false;
        decode_add_wide(decoder, row);
    }
    return true;
}

/* An immediate after the predicate, which must be one of two values. */
static bool add_switch(Decoder *decoder, int at, int off, int on, uint8_t flag) {
    const int64_t value = decoder->ptx->operands[at].imm;
    if (value != off && value != on)
        return decode_unsupported(decoder, "operand %d is %lld: it must be %d or %d", at + 1,
                                  (long long)value, off, on);
    if (value == on) decoder->draft.inst.sub |= flag;
    return true;
}

/* Negations and transpositions. Only an A in shared memory can be transposed. */
static bool add_switches(Decoder *decoder, int first) {
    const PtxInst *ptx = decoder->ptx;
    const int count = ptx->operand_count - 1 - first; /* the last operand is d */
    const bool is_register = ptx->operands[1].kind == PTX_OPERAND_VECTOR;
    const bool can_transpose = ptx->type2 == PTX_F16 || ptx->type2 == PTX_BF16;
    if (can_transpose && count != (is_register ? 3 : 4))
        return decode_unsupported(decoder, "%d operands behind the predicate: %s", count,
                                  is_register ? "a matrix in registers has 3 there"
                                              : "a matrix in shared memory has 4 there");
    return (count < 1 || add_switch(decoder, first, 1, -1, ISA_WGMMA_A_NEGATED)) &&
           (count < 2 || add_switch(decoder, first + 1, 1, -1, ISA_WGMMA_B_NEGATED)) &&
           (count < 4 || add_switch(decoder, first + 2, 0, 1, ISA_WGMMA_A_TRANSPOSED)) &&
           (count < 3 || add_switch(decoder, first + count - 1, 0, 1, ISA_WGMMA_B_TRANSPOSED));
}

/* operand[5]: the metadata of a sparse A. */
static bool add_metadata(Decoder *decoder, IsaMatrix *matrix) {
    const PtxInst *ptx = decoder->ptx;
    const int selectors = decode_selectors(ptx, (PtxType)matrix->a);
    const int64_t selector = ptx->operands[4].imm;
    if (selector < 0 || selector >= selectors)
        return decode_unsupported(decoder, "sparsity selector %lld: this shape has 0 to %d",
                                  (long long)selector, selectors - 1);
    matrix->flags |= ISA_MATRIX_SPARSE;
    matrix->selector = (uint8_t)selector;
    return decode_source(decoder, &ptx->operands[3], PTX_U32, &decoder->draft.inst.operand[5]);
}

/* operand[3]: B's descriptor. operand[4]: the predicate that selects whether D is added. */
static bool decode_product(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const PtxMatrixTypes types = ptx_matrix_types(ptx);
    IsaInst *inst = &decoder->draft.inst;
    const bool is_sparse = ptx->flags & PTX_FLAG_SPARSE;
    const int predicate = is_sparse ? 5 : 3;
    IsaMatrix matrix = {.shape = (uint8_t)ptx->shape,
                        .a = (uint8_t)types.a,
                        .b = (uint8_t)types.b,
                        .c = (uint8_t)types.c,
                        .d = (uint8_t)types.d,
                        .flags = ptx->flags & PTX_FLAG_SATFINITE ? ISA_MATRIX_SATURATES : 0,
                        .operation = (uint8_t)ptx->sub};
    const bool is_register = ptx->operands[1].kind == PTX_OPERAND_VECTOR;
    if (is_sparse && !add_metadata(decoder, &matrix)) return false;
    inst->imm = isa_matrix_imm(matrix);
    isa_note_product(&decoder->draft.info, matrix, is_register ? 0 : ISA_PRODUCT_A_IS_SHARED);
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    decode_set_handler(decoder, ISA_DO_WGMMA);
    if (!add_sums(decoder, &ptx->operands[0], ptx_fragment(ptx, 'd').regs) ||
        !add_factor(decoder, &ptx->operands[1]) ||
        !decode_source(decoder, &ptx->operands[2], PTX_U64, &inst->operand[3]) ||
        !decode_pred_source(decoder, &ptx->operands[predicate], 4))
        return false;
    if (ptx->operands[predicate].negate) inst->sub |= ISA_WGMMA_SCALE_NEGATED;
    return add_switches(decoder, predicate + 1);
}

bool decode_wgmma(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    if (ptx->sub2 == PTX_SUB_WGMMA_MMA) return decode_product(decoder);
    IsaInfo *info = &decoder->draft.info;
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    if (ptx->sub2 == PTX_SUB_WGMMA_FENCE) { /* orders earlier ordinary writes before the reads of
                                             * wgmma */
        info->flags |= ISA_IS_FENCE | ISA_IS_CTA_FENCE;
        return decode_nop(decoder);
    }
    info->flags |= ISA_IS_WARPGROUP;
    info->advice = ISA_WARPGROUP_COMMIT;
    if (ptx->sub2 == PTX_SUB_WGMMA_COMMIT) {
        decode_set_handler(decoder, ISA_DO_COMMIT_GROUP);
        return true;
    }
    if (ptx->operands[0].imm < 0 || ptx->operands[0].imm > 7)
        return decode_unsupported(decoder, "a wait for all but %lld groups: it must be 0 to 7",
                                  (long long)ptx->operands[0].imm);
    info->advice = ISA_WARPGROUP_WAIT;
    info->element_bytes = (uint8_t)ptx->operands[0].imm;
    decoder->draft.inst.flow = ISA_FLOW_WARPGROUP;
    decoder->draft.inst.imm = ptx->operands[0].imm;
    return true;
}

/* Allowed numbers of registers per thread: PTX ISA, setmaxnreg. */
bool decode_setmaxnreg(Decoder *decoder) {
    enum { LEAST = 24, MOST = 256, STEP = 8 };
    const int64_t count = decoder->ptx->operands[0].imm;
    if (count < LEAST || count > MOST || count % STEP)
        return decode_unsupported(decoder, "%lld registers: a multiple of %d from %d to %d",
                                  (long long)count, STEP, LEAST, MOST);
    if (!decoder->function->set_registers) return decode_nop(decoder);
    decoder->draft.info.flags |= ISA_IS_WARPGROUP;
    decoder->draft.info.advice = ISA_WARPGROUP_REGISTERS;
    decoder->draft.info.vector = (uint8_t)(count / STEP);
    decoder->draft.info.prefetch = decoder->ptx->sub == PTX_SUB_INC;
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    return decode_nop(decoder);
}
