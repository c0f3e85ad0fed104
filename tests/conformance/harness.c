/* Engines, buffers, launches and counts. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/exec/handlers.h"

#include "memory/texture.h"

#include "assembler.h"
#include "coverage.h"
#include "device.h"
#include "differences.h"

enum { DEFAULT_INSTRUCTION_LIMIT = 1 << 28 };

static void start_engine(const Harness *harness, Engine *engine, const char *variant) {
    Diag *diag = diag_new();
    const uint64_t limit = harness->instruction_limit;
    const GpuOptions options = {.memory_bytes = 1 << 28,
                                .variant = variant,
                                .instruction_limit = limit ? limit : DEFAULT_INSTRUCTION_LIMIT};
    engine->variant = variant;
    engine->gpu = gpu_new(&options, diag);
    if (!engine->gpu) {
        diag_print(diag, stderr);
        exit(1);
    }
    diag_free(diag);
    for (int i = 0; i < HARNESS_BUFFERS; i++)
        engine->buffers[i] =
            mem_alloc(gpu_memory(engine->gpu), HARNESS_BUFFER_BYTES, 0, MEM_KIND_BUFFER, NULL);
}

/* Starts an engine for machine code: the best variant, with ptxas as the assembler. */
static void start_machine(Harness *harness, const char *machine) {
    static char name[32];
    Engine *engine = &harness->engines[harness->engine_count++];
    const char *level = strchr(machine, ':');
    const int length = (int)strcspn(machine, ":");
    start_engine(harness, engine, isa_find_variant(NULL)->name);
    engine->variant = "machine code";
    engine->level = level ? level + 1 : "-O3";
    snprintf(engine->architecture, sizeof engine->architecture, "%.*s", length, machine);
    snprintf(name, sizeof name, "%.*s:%s", length, machine, engine->level);
    engine->machine = name;
}

void harness_start(Harness *harness, const char *library, const char *machine) {
    harness->spellings = coverage_new();
    harness->failed = coverage_new();
    harness->differing_forms = coverage_new();
    if (machine) {
        start_machine(harness, machine);
        return;
    }
    if (library) {
        Engine *engine = &harness->engines[harness->engine_count++];
        engine->variant = "device";
        engine->device = device_new(library, engine->buffers);
        harness->is_hopper = device_capability(engine->device) == 9;
        fprintf(stderr, "%s\n", device_name(engine->device));
    }
    for (int i = 0; i < isa_variant_count(); i++) {
        const IsaVariant *variant = isa_variant(i);
        if (!variant) continue;
        Engine *engine = &harness->engines[harness->engine_count++];
        start_engine(harness, engine, variant->name);
        engine->is_shadow = library != NULL;
        if (engine->is_shadow) break;
    }
}

void harness_end(Harness *harness) {
    for (int i = 0; i < harness->engine_count; i++) {
        if (harness->engines[i].gpu) gpu_free(harness->engines[i].gpu);
        if (harness->engines[i].device) device_free(harness->engines[i].device);
    }
    coverage_free(harness->spellings);
    coverage_free(harness->failed);
    coverage_free(harness->differing_forms);
}

bool harness_wants(const Harness *harness, const char *text) {
    return !harness->filter || strstr(text, harness->filter);
}

static bool has_unit(const Harness *harness, int unit) {
    const Share share = harness->share;
    return !share.of || (unit % share.of == share.index && unit >= share.first);
}

bool harness_takes(Harness *harness) { return has_unit(harness, harness->units++); }

bool harness_passes_over(Harness *harness) {
    const bool passes = !has_unit(harness, harness->units);
    harness->units += passes;
    return passes;
}

void harness_lose(const Harness *harness, int unit) {
    (void)harness;
    fflush(stdout);
    fprintf(stderr, "lost the GPU in unit %d\n", unit);
    _exit(3);
}

void harness_note_absent(Harness *harness, const char *spelling, const char *messages) {
    harness->absent++;
    if (harness->shows_absent) fprintf(stderr, "absent: %s: %s\n", spelling, messages);
}

void harness_count_form(Harness *harness, const char *spelling) {
    if (coverage_add(harness->spellings, spelling)) harness->forms++;
}

void harness_fail(Harness *harness, const char *spelling) {
    harness_count_form(harness, spelling);
    if (coverage_add(harness->failed, spelling)) harness->failures++;
}

