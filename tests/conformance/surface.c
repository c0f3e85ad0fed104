/* suld, sust, sured and suq with a surface object: geometries, sizes, and accesses outside. The
 * reference works on the bytes of the surface, one by one. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "memory/texture.h"

#include "values.h"

enum {
    SURFACES = 12,
    BYTES = 1 << 13, /* size of a surface */
    PITCH = 256,
    INPUT_AT = 64, /* first word of the threads' inputs: four coordinates, then data */
    INPUT_WORDS = 6
};

typedef struct Sample {
    MemGeometry geometry;
    uint8_t dimensions;
    uint16_t width, height, depth;
    uint8_t channels, bits;
    MemTexelType type;
} Sample;

static const Sample samples[SURFACES] = {
    {MEM_PLAIN, 1, 64, 1, 1, 4, 8, MEM_TEXEL_UNSIGNED},
    {MEM_PLAIN, 2, 32, 8, 1, 1, 32, MEM_TEXEL_UNSIGNED},
    {MEM_PLAIN, 2, 16, 8, 1, 4, 32, MEM_TEXEL_FLOAT},
    {MEM_PLAIN, 3, 8, 4, 4, 2, 16, MEM_TEXEL_SIGNED},
    {MEM_LAYERS, 1, 32, 1, 4, 1, 16, MEM_TEXEL_UNSIGNED},
    {MEM_LAYERS, 2, 8, 8, 3, 4, 16, MEM_TEXEL_FLOAT},
    {MEM_CUBES, 2, 4, 4, 6, 1, 32, MEM_TEXEL_UNSIGNED},
    {MEM_PLAIN, 1, 16, 1, 1, 1, 32, MEM_TEXEL_SIGNED},
    {MEM_PLAIN, 2, 16, 8, 1, 2, 32, MEM_TEXEL_SIGNED},
    {MEM_PLAIN, 3, 8, 4, 4, 1, 32, MEM_TEXEL_SIGNED},
    {MEM_PLAIN, 1, 16, 1, 1, 2, 32, MEM_TEXEL_UNSIGNED},
    {MEM_PLAIN, 3, 4, 4, 4, 2, 32, MEM_TEXEL_SIGNED},
};

/* Two surfaces for each sample: one over bytes that are read, one over the output, which is
 * compared. */
typedef struct Atlas {
    uint8_t bytes[SURFACES][BYTES];
    uint64_t reads[HARNESS_MAX_ENGINES][SURFACES];
    uint64_t writes[HARNESS_MAX_ENGINES][SURFACES];
    uint64_t texture[HARNESS_MAX_ENGINES]; /* an object that is not a surface */
} Atlas;

static int texel_bytes(const Sample *sample) { return sample->channels * sample->bits / 8; }

static MemTexture describe(const Sample *sample, uint64_t address) {
    return (MemTexture){.geometry = sample->geometry,
                        .dimensions = sample->dimensions,
                        .channels = sample->channels,
                        .channel_bits = sample->bits,
                        .levels = 1,
                        .type = sample->type,
                        .is_surface = true,
                        .level[0] = {address, sample->width, sample->height, sample->depth, PITCH,
                                     (uint64_t)PITCH * sample->height}};
}

/* ---- A case ---- */

typedef struct Case {
    const Form *form;
    int number; /* number of the surface */
    int bytes;  /* size of an element */
    int elements;
    bool is_formatted; /* x is in texels */
} Case;

/* A thread's input: x, y, z, layer, then data. */
typedef struct Input {
    int32_t at[4];
    uint64_t data[4];
} Input;

static bool has_layer(const Form *form) { return form_has(form, "a1d") || form_has(form, "a2d"); }

static int access_bytes(const Case *c, bool stores) {
    return c->is_formatted && stores ? texel_bytes(&samples[c->number]) : c->bytes * c->elements;
}

/* Chooses coordinates inside and, unless the form traps, around the surface. */
static void choose_input(uint64_t *state, const Case *c, bool stores, Input *input) {
    const Sample *sample = &samples[c->number];
    const bool traps = form_has(c->form, "trap");
    const int bytes = access_bytes(c, stores), row = sample->width * texel_bytes(sample);
    const int places[3] = {row / bytes, sample->height, sample->depth};
    for (int axis = 0; axis < 3; axis++) {
        const int wide = traps ? places[axis] : 2 * places[axis] + 2;
        const int at = (int)(values_next(state) % (unsigned)wide) - (traps ? 0 : places[axis] / 2);
        input->at[axis] = axis              ? at
                          : c->is_formatted ? at * bytes / texel_bytes(sample)
                                            : at * bytes;
    }
    input->at[3] = input->at[2] < 0 ? 9 : input->at[2]; /* layers are unsigned */
    for (int e = 0; e < 4; e++)
        input->data[e] = values_next(state);
}

