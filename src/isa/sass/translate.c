/* Programs of machine code: translates cubins to rows that warps execute (see translate.h). */
#include "isa/sass/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/decode/constants.h"
#include "isa/sass/layout.h"

/* ---- One instruction ---- */

static void begin(Translator *t, uint32_t pc, uint16_t function) {
    const SassInst *sass = &t->program->code->insts[pc];
    t->sass = sass;
    t->pc = pc;
    t->steps = t->rows_used = t->pairs_used = t->words_used = 0;
    t->destinations.count = t->sources.count = t->addresses.count = 0;
    t->is_uniform = sass->form && sass->form->unit == SASS_UNIT_UNIFORM;
    t->refusal = NULL;
    t->inst = (IsaInst){.guard = ISA_PRED_TRUE, .reconverge = ISA_NO_PC};
    t->info = (IsaInfo){.function = function};
    if (sass->guard == SASS_PT) {
        if (sass->guard_is_negated) t->inst.guard = ISA_PRED_FALSE;
        return;
    }
    t->inst.guard = (uint16_t)((sass->guard_is_uniform ? TR_UP0 : TR_P0) + sass->guard);
    if (sass->guard_is_negated) t->inst.flags |= ISA_GUARD_NEGATED;
}

static void add_registers(Translator *t, const TrRegs *list) {
    IsaProgram *program = t->program;
    for (int i = 0; i < list->count; ++i) {
        program->reg_pool =
            base_grow(program->reg_pool, t->reg_count, &t->reg_capacity, sizeof *program->reg_pool);
        program->reg_pool[t->reg_count++] = list->reg[i];
    }
}

/* A single step becomes the instruction itself; several steps become a list. */
static void put_steps(Translator *t) {
    IsaProgram *program = t->program;
    IsaInst *inst = &t->inst;
    if (t->steps == 1 && !t->is_uniform && inst->flow <= ISA_FLOW_STORE) {
        const IsaInst outer = *inst;
        *inst = t->step[0];
        inst->guard = outer.guard;
        inst->flags |= outer.flags;
        inst->flow = outer.flow;
        if (outer.flags & ISA_MEETS) {
            inst->target = outer.target;
            inst->sub = outer.sub;
        }
        return;
    }
    if (!t->steps) return;
    inst->exec = t->table[ISA_DO_SEQUENCE];
    inst->target = t->step_count;
    inst->imm = t->steps;
    inst->sub = t->is_uniform;
    for (uint32_t i = 0; i < t->steps; ++i) {
        program->steps =
            base_grow(program->steps, t->step_count, &t->step_capacity, sizeof *program->steps);
        program->steps[t->step_count++] = t->step[i];
    }
}

static void emit(Translator *t) {
    IsaProgram *program = t->program;
    IsaInfo *info = &t->info;
    put_steps(t);
    info->regs = t->reg_count;
    info->dst_count = t->destinations.count;
    info->src_count = t->sources.count;
    info->address_count = t->addresses.count;
    add_registers(t, &t->destinations);
    add_registers(t, &t->sources);
    add_registers(t, &t->addresses);
    if (t->sass->guard != SASS_PT) {
        const uint32_t first = t->sass->guard_is_uniform ? TR_NUMBER_UP : TR_NUMBER_P;
        const TrRegs guard = {.reg = {{first + t->sass->guard, t->sass->guard}}, .count = 1};
        info->guard_count = 1;
        add_registers(t, &guard);
    }
    program->insts[t->pc] = t->inst;
    program->infos[t->pc] = *info;
    program->controls[t->pc] = tr_control(t->sass);
}

/* By SassOp; NULL: not supported. */
static TranslateOp *const operations[SASS_OPS] = {
#define OP(operation, function) [SASS_OP_##operation] = function,
#include "isa/sass/operations.def"
#undef OP
};

static const char *refusal_of(const Translator *t, const char *function) {
    Text text = {0};
    text_printf(&text, "%s: ", function);
    isa_say_operation(t->program, t->pc, &text);
    text_printf(&text, ": not supported: %s", t->refusal);
    isa_say_source(t->program, t->pc, &text);
    const char *copy = arena_strdup(t->program->arena, text_string(&text));
    text_free(&text);
    return copy;
}

/* The function's kernels are refused. The reason is its first instruction that cannot run. Such an
 * instruction ends the launch if a warp reaches it. */
static void put_trap(Translator *t, IsaFunction *function) {
    if (!function->refusal) function->refusal = refusal_of(t, function->ptx->name);
    t->steps = 0;
    t->inst.flow = ISA_FLOW_TRAP;
    t->inst.exec = NULL;
}

