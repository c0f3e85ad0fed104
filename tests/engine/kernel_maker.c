/* The grammar is the functions below: a statement is one row of `statements`, selected by a byte.
 * Registers: %r0 to %r7 and %f0 to %f3 hold the kernel's values, %t0 to %t3 and %d3 to %d5 are
 * temporaries of a statement, and %c counts loops, by depth. */
#include "kernel_maker.h"

#include <stdlib.h>
#include <string.h>

#include "tyto/tyto.h"

enum { MOST_STATEMENTS = 48, MOST_DEPTH = 3, VALUES = 8, FLOATS = 4 };

typedef struct Maker {
    const uint8_t *bytes;
    size_t left;
    Text *out;
    uint32_t block; /* threads */
    int statements; /* statements so far */
    int depth;      /* branches and loops around the statement */
    int labels;     /* labels used so far */
} Maker;

/* A number below `below`; 0 if no bytes are left. */
static unsigned draw(Maker *maker, unsigned below) {
    if (!maker->left) return 0;
    maker->left--;
    return *maker->bytes++ % below;
}

static unsigned value(Maker *maker) { return draw(maker, VALUES); }

/* ---- Statements ---- */

static void compute(Maker *maker) {
    static const char *const forms[] = {
        "add.u32 %%r%u, %%r%u, %%r%u;",
        "sub.u32 %%r%u, %%r%u, %%r%u;",
        "mul.lo.u32 %%r%u, %%r%u, %%r%u;",
        "mul.hi.u32 %%r%u, %%r%u, %%r%u;",
        "and.b32 %%r%u, %%r%u, %%r%u;",
        "xor.b32 %%r%u, %%r%u, %%r%u;",
        "or.b32 %%r%u, %%r%u, %%r%u;",
        "min.s32 %%r%u, %%r%u, %%r%u;",
        "max.u32 %%r%u, %%r%u, %%r%u;",
        "shl.b32 %%r%u, %%r%u, %%r%u;",
        "shr.u32 %%r%u, %%r%u, %%r%u;",
        "mul24.lo.u32 %%r%u, %%r%u, %%r%u;",
        "or.b32 %%t0, %%r%3$u, 1; div.u32 %%r%1$u, %%r%2$u, %%t0;",
        "or.b32 %%t0, %%r%3$u, 1; rem.u32 %%r%1$u, %%r%2$u, %%t0;",
        "mad.lo.u32 %%r%1$u, %%r%2$u, %%r%3$u, %%r%1$u;",
        "popc.b32 %%t0, %%r%3$u; add.u32 %%r%1$u, %%r%2$u, %%t0;",
        "setp.lt.u32 %%p0, %%r%2$u, %%r%3$u; selp.u32 %%r%1$u, %%r%2$u, 77, %%p0;",
        "setp.gt.s32 %%p1, %%r%2$u, %%r%3$u; @%%p1 add.u32 %%r%1$u, %%r%1$u, 13;",
        "call (%%r%1$u), mix, (%%r%2$u, %%r%3$u);",
    };
    unsigned form = draw(maker, sizeof forms / sizeof forms[0]);
    unsigned to = value(maker), one = value(maker), other = value(maker);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    text_printf(maker->out, forms[form], to, one, other);
#pragma GCC diagnostic pop
}

static void compute_float(Maker *maker) {
    static const char *const names[] = {"add.f32", "mul.f32", "min.f32", "sub.f32", "max.f32"};
    unsigned form = draw(maker, 8), to = draw(maker, FLOATS), one = draw(maker, FLOATS),
             other = value(maker);
    if (form < 5)
        text_printf(maker->out, "%s %%f%u, %%f%u, %%f%u;", names[form], to, one, other % FLOATS);
    else if (form == 5) text_printf(maker->out, "cvt.rn.f32.u32 %%f%u, %%r%u;", to, other);
    else if (form == 6) text_printf(maker->out, "cvt.rzi.u32.f32 %%r%u, %%f%u;", other, one);
    else
        text_printf(maker->out, "fma.rn.f32 %%f%u, %%f%u, %%f%u, 0f3F000000;", to, one,
                    other % FLOATS);
}

/* %d3 = base + (index & mask) * bytes */
static void place(Maker *maker, const char *base, unsigned index, unsigned mask, unsigned bytes) {
    text_printf(maker->out,
                "and.b32 %%t0, %%r%u, %u; mul.wide.u32 %%d3, %%t0, %u; add.u64 %%d3, %%d3, %s; ",
                index, mask, bytes, base);
}