/* Offset of the access in the surface's memory; -1: no access. */
static int place_of(const Case *c, const Input *input, bool stores) {
    const Sample *sample = &samples[c->number];
    const int bytes = access_bytes(c, stores), row = sample->width * texel_bytes(sample);
    int x = input->at[0] * (c->is_formatted ? texel_bytes(sample) : 1);
    int y = sample->dimensions > 1 ? input->at[1] : 0;
    int z = has_layer(c->form) ? input->at[3] : sample->dimensions > 2 ? input->at[2] : 0;
    const bool is_outside =
        x < 0 || x + bytes > row || y < 0 || y >= sample->height || z < 0 || z >= sample->depth;
    if (is_outside && !form_has(c->form, "clamp")) return -1;
    while (x < 0)
        x += bytes;
    while (x + bytes > row)
        x -= bytes;
    y = y < 0 ? 0 : y >= sample->height ? sample->height - 1 : y;
    z = z < 0 ? 0 : z >= sample->depth ? sample->depth - 1 : z;
    return (z * sample->height + y) * PITCH + x;
}

/* ---- Kernels ---- */

static void prepare(Trial *trial, Engine *engine) {
    const Atlas *atlas = trial->user;
    const int e = (int)(engine - trial->harness->engines);
    memcpy(trial->in, atlas->reads[e], sizeof *atlas->reads);
    memcpy(trial->in + SURFACES, atlas->writes[e], sizeof *atlas->writes);
    trial->in[2 * SURFACES] = atlas->texture[e];
    engine_write_to(engine, trial->written < 0 ? 0 : atlas->writes[e][trial->written]);
}

static const char *place_text(const Form *form) {
    return form_has(form, "1d")    ? "{c0}"
           : form_has(form, "2d")  ? "{c0, c1}"
           : form_has(form, "3d")  ? "{c0, c1, c2, c2}"
           : form_has(form, "a1d") ? "{c3, c0}"
                                   : "{c3, c0, c1, c1}";
}

static int register_bits(const Case *c) { return c->bytes < 2 ? 16 : c->bytes * 8; }

static void begin(Trial *trial, const Case *c, bool stores) {
    uint64_t state = 5 + (uint64_t)c->number;
    trial_begin(trial, c->form->text);
    trial->prepare = prepare;
    trial->written = stores ? c->number : -1;
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                ".reg .b32 c<4>;\n.reg .b%d d<4>;\n.reg .b64 w;\n"
                "ld.global.u64 at, [in+%d];\nmad.wide.u32 in, tid, %d, in;\n"
                "ld.global.v4.u32 {c0, c1, c2, c3}, [in+%d];\n",
                register_bits(c), (c->number + (stores ? SURFACES : 0)) * 8, INPUT_WORDS * 8,
                INPUT_AT * 8);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        Input input;
        choose_input(&state, c, stores, &input);
        memcpy(&trial->in[INPUT_AT + thread * INPUT_WORDS], &input, sizeof input);
    }
}

static void add_data(Trial *trial, const Case *c) {
    for (int e = 0; e < c->elements; e++)
        text_printf(&trial->ptx, "ld.global.u64 w, [in+%d];\ncvt.u%d.u64 d%d, w;\n",
                    INPUT_AT * 8 + 16 + e * 8, register_bits(c), e);
}

static const char *data_text(const Case *c) {
    return c->elements == 1 ? "{d0}" : c->elements == 2 ? "{d0, d1}" : "{d0, d1, d2, d3}";
}

/* ---- suld ---- */