static void translate(Translator *t, uint32_t pc, uint16_t function) {
    begin(t, pc, function);
    TranslateOp *const op = t->sass->form ? operations[t->sass->op] : NULL;
    if (!t->sass->form) tr_refuse(t, "an instruction that is not known");
    else if (t->sass->unknown[0] | t->sass->unknown[1]) tr_refuse(t, "bits of unknown meaning");
    else if (!op) tr_refuse(t, "%s is not supported yet", t->sass->form->name);
    else op(t);
    if (t->refusal) put_trap(t, &t->program->functions[function]);
    emit(t);
}

/* ---- Functions of the system ---- */

/* Calling convention: arguments are in registers from R4 on, 64-bit ones in even-numbered pairs;
 * the result is in R4. */
typedef struct SystemCall {
    PtxBuiltin builtin;
    uint8_t argument[5], result; /* in bytes; 0: none */
} SystemCall;
static const SystemCall system_calls[] = {{PTX_BUILTIN_VPRINTF, {8, 8}, 4},
                                          {PTX_BUILTIN_MALLOC, {8}, 8},
                                          {PTX_BUILTIN_FREE, {8}, 0},
                                          {PTX_BUILTIN_ASSERTFAIL, {8, 8, 4, 8, 8}, 0},
                                          {PTX_BUILTIN_SET_CONDITIONAL, {8, 4}, 0}};
enum { FIRST_ARGUMENT = 4 };

/* The row of a step that holds a value of `bytes` bytes in registers from `number` on. */
static IsaOperand argument_at(Translator *t, uint32_t number, uint32_t bytes) {
    if (bytes == 4) return tr_gpr(t, number);
    IsaInst *step = tr_step(t, ISA_DO_JOIN);
    step->operand[1] = tr_gpr(t, number);
    step->operand[2] = tr_gpr(t, number + 1);
    step->operand[3] = ISA_SINK;
    step->sub = ISA_JOIN_GENERIC;
    return step->operand[0] = tr_scratch_pair(t);
}

/* The steps of a call as one instruction. */
static void put_system_call(Translator *t, const SystemCall *call, IsaCall *list, IsaInst *out) {
    static const SassInst none = {.guard = SASS_PT};
    uint32_t number = FIRST_ARGUMENT;
    t->steps = t->rows_used = t->pairs_used = 0;
    t->is_uniform = false;
    t->sass = &none;
    t->inst = (IsaInst){.guard = ISA_PRED_TRUE};
    for (int i = 0; i < 5 && call->argument[i]; ++i) {
        const uint32_t bytes = call->argument[i];
        number = (uint32_t)bits_align_up(number, bytes / 4);
        list->arguments[list->argument_count++] = (IsaCallValue){
            .is_register = true, .operand = argument_at(t, number, bytes), .size = bytes};
        number += bytes / 4;
    }
    IsaOperand result = tr_gpr(t, FIRST_ARGUMENT);
    if (call->result == 8) result = tr_scratch_pair(t);
    if (call->result)
        list->returns[list->return_count++] =
            (IsaCallValue){.is_register = true, .operand = result, .size = call->result};
    IsaInst *step = tr_step(t, ISA_DO_BUILTIN);
    step->target = call->builtin;
    step->imm = list - t->program->calls;
    if (call->result == 8)
        tr_step3(t, ISA_DO_SPLIT, tr_gpr(t, FIRST_ARGUMENT), tr_gpr(t, FIRST_ARGUMENT + 1), result);
    if (t->steps == 1) tr_step(t, ISA_DO_NOP); /* so that it becomes a list */
    put_steps(t);
    *out = t->inst;
}

static void put_system_calls(Translator *t) {
    enum { CALLS = sizeof system_calls / sizeof system_calls[0] };
    IsaProgram *program = t->program;
    Arena *arena = program->arena;
    IsaInst *builtins = ARENA_ARRAY(arena, IsaInst, PTX_BUILTIN_COUNT);
    memset(builtins, 0, PTX_BUILTIN_COUNT * sizeof *builtins);
    program->calls = base_calloc(CALLS, sizeof *program->calls);
    program->call_count = CALLS;
    for (int i = 0; i < CALLS; ++i) {
        program->calls[i].arguments = ARENA_ARRAY(arena, IsaCallValue, 5);
        program->calls[i].returns = ARENA_ARRAY(arena, IsaCallValue, 1);
        put_system_call(t, &system_calls[i], &program->calls[i],
                        &builtins[system_calls[i].builtin]);
    }
    program->builtins = builtins;
}

/* ---- The program ---- */

/* Marks backward jumps whose loop may see what other threads store (flow/deadlock.c). Machine code
 * does not distinguish volatile loads from shared memory. */
