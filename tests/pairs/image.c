/* Compares textures, read at points, and surfaces with plain accesses to the same bytes. */
#include "pairs.h"

enum { PITCH = 256, COORDINATES_AT = PAIR_BYTES - 4096, THREAD_BYTES = 32 };

/* A geometry and how the ISA writes its coordinates: %r0 to %r2 are x, y and z, %r3 the layer. */
typedef struct Form {
    const char *name;
    MemGeometry geometry;
    uint8_t dimensions;
    const char *place; /* for integer coordinates */
    const char *point; /* for floating-point coordinates */
} Form;

static const Form forms[] = {
    {"1d", MEM_PLAIN, 1, "{%r0}", "{%f0}"},
    {"2d", MEM_PLAIN, 2, "{%r0, %r1}", "{%f0, %f1}"},
    {"3d", MEM_PLAIN, 3, "{%r0, %r1, %r2, %r2}", "{%f0, %f1, %f2, %f2}"},
    {"a1d", MEM_LAYERS, 1, "{%r3, %r0}", "{%r3, %f0}"},
    {"a2d", MEM_LAYERS, 2, "{%r3, %r0, %r1, %r1}", "{%r3, %f0, %f1, %f1}"},
};

static Form draw_form(Pair *pair) {
    return forms[pair_draw(pair, 3) ? 3 + pair_draw(pair, 2) : pair_draw(pair, 3)];
}

static MemTexture draw_image(Pair *pair, Form form) {
    static const uint8_t channels[] = {1, 2, 4}, bits[] = {8, 16, 32};
    MemTexture image = {.geometry = form.geometry,
                        .dimensions = form.dimensions,
                        .channels = channels[pair_draw(pair, 3)],
                        .channel_bits = bits[pair_draw(pair, 3)],
                        .levels = 1};
    const uint32_t type = pair_draw(pair, image.channel_bits == 8 ? 2 : 3);
    image.type = type == 0 ? MEM_TEXEL_UNSIGNED : type == 1 ? MEM_TEXEL_SIGNED : MEM_TEXEL_FLOAT;
    const uint64_t height = form.dimensions > 1 ? 1 + pair_draw(pair, 9) : 1;
    const bool is_deep = form.dimensions > 2 || form.geometry == MEM_LAYERS;
    image.level[0] = (MemLevel){.width = 1 + pair_draw(pair, PITCH / 16),
                                .height = height,
                                .depth = is_deep ? 1 + pair_draw(pair, 5) : 1,
                                .pitch_bytes = PITCH,
                                .slice_bytes = PITCH * height};
    return image;
}

/* Gives each thread x, y and z inside or near the image, and one of its layers. */
static void draw_coordinates(Pair *pair, const MemTexture *image, bool is_inside) {
    const MemLevel *level = &image->level[0];
    const uint64_t sizes[] = {level->width, level->height, level->depth};
    for (uint32_t thread = 0; thread < 32; thread++) {
        uint32_t *at = &pair->in_words[(COORDINATES_AT + thread * THREAD_BYTES) / 4];
        for (int axis = 0; axis < 3; axis++) {
            const uint32_t size = (uint32_t)sizes[axis];
            const bool may_leave = !is_inside && thread % 4;
            at[axis] = may_leave ? pair_draw(pair, size + 8) - 4 : pair_draw(pair, size);
        }
        at[3] = pair_draw(pair, (uint32_t)level->depth);
    }
}

static void begin(Pair *pair, const char *name) {
    pair_begin(pair, name, "");
    pair_add(pair,
             "mad.wide.u32 %%x0, %%t, %d, %%in;\nadd.u64 %%x0, %%x0, %d;\n"
             "mad.wide.u32 %%x1, %%t, %d, %%out;\nadd.u64 %%x1, %%x1, %d;\n",
             THREAD_BYTES, COORDINATES_AT, THREAD_BYTES, COORDINATES_AT);
    for (int i = 0; i < 4; i++)
        pair_add(pair, "ld.global.u32 %%r%d, [%%x0+%d];\n", i, 4 * i);
}

/* %p0: the place is in the image. %r0 to %r2 become the nearest place in the image, where %r2 is
 * the slice. */
static void limit(Pair *pair, const MemTexture *image) {
    const MemLevel *level = &image->level[0];
    const uint64_t sizes[] = {level->width, level->height, level->depth};
    pair_add(pair, "setp.eq.u32 %%p0, 0, 0;\n");
    for (int axis = 0; axis < 3; axis++) {
        if (axis >= image->dimensions) continue;
        const int highest = (int)sizes[axis] - 1;
        pair_add(pair,
                 "setp.ge.and.s32 %%p0, %%r%d, 0, %%p0;\nsetp.le.and.s32 %%p0, %%r%d, %d, %%p0;\n"
                 "max.s32 %%r%d, %%r%d, 0;\nmin.s32 %%r%d, %%r%d, %d;\n",
                 axis, axis, highest, axis, axis, axis, axis, highest);
    }
    if (image->dimensions < 2) pair_add(pair, "mov.u32 %%r1, 0;\n");
    if (image->geometry == MEM_LAYERS) pair_add(pair, "mov.u32 %%r2, %%r3;\n");
    else if (image->dimensions < 3) pair_add(pair, "mov.u32 %%r2, 0;\n");
}

