/* The decoder: converts a checked PTX module to the program that warps execute. Most PTX
 * instructions become one IsaInst. If an instruction other than mov reads a special register, a
 * separate mov is inserted before it. The program points into the module, so the module must
 * outlive it. */
#include "isa/decode/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/decode/constants.h"
#include "isa/sass/code.h"

bool decode_unsupported(Decoder *decoder, const char *format, ...) {
    char reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    const PtxInst *ptx = decoder->ptx;
    if (!decoder->refusal)
        decoder->refusal = arena_printf(
            decoder->program->arena, "%s:%d:%d: %s%s: not supported: %s",
            decoder->program->module->file, ptx->line, ptx->column, ptx_opcode_name(ptx->op),
            ptx->type == PTX_TYPE_NONE ? "" : ptx_type_name(ptx->type), reason);
    return false;
}

void decode_set_handler(Decoder *decoder, IsaHandler handler) {
    decoder->draft.inst.exec = decoder->table[handler];
}

/* ---- Growing arrays ---- */

static void add_registers(Decoder *decoder, const RegList *list) {
    IsaProgram *program = decoder->program;
    for (int i = 0; i < list->count; ++i) {
        program->reg_pool = base_grow(program->reg_pool, decoder->reg_count, &decoder->reg_capacity,
                                      sizeof *program->reg_pool);
        program->reg_pool[decoder->reg_count++] =
            (IsaReg){list->reg[i], (uint32_t)decoder->function->regs[list->reg[i]].ordinal};
    }
}

/* Sets what a timing model must know beyond the form of an instruction. */
static void mark_for_timing(IsaInfo *info, const IsaInst *inst) {
    if (info->flags & ISA_NAMES_ROWS) info->naming_lanes = (uint8_t)(8 * inst->vector);
    if (info->space == PTX_SPACE_PARAM && inst->space == PTX_SPACE_LOCAL)
        info->flags |= ISA_IS_CALL_ARGUMENT;
    if (info->op == PTX_OP_MBARRIER || (info->op == PTX_OP_CP && info->memory == ISA_MEMORY_ATOMIC))
        info->flags |= ISA_IS_PHASE;
}

void decode_emit(Decoder *decoder) {
    IsaProgram *program = decoder->program;
    Draft *draft = &decoder->draft;
    IsaInfo *info = &draft->info;
    info->function = (uint16_t)decoder->function_index;
    info->regs = decoder->reg_count;
    info->dst_count = draft->destinations.count;
    info->src_count = draft->sources.count;
    info->address_count = draft->addresses.count;
    add_registers(decoder, &draft->destinations);
    add_registers(decoder, &draft->sources);
    add_registers(decoder, &draft->addresses);
    if (draft->inst.guard != ISA_PRED_TRUE) {
        info->guard_count = 1;
        const RegList guard = {.reg = {(uint32_t)decoder->ptx->guard}, .count = 1};
        add_registers(decoder, &guard);
    }
    mark_for_timing(info, &draft->inst);
    const uint32_t old_capacity = decoder->inst_capacity;
    program->insts = base_grow(program->insts, program->inst_count, &decoder->inst_capacity,
                               sizeof *program->insts);
    if (decoder->inst_capacity != old_capacity)
        program->infos =
            base_realloc(program->infos, decoder->inst_capacity * sizeof *program->infos);
    program->insts[program->inst_count] = draft->inst;
    program->infos[program->inst_count++] = *info;
}

uint32_t decode_add_target(Decoder *decoder, uint32_t target) {
    IsaProgram *program = decoder->program;
    program->targets = base_grow(program->targets, decoder->target_count, &decoder->target_capacity,
                                 sizeof *program->targets);
    program->targets[decoder->target_count] = target;
    return decoder->target_count++;
}

uint32_t decode_add_wide(Decoder *decoder, IsaOperand operand) {
    IsaProgram *program = decoder->program;
    program->wide = base_grow(program->wide, decoder->wide_count, &decoder->wide_capacity,
                              sizeof *program->wide);
    program->wide[decoder->wide_count] = operand;
    return decoder->wide_count++;
}

uint32_t decode_add_call(Decoder *decoder, const IsaCall *call) {
    IsaProgram *program = decoder->program;
    program->calls = base_grow(program->calls, program->call_count, &decoder->call_capacity,
                               sizeof *program->calls);
    program->calls[program->call_count] = *call;
    return program->call_count++;
}

/* ---- One instruction ---- */