static void find_waiting_loops(IsaProgram *program) {
    uint32_t looks = ISA_NO_PC, may_look = ISA_NO_PC;
    for (uint32_t pc = 0; pc < program->inst_count; ++pc) {
        IsaInst *inst = &program->insts[pc];
        const IsaInfo *info = &program->infos[pc];
        if (info->flags & ISA_LOOKS) looks = pc;
        if (info->memory == ISA_MEMORY_LOAD && info->space == PTX_SPACE_SHARED) may_look = pc;
        if (inst->flow != ISA_FLOW_JUMP || inst->target > pc) continue;
        if (looks != ISA_NO_PC && looks >= inst->target) inst->sub |= ISA_JUMP_LOOKS;
        else if (may_look != ISA_NO_PC && may_look >= inst->target) inst->sub |= ISA_JUMP_MAY_LOOK;
    }
}

/* The most registers that the code gives a thread: a warp may take more than its launch gave. */
static uint32_t most_taken(const IsaProgram *program) {
    uint32_t most = 0;
    for (uint32_t pc = 0; pc < program->inst_count; ++pc) {
        const SassInst *inst = &program->code->insts[pc];
        if (inst->op != SASS_OP_USETMAXREG) continue;
        const uint32_t count = (uint32_t)inst->operand[1].value;
        if (count > most) most = count;
    }
    return most;
}

/* Rows for all uniform registers that the code names, and for those that follow in an operand. */
static uint32_t uniforms_of(const IsaProgram *program) {
    enum { WIDEST = 4 }; /* registers of an operand */
    uint32_t count = TR_UNIFORM;
    for (uint32_t pc = 0; pc < program->inst_count; ++pc) {
        const SassInst *inst = &program->code->insts[pc];
        for (int i = 0; i < inst->operand_count; ++i) {
            const SassOperand *operand = &inst->operand[i];
            const bool is_register = operand->kind == SASS_UREG || operand->kind == SASS_GDESC;
            const uint32_t number = is_register         ? (uint32_t)operand->value
                                    : operand->has_ureg ? operand->ureg
                                                        : SASS_URZ;
            if (number != SASS_URZ && count < number + WIDEST) count = number + WIDEST;
        }
    }
    return count < TR_MOST_UNIFORM ? count : TR_MOST_UNIFORM;
}

static void lay_out_frame(Translator *t) {
    const Cubin *cubin = t->program->code->cubin;
    t->gprs = most_taken(t->program);
    for (uint32_t f = 0; f < cubin->function_count; ++f)
        if (cubin->functions[f].registers > t->gprs) t->gprs = cubin->functions[f].registers;
    if (!t->gprs || t->gprs > SASS_RZ) t->gprs = SASS_RZ;
    t->program->code->gprs = t->gprs;
    t->program->code->uniforms = uniforms_of(t->program);
    t->sink_row = t->gprs + t->program->code->uniforms;
    t->scratch_row = t->sink_row + 2;
    t->pair_row = t->scratch_row + TR_SCRATCH;
    t->barrier_row = t->pair_row + 2 * TR_PAIRS;
    t->return_row = t->barrier_row + TR_BARRIERS;
}

enum {
    STACK_POINTER = 1,      /* R1 */
    OPEN_STACK_BYTES = 1024 /* CUDA's default for cudaLimitStackSize */
};

/* Whether code may move its stack pointer further than is known: it is recursive, or allocates a
 * variable amount. The initial stack pointer is a word of a constant bank. */
static bool has_open_stack(const IsaProgram *program, const IsaFunction *function, uint32_t known) {
    uint64_t frames = 0;
    for (uint32_t pc = function->entry; pc < function->end && pc < program->inst_count; ++pc) {
        const SassInst *inst = &program->code->insts[pc];
        const SassOperand *to = &inst->operand[0];
        bool is_known = false;
        if (!inst->operand_count || to->kind != SASS_REG || to->value != STACK_POINTER) continue;
        for (int i = 1; i < inst->operand_count; ++i) {
            const SassOperand *operand = &inst->operand[i];
            const int32_t number = (int32_t)operand->value;
            is_known |= operand->kind == SASS_CONST || (operand->kind == SASS_IMM && number);
            if (operand->kind == SASS_IMM && number < 0) frames -= (uint64_t)(int64_t)number;
        }
        if (!is_known) return true;
    }
    return frames > known;
}

