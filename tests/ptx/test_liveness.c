/* Liveness, register pressure and allocation. Generated programs are checked against a plain
 * dataflow analysis: no write may touch the slot of another live register. */
#include "ptx_test.h"

#include <stdlib.h>

#include "ptx/analysis.h"

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed >> 20;
}
static int pick(uint64_t *seed, int count) { return (int)(next_random(seed) % (uint64_t)count); }

/* ---- Programs ---- */

enum { NAMES = 6, LABELS = 6 };

static void add_random_instruction(Text *text, uint64_t *seed) {
    int d = pick(seed, NAMES), a = pick(seed, NAMES), b = pick(seed, NAMES), q = pick(seed, NAMES);
    if (pick(seed, 4) == 0) text_printf(text, "@%s%%p%d ", pick(seed, 2) ? "!" : "", q);
    switch (pick(seed, 11)) {
    case 0: text_printf(text, "add.s32 %%r%d, %%r%d, %%r%d;\n", d, a, b); break;
    case 1: text_printf(text, "add.s64 %%rd%d, %%rd%d, %%rd%d;\n", d, a, b); break;
    case 2: text_printf(text, "mul.wide.s32 %%rd%d, %%r%d, %%r%d;\n", d, a, b); break;
    case 3: text_printf(text, "cvt.u32.u64 %%r%d, %%rd%d;\n", d, a); break;
    case 4: text_printf(text, "setp.lt.s32 %%p%d|%%p%d, %%r%d, %%r%d;\n", d, q, a, b); break;
    case 5: text_printf(text, "mov.b64 {%%r%d, %%r%d}, %%rd%d;\n", d, (d + 1) % NAMES, a); break;
    case 6: text_printf(text, "mov.b32 %%r%d, {%%h%d, %%h%d};\n", d, a, b); break;
    case 7: text_printf(text, "cvt.u16.u32 %%h%d, %%r%d;\n", d, a); break;
    case 8: text_printf(text, "st.global.v2.u32 [%%rd%d], {%%r%d, %%r%d};\n", d, a, b); break;
    case 9: text_printf(text, "ld.global.u32 %%r%d, [%%rd%d];\n", d, a); break;
    default: text_printf(text, "selp.b32 %%r%d, %%r%d, %%r%d, %%p%d;\n", d, a, b, q);
    }
}

static PtxModule *random_program(uint64_t *seed) {
    Text text = {0};
    text_add(&text, PTX_HEADER ".func f(.reg .b32 in, .reg .b64 in_wide) {\n.reg .b32 %r<8>; .reg "
                               ".b64 %rd<8>; .reg .b16 %h<8>; .reg .pred %p<8>;\n");
    for (int label = 0; label < LABELS; label++) {
        text_printf(&text, "L%d:\n", label);
        for (int i = pick(seed, 6); i >= 0; i--)
            add_random_instruction(&text, seed);
        int kind = pick(seed, 5), target = pick(seed, LABELS);
        if (kind == 0) text_printf(&text, "bra L%d;\n", target);
        if (kind < 3) text_printf(&text, "@%%p%d bra L%d;\n", pick(seed, NAMES), target);
        if (kind == 3) text_printf(&text, "@%%p%d ret;\n", pick(seed, NAMES));
    }
    text_add(&text, "add.s32 %r0, in, %r1;\nadd.s64 %rd0, in_wide, %rd1;\n}\n");
    PtxModule *module = ptx_test_read(text_string(&text));
    text_free(&text);
    return module;
}

/* ---- The plain analysis: registers as bits, at most 64 of them ---- */

static void visit(const PtxOperand *operand, uint64_t *set) {
    bool is_reg = operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_MEM;
    if (is_reg && operand->reg >= 0) *set |= UINT64_C(1) << operand->reg;
    for (int i = 0; i < operand->count; i++)
        visit(&operand->items[i], set);
}

static uint64_t reads_of(const PtxInst *inst) {
    uint64_t set = inst->guard >= 0 ? UINT64_C(1) << inst->guard : 0;
    for (int i = inst->has_destination ? 1 : 0; i < inst->operand_count; i++)
        visit(&inst->operands[i], &set);
    return set;
}

static uint64_t writes_of(const PtxInst *inst) {
    uint64_t set = 0;
    if (inst->has_destination) visit(&inst->operands[0], &set);
    return set;
}