/* The decoder of each opcode; all other opcodes have rows in the table of forms. */
static DecodeOp *const special[PTX_OP_COUNT] = {
    [PTX_OP_ATOM] = decode_atom,
    [PTX_OP_BAR] = decode_barrier,
    [PTX_OP_BRA] = decode_branch,
    [PTX_OP_BRKPT] = decode_end,
    [PTX_OP_BRX] = decode_branch_index,
    [PTX_OP_CALL] = decode_call,
    [PTX_OP_CVT] = decode_cvt,
    [PTX_OP_CVTA] = decode_cvta,
    [PTX_OP_DISCARD] = decode_prefetch,
    [PTX_OP_EXIT] = decode_end,
    [PTX_OP_ISSPACEP] = decode_isspacep,
    [PTX_OP_ISTYPEP] = decode_istypep,
    [PTX_OP_LD] = decode_load,
    [PTX_OP_LDU] = decode_load,
    [PTX_OP_LDMATRIX] = decode_ldmatrix,
    [PTX_OP_CP] = decode_cp,
    [PTX_OP_CLUSTER_BARRIER] = decode_cluster_barrier,
    [PTX_OP_GETCTARANK] = decode_cta_rank,
    [PTX_OP_GRIDDEPCONTROL] = decode_dependency,
    [PTX_OP_ASYNC_STORE] = decode_async_store,
    [PTX_OP_ASYNC_RED] = decode_async_store,
    [PTX_OP_MAPA] = decode_mapa,
    [PTX_OP_MBARRIER] = decode_mbarrier,
    [PTX_OP_CREATEPOLICY] = decode_createpolicy,
    [PTX_OP_APPLYPRIORITY] = decode_prefetch,
    [PTX_OP_MMA] = decode_mma,
    [PTX_OP_MOVMATRIX] = decode_movmatrix,
    [PTX_OP_WMMA] = decode_wmma,
    [PTX_OP_WGMMA] = decode_wgmma,
    [PTX_OP_SETMAXNREG] = decode_setmaxnreg,
    [PTX_OP_STMATRIX] = decode_stmatrix,
    [PTX_OP_TENSORMAP] = decode_tensormap,
    [PTX_OP_MOV] = decode_mov,
    [PTX_OP_PREFETCH] = decode_prefetch,
    [PTX_OP_PREFETCHU] = decode_prefetch,
    [PTX_OP_RED] = decode_atom,
    [PTX_OP_RET] = decode_end,
    [PTX_OP_SET] = decode_compare,
    [PTX_OP_SETP] = decode_compare,
    [PTX_OP_ST] = decode_store,
    [PTX_OP_SULD] = decode_texture,
    [PTX_OP_SUQ] = decode_texture,
    [PTX_OP_SURED] = decode_texture,
    [PTX_OP_SUST] = decode_texture,
    [PTX_OP_TEX] = decode_texture,
    [PTX_OP_TLD4] = decode_texture,
    [PTX_OP_TRAP] = decode_end,
    [PTX_OP_TXQ] = decode_texture,
};

static void draft_clear(Decoder *decoder, const PtxInst *ptx) {
    decoder->draft = (Draft){
        .inst = {.guard = ISA_PRED_TRUE, .reconverge = ISA_NO_PC},
        .info = {.op = (uint16_t)ptx->op, .line = (uint32_t)ptx->line, .loc = (uint32_t)ptx->loc},
    };
    decoder->ptx = ptx;
    decoder->negated = 0;
    decoder->hidden_rows = 0;
    if (ptx->guard < 0) return;
    decoder->draft.inst.guard = (uint16_t)decoder->function->regs[ptx->guard].slot;
    if (ptx->guard_negated) decoder->draft.inst.flags |= ISA_GUARD_NEGATED;
}

void decode_split(Decoder *decoder) {
    decode_emit(decoder);
    const uint32_t hidden = decoder->hidden_rows;
    draft_clear(decoder, decoder->ptx);
    decoder->hidden_rows = hidden;
}

static void decode_instruction(Decoder *decoder, const PtxInst *ptx) {
    draft_clear(decoder, ptx);
    DecodeOp *const decode = special[ptx->op] ? special[ptx->op] : decode_form;
    if (decode(decoder)) decode_emit(decoder);
}

/* The implicit end after the last instruction: a kernel's thread exits, a function returns. */
static void add_implicit_end(Decoder *decoder) {
    const PtxFunction *function = decoder->function;
    const PtxInst end = {.op = function->is_kernel ? PTX_OP_EXIT : PTX_OP_RET,
                         .guard = -1,
                         .line = function->inst_count
                                     ? function->insts[function->inst_count - 1].line
                                     : function->line};
    decode_instruction(decoder, &end);
}

