/* Loads modules: from PTX text to a program whose variables are in device memory. */
#include "engine/launch/gpu_internal.h"
#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "engine/observe/watch.h"
#include "isa/exec/handlers.h"
#include "isa/sass/code.h"
#include "memory/texture.h"

static bool lives_in_device_memory(const PtxVar *var) {
    return var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST ||
           var->space == PTX_SPACE_TEX;
}

/* Called for every variable that needs device memory. The first image contains the variables of all
 * images. */
typedef void VisitVar(GpuModule *module, PtxVar *var, Diag *diag);

static void visit_variables(GpuModule *module, VisitVar *visit, Diag *diag) {
    const PtxModule *all = module->images[0];
    for (int v = 0; v < all->var_count; v++)
        if (lives_in_device_memory(all->vars[v]) && all->vars[v]->linkage != PTX_EXTERN)
            visit(module, all->vars[v], diag);
}

/* The address that a variable must have; 0: any. */
static uint64_t place_of(const GpuModule *module, const PtxVar *var) {
    for (size_t i = 0; i < module->place_count && var->space == PTX_SPACE_GLOBAL; i++)
        if (strcmp(module->places[i].name, var->name) == 0) return module->places[i].address;
    return 0;
}

static void allocate_variable(GpuModule *module, PtxVar *var, Diag *diag) {
    DeviceMemory *memory = module->gpu->memory;
    MemKind kind = var->space == PTX_SPACE_CONST ? MEM_KIND_CONST : MEM_KIND_GLOBAL;
    const uint64_t place = place_of(module, var);
    if (place) var->address = mem_adopt(memory, place, var->size, var->name) ? place : 0;
    else var->address = mem_alloc(memory, var->size, var->align, kind, var->name);
    if (!var->address && place) {
        diag_error(diag, module->images[0]->file, var->line, var->column,
                   "variable %s: the host memory at 0x%llx cannot also be device memory", var->name,
                   (unsigned long long)place);
        return;
    }
    if (!var->address) {
        diag_error(diag, module->images[0]->file, var->line, var->column,
                   "variable %s: no room for its %llu bytes in device memory", var->name,
                   (unsigned long long)var->size);
        return;
    }
    if (module->variable_count == module->variable_capacity) {
        module->variable_capacity = module->variable_capacity ? 2 * module->variable_capacity : 16;
        module->variables =
            base_realloc(module->variables, module->variable_capacity * sizeof *module->variables);
    }
    module->variables[module->variable_count++] = var->address;
}

/* The settings of a sampler variable. The modes are those of the PTX ISA, table of samplers.
 * clamp_ogl, which is between two others and which CUDA's own samplers lack, is treated as
 * clamp_to_edge. */
static uint64_t sampler_value(const PtxSampler *sampler) {
    static const MemAddressMode modes[] = {MEM_ADDRESS_WRAP, MEM_ADDRESS_MIRROR, MEM_ADDRESS_CLAMP,
                                           MEM_ADDRESS_CLAMP, MEM_ADDRESS_BORDER};
    MemAddressMode mode[3];
    for (int axis = 0; axis < 3; axis++)
        mode[axis] = modes[sampler->mode[axis]];
    return mem_sampler_pack((sampler->is_linear ? MEM_SAMPLER_IS_LINEAR : 0u) |
                                (sampler->is_unnormalised ? MEM_SAMPLER_IS_FORCED_OFF : 0u),
                            mode);
}

/* The address that a piece of an initializer writes. */
static uint64_t init_address(const GpuModule *module, const PtxInit *init) {
    uint64_t value = init->addend;
    if (init->var) {
        value += init->var->address;
        if (init->is_generic && init->var->space == PTX_SPACE_SHARED) value += MEM_SHARED_WINDOW;
    } else if (init->function) {
        value += isa_function_handle(isa_function_index(module->program, init->function));
    }
    return init->byte == 255 ? value : value >> (8 * init->byte) & 0xff;
}

static void initialise_variable(GpuModule *module, PtxVar *var, Diag *diag) {
    (void)diag;
    DeviceMemory *memory = module->gpu->memory;
    mem_zero(memory, var->address, var->size); /* PTX ISA: uninitialized memory is zero */
    if (var->opaque == PTX_OPAQUE_SAMPLER) {
        const uint64_t value = sampler_value(&var->sampler);
        mem_write(memory, var->address, &value, sizeof value);
    }
    for (uint32_t i = 0; i < var->init_count; i++) {
        const PtxInit *init = &var->inits[i];
        uint64_t address = init->bytes ? 0 : init_address(module, init);
        mem_write(memory, var->address + init->offset,
                  init->bytes ? (const void *)init->bytes : &address, init->size);
    }
}

static bool read_images(GpuModule *module, const GpuImage *images, int count, Diag *diag) {
    const MachineConfig *machine = module->gpu->options.machine;
    bool is_compiled = machine && machine->sm.has_compiled_order;
    module->images = base_calloc((size_t)count, sizeof(PtxModule *));
    for (int i = 0; i < count; i++) {
        const GpuImage *text = &images[i];
        PtxModule *image = cubin_is(text->text, text->length)
                               ? isa_sass_module(text->text, text->length, text->name, diag)
                           : is_compiled
                               ? ptx_read_compiled(text->name, text->text, text->length, diag)
                               : ptx_read(text->name, text->text, text->length, diag);
        if (image) module->images[module->image_count++] = image;
    }
    if (module->image_count != count) return false;
    bool has_machine = false;
    for (int i = 0; i < count; i++)
        has_machine |= module->images[i]->cubin != NULL;
    if (!has_machine) return ptx_link(module->images, count, diag);
    if (count > 1) diag_error(diag, images[0].name, 0, 0, "machine code cannot be linked here");
    return count == 1;
}

