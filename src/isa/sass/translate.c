/* Programs of machine code: cubins to rows that warps execute (see translate.h). */
#include "isa/sass/translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
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

/* Room for one more of `count` items; returns the array, moved if need be. */
static void *make_room(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes) {
    if (count < *capacity) return items;
    *capacity = *capacity ? *capacity * 2 : 256;
    return base_realloc(items, *capacity * item_bytes);
}

void tr_add_wide(Translator *t, IsaOperand operand) {
    IsaProgram *program = t->program;
    program->wide =
        make_room(program->wide, t->wide_count, &t->wide_capacity, sizeof *program->wide);
    program->wide[t->wide_count++] = operand;
}

/* ---- Registers ---- */

static void note(TrRegs *list, uint32_t number, uint32_t ordinal) {
    if (list->count < TR_REGS) list->reg[list->count++] = (IsaReg){number, ordinal};
}

static IsaOperand gpr(const Translator *t, uint32_t number) {
    /* one that the function does not have: the row behind the last, which is scratch */
    return (IsaOperand)((number < t->gprs ? number : t->sink_row) * ISA_ROW_BYTES);
}
static IsaOperand uniform(const Translator *t, uint32_t number) {
    return (IsaOperand)((t->gprs + (number & (TR_UNIFORM - 1))) * ISA_ROW_BYTES);
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
    return gpr(t, number);
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

static bool is_indexed(const SassOperand *operand) {
    return operand->reg != SASS_RZ || (operand->has_ureg && operand->ureg != SASS_URZ);
}

static IsaOperand word_of(Translator *t, const SassOperand *operand, uint32_t add) {
    switch ((SassOperandKind)operand->kind) {
    case SASS_REG:
    case SASS_UREG: return tr_register(t, operand, add);
    case SASS_CONST:
        if (!is_indexed(operand))
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

IsaOperand tr_row(Translator *t, const SassOperand *operand) { return word_of(t, operand, 0); }

void tr_pair(Translator *t, const SassOperand *operand, IsaOperand *low, IsaOperand *high) {
    *low = word_of(t, operand, 0);
    *high = word_of(t, operand, 1);
}

static int64_t signs_of(const SassOperand *operand) {
    return (operand->is_negated ? ISA_SIGN_NEGATIVE : 0) |
           (operand->is_absolute ? ISA_SIGN_ABSOLUTE : 0);
}

IsaOperand tr_float(Translator *t, const SassOperand *operand) {
    const IsaOperand row = tr_row(t, operand);
    const int64_t signs = signs_of(operand);
    if (!signs) return row;
    IsaInst *step = tr_step(t, ISA_DO_SIGN_F32);
    step->operand[1] = row;
    step->imm = signs;
    return step->operand[0] = tr_scratch(t);
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
    t->step[t->steps - 1].imm = signs_of(operand);
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
    return gpr(t, number);
}

IsaOperand tr_to(Translator *t, const SassOperand *operand) {
    return tr_to_register(t, operand, 0);
}

void tr_split_to(Translator *t, const SassOperand *operand, IsaOperand pair) {
    const IsaOperand low = tr_to_register(t, operand, 0), high = tr_to_register(t, operand, 1);
    IsaInst *step = tr_step(t, ISA_DO_SPLIT);
    step->operand[0] = low;
    step->operand[1] = high;
    step->operand[2] = pair;
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

IsaOperand tr_barrier(const Translator *t, const SassOperand *operand) {
    return (IsaOperand)((t->barrier_row + ((uint32_t)operand->value & (TR_BARRIERS - 1))) *
                        ISA_ROW_BYTES);
}

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
    if (sass->guard == SASS_PT && !sass->guard_is_negated) return;
    t->inst.guard = sass->guard == SASS_PT
                        ? ISA_PRED_TRUE
                        : (uint16_t)((sass->guard_is_uniform ? TR_UP0 : TR_P0) + sass->guard);
    if (sass->guard_is_negated) t->inst.flags |= ISA_GUARD_NEGATED;
}

static void add_registers(Translator *t, const TrRegs *list) {
    IsaProgram *program = t->program;
    for (int i = 0; i < list->count; ++i) {
        program->reg_pool =
            make_room(program->reg_pool, t->reg_count, &t->reg_capacity, sizeof *program->reg_pool);
        program->reg_pool[t->reg_count++] = list->reg[i];
    }
}

/* One step is the instruction itself; several are a list. */
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
            make_room(program->steps, t->step_count, &t->step_capacity, sizeof *program->steps);
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
}

static TranslateOp *find_op(uint16_t op) {
    TranslateOp *(*const kinds[])(uint16_t) = {tr_arithmetic, tr_convert, tr_memory, tr_flow,
                                               tr_tensor,     tr_texture, tr_other};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
        if (kinds[i](op)) return kinds[i](op);
    return NULL;
}

/* An instruction that cannot run ends the launch, should a warp get there. */
static void put_trap(Translator *t) {
    t->steps = 0;
    t->inst.flow = ISA_FLOW_TRAP;
    t->inst.exec = NULL;
}

static void translate(Translator *t, uint32_t pc, uint16_t function) {
    begin(t, pc, function);
    TranslateOp *const op = t->sass->form ? find_op(t->sass->op) : NULL;
    if (!t->sass->form) tr_refuse(t, "an instruction that is not known");
    else if (t->sass->unknown[0] | t->sass->unknown[1]) tr_refuse(t, "bits of unknown meaning");
    else if (!op) tr_refuse(t, "%s is not supported yet", t->sass->form->name);
    else op(t);
    if (t->refusal) {
        char text[128];
        IsaFunction *out = &t->program->functions[function];
        sass_print(t->sass, t->program->code->offset_of[pc], text, sizeof text);
        if (!out->refusal)
            out->refusal =
                arena_printf(t->program->arena, "%s: /*%04x*/ %s: not supported: %s",
                             out->ptx->name, t->program->code->offset_of[pc], text, t->refusal);
        put_trap(t);
    }
    emit(t);
}

/* ---- Constants in banks ---- */

static int by_place(const void *a, const void *b) {
    const IsaBankRow *x = a, *y = b;
    if (x->bank != y->bank) return x->bank < y->bank ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Rows for every word that operands name, and the three behind it, which wide ones are. */
static void collect_bank_rows(IsaProgram *program) {
    const SassCode *code = program->code;
    uint32_t count = 0, capacity = 0;
    IsaBankRow *rows = NULL;
    for (uint32_t pc = 0; pc < program->inst_count; ++pc) {
        IsaBankRow handle = {0};
        if (tr_bank_of_handle(&code->insts[pc], &handle.bank, &handle.offset)) {
            rows = make_room(rows, count, &capacity, sizeof *rows);
            rows[count++] = handle;
        }
        for (int i = 0; i < code->insts[pc].operand_count; ++i) {
            const SassOperand *operand = &code->insts[pc].operand[i];
            if (operand->kind != SASS_CONST || is_indexed(operand)) continue;
            const bool is_load =
                code->insts[pc].op == SASS_OP_LDC || code->insts[pc].op == SASS_OP_ULDC;
            for (uint32_t word = 0; word < (is_load ? 4u : 2u); ++word) {
                rows = make_room(rows, count, &capacity, sizeof *rows);
                rows[count++] = (IsaBankRow){.bank = operand->bank,
                                             .offset = (uint32_t)operand->value + 4 * word};
            }
        }
    }
    if (count) qsort(rows, count, sizeof *rows, by_place);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!kept || by_place(&rows[kept - 1], &rows[i])) rows[kept++] = rows[i];
    for (uint32_t i = 0; i < kept; ++i)
        rows[i].row = i * ISA_ROW_BYTES;
    program->bank_rows = rows;
    program->bank_row_count = kept;
}

/* ---- Relocations ---- */

/* What lies where: addresses that relocations ask for. */
typedef struct Resolver {
    const IsaProgram *program;
    const PtxModule *module;
} Resolver;

static bool resolve(void *context, const CubinSymbol *symbol, CubinReference what,
                    uint64_t *value) {
    const Resolver *resolver = context;
    const SassCode *code = resolver->program->code;
    *value = 0;
    if (what == CUBIN_REFER_CONSTANT) {
        *value = symbol->offset;
        return true;
    }
    if (symbol->section == CUBIN_NONE) { /* of the system */
        const PtxBuiltin builtin = ptx_find_builtin(symbol->name);
        *value = builtin == PTX_BUILTIN_COUNT ? 0 : ISA_BUILTIN_ADDRESS + 16 * (uint64_t)builtin;
        return builtin != PTX_BUILTIN_COUNT || symbol->is_weak;
    }
    if (symbol->space == CUBIN_SPACE_CODE) {
        *value = (uint64_t)code->base_of[symbol->section] * SASS_INST_BYTES + symbol->offset;
        return true;
    }
    if (symbol->space == CUBIN_SPACE_SHARED) {
        *value = symbol->offset;
        return true;
    }
    const PtxVar *var = ptx_find_var(resolver->module, symbol->name);
    if (var) *value = var->address;
    return var != NULL;
}

/* ---- Functions of the system ---- */

/* How they get their arguments: registers from R4 on, 64-bit ones at even numbers; results in R4.
 */
typedef struct SystemCall {
    PtxBuiltin builtin;
    uint8_t argument[5], result; /* bytes, 0: none */
} SystemCall;
static const SystemCall system_calls[] = {{PTX_BUILTIN_VPRINTF, {8, 8}, 4},
                                          {PTX_BUILTIN_MALLOC, {8}, 8},
                                          {PTX_BUILTIN_FREE, {8}, 0},
                                          {PTX_BUILTIN_ASSERTFAIL, {8, 8, 4, 8, 8}, 0}};
enum { FIRST_ARGUMENT = 4 };

/* A value of so many bytes in registers from `number` on: where a step has it. */
static IsaOperand argument_at(Translator *t, uint32_t number, uint32_t bytes) {
    if (bytes == 4) return gpr(t, number);
    IsaInst *step = tr_step(t, ISA_DO_JOIN);
    step->operand[1] = gpr(t, number);
    step->operand[2] = gpr(t, number + 1);
    step->operand[3] = ISA_SINK;
    step->sub = ISA_JOIN_GENERIC;
    return step->operand[0] = tr_scratch_pair(t);
}

/* The steps of a call, as one instruction. */
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
    IsaOperand result = gpr(t, FIRST_ARGUMENT);
    if (call->result == 8) result = tr_scratch_pair(t);
    if (call->result)
        list->returns[list->return_count++] =
            (IsaCallValue){.is_register = true, .operand = result, .size = call->result};
    IsaInst *step = tr_step(t, ISA_DO_BUILTIN);
    step->target = call->builtin;
    step->imm = list - t->program->calls;
    if (call->result == 8) {
        step = tr_step(t, ISA_DO_SPLIT);
        step->operand[0] = gpr(t, FIRST_ARGUMENT);
        step->operand[1] = gpr(t, FIRST_ARGUMENT + 1);
        step->operand[2] = result;
    }
    if (t->steps == 1) tr_step(t, ISA_DO_NOP); /* so that it is a list */
    put_steps(t);
    *out = t->inst;
}

static void put_system_calls(Translator *t, Arena *arena) {
    enum { CALLS = sizeof system_calls / sizeof system_calls[0] };
    IsaProgram *program = t->program;
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

/* Lays out all code sections one behind the other. */
static bool lay_out(IsaProgram *program, const Cubin *cubin, Arena *arena, Diag *diag) {
    SassCode *code = program->code;
    const PtxModule *module = program->module;
    Resolver resolver = {program, module};
    code->base_of = ARENA_ARRAY(arena, uint32_t, cubin->section_count);
    uint32_t count = 0;
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        if (cubin->sections[s].space != CUBIN_SPACE_CODE || !cubin->sections[s].bytes) continue;
        code->base_of[s] = count;
        count += (uint32_t)(cubin->sections[s].size / SASS_INST_BYTES);
    }
    code->insts = ARENA_ARRAY(arena, SassInst, count + 1);
    uint16_t *section_of = ARENA_ARRAY(arena, uint16_t, count + 1);
    uint32_t *offset_of = ARENA_ARRAY(arena, uint32_t, count + 1);
    program->inst_count = count;
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        const CubinSection *section = &cubin->sections[s];
        if (section->space != CUBIN_SPACE_CODE || !section->bytes) continue;
        unsigned char *bytes = arena_alloc(arena, section->size + 1);
        memcpy(bytes, section->bytes, section->size);
        if (!cubin_relocate(cubin, (uint16_t)s, bytes, resolve, &resolver, diag)) return false;
        for (uint32_t i = 0; i < section->size / SASS_INST_BYTES; ++i) {
            const uint32_t pc = code->base_of[s] + i;
            uint64_t words[2];
            memcpy(words, bytes + (size_t)i * SASS_INST_BYTES, sizeof words);
            sass_decode(code->sm, words, &code->insts[pc]);
            section_of[pc] = (uint16_t)s;
            offset_of[pc] = i * SASS_INST_BYTES;
        }
    }
    code->section_of = section_of;
    code->offset_of = offset_of;
    return true;
}

