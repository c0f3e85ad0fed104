/* Statements that access memory. No thread accesses a word that another thread writes, except
 * exchanges between barriers and atomics. */
#include "conformance/form.h"

#include "maker.h"

/* The data of one load or store. */
typedef struct Width {
    const char *type; /* ".v2.b32" */
    int bytes;        /* size of an element */
    int elements;
    int register_bits; /* register size for an element */
    bool is_exact;     /* any register of that size is allowed, also a floating-point one */
} Width;
static const Width widths[] = {
    {".u8", 1, 1, 32, false},     {".s8", 1, 1, 32, false},     {".s8", 1, 1, 16, false},
    {".u8", 1, 1, 64, false},     {".u16", 2, 1, 32, false},    {".s16", 2, 1, 64, false},
    {".b16", 2, 1, 16, true},     {".s16", 2, 1, 32, false},    {".b32", 4, 1, 32, true},
    {".b32", 4, 1, 32, true},     {".s32", 4, 1, 64, false},    {".b64", 8, 1, 64, true},
    {".v2.b32", 4, 2, 32, false}, {".v4.b32", 4, 4, 32, false}, {".v2.b64", 8, 2, 64, false},
    {".v4.u8", 1, 4, 32, false},  {".v2.u16", 2, 2, 32, false}, {".v2.b16", 2, 2, 16, false},
};

static Pool bits_pool(int bits) { return bits == 16 ? POOL_B16 : bits == 32 ? POOL_B32 : POOL_B64; }

/* A random pool of registers of `bits` bits. */
static Pool any_pool(Maker *maker, int bits) {
    for (;;) {
        const Pool pool = (Pool)maker_choose(maker, POOL_PRED);
        if (POOL_INFO[pool].bits == bits) return pool;
    }
}

static const Width *choose_width(Maker *maker) {
    return &widths[maker_choose(maker, sizeof widths / sizeof *widths)];
}

/* For a store. ptxas 13.0 packs vectors of narrow elements into one of their registers, and
 * afterwards uses the packed value as that register's value. */
static const Width *choose_stored(Maker *maker) {
    for (;;) {
        const Width *width = choose_width(maker);
        if (width->elements == 1 || 8 * width->bytes == width->register_bits) return width;
    }
}

/* For a load. If the value is narrower than its register, ptxas 13.0 may use its lower half as the
 * upper half of the register. From constant memory, it may also drop the extension, read the bytes
 * after the value, or use a wrong index. */
static const Width *choose_loaded(Maker *maker) {
    for (;;) {
        const Width *width = choose_width(maker);
        if (8 * width->bytes == width->register_bits) return width;
    }
}

/* Uses consecutive registers, so that no two results share a register. */
static void write_registers(Maker *maker, const Width *width, bool is_load, Text *out) {
    Pool pool = bits_pool(width->register_bits);
    if (is_load && width->is_exact) pool = any_pool(maker, width->register_bits);
    const int count = POOL_INFO[pool].count, first = maker_choose(maker, count);
    text_add(out, width->elements > 1 ? "{" : "");
    for (int i = 0; i < width->elements; i++) {
        const int number = (first + i) % count;
        if (is_load) maker->body->written[pool] |= 1u << number;
        text_printf(out, "%s%s%d", i ? ", " : "", POOL_INFO[pool].prefix, number);
    }
    text_add(out, width->elements > 1 ? "}" : "");
}

/* Sets %u0 to an address within `bytes` bytes from %u1, aligned for an access of `size` bytes. */
static void write_index(Maker *maker, int bytes, int size, Text *out) {
    if (maker_chance(maker, 3)) {
        text_printf(out, "add.u64 %%u0, %%u1, %d;\n", maker_choose(maker, bytes / size) * size);
        return;
    }
    text_printf(out, "and.b32 %%t0, %s, %d;\ncvt.u64.u32 %%u0, %%t0;\nadd.u64 %%u0, %%u1, %%u0;\n",
                maker_register(maker, POOL_B32).text, bytes - size);
}

static void write_access(Maker *maker, const char *space, const Width *width, bool is_load,
                         Text *out) {
    text_printf(out, "%s%s%s ", is_load ? "ld" : "st", space, width->type);
    if (is_load) write_registers(maker, width, true, out);
    text_printf(out, "%s[%%u0]", is_load ? ", " : "");
    if (!is_load) {
        text_add(out, ", ");
        write_registers(maker, width, false, out);
    }
    text_add(out, ";\n");
}

