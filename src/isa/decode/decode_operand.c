/* Operands: registers become rows, immediates become rows of the constant pool, variables become
 * addresses. */
#include "isa/decode/decode.h"

#include "base/bits.h"
#include "isa/decode/constants.h"

static bool note_register(Decoder *decoder, RegList *list, int32_t reg) {
    if (list->count == DECODE_MAX_REGS) return decode_unsupported(decoder, "too many operands");
    list->reg[list->count++] = (uint32_t)reg;
    return true;
}

static const PtxReg *reg_of(const Decoder *decoder, const PtxOperand *operand) {
    return &decoder->function->regs[operand->reg];
}

int decode_reg_bits(const Decoder *decoder, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_REG && operand->kind != PTX_OPERAND_MEM) return 0;
    return operand->reg < 0 ? 0 : ptx_type_bits(reg_of(decoder, operand)->type);
}

/* ---- Constants ---- */

IsaOperand decode_constant(Decoder *decoder, uint64_t value, bool is_wide) {
    return (IsaOperand)constants_row(decoder->constants, value, is_wide) | 1;
}

/* ---- Values ---- */

IsaOperand decode_hidden(Decoder *decoder, IsaHandler handler, IsaInst inst) {
    const Draft outer = decoder->draft;
    const uint32_t row = decoder->scratch_row + 2 + decoder->hidden_rows;
    inst.operand[0] = (IsaOperand)(row * ISA_ROW_BYTES);
    inst.guard = ISA_PRED_TRUE;
    decoder->draft = (Draft){
        .inst = inst, .info = {.op = PTX_OP_MOV, .line = outer.info.line, .loc = outer.info.loc}};
    decode_set_handler(decoder, handler);
    decode_emit(decoder);
    decoder->draft = outer;
    decoder->hidden_rows += 2;
    if (decoder->scratch_rows < 2 + decoder->hidden_rows)
        decoder->scratch_rows = 2 + decoder->hidden_rows;
    return inst.operand[0];
}

bool decode_source(Decoder *decoder, const PtxOperand *operand, PtxType type, IsaOperand *out) {
    const uint8_t bytes = (uint8_t)(ptx_type_bits(type) / 8);
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        *out = reg_of(decoder, operand)->slot * ISA_ROW_BYTES;
        return note_register(decoder, &decoder->draft.sources, operand->reg);
    case PTX_OPERAND_IMM: /* the reader has converted it; small registers are zero-extended */
        *out = decode_constant(decoder, (uint64_t)operand->imm & bits_low_mask(ptx_type_bits(type)),
                               bytes == 8);
        return true;
    case PTX_OPERAND_SREG:
        *out = decode_hidden(
            decoder, ISA_DO_SREG,
            (IsaInst){.sub = (uint8_t)operand->sreg, .size = bytes, .imm = operand->imm});
        return true;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_FUNC:
        *out = decode_constant(decoder, decode_address(decoder, operand).value, bytes == 8);
        return true;
    default: return decode_unsupported(decoder, "operand of this kind");
    }
}

bool decode_destination(Decoder *decoder, const PtxOperand *operand, IsaOperand *out) {
    if (operand->kind == PTX_OPERAND_SINK) {
        *out = (IsaOperand)(decoder->scratch_row * ISA_ROW_BYTES);
        if (decoder->scratch_rows < 2) decoder->scratch_rows = 2;
        return true;
    }
    if (operand->kind != PTX_OPERAND_REG)
        return decode_unsupported(decoder, "the destination must be a register");
    *out = reg_of(decoder, operand)->slot * ISA_ROW_BYTES;
    return note_register(decoder, &decoder->draft.destinations, operand->reg);
}

/* ---- Predicates ---- */

bool decode_pred_source(Decoder *decoder, const PtxOperand *operand, int at) {
    if (operand->negate) decoder->negated |= 1u << at;
    if (operand->kind == PTX_OPERAND_IMM) {
        decoder->draft.inst.operand[at] = operand->imm ? ISA_PRED_TRUE : ISA_PRED_FALSE;
        return true;
    }
    if (operand->kind != PTX_OPERAND_REG)
        return decode_unsupported(decoder, "a predicate register is expected");
    decoder->draft.inst.operand[at] = reg_of(decoder, operand)->slot;
    return note_register(decoder, &decoder->draft.sources, operand->reg);
}

bool decode_pred_destination(Decoder *decoder, const PtxOperand *operand, int at) {
    if (operand->kind == PTX_OPERAND_SINK) {
        decoder->draft.inst.operand[at] = (IsaOperand)decoder->scratch_pred;
        return true;
    }
    if (operand->kind != PTX_OPERAND_REG)
        return decode_unsupported(decoder, "a predicate register is expected");
    decoder->draft.inst.operand[at] = reg_of(decoder, operand)->slot;
    return note_register(decoder, &decoder->draft.destinations, operand->reg);
}

/* ---- Addresses ---- */

PtxSpace decode_var_space(const Decoder *decoder, const PtxVar *var) {
    if (var->space != PTX_SPACE_PARAM) return var->space;
    const bool is_kernel_parameter = var->is_parameter && decoder->function->is_kernel;
    return is_kernel_parameter ? PTX_SPACE_PARAM : PTX_SPACE_LOCAL;
}

uint32_t decode_function_index(const Decoder *decoder, const PtxFunction *function) {
    const PtxModule *module = decoder->program->module;
    uint32_t index = 0;
    while (module->functions[index] != function)
        ++index;
    return index;
}

Address decode_address(const Decoder *decoder, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_FUNC)
        return (Address){
            .value = isa_function_handle(decode_function_index(decoder, operand->function))};
    const PtxVar *var = operand->var;
    const uint64_t offset = (uint64_t)operand->imm;
    if (var->space == PTX_SPACE_SHARED && var->is_incomplete)
        return decoder->function->is_kernel
                   ? (Address){decoder->function->shared_bytes + offset,
                               decoder->program->has_clusters ? ISA_DO_CTA_ADDRESS : ISA_DO_NONE}
                   : (Address){offset, ISA_DO_SHARED_ADDRESS};
    if (var->space == PTX_SPACE_SHARED && decoder->program->has_clusters)
        return (Address){var->address + offset, ISA_DO_CTA_ADDRESS};
    const bool is_of_module = !var->owner && !var->is_parameter;
    if (decode_var_space(decoder, var) != PTX_SPACE_LOCAL || is_of_module)
        return (Address){.value = var->address + offset};
    if (var->is_incomplete) return (Address){decoder->rest_base + offset, ISA_DO_LOCAL_ADDRESS};
    const uint32_t base = var->space != PTX_SPACE_PARAM ? decoder->local_base
                          : var->is_parameter           ? decoder->formal_base
                                                        : decoder->param_base;
    return (Address){base + var->address + offset, ISA_DO_LOCAL_ADDRESS};
}
