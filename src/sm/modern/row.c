/* Rows of the modern core (see the header). */
#include "sm/modern/row.h"

#include <stdlib.h>

#include "base/arena.h"
#include "sm/modern/assign.h"
#include "sm/op.h"

static ModernPipe pipe_of(const IsaInfo *info, IsaUnit unit) {
    static const uint8_t pipes[ISA_UNITS] = {
        [ISA_UNIT_ALU] = PIPE_ALU,         [ISA_UNIT_FMA] = PIPE_FMA,
        [ISA_UNIT_HALF] = PIPE_FMA,        [ISA_UNIT_DOUBLE] = PIPE_DOUBLE,
        [ISA_UNIT_TENSOR] = PIPE_TENSOR,   [ISA_UNIT_SFU] = PIPE_SFU,
        [ISA_UNIT_UNIFORM] = PIPE_UNIFORM, [ISA_UNIT_MEMORY] = PIPE_SHUFFLE,
        [ISA_UNIT_TEXTURE] = PIPE_SHUFFLE, [ISA_UNIT_BRANCH] = PIPE_CONTROL};
    return info->memory != ISA_MEMORY_NONE ? PIPE_MEMORY : (ModernPipe)pipes[unit];
}

static ModernRoute route_of(const IsaInfo *info, ModernPipe pipe) {
    if (pipe == PIPE_SFU || pipe == PIPE_SHUFFLE) return ROUTE_MIO;
    if (pipe != PIPE_MEMORY) return ROUTE_PIPE;
    if (info->memory == ISA_MEMORY_TEXTURE) return ROUTE_TEXTURE;
    switch (info->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM: return ROUTE_MIO;
    default: return ROUTE_LG;
    }
}

/* The class whose timing in the machine file applies to instructions on this pipe. */
static IsaClass class_of(const SmConfig *config, const IsaInfo *info, ModernPipe pipe) {
    const IsaClass own = (IsaClass)info->op_class;
    const bool is_own = own == ISA_CLASS_BITS || config->ops[own].unit == SM_UNIT_SFU;
    switch (pipe) {
    case PIPE_SFU: return is_own ? own : ISA_CLASS_SFU;
    case PIPE_SHUFFLE: return ISA_CLASS_SHUFFLE;
    default: return own;
    }
}

/* Cycles in which the pipe accepts no other instruction. The uniform data path and branches take
 * one per cycle. */
static uint16_t busy_of(ModernPipe pipe, const SmOp *op) {
    return pipe == PIPE_UNIFORM || pipe == PIPE_CONTROL || pipe == PIPE_MEMORY ? 1 : op->initiation;
}

/* Counts the registers that are read from each bank. */
static void count_reads(ModernRow *row) {
    for (int place = 0; place < ISA_PLACES; place++) {
        const uint8_t reg = row->operand[place];
        if (reg == ISA_NO_REGISTER) continue;
        for (uint8_t word = 0; word < row->words; word++)
            row->reads[(reg + word) % REGISTER_BANKS]++;
    }
}

static ModernRow row_of(const SmConfig *config, const WarpProgram *program,
                        const IsaControl *control, uint32_t pc) {
    const IsaInfo *info = &program->infos[pc];
    const bool is_absorbed = isa_is_absorbed(warp_program_slots(program, pc));
    const ModernPipe pipe = is_absorbed ? PIPE_CONTROL : pipe_of(info, (IsaUnit)control->unit);
    const SmOp op = sm_op_at(config, program, pc, class_of(config, info, pipe));
    ModernRow row = {
        .latency = (uint16_t)(op.latency + sm_op_distance(config)),
        .busy = busy_of(pipe, &op),
        .pipe = (uint8_t)pipe,
        .stall = control->stall || !op.slots.slots ? control->stall : 1,
        .wait_mask = control->wait_mask,
        .waits_for = control->waits_for,
        .at_most = control->at_most,
        .write_counter = control->write_counter,
        .read_counter = control->read_counter,
        .route = (uint8_t)(route_of(info, pipe) & (ROUTES - 1)),
        .is_fixed = pipe <= PIPE_TENSOR && control->write_counter == ISA_NO_COUNTER,
        .slots = op.slots.slots,
        .reuse = control->reuse,
        .words = control->words,
        .operand = {control->operand[0], control->operand[1], control->operand[2]},
        .constant = control->constant,
    };
    if (control->yields && row.stall < 2) row.stall = 2;
    if (pipe >= PIPE_TENSOR) row.words = 0; /* their reads are unknown: no port is reserved */
    count_reads(&row);
    return row;
}

void *modern_rows_new(const SmConfig *config, const WarpProgram *program) {
    ModernRow *rows = base_alloc_lines(program->count * sizeof *rows);
    IsaControl *assigned = program->controls ? NULL : assign_controls(config, program);
    const IsaControl *controls = assigned ? assigned : program->controls;
    for (uint32_t pc = 0; pc < program->count; pc++)
        rows[pc] = row_of(config, program, &controls[pc], pc);
    free(assigned);
    return rows;
}