/* ---- Memory of the thread ---- */

/* Writes the space's base address to %u1. Returns the name of the space, or "" if the address is
 * generic. */
static const char *write_private_base(Maker *maker, bool has_local, Text *out) {
    static const char *const names[] = {".global", ".shared", ".local"};
    const int space = maker->index ? 2 : maker_choose(maker, has_local ? 3 : 2);
    const bool is_generic = maker_chance(maker, 3);
    maker->body->uses_shared |= space == 1;
    maker->body->uses_local |= space == 2;
    text_printf(out, "%s%s.u64 %%u1, %%%s;\n", is_generic ? "cvta" : "mov",
                is_generic ? names[space] : "", names[space] + 1);
    return is_generic ? "" : names[space];
}

void accesses_write_private(Maker *maker) {
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    const char *space = write_private_base(maker, true, out);
    const int kind = maker_choose(maker, 3);
    for (int i = 0; i < 2; i++) { /* a store, a load, or a store and a load */
        const Width *width = i ? choose_loaded(maker) : choose_stored(maker);
        if (kind == 1 - i) continue;
        write_index(maker, PROGRAM_PRIVATE_BYTES, width->bytes * width->elements, out);
        write_access(maker, space, width, i == 1, out);
    }
    maker_end(maker);
}

/* ---- Read-only memory ---- */

void accesses_write_constant(Maker *maker) {
    const Width *width = choose_loaded(maker);
    const int size = width->bytes * width->elements;
    const bool is_generic = maker_chance(maker, 3);
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    if (maker->index == 0 && maker_chance(maker, 2)) {
        text_add(out, "mov.u64 %u1, %in;\n");
        write_index(maker, PROGRAM_INPUT_BYTES, size, out);
        write_access(maker,
                     is_generic               ? ""
                     : maker_chance(maker, 2) ? ".global.nc"
                                              : ".global",
                     width, true, out);
    } else {
        text_add(out, "mov.u64 %u1, table;\n");
        if (is_generic) text_add(out, "cvta.const.u64 %u1, %u1;\n");
        write_index(maker, PROGRAM_TABLE_BYTES, size, out);
        write_access(maker, is_generic ? "" : ".const", width, true, out);
    }
    maker_end(maker);
}

/* ---- Atomics ---- */

typedef struct Atomic {
    const char *text; /* ".add.u32" */
    int bits;
    int sources;
} Atomic;

/* On shared memory these become a loop of their own. ptxas 13.0 joins it to the loop around it. If
 * that has its counter in a uniform register, the counter is then wrong, because the threads are
 * not converged. */
static bool may_be_loop(const Maker *maker, const Atomic *atomic) {
    return maker->loops && atomic->bits != 32;
}

/* On a word of the thread itself: any operation. */
static void write_private_atomic(Maker *maker) {
    static const Atomic atomics[] = {
        {".add.u32", 32, 1},  {".add.u64", 64, 1},  {".and.b32", 32, 1}, {".or.b32", 32, 1},
        {".xor.b32", 32, 1},  {".and.b64", 64, 1},  {".or.b64", 64, 1},  {".xor.b64", 64, 1},
        {".min.s32", 32, 1},  {".max.s32", 32, 1},  {".min.u32", 32, 1}, {".max.u32", 32, 1},
        {".min.s64", 64, 1},  {".max.s64", 64, 1},  {".min.u64", 64, 1}, {".max.u64", 64, 1},
        {".exch.b32", 32, 1}, {".exch.b64", 64, 1}, {".inc.u32", 32, 1}, {".dec.u32", 32, 1},
        {".cas.b32", 32, 2},  {".cas.b64", 64, 2},  {".cas.b16", 16, 2},
    };
    const Atomic *atomic = &atomics[maker_choose(maker, sizeof atomics / sizeof *atomics)];
    const Pool pool = bits_pool(atomic->bits);
    int number;
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    const char *space = ".global";
    if (may_be_loop(maker, atomic)) text_add(out, "mov.u64 %u1, %global;\n");
    else space = write_private_base(maker, false, out);
    write_index(maker, PROGRAM_PRIVATE_BYTES, atomic->bits / 8, out);
    text_printf(out, "atom%s%s %s, [%%u0]", space, atomic->text,
                maker_result(maker, pool, -1, &number).text);
    for (int i = 0; i < atomic->sources; i++)
        text_printf(out, ", %s", maker_register(maker, pool).text);
    text_add(out, ";\n");
    maker_end(maker);
}