/* ---- One function ---- */

static IsaFormal *decode_formals(Decoder *decoder, const PtxVar *vars, uint16_t count) {
    IsaFormal *formals =
        ARENA_ARRAY(decoder->program->arena, IsaFormal, decode_value_count(vars, count));
    int used = 0;
    for (int i = 0; i < count; ++i) {
        const PtxVar *var = &vars[i];
        for (int k = 0; var->reg >= 0 && k < var->vector; ++k) {
            const PtxReg *reg = &decoder->function->regs[var->reg + k];
            if (reg->type == PTX_PRED)
                formals[used++] = (IsaFormal){.is_predicate = true, .operand = reg->slot};
            else
                formals[used++] = (IsaFormal){.is_register = true,
                                              .operand = reg->slot * ISA_ROW_BYTES,
                                              .size = (uint32_t)ptx_type_bits(reg->type) / 8};
        }
        if (var->reg >= 0) continue;
        if (var->is_incomplete)
            formals[used++] = (IsaFormal){.offset = decoder->rest_base, .is_rest = true};
        else
            formals[used++] = (IsaFormal){.offset = decoder->formal_base + (uint32_t)var->address,
                                          .size = (uint32_t)var->size};
    }
    return formals;
}

/* The greatest alignment of a function's local variables; at least 16, the alignment of the
 * area. */
static uint32_t local_align(const PtxFunction *function) {
    uint32_t align = 16;
    for (uint32_t i = 0; i < function->local_count; ++i)
        if (function->locals[i]->space == PTX_SPACE_LOCAL && function->locals[i]->align > align)
            align = function->locals[i]->align;
    return align;
}

/* Lays out the local area. In a kernel the module's .local variables come first, because a thread's
 * local memory begins with them. Then follow the function's own variables, its parameters and
 * returns, and its call-site parameters. A parameter without a size begins at the end of these. */
static void lay_out_locals(Decoder *decoder, IsaFunction *out) {
    const PtxFunction *function = decoder->function;
    decoder->local_base =
        function->is_kernel
            ? (uint32_t)bits_align_up(decoder->program->module->local_bytes, local_align(function))
            : 0;
    decoder->formal_base = (uint32_t)bits_align_up(decoder->local_base + function->local_bytes, 16);
    const uint32_t formal_bytes = function->is_kernel ? 0 : function->parameter_bytes;
    decoder->param_base = (uint32_t)bits_align_up(decoder->formal_base + formal_bytes, 16);
    out->local_bytes = decoder->param_base + function->param_area_bytes;
    if (function->is_kernel) return;
    decoder->rest_base = (uint32_t)bits_align_up(out->local_bytes, 16);
    if (ptx_has_rest(function->parameters, function->parameter_count))
        out->local_bytes = decoder->rest_base;
    out->parameter_count = decode_value_count(function->parameters, function->parameter_count);
    out->return_count = decode_value_count(function->returns, function->return_count);
    out->parameters = decode_formals(decoder, function->parameters, function->parameter_count);
    out->returns = decode_formals(decoder, function->returns, function->return_count);
}

/* Lays out a frame: the function's rows, the scratch rows that were used, the predicate words, and
 * one more word for discarded predicates. */
static void lay_out_frame(const Decoder *decoder, IsaFunction *out) {
    const uint32_t rows = decoder->scratch_row + decoder->scratch_rows;
    out->pred_offset = rows * ISA_ROW_BYTES;
    out->frame_bytes = (uint32_t)bits_align_up(
        out->pred_offset + (decoder->scratch_pred + 1) * sizeof(uint32_t), ISA_ROW_BYTES);
}

/* Replaces a function that cannot run by a trap, which ends the launch if a warp calls it. */
static void decode_refused(Decoder *decoder, IsaFunction *out, uint32_t first_target) {
    const PtxInst trap = {.op = PTX_OP_TRAP, .guard = -1, .line = decoder->function->line};
    out->refusal = decoder->refusal;
    decoder->program->inst_count = out->entry;
    decoder->target_count = first_target;
    decode_instruction(decoder, &trap);
}