static void load(Maker *maker) {
    static const char *const forms[] = {"ld.global.u32", "ld.global.ca.u32", "ld.global.cg.u32",
                                        "ld.global.nc.u32", "ld.volatile.global.u32"};
    unsigned form = draw(maker, 8), to = value(maker), index = value(maker);
    if (form < 5) {
        place(maker, "%d0", index, MADE_INPUTS - 1, 4);
        text_printf(maker->out, "%s %%r%u, [%%d3];", forms[form], to);
    } else if (form == 5) {
        place(maker, "%d0", index, 4 * MADE_INPUTS - 1, 1);
        text_printf(maker->out, "ld.global.u8 %%r%u, [%%d3];", to);
    } else {
        place(maker, "%d0", index, MADE_INPUTS / 4 - 1, 16);
        text_printf(
            maker->out,
            "ld.global.v4.u32 {%%r%u, %%t1, %%t2, %%t3}, [%%d3]; add.u32 %%r%u, %%r%u, %%t3;", to,
            to, to);
    }
}

static void load_constant(Maker *maker) {
    unsigned to = value(maker), index = value(maker);
    text_printf(maker->out,
                "mov.u64 %%d4, table; and.b32 %%t0, %%r%u, 15; mul.wide.u32 %%d3, %%t0, 4; "
                "add.u64 %%d3, %%d3, %%d4; ld.const.u32 %%r%u, [%%d3];",
                index, to);
}

static void use_local(Maker *maker) {
    unsigned what = value(maker), index = value(maker), to = value(maker);
    text_printf(maker->out,
                "mov.u64 %%d4, own; and.b32 %%t0, %%r%u, 7; mul.wide.u32 %%d3, %%t0, 4; add.u64 "
                "%%d3, %%d3, %%d4; "
                "st.local.u32 [%%d3], %%r%u; ld.local.u32 %%r%u, [own+12];",
                index, what, to);
}

/* The thread's own words in global memory, the last four of its outputs. */
static void use_global(Maker *maker) {
    unsigned what = value(maker), index = value(maker), to = value(maker);
    place(maker, "%d5", index, 3, 4);
    text_printf(maker->out, "st.global.u32 [%%d3], %%r%u; ld.global.u32 %%r%u, [%%d5+%u];", what,
                to, 4 * draw(maker, 4));
}

static void add_to_sum(Maker *maker) {
    static const char *const forms[] = {"red.global.add.u32 [%d3]", "red.global.xor.b32 [%d3]",
                                        "atom.global.add.u32 %t3, [%d3]"};
    unsigned form = draw(maker, 3), what = value(maker), index = value(maker);
    /* different sums for add and for xor */
    place(maker, "%d2", index, MADE_SUMS / 2 - 1, 4);
    if (form == 1) text_printf(maker->out, "add.u64 %%d3, %%d3, %d; ", MADE_SUMS / 2 * 4);
    text_printf(maker->out, "%s, %%r%u;", forms[form], what);
}

static void fence(Maker *maker) {
    static const char *const forms[] = {"membar.gl;", "membar.cta;"};
    text_add(maker->out, forms[draw(maker, 2)]);
}

static void block_of(Maker *maker);

static void branch(Maker *maker) {
    static const char *const tests[] = {"lt.u32", "eq.s32", "ge.s32", "ne.u32"};
    int label = maker->labels++;
    unsigned test = draw(maker, 4), one = value(maker), other = value(maker),
             has_else = draw(maker, 2);
    text_printf(maker->out,
                "and.b32 %%t0, %%r%u, 7; and.b32 %%t1, %%r%u, 7; setp.%s %%p2, %%t0, %%t1; ", one,
                other, tests[test]);
    text_printf(maker->out, "@%%p2 bra E%d;\n", label);
    block_of(maker);
    if (has_else) text_printf(maker->out, "bra J%d;\n", label);
    text_printf(maker->out, "E%d:\n", label);
    if (has_else) {
        block_of(maker);
        text_printf(maker->out, "J%d:", label);
    }
}

/* Each lane repeats the loop as often as its value says. */
static void loop(Maker *maker) {
    int label = maker->labels++, depth = maker->depth;
    text_printf(maker->out, "and.b32 %%c%d, %%r%u, 3;\nL%d:\n", depth, value(maker), label);
    block_of(maker);
    text_printf(maker->out, "sub.u32 %%c%d, %%c%d, 1; setp.lt.s32 %%p3, %%c%d, 0; @!%%p3 bra L%d;",
                depth, depth, depth, label);
}

/* An operation of all threads of a block; only outside branches and loops. */
static void exchange(Maker *maker) {
    unsigned what = value(maker), index = value(maker), to = value(maker);
    text_printf(maker->out,
                "st.shared.u32 [%%d6], %%r%u; bar.sync 0; rem.u32 %%t0, %%r%u, %u; mul.wide.u32 "
                "%%d3, %%t0, 4; "
                "add.u64 %%d3, %%d3, %%d7; ld.shared.u32 %%r%u, [%%d3]; bar.sync 0;",
                what, index, maker->block, to);
}