static void fill_functions(Translator *t) {
    IsaProgram *program = t->program;
    const Cubin *cubin = program->code->cubin;
    const uint32_t rows = t->return_row + 2;
    for (uint32_t f = 0; f < program->function_count; ++f) {
        const CubinFunction *from = &cubin->functions[f];
        IsaFunction *out = &program->functions[f];
        out->ptx = program->module->functions[f];
        out->entry =
            program->code->base_of[from->code_section] + (uint32_t)(from->offset / SASS_INST_BYTES);
        out->end = out->entry + (uint32_t)(from->size / SASS_INST_BYTES);
        out->pred_offset = rows * ISA_ROW_BYTES;
        out->frame_bytes = (uint32_t)bits_align_up(
            out->pred_offset + (TR_WORDS + TR_SCRATCH_WORDS) * sizeof(uint32_t), ISA_ROW_BYTES);
        uint32_t stack =
            from->stack_bytes > from->frame_bytes ? from->stack_bytes : from->frame_bytes;
        if (stack < from->local_bytes) stack = from->local_bytes;
        const bool is_open = from->has_open_stack || has_open_stack(program, out, stack);
        out->local_bytes = (uint32_t)bits_align_up(stack + (is_open ? OPEN_STACK_BYTES : 0), 16);
        out->registers = from->registers;
        out->shared_bytes = from->shared_bytes;
        out->system_shared_bytes = from->system_shared_bytes;
    }
}

/* Between functions, and after the last one. */
static void put_trap_between(IsaProgram *program, uint32_t pc) {
    static const SassInst none = {
        .control = {.stall = 1, .write_counter = SASS_NO_COUNTER, .read_counter = SASS_NO_COUNTER}};
    program->insts[pc] = (IsaInst){.guard = ISA_PRED_TRUE, .flow = ISA_FLOW_TRAP};
    program->controls[pc] = tr_control(&none);
}

static void translate_all(Translator *t) {
    IsaProgram *program = t->program;
    program->insts = base_calloc(program->inst_count + 1, sizeof *program->insts);
    program->infos = base_calloc(program->inst_count + 1, sizeof *program->infos);
    program->controls = base_calloc(program->inst_count + 1, sizeof *program->controls);
    uint16_t *owner = base_calloc(program->inst_count + 1, sizeof *owner);
    memset(owner, 0xff, (program->inst_count + 1) * sizeof *owner);
    for (uint32_t f = 0; f < program->function_count; ++f)
        for (uint32_t pc = program->functions[f].entry;
             pc < program->functions[f].end && pc < program->inst_count; ++pc)
            owner[pc] = (uint16_t)f;
    for (uint32_t pc = 0; pc <= program->inst_count; ++pc) {
        if (owner[pc] != UINT16_MAX) translate(t, pc, owner[pc]);
        else put_trap_between(program, pc);
    }
    free(owner);
    find_waiting_loops(program);
}

/* Bank rows, which are zero until a launch, followed by the immediates. */
static void put_constants(Translator *t) {
    Arena *arena = t->program->arena;
    uint32_t bytes;
    const uint8_t *immediates = constants_rows(t->pool, arena, &bytes);
    t->program->constant_bytes = t->pool_base + bytes;
    t->program->constants =
        arena_alloc_aligned(arena, t->program->constant_bytes + ISA_ROW_BYTES, 64);
    memset(t->program->constants, 0, t->pool_base);
    memcpy(t->program->constants + t->pool_base, immediates, bytes);
}

/* Reads the lines of the source, if they can be read. */
static void read_lines(IsaProgram *program) {
    SassCode *code = program->code;
    Diag *quiet = diag_new();
    if (!cubin_read_lines(code->cubin, false, program->arena, &code->lines, quiet))
        code->lines = (CubinLineTable){0};
    diag_free(quiet);
}

static IsaProgram *new_program(const PtxModule *module) {
    Arena *arena = arena_new();
    IsaProgram *program = ARENA_NEW(arena, IsaProgram);
    program->arena = arena;
    program->module = module;
    program->function_count = module->cubin->function_count;
    program->functions = ARENA_ARRAY(arena, IsaFunction, program->function_count + 1);
    program->code = ARENA_NEW(arena, SassCode);
    program->code->cubin = module->cubin;
    program->code->sm = module->cubin->architecture;
    return program;
}

IsaProgram *isa_translate_variant(const PtxModule *module, const IsaVariant *variant, Diag *diag) {
    IsaProgram *program = new_program(module);
    if (!layout_code(program, diag) || !layout_constants(program, diag)) {
        isa_program_free(program);
        return NULL;
    }
    read_lines(program);
    layout_bank_rows(program);
    Translator t = {.program = program,
                    .table = variant->table,
                    .pool = constants_new(),
                    .pool_base = program->bank_row_count * ISA_ROW_BYTES};
    program->reg_pool = base_grow(NULL, 0, &t.reg_capacity, sizeof *program->reg_pool);
    lay_out_frame(&t);
    fill_functions(&t);
    translate_all(&t);
    put_system_calls(&t);
    put_constants(&t);
    constants_free(t.pool);
    return program;
}
