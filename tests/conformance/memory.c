/* ld, ldu and st: every size, vector and space; registers as wide as the type and wider; guarded
 * and not; with and without a generic address.
 *
 * Each thread has a cell of 32 bytes. For loads the cell holds the thread's input. For stores it
 * holds other bytes, and those around the stored value must stay unchanged. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

enum { CELL = 32, CELL_SLOTS = CELL / 8 };

/* State space of a cell, and how the address names it. */
typedef struct Place {
    const char *name;     /* state space of the cell */
    const char *suffix;   /* state space in the instruction; "" is generic */
    const char *variable; /* declaration in the kernel */
    bool is_filled;       /* the kernel must copy the contents of the cell */
} Place;

#define SHARED_CELLS ".shared .align 32 .b8 cells[3072];\n"
#define LOCAL_CELL   ".local .align 32 .b8 cells[32];\n"

static const Place load_places[] = {
    {"global", ".global", "", false},
    {"global", "", "", false},
    {"const", ".const", "", false},
    {"const", "", "", false},
    {"param", ".param", "", false},
    {"param", ".param::entry", "", false},
    {"shared", ".shared", SHARED_CELLS, true},
    {"shared", ".shared::cta", SHARED_CELLS, true},
    {"shared", "", SHARED_CELLS, true},
    {"local", ".local", LOCAL_CELL, true},
    {"local", "", LOCAL_CELL, true},
};
static const Place store_places[] = {
    {"global", ".global", "", false},          {"global", "", "", false},
    {"shared", ".shared", SHARED_CELLS, true}, {"shared", ".shared::cta", SHARED_CELLS, true},
    {"shared", "", SHARED_CELLS, true},        {"local", ".local", LOCAL_CELL, true},
    {"local", "", LOCAL_CELL, true},
};

static const char *const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                                    "u32", "s32", "f32", "b64", "u64", "s64", "f64"};

/* Words before and after the space that have no effect; all combinations are used in turn. */
typedef struct Advice {
    const char *order, *cache;
} Advice;

static const Advice load_advice[] = {
    {"", ""},
    {".weak", ""},
    {".mmio.relaxed.sys", ""},
    {".volatile", ""},
    {".relaxed.cta", ""},
    {".relaxed.cluster", ".L1::evict_normal"},
    {".acquire.gpu", ".L1::evict_unchanged"},
    {".acquire.sys", ".L1::evict_first"},
    {"", ".ca"},
    {"", ".cg"},
    {"", ".cs"},
    {"", ".lu"},
    {"", ".cv"},
    {"", ".nc"},
    {"", ".nc.L1::evict_last.L2::evict_normal"},
    {"", ".L1::no_allocate.L2::evict_last"},
    {"", ".L2::evict_first"},
    {"", ".L2::cache_hint"},
    {"", ".L2::64B"},
    {"", ".L2::128B"},
    {"", ".L2::256B"},
};
static const Advice store_advice[] = {
    {"", ""},
    {".weak", ""},
    {".mmio.relaxed.sys", ""},
    {".volatile", ""},
    {".relaxed.cta", ""},
    {".relaxed.cluster", ".L1::evict_normal"},
    {".release.gpu", ".L1::evict_unchanged"},
    {".release.sys", ".L1::evict_first"},
    {"", ".wb"},
    {"", ".cg"},
    {"", ".cs"},
    {"", ".wt"},
    {"", ".L1::evict_last.L2::evict_normal"},
    {"", ".L1::no_allocate.L2::evict_last"},
    {"", ".L2::evict_first"},
    {"", ".L2::cache_hint"},
};

typedef struct Access {
    Trial *trial;
    const Place *place;
    const Type *type;
    int vector;    /* 1, 2, 4 */
    int number;    /* number of the access, which selects variations */
    bool has_hint; /* a cache policy is the last operand */
    char spelling[FORM_TEXT_BYTES];
} Access;

/* ---- Parts of the kernel ---- */

/* Copies a cell between global memory at `at` and the thread's own cell in shared or local
 * memory. */
