/* Single accesses outside the instruction handlers: what builtins read, and register dumps. */
#include "isa/launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"

bool isa_generic_read(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address,
                      void *bytes, uint32_t size) {
    const IsaLaunch *launch = context->launch;
    uint64_t shared = address - MEM_SHARED_WINDOW, local = address - MEM_LOCAL_WINDOW;
    uint64_t param = address - MEM_PARAM_WINDOW;
    uint64_t local_end = warp->frames[warp->frame].local_end;
    if (mem_read(context->memory, address, bytes, size)) return true;
    if (shared < launch->shared_bytes && size <= launch->shared_bytes - shared) {
        memcpy(bytes, warp->cta->shared + shared, size);
    } else if (local < local_end && size <= local_end - local) {
        isa_local_read(warp, lane, (uint32_t)local, bytes, size);
    } else if (param < launch->parameter_bytes && size <= launch->parameter_bytes - param) {
        memcpy(bytes, launch->parameters + param, size);
    } else {
        Text where = {0};
        mem_describe(context->memory, address, &where);
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
                  "invalid read of %u byte%s at generic address 0x%" PRIx64 ": %s", size,
                  text_plural(size), address, text_string(&where));
        text_free(&where);
        return false;
    }
    return true;
}

bool isa_generic_write(IsaContext *context, IsaWarp *warp, int lane, uint64_t address,
                       const void *bytes, uint32_t size) {
    const IsaLaunch *launch = context->launch;
    uint64_t shared = address - MEM_SHARED_WINDOW, local = address - MEM_LOCAL_WINDOW;
    uint64_t local_end = warp->frames[warp->frame].local_end;
    if (mem_write(context->memory, address, bytes, size)) return true;
    if (shared < launch->shared_bytes && size <= launch->shared_bytes - shared) {
        memcpy(warp->cta->shared + shared, bytes, size);
    } else if (local < local_end && size <= local_end - local) {
        isa_local_write(warp, lane, (uint32_t)local, bytes, size);
    } else {
        Text where = {0};
        mem_describe(context->memory, address, &where);
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
                  "invalid write of %u byte%s at generic address 0x%" PRIx64 ": %s", size,
                  text_plural(size), address, text_string(&where));
        text_free(&where);
        return false;
    }
    return true;
}

/* One register of all lanes, with the value once when all active lanes agree. */
static void dump_register(const IsaWarp *warp, const PtxReg *reg, Text *out) {
    text_printf(out, "  %-8s %-6s", reg->name, ptx_type_name(reg->type));
    if (reg->type == PTX_PRED) {
        text_printf(out, " lanes 0x%08x\n", warp->preds[reg->slot] & warp->active);
        return;
    }
    bool is_wide = ptx_type_bits(reg->type) == 64;
    int digits = is_wide ? 16 : 8;
    uint64_t values[ISA_LANES];
    for (int i = 0; i < ISA_LANES; i++)
        values[i] = is_wide ? isa_row64(warp, reg->slot * ISA_ROW_BYTES)[i]
                            : isa_row32(warp, reg->slot * ISA_ROW_BYTES)[i];
    int first = bits_lowest32(warp->active);
    bool is_uniform = true;
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

void isa_dump_registers(IsaContext *context, const IsaWarp *warp) {
    const IsaInfo *info = &context->program->infos[warp->pc];
    const IsaFunction *function = &context->program->functions[info->function];
    Text out = {0};
    text_printf(&out, "%s:%u: %s: CTA %" PRIu64 ", warp %u, active lanes 0x%08x, before %s\n",
                context->program->module->file, info->line, function->ptx->name, warp->cta->index,
                warp->index, warp->active, ptx_opcode_name((PtxOpcode)info->op));
    int32_t at = 0; /* PTX instruction of the line; decoding may have put others before it */
    while (at + 1 < function->ptx->inst_count &&
           (uint32_t)function->ptx->insts[at].line < info->line)
        at++;
    for (int32_t r = 0; r < function->ptx->reg_count; r++) {
        const PtxReg *reg = &function->ptx->regs[r];
        bool holds_its_value =
            reg->slot >= 0 && reg->first >= 0 && reg->first < at && at <= reg->last;
        if (holds_its_value) dump_register(warp, reg, &out);
    }
    context->print(context->user, text_string(&out), out.length);
    if (context->launch->has_dumped) *context->launch->has_dumped = true;
    text_free(&out);
}
