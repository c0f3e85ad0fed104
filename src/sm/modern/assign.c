/* Assigns control bits to code that has none (see the header). */
#include "sm/modern/assign.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bits.h"
#include "sm/op.h"

enum {
    MOST_STALL = 15,   /* cycles; an instruction that takes longer gets a counter */
    WRITE_COUNTERS = 4 /* counters for results; the others are for sources that are read late */
};

/* What is known about a register. */
typedef struct Known {
    uint64_t ready;    /* time in the block at which its result of fixed latency is available */
    uint8_t counters;  /* counters that its results may use, in the whole program; one bit each */
    uint8_t readers;   /* the same for instructions that may read it late */
    uint32_t waited;   /* block in which `counters` were last waited for and not used again since;
                          0: none */
    uint32_t was_read; /* the same for `readers` */
} Known;

typedef struct Assigner {
    const SmConfig *config;
    const WarpProgram *program;
    IsaControl *controls;
    Known *known; /* by register */
    uint32_t block;
    uint64_t time;             /* time in the block at which the next instruction issues */
    uint64_t last_ready;       /* time at which all fixed-latency results of the block are
                                  available */
    uint32_t last_raised;      /* counters that the last instruction raises */
    uint32_t writers, readers; /* counters assigned so far */
} Assigner;

static const IsaReg *regs_of(const Assigner *a, const IsaInfo *info) {
    return &a->program->regs[info->regs];
}
static uint32_t sources_of(const IsaInfo *info) {
    return (uint32_t)info->src_count + info->address_count + info->guard_count;
}

/* ---- Properties of an instruction ---- */

static IsaUnit unit_of(const SmConfig *config, const IsaInfo *info) {
    if (info->memory != ISA_MEMORY_NONE) return ISA_UNIT_MEMORY;
    if (info->op_class == ISA_CLASS_SHUFFLE) return ISA_UNIT_MEMORY;
    if (info->op_class == ISA_CLASS_MATRIX) return ISA_UNIT_TENSOR;
    if (info->flags & (ISA_IS_BRANCH | ISA_IS_BARRIER | ISA_IS_EXIT | ISA_IS_CALL | ISA_IS_RET))
        return ISA_UNIT_BRANCH;
    switch (config->ops[info->op_class].unit) {
    case SM_UNIT_SFU: return ISA_UNIT_SFU;
    case SM_UNIT_DP: return ISA_UNIT_DOUBLE;
    case SM_UNIT_INT: return ISA_UNIT_ALU;
    case SM_UNIT_TENSOR: return ISA_UNIT_TENSOR;
    default: return ISA_UNIT_FMA;
    }
}

/* Cycles until its result is available, as rows hold them. */
static uint32_t latency_of(const Assigner *a, uint32_t pc) {
    const IsaClass class = (IsaClass)a->program->infos[pc].op_class;
    return sm_op_at(a->config, a->program, pc, class).latency + sm_op_distance(a->config);
}

static bool is_absorbed(const Assigner *a, uint32_t pc) {
    return isa_is_absorbed(warp_program_slots(a->program, pc));
}

/* Whether its results come at an unknown time, or later than a stall count can express. */
static bool needs_counter(const Assigner *a, uint32_t pc) {
    const IsaInfo info = warp_program_info(a->program, pc);
    if (!info.dst_count || is_absorbed(a, pc)) return false;
    return info.memory != ISA_MEMORY_NONE || latency_of(a, pc) > MOST_STALL;
}

/* Whether it may read its sources after it has issued, so that they must not be overwritten
 * before. */
static bool reads_late(const Assigner *a, uint32_t pc) {
    const IsaInfo *info = &a->program->infos[pc];
    return info->memory != ISA_MEMORY_NONE && sources_of(info) && !is_absorbed(a, pc);
}

/* ---- First pass: counters of registers ---- */

