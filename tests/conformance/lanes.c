/* Operands, expected results, and the comparison of what the engines computed. */
#include "lanes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differences.h"
#include "kernel.h"
#include "values.h"

enum {
    MAX_CASES = 1 << 16, /* threads of one launch */
    BLOCK = 128,         /* threads of a CTA */
    BATCH = 128,         /* kernels of a module */
    MAX_MESSAGES = 3     /* wrong results shown per form and engine */
};

/* Expected results for a set of ways: all lanes, some lanes, one constant operand, or groups. */
typedef enum Expectation {
    EXPECT_ALL,
    EXPECT_SOME,
    EXPECT_CONSTANT,
    EXPECT_GROUPS,
    EXPECTATIONS
} Expectation;

typedef struct Cases {
    int count;
    uint64_t in[FORM_MAX_OPERANDS][MAX_CASES];     /* by source; truncated to the type */
    uint64_t expected[EXPECTATIONS][2][MAX_CASES]; /* by destination */
    bool is_undefined[EXPECTATIONS][MAX_CASES];    /* the first destination may have any value */
    uint32_t masks[MAX_CASES / FORM_LANES + 1][2]; /* lanes that exist; that execute */
} Cases;

typedef struct Lanes {
    Harness *harness;
    Cases *cases;
    Job jobs[BATCH];
    int job_count;
    int number; /* number of the next form */
} Lanes;

static Expectation expectation_of(Way way) {
    if (way == WAY_CONSTANT) return EXPECT_CONSTANT;
    if (way == WAY_GROUPS) return EXPECT_GROUPS;
    return way_is_masked(way) ? EXPECT_SOME : EXPECT_ALL;
}

/* ---- Operands ---- */

/* Number of combinations of edge values to test for a form. */
static int edge_budget(const Harness *harness, const Form *form) {
    const int per_effort = form->row->constants           ? 64
                           : form->row->flags & ROW_SPARE ? 150
                           : form->sources == 1           ? 2048
                                                          : 700;
    const int budget = per_effort * harness->effort / harness->divisor;
    const int most = MAX_CASES * 3 / 4;
    return budget < most ? budget : most;
}

/* A single source of 16 bits has so few values that a thorough run tests all of them. */
static bool is_exhaustible(const Harness *harness, const Form *form) {
    return harness->is_thorough && form->sources == 1 && form->row->reference &&
           form_source(form, 0)->bits * form_source(form, 0)->elements == 16;
}

static void choose_all_values(Cases *cases) {
    cases->count = 1 << 16;
    for (int i = 0; i < cases->count; i++)
        cases->in[0][i] = (uint64_t)i;
}

/* All combinations of edge values if they fit, else some of them; then random values. */
static void choose_combinations(const Harness *harness, const Form *form, int number,
                                Cases *cases) {
    static uint64_t edges[FORM_MAX_OPERANDS][VALUES_MAX_EDGES];
    size_t counts[FORM_MAX_OPERANDS], combinations = 1;
    for (int s = 0; s < form->sources; s++) {
        counts[s] = values_edges(form, form->destinations + s, edges[s]);
        if (combinations < MAX_CASES) combinations *= counts[s];
    }
    int budget = edge_budget(harness, form);
    bool takes_all = combinations <= (size_t)budget;
    int edge_cases = takes_all ? (int)combinations : budget;
    cases->count = (edge_cases + budget / 3) | 3; /* so that the last warp is not full */
    uint64_t state = (uint64_t)number * 1000003;
    for (int i = 0; i < cases->count; i++) {
        size_t combination = takes_all ? (size_t)i : values_next(&state) >> 1;
        for (int s = 0; s < form->sources; s++) {
            if (i < edge_cases) cases->in[s][i] = edges[s][combination % counts[s]];
            else cases->in[s][i] = values_random(form, form->destinations + s, &state);
            combination = takes_all ? combination / counts[s] : values_next(&state) >> 1;
        }
    }
}

static void choose_operands(const Harness *harness, const Form *form, int number, Cases *cases) {
    if (is_exhaustible(harness, form)) choose_all_values(cases);
    else choose_combinations(harness, form, number, cases);
}