static void run_load(Trial *trial, const Case *c) {
    const Atlas *atlas = trial->user;
    begin(trial, c, false);
    text_printf(&trial->ptx, "%s %s, [at, %s];\nmad.wide.u32 out, tid, 32, out;\n", c->form->text,
                data_text(c), place_text(c->form));
    for (int e = 0; e < c->elements; e++)
        text_printf(&trial->ptx, "cvt.u64.u%d w, d%d;\nst.global.u64 [out+%d], w;\n",
                    register_bits(c), e, e * 8);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        Input input;
        memcpy(&input, &trial->in[INPUT_AT + thread * INPUT_WORDS], sizeof input);
        const int at = place_of(c, &input, false);
        for (int e = 0; e < c->elements; e++) {
            uint64_t value = 0;
            for (int i = 0; i < c->bytes && at >= 0; i++)
                value |= (uint64_t)atlas->bytes[c->number][at + e * c->bytes + i] << 8 * i;
            trial->expected[thread * 4 + e] = value;
        }
    }
    trial->slots = TRIAL_THREADS * 4;
    trial_run(trial);
}

/* ---- sust ---- */

/* A word as a channel of the surface stores it: integers are saturated. */
static uint64_t encode(const Sample *sample, uint32_t word) {
    if (sample->type == MEM_TEXEL_FLOAT && sample->bits == 16) {
        Real real;
        real_set(&real, &FORMAT_F32, word);
        return real_class(&FORMAT_F32, word) == REAL_NAN
                   ? FORMAT_F16.nan
                   : real_round(&FORMAT_F16, real.value, MPFR_RNDZ);
    }
    if (sample->bits == 32) return word;
    const bool is_signed = sample->type == MEM_TEXEL_SIGNED;
    const __int128 most = ((__int128)1 << (sample->bits - is_signed)) - 1;
    const __int128 least = is_signed ? -most - 1 : 0;
    const __int128 value = is_signed ? (__int128)(int32_t)word : (__int128)word;
    return (uint64_t)(value < least  ? least
                      : value > most ? most
                                     : value) &
           type_mask(sample->bits);
}

static void store(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Only the first of the threads that would write to the same place writes. */
static bool is_taken(bool *taken, int at, int bytes) {
    for (int i = 0; i < bytes; i++)
        if (taken[at + i]) return true;
    memset(taken + at, true, (size_t)bytes);
    return false;
}

static void run_store(Trial *trial, const Case *c) {
    const Sample *sample = &samples[c->number];
    bool taken[BYTES] = {false};
    begin(trial, c, true);
    uint8_t *expected = (uint8_t *)trial->expected;
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        Input input;
        uint64_t *word = &trial->in[INPUT_AT + thread * INPUT_WORDS];
        memcpy(&input, word, sizeof input);
        const int at = place_of(c, &input, true), bytes = access_bytes(c, true);
        const bool writes = at >= 0 && !is_taken(taken, at, bytes);
        trial->in[INPUT_AT + TRIAL_THREADS * INPUT_WORDS + thread] = at < 0 || writes;
        if (!writes) continue;
        for (int e = 0; e < (c->is_formatted ? sample->channels : c->elements); e++) {
            const uint64_t value = e < c->elements ? input.data[e] : 0;
            if (c->is_formatted)
                store(expected + at + e * sample->bits / 8, encode(sample, (uint32_t)value),
                      sample->bits / 8);
            else store(expected + at + e * c->bytes, value, c->bytes);
        }
    }
    add_data(trial, c);
    text_printf(&trial->ptx,
                "ld.param.u64 w, [in0];\nmad.wide.u32 w, tid, 8, w;\n"
                "ld.global.u64 w, [w+%d];\nsetp.ne.u64 guard, w, 0;\n@guard %s [at, %s], %s;\n",
                (INPUT_AT + TRIAL_THREADS * INPUT_WORDS) * 8, c->form->text, place_text(c->form),
                data_text(c));
    trial->slots = BYTES / 8;
    trial_run(trial);
}

/* ---- sured ---- */

static uint64_t reduce(const Case *c, uint64_t old, uint64_t b) {
    static const char *const operations[] = {"add", "min", "max", "and", "or", NULL};
    const bool is_signed = c->is_formatted ? samples[c->number].type == MEM_TEXEL_SIGNED
                                           : c->form->types[0]->kind == KIND_SIGNED;
    const Type type = {"", is_signed ? KIND_SIGNED : KIND_UNSIGNED, c->bytes * 8, 1, NULL};
    const __int128 x = type_integer(&type, old), y = type_integer(&type, b);
    switch (form_which(c->form, operations)) {
    case 0: return old + b;
    case 1: return (uint64_t)(x < y ? x : y);
    case 2: return (uint64_t)(x > y ? x : y);
    case 3: return old & b;
    default: return old | b;
    }
}

