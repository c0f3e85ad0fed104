/* Adds what the SMs counted for each instruction to the profile of the run, with readable
 * positions. */
#include "engine/launch/gpu_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/engine.h"
#include "engine/observe/watch.h"
#include "isa/sass/code.h"

static char *copy_of(const char *text, size_t length) {
    char *copy = base_malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Line `number` (from 1) of a text, without blanks around it; NULL if there is none. */
static char *line_of(const char *text, uint32_t number) {
    while (--number) {
        text = strchr(text, '\n');
        if (!text++) return NULL;
    }
    text += strspn(text, " \t\r");
    size_t length = strcspn(text, "\n");
    while (length && strchr(" \t\r", text[length - 1]))
        length--;
    return copy_of(text, length);
}

/* The same for machine code. */
static void describe_machine(ProfileLine *line, const IsaProgram *program) {
    Text text = {0};
    const CubinLine *source = isa_sass_line(program, line->pc);
    const char *function = program->functions[program->infos[line->pc].function].ptx->name;
    line->function = copy_of(function, strlen(function));
    isa_say_operation(program, line->pc, &text);
    line->text = copy_of(text_string(&text), text.length);
    text_clear(&text);
    if (source && *source->file) {
        text_printf(&text, "%s%s%s", source->folder, *source->folder ? "/" : "", source->file);
        line->source = copy_of(text_string(&text), text.length);
        line->source_line = source->line;
    }
    text_free(&text);
}

/* Fills in what an instruction is and where it is. */
static void describe(ProfileLine *line, const GpuModule *module) {
    const IsaProgram *program = module->program;
    if (program->code) {
        describe_machine(line, program);
        return;
    }
    const IsaInfo *info = &program->infos[line->pc];
    const char *file, *op = ptx_opcode_name((PtxOpcode)info->op);
    const char *function = program->functions[info->function].ptx->name;
    const PtxLoc *loc = isa_source(program, line->pc, &file);
    line->line = info->line;
    line->function = copy_of(function, strlen(function));
    if (module->text && info->line) line->text = line_of(module->text, info->line);
    if (!line->text) line->text = copy_of(op, strlen(op));
    if (!loc) return;
    line->source = copy_of(file, strlen(file));
    line->source_line = (uint32_t)loc->line;
}

static void add_rows(ProfileKernel *kernel, const GpuModule *module, const SmProfile *from) {
    for (uint32_t chunk = 0; chunk < from->chunk_count; chunk++) {
        const ProfileCounts *rows = from->chunks[chunk];
        for (uint32_t i = 0; rows && i < SM_PROFILE_ROWS; i++) {
            bool is_new;
            if (profile_is_empty(&rows[i])) continue;
            ProfileLine *line = profile_line(kernel, chunk * SM_PROFILE_ROWS + i, &is_new);
            if (is_new) describe(line, module);
            profile_add(&line->counts, &rows[i]);
        }
    }
    profile_add(&kernel->nobody, &from->nobody);
}

/* Data of a visit to the waiting warps. */
typedef struct Waits {
    ProfileKernel *kernel;
    const GpuModule *module;
} Waits;

static void add_wait(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                     ProfileColumn cause) {
    (void)warp, (void)slot;
    const Waits *waits = user;
    bool is_new;
    ProfileLine *line = profile_line(waits->kernel, pc, &is_new);
    if (is_new) describe(line, waits->module);
    profile_add_wait(waits->kernel, &(ProfileWait){pc, cause, 1});
}

void gpu_profile_stall_reasons(const Gpu *gpu, const GpuGrid *grid, Profile *profile) {
    const GpuModule *module = grid->module;
    ProfileKernel *kernel =
        profile_kernel(profile, 0, grid->launch.function->ptx->name, module->images[0]->file);
    Waits waits = {kernel, module};
    engine_visit_stall_reasons(gpu->engine, add_wait, &waits);
}

void gpu_profile_add(Gpu *gpu, const GpuGrid *grid) {
    const GpuModule *module = grid->module;
    const IsaLaunch *launch = &grid->launch;
    const GpuResult *result = grid->result;
    uint64_t index = (uint64_t)(launch->function - module->program->functions);
    uint64_t key = module->number << 32 | index;
    ProfileKernel *kernel = profile_kernel(gpu->options.watch->profile, key,
                                           launch->function->ptx->name, module->images[0]->file);
    const SmProfile *of_sm;
    kernel->launches++;
    counters_add(&kernel->counters, &result->counters);
    for (uint32_t sm = 0; (of_sm = engine_profile(gpu->engine, sm)) != NULL; sm++)
        add_rows(kernel, module, of_sm);
    if (result->status == GPU_OK) return;
    kernel->is_complete = false;
    Waits waits = {kernel, module};
    engine_visit_stall_reasons(gpu->engine, add_wait, &waits);
}