static void choose_masks(Cases *cases, int number) {
    static const uint32_t patterns[] = {0x55555555, 0x80000000, 0x00000001, 0xfffffffe,
                                        0x0000ffff, 0x7fffffff, 0x00018000, 0};
    uint64_t state = (uint64_t)number;
    for (int w = 0; w * FORM_LANES < cases->count; w++) {
        int left = cases->count - w * FORM_LANES;
        uint32_t all = left < FORM_LANES ? (1u << left) - 1 : UINT32_MAX;
        uint64_t random = values_next(&state);
        uint32_t some = random >> 63 ? (uint32_t)random : patterns[random % 8];
        cases->masks[w][0] = all;
        cases->masks[w][1] = some & all;
    }
}

/* ---- Expected results ---- */

static uint64_t element_of(const Type *type, uint64_t bits, int element) {
    return bits >> element * type->bits & type_mask(type->bits);
}

/* The reference's value of a destination; packed types are computed element by element. */
static uint64_t evaluate(Form *form, Reference *reference, int destination, const uint64_t *in) {
    const Type *type = form->operands[destination];
    if (type->elements == 1 || form->row->flags & ROW_WHOLE) return reference(form, in);
    uint64_t result = 0;
    for (int e = 0; e < type->elements; e++) {
        uint64_t elements[FORM_MAX_OPERANDS];
        for (int s = 0; s < form->sources; s++) {
            const Type *source = form_source(form, s);
            elements[s] = source->elements > 1 ? element_of(source, in[s], e) : in[s];
        }
        form->element = e;
        result |= (reference(form, elements) & type_mask(type->bits)) << e * type->bits;
    }
    return result;
}

/* The value as it is in the destination's register. */
static uint64_t in_register(const Form *form, int destination, uint64_t value) {
    const Type *type = form->operands[destination];
    if (type->elements == 1 && type->kind == KIND_SIGNED)
        value = (uint64_t)type_integer(type, value);
    else value &= type_mask(type->bits * type->elements);
    return value & type_mask(form->register_bits[destination]);
}

static void expect_lanes(Job *job, Cases *cases, Expectation expectation) {
    Form *form = &job->form;
    Reference *references[2] = {form->row->reference, form->row->second};
    for (int i = 0; i < cases->count; i++) {
        uint64_t in[FORM_MAX_OPERANDS];
        for (int s = 0; s < form->sources; s++)
            in[s] = cases->in[s][i];
        if (expectation == EXPECT_CONSTANT) in[job->constant] = job->immediate;
        cases->is_undefined[expectation][i] = form->row->is_open && form->row->is_open(form, in);
        for (int d = 0; d < form->destinations; d++)
            cases->expected[expectation][d][i] =
                in_register(form, d, evaluate(form, references[d], d, in));
    }
}

/* Sets the expected results of the lanes `shown` of a warp when the lanes `active` execute. */
static void expect_warp(Job *job, Cases *cases, Expectation expectation, int base, uint32_t active,
                        uint32_t shown) {
    const Form *form = &job->form;
    WarpCase warp = {.active = active, .is_group = expectation == EXPECT_GROUPS};
    for (int lane = 0; lane < FORM_LANES && base + lane < cases->count; lane++)
        for (int s = 0; s < form->sources; s++) {
            warp.in[s][lane] = cases->in[s][base + lane];
            if (form->letters[form->destinations + s] == 'm') warp.in[s][lane] = warp.active;
            if (expectation == EXPECT_CONSTANT && s == job->constant)
                warp.in[s][lane] = job->immediate;
        }
    form->row->warp(form, &warp);
    for (int lane = 0; lane < FORM_LANES && base + lane < cases->count; lane++) {
        if (!(shown >> lane & 1)) continue;
        for (int d = 0; d < form->destinations; d++)
            cases->expected[expectation][d][base + lane] = in_register(form, d, warp.out[d][lane]);
        cases->is_undefined[expectation][base + lane] = warp.undefined >> lane & 1;
    }
}