static void name_counters(Assigner *a, uint32_t pc) {
    const IsaInfo row = warp_program_info(a->program, pc), *info = &row;
    const IsaReg *regs = regs_of(a, info);
    IsaControl *control = &a->controls[pc];
    if (needs_counter(a, pc)) {
        control->write_counter = (uint8_t)(a->writers++ % WRITE_COUNTERS);
        for (uint32_t i = 0; i < info->dst_count; i++)
            a->known[regs[i].number].counters |= (uint8_t)(1u << control->write_counter);
    }
    if (!reads_late(a, pc)) return;
    control->read_counter =
        (uint8_t)(WRITE_COUNTERS + a->readers++ % (ISA_COUNTERS - WRITE_COUNTERS));
    for (uint32_t i = info->dst_count; i < info->dst_count + sources_of(info); i++)
        a->known[regs[i].number].readers |= (uint8_t)(1u << control->read_counter);
}

/* The result of an instruction without a slot becomes available with its sources, so it inherits
 * their counters. Called twice, because a loop may contain the instructions in another order. */
static void inherit_counters(Assigner *a) {
    for (uint32_t pc = 0; pc < a->program->count; pc++) {
        const IsaInfo *info = &a->program->infos[pc];
        const IsaReg *regs = regs_of(a, info);
        uint8_t counters = 0;
        if (!is_absorbed(a, pc)) continue;
        for (uint32_t i = info->dst_count; i < info->dst_count + sources_of(info); i++)
            counters |= a->known[regs[i].number].counters;
        for (uint32_t i = 0; i < info->dst_count; i++)
            a->known[regs[i].number].counters |= counters;
    }
}

/* ---- Second pass: what each instruction waits for ---- */

/* Makes the instruction wait until no result for the register is pending. */
static void wait_for_result(Assigner *a, IsaControl *control, uint32_t number) {
    Known *known = &a->known[number];
    if (known->waited != a->block) control->wait_mask |= known->counters;
    known->waited = a->block;
}

static void wait_for_readers(Assigner *a, IsaControl *control, uint32_t number) {
    Known *known = &a->known[number];
    if (known->was_read != a->block) control->wait_mask |= known->readers;
    known->was_read = a->block;
}

/* Makes the instruction before the one at `pc` stall until `needs`, so that the one at `pc` issues
 * then. */
static void stall_before(Assigner *a, uint32_t pc, uint64_t needs) {
    if (needs <= a->time || !pc) return;
    a->controls[pc - 1].stall += (uint8_t)(needs - a->time);
    a->time = needs;
}

static void note_results(Assigner *a, uint32_t pc) {
    const IsaInfo row = warp_program_info(a->program, pc), *info = &row;
    const IsaReg *regs = regs_of(a, info);
    const bool is_counted = a->controls[pc].write_counter != ISA_NO_COUNTER;
    const uint64_t ready = a->time + (is_counted ? 0 : latency_of(a, pc));
    for (uint32_t i = 0; i < info->dst_count; i++) {
        Known *known = &a->known[regs[i].number];
        known->ready = ready;
        if (is_counted) known->waited = 0;
    }
    if (info->dst_count && ready > a->last_ready) a->last_ready = ready;
}

/* Records that sources which it reads late must not be overwritten before. */
static void note_readers(Assigner *a, uint32_t pc) {
    const IsaInfo row = warp_program_info(a->program, pc), *info = &row;
    const IsaReg *regs = regs_of(a, info);
    if (a->controls[pc].read_counter == ISA_NO_COUNTER) return;
    for (uint32_t i = info->dst_count; i < info->dst_count + sources_of(info); i++)
        a->known[regs[i].number].was_read = 0;
}

/* An instruction without a slot waits for nothing; the instructions that read its result wait for
 * its sources instead. */
static void pass_on(Assigner *a, uint32_t pc) {
    const IsaInfo row = warp_program_info(a->program, pc), *info = &row;
    const IsaReg *regs = regs_of(a, info);
    uint64_t ready = 0;
    bool has_waited = true;
    for (uint32_t i = info->dst_count; i < info->dst_count + sources_of(info); i++) {
        const Known *known = &a->known[regs[i].number];
        has_waited &= !known->counters || known->waited == a->block;
        if (known->ready > ready) ready = known->ready;
    }
    for (uint32_t i = 0; i < info->dst_count; i++) {
        Known *known = &a->known[regs[i].number];
        known->ready = ready;
        known->waited = has_waited ? a->block : 0;
    }
}

