/* Steps of machine instructions, and the rows and words that they read and write. */
#include "isa/sass/translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/decode/constants.h"

bool tr_refuse(Translator *t, const char *format, ...) {
    char reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!t->refusal) t->refusal = arena_printf(t->program->arena, "%s", reason);
    return false;
}

/* ---- Steps ---- */

IsaInst *tr_step(Translator *t, IsaHandler handler) {
    if (t->steps == TR_STEPS) {
        tr_refuse(t, "more than %d steps", TR_STEPS);
        t->steps--;
    }
    IsaInst *step = &t->step[t->steps++];
    *step = (IsaInst){.exec = t->table[handler], .guard = ISA_PRED_TRUE, .reconverge = ISA_NO_PC};
    return step;
}

IsaOperand tr_scratch(Translator *t) {
    if (t->rows_used == TR_SCRATCH) {
        tr_refuse(t, "more than %d rows of scratch", TR_SCRATCH);
        t->rows_used--;
    }
    return (IsaOperand)((t->scratch_row + t->rows_used++) * ISA_ROW_BYTES);
}

IsaOperand tr_scratch_pair(Translator *t) {
    if (t->pairs_used == TR_PAIRS) {
        tr_refuse(t, "more than %d pairs of scratch", TR_PAIRS);
        t->pairs_used--;
    }
    return (IsaOperand)((t->pair_row + 2 * t->pairs_used++) * ISA_ROW_BYTES);
}

IsaOperand tr_scratch_word(Translator *t) {
    if (t->words_used == TR_SCRATCH_WORDS) {
        tr_refuse(t, "more than %d words of scratch", TR_SCRATCH_WORDS);
        t->words_used--;
    }
    return (IsaOperand)(TR_WORDS + t->words_used++);
}

IsaOperand tr_constant(Translator *t, uint32_t value) {
    return (IsaOperand)(t->pool_base + constants_row(t->pool, value, false)) | 1;
}

void tr_add_wide(Translator *t, IsaOperand operand) {
    IsaProgram *program = t->program;
    program->wide =
        base_grow(program->wide, t->wide_count, &t->wide_capacity, sizeof *program->wide);
    program->wide[t->wide_count++] = operand;
}

/* ---- Registers ---- */

static void note(TrRegs *list, uint32_t number, uint32_t ordinal) {
    if (list->count < TR_REGS) list->reg[list->count++] = (IsaReg){number, ordinal};
}

IsaOperand tr_gpr(const Translator *t, uint32_t number) {
    /* registers that the function lacks use the row after the last, which is scratch */
    return (IsaOperand)((number < t->gprs ? number : t->sink_row) * ISA_ROW_BYTES);
}
static IsaOperand uniform(const Translator *t, uint32_t number) {
    const uint32_t uniforms = t->program->code->uniforms;
    return (IsaOperand)((number < uniforms ? t->gprs + number : t->sink_row) * ISA_ROW_BYTES);
}

IsaOperand tr_register(Translator *t, const SassOperand *operand, uint32_t add) {
    const uint32_t number = (uint32_t)operand->value + add;
    if (operand->kind == SASS_UREG) {
        if (operand->value == SASS_URZ) return tr_constant(t, 0);
        note(&t->sources, TR_NUMBER_UNIFORM + number, number);
        return uniform(t, number);
    }
    if (operand->value == SASS_RZ) return tr_constant(t, 0);
    note(&t->sources, number, number);
    return tr_gpr(t, number);
}

/* The row of a word in a constant bank. */
static IsaOperand bank_row(Translator *t, uint32_t bank, uint32_t offset) {
    const IsaProgram *program = t->program;
    uint32_t low = 0, high = program->bank_row_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const IsaBankRow *row = &program->bank_rows[middle];
        if (row->bank < bank || (row->bank == bank && row->offset < offset)) low = middle + 1;
        else high = middle;
    }
    const IsaBankRow *found = &program->bank_rows[low];
    if (low == program->bank_row_count || found->bank != bank || found->offset != offset) {
        tr_refuse(t, "a constant as operand of this form");
        return tr_constant(t, 0);
    }
    return (IsaOperand)found->row | 1;
}

bool tr_is_indexed(const SassOperand *operand) {
    return operand->reg != SASS_RZ || (operand->has_ureg && operand->ureg != SASS_URZ);
}

IsaOperand tr_word_row(Translator *t, const SassOperand *operand, uint32_t add) {
    switch ((SassOperandKind)operand->kind) {
    case SASS_REG:
    case SASS_UREG: return tr_register(t, operand, add);
    case SASS_CONST:
        if (!tr_is_indexed(operand))
            return bank_row(t, operand->bank, (uint32_t)operand->value + 4 * add);
        tr_refuse(t, "a constant by index as operand");
        return tr_constant(t, 0);
    case SASS_F64:
    case SASS_IMM:
        return tr_constant(t, add ? (uint32_t)((uint64_t)operand->value >> 32)
                                  : (uint32_t)operand->value);
    case SASS_F32:
    case SASS_BF16X2:
    case SASS_F16X2: return tr_constant(t, add ? 0 : (uint32_t)operand->value);
    default: tr_refuse(t, "an operand of this kind"); return tr_constant(t, 0);
    }
}

