/* Compares cp.async, wide loads and stores, and vector atomics with plain ones, element by
 * element. */
#include "pairs.h"

/* ---- cp.async ---- */

enum { SLOTS = 4, SLOT_BYTES = 16, THREAD_BYTES = SLOTS * SLOT_BYTES };

#define SHARED ".shared .align 16 .b8 s[2048];\n"

/* One copy of a thread: the bytes of the input that go to its slot of shared memory. */
typedef struct Copy {
    bool bypasses;   /* .cg, otherwise .ca */
    uint32_t bytes;  /* 4, 8 or 16 */
    uint32_t source; /* offset in the thread's part of the input */
    enum { WHOLE, SIZE, IGNORED } mode;
} Copy;

/* %r0: the thread's slots, whose bytes are 0x11 at first; %x0: its part of the input. %r2 is the
 * source size of each copy; %p0 says whether its source is ignored. */
static void begin_copies(Pair *pair, const char *name, const char *variables) {
    pair_begin(pair, name, variables);
    pair_add(pair,
             "mov.u32 %%r0, s;\nmad.lo.u32 %%r0, %%t, %d, %%r0;\n"
             "mad.wide.u32 %%x0, %%t, 256, %%in;\nld.global.u32 %%r4, [%%x0+252];\n",
             THREAD_BYTES);
    for (int i = 0; i < THREAD_BYTES; i += 4)
        pair_add(pair, "st.shared.u32 [%%r0+%d], 0x11111111;\n", i);
}

static void end_copies(Pair *pair) {
    pair_add(pair, "bar.sync 0;\nmad.wide.u32 %%x1, %%t, %d, %%out;\n", THREAD_BYTES);
    for (int i = 0; i < THREAD_BYTES; i += 4)
        pair_add(pair, "ld.shared.u32 %%r3, [%%r0+%d];\nst.global.u32 [%%x1+%d], %%r3;\n", i, i);
    pair_end(pair);
}

/* The thread's own source size, or whether it ignores the source. */
static void choose(Pair *pair, int slot, const Copy *copy) {
    pair_add(pair, "shr.u32 %%r2, %%r4, %d;\n", slot * 8);
    if (copy->mode == SIZE)
        pair_add(pair, "and.b32 %%r2, %%r2, 255;\nrem.u32 %%r2, %%r2, %u;\n", copy->bytes + 1);
    else pair_add(pair, "and.b32 %%r2, %%r2, 1;\nsetp.ne.u32 %%p0, %%r2, 0;\n");
}

static void copy_bytes(Pair *pair, int slot, const Copy *copy) {
    choose(pair, slot, copy);
    if (copy->mode == IGNORED) pair_add(pair, "selp.u32 %%r2, 0, %u, %%p0;\n", copy->bytes);
    for (uint32_t i = 0; i < copy->bytes; i++) {
        pair_add(pair, "mov.u16 %%h0, 0;\n");
        if (copy->mode != WHOLE) pair_add(pair, "setp.gt.u32 %%p1, %%r2, %u;\n@%%p1 ", i);
        pair_add(pair, "ld.global.u8 %%h0, [%%x0+%u];\nst.shared.u8 [%%r0+%u], %%h0;\n",
                 copy->source + i, (uint32_t)slot * SLOT_BYTES + i);
    }
}

