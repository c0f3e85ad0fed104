/* The structure of a random kernel: loops, branches, switches, calls, and the statements in
 * them. */
#include <stdio.h>
#include <string.h>

#include "conformance/values.h"

#include "maker.h"

enum { MAX_DEPTH = 3 };

/* ---- Shared by the parts of the generator ---- */

int maker_choose(Maker *maker, int count) {
    return (int)(values_next(&maker->state) % (uint64_t)count);
}

Text *maker_begin(Maker *maker, StatementKind kind) {
    Body *body = maker->body;
    body->statements[body->count] = (Statement){.kind = kind, .start = body->text.length};
    return &body->text;
}

void maker_end(Maker *maker) {
    Body *body = maker->body;
    Statement *statement = &body->statements[body->count++];
    statement->length = body->text.length - statement->start;
}

bool maker_has_room(const Maker *maker, int count) {
    return maker->body->count + count <= PROGRAM_STATEMENTS;
}

static Name register_name(Pool pool, int number) {
    Name name;
    snprintf(name.text, sizeof name.text, "%s%d", POOL_INFO[pool].prefix, number);
    return name;
}

Name maker_register(Maker *maker, Pool pool) {
    return register_name(pool, maker_choose(maker, POOL_INFO[pool].count));
}

Name maker_result(Maker *maker, Pool pool, int taken, int *number) {
    do
        *number = maker_choose(maker, POOL_INFO[pool].count);
    while (*number == taken);
    maker->body->written[pool] |= 1u << *number;
    return register_name(pool, *number);
}

/* ---- Simple statements ---- */

/* Moves the bits of a floating-point register to an integer register. */
static void write_canonical(Maker *maker) {
    const Pool pool = (Pool)(POOL_F16 + maker_choose(maker, POOL_PRED - POOL_F16));
    const int bits = POOL_INFO[pool].bits;
    int number;
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    const Name from = maker_register(maker, pool);
    const Pool to = bits == 16 ? POOL_B16 : bits == 32 ? POOL_B32 : POOL_B64;
    pool_write_canonical(pool, from.text, maker_result(maker, to, -1, &number).text, out);
    maker_end(maker);
}

/* Joins halves into a register, or splits a register of 64 bits. Of one with 32 bits, ptxas 13.0
 * takes the wrong half in an unrolled loop, or if a load has extended a byte to it. */
static void write_halves(Maker *maker) {
    const bool is_wide = maker_chance(maker, 2);
    const bool joins = maker_chance(maker, 2) || !is_wide;
    const Pool whole = is_wide ? POOL_B64 : POOL_B32, half = is_wide ? POOL_B32 : POOL_B16;
    const int bits = is_wide ? 64 : 32;
    int number;
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    if (joins) {
        const Name low = maker_register(maker, half), high = maker_register(maker, half);
        text_printf(out, "mov.b%d %s, {%s, %s};\n", bits,
                    maker_result(maker, whole, -1, &number).text, low.text, high.text);
    } else {
        const Name low = maker_result(maker, half, -1, &number);
        const Name high = maker_result(maker, half, number, &number);
        text_printf(out, "mov.b%d {%s, %s}, %s;\n", bits, low.text, high.text,
                    maker_register(maker, whole).text);
    }
    maker_end(maker);
}

static void write_call(Maker *maker) {
    int number;
    const int callee = maker->index + 1;
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    text_printf(out,
                "{\n.param .b32 x;\n.param .b64 y;\n.param .b32 z;\n"
                "st.param.b32 [x], %s;\nst.param.b64 [y], %s;\n",
                maker_register(maker, POOL_B32).text, maker_register(maker, POOL_B64).text);
    text_printf(out, "call (z), f%u_%d, (x, y);\nld.param.b32 %s, [z];\n}\n",
                maker->program->number, callee, maker_result(maker, POOL_B32, -1, &number).text);
    maker_end(maker);
}

/* Leaves the enclosing divergent loop, or the kernel. The threads that stay may imply values of
 * predicates for the rest of the block. */
