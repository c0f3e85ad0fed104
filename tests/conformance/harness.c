/* Engines, buffers, launches and counts. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/handlers.h"

#include "coverage.h"

static void start_engine(Engine *engine, const char *variant) {
    Diag *diag = diag_new();
    const GpuOptions options = {
        .memory_bytes = 1 << 28, .variant = variant, .instruction_limit = 1 << 28};
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

void harness_start(Harness *harness) {
    for (int i = 0; i < isa_variant_count(); i++) {
        const IsaVariant *variant = isa_variant(i);
        if (variant) start_engine(&harness->engines[harness->engine_count++], variant->name);
    }
    harness->spellings = coverage_new();
    harness->failed = coverage_new();
}

void harness_end(Harness *harness) {
    for (int i = 0; i < harness->engine_count; i++)
        gpu_free(harness->engines[i].gpu);
    coverage_free(harness->spellings);
    coverage_free(harness->failed);
}

bool harness_wants(const Harness *harness, const char *text) {
    return !harness->filter || strstr(text, harness->filter);
}

void harness_count_form(Harness *harness, const char *spelling) {
    if (coverage_add(harness->spellings, spelling)) harness->forms++;
}

void harness_fail(Harness *harness, const char *spelling) {
    harness_count_form(harness, spelling);
    if (coverage_add(harness->failed, spelling)) harness->failures++;
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

GpuModule *engine_load(Engine *engine, const Text *ptx, char **messages) {
    Diag *diag = diag_new();
    const GpuImage image = {"conformance", text_string(ptx), ptx->length};
    GpuModule *module = gpu_load(engine->gpu, &image, 1, diag);
    if (!module && messages) *messages = strdup(diag_text(diag));
    diag_free(diag);
    return module;
}

void *engine_buffer(const Engine *engine, int buffer) {
    return mem_host(gpu_memory(engine->gpu), engine->buffers[buffer]);
}

GpuResult engine_launch(Engine *engine, GpuModule *module, const char *kernel, Shape shape,
                        uint32_t count) {
    struct {
        uint64_t buffers[HARNESS_BUFFERS];
        uint32_t count;
    } parameters;
    memcpy(parameters.buffers, engine->buffers, sizeof parameters.buffers);
    parameters.count = count;
    GpuLaunch launch = {.module = module,
                        .function = gpu_find_function(module, kernel),
                        .dynamic_shared_bytes = shape.shared_bytes,
                        .parameters = &parameters};
    memcpy(launch.grid, shape.grid, sizeof launch.grid);
    memcpy(launch.block, shape.block, sizeof launch.block);
    GpuResult result;
    gpu_launch(engine->gpu, &launch, &result);
    return result;
}