void pair_make_copy(Pair *pair) {
    static const char *const last[] = {"", ", %r2", ", %p0"};
    static const char *const hints[] = {"", ".L2::64B", ".L2::128B", ".L2::256B"};
    Copy copies[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        Copy *copy = &copies[i];
        copy->bytes = 4u << pair_draw(pair, 3);
        copy->bypasses = copy->bytes == 16 && pair_draw(pair, 2);
        copy->source = pair_draw(pair, 240 / copy->bytes) * copy->bytes;
        const uint32_t mode = pair_draw(pair, 3);
        copy->mode = mode == 0 ? WHOLE : mode == 1 ? SIZE : IGNORED;
    }
    begin_copies(pair, "one", SHARED);
    for (int i = 0; i < SLOTS; i++) {
        choose(pair, i, &copies[i]);
        pair_add(pair, "cp.async.%s.shared.global%s [%%r0+%d], [%%x0+%u], %u%s;\n",
                 copies[i].bypasses ? "cg" : "ca", hints[pair_draw(pair, 4)], i * SLOT_BYTES,
                 copies[i].source, copies[i].bytes, last[copies[i].mode]);
        if (pair_draw(pair, 2)) pair_add(pair, "cp.async.commit_group;\n");
        if (!pair_draw(pair, 3)) pair_add(pair, "cp.async.wait_group %u;\n", pair_draw(pair, 3));
    }
    pair_add(pair, "cp.async.wait_all;\n");
    end_copies(pair);
    begin_copies(pair, "other", "");
    for (int i = 0; i < SLOTS; i++)
        copy_bytes(pair, i, &copies[i]);
    end_copies(pair);
}

/* ---- Wide loads and stores ---- */

/* Each thread moves 32 bytes from the input to the output, if its lane is chosen. */
static void begin_wide(Pair *pair, const char *name) {
    pair_begin(pair, name, "");
    pair_add(pair, "mad.wide.u32 %%x0, %%t, 32, %%in;\nmad.wide.u32 %%x1, %%t, 32, %%out;\n"
                   "add.u64 %%x1, %%x1, 4096;\nld.global.u32 %%r8, [%%x0];\n"
                   "and.b32 %%r8, %%r8, 3;\nsetp.ne.u32 %%p0, %%r8, 0;\n");
}

void pair_make_wide(Pair *pair) {
    const Word type = pair_word(pair, "b32 f32 u32 s32");
    const bool is_octet = pair_draw(pair, 2), is_float = type.text[0] == 'f';
    const char prefix = is_float ? 'f' : 'r';
    begin_wide(pair, "one");
    if (is_octet) {
        for (int stores = 0; stores < 2; stores++) {
            pair_add(pair, "@%%p0 %s.global.v8.%.*s ", stores ? "st" : "ld", type.length,
                     type.text);
            if (stores) pair_add(pair, "[%%x1], ");
            for (int i = 0; i < 8; i++)
                pair_add(pair, "%s%%%c%d", i ? ", " : "{", prefix, i);
            pair_add(pair, stores ? "};\n" : "}, [%%x0];\n");
        }
    } else {
        pair_add(pair,
                 ".reg .b128 %%w0, %%w1;\n@%%p0 ld.global.b128 %%w0, [%%x0];\n"
                 "@%%p0 ld.global.b128 %%w1, [%%x0+16];\n"
                 "mov.b128 {%%x2, %%x3}, %%w0;\nmov.b128 %%w0, {%%x2, %%x3};\n"
                 "@%%p0 st.global.b128 [%%x1], %%w0;\n@%%p0 st.global.b128 [%%x1+16], %%w1;\n");
    }
    pair_end(pair);
    begin_wide(pair, "other");
    for (int i = 0; i < 32; i += 4)
        pair_add(pair,
                 "@%%p0 ld.global.b32 %%r0, [%%x0+%d];\n@%%p0 st.global.b32 [%%x1+%d], "
                 "%%r0;\n",
                 i, i);
    pair_end(pair);
}

/* ---- Vector atomics ---- */

enum { CELL_BYTES = 16 };

/* A form: `elements` values of a type, on cells that several lanes share. */
typedef struct Vector {
    Word type, operation;
    int elements, bytes; /* of an element */
    char prefix;         /* of the registers */
    const char *noftz;
} Vector;

/* %x1: the lane's cell in the output, one of eight; %x0: the value that it adds. */
static void begin_vector(Pair *pair, const char *name) {
    pair_begin(pair, name, "");
    pair_add(pair,
             "mad.wide.u32 %%x0, %%t, %d, %%in;\nld.global.u32 %%r20, [%%x0+2048];\n"
             "and.b32 %%r20, %%r20, 7;\nmad.wide.u32 %%x1, %%r20, %d, %%out;\n"
             "mad.wide.u32 %%x2, %%t, %d, %%out;\nadd.u64 %%x2, %%x2, 4096;\n",
             CELL_BYTES, CELL_BYTES, CELL_BYTES);
}

