/* Blocks, successors, post-dominators and reconvergence: well-known shapes, and random graphs
 * checked against the definition. */
#include "ptx_test.h"

#include <stdlib.h>

/* A kernel with the given control flow: each block names the labels that it may branch to. */
static PtxModule *read_flow(const char *body) {
    Text text = {0};
    text_printf(&text,
                PTX_HEADER ".entry k() { .reg .pred p; .reg .b32 r; setp.eq.u32 p, r, 0;\n%s\n}\n",
                body);
    PtxModule *module = ptx_test_read(text_string(&text));
    text_free(&text);
    return module;
}

static int32_t block_at(const PtxFunction *f, int line) {
    for (int32_t b = 0; b < f->block_count; b++) {
        if (f->insts[f->blocks[b].first].line == line) return b;
    }
    return f->block_count;
}

/* The line of the instruction at which the branch on `line` reconverges; 0 if there is none. */
static int reconverges_at(const PtxFunction *f, int line) {
    for (int32_t i = 0; i < f->inst_count; i++) {
        const PtxInst *inst = &f->insts[i];
        bool is_branch = inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX;
        if (inst->line == line && is_branch)
            return inst->reconverge < 0 ? 0 : f->insts[inst->reconverge].line;
    }
    fail_msg("no branch at line %d", line);
    return -1;
}

/* Bodies start at line 5. */
static void check(const char *body, int branch, int join) {
    PtxModule *module = read_flow(body);
    int at = reconverges_at(module->functions[0], branch);
    if (at != join)
        fail_msg("branch at line %d joins at %d, not %d, in\n%s", branch, at, join, body);
    ptx_module_free(module);
}

static void test_shapes(void **state) {
    (void)state;
    check("@p bra A;\nadd.u32 r,r,1;\nbra B;\nA: add.u32 r,r,2;\nB: ret;", 5, 9); /* diamond */
    check("@p bra B;\nadd.u32 r,r,1;\nB: ret;", 5, 7);                            /* if */
    check("A: add.u32 r,r,1;\n@p bra A;\nadd.u32 r,r,2;\nret;", 6, 7);            /* loop */
    check("@p bra A;\nA: ret;", 5, 6);                                            /* to the next */
    check("@p bra A;\nadd.u32 r,r,1;\n@p bra B;\nadd.u32 r,r,1;\nB: add.u32 r,r,1;\nA: ret;", 7, 9);
    check("@p bra A;\nadd.u32 r,r,1;\n@p bra B;\nadd.u32 r,r,1;\nB: add.u32 r,r,1;\nA: ret;", 5,
          10);
    /* a loop with a break and a continue */
    check("A: @p bra B;\n@p bra A;\nadd.u32 r,r,1;\n@p bra C;\nbra A;\nB: add.u32 r,r,2;\nC: ret;",
          5, 11);
    /* irreducible: two entries into a cycle */
    check("@p bra B;\nA: add.u32 r,r,1;\n@p bra C;\nB: add.u32 r,r,2;\n@p bra A;\nC: ret;", 5, 10);
    check("T: .branchtargets A, B, C;\nbrx.idx r, T;\nA: add.u32 r,r,1;\nbra C;\nB: add.u32 "
          "r,r,2;\nC: ret;",
          6, 10);                                 /* switch */
    check("@p bra E;\nadd.u32 r,r,1;\nE:", 5, 6); /* to the end of the text */
}