/* A function that calls a refused function is refused too. */
static void refuse_callers(IsaProgram *program) {
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (uint32_t f = 0; f < program->function_count; ++f) {
            IsaFunction *function = &program->functions[f];
            for (uint32_t pc = function->entry; pc < function->end && !function->refusal; ++pc) {
                const IsaInst *inst = &program->insts[pc];
                if (inst->flow != ISA_FLOW_CALL) continue;
                function->refusal = program->functions[inst->target].refusal;
                is_done = is_done && !function->refusal;
            }
        }
    }
}

static void decode_function(Decoder *decoder, uint32_t index) {
    IsaProgram *program = decoder->program;
    const PtxFunction *function = program->module->functions[index];
    IsaFunction *out = &program->functions[index];
    out->ptx = function;
    out->entry = out->end = program->inst_count;
    if (!function->is_defined) return;
    decoder->function = function;
    decoder->function_index = index;
    decoder->scratch_row = (uint32_t)function->row_count;
    decoder->scratch_rows = 0;
    decoder->scratch_pred = (uint32_t)(function->pred_count > 2 ? function->pred_count : 2);
    lay_out_locals(decoder, out);
    decoder->refusal = function->refusal;
    if (decoder->scratch_pred > UINT16_MAX) { /* the width of IsaInst.guard */
        decoder->refusal = arena_printf(
            program->arena, "%s:%d:%d: not supported: more than %d predicates at a time",
            program->module->file, function->line, function->column, UINT16_MAX);
        decoder->scratch_pred = 2;
    }
    out->pc_of = ARENA_ARRAY(program->arena, uint32_t, function->inst_count + 1);
    decoder->pc_of = out->pc_of;
    const uint32_t first_target = decoder->target_count;
    for (int i = 0; i < function->inst_count && !decoder->refusal; ++i) {
        decoder->pc_of[i] = program->inst_count;
        decode_instruction(decoder, &function->insts[i]);
    }
    if (decoder->refusal) decode_refused(decoder, out, first_target);
    decoder->pc_of[function->inst_count] = out->end = program->inst_count;
    add_implicit_end(decoder);
    decode_resolve_targets(decoder, first_target);
    lay_out_frame(decoder, out);
    out->registers = (uint32_t)function->registers;
    out->shared_bytes = function->shared_bytes;
}

/* ---- The program ---- */

/* Whether an instruction can give a thread access to another CTA's shared memory. */
static bool leads_to_cluster(const PtxInst *inst) {
    switch (inst->op) {
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK:
    case PTX_OP_CLUSTER_BARRIER:
    case PTX_OP_ASYNC_STORE:
    case PTX_OP_ASYNC_RED: return true;
    default: return inst->space == PTX_SPACE_CLUSTER || inst->sub2 == PTX_SUB_MULTICAST;
    }
}

static bool has_clusters(const PtxModule *module) {
    for (int f = 0; f < module->function_count; ++f) {
        const PtxFunction *function = module->functions[f];
        for (int32_t i = 0; i < function->inst_count; ++i)
            if (leads_to_cluster(&function->insts[i])) return true;
    }
    return false;
}

IsaProgram *isa_decode_variant(const PtxModule *module, const IsaVariant *variant, Diag *diag) {
    Arena *arena = arena_new();
    IsaProgram *program = ARENA_NEW(arena, IsaProgram);
    const int errors_before = diag_error_count(diag);
    program->arena = arena;
    program->module = module;
    program->has_clusters = has_clusters(module);
    program->function_count = (uint32_t)module->function_count;
    program->functions = ARENA_ARRAY(arena, IsaFunction, module->function_count);
    Decoder decoder = {
        .program = program, .diag = diag, .table = variant->table, .constants = constants_new()};
    program->reg_pool = base_grow(NULL, 0, &decoder.reg_capacity, sizeof *program->reg_pool);
    for (uint32_t i = 0; i < program->function_count; ++i)
        decode_function(&decoder, i);
    refuse_callers(program);
    program->constants = constants_rows(decoder.constants, arena, &program->constant_bytes);
    constants_free(decoder.constants);
    if (diag_error_count(diag) == errors_before) return program;
    isa_program_free(program);
    return NULL;
}

void isa_program_free(IsaProgram *program) {
    if (!program) return;
    free(program->insts);
    free(program->infos);
    free(program->controls);
    free(program->reg_pool);
    free(program->targets);
    free(program->calls);
    free(program->wide);
    free(program->steps);
    free(program->bank_rows);
    isa_sass_free(program->code);
    arena_free(program->arena);
}

uint32_t isa_function_index(const IsaProgram *program, const PtxFunction *function) {
    uint32_t i = 0;
    while (i < program->function_count && program->functions[i].ptx != function)
        i++;
    return i;
}
