/* Converts the control information of machine code to the timing model's terms. */
#include "isa/sass/translate.h"

#include <assert.h>

static_assert((int)ISA_UNITS == (int)SASS_UNITS && (int)ISA_UNIT_BRANCH == (int)SASS_UNIT_BRANCH &&
                  (int)ISA_UNIT_UNIFORM == (int)SASS_UNIT_UNIFORM,
              "both lists have the same units");
static_assert((int)ISA_NO_COUNTER == (int)SASS_NO_COUNTER, "both name no counter alike");
static_assert((int)ISA_NO_REGISTER == (int)SASS_RZ, "RZ is not read from the register file");

/* The constant bank word that is an operand; ISA_INDEXED_CONSTANT if a register selects it; 0:
 * none. */
static uint32_t constant_of(const SassInst *inst) {
    for (int i = 0; i < inst->operand_count; i++) {
        const SassOperand *operand = &inst->operand[i];
        if (operand->kind != SASS_CONST) continue;
        if (tr_is_indexed(operand)) return ISA_INDEXED_CONSTANT;
        return isa_constant((uint64_t)operand->bank << ISA_BANK_SHIFT | (uint16_t)operand->value);
    }
    return 0;
}

/* Sets which registers are read at which position. */
static void put_operands(IsaControl *control, const SassInst *inst) {
    for (int i = 0; i < inst->operand_count; i++) {
        const SassOperand *operand = &inst->operand[i];
        const int place = operand->place - 1;
        if (operand->kind != SASS_REG || place < 0 || place >= ISA_PLACES) continue;
        control->operand[place] = (uint8_t)operand->value;
        if (operand->is_reused) control->reuse |= (uint8_t)(1u << place);
    }
}

/* DEPBAR.LE SB1, 2 waits until counter 1 is at most 2. */
static void put_depbar(IsaControl *control, const SassInst *inst) {
    if (inst->op != SASS_OP_DEPBAR || !inst->modifier[SASS_MOD_DEPBAR]) return;
    control->waits_for = (uint8_t)inst->operand[0].value;
    control->at_most = (uint8_t)inst->operand[1].value;
}

IsaControl tr_control(const SassInst *inst) {
    const SassControl *from = &inst->control;
    const uint8_t unit = inst->form ? inst->form->unit : SASS_UNIT_BRANCH;
    IsaControl control = {.stall = from->stall,
                          .yields = from->yields,
                          .write_counter = from->write_counter,
                          .read_counter = from->read_counter,
                          .wait_mask = from->wait_mask,
                          .waits_for = ISA_NO_COUNTER,
                          .unit = unit,
                          .words = unit == SASS_UNIT_DOUBLE ? 2 : 1,
                          .operand = {ISA_NO_REGISTER, ISA_NO_REGISTER, ISA_NO_REGISTER}};
    if (unit != SASS_UNIT_MEMORY) control.constant = constant_of(inst);
    put_operands(&control, inst);
    put_depbar(&control, inst);
    return control;
}