static void copy_cell(Access *access, bool into_place) {
    for (int byte = 0; byte < CELL; byte += 8)
        text_printf(&access->trial->ptx,
                    into_place ? "ld.global.b64 word, [at+%d];\nst.%s.b64 [cell+%d], word;\n"
                               : "ld.%2$s.b64 word, [cell+%1$d];\nst.global.b64 [at+%1$d], word;\n",
                    byte, access->place->name, byte);
}

/* Sets register `cell`: the address of the thread's cell in its own space. */
static void write_cell_address(Access *access) {
    Text *ptx = &access->trial->ptx;
    const char *name = access->place->name;
    text_add(ptx, ".reg .b64 word, cell, address, policy;\nmov.b64 policy, 0;\n"
                  "mul.wide.u32 cell, tid, 32;\n");
    if (strcmp(name, "global") == 0) text_add(ptx, "add.u64 cell, cell, at;\n");
    else if (strcmp(name, "const") == 0)
        text_add(ptx, "mov.u64 address, table;\nadd.u64 cell, cell, address;\n");
    else if (strcmp(name, "param") == 0) text_add(ptx, "mov.u64 cell, in0;\n");
    else if (strcmp(name, "shared") == 0)
        text_add(ptx, "mov.u64 address, cells;\nadd.u64 cell, cell, address;\n");
    else text_add(ptx, "mov.u64 cell, cells;\n");
}

/* Sets register `address`, the address operand of the instruction, some offset away from the cell.
 * Returns the offset. */
static int write_address(Access *access) {
    static const int offsets[] = {0, 64, -96};
    const int offset = offsets[access->number % 3];
    Text *ptx = &access->trial->ptx;
    if (*access->place->suffix) text_add(ptx, "mov.b64 address, cell;\n");
    else text_printf(ptx, "cvta.%s.u64 address, cell;\n", access->place->name);
    text_printf(ptx, "sub.s64 address, address, %d;\n", offset);
    return offset;
}

static void write_vector(Text *ptx, int vector, const char *name) {
    if (vector == 1) {
        text_printf(ptx, "%s0", name);
        return;
    }
    for (int e = 0; e < vector; e++)
        text_printf(ptx, "%s%s%d", e ? ", " : "{", name, e);
    text_add(ptx, "}");
}

/* Width of a register that can hold the type, for each `index` from 0; 0 if there are no more. */
static int register_width(const Type *type, int index) {
    int width = type_register_bits(type) << index;
    return width > 64 || (index && type->kind == KIND_FLOAT) ? 0 : width;
}

/* ---- Loads ---- */

static uint64_t extended(const Type *type, uint64_t bits, int width) {
    uint64_t value = type->kind == KIND_SIGNED ? (uint64_t)type_integer(type, bits)
                                               : bits & type_mask(type->bits);
    return value & type_mask(width);
}

static uint64_t cell_element(const uint64_t *cell, const Type *type, int element) {
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)cell + element * type->bits / 8, (size_t)type->bits / 8);
    return bits;
}

/* One load into registers of a given width. Stores the results in the thread's slots, starting at
 * `from`. */
static void write_load(Access *access, int width, bool is_guarded, int from, int offset) {
    Text *ptx = &access->trial->ptx;
    text_printf(ptx, "{\n.reg .b%d d<4>;\n", width);
    for (int e = 0; e < access->vector; e++)
        text_printf(ptx, "mov.b%d d%d, 0x5a;\n", width, e);
    text_printf(ptx, "%s%s ", is_guarded ? "@guard " : "", access->spelling);
    write_vector(ptx, access->vector, "d");
    text_printf(ptx, ", [address+%d]%s;\n", offset, access->has_hint ? ", policy" : "");
    for (int e = 0; e < access->vector; e++)
        text_printf(ptx, "st.global.b%d [out+%d], d%d;\n", width, (from + e) * 8, e);
    text_add(ptx, "}\n");
}

static void expect_load(Access *access, int width, bool is_guarded, int from, int slots) {
    Trial *trial = access->trial;
    const bool is_parameter = strcmp(access->place->name, "param") == 0;
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        /* The cell of parameters holds the addresses of the buffers, the same for all threads. */
        uint64_t parameters[CELL_SLOTS];
        for (int i = 0; i < CELL_SLOTS; i++)
            parameters[i] = trial->harness->engines[0].buffers[i];
        const uint64_t *cell = is_parameter ? parameters : trial->in + thread * CELL_SLOTS;
        for (int e = 0; e < access->vector; e++) {
            bool executes = !is_guarded || trial_guards(thread);
            uint64_t value = extended(access->type, cell_element(cell, access->type, e), width);
            uint64_t *slot = &trial->expected[thread * slots + from + e];
            *slot = (TRIAL_UNTOUCHED & ~type_mask(width)) | (executes ? value : 0x5a);
        }
    }
}