IsaOperand tr_row(Translator *t, const SassOperand *operand) { return tr_word_row(t, operand, 0); }

void tr_pair(Translator *t, const SassOperand *operand, IsaOperand *low, IsaOperand *high) {
    *low = tr_word_row(t, operand, 0);
    *high = tr_word_row(t, operand, 1);
}

int64_t tr_signs(const SassOperand *operand) {
    return (operand->is_negated ? ISA_SIGN_NEGATIVE : 0) |
           (operand->is_absolute ? ISA_SIGN_ABSOLUTE : 0);
}

IsaOperand tr_float(Translator *t, const SassOperand *operand) {
    const IsaOperand row = tr_row(t, operand);
    const int64_t signs = tr_signs(operand);
    if (!signs) return row;
    IsaInst *step = tr_step2(t, ISA_DO_SIGN_F32, tr_scratch(t), row);
    step->imm = signs;
    return step->operand[0];
}

static IsaOperand joined(Translator *t, const SassOperand *operand, IsaHandler handler) {
    IsaOperand low, high;
    tr_pair(t, operand, &low, &high);
    IsaInst *step = tr_step(t, handler);
    step->operand[1] = low;
    step->operand[2] = high;
    step->operand[3] = ISA_SINK;
    return step->operand[0] = tr_scratch_pair(t);
}

IsaOperand tr_double(Translator *t, const SassOperand *operand) {
    const IsaOperand pair = joined(t, operand, ISA_DO_JOIN_F64);
    t->step[t->steps - 1].imm = tr_signs(operand);
    return pair;
}

IsaOperand tr_joined(Translator *t, const SassOperand *operand) {
    return joined(t, operand, ISA_DO_JOIN);
}

IsaOperand tr_to_register(Translator *t, const SassOperand *operand, uint32_t add) {
    const uint32_t number = (uint32_t)operand->value + add;
    if (operand->kind == SASS_UREG) {
        if (operand->value == SASS_URZ) return (IsaOperand)(t->sink_row * ISA_ROW_BYTES);
        note(&t->destinations, TR_NUMBER_UNIFORM + number, number);
        return uniform(t, number);
    }
    if (operand->value == SASS_RZ) return (IsaOperand)(t->sink_row * ISA_ROW_BYTES);
    note(&t->destinations, number, number);
    return tr_gpr(t, number);
}

IsaOperand tr_to(Translator *t, const SassOperand *operand) {
    return tr_to_register(t, operand, 0);
}

void tr_split_to(Translator *t, const SassOperand *operand, IsaOperand pair) {
    const IsaOperand low = tr_to_register(t, operand, 0), high = tr_to_register(t, operand, 1);
    tr_step3(t, ISA_DO_SPLIT, low, high, pair);
}

/* ---- Predicates ---- */

IsaOperand tr_word(Translator *t, const SassOperand *operand, bool *negated) {
    *negated = operand->is_negated;
    if (operand->value == SASS_PT) return ISA_PRED_TRUE;
    const bool is_uniform = operand->kind == SASS_UPRED;
    note(&t->sources, (is_uniform ? TR_NUMBER_UP : TR_NUMBER_P) + (uint32_t)operand->value,
         (uint32_t)operand->value);
    return (IsaOperand)((is_uniform ? TR_UP0 : TR_P0) + operand->value);
}

IsaOperand tr_word_to(Translator *t, const SassOperand *operand) {
    const bool is_uniform = operand->kind == SASS_UPRED;
    if (operand->value == SASS_PT) return is_uniform ? TR_UP_SINK : TR_P_SINK;
    note(&t->destinations, (is_uniform ? TR_NUMBER_UP : TR_NUMBER_P) + (uint32_t)operand->value,
         (uint32_t)operand->value);
    return (IsaOperand)((is_uniform ? TR_UP0 : TR_P0) + operand->value);
}

IsaRound tr_round(const Translator *t) {
    static const IsaRound round[] = {ISA_ROUND_NEAREST, ISA_ROUND_DOWN, ISA_ROUND_UP,
                                     ISA_ROUND_ZERO};
    return round[tr_mod(t, SASS_MOD_ROUND) & 3];
}

IsaOperand tr_barrier(const Translator *t, const SassOperand *operand) {
    return (IsaOperand)((t->barrier_row + ((uint32_t)operand->value & (TR_BARRIERS - 1))) *
                        ISA_ROW_BYTES);
}