/* Registers live before each instruction. */
static void plain_liveness(const PtxFunction *f, uint64_t *before, uint64_t *after) {
    memset(before, 0, sizeof *before * (size_t)f->inst_count);
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int32_t b = f->block_count - 1; b >= 0; b--) {
            uint64_t live = 0;
            for (int i = 0; i < f->blocks[b].successor_count; i++) {
                int32_t next = f->blocks[b].successors[i];
                if (next < f->block_count) live |= before[f->blocks[next].first];
            }
            for (int32_t i = f->blocks[b].last; i >= f->blocks[b].first; i--) {
                after[i] = live;
                if (f->insts[i].guard < 0) live &= ~writes_of(&f->insts[i]);
                live |= reads_of(&f->insts[i]);
                is_changed |= before[i] != live;
                before[i] = live;
            }
        }
    }
}

/* ---- Properties ---- */

static bool share_slots(const PtxReg *a, const PtxReg *b) {
    if ((a->type == PTX_PRED) != (b->type == PTX_PRED)) return false;
    int a_rows = ptx_type_bits(a->type) > 32 ? 2 : 1, b_rows = ptx_type_bits(b->type) > 32 ? 2 : 1;
    return a->slot < b->slot + b_rows && b->slot < a->slot + a_rows;
}

static void check_apart(const PtxFunction *f, int32_t inst, uint64_t set, uint64_t others) {
    for (int32_t r = 0; r < f->reg_count; r++) {
        for (int32_t q = 0; q < f->reg_count; q++) {
            bool are_both = set >> r & 1 && others >> q & 1;
            if (r == q || !are_both || !share_slots(&f->regs[r], &f->regs[q])) continue;
            fail_msg("line %d: %s and %s are both in slot %d", f->insts[inst].line, f->regs[r].name,
                     f->regs[q].name, f->regs[r].slot);
        }
    }
}

/* The registers that may share a slot with the destination, if it is the only one: those of exactly
 * its size. */
static uint64_t sharable(const PtxFunction *f, const PtxInst *inst) {
    uint64_t written = writes_of(inst), set = 0;
    if (!written || (written & (written - 1))) return 0;
    int bits = ptx_type_bits(f->regs[__builtin_ctzll(written)].type);
    for (int32_t r = 0; r < f->reg_count; r++) {
        if (ptx_type_bits(f->regs[r].type) == bits) set |= UINT64_C(1) << r;
    }
    return set;
}

static int32_t words(const PtxFunction *f, uint64_t set) {
    int32_t count = 0;
    for (int32_t r = 0; r < f->reg_count; r++) {
        if (!(set >> r & 1) || f->regs[r].type == PTX_PRED) continue;
        count += ptx_type_bits(f->regs[r].type) > 32 ? 2 : 1;
    }
    return count;
}

static bool is_wide(const PtxReg *reg) { return ptx_type_bits(reg->type) > 32; }

/* Lane i of a wide register is at a different position in its row than lane i of a narrow one. On
 * diverged paths two registers with a common slot may be live at once, each in different lanes. */
static void check_no_size_meets_another(const PtxFunction *f) {
    for (int32_t r = 0; r < f->reg_count; r++) {
        for (int32_t q = 0; q < r; q++) {
            const PtxReg *a = &f->regs[r], *b = &f->regs[q];
            if (a->slot < 0 || b->slot < 0 || is_wide(a) == is_wide(b)) continue;
            if (share_slots(a, b)) fail_msg("%s and %s share slot %d", a->name, b->name, a->slot);
        }
    }
}

static void check_function(PtxFunction *f) {
    uint64_t before[256], after[256];
    int32_t pressure = 0;
    assert_true(f->reg_count <= 64 && f->inst_count <= 256);
    plain_liveness(f, before, after);
    for (int32_t i = 0; i < f->inst_count; i++) {
        const PtxInst *inst = &f->insts[i];
        uint64_t written = writes_of(inst);
        check_apart(f, i, before[i], before[i]);
        check_apart(f, i, written, written | after[i]);
        check_apart(f, i, written, reads_of(inst) & ~sharable(f, inst));
        if (words(f, before[i]) > pressure) pressure = words(f, before[i]);
    }
    for (int32_t r = 0; r < f->reg_count; r++) {
        if (ptx_type_bits(f->regs[r].type) > 32) assert_int_equal(f->regs[r].slot % 2, 0);
        if (f->regs[r].type == PTX_PRED) assert_true(f->regs[r].slot >= 2);
    }
    check_no_size_meets_another(f);
    PtxLiveness liveness;
    int64_t budget = 1000000;
    assert_true(ptx_find_liveness(f, &liveness, &budget));
    assert_int_equal(liveness.pressure, pressure);
    free(liveness.intervals);
}