/* %x2: the address of place %r0, %r1, %r2 in the image that begins at `base`. */
static void find(Pair *pair, const MemTexture *image, const char *base) {
    pair_add(pair,
             "mad.lo.s32 %%r4, %%r2, %d, %%r1;\nmul.lo.s32 %%r4, %%r4, %d;\n"
             "mad.lo.s32 %%r4, %%r0, %d, %%r4;\nmad.wide.s32 %%x2, %%r4, 1, %s;\n",
             (int)image->level[0].height, PITCH, (int)mem_texel_bytes(image), base);
}

/* ---- Textures ---- */

/* %r`to` = a channel of the texel at %x2, as 32 bits. */
static void load_channel(Pair *pair, const MemTexture *image, int to, int channel) {
    const int bits = image->channel_bits, at = channel * bits / 8;
    if (image->type == MEM_TEXEL_FLOAT && bits == 16)
        pair_add(pair,
                 "ld.global.b16 %%h0, [%%x2+%d];\ncvt.f32.f16 %%f4, %%h0;\n"
                 "mov.b32 %%r%d, %%f4;\n",
                 at, to);
    else
        pair_add(pair, "ld.global.%c%d %%r%d, [%%x2+%d];\n",
                 image->type == MEM_TEXEL_SIGNED ? 's' : 'u', bits, to, at);
}

void pair_make_texture(Pair *pair) {
    const Form form = draw_form(pair);
    MemTexture image = draw_image(pair, form);
    const bool has_border = pair_draw(pair, 3) == 0, is_float = pair_draw(pair, 2);
    const MemAddressMode mode = has_border ? MEM_ADDRESS_BORDER : MEM_ADDRESS_CLAMP;
    const char type = image.type == MEM_TEXEL_FLOAT    ? 'f'
                      : image.type == MEM_TEXEL_SIGNED ? 's'
                                                       : 'u';
    image.sampler = (MemSampler){.mode = {mode, mode, mode}};
    pair->images[0] = image;
    pair->image_count = 1;
    for (int i = 0; image.type == MEM_TEXEL_FLOAT && i < COORDINATES_AT / 4; i++)
        pair->in_words[i] &= 0xbfffbfff; /* no NaN, which cvt does not preserve */
    draw_coordinates(pair, &image, false);
    begin(pair, "one");
    for (int axis = 0; is_float && axis < 3; axis++) /* a point inside the texel */
        pair_add(pair, "cvt.rn.f32.s32 %%f%d, %%r%d;\nadd.f32 %%f%d, %%f%d, 0f3f400000;\n", axis,
                 axis, axis, axis);
    pair_add(pair, "tex.%s.v4.%c32.%s {%%r8, %%r9, %%r10, %%r11}, [%%i0, %s];\n", form.name, type,
             is_float ? "f32" : "s32", is_float ? form.point : form.place);
    for (int channel = 0; channel < image.channels; channel++)
        pair_add(pair, "st.global.u32 [%%x1+%d], %%r%d;\n", 4 * channel, 8 + channel);
    pair_end(pair);
    begin(pair, "other");
    limit(pair, &image);
    find(pair, &image, "%in");
    for (int channel = 0; channel < image.channels; channel++) {
        load_channel(pair, &image, 8, channel);
        if (has_border || !is_float) pair_add(pair, "@!%%p0 mov.u32 %%r8, 0;\n");
        pair_add(pair, "st.global.u32 [%%x1+%d], %%r8;\n", 4 * channel);
    }
    pair_end(pair);
}

/* ---- Surfaces ---- */

/* The bytes of a texel as the operand of an unformatted access: registers from `first` on. */
typedef struct Access {
    const char *type; /* ".b8", ".v2.b32", ... */
    int elements, bytes;
} Access;

static Access access_of(const MemTexture *image) {
    static const Access accesses[] = {{"b8", 1, 1},    {"b16", 1, 2},    {"b32", 1, 4},
                                      {"v2.b8", 2, 1}, {"v2.b16", 2, 2}, {"v2.b32", 2, 4},
                                      {"v4.b8", 4, 1}, {"v4.b16", 4, 2}, {"v4.b32", 4, 4}};
    const int row = image->channels == 4 ? 2 : image->channels - 1;
    const int column = image->channel_bits == 8 ? 0 : image->channel_bits == 16 ? 1 : 2;
    return accesses[3 * row + column];
}