enum { BANK_BYTES = 1 << 16 }; /* of a constant bank, by the width of its offsets */

/* Adds a part of a bank. False after a message: it does not lie in one. */
static bool add_part(IsaProgram *program, SassBankPart part, uint64_t offset, uint64_t size,
                     Diag *diag) {
    SassCode *code = program->code;
    if (offset > BANK_BYTES || size > BANK_BYTES - offset) {
        diag_error(diag, program->module->file, 0, 0,
                   "%llu bytes at byte %llu of constant bank %u, which has %d",
                   (unsigned long long)size, (unsigned long long)offset, part.bank, BANK_BYTES);
        return false;
    }
    part.offset = (uint32_t)offset;
    part.size = (uint32_t)size;
    code->parts = make_room(code->parts, code->part_count, &code->part_capacity, sizeof part);
    code->parts[code->part_count++] = part;
    return true;
}

/* Texture and surface references of a kernel: words of bank 0 behind its parameters, which hold
 * what the variables do. */
static bool collect_references(IsaProgram *program, uint32_t section, Diag *diag) {
    SassCode *code = program->code;
    const CubinSection *from = &code->cubin->sections[section];
    for (uint32_t i = 0; i < from->relocation_count; ++i) {
        const CubinRelocation *relocation = &from->relocations[i];
        const CubinReference refers = cubin_relocation_reference(relocation->kind);
        const char *name = code->cubin->symbols[relocation->symbol].name;
        for (uint32_t f = 0; f < code->cubin->function_count; ++f) {
            const CubinFunction *function = &code->cubin->functions[f];
            if (function->code_section != from->code || !function->is_kernel) continue;
            if (refers == CUBIN_REFER_SAMPLER)
                program->functions[f].refusal = arena_printf(
                    program->arena, "%s: not supported: the sampler %s apart from its texture",
                    function->name, name);
            const PtxVar *var = ptx_find_var(program->module, name);
            if (!var || (refers != CUBIN_REFER_TEXTURE && refers != CUBIN_REFER_SURFACE)) continue;
            const SassBankPart part = {
                .var = var, .size = sizeof(uint32_t), .function = (uint16_t)f};
            if (!add_part(program, part, relocation->offset, part.size, diag)) return false;
        }
    }
    return true;
}