static bool calls(const IsaProgram *program, const PtxBuiltin *list, size_t count) {
    for (uint32_t i = 0; i < program->inst_count; i++) {
        const IsaInst *inst = &program->insts[i];
        for (size_t b = 0; inst->flow == ISA_FLOW_CALL_BUILTIN && b < count; b++)
            if (inst->target == (int64_t)list[b]) return true;
    }
    return false;
}

/* Whether some function calls the device runtime: the builtins from its first one on. */
static bool calls_runtime(const IsaProgram *program) {
    for (uint32_t i = 0; i < program->inst_count; i++)
        if (program->insts[i].flow == ISA_FLOW_CALL_BUILTIN &&
            program->insts[i].target >= PTX_BUILTIN_GET_PARAMETER_BUFFER)
            return true;
    return false;
}

static bool has_triggers(const IsaProgram *program) {
    for (uint32_t pc = 0; pc < program->inst_count; pc++) {
        const IsaInfo *info = &program->infos[pc];
        if (info->flags & ISA_IS_DEPENDENCY && info->advice == ISA_DEPENDENCY_TRIGGER) return true;
    }
    return false;
}

static void find_calls(GpuModule *module) {
    static const PtxBuiltin heap[] = {PTX_BUILTIN_MALLOC, PTX_BUILTIN_FREE,
                                      PTX_BUILTIN_RUNTIME_MALLOC, PTX_BUILTIN_RUNTIME_FREE};
    static const PtxBuiltin wait[] = {PTX_BUILTIN_DEVICE_SYNCHRONIZE,
                                      PTX_BUILTIN_DEVICE_SYNCHRONIZE_QUIET};
    module->has_triggers = has_triggers(module->program);
    if (module->program->code) {
        module->uses_heap =
            isa_sass_names(module->program, "malloc") || isa_sass_names(module->program, "free");
        return;
    }
    module->uses_heap = calls(module->program, heap, sizeof heap / sizeof heap[0]);
    module->calls_runtime = calls_runtime(module->program);
    module->can_wait = calls(module->program, wait, sizeof wait / sizeof wait[0]);
}

static char *copy_of(const GpuImage *image) {
    char *text = base_malloc(image->length + 1);
    memcpy(text, image->text, image->length);
    text[image->length] = '\0';
    return text;
}

GpuModule *gpu_load(Gpu *gpu, const GpuImage *images, int count, Diag *diag) {
    return gpu_load_at(gpu, images, count, NULL, 0, diag);
}

GpuModule *gpu_load_at(Gpu *gpu, const GpuImage *images, int count, const GpuPlace *places,
                       size_t place_count, Diag *diag) {
    GpuModule *module = base_calloc(1, sizeof *module);
    module->places = places;
    module->place_count = place_count;
    int errors = diag_error_count(diag);
    module->gpu = gpu;
    module->number = ++gpu->programs;
    if (!read_images(module, images, count, diag)) goto fail;
    visit_variables(module, allocate_variable, diag);
    if (diag_error_count(diag) > errors) goto fail;
    module->program = module->images[0]->cubin
                          ? isa_translate_variant(module->images[0], gpu->variant, diag)
                          : isa_decode_variant(module->images[0], gpu->variant, diag);
    if (!module->program) goto fail;
    visit_variables(module, initialise_variable, diag);
    find_calls(module);
    for (int i = 0; i < count; i++)
        gpu->code_hash += hash_add(HASH_START, images[i].text, images[i].length);
    const Watch *watch = gpu->options.watch;
    if (count == 1 && watch && (watch->profile || watch->snapshots))
        module->text = copy_of(&images[0]);
    module->places = NULL;
    return module;
fail:
    gpu_unload(module);
    return NULL;
}

uint64_t gpu_code_hash(const Gpu *gpu) { return gpu->code_hash; }

void gpu_unload(GpuModule *module) {
    if (!module) return;
    for (uint32_t i = 0; i < module->variable_count; i++)
        mem_release(module->gpu->memory, module->variables[i]);
    free(module->ops);
    free(module->core_rows);
    isa_program_free(module->program);
    for (int i = 0; i < module->image_count; i++)
        ptx_module_free(module->images[i]);
    free(module->images);
    free(module->variables);
    free(module->text);
    free(module);
}

const PtxModule *gpu_module_ptx(const GpuModule *module) { return module->images[0]; }
const IsaProgram *gpu_module_program(const GpuModule *module) { return module->program; }
bool gpu_module_has_triggers(const GpuModule *module) { return module->has_triggers; }

int gpu_find_function(const GpuModule *module, const char *name) {
    for (uint32_t i = 0; i < module->program->function_count; i++)
        if (strcmp(module->program->functions[i].ptx->name, name) == 0) return (int)i;
    return -1;
}

bool gpu_find_variable(const GpuModule *module, const char *name, uint64_t *address,
                       uint64_t *size) {
    const PtxVar *var = ptx_find_var(module->images[0], name);
    if (!var || !lives_in_device_memory(var) || var->opaque) return false;
    *address = var->address;
    *size = var->size;
    return true;
}

bool gpu_find_reference(const GpuModule *module, const char *name, bool is_surface,
                        uint64_t *address) {
    const PtxVar *var = ptx_find_var(module->images[0], name);
    if (!var || var->opaque != (is_surface ? PTX_OPAQUE_SURFACE : PTX_OPAQUE_TEXTURE)) return false;
    *address = var->address;
    return true;
}
