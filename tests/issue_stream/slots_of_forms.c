/* slots_of_forms < FORMS: for each form of an instruction, one per line, prints the issue slots of
 * the form alone and the number of the row of issue_stream/lower.def that gives them (from 1; 0: no
 * row, so it takes one slot or is a conversion). The last line is the number of rows. test_slots.py
 * compares them with ptxas. */
#include <stdio.h>
#include <string.h>

#include "issue_stream/lower_cost.c" /* the table itself */
#include "ptx/ptx.h"

static const char HEAD[] = ".version 8.6\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 q) {\n.reg .b16 %h<9>; .reg .b32 %r<9>; "
                           ".reg .b64 %d<9>; .reg .pred %p<9>; .reg .b64 %a; .reg .b32 %t;\n";

/* Number of the row that fits, starting at 1; 0: none. */
static size_t row_of(const PtxInst *inst) {
    if (inst->op == PTX_OP_CVT) return 0;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (fits(&costs[i], inst)) return i + 1;
    return 0;
}

int main(void) {
    char form[512], text[1024];
    while (fgets(form, sizeof form, stdin)) {
        form[strcspn(form, "\n")] = 0;
        int length = snprintf(text, sizeof text, "%s%s;\nret;\n}\n", HEAD, form);
        Diag *diag = diag_new();
        PtxModule *module = ptx_read("form", text, (size_t)length, diag);
        if (!module) {
            fprintf(stderr, "%s\n%s", form, diag_text(diag));
            return 1;
        }
        const PtxInst *inst = &module->functions[0]->insts[0];
        printf("%u %zu\n", lower_cost(inst), row_of(inst));
        ptx_module_free(module);
        diag_free(diag);
    }
    printf("%zu\n", sizeof costs / sizeof *costs);
    return 0;
}