/* Bytes of banks: sections of the compiler's constants, variables of the program. */
static bool collect_parts(IsaProgram *program, Arena *arena, Diag *diag) {
    SassCode *code = program->code;
    const Cubin *cubin = code->cubin;
    const PtxModule *module = program->module;
    Resolver resolver = {program, module};
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        const CubinSection *section = &cubin->sections[s];
        if (section->bank == 0 && !collect_references(program, s, diag)) return false;
        if (section->bank <= 0 || !section->bytes) continue;
        unsigned char *bytes = arena_alloc(arena, section->size + 1);
        memcpy(bytes, section->bytes, section->size);
        if (!cubin_relocate(cubin, (uint16_t)s, bytes, resolve, &resolver, diag)) return false;
        SassBankPart part = {
            .bytes = bytes, .bank = (uint8_t)section->bank, .function = SASS_EVERY_FUNCTION};
        if (section->code == CUBIN_NONE && !add_part(program, part, 0, section->size, diag))
            return false;
        for (uint32_t f = 0; f < cubin->function_count && section->code != CUBIN_NONE; ++f) {
            if (cubin->functions[f].code_section != section->code || !cubin->functions[f].is_kernel)
                continue;
            part.function = (uint16_t)f;
            if (!add_part(program, part, 0, section->size, diag)) return false;
        }
    }
    for (uint32_t i = 0; i < cubin->symbol_count; ++i) {
        const CubinSymbol *symbol = &cubin->symbols[i];
        if (symbol->space != CUBIN_SPACE_CONSTANT || symbol->kind != CUBIN_SYMBOL_OBJECT ||
            symbol->section == CUBIN_NONE || cubin->sections[symbol->section].bank <= 0)
            continue;
        const PtxVar *var = ptx_find_var(module, symbol->name);
        if (!var) continue;
        const SassBankPart part = {.var = var,
                                   .bank = (uint8_t)cubin->sections[symbol->section].bank,
                                   .function = SASS_EVERY_FUNCTION};
        if (!add_part(program, part, symbol->offset, symbol->size, diag)) return false;
    }
    return true;
}