static void shuffle(Maker *maker) {
    static const char *const modes[] = {"bfly", "up", "down", "idx"};
    unsigned mode = draw(maker, 4), to = value(maker), what = value(maker), by = draw(maker, 32);
    if (maker->block % 32) {
        compute(maker);
        return;
    }
    text_printf(maker->out, "shfl.sync.%s.b32 %%r%u, %%r%u, %u, %u, 0xffffffff;", modes[mode], to,
                what, by, mode == 1 ? 0 : 31);
}

static void vote(Maker *maker) {
    unsigned to = value(maker), one = value(maker), other = value(maker);
    if (maker->block % 32) {
        compute_float(maker);
        return;
    }
    text_printf(maker->out,
                "setp.lt.s32 %%p0, %%r%u, %%r%u; vote.sync.ballot.b32 %%r%u, %%p0, 0xffffffff;",
                one, other, to);
}

typedef struct Statement {
    void (*make)(Maker *maker);
    int depth; /* largest number of statements around it */
} Statement;

static const Statement statements[] = {
    {compute, MOST_DEPTH},
    {compute, MOST_DEPTH},
    {compute_float, MOST_DEPTH},
    {load, MOST_DEPTH},
    {load, MOST_DEPTH},
    {load_constant, MOST_DEPTH},
    {use_local, MOST_DEPTH},
    {use_global, MOST_DEPTH},
    {add_to_sum, MOST_DEPTH},
    {fence, MOST_DEPTH},
    {branch, MOST_DEPTH - 1},
    {loop, MOST_DEPTH - 1},
    {exchange, 0},
    {shuffle, 0},
    {vote, 0},
};

static void statement(Maker *maker) {
    const Statement *row = &statements[draw(maker, sizeof statements / sizeof statements[0])];
    maker->statements++;
    if (maker->depth > row->depth) compute(maker);
    else row->make(maker);
    text_add(maker->out, "\n");
}

/* One to three statements inside a branch or a loop. */
static void block_of(Maker *maker) {
    unsigned count = 1 + draw(maker, 3);
    maker->depth++;
    for (unsigned i = 0; i < count; i++)
        statement(maker);
    maker->depth--;
}

/* ---- Kernels ---- */

