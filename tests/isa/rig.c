#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Rig *rig_new(const char *line, const IsaVariant *variant) {
    char text[1024];
    const int length =
        snprintf(text, sizeof text,
                 ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
                 ".reg .b16 %%h<8>; .reg .b32 %%r<8>; .reg .b64 %%d<8>; .reg .pred %%p<8>;\n"
                 "%s\nret;\n}\n",
                 line);
    Rig *rig = base_calloc(1, sizeof *rig);
    Diag *diag = diag_new();
    rig->module = ptx_read("line", text, (size_t)length, diag);
    if (rig->module && ptx_link(&rig->module, 1, diag))
        rig->program = isa_decode_variant(rig->module, variant, diag);
    if (!rig->program) {
        printf("%s\n%s", line, diag_text(diag));
        diag_free(diag);
        rig_free(rig);
        return NULL;
    }
    diag_free(diag);
    rig->launch = (IsaLaunch){.program = rig->program,
                              .function = &rig->program->functions[0],
                              .grid = {7, 5, 3},
                              .block = {8, 4, 2},
                              .threads = 64,
                              .warps = 2,
                              .ctas = 105,
                              .stack_bytes = 4096,
                              .sms = 4,
                              .warps_per_sm = 48};
    isa_cta_start(&rig->cta, &rig->launch, 38); /* CTA (3, 0, 1) */
    rig->warp = &rig->cta.warps[1];
    rig->context = (IsaContext){.program = rig->program, .launch = &rig->launch, .cycle = 1000};
    return rig;
}

void rig_free(Rig *rig) {
    isa_cta_free(&rig->cta);
    isa_program_free(rig->program);
    ptx_module_free(rig->module);
    free(rig);
}

static const PtxReg *find_reg(const Rig *rig, const char *name) {
    const PtxFunction *function = rig->module->functions[0];
    for (int i = 0; i < function->reg_count; ++i)
        if (strcmp(function->regs[i].name, name) == 0 && function->regs[i].slot >= 0)
            return &function->regs[i];
    return NULL;
}

void *rig_row(const Rig *rig, const char *name) {
    const PtxReg *reg = find_reg(rig, name);
    return reg ? rig->warp->base[0] + (size_t)reg->slot * ISA_ROW_BYTES : NULL;
}

uint32_t *rig_pred(const Rig *rig, const char *name) {
    const PtxReg *reg = find_reg(rig, name);
    return reg ? &rig->warp->preds[reg->slot] : NULL;
}

void rig_run(Rig *rig, uint32_t mask) {
    const uint32_t end = rig->program->inst_count - 2; /* without the ret and the implicit exit */
    for (uint32_t pc = 0; pc < end; ++pc) {
        const IsaInst *inst = &rig->program->insts[pc];
        rig->warp->pc = pc;
        if (inst->exec) inst->exec(&rig->context, rig->warp, inst, mask);
    }
}