/* Data sections with the addresses in them, now that these are known. */
static bool relocate_data(IsaProgram *program, Diag *diag) {
    const Cubin *cubin = program->code->cubin;
    Resolver resolver = {program, program->module};
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        const CubinSection *section = &cubin->sections[s];
        unsigned char *copy = program->module->cubin_data[s];
        if (copy && section->relocation_count &&
            !cubin_relocate(cubin, (uint16_t)s, copy, resolve, &resolver, diag))
            return false;
    }
    return true;
}

/* Backward jumps whose loop may see what other threads store (flow/deadlock.c). */
static void find_waiting_loops(IsaProgram *program) {
    uint32_t looks = ISA_NO_PC;
    for (uint32_t pc = 0; pc < program->inst_count; ++pc) {
        IsaInst *inst = &program->insts[pc];
        if (program->infos[pc].flags & ISA_LOOKS) looks = pc;
        if (inst->flow != ISA_FLOW_JUMP || inst->target > pc) continue;
        if (looks != ISA_NO_PC && looks >= inst->target) inst->sub |= ISA_JUMP_LOOKS;
    }
}

static void lay_out_frame(Translator *t) {
    t->sink_row = t->gprs + TR_UNIFORM;
    t->scratch_row = t->sink_row + 2;
    t->pair_row = t->scratch_row + TR_SCRATCH;
    t->barrier_row = t->pair_row + 2 * TR_PAIRS;
}