static void run_load(Access *access) {
    Trial *trial = access->trial;
    Text *ptx = &trial->ptx;
    const bool is_constant = strcmp(access->place->name, "const") == 0;
    trial_begin(trial, access->spelling);
    Text table = {0};
    if (is_constant) {
        text_add(&table, ".const .align 32 .b64 table[384] = {");
        for (int i = 0; i < TRIAL_THREADS * CELL_SLOTS; i++)
            text_printf(&table, "%s0x%llx", i ? ", " : "", (unsigned long long)trial->in[i]);
        text_add(&table, "};");
    }
    trial_begin_kernel(trial, text_string(&table));
    text_free(&table);
    text_printf(ptx, "%smov.b64 at, in;\n", access->place->variable);
    write_cell_address(access);
    if (access->place->is_filled) {
        text_add(ptx, "mad.wide.u32 at, tid, 32, at;\n");
        copy_cell(access, true);
    }
    int offset = write_address(access), slots = 0, width;
    for (int w = 0; register_width(access->type, w); w++)
        slots += 2 * access->vector;
    text_printf(ptx, "mad.wide.u32 out, tid, %d, out;\n", slots * 8);
    int from = 0;
    for (int w = 0; (width = register_width(access->type, w)); w++)
        for (int is_guarded = 0; is_guarded < 2; is_guarded++, from += access->vector) {
            write_load(access, width, is_guarded, from, offset);
            expect_load(access, width, is_guarded, from, slots);
        }
    trial->slots = TRIAL_THREADS * slots;
    trial_run(trial);
}

/* ---- Stores ---- */

static void write_store(Access *access, int width, bool is_guarded, int offset) {
    Text *ptx = &access->trial->ptx;
    text_printf(ptx, "{\n.reg .b%d a<4>;\n", width);
    for (int e = 0; e < access->vector; e++)
        text_printf(ptx, "ld.global.b%d a%d, [in+%d];\n", width, e, e * 8);
    text_printf(ptx, "%s%s [address+%d], ", is_guarded ? "@guard " : "", access->spelling, offset);
    write_vector(ptx, access->vector, "a");
    text_printf(ptx, "%s;\n}\n", access->has_hint ? ", policy" : "");
}

static void expect_store(Access *access, bool is_guarded, uint64_t *expected) {
    const Trial *trial = access->trial;
    size_t bytes = (size_t)access->type->bits / 8;
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint8_t *cell = (uint8_t *)(expected + thread * CELL_SLOTS);
        if (is_guarded && !trial_guards(thread)) continue;
        for (int e = 0; e < access->vector; e++)
            memcpy(cell + (size_t)e * bytes, &trial->in[thread * CELL_SLOTS + e], bytes);
    }
}

/* One store for each register width, guarded and not, each to its own array of cells. */
static void run_store(Access *access) {
    Trial *trial = access->trial;
    Text *ptx = &trial->ptx;
    trial_begin(trial, access->spelling);
    trial_begin_kernel(trial, "");
    text_add(ptx, access->place->variable);
    text_add(ptx, "mad.wide.u32 in, tid, 32, in;\nmov.b64 at, out;\n");
    write_cell_address(access);
    if (access->place->is_filled) text_add(ptx, "mad.wide.u32 at, tid, 32, at;\n");
    int offset = write_address(access), width;
    for (int w = 0; (width = register_width(access->type, w)); w++)
        for (int is_guarded = 0; is_guarded < 2; is_guarded++) {
            const bool moves = !access->place->is_filled;
            if (access->place->is_filled) copy_cell(access, true);
            write_store(access, width, is_guarded, offset);
            if (access->place->is_filled) copy_cell(access, false);
            text_printf(ptx, "add.u64 %s, %s, %d;\n", moves ? "address" : "at",
                        moves ? "address" : "at", TRIAL_THREADS * CELL);
            expect_store(access, is_guarded, trial->expected + trial->slots);
            trial->slots += TRIAL_THREADS * CELL_SLOTS;
        }
    trial_run(trial);
}

