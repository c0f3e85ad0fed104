/* Random control flow without data races: branches, loops that lanes leave one by one, switches,
 * calls, early exits, and barriers that all remaining lanes reach. The result must not depend on
 * how lanes wait for each other. */
#include "pairs.h"

enum { VALUES = 6, MOST_DEPTH = 4, MOST_STATEMENTS = 40, THREADS = 96 };

typedef struct Maker {
    Pair *pair;
    int depth;      /* number of enclosing constructs */
    int loops;      /* enclosing loops: each counts in its own register */
    int statements; /* so far */
    int labels;     /* given out */
    bool is_inner;  /* inside a function: lanes return instead of exiting */
} Maker;

static void block(Maker *maker);

static uint32_t value(Maker *maker) { return pair_draw(maker->pair, VALUES); }

/* Values are in %r0 to %r5; lanes share only the code. */
static void compute(Maker *maker) {
    const Word operation = pair_word(maker->pair, "add sub mul.lo xor min max");
    const char *type = pair_word_is(operation, "xor") ? "b32" : "u32";
    pair_add(maker->pair, "%.*s.%s %%r%u, %%r%u, %%r%u;\nadd.u32 %%r%u, %%r%u, %u;\n",
             operation.length, operation.text, type, value(maker), value(maker), value(maker),
             value(maker), value(maker), pair_draw(maker->pair, 1000));
}

/* Sets %p0, which is true in some lanes. */
static void condition(Maker *maker) {
    Pair *pair = maker->pair;
    switch (pair_draw(pair, 3)) {
    case 0:
        pair_add(pair, "and.b32 %%r20, %%r%u, %u;\nsetp.eq.u32 %%p0, %%r20, 0;\n", value(maker),
                 1u << pair_draw(pair, 3));
        break;
    case 1: pair_add(pair, "setp.lt.u32 %%p0, %%r%u, %%r%u;\n", value(maker), value(maker)); break;
    default: pair_add(pair, "setp.lt.u32 %%p0, %%l, %u;\n", pair_draw(pair, 33)); break;
    }
}

static void branch(Maker *maker) {
    const int label = maker->labels++;
    const bool has_other_side = pair_draw(maker->pair, 2);
    condition(maker);
    pair_add(maker->pair, "@%%p0 bra ELSE_%d;\n", label);
    block(maker);
    if (has_other_side) pair_add(maker->pair, "bra END_%d;\n", label);
    pair_add(maker->pair, "ELSE_%d:\n", label);
    if (has_other_side) block(maker);
    pair_add(maker->pair, "END_%d:\n", label);
}

/* Iterates up to seven times; a value of each lane gives its number of iterations, unless it breaks
 * earlier. */
static void loop(Maker *maker) {
    const int label = maker->labels++, counter = 8 + maker->loops++;
    pair_add(maker->pair, "and.b32 %%r%d, %%r%u, 7;\nLOOP_%d:\n", counter, value(maker), label);
    block(maker);
    if (pair_draw(maker->pair, 2)) {
        condition(maker);
        pair_add(maker->pair, "@%%p0 bra LEAVE_%d;\n", label);
        block(maker);
    }
    pair_add(maker->pair,
             "sub.s32 %%r%d, %%r%d, 1;\nsetp.ge.s32 %%p0, %%r%d, 0;\n@%%p0 bra LOOP_%d;\n"
             "LEAVE_%d:\n",
             counter, counter, counter, label, label);
    maker->loops--;
}

static void choose(Maker *maker) {
    const int label = maker->labels++;
    pair_add(maker->pair,
             "and.b32 %%r20, %%r%u, 3;\nTABLE_%d: .branchtargets CASE_%d_0, CASE_%d_1, CASE_%d_2, "
             "CASE_%d_1;\nbrx.idx %%r20, TABLE_%d;\n",
             value(maker), label, label, label, label, label, label);
    for (int i = 0; i < 3; i++) {
        pair_add(maker->pair, "CASE_%d_%d:\n", label, i);
        block(maker);
        if (pair_draw(maker->pair, 2)) pair_add(maker->pair, "bra CHOSEN_%d;\n", label);
    }
    pair_add(maker->pair, "CHOSEN_%d:\n", label);
}

static void call(Maker *maker) {
    if (maker->is_inner) {
        compute(maker);
        return;
    }
    if (pair_draw(maker->pair, 2)) {
        condition(maker);
        pair_add(maker->pair, "@%%p0 ");
    }
    pair_add(maker->pair, "call (%%r%u), mix, (%%r%u, %%r%u);\n", value(maker), value(maker),
             value(maker));
}