static void fill_functions(Translator *t) {
    IsaProgram *program = t->program;
    const Cubin *cubin = program->code->cubin;
    const uint32_t rows = t->barrier_row + TR_BARRIERS;
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
        out->local_bytes = (uint32_t)bits_align_up(
            from->stack_bytes > from->frame_bytes ? from->stack_bytes : from->frame_bytes, 16);
        out->registers = from->registers;
        out->shared_bytes = from->shared_bytes;
    }
}

static void translate_all(Translator *t) {
    IsaProgram *program = t->program;
    program->insts = base_calloc(program->inst_count + 1, sizeof *program->insts);
    program->infos = base_calloc(program->inst_count + 1, sizeof *program->infos);
    const IsaInst trap = {.guard = ISA_PRED_TRUE, .flow = ISA_FLOW_TRAP};
    uint16_t *owner = base_calloc(program->inst_count + 1, sizeof *owner);
    memset(owner, 0xff, (program->inst_count + 1) * sizeof *owner);
    for (uint32_t f = 0; f < program->function_count; ++f)
        for (uint32_t pc = program->functions[f].entry;
             pc < program->functions[f].end && pc < program->inst_count; ++pc)
            owner[pc] = (uint16_t)f;
    for (uint32_t pc = 0; pc <= program->inst_count; ++pc) {
        if (owner[pc] != UINT16_MAX) translate(t, pc, owner[pc]);
        else program->insts[pc] = trap; /* between functions, and behind the last */
    }
    free(owner);
    find_waiting_loops(program);
}

/* Bank rows, zero until a launch, and behind them the immediates. */
static void put_constants(Translator *t, Arena *arena) {
    uint32_t bytes;
    const uint8_t *immediates = constants_rows(t->pool, arena, &bytes);
    t->program->constant_bytes = t->pool_base + bytes;
    t->program->constants =
        arena_alloc_aligned(arena, t->program->constant_bytes + ISA_ROW_BYTES, 64);
    memset(t->program->constants, 0, t->pool_base);
    memcpy(t->program->constants + t->pool_base, immediates, bytes);
}

IsaProgram *isa_translate_variant(const PtxModule *module, const IsaVariant *variant, Diag *diag) {
    const Cubin *cubin = module->cubin;
    Arena *arena = arena_new();
    IsaProgram *program = ARENA_NEW(arena, IsaProgram);
    program->arena = arena;
    program->module = module;
    program->function_count = cubin->function_count;
    program->functions = ARENA_ARRAY(arena, IsaFunction, cubin->function_count + 1);
    program->code = ARENA_NEW(arena, SassCode);
    program->code->cubin = cubin;
    program->code->sm = cubin->architecture;
    Translator t = {.program = program, .table = variant->table, .pool = constants_new()};
    program->reg_pool = make_room(NULL, 0, &t.reg_capacity, sizeof *program->reg_pool);
    bool is_ok = lay_out(program, cubin, arena, diag) && collect_parts(program, arena, diag) &&
                 relocate_data(program, diag);
    if (is_ok) {
        Diag *quiet = diag_new(); /* lines that cannot be read are no lines */
        if (!cubin_read_lines(cubin, false, arena, &program->code->lines, quiet))
            program->code->lines = (CubinLineTable){0};
        diag_free(quiet);
        for (uint32_t f = 0; f < cubin->function_count; ++f)
            if (cubin->functions[f].registers > t.gprs) t.gprs = cubin->functions[f].registers;
        if (!t.gprs || t.gprs > SASS_RZ) t.gprs = SASS_RZ;
        collect_bank_rows(program);
        t.pool_base = program->bank_row_count * ISA_ROW_BYTES;
        lay_out_frame(&t);
        fill_functions(&t);
        translate_all(&t);
        put_system_calls(&t, arena);
        put_constants(&t, arena);
    }
    constants_free(t.pool);
    if (is_ok) return program;
    isa_program_free(program);
    return NULL;
}
