/* Machine code by ptxas (see the header). */
#include "simulator/assemble.h"

#include <stdio.h>

#include "isa/sass/code.h"
#include "ptxas/ptxas.h"
#include "sass/cubin.h"

bool assemble_is_wanted(const MachineConfig *machine) {
    return machine->sm.instructions == SM_INSTRUCTIONS_MACHINE;
}

static uint32_t architecture_of(const TytoSimulator *simulator) {
    const GpuLimits limits = gpu_limits(simulator->gpu);
    return limits.capability_major * 10 + limits.capability_minor;
}

/* Warns, once, that PTX runs instead of machine code, and why. */
static void tell_fallback(TytoSimulator *simulator, const char *why, Diag *diag) {
    if (simulator->has_told_fallback) return;
    simulator->has_told_fallback = true;
    fprintf(stderr, "tyto: warning: no machine code for sm_%u: PTX runs instead%s\n",
            architecture_of(simulator), why);
    diag_print(diag, stderr);
}

void simulator_tell_newer(TytoSimulator *simulator, const GpuModule *gpu, const char *name) {
    const PtxModule *module = gpu_module_program(gpu)->module;
    const GpuLimits limits = gpu_limits(simulator->gpu);
    const uint32_t architecture = architecture_of(simulator);
    if (module->cubin || (uint32_t)module->target <= architecture || simulator->has_told_newer ||
        (simulator->options && simulator->options->is_quiet))
        return;
    simulator->has_told_newer = true;
    fprintf(
        stderr,
        "tyto: warning: %s is PTX for sm_%d, which a GPU of compute capability %u.%u refuses; it "
        "runs here\n",
        name, module->target, limits.capability_major, limits.capability_minor);
}

void simulator_assemble(TytoSimulator *simulator, GpuImage *images, int count, Arena *arena) {
    if (!assemble_is_wanted(machine_config(simulator->machine))) return;
    if (count == 1 && cubin_is(images->text, images->length)) return;
    Diag *diag = diag_new();
    const uint32_t architecture = architecture_of(simulator);
    const bool is_possible = count == 1 && isa_sass_runs(architecture);
    const PtxasInput input = {images->name, images->text, images->length, architecture};
    size_t size;
    const char *cubin = is_possible ? ptxas_assemble(&input, arena, &size, diag) : NULL;
    const char *lacks = cubin ? isa_sass_lacks(cubin, size, arena) : NULL;
    if (lacks) tell_fallback(simulator, arena_printf(arena, ", as it calls %s", lacks), diag);
    else if (cubin) *images = (GpuImage){images->name, cubin, size};
    else if (!isa_sass_runs(architecture))
        tell_fallback(simulator, ", as Tyto does not execute that code", diag);
    else if (count > 1)
        tell_fallback(simulator, ", as the program is linked from several modules", diag);
    else if (diag_warning_count(diag)) tell_fallback(simulator, "", diag);
    else tell_fallback(simulator, ", as there is no ptxas on the PATH", diag);
    diag_free(diag);
}