static void run_reduction(Trial *trial, const Case *c) {
    begin(trial, c, true);
    uint8_t *expected = (uint8_t *)trial->expected;
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        Input input;
        memcpy(&input, &trial->in[INPUT_AT + thread * INPUT_WORDS], sizeof input);
        const int at = place_of(c, &input, true);
        if (at < 0) continue;
        uint64_t old = 0;
        memcpy(&old, expected + at, (size_t)c->bytes);
        store(expected + at, reduce(c, old, input.data[0]), c->bytes);
    }
    add_data(trial, c);
    text_printf(&trial->ptx, "%s [at, %s], d0;\n", c->form->text, place_text(c->form));
    trial->slots = BYTES / 8;
    trial_run(trial);
}

/* ---- The trials ---- */

static bool suits(const Case *c) {
    const Sample *sample = &samples[c->number];
    const Form *form = c->form;
    const int dimensions = form_has(form, "1d") || form_has(form, "a1d") ? 1
                           : form_has(form, "3d")                        ? 3
                                                                         : 2;
    const bool is_reduction = strcmp(form_word(form, 0), "sured") == 0;
    if (is_reduction && c->is_formatted && texel_bytes(sample) != c->bytes) return false;
    if (is_reduction && c->is_formatted && sample->channels * c->bytes > c->bytes &&
        c->bytes == 4 && sample->bits < 32)
        return false;
    return dimensions == sample->dimensions && has_layer(form) == (sample->geometry != MEM_PLAIN);
}

static void visit(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const char *name = form_word(&form, 0);
    Case c = {&form, .bytes = form.types[0]->bits / 8,
              .elements = form_has(&form, "v4")   ? 4
                          : form_has(&form, "v2") ? 2
                                                  : 1,
              .is_formatted = form_has(&form, "p")};
    for (c.number = 0; c.number < SURFACES; c.number++) {
        if (!suits(&c)) continue;
        if (strcmp(name, "suld") == 0) run_load(trial, &c);
        else if (strcmp(name, "sust") == 0) run_store(trial, &c);
        else run_reduction(trial, &c);
    }
}

static void visit_query(void *user, const char *spelling) {
    Trial *trial = user;
    trial_begin(trial, spelling);
    trial->prepare = prepare;
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                "rem.u32 t, tid, %d;\nmad.wide.u32 in, t, 8, in;\nld.global.u64 at, [in];\n"
                "%s t, [at];\ncvt.u64.u32 at, t;\nmad.wide.u32 out, tid, 8, out;\n"
                "st.global.u64 [out], at;\n",
                SURFACES, spelling);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        const Sample *s = &samples[thread % SURFACES];
        const uint32_t size = s->bits == 8 ? 0 : s->bits == 16 ? 1 : 2;
        const uint32_t type = s->type == MEM_TEXEL_FLOAT    ? 0x10dc + size
                              : s->type == MEM_TEXEL_SIGNED ? 0x10d7 + size
                                                            : 0x10da + size;
        trial->expected[thread] =
            strstr(spelling, "width")    ? s->width
            : strstr(spelling, "height") ? (s->dimensions > 1          ? s->height
                                            : s->geometry == MEM_PLAIN ? 0u
                                                                       : s->depth)
            : strstr(spelling, "depth")
                ? (s->dimensions > 2 || (s->dimensions > 1 && s->geometry != MEM_PLAIN) ? s->depth
                                                                                        : 0u)
            : strstr(spelling, "data_type") ? type
            : strstr(spelling, "order")     ? (s->channels == 1   ? 0x10b0u
                                               : s->channels == 2 ? 0x10b2u
                                                                  : 0x10b5u)
            : strstr(spelling, "array")     ? (s->geometry == MEM_PLAIN   ? 1u
                                               : s->geometry == MEM_CUBES ? s->depth / 6u
                                                                          : s->depth)
                                            : 1u; /* memory_layout: linear */
    }
    trial->slots = TRIAL_THREADS;
    trial_run(trial);
}

/* Accesses that must fail the launch: the form, the coordinates, and the place of the handle in the
 * input. */
