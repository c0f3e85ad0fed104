/* Running trials. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differences.h"
#include "values.h"

Trial *trial_new(Harness *harness) {
    Trial *trial = calloc(1, sizeof *trial);
    trial->harness = harness;
    return trial;
}

void trial_free(Trial *trial) {
    text_free(&trial->ptx);
    free(trial);
}

uint32_t trial_mask(int warp) {
    static const uint32_t masks[] = {0x5555a5a5, 0x80000001, 0x7ffefffe};
    return masks[warp % 3];
}

void trial_begin(Trial *trial, const char *spelling) {
    text_clear(&trial->ptx);
    text_add(&trial->ptx, HARNESS_HEADER);
    trial->spelling = spelling;
    trial->shape = (Shape){{1, 1, 1}, {TRIAL_THREADS, 1, 1}, 0};
    trial->faults = false;
    trial->prepare = NULL;
    trial->written = -1;
    trial->type = NULL;
    trial->element = NULL;
    trial->slots = 0;
    uint64_t state = 11;
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        trial->in[i] = values_next(&state);
        trial->expected[i] = TRIAL_UNTOUCHED;
        trial->is_any[i] = false;
    }
}

void trial_begin_kernel(Trial *trial, const char *variables) {
    text_printf(&trial->ptx,
                "%s\n.visible .entry k" HARNESS_PARAMETERS "\n{\n"
                ".reg .b32 tid, cta, t;\n.reg .b64 in, out, at;\n.reg .pred guard;\n"
                "mov.u32 tid, %%tid.x;\nmov.u32 cta, %%ctaid.x;\nld.param.u64 in, [in0];\n"
                "ld.param.u64 out, [in1];\nld.param.u64 at, [in2];\nshr.u32 t, tid, 5;\n"
                "mad.wide.u32 at, t, 4, at;\nld.global.u32 t, [at];\n"
                "and.b32 cta, tid, 31;\nshr.u32 t, t, cta;\n"
                "and.b32 t, t, 1;\nsetp.ne.u32 guard, t, 0;\nmov.u32 cta, %%ctaid.x;\n",
                variables);
}

/* ---- Comparison ---- */

static bool agrees(const Trial *trial, uint64_t got, uint64_t expected) {
    if (got == expected) return true;
    const Type *type = trial->type;
    if (type && type->kind != KIND_FLOAT) return false;
    const Format *format = type ? type->format : trial->element;
    if (!format) return false;
    const int elements = type ? type->elements : 64 / format->bits, bits = format->bits;
    for (int e = 0; e < elements; e++) {
        uint64_t a = got >> e * bits & type_mask(bits);
        uint64_t b = expected >> e * bits & type_mask(bits);
        if (a != b && (real_class(format, a) != REAL_NAN || real_class(format, b) != REAL_NAN))
            return false;
    }
    const uint64_t rest = bits * elements < 64 ? ~type_mask(bits * elements) : 0;
    return (got & rest) == (expected & rest);
}

static bool compare(const Trial *trial, const Engine *engine) {
    const uint64_t *out = engine_buffer(engine, 1);
    int wrong = 0;
    bool is_allowed = false;
    for (int i = 0; i < trial->slots; i++) {
        trial->harness->cases++;
        if (trial->is_any[i] || agrees(trial, out[i], trial->expected[i])) continue;
        if (!wrong)
            is_allowed = harness_allows(trial->harness, engine, trial->spelling, DIFFERS_RESULT);
        if (wrong++ < 4 && !is_allowed)
            fprintf(stderr, "%s [%s]: word %d of the output is 0x%llx, expected 0x%llx\n",
                    trial->spelling, engine->variant, i, (unsigned long long)out[i],
                    (unsigned long long)trial->expected[i]);
    }
    return wrong == 0 || is_allowed;
}

/* Prints where the simulator's bits differ from the real GPU's, whether or not the ISA allows
 * that. */
