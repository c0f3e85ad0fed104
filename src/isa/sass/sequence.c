/* Machine instructions that consist of several steps (see translate.h). */
#include "isa/exec/handlers.h"
#include "isa/launch.h"

void isa_exec_SEQUENCE(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const IsaInst *step = &context->program->steps[inst->target], *end = step + inst->imm;
    const uint32_t lanes = inst->sub ? UINT32_MAX : mask;
    for (; step != end && !context->fault.is_set; step++)
        step->exec(context, warp, step, lanes);
}

void isa_exec_BUILTIN(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    context->changes++;
    isa_builtin_call(context, warp, inst, mask);
}
