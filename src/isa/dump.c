/* Prints a warp's registers at a place in its program (--dump-registers). */
#include <inttypes.h>
#include <stdio.h>

#include "base/bits.h"
#include "isa/launch.h"
#include "isa/sass/code.h"
#include "isa/sass/translate.h"

/* Prints 32 or 64 bits per active lane; prints the value once if all lanes have the same. */
static void dump_values(const IsaWarp *warp, IsaOperand row, bool is_wide, Text *out) {
    const int digits = is_wide ? 16 : 8, first = bits_lowest32(warp->active);
    uint64_t values[ISA_LANES];
    bool is_uniform = true;
    for (int i = 0; i < ISA_LANES; i++)
        values[i] = is_wide ? isa_row64(warp, row)[i] : isa_row32(warp, row)[i];
    for (int i = 0; i < ISA_LANES; i++)
        if (warp->active >> i & 1 && values[i] != values[first]) is_uniform = false;
    if (is_uniform) {
        text_printf(out, " 0x%0*" PRIx64 " in every active lane\n", digits, values[first]);
        return;
    }
    for (int i = 0; i < ISA_LANES; i++) {
        if (i && i % 8 == 0) text_add(out, "\n                 ");
        if (warp->active >> i & 1) text_printf(out, " %0*" PRIx64, digits, values[i]);
        else text_printf(out, " %*s", digits, "-");
    }
    text_add(out, "\n");
}

static void dump_predicate(const IsaWarp *warp, uint32_t word, Text *out) {
    text_printf(out, " lanes 0x%08x\n", warp->preds[word] & warp->active);
}

/* ---- PTX ---- */

static void dump_ptx_register(const IsaWarp *warp, const PtxReg *reg, Text *out) {
    text_printf(out, "  %-8s %-6s", reg->name, ptx_type_name(reg->type));
    if (reg->type == PTX_PRED) dump_predicate(warp, (uint32_t)reg->slot, out);
    else
        dump_values(warp, (IsaOperand)(reg->slot * ISA_ROW_BYTES), ptx_type_bits(reg->type) == 64,
                    out);
}

/* Prints the registers of the function that hold their value at that place. */
static void dump_ptx(const PtxFunction *function, const IsaWarp *warp, uint32_t line, Text *out) {
    int32_t at = 0; /* PTX instruction of the line; decoding may insert others before it */
    while (at + 1 < function->inst_count && (uint32_t)function->insts[at].line < line)
        at++;
    for (int32_t r = 0; r < function->reg_count; r++) {
        const PtxReg *reg = &function->regs[r];
        if (reg->slot >= 0 && reg->first >= 0 && reg->first < at && at <= reg->last)
            dump_ptx_register(warp, reg, out);
    }
}

/* ---- Machine code ---- */

static void dump_machine_rows(const IsaWarp *warp, const char *prefix, uint32_t first,
                              uint32_t count, Text *out) {
    for (uint32_t r = 0; r < count; r++) {
        char name[16];
        snprintf(name, sizeof name, "%s%u", prefix, r);
        text_printf(out, "  %-8s %-6s", name, ".b32");
        dump_values(warp, (IsaOperand)((first + r) * ISA_ROW_BYTES), false, out);
    }
}

static void dump_machine_predicates(const IsaWarp *warp, const char *prefix, uint32_t first,
                                    Text *out) {
    for (uint32_t p = 0; p < SASS_PT; p++) {
        text_printf(out, "  %s%u%*s %-6s", prefix, p, (int)(7 - strlen(prefix)), "", ".pred");
        dump_predicate(warp, first + p, out);
    }
}

/* Prints the kernel's registers, all uniform ones except URZ, and the predicates. */
static void dump_machine(const IsaProgram *program, const PtxFunction *function,
                         const IsaWarp *warp, Text *out) {
    const uint32_t gprs = program->code->gprs, registers = (uint32_t)function->registers;
    dump_machine_rows(warp, "R", 0, registers < gprs ? registers : gprs, out);
    dump_machine_rows(warp, "UR", gprs, program->code->uniforms - 1, out);
    dump_machine_predicates(warp, "P", TR_P0, out);
    dump_machine_predicates(warp, "UP", TR_UP0, out);
}

/* ---- Both ---- */

uint32_t isa_dump_place(const IsaProgram *program, uint32_t pc) {
    return program->code ? program->code->offset_of[pc] : program->infos[pc].line;
}

void isa_dump_registers(IsaContext *context, const IsaWarp *warp) {
    const IsaProgram *program = context->program;
    const IsaInfo *info = &program->infos[warp->pc];
    const PtxFunction *function = program->functions[info->function].ptx;
    Text out = {0};
    text_add(&out, program->module->file);
    if (!program->code) text_printf(&out, ":%u", info->line);
    text_printf(&out, ": %s: CTA %" PRIu64 ", warp %u, active lanes 0x%08x, before ",
                function->name, warp->cta->index, warp->index, warp->active);
    if (program->code) isa_say_operation(program, warp->pc, &out);
    else text_add(&out, ptx_opcode_name((PtxOpcode)info->op));
    text_add(&out, "\n");
    if (program->code) dump_machine(program, function, warp, &out);
    else dump_ptx(function, warp, info->line, &out);
    context->print(context->user, text_string(&out), out.length);
    if (context->launch->has_dumped) *context->launch->has_dumped = true;
    text_free(&out);
}