static void write_leave(Maker *maker) {
    const bool leaves_loop =
        maker->loop >= 0 && (!maker->program->is_ragged || maker->index || maker_chance(maker, 2));
    const Name guard = maker_register(maker, POOL_PRED), other = maker_register(maker, POOL_PRED);
    if (!leaves_loop && (!maker->program->is_ragged || maker->index)) return;
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    text_printf(out, "and.pred %%q0, %s, %s;\n", guard.text, other.text);
    if (leaves_loop)
        text_printf(out, "@%%q0 bra $%s%d;\n", maker_chance(maker, 3) ? "next" : "end",
                    maker->loop);
    else text_add(out, "@%q0 exit;\n");
    maker->has_exit |= !leaves_loop;
    maker_end(maker);
    maker->implications++;
}

static void write_simple(Maker *maker) {
    const int kind = maker_choose(maker, 100);
    const bool has_callee =
        maker->index + 1 < PROGRAM_BODIES && maker->program->bodies[maker->index + 1].count > 0;
    if (kind < 8) accesses_write_private(maker);
    else if (kind < 13) accesses_write_constant(maker);
    else if (kind < 18 && maker->index == 0) accesses_write_atomic(maker);
    else if (kind < 25) write_canonical(maker);
    else if (kind < 29) write_halves(maker);
    else if (kind < 31) forms_write_chain(maker);
    else if (kind < 35 && has_callee) write_call(maker);
    else if (kind < 39) write_leave(maker);
    else if (kind < 44 && maker->is_converged) accesses_write_exchange(maker);
    else forms_write(maker);
}

/* ---- Structure ---- */

static void write_block(Maker *maker, int count);

/* Writes the condition of a branch to %q0: per thread, or the same for the whole CTA. Returns
 * whether it implies values of predicates. */
static bool write_condition(Maker *maker, bool is_uniform, Text *out) {
    static const char *const comparisons[] = {"lt.s32", "gt.u32", "ne.s32", "eq.u32"};
    if (is_uniform) text_printf(out, "setp.eq.u32 %%q0, %%cta, %d;\n", maker_choose(maker, 2));
    else if (maker_chance(maker, 2)) {
        text_printf(out, "xor.pred %%q0, %s, %s;\n", maker_register(maker, POOL_PRED).text,
                    maker_register(maker, POOL_PRED).text);
        return true;
    } else
        text_printf(out, "setp.%s %%q0, %s, %s;\n", comparisons[maker_choose(maker, 4)],
                    maker_register(maker, POOL_B32).text, maker_register(maker, POOL_B32).text);
    return false;
}

static void write_if(Maker *maker, int label, bool is_uniform) {
    const bool has_else = maker_chance(maker, 2);
    Text *out = maker_begin(maker, STATEMENT_OPEN);
    const bool implies = write_condition(maker, is_uniform, out);
    maker->implications += implies;
    text_printf(out, "@%s%%q0 bra $else%d;\n", maker_chance(maker, 2) ? "!" : "", label);
    maker_end(maker);
    write_block(maker, 1 + maker_choose(maker, 5));
    if (has_else) {
        text_printf(maker_begin(maker, STATEMENT_ELSE), "bra $end%d;\n$else%d:\n", label, label);
        maker_end(maker);
        write_block(maker, 1 + maker_choose(maker, 4));
    }
    out = maker_begin(maker, STATEMENT_CLOSE);
    if (!has_else) text_printf(out, "$else%d:\n", label);
    text_printf(out, "$end%d:\n", label);
    maker_end(maker);
    maker->implications -= implies;
}