static void run_faults(Trial *trial) {
    static const struct {
        const char *form, *place;
        int handle;
    } faults[] = {
        {"suld.b.2d.b32.trap", "{128, 0}", 1},      {"suld.b.2d.b32.trap", "{0, 8}", 1},
        {"suld.b.2d.b32.trap", "{-4, 0}", 1},       {"suld.b.2d.b32.trap", "{2, 0}", 1},
        {"suld.b.2d.b32.clamp", "{2, 0}", 1},       {"suld.b.3d.b32.trap", "{0, 0, 4, 4}", 3},
        {"suld.b.a1d.b32.trap", "{4, 0}", 4},       {"suld.b.2d.b32.zero", "{0, 0}", 5},
        {"suld.b.a2d.b32.zero", "{0, 0, 0, 0}", 1}, {"suld.b.2d.b32.zero", "{0, 0}", 2 * SURFACES},
        {"suld.b.2d.b32.zero", "{0, 0}", INPUT_AT}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        trial_begin(trial, faults[i].form);
        trial->prepare = prepare;
        trial->faults = true;
        trial_begin_kernel(trial, "");
        /* The store is needed because ptxas drops a load whose result is not used. */
        text_printf(&trial->ptx,
                    "ld.global.u64 at, [in+%d];\n%s t, [at, %s];\nst.global.u32 [out], t;\n",
                    faults[i].handle * 8, faults[i].form, faults[i].place);
        trial_run(trial);
    }
}

#define GEOMETRY "(.1d,.2d,.3d,.a1d,.a2d)"
#define MODE     "(.trap,.clamp,.zero)"

void surface_run(Harness *harness) {
    static Atlas atlas;
    uint64_t state = 3;
    for (int s = 0; s < SURFACES; s++)
        for (int i = 0; i < BYTES; i++)
            atlas.bytes[s][i] = (uint8_t)values_next(&state);
    for (int e = 0; e < harness->engine_count; e++) {
        Engine *engine = &harness->engines[e];
        uint8_t *bytes = engine_buffer(engine, 3);
        memcpy(bytes + HARNESS_BUFFER_BYTES / 2, atlas.bytes, sizeof atlas.bytes);
        for (int s = 0; s < SURFACES; s++) {
            const uint64_t at = engine->buffers[3] + HARNESS_BUFFER_BYTES / 2 + (uint64_t)s * BYTES;
            const MemTexture read = describe(&samples[s], at);
            const MemTexture write = describe(&samples[s], engine->buffers[1]);
            atlas.reads[e][s] = engine_texture(engine, &read);
            atlas.writes[e][s] = engine_texture(engine, &write);
        }
        MemTexture texture = describe(&samples[1], engine->buffers[3]);
        texture.is_surface = false;
        atlas.texture[e] = engine_texture(engine, &texture);
    }
    Trial *trial = trial_new(harness);
    trial->user = &atlas;
    form_expand("suld", ".b" GEOMETRY "{.v2,.v4}(.b8,.b16,.b32)" MODE, visit, trial);
    form_expand("suld", ".b" GEOMETRY "{.v2}.b64" MODE, visit, trial);
    form_expand("suld", ".b.2d(.ca,.cg,.cs,.cv).b32.trap", visit, trial);
    form_expand("sust", ".b" GEOMETRY "{.v2,.v4}(.b8,.b16,.b32)" MODE, visit, trial);
    form_expand("sust", ".b" GEOMETRY "{.v2}.b64" MODE, visit, trial);
    form_expand("sust", ".b.2d(.wb,.cg,.cs,.wt).b32.trap", visit, trial);
    form_expand("sust", ".p" GEOMETRY "{.v2,.v4}.b32" MODE, visit, trial);
    form_expand("sured", ".b(.add,.min,.max)(.1d,.2d,.3d)(.u32,.s32,.u64,.s64)" MODE, visit, trial);
    form_expand("sured", ".b(.and,.or)(.1d,.2d,.3d).b32" MODE, visit, trial);
    form_expand("sured", ".p(.add,.min,.max,.and,.or)(.1d,.2d,.3d).b32" MODE, visit, trial);
    form_expand("sured", ".p(.min,.max)(.1d,.2d,.3d).b64" MODE, visit, trial);
    form_expand("suq",
                "(.width,.height,.depth,.channel_data_type,.channel_order,.array_size,"
                ".memory_layout).b32",
                visit_query, trial);
    run_faults(trial);
    trial_free(trial);
}