/* On a cell that all threads share, with one operation per cell, so that the order does not
 * matter. */
static void write_common_atomic(Maker *maker) {
    static const Atomic atomics[PROGRAM_CELLS] = {
        {".add.u32", 32, 1}, {".add.u64", 64, 1}, {".and.b32", 32, 1}, {".or.b32", 32, 1},
        {".xor.b32", 32, 1}, {".min.s32", 32, 1}, {".max.u32", 32, 1}, {".max.s64", 64, 1},
    };
    const int cell = maker_choose(maker, PROGRAM_CELLS);
    const Name source = maker_register(maker, bits_pool(atomics[cell].bits));
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    if (maker_chance(maker, 2) && !may_be_loop(maker, &atomics[cell])) {
        maker->body->uses_shared = true;
        text_printf(out, "mov.u64 %%u0, shared;\nred.shared%s [%%u0+%d], %s;\n", atomics[cell].text,
                    PROGRAM_BLOCK * (PROGRAM_PRIVATE_BYTES + 8) + cell * 8, source.text);
    } else {
        text_printf(out, "ld.param.u64 %%u0, [in2];\nred.global%s [%%u0+%d], %s;\n",
                    atomics[cell].text, PROGRAM_THREADS * PROGRAM_PRIVATE_BYTES + cell * 8,
                    source.text);
    }
    maker_end(maker);
}

void accesses_write_atomic(Maker *maker) {
    if (maker_chance(maker, 2)) write_private_atomic(maker);
    else write_common_atomic(maker);
}

/* ---- Between threads ---- */

/* Every thread writes its word and reads the word of another thread in the CTA or in its warp. */
static void write_exchange(Maker *maker, Text *out) {
    const bool is_warp = maker_chance(maker, 3);
    const char *barrier = is_warp ? "bar.warp.sync 0xffffffff" : "bar.sync 0";
    const int first = PROGRAM_BLOCK * PROGRAM_PRIVATE_BYTES;
    int number;
    text_printf(out,
                "bar.sync 0;\nmov.u64 %%u0, shared;\nmul.wide.u32 %%u1, %%lane, 8;\n"
                "add.u64 %%u1, %%u0, %%u1;\nst.shared.b64 [%%u1+%d], %s;\n%s;\n",
                first, maker_register(maker, POOL_B64).text, barrier);
    text_printf(out, "and.b32 %%t0, %s, %d;\n", maker_register(maker, POOL_B32).text,
                is_warp ? 31 : PROGRAM_BLOCK - 1);
    if (is_warp) text_add(out, "and.b32 %t1, %lane, 32;\nor.b32 %t0, %t0, %t1;\n");
    text_printf(out,
                "mul.wide.u32 %%u1, %%t0, 8;\nadd.u64 %%u0, %%u0, %%u1;\n"
                "ld.shared.b64 %s, [%%u0+%d];\n",
                maker_result(maker, POOL_B64, -1, &number).text, first);
}

/* Reads the present value of a cell. */
static void write_read(Maker *maker, Text *out) {
    int number;
    text_printf(out,
                "bar.sync 0;\nmov.u64 %%u0, shared;\nld.shared.b64 %s, [%%u0+%d];\n"
                "bar.sync 0;\n",
                maker_result(maker, POOL_B64, -1, &number).text,
                PROGRAM_BLOCK * (PROGRAM_PRIVATE_BYTES + 8) +
                    maker_choose(maker, PROGRAM_CELLS) * 8);
}

static void write_reduction(Maker *maker, Text *out) {
    static const char *const operations[] = {".popc.u32", ".and.pred", ".or.pred"};
    const int operation = maker_choose(maker, 3);
    int number;
    const Name result = maker_result(maker, operation ? POOL_PRED : POOL_B32, -1, &number);
    text_printf(out, "bar.red%s %s, 0, %s%s;\n", operations[operation], result.text,
                maker_chance(maker, 2) ? "!" : "", maker_register(maker, POOL_PRED).text);
}

void accesses_write_exchange(Maker *maker) {
    const int kind = maker_choose(maker, 4);
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    maker->body->uses_shared |= kind != 3;
    if (kind < 2) write_exchange(maker, out);
    else if (kind == 2) write_read(maker, out);
    else write_reduction(maker, out);
    maker_end(maker);
}