/* ---- Parameters of calls ---- */

/* The function returns the cell that it receives. It accesses the cell by name, through a register
 * and through a generic address. */
#define PASS_ON                                                                                    \
    ".func (.param .align 32 .b8 r[32]) pass_on(.param .align 32 .b8 a[32])\n{\n"                  \
    ".reg .b64 word, place, generic;\nmov.b64 place, a;\ncvta.param.u64 generic, place;\n"         \
    "ld.param.b64 word, [a];\nst.param.b64 [r], word;\n"                                           \
    "ld.param.b64 word, [place+8];\nst.param.b64 [r+8], word;\n"                                   \
    "ld.b64 word, [generic+16];\nst.param.b64 [r+16], word;\n"                                     \
    "ld.param.b64 word, [a+24];\nst.param.b64 [r+24], word;\nret;\n}"

static void run_argument(Access *access) {
    Trial *trial = access->trial;
    Text *ptx = &trial->ptx;
    int width = type_register_bits(access->type);
    trial_begin(trial, access->spelling);
    trial_begin_kernel(trial, PASS_ON);
    text_printf(ptx,
                "mad.wide.u32 in, tid, 32, in;\nmad.wide.u32 out, tid, 32, out;\n.reg .b64 word;\n"
                ".reg .b%d a<4>;\n{\n.param .align 32 .b8 from[32];\n"
                ".param .align 32 .b8 to[32];\nld.global.b64 word, [out];\n",
                width);
    for (int byte = 0; byte < CELL; byte += 8)
        text_printf(ptx, "st.param.b64 [from+%d], word;\n", byte);
    for (int e = 0; e < access->vector; e++)
        text_printf(ptx, "ld.global.b%d a%d, [in+%d];\n", width, e, e * 8);
    text_printf(ptx, "%s [from], ", access->spelling);
    write_vector(ptx, access->vector, "a");
    text_add(ptx, ";\ncall (to), pass_on, (from);\n");
    for (int byte = 0; byte < CELL; byte += 8)
        text_printf(ptx, "ld.param.b64 word, [to+%d];\nst.global.b64 [out+%d], word;\n", byte,
                    byte);
    text_add(ptx, "}\n");
    expect_store(access, false, trial->expected);
    trial->slots = TRIAL_THREADS * CELL_SLOTS;
    trial_run(trial);
}

/* ---- All of them ---- */

typedef void RunAccess(Access *access);

static void spell(Access *access, const char *opcode, const Advice *advice) {
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    /* Orders, hints and cache operators apply only to global memory and generic addresses. */
    if (strcmp(access->place->name, "global") != 0) advice = &load_advice[0];
    snprintf(access->spelling, sizeof access->spelling, "%s%s%s%s%s.%s", opcode, advice->order,
             access->place->suffix, advice->cache, vectors[access->vector], access->type->name);
    access->has_hint = strstr(advice->cache, "cache_hint") != NULL;
}

static void run_places(Trial *trial, const char *opcode, const Place *places, size_t place_count,
                       const Advice *advice, size_t advice_count, RunAccess *run) {
    int number = 0;
    for (size_t p = 0; p < place_count; p++)
        for (int vector = 1; vector <= 4; vector *= 2)
            for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
                Access access = {trial, &places[p], type_named(types[t]), vector, number++,
                                 false, ""};
                const Advice *words = &advice[(size_t)number % advice_count];
                if (vector > 1 && strstr(words->order, "mmio")) words = advice;
                spell(&access, opcode, words);
                run(&access);
            }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

void memory_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    run_places(trial, "ld", load_places, COUNT(load_places), load_advice, COUNT(load_advice),
               run_load);
    run_places(trial, "ldu", load_places, 2, load_advice, 1, run_load);
    run_places(trial, "st", store_places, COUNT(store_places), store_advice, COUNT(store_advice),
               run_store);
    static const Place parameter = {"param", ".param", "", false};
    run_places(trial, "st", &parameter, 1, store_advice, 1, run_argument);
    trial_free(trial);
}