/* Whether the instruction ends a block. */
static bool ends_block(const IsaInfo *info) {
    return (info->flags & (ISA_IS_BRANCH | ISA_IS_EXIT | ISA_IS_CALL | ISA_IS_RET)) != 0;
}

static void start_block(Assigner *a) {
    a->block++;
    a->time = a->last_ready = 0;
}

/* Ends a block: its last instruction, the one before `pc`, stalls until all results are
 * available. */
static void end_block(Assigner *a, uint32_t pc) {
    stall_before(a, pc, a->last_ready);
    start_block(a);
}

/* The time at which all fixed-latency results that it reads are available. */
static uint64_t needs_of(const Assigner *a, const IsaInfo *info) {
    const IsaReg *regs = regs_of(a, info);
    uint64_t needs = 0;
    for (uint32_t i = info->dst_count; i < info->dst_count + sources_of(info); i++)
        if (a->known[regs[i].number].ready > needs) needs = a->known[regs[i].number].ready;
    return needs;
}

static uint32_t raised_by(const IsaControl *control) {
    const uint32_t all = 1u << control->write_counter | 1u << control->read_counter;
    return all & ((1u << ISA_COUNTERS) - 1);
}

static void assign(Assigner *a, uint32_t pc) {
    const IsaInfo row = warp_program_info(a->program, pc), *info = &row;
    const IsaReg *regs = regs_of(a, info);
    IsaControl *control = &a->controls[pc];
    const uint32_t slots = warp_program_slots(a->program, pc).slots;
    if (is_absorbed(a, pc)) {
        pass_on(a, pc);
        return;
    }
    for (uint32_t i = 0; i < info->dst_count + sources_of(info); i++)
        wait_for_result(a, control, regs[i].number);
    for (uint32_t i = 0; i < info->dst_count; i++)
        wait_for_readers(a, control, regs[i].number);
    const bool is_next = control->wait_mask & a->last_raised;
    stall_before(a, pc, a->time + is_next); /* a raised counter is visible two cycles after issue */
    stall_before(a, pc, needs_of(a, info));
    note_results(a, pc);
    note_readers(a, pc);
    control->stall = (uint8_t)(slots < MOST_STALL ? slots : MOST_STALL);
    a->time += control->stall;
    a->last_raised = control->stall < 2 ? raised_by(control) : 0;
}

static void init_control(const Assigner *a, uint32_t pc) {
    a->controls[pc] = (IsaControl){.write_counter = ISA_NO_COUNTER,
                                   .read_counter = ISA_NO_COUNTER,
                                   .waits_for = ISA_NO_COUNTER,
                                   .unit = (uint8_t)unit_of(a->config, &a->program->infos[pc]),
                                   .words = 1,
                                   .operand = {ISA_NO_REGISTER, ISA_NO_REGISTER, ISA_NO_REGISTER}};
}

IsaControl *assign_controls(const SmConfig *config, const WarpProgram *program) {
    Assigner a = {.config = config,
                  .program = program,
                  .controls = base_calloc(program->count + 1, sizeof *a.controls),
                  .known = base_calloc(program->registers + 1, sizeof *a.known)};
    for (uint32_t pc = 0; pc < program->count; pc++) {
        init_control(&a, pc);
        name_counters(&a, pc);
    }
    inherit_counters(&a);
    inherit_counters(&a);
    start_block(&a);
    for (uint32_t pc = 0; pc < program->count; pc++) {
        const bool is_leader = program->leaders && bits_get(program->leaders, pc);
        if (is_leader || (pc && ends_block(&program->infos[pc - 1]))) end_block(&a, pc);
        assign(&a, pc);
    }
    free(a.known);
    return a.controls;
}
