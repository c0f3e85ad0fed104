/* Reading, linking and analysing a PTX file with any bytes ends with a module or with errors. What
 * a module guarantees must hold: every index is in range. A NUL byte in the input separates two
 * modules to link. Texts of odd length are processed in a compiler's order. */
#include "base/text.h"
#include "ptx/ptx.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void check_operand(const PtxFunction *f, const PtxOperand *operand) {
    require(operand->reg >= -1 && operand->reg < f->reg_count);
    if (operand->kind == PTX_OPERAND_REG) require(f->regs[operand->reg].slot >= 0);
    if (operand->kind == PTX_OPERAND_LABEL)
        require(operand->target >= 0 && operand->target <= f->inst_count);
    for (int i = 0; i < operand->count; i++)
        check_operand(f, &operand->items[i]);
}

static void check_function(const PtxFunction *f) {
    for (int32_t i = 0; i < f->inst_count; i++) {
        const PtxInst *inst = &f->insts[i];
        require(inst->reconverge >= -1 && inst->reconverge < f->inst_count);
        require(inst->guard >= -1 && inst->guard < f->reg_count);
        for (int k = 0; k < inst->operand_count; k++)
            check_operand(f, &inst->operands[k]);
    }
    int32_t next = 0;
    for (int32_t b = 0; b < f->block_count; b++) {
        const PtxBlock *block = &f->blocks[b];
        require(block->first == next && block->last >= block->first);
        require(block->post_dominator >= 0 && block->post_dominator <= f->block_count);
        for (int i = 0; i < block->successor_count; i++)
            require(block->successors[i] >= 0 && block->successors[i] <= f->block_count);
        next = block->last + 1;
    }
    require(next == f->inst_count);
    for (int32_t r = 0; r < f->reg_count; r++) {
        bool is_pred = f->regs[r].type == PTX_PRED;
        require(f->regs[r].slot < (is_pred ? f->pred_count : f->row_count));
    }
}

static void check_module(const PtxModule *module) {
    Text dot = {0};
    for (int i = 0; i < module->function_count; i++)
        check_function(module->functions[i]);
    ptx_write_dot(module, NULL, &dot);
    require(dot.length > 0);
    text_free(&dot);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Diag *diag = diag_new();
    const uint8_t *cut = size ? memchr(bytes, '\0', size) : NULL;
    size_t first = cut ? (size_t)(cut - bytes) : size;
    PtxModule *(*const read)(const char *, const char *, size_t, Diag *) =
        size % 2 ? ptx_read_compiled : ptx_read;
    PtxModule *modules[2] = {read("a.ptx", (const char *)bytes, first, diag), NULL};
    int count = modules[0] ? 1 : 0;
    if (modules[0] && cut)
        modules[1] = read("b.ptx", (const char *)cut + 1, size - first - 1, diag);
    if (modules[1]) count = 2;
    require(modules[0] || diag_error_count(diag) > 0);
    if (count > 0 && ptx_link(modules, count, diag)) {
        check_module(modules[0]);
    } else {
        require(diag_error_count(diag) > 0 && strlen(diag_text(diag)) > 0);
    }
    ptx_module_free(modules[0]);
    ptx_module_free(modules[1]);
    diag_free(diag);
    return 0;
}