static bool compare_with_device(const Trial *trial, const Engine *engine) {
    const uint64_t *got = engine_buffer(engine, 1);
    const uint64_t *real = engine_buffer(&trial->harness->engines[0], 1);
    int differing = 0;
    for (int i = 0; i < trial->slots; i++)
        if (got[i] != real[i] && differing++ < 4)
            fprintf(stderr, "%s [%s]: word %d of the output is 0x%llx, on the GPU 0x%llx%s\n",
                    trial->spelling, engine->variant, i, (unsigned long long)got[i],
                    (unsigned long long)real[i], trial->is_any[i] ? " (open)" : "");
    if (differing)
        fprintf(stderr, "%s: %d of %d words differ from the GPU's\n", trial->spelling, differing,
                trial->slots);
    return true;
}

/* ---- Running ---- */

static void fill_buffers(Trial *trial, Engine *engine) {
    engine_write_to(engine, 0);
    if (trial->prepare) trial->prepare(trial, engine);
    memcpy(engine_buffer(engine, 0), trial->in, sizeof trial->in);
    memset(engine_buffer(engine, 1), (int)(TRIAL_UNTOUCHED & 0xff), sizeof trial->expected);
    uint32_t *masks = engine_buffer(engine, 2);
    for (int warp = 0; warp < FORM_LANES; warp++)
        masks[warp] = trial_mask(warp);
    engine_reach(engine, 0, sizeof trial->in);
    engine_reach(engine, 1, sizeof trial->expected);
    engine_reach(engine, 2, FORM_LANES * sizeof *masks);
}

static bool run_on(Trial *trial, Engine *engine, bool *is_absent) {
    char *messages = NULL;
    EngineModule *module = engine_load(engine, &trial->ptx, &messages);
    if (!module && engine->lacks_form) {
        harness_note_absent(trial->harness, trial->spelling, messages);
        free(messages);
        *is_absent = true;
        return true;
    }
    if (!module) {
        const bool is_allowed =
            harness_allows(trial->harness, engine, trial->spelling, DIFFERS_REFUSED);
        if (!is_allowed) fprintf(stderr, "%s does not load: %s", trial->spelling, messages);
        free(messages);
        return is_allowed;
    }
    fill_buffers(trial, engine);
    GpuResult result = engine_launch(engine, module, "k", trial->shape, 0);
    engine_unload(engine, module);
    if (trial->faults && engine->device) {
        printf("%s: %s\n", trial->spelling,
               result.status == GPU_FAULT ? result.message : "no fault");
        harness_lose(trial->harness, trial->harness->units - 1);
    }
    if (trial->faults) {
        const bool is_right =
            result.status == GPU_FAULT ||
            harness_allows(trial->harness, engine, trial->spelling, DIFFERS_FAULT) ||
            (result.status != GPU_OK &&
             harness_allows(trial->harness, engine, trial->spelling, DIFFERS_REFUSED));
        if (!is_right) fprintf(stderr, "%s [%s]: no fault\n", trial->spelling, engine->variant);
        return is_right;
    }
    if (result.status == GPU_OK && engine->is_shadow) return compare_with_device(trial, engine);
    if (result.status == GPU_OK) return compare(trial, engine);
    if (engine->device && strstr(result.message, "NOT_FOUND")) {
        harness_note_absent(trial->harness, trial->spelling, result.message);
        *is_absent = true;
        return true;
    }
    if (harness_allows(trial->harness, engine, trial->spelling, DIFFERS_REFUSED)) return true;
    fprintf(stderr, "%s [%s]: %s\n", trial->spelling, engine->variant, result.message);
    if (engine->device) harness_lose(trial->harness, trial->harness->units - 1);
    return false;
}

bool trial_run_module(Trial *trial) {
    Harness *harness = trial->harness;
    const bool has_device = harness->engines[0].device != NULL;
    /* After a fault, a process can no longer use a real GPU. */
    if (has_device && trial->faults != harness->only_faults) return true;
    if (!harness_wants(harness, trial->spelling) || !harness_takes(harness)) return true;
    bool is_right = true, is_absent = false;
    for (int e = 0; e < harness->engine_count && !is_absent; e++)
        is_right &= run_on(trial, &harness->engines[e], &is_absent);
    if (!is_absent) harness_count_form(harness, trial->spelling);
    if (!is_right) harness_fail(harness, trial->spelling);
    return is_right;
}

bool trial_run(Trial *trial) {
    text_add(&trial->ptx, "exit;\n}\n");
    return trial_run_module(trial);
}