/* A loop that ends after 1 to 4 turns, or after 0 to 3 if it tests first. */
static void write_loop(Maker *maker, int label, bool is_uniform) {
    const bool tests_first = maker_chance(maker, 2);
    const int outer = maker->loop;
    if (!is_uniform) maker->loop = label;
    maker->loops++;
    const int implied = maker->implications > 0;
    maker->implied_loops += implied;
    Text *out = maker_begin(maker, STATEMENT_OPEN);
    if (is_uniform && maker_chance(maker, 2))
        text_printf(out, "add.u32 %%c%d, %%cta, %d;\n", label, maker_choose(maker, 3));
    else if (is_uniform) text_printf(out, "mov.u32 %%c%d, %d;\n", label, maker_choose(maker, 4));
    else text_printf(out, "and.b32 %%c%d, %s, 3;\n", label, maker_register(maker, POOL_B32).text);
    text_printf(out, "$loop%d:\n", label);
    if (tests_first)
        text_printf(out, "setp.eq.u32 %%q0, %%c%d, 0;\n@%%q0 bra $end%d;\n", label, label);
    maker_end(maker);
    write_block(maker, 1 + maker_choose(maker, 5));
    out = maker_begin(maker, STATEMENT_CLOSE);
    text_printf(out, "$next%d:\nadd.s32 %%c%d, %%c%d, -1;\n", label, label, label);
    if (tests_first) text_printf(out, "bra $loop%d;\n$end%d:\n", label, label);
    else
        text_printf(out, "setp.ge.s32 %%q0, %%c%d, 0;\n@%%q0 bra $loop%d;\n$end%d:\n", label, label,
                    label);
    maker_end(maker);
    maker->loop = outer;
    maker->loops--;
    maker->implied_loops -= implied;
}

static void write_switch(Maker *maker, int label) {
    const int cases = maker_chance(maker, 2) ? 2 : 4;
    Text *out = maker_begin(maker, STATEMENT_OPEN);
    text_printf(out, "and.b32 %%t0, %s, %d;\n$targets%d:\n.branchtargets $case%d_0",
                maker_register(maker, POOL_B32).text, cases - 1, label, label);
    for (int i = 1; i < cases; i++)
        text_printf(out, ", $case%d_%d", label, i);
    text_printf(out, ";\nbrx.idx %%t0, $targets%d;\n$case%d_0:\n", label, label);
    maker_end(maker);
    write_block(maker, 1 + maker_choose(maker, 3));
    for (int i = 1; i < cases; i++) {
        out = maker_begin(maker, STATEMENT_ELSE);
        if (!maker_chance(maker, 4)) text_printf(out, "bra $end%d;\n", label);
        text_printf(out, "$case%d_%d:\n", label, i);
        maker_end(maker);
        write_block(maker, 1 + maker_choose(maker, 3));
    }
    text_printf(maker_begin(maker, STATEMENT_CLOSE), "$end%d:\n", label);
    maker_end(maker);
}

static void write_structure(Maker *maker) {
    const int label = maker->labels++, kind = maker_choose(maker, 8);
    const bool was_converged = maker->is_converged;
    const bool is_uniform = was_converged && kind < 7 && maker_chance(maker, 3);
    maker->is_converged = is_uniform;
    maker->depth++;
    if (kind < 4) write_if(maker, label, is_uniform);
    else if (kind < 7) write_loop(maker, label, is_uniform);
    else write_switch(maker, label);
    maker->depth--;
    maker->is_converged = was_converged;
}

/* STRUCTURE reserves space for the ends of open loops and branches. */
static void write_block(Maker *maker, int count) {
    enum { STRUCTURE = 48 };
    const int implications = maker->implications;
    for (int i = 0; i < count && maker_has_room(maker, STRUCTURE); i++) {
        const bool can_nest = maker->depth < MAX_DEPTH && maker->labels < PROGRAM_LABELS;
        if (can_nest && maker_chance(maker, 7)) write_structure(maker);
        else write_simple(maker);
    }
    maker->implications = implications;
}

void generate(Program *program, const FormList *forms, uint64_t seed, uint32_t number) {
    uint64_t mixed = seed;
    Maker maker = {.forms = forms, .program = program};
    maker.state = values_next(&mixed) ^ ((uint64_t)number << 32 | number);
    memset(program, 0, sizeof *program);
    program->number = number;
    program->is_ragged = maker_chance(&maker, 4);
    const int functions =
        maker_chance(&maker, 3) ? 1 + maker_choose(&maker, PROGRAM_BODIES - 1) : 0;
    for (int b = functions; b >= 0; b--) {
        maker.body = &program->bodies[b];
        maker.index = b;
        maker.labels = 0;
        maker.loop = -1;
        maker.has_exit = false;
        maker.is_converged = b == 0 && !program->is_ragged;
        write_block(&maker, b ? 3 + maker_choose(&maker, 6) : 8 + maker_choose(&maker, 20));
    }
}