static void write_list(Pair *pair, int first, int count) {
    for (int i = 0; i < count; i++)
        pair_add(pair, "%s%%r%d", i ? ", " : "{", first + i);
    pair_add(pair, "}");
}

/* Reads a texel of the surface and stores it, writes a texel, or adds to one. */
static void read_or_write(Pair *pair, const MemTexture *image, Form form, Word mode, bool reads) {
    const Access access = access_of(image);
    begin(pair, "one");
    pair_add(pair, "mul.lo.s32 %%r0, %%r0, %d;\n", (int)mem_texel_bytes(image));
    for (int e = 0; e < access.elements && !reads; e++)
        pair_add(pair, "ld.global.u32 %%r%d, [%%x0+%d];\n", 8 + e, 16 + 4 * e);
    if (reads) {
        pair_add(pair, "suld.b.%s.%s.%.*s ", form.name, access.type, mode.length, mode.text);
        write_list(pair, 8, access.elements);
        pair_add(pair, ", [%%i0, %s];\n", form.place);
        for (int e = 0; e < access.elements; e++)
            pair_add(pair, "st.global.b%d [%%x1+%d], %%r%d;\n", 8 * access.bytes, 4 * e, 8 + e);
    } else {
        pair_add(pair, "sust.b.%s.%s.%.*s [%%i0, %s], ", form.name, access.type, mode.length,
                 mode.text, form.place);
        write_list(pair, 8, access.elements);
        pair_add(pair, ";\n");
    }
    pair_end(pair);
    begin(pair, "other");
    for (int e = 0; e < access.elements; e++)
        pair_add(pair, "ld.global.u32 %%r%d, [%%x0+%d];\n", 8 + e, 16 + 4 * e);
    limit(pair, image);
    find(pair, image, "%out");
    for (int e = 0; e < access.elements; e++) {
        const int bits = 8 * access.bytes, at = e * access.bytes;
        if (!reads) {
            if (pair_word_is(mode, "zero")) pair_add(pair, "@%%p0 ");
            pair_add(pair, "st.global.b%d [%%x2+%d], %%r%d;\n", bits, at, 8 + e);
            continue;
        }
        pair_add(pair, "ld.global.b%d %%r8, [%%x2+%d];\n", bits, at);
        if (pair_word_is(mode, "zero")) pair_add(pair, "@!%%p0 mov.u32 %%r8, 0;\n");
        pair_add(pair, "st.global.b%d [%%x1+%d], %%r8;\n", bits, 4 * e);
    }
    pair_end(pair);
}

static void reduce(Pair *pair, const MemTexture *image, Form form, Word mode) {
    const Word operation = pair_word(pair, "add min max and or");
    const bool is_logic = operation.text[0] == 'o' || pair_word_is(operation, "and");
    const char *type = is_logic ? "b32" : pair_draw(pair, 2) ? "u32" : "s32";
    begin(pair, "one");
    pair_add(pair,
             "mul.lo.s32 %%r0, %%r0, 4;\nld.global.u32 %%r8, [%%x0+16];\n"
             "sured.b.%.*s.%s.%s.%.*s [%%i0, %s], %%r8;\n",
             operation.length, operation.text, form.name, type, mode.length, mode.text, form.place);
    pair_end(pair);
    begin(pair, "other");
    pair_add(pair, "ld.global.u32 %%r8, [%%x0+16];\n");
    limit(pair, image);
    find(pair, image, "%out");
    if (pair_word_is(mode, "zero")) pair_add(pair, "@%%p0 ");
    pair_add(pair, "red.global.%.*s.%s [%%x2], %%r8;\n", operation.length, operation.text, type);
    pair_end(pair);
}

void pair_make_surface(Pair *pair) {
    const Form form = draw_form(pair);
    MemTexture image = draw_image(pair, form);
    const uint32_t kind = pair_draw(pair, 3); /* 0: read, 1: write, 2: reduce */
    const bool reduces = kind == 2 && form.geometry == MEM_PLAIN;
    if (reduces) {
        image.channels = 1;
        image.channel_bits = 32;
    }
    if (image.type == MEM_TEXEL_FLOAT) image.type = MEM_TEXEL_UNSIGNED;
    image.is_surface = true;
    const Word mode = pair_word(pair, reduces || kind == 0 ? "trap clamp zero" : "trap zero");
    pair->images[0] = image;
    pair->image_count = 1;
    pair->is_written = true;
    draw_coordinates(pair, &image, pair_word_is(mode, "trap"));
    if (reduces) reduce(pair, &image, form, mode);
    else read_or_write(pair, &image, form, mode, kind == 0);
}