bool harness_allows(Harness *harness, const Engine *engine, const char *spelling, unsigned kinds) {
    if (!engine->machine || !difference_is_known(engine->machine, spelling, kinds)) return false;
    harness->differing += coverage_add(harness->differing_forms, spelling);
    return true;
}

void harness_note_error(Harness *harness, const Form *form, const Type *type, double ulps,
                        uint64_t operand, uint64_t got, uint64_t expected) {
    char name[32];
    snprintf(name, sizeof name, "%s%s%s.%s", form_word(form, 0),
             form_has(form, "full") ? ".full" : ".approx",
             form->row->flags & ROW_UPPER_HALF ? ".ftz" : "", type->name);
    int at = 0;
    while (at < harness->worst_count && strcmp(harness->worst[at].name, name) != 0)
        at++;
    if (at == HARNESS_MAX_WORST) return;
    Worst *worst = &harness->worst[at];
    if (at == harness->worst_count) {
        memcpy(worst->name, name, sizeof name);
        worst->ulps = -1;
        harness->worst_count++;
    }
    if (ulps <= worst->ulps) return;
    worst->ulps = ulps;
    worst->operand = operand;
    worst->got = got;
    worst->expected = expected;
}

struct EngineModule {
    GpuModule *simulated;
    void *real;
};

EngineModule *engine_load(Engine *engine, const Text *ptx, char **messages) {
    EngineModule module = {0};
    bool has_text = true;
    if (engine->device) {
        module.real = device_load(engine->device, text_string(ptx), messages);
    } else {
        Diag *diag = diag_new();
        GpuImage image = {"conformance", text_string(ptx), ptx->length};
        void *cubin = NULL;
        if (engine->machine)
            image.text = cubin = assembler_run(engine->architecture, engine->level,
                                               text_string(ptx), &image.length, messages);
        has_text = image.text != NULL;
        if (image.text) module.simulated = gpu_load(engine->gpu, &image, 1, diag);
        if (image.text && !module.simulated && messages) *messages = strdup(diag_text(diag));
        free(cubin);
        diag_free(diag);
    }
    engine->lacks_form = engine->device ? !module.real : engine->machine && !has_text;
    if (!module.simulated && !module.real) return NULL;
    EngineModule *loaded = malloc(sizeof *loaded);
    *loaded = module;
    return loaded;
}

void engine_unload(Engine *engine, EngineModule *module) {
    if (module->simulated) gpu_unload(module->simulated);
    if (module->real) device_unload(engine->device, module->real);
    free(module);
}

void *engine_buffer(const Engine *engine, int buffer) {
    if (engine->device) return device_buffer(engine->device, buffer);
    return mem_host(gpu_memory(engine->gpu), engine->buffers[buffer]);
}

void engine_reach(Engine *engine, int buffer, size_t bytes) {
    if (engine->device) device_reach(engine->device, buffer, bytes);
}

uint64_t engine_texture(Engine *engine, const MemTexture *texture) {
    if (engine->device) return device_texture(engine->device, texture);
    return mem_texture_add(gpu_memory(engine->gpu), texture);
}

void engine_write_to(Engine *engine, uint64_t surface) {
    if (engine->device) device_write_to(engine->device, surface);
}

GpuResult engine_launch(Engine *engine, EngineModule *module, const char *kernel, Shape shape,
                        uint32_t count) {
    struct {
        uint64_t buffers[HARNESS_BUFFERS];
        uint32_t count;
    } parameters;
    memcpy(parameters.buffers, engine->buffers, sizeof parameters.buffers);
    parameters.count = count;
    GpuResult result = {.status = GPU_OK};
    if (engine->device) {
        const char *wrong =
            device_launch(engine->device, module->real, kernel, &shape, &parameters);
        if (!wrong) return result;
        result.status = GPU_FAULT;
        snprintf(result.message, sizeof result.message, "%s", wrong);
        return result;
    }
    GpuLaunch launch = {.module = module->simulated,
                        .function = gpu_find_function(module->simulated, kernel),
                        .dynamic_shared_bytes = shape.shared_bytes,
                        .parameters = &parameters};
    memcpy(launch.grid, shape.grid, sizeof launch.grid);
    memcpy(launch.block, shape.block, sizeof launch.block);
    gpu_launch(engine->gpu, &launch, &result);
    return result;
}