static const char head[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".const .align 4 .u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};\n"
    ".func (.reg .u32 out) mix(.reg .u32 a, .reg .u32 b)\n{\n"
    "mad.lo.u32 out, a, 2654435761, b;\nret;\n}\n"
    ".visible .entry k(.param .u64 in, .param .u64 to, .param .u64 sums)\n{\n"
    ".reg .pred %p<4>;\n.reg .u32 %r<8>;\n.reg .u32 %t<4>;\n.reg .u32 %c<4>;\n.reg .u32 %i<4>;\n"
    ".reg .f32 %f<4>;\n.reg .u64 %d<8>;\n.local .align 16 .b8 own[32];\n";

static const char prologue[] =
    "ld.param.u64 %d0, [in];\nld.param.u64 %d1, [to];\nld.param.u64 %d2, [sums];\n"
    "mov.u32 %i0, %tid.x;\nmov.u32 %i1, %ctaid.x;\nmov.u32 %i2, %ntid.x;\n"
    "mad.lo.u32 %i3, %i1, %i2, %i0;\n"
    "mul.wide.u32 %d3, %i3, 64;\nadd.u64 %d1, %d1, %d3;\nadd.u64 %d5, %d1, 48;\n"
    "mov.u64 %d7, tile;\nmul.wide.u32 %d3, %i0, 4;\nadd.u64 %d6, %d3, %d7;\n"
    "mov.u32 %t3, 0;\nst.local.v4.u32 [own], {%i0, %i1, %i2, %i3};\n"
    "st.local.v4.u32 [own+16], {%i3, %i2, %i1, %i0};\n"
    "st.global.v4.u32 [%d5], {%i0, %i1, %i2, %i3};\n";

static void begin(Maker *maker, unsigned seed) {
    text_add(maker->out, head);
    text_printf(maker->out, ".shared .align 4 .b32 tile[%u];\n", maker->block);
    text_add(maker->out, prologue);
    for (unsigned i = 0; i < VALUES; i++)
        text_printf(maker->out, "mad.lo.u32 %%r%u, %%i3, %u, %u;\n", i, 2 * i + seed + 1,
                    37 * i + seed);
    for (unsigned i = 0; i < FLOATS; i++)
        text_printf(maker->out, "cvt.rn.f32.u32 %%f%u, %%r%u;\n", i, i);
}

/* Some threads exit between the two halves of their outputs. */
static void end(Maker *maker) {
    for (unsigned i = 0; i < VALUES; i++)
        text_printf(maker->out, "st.global.u32 [%%d1+%u], %%r%u;\n", 4 * i, i);
    text_add(maker->out, "setp.eq.u32 %p0, %r0, %r1;\n@%p0 ret;\n");
    for (unsigned i = 0; i < FLOATS; i++)
        text_printf(maker->out, "st.global.f32 [%%d1+%u], %%f%u;\n", 4 * (VALUES + i), i);
    text_add(maker->out, "ret;\n}\n");
}

MadeKernel kernel_make(const uint8_t *bytes, size_t size) {
    static const uint32_t blocks[] = {32, 64, 1, 33, 96, 128, 7, 200};
    MadeKernel kernel = {0};
    Maker maker = {.bytes = bytes, .left = size, .out = &kernel.ptx};
    kernel.choice = draw(&maker, 256) << 8;
    kernel.choice |= draw(&maker, 256);
    kernel.grid = 1 + draw(&maker, 8);
    kernel.block = maker.block = blocks[draw(&maker, 8)];
    begin(&maker, draw(&maker, 256));
    while (maker.left && maker.statements < MOST_STATEMENTS)
        statement(&maker);
    end(&maker);
    return kernel;
}

void kernel_free(MadeKernel *kernel) { text_free(&kernel->ptx); }

/* ---- Running ---- */

static int fail(Outcome *outcome, TytoStatus status, const char *message) {
    outcome->status = (int)status;
    outcome->message = strdup(message);
    return 0;
}

/* Whether the launch ran ptxas's machine code, which has other instructions than the PTX. */
static bool ran_machine_code(TytoSimulator *simulator) {
    char *json = tyto_launch_json(simulator, "made", 0);
    const bool is_machine = json && strstr(json, ", ptxas ");
    free(json);
    return is_machine;
}

/* Allocates and fills the three buffers, and launches. */
static int launch(TytoSimulator *simulator, TytoModule *module, const MadeKernel *kernel,
                  Outcome *outcome) {
    uint32_t input[MADE_INPUTS];
    uint64_t address[MADE_PARAMETERS],
        outputs = (uint64_t)kernel->grid * kernel->block * MADE_OUTPUTS;
    const uint64_t words[MADE_PARAMETERS] = {MADE_INPUTS, outputs, MADE_SUMS};
    const void *arguments[MADE_PARAMETERS] = {&address[0], &address[1], &address[2]};
    TytoStatus status = TYTO_OK;
    for (int i = 0; i < MADE_PARAMETERS && status == TYTO_OK; i++)
        status = tyto_alloc(simulator, 4 * words[i], &address[i]);
    for (uint32_t i = 0; i < MADE_INPUTS; i++)
        input[i] = i * 2654435761u;
    if (status == TYTO_OK) status = tyto_write(simulator, address[0], input, sizeof input);
    TytoLaunch request = {.module = module,
                          .kernel = tyto_find_kernel(module, "k"),
                          .grid = {kernel->grid, 1, 1},
                          .block = {kernel->block, 1, 1},
                          .arguments = arguments,
                          .argument_count = MADE_PARAMETERS};
    if (status == TYTO_OK) status = tyto_launch(simulator, &request);
    outcome->count = (size_t)outputs + MADE_SUMS;
    outcome->words = calloc(outcome->count, sizeof *outcome->words);
    if (status == TYTO_OK) status = tyto_read(simulator, address[1], outcome->words, 4 * outputs);
    if (status == TYTO_OK)
        status = tyto_read(simulator, address[2], outcome->words + outputs, 4 * MADE_SUMS);
    if (status != TYTO_OK) return fail(outcome, status, tyto_message(simulator));
    if (!ran_machine_code(simulator))
        outcome->thread_instructions = tyto_result(simulator, 0).thread_instructions;
    return 1;
}

Outcome kernel_run(const MadeKernel *kernel, int count, const char *const *options) {
    Outcome outcome = {0};
    char message[4096] = "";
    TytoModule *module = NULL;
    TytoSimulator *simulator = tyto_new(count, options, message, sizeof message);
    if (!simulator) {
        fail(&outcome, TYTO_BAD_OPTION, message);
        return outcome;
    }
    TytoStatus status =
        tyto_load(simulator, "made.ptx", text_string(&kernel->ptx), kernel->ptx.length, &module);
    if (status != TYTO_OK) fail(&outcome, status, tyto_message(simulator));
    else launch(simulator, module, kernel, &outcome);
    tyto_free(simulator);
    return outcome;
}

void outcome_free(Outcome *outcome) {
    free(outcome->message);
    free(outcome->words);
}

int outcome_is_same(const Outcome *one, const Outcome *other) {
    const bool are_ptx = one->thread_instructions && other->thread_instructions;
    return one->status == other->status && one->count == other->count &&
           (!are_ptx || one->thread_instructions == other->thread_instructions) &&
           (!one->words || memcmp(one->words, other->words, one->count * sizeof *one->words) == 0);
}