static void load_vector(Pair *pair, const Vector *v, int e) {
    pair_add(pair, "ld.global.b%d %%%c%d, [%%x0+%d];\n", 8 * v->bytes, v->prefix, e, e * v->bytes);
}

static void write_vector(Pair *pair, const Vector *v, bool is_reduction) {
    begin_vector(pair, "one");
    for (int e = 0; e < v->elements; e++)
        load_vector(pair, v, e);
    pair_add(pair, "%s.global.%.*s%s.v%d.%.*s ", is_reduction ? "red" : "atom", v->operation.length,
             v->operation.text, v->noftz, v->elements, v->type.length, v->type.text);
    for (int e = 0; e < v->elements && !is_reduction; e++)
        pair_add(pair, "%s%%%c%d%s", e ? ", " : "{", v->prefix, 8 + e,
                 e == v->elements - 1 ? "}, " : "");
    pair_add(pair, "[%%x1], ");
    for (int e = 0; e < v->elements; e++)
        pair_add(pair, "%s%%%c%d", e ? ", " : "{", v->prefix, e);
    pair_add(pair, "};\n");
    for (int e = 0; e < v->elements && !is_reduction; e++)
        pair_add(pair, "st.global.b%d [%%x2+%d], %%%c%d;\n", 8 * v->bytes, e * v->bytes, v->prefix,
                 8 + e);
    pair_end(pair);
}

/* One lane after another: a scalar atom if there is one, otherwise a load, the operation and a
 * store. */
static void write_scalars(Pair *pair, const Vector *v, bool is_reduction) {
    const bool is_add = pair_word_is(v->operation, "add");
    begin_vector(pair, "other");
    for (int e = 0; e < v->elements; e++)
        load_vector(pair, v, e);
    pair_add(pair, "mov.u32 %%r30, 0;\nNEXT:\nsetp.eq.u32 %%p0, %%r30, %%l;\n@!%%p0 bra WAIT;\n");
    for (int e = 0; e < v->elements; e++) {
        const int at = e * v->bytes, bits = 8 * v->bytes;
        if (is_add)
            pair_add(pair, "atom.global.add%s.%.*s %%%c8, [%%x1+%d], %%%c%d;\n", v->noftz,
                     v->type.length, v->type.text, v->prefix, at, v->prefix, e);
        else
            pair_add(pair,
                     "ld.global.b%d %%%c8, [%%x1+%d];\n%.*s.%.*s %%%c9, %%%c8, %%%c%d;\n"
                     "st.global.b%d [%%x1+%d], %%%c9;\n",
                     bits, v->prefix, at, v->operation.length, v->operation.text, v->type.length,
                     v->type.text, v->prefix, v->prefix, v->prefix, e, bits, at, v->prefix);
        if (!is_reduction) pair_add(pair, "st.global.b%d [%%x2+%d], %%%c8;\n", bits, at, v->prefix);
    }
    pair_add(pair, "WAIT:\nadd.u32 %%r30, %%r30, 1;\nsetp.lt.u32 %%p0, %%r30, 32;\n"
                   "@%%p0 bra NEXT;\n");
    pair_end(pair);
}

void pair_make_vector_atomic(Pair *pair) {
    Vector v = {.type = pair_word(pair, "f32 f16 bf16 f16x2 bf16x2"), .noftz = ".noftz"};
    const bool is_reduction = pair_draw(pair, 2), is_pair = v.type.text[v.type.length - 2] == 'x';
    const bool is_single = pair_word_is(v.type, "f32");
    v.operation = pair_word(pair, is_single ? "add" : "add min max");
    v.bytes = is_single || is_pair ? 4 : 2;
    v.elements = 2 << pair_draw(pair, v.bytes == 4 ? 2 : 3);
    v.prefix = is_single ? 'f' : is_pair ? 'r' : 'h';
    if (is_single) v.noftz = "";
    write_vector(pair, &v, is_reduction);
    write_scalars(pair, &v, is_reduction);
}