/* Some lanes exit here, after writing their values; or no lane does, but the assembler cannot know
 * that. */
static void end_early(Maker *maker) {
    const int label = maker->labels++;
    pair_add(maker->pair, "and.b32 %%r20, %%r%u, 31;\nsetp.ne.u32 %%p0, %%r20, %u;\n", value(maker),
             pair_draw(maker->pair, 32));
    const bool is_trap = pair_draw(maker->pair, 3) == 0;
    if (is_trap) pair_add(maker->pair, "setp.ge.u32 %%p0, %%t, 0;\n");
    pair_add(maker->pair, "@%%p0 bra STAY_%d;\n", label);
    if (is_trap) pair_add(maker->pair, "trap;\n");
    else if (maker->is_inner) pair_add(maker->pair, "xor.b32 out, %%r0, %%r3;\nret;\n");
    else
        pair_add(maker->pair, "st.global.u32 [%%x1], %%r%u;\n%s;\n", value(maker),
                 pair_draw(maker->pair, 2) ? "exit" : "ret");
    pair_add(maker->pair, "STAY_%d:\n", label);
}

/* A place that all remaining lanes reach: each lane reads what a lane of another warp wrote. */
static void exchange(Maker *maker) {
    const uint32_t from = value(maker), to = value(maker);
    if (maker->depth > 1 || maker->is_inner) {
        compute(maker);
        return;
    }
    pair_add(maker->pair,
             "bar.sync 0;\nst.shared.u32 [%%r30], %%r%u;\nbar.sync 0;\n"
             "ld.shared.u32 %%r%u, [%%r31];\n",
             from, to);
}

static void block(Maker *maker) {
    static void (*const statements[])(Maker *) = {compute, compute,   branch,   branch,   loop,
                                                  choose,  end_early, exchange, exchange, call};
    const uint32_t count = 1 + pair_draw(maker->pair, 4);
    maker->depth++;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_plain = maker->depth > MOST_DEPTH || ++maker->statements > MOST_STATEMENTS;
        if (is_plain) compute(maker);
        else statements[pair_draw(maker->pair, sizeof statements / sizeof *statements)](maker);
    }
    maker->depth--;
}

void pair_make_flow(Pair *pair) {
    Maker maker = {.pair = pair, .is_inner = true, .statements = MOST_STATEMENTS - 12};
    pair->is_alone = true;
    pair->threads = THREADS;
    pair_add(pair,
             ".shared .b32 s[%d];\n.func (.reg .b32 out) mix(.reg .b32 a, .reg .b32 b)\n{\n"
             ".reg .b32 %%t, %%l, %%r<64>;\n.reg .pred %%p<4>;\nmov.u32 %%t, %%tid.x;\n"
             "mov.u32 %%l, %%laneid;\nmov.u32 %%r0, a;\nmov.u32 %%r1, b;\n"
             "xor.b32 %%r2, a, b;\nmov.u32 %%r3, %%t;\nmov.u32 %%r4, 5;\nmov.u32 %%r5, a;\n",
             THREADS);
    block(&maker);
    pair_add(pair, "add.u32 out, %%r0, %%r1;\nret;\n}\n");
    maker = (Maker){.pair = pair, .labels = maker.labels};
    pair_begin(pair, "one", "");
    pair_add(pair,
             "mad.wide.u32 %%x0, %%t, 32, %%in;\nmad.wide.u32 %%x1, %%t, 32, %%out;\n"
             "mov.u32 %%r30, s;\nmad.lo.u32 %%r31, %%t, 4, %%r30;\nadd.u32 %%r21, %%t, 33;\n"
             "rem.u32 %%r21, %%r21, %d;\nmad.lo.u32 %%r20, %%r21, 4, %%r30;\n"
             "mov.u32 %%r30, %%r31;\nmov.u32 %%r31, %%r20;\n",
             THREADS);
    for (int i = 0; i < VALUES; i++)
        pair_add(pair, "ld.global.u32 %%r%d, [%%x0+%d];\n", i, 4 * i);
    block(&maker);
    block(&maker);
    for (int i = 0; i < VALUES; i++)
        pair_add(pair, "st.global.u32 [%%x1+%d], %%r%d;\n", 4 * i, i);
    pair_end(pair);
}