static void expect_warps(Job *job, Cases *cases, Expectation expectation) {
    for (int w = 0; w * FORM_LANES < cases->count; w++)
        expect_warp(job, cases, expectation, w * FORM_LANES,
                    cases->masks[w][expectation == EXPECT_SOME], UINT32_MAX);
}

static void expect_groups(Job *job, Cases *cases) {
    for (int w = 0; w * FORM_LANES < cases->count; w++)
        for (uint32_t rest = cases->masks[w][0], group; rest; rest &= ~group) {
            group = kernel_group(job, __builtin_ctz(rest)) & cases->masks[w][0];
            expect_warp(job, cases, EXPECT_GROUPS, w * FORM_LANES, group, group);
        }
}

static void expect(Job *job, Cases *cases) {
    memset(cases->is_undefined, 0, sizeof cases->is_undefined);
    if (job->form.row->warp) {
        expect_warps(job, cases, EXPECT_ALL);
        expect_warps(job, cases, EXPECT_SOME);
        if (job->ways & 1 << WAY_CONSTANT) expect_warps(job, cases, EXPECT_CONSTANT);
        if (job->ways & 1 << WAY_GROUPS) expect_groups(job, cases);
        return;
    }
    expect_lanes(job, cases, EXPECT_ALL);
    memcpy(cases->expected[EXPECT_SOME], cases->expected[EXPECT_ALL],
           sizeof cases->expected[EXPECT_ALL]);
    memcpy(cases->is_undefined[EXPECT_SOME], cases->is_undefined[EXPECT_ALL],
           sizeof cases->is_undefined[EXPECT_ALL]);
    if (job->ways & 1 << WAY_CONSTANT) expect_lanes(job, cases, EXPECT_CONSTANT);
}

/* ---- Comparison ---- */

static bool element_agrees(Harness *harness, const Form *form, const Type *type, uint64_t got,
                           uint64_t expected, uint64_t operand) {
    const Format *format = type->format;
    const bool is_nan = real_class(format, expected) == REAL_NAN;
    if (form->row->ulps > 0) {
        double ulps = real_distance(format, got, expected);
        if (form->row->flags & ROW_UPPER_HALF) ulps = ldexp(ulps, -32);
        harness_note_error(harness, form, type, ulps, operand, got, expected);
        return ulps <= form->row->ulps;
    }
    if (got == expected) return true;
    return is_nan && !(form->row->flags & ROW_EXACT_NAN) && real_class(format, got) == REAL_NAN;
}

static bool agrees(Harness *harness, const Form *form, int destination, uint64_t got,
                   uint64_t expected, uint64_t operand) {
    const Type *type = form->operands[destination];
    if (type->kind != KIND_FLOAT) return got == expected;
    for (int e = 0; e < type->elements; e++)
        if (!element_agrees(harness, form, type, element_of(type, got, e),
                            element_of(type, expected, e), operand))
            return false;
    return true;
}

static void complain(const Engine *engine, const Job *job, Way way, const Cases *cases, int i,
                     int destination, uint64_t got, uint64_t expected) {
    static const char *const names[] = {"plain",   "guarded",  "divergent",
                                        "aliased", "constant", "in groups"};
    const Form *form = &job->form;
    fprintf(stderr, "%s", form->text);
    for (int o = 0; o < form->destinations + form->sources; o++)
        fprintf(stderr, " %d%.*s", form->register_bits[o], form->suffix_bytes[o],
                form->suffixes[o]);
    fprintf(stderr, " [%s, %s]:", engine->variant, names[way]);
    for (int s = 0; s < form->sources; s++) {
        bool is_constant = way == WAY_CONSTANT && s == job->constant;
        fprintf(stderr, " 0x%llx",
                (unsigned long long)(is_constant ? job->immediate : cases->in[s][i]));
    }
    fprintf(stderr, ": result %d is 0x%llx, expected 0x%llx\n", destination,
            (unsigned long long)got, (unsigned long long)expected);
}

/* Value of a destination in a lane that did not execute; the carry flag keeps its value. */
static uint64_t untouched(const Form *form, int destination, const Cases *cases, int i) {
    if (form->letters[destination] != 'k') return kernel_untouched(form, destination);
    for (int s = 0; s < form->sources; s++)
        if (form->letters[form->destinations + s] == 'k') return cases->in[s][i];
    return 0;
}

