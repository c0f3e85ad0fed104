/* Runs the analyses over a module. */
#include "ptx/analysis.h"

#include <stdlib.h>

/* Limit on the steps of liveness analysis for one module, about a second. Real modules need some
 * hundred thousand steps; only a file made for that purpose needs more. */
static const int64_t max_steps = INT64_C(200000000);

static bool analyse_function(PtxModule *module, PtxFunction *function, bool is_compiled,
                             int64_t *budget, Diag *diag) {
    PtxLiveness liveness;
    ptx_find_blocks(module->arena, function);
    ptx_find_post_dominators(function);
    bool is_found = ptx_find_liveness(function, &liveness, budget);
    if (is_found && is_compiled) {
        const int32_t pressure = liveness.pressure; /* registers are estimated from the order in the
                                                     * text */
        ptx_order(function, &liveness);
        free(liveness.intervals);
        is_found = ptx_find_liveness(function, &liveness, budget);
        liveness.pressure = pressure;
    }
    if (!is_found) {
        diag_error(diag, module->file, function->line, function->column,
                   "'%s' is too complex: its registers are live across too many branches",
                   function->name);
        return false;
    }
    ptx_allocate(function, liveness.intervals);
    function->registers = ptx_estimate_registers(function, liveness.pressure);
    free(liveness.intervals);
    return true;
}

bool ptx_analyse(PtxModule *module, bool is_compiled, Diag *diag) {
    int64_t budget = max_steps;
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *function = module->functions[i];
        if (function->is_defined && !analyse_function(module, function, is_compiled, &budget, diag))
            return false;
    }
    return true;
}