/* Threads that exit early do not change the reconvergence points of the others. */
static void test_early_ends(void **state) {
    (void)state;
    check("@p bra A;\nret;\nA: add.u32 r,r,1;\nret;", 5, 7);
    check("@p bra A;\n@p ret;\nadd.u32 r,r,1;\nA: ret;", 5, 8);
    /* one of two sides ends, or may end, before they reconverge */
    check("@p bra A;\n@p bra B;\ntrap;\nB: bra C;\nA: add.u32 r,r,1;\nC: ret;", 5, 10);
    check("@p bra A;\n@p bra B;\nexit;\nB: bra C;\nA: add.u32 r,r,1;\nC: ret;", 5, 10);
    check("@p bra A;\n@p bra B;\nL: bra L;\nB: bra C;\nA: add.u32 r,r,1;\nC: ret;", 5, 10);
    check("@p bra A;\n@p trap;\nbra C;\nA: add.u32 r,r,1;\nC: ret;", 5, 9);
    /* wherever the end is in the text, and even if it is not a trap */
    check("@p bra A;\n@p bra E;\nbra C;\nA: add.u32 r,r,1;\nC: ret;\nE: trap;", 5, 9);
    check("@p bra A;\n@p bra E;\nbra C;\nA: add.u32 r,r,1;\nC: ret;\nE: exit;", 5, 9);
    /* a loop that is left by an early exit: threads do not reconverge after it, but at its next
     * iteration */
    check("A: @p bra B;\n@p exit;\nbra C;\nB: add.u32 r,r,1;\nC: bra A;", 5, 6);
    /* each of the two paths has its own reconvergence point */
    check("@p bra X;\n@p bra A;\n@p trap;\nbra B;\nA: add.u32 r,r,1;\nB: ret;\n"
          "X: @p bra C;\n@p trap;\nbra D;\nC: add.u32 r,r,1;\nD: ret;",
          6, 10);
    check("@p bra X;\n@p bra A;\n@p trap;\nbra B;\nA: add.u32 r,r,1;\nB: ret;\n"
          "X: @p bra C;\n@p trap;\nbra D;\nC: add.u32 r,r,1;\nD: ret;",
          11, 15);
    check("@p bra A;\n@p trap;\nexit;\nA: trap;", 5, 6);
}

/* Infinite loops: for this purpose, they have an edge to the exit from their last block. */
static void test_infinite(void **state) {
    (void)state;
    check("A: @p bra B;\nadd.u32 r,r,1;\nB: bra A;", 5, 7);
    check("A: bra A;", 5, 0);
    check("@p bra A;\nret;\nA: @p bra B;\nadd.u32 r,r,1;\nB: bra A;", 7, 9);
    check("@p bra A;\nB: bra B;\nA: bra A;", 5, 0);
}

static void test_blocks(void **state) {
    (void)state;
    PtxModule *module =
        read_flow("@p bra A;\n@p exit;\nadd.u32 r,r,1;\ntrap;\nA: @p trap;\nadd.u32 r,r,1;");
    const PtxFunction *f = module->functions[0];
    assert_int_equal(f->block_count, 5);
    const PtxBlock *guarded_exit = &f->blocks[block_at(f, 6)];
    assert_int_equal(guarded_exit->successor_count, 2);
    assert_int_equal(guarded_exit->successors[0], block_at(f, 7));
    assert_int_equal(guarded_exit->successors[1], f->block_count);
    const PtxBlock *trap = &f->blocks[block_at(f, 7)];
    assert_int_equal(trap->last - trap->first, 1);
    assert_int_equal(trap->successor_count, 1);
    assert_int_equal(trap->successors[0], f->block_count);
    assert_int_equal(f->blocks[4].successors[0], f->block_count); /* falls off the end */
    ptx_module_free(module);
    module = ptx_test_read(PTX_HEADER ".func f() .noreturn { trap; }\n"
                                      ".entry k() { .reg .pred p; setp.eq.u32 p, 1, 2;\n"
                                      "@p bra A;\ncall f;\nA: ret; }");
    assert_int_equal(reconverges_at(module->functions[1], 6), 8); /* one side does not return */
    ptx_module_free(module);
}

/* ---- Random graphs ---- */

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed >> 20;
}

/* Whether the exit can be reached from `from` without passing `without`. */
static bool reaches_exit(const PtxFunction *f, int32_t from, int32_t without, bool *seen) {
    int32_t stack[256], depth = 0;
    memset(seen, 0, 256);
    if (from != without) stack[depth++] = from;
    while (depth > 0) {
        int32_t b = stack[--depth];
        if (b == f->block_count) return true;
        if (seen[b]) continue;
        seen[b] = true;
        for (int i = 0; i < f->blocks[b].successor_count; i++) {
            int32_t next = f->blocks[b].successors[i];
            if (next != without && (next == f->block_count || !seen[next])) stack[depth++] = next;
        }
    }
    return false;
}