/* Compares what a way wrote. Returns the number of wrong results. */
static int compare_way(Harness *harness, const Engine *engine, const Job *job, Way way,
                       const Cases *cases, const uint64_t *out, int shown) {
    const Form *form = &job->form;
    const Expectation expectation = expectation_of(way);
    int wrong = 0;
    unsigned asked = 0, allowed = 0; /* kinds of differences */
    for (int d = 0; d < form->destinations; d++, out += cases->count) {
        for (int i = 0; i < cases->count; i++) {
            bool executes =
                !way_is_masked(way) || cases->masks[i / FORM_LANES][1] >> i % FORM_LANES & 1;
            if (executes && d == 0 && cases->is_undefined[expectation][i]) continue;
            uint64_t expected =
                executes ? cases->expected[expectation][d][i] : untouched(form, d, cases, i);
            harness->cases++;
            bool is_right = executes ? agrees(harness, form, d, out[i], expected, cases->in[0][i])
                                     : out[i] == expected;
            if (is_right) continue;
            const unsigned kind = !executes            ? DIFFERS_IDLE
                                  : way_is_masked(way) ? DIFFERS_MASKED
                                                       : DIFFERS_RESULT;
            if (!(asked & kind) && harness_allows(harness, engine, form->text, kind))
                allowed |= kind;
            asked |= kind;
            if (allowed & kind) continue;
            if (shown + wrong++ < MAX_MESSAGES)
                complain(engine, job, way, cases, i, d, out[i], expected);
        }
    }
    return wrong;
}

/* ---- Running ---- */

static void fill_buffers(Engine *engine, const Form *form, const Cases *cases) {
    uint64_t *in = engine_buffer(engine, 0);
    uint64_t state = 3;
    for (int s = 0; s < form->sources; s++) {
        /* Bits above the type in a wider register must not matter. */
        const Type *type = form_source(form, s);
        int bits = type->bits * type->elements;
        uint64_t above = type->kind == KIND_PRED ? 0 : ~type_mask(bits);
        for (int i = 0; i < cases->count; i++)
            *in++ = cases->in[s][i] | (values_next(&state) & above);
    }
    memcpy(engine_buffer(engine, 2), cases->masks, sizeof cases->masks);
    const size_t column = (size_t)cases->count * sizeof(uint64_t);
    const size_t out_bytes = column * (size_t)form->destinations * WAY_COUNT;
    memset(engine_buffer(engine, 1), 0, out_bytes);
    engine_reach(engine, 0, column * (size_t)form->sources);
    engine_reach(engine, 1, out_bytes);
    engine_reach(engine, 2, sizeof cases->masks);
}

/* Prints where the simulator's bits differ from the real GPU's, whether or not the ISA allows
 * that. */
static bool compare_with_device(const Harness *harness, const Engine *engine, const Job *job,
                                const Cases *cases) {
    const uint64_t *got = engine_buffer(engine, 1), *real = engine_buffer(&harness->engines[0], 1);
    for (int way = 0; way < WAY_COUNT; way++) {
        if (!(job->ways & 1u << way)) continue;
        for (int d = 0; d < job->form.destinations; d++) {
            int differing = 0;
            for (int i = 0; i < cases->count; i++) {
                if (got[i] == real[i] || differing++ >= MAX_MESSAGES) continue;
                complain(engine, job, (Way)way, cases, i, d, got[i], real[i]);
            }
            if (differing)
                fprintf(stderr, "%s way %d result %d: %d of %d differ from the GPU's\n",
                        job->form.text, way, d, differing, cases->count);
            got += cases->count;
            real += cases->count;
        }
    }
    return true;
}