static void test_random_programs(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252ULL;
    for (int round = 0; round < 2000; round++) {
        PtxModule *module = random_program(&seed);
        check_function(module->functions[0]);
        ptx_module_free(module);
    }
}

static const PtxReg *find_reg(const PtxFunction *f, const char *name) {
    for (int32_t r = 0; r < f->reg_count; r++) {
        if (!strcmp(f->regs[r].name, name)) return &f->regs[r];
    }
    fail_msg("no register %s", name);
    return NULL;
}

static void test_examples(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read_body("mov.b32 %r1, 1;\n"
                                           "add.s32 %r2, %r1, 1;\n"         /* may take r1's row */
                                           "mul.wide.s32 %rd1, %r2, %r2;\n" /* may not take r2's */
                                           "@%p1 mov.b32 %r3, 7;\n" /* partial: r3 live before */
                                           "st.global.u32 [%rd1], %r3;\n"
                                           "mov.b32 %r4, 5;\n"); /* never read */
    const PtxFunction *f = module->functions[0];
    assert_int_equal(find_reg(f, "%r1")->slot, find_reg(f, "%r2")->slot);
    assert_true(find_reg(f, "%r3")->slot != find_reg(f, "%r1")->slot);
    assert_true(find_reg(f, "%rd1")->slot / 2 != find_reg(f, "%r2")->slot / 2);
    assert_true(find_reg(f, "%r4")->slot >= 0);
    assert_int_equal(f->pred_count, 3);
    ptx_module_free(module);
}

/* A register live around a loop keeps its slot to the end of the loop. */
static void test_loop(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read_body("mov.b32 %r1, 1;\nmov.b32 %r2, 0;\n"
                                           "L: add.s32 %r2, %r2, %r1;\n"
                                           "mov.b32 %r3, %r2;\n"
                                           "st.shared.u32 [tile], %r3;\n"
                                           "setp.lt.s32 %p1, %r2, 9;\n@%p1 bra L;\n");
    const PtxFunction *f = module->functions[0];
    assert_int_equal(f->row_count, 4); /* three registers, but rows are allocated in pairs */
    assert_true(find_reg(f, "%r3")->slot != find_reg(f, "%r1")->slot);
    ptx_module_free(module);
}

/* Parameters in registers all arrive at once. Returned registers stay live until the end. */
static void test_register_parameters(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read(
        PTX_HEADER ".func (.reg .u32 out, .reg .u32 rest) f(.reg .u32 a, .reg .u32 b) {\n"
                   ".reg .u32 t;\nmov.u32 out, 1;\nmov.u32 a, 2;\nadd.u32 t, a, b;\n"
                   "mov.u32 rest, t;\nret; }\n");
    const PtxFunction *f = module->functions[0];
    assert_true(find_reg(f, "a")->slot != find_reg(f, "b")->slot);
    assert_true(find_reg(f, "out")->slot != find_reg(f, "rest")->slot);
    assert_true(find_reg(f, "out")->slot != find_reg(f, "t")->slot);
    assert_int_equal(f->parameters[0].reg >= 0, 1);
    ptx_module_free(module);
}

/* Registers that are all live across many blocks are refused, because analyzing them would take
 * hours. */
static void test_budget(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read_body("mov.b32 %r1, 1;\nL: @%p1 bra L;\n@%p2 bra L;\n"
                                           "st.shared.u32 [tile], %r1;\n");
    PtxLiveness liveness;
    int64_t budget = 3;
    assert_false(ptx_find_liveness(module->functions[0], &liveness, &budget));
    ptx_module_free(module);
}

static void test_estimate(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read(
        PTX_HEADER ".entry e() { ret; }\n.func g() { ret; }\n.entry c() { call g; ret; }\n"
                   ".entry bounded() .maxnreg 16 { call g; ret; }\n"
                   ".entry launch() .maxntid 1024 .minnctapersm 4 { call g; ret; }\n");
    assert_int_equal(ptx_find_function(module, "e")->registers, 8);
    assert_int_equal(ptx_find_function(module, "c")->registers, 24);
    assert_int_equal(ptx_find_function(module, "bounded")->registers, 16);
    assert_int_equal(ptx_find_function(module, "launch")->registers, 16); /* 65536 / 4096 */
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs),
                                       cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_loop),
                                       cmocka_unit_test(test_register_parameters),
                                       cmocka_unit_test(test_budget),
                                       cmocka_unit_test(test_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