/* d post-dominates b if every path from b to the exit passes d. The immediate post-dominator is the
 * nearest: every other post-dominator of b also post-dominates it. */
static void check_definition(const PtxFunction *f) {
    bool seen[256];
    for (int32_t b = 0; b < f->block_count; b++) {
        int32_t d = f->blocks[b].post_dominator;
        assert_int_not_equal(d, b);
        if (d != f->block_count) assert_false(reaches_exit(f, b, d, seen));
        for (int32_t other = 0; other < f->block_count; other++) {
            if (other == b || other == d || reaches_exit(f, b, other, seen)) continue;
            assert_int_not_equal(d, f->block_count);
            assert_false(reaches_exit(f, d, other, seen));
        }
    }
}

static bool has_infinite_loop(const PtxFunction *f) {
    bool seen[256];
    for (int32_t b = 0; b < f->block_count; b++) {
        if (!reaches_exit(f, b, -1, seen)) return true;
    }
    return false;
}

static void test_random_graphs(void **state) {
    (void)state;
    int checked = 0;
    uint64_t seed = 88172645463325252ULL;
    for (int round = 0; round < 300; round++) {
        Text body = {0};
        int blocks = 2 + (int)(next_random(&seed) % 14);
        for (int b = 0; b < blocks; b++) {
            int target = (int)(next_random(&seed) % (uint64_t)blocks);
            static const char *const kinds[] = {"@p bra L%d;\n", "bra L%d;\n", "@p ret; // %d\n",
                                                "ret; // %d\n", "add.u32 r, r, %d;\n"};
            uint64_t kind = next_random(&seed) % 8;
            text_printf(&body, "L%d: add.u32 r,r,1;\n", b);
            text_printf(&body, kinds[kind > 4 ? 0 : kind], target);
        }
        PtxModule *module = read_flow(text_string(&body));
        if (!has_infinite_loop(module->functions[0])) {
            check_definition(module->functions[0]);
            checked++;
        }
        ptx_module_free(module);
        text_free(&body);
    }
    assert_true(checked > 100);
}

/* Graphs on which nonlinear methods are slow: all must finish well within the time limit of the
 * test. */
static void test_large_graphs(void **state) {
    (void)state;
    enum { BLOCKS = 50000 };
    Text nested = {0}, ladder = {0}, back = {0};
    for (int i = 0; i < BLOCKS; i++) {
        text_printf(&nested, "@p bra E%d;\nadd.u32 r,r,1;\n", BLOCKS - 1 - i);
        text_printf(&ladder, "@p bra E;\nadd.u32 r,r,1;\n");
        text_printf(&back, "L%d: @p bra L%d;\n", i, i / 2);
    }
    for (int i = 0; i < BLOCKS; i++)
        text_printf(&nested, "E%d: add.u32 r,r,1;\n", i);
    text_add(&ladder, "E: ret;");
    const Text *graphs[] = {&nested, &ladder, &back};
    for (size_t i = 0; i < 3; i++)
        ptx_module_free(read_flow(text_string(graphs[i])));
    text_free(&nested);
    text_free(&ladder);
    text_free(&back);
}

static void test_dot(void **state) {
    (void)state;
    PtxModule *module = read_flow("@p bra A;\nadd.u32 r,r,1;\nA: ret;");
    Text dot = {0};
    ptx_write_dot(module, NULL, &dot);
    assert_non_null(strstr(text_string(&dot), "subgraph cluster_0 {\n    label=\"k\";"));
    assert_non_null(strstr(text_string(&dot), "f0b0 [label=\"0: lines 4-5\\n@bra\"];"));
    assert_non_null(strstr(text_string(&dot), "f0b0 -> f0b1;\n    f0b0 -> f0b2;"));
    assert_non_null(strstr(text_string(&dot), "f0b2 -> f0b3;"));
    text_free(&dot);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_early_ends),
                                       cmocka_unit_test(test_infinite),
                                       cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_random_graphs),
                                       cmocka_unit_test(test_large_graphs),
                                       cmocka_unit_test(test_dot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