/* Runs a job on one engine. Returns false if a result is wrong. */
static bool run_on(Harness *harness, Engine *engine, EngineModule *module, const Job *job,
                   const Cases *cases) {
    char name[16];
    snprintf(name, sizeof name, "k%d", job->number);
    fill_buffers(engine, &job->form, cases);
    uint32_t ctas = (uint32_t)((cases->count + BLOCK - 1) / BLOCK);
    const Shape shape = {{ctas, 1, 1}, {BLOCK, 1, 1}, 0};
    GpuResult result = engine_launch(engine, module, name, shape, (uint32_t)cases->count);
    if (result.status != GPU_OK) {
        if (harness_allows(harness, engine, job->form.text, DIFFERS_REFUSED)) return true;
        fprintf(stderr, "%s [%s]: %s\n", job->form.text, engine->variant, result.message);
        if (engine->device) harness_lose(harness, job->unit);
        return false;
    }
    const uint64_t *out = engine_buffer(engine, 1);
    if (engine->is_shadow) return compare_with_device(harness, engine, job, cases);
    int wrong = 0;
    for (int way = 0; way < WAY_COUNT; way++) {
        if (!(job->ways & 1u << way)) continue;
        wrong += compare_way(harness, engine, job, (Way)way, cases, out, wrong);
        out += cases->count * job->form.destinations;
    }
    if (wrong > MAX_MESSAGES)
        fprintf(stderr, "%s [%s]: %d wrong results\n", job->form.text, engine->variant, wrong);
    return wrong == 0;
}

static void run_job(Lanes *lanes, EngineModule *const *modules, Job *job) {
    Harness *harness = lanes->harness;
    harness_count_form(harness, job->form.text);
    choose_operands(harness, &job->form, job->number, lanes->cases);
    choose_masks(lanes->cases, job->number);
    expect(job, lanes->cases);
    bool is_right = true;
    for (int e = 0; e < harness->engine_count; e++)
        is_right &= run_on(harness, &harness->engines[e], modules[e], job, lanes->cases);
    if (!is_right) harness_fail(harness, job->form.text);
}

/* Loads some jobs as one module and runs them. If the module does not load, it is split until the
 * culprit is found. */
static void run_jobs(Lanes *lanes, Job *jobs, int count) {
    Harness *harness = lanes->harness;
    EngineModule *modules[HARNESS_MAX_ENGINES] = {NULL};
    Text ptx = {0};
    text_add(&ptx, HARNESS_HEADER);
    for (int i = 0; i < count; i++)
        kernel_write(&jobs[i], &ptx);
    char *messages = NULL;
    for (int e = 0; e < harness->engine_count; e++) {
        modules[e] = engine_load(&harness->engines[e], &ptx, &messages);
        if (!modules[e]) break;
    }
    text_free(&ptx);
    if (modules[harness->engine_count - 1]) {
        for (int i = 0; i < count; i++)
            run_job(lanes, modules, &jobs[i]);
    } else if (count > 1) {
        run_jobs(lanes, jobs, count / 2);
        run_jobs(lanes, jobs + count / 2, count - count / 2);
    } else if (harness->engines[0].lacks_form) {
        harness_note_absent(harness, jobs->form.text, messages);
    } else {
        fprintf(stderr, "%s does not load: %s", jobs->form.text, messages);
        harness_fail(harness, jobs->form.text);
    }
    free(messages);
    for (int e = 0; e < harness->engine_count; e++)
        if (modules[e]) engine_unload(&harness->engines[e], modules[e]);
}

static void add_job(void *user, const Form *form) {
    Lanes *lanes = user;
    int number = lanes->number++;
    if (!harness_wants(lanes->harness, form->text) || !harness_takes(lanes->harness)) return;
    Job *job = &lanes->jobs[lanes->job_count++];
    *job = (Job){.form = *form, .unit = lanes->harness->units - 1};
    kernel_plan(job, number);
    if (lanes->job_count < BATCH) return;
    run_jobs(lanes, lanes->jobs, lanes->job_count);
    lanes->job_count = 0;
}

void lanes_run(Harness *harness, const Row *rows) {
    Lanes *lanes = calloc(1, sizeof *lanes);
    lanes->cases = malloc(sizeof *lanes->cases);
    lanes->harness = harness;
    for (const Row *row = rows; row->pattern; row++)
        form_each(row, add_job, lanes);
    if (lanes->job_count) run_jobs(lanes, lanes->jobs, lanes->job_count);
    free(lanes->cases);
    free(lanes);
}
