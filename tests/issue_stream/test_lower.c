/* Issue slots: the effect of each rule on PTX, next to a case in which the rule must not apply.
 * Slots are written per instruction. A guarded branch is written split/taken/passed. A dash marks
 * the slots of an atomic without result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/exec/handlers.h"
#include "issue_stream/lower.h"

#define HEAD                                                                                       \
    ".version 8.6\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 " \
    "n, .param .u32 m) {\n.shared .align 16 .b8 room[4096];\n.reg .pred %p<9>; .reg .b16 %h<9>; "  \
    ".reg .b32 %r<30>; .reg .f32 %f<30>; .reg .b64 %d<30>; .reg .f64 %e<9>;\n"                     \
    "ld.global.u32 %r28, [%d29]; mov.u32 %r29, %tid.x;\n"
enum { HEAD_COUNT = 2 }; /* instructions that start the kernel and its accesses to memory */

typedef struct Case {
    const char *lines;
    const char *slots; /* slots of their instructions */
} Case;

/* Writes the slots in the form of the cases. */
static void write_slots(const IsaProgram *program, char *out, size_t room) {
    const IsaSlots *slots = isa_lower(program);
    const IsaFunction *kernel = &program->functions[0];
    size_t at = 0;
    out[0] = 0;
    for (uint32_t pc = HEAD_COUNT; pc + 1 < kernel->end; pc++) {
        const IsaSlots *s = &slots[pc];
        const char *gap = pc > HEAD_COUNT ? " " : "";
        if (s->taken == s->slots && s->passed == s->slots)
            at += (size_t)snprintf(out + at, room - at, "%s%d%s", gap, s->slots,
                                   s->is_forgotten ? "-" : "");
        else
            at += (size_t)snprintf(out + at, room - at, "%s%d/%d/%d", gap, s->slots, s->taken,
                                   s->passed);
    }
}

static void check(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[4096], found[256];
        int length = snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, cases[i].lines);
        Diag *diag = diag_new();
        PtxModule *module = ptx_read("test", text, (size_t)length, diag);
        IsaProgram *program = NULL;
        if (module && ptx_link(&module, 1, diag))
            program = isa_decode_variant(module, isa_find_variant("base"), diag);
        if (!program) fail_msg("%s\n%s", cases[i].lines, diag_text(diag));
        write_slots(program, found, sizeof found);
        if (strcmp(found, cases[i].slots) != 0)
            fail_msg("%s\nslots: %s\nnot:   %s", cases[i].lines, found, cases[i].slots);
        isa_program_free(program);
        ptx_module_free(module);
        diag_free(diag);
    }
}

#define CHECK(cases) check(cases, sizeof cases / sizeof *cases)
#define USE(reg)     " st.volatile.shared.u32 [64], " reg ";"
#define USE64(reg)   " st.volatile.shared.u64 [64], " reg ";"
#define VALUES       "ld.shared.u32 %r1, [0]; ld.shared.u32 %r2, [64]; ld.shared.u32 %r3, [132];"
#define WIDE_VALUES  "ld.shared.u64 %d1, [0]; ld.shared.u64 %d2, [64];"

static void test_parameters_and_moves_are_operands(void **state) {
    (void)state;
    static const Case cases[] = {
        {"ld.param.u32 %r1, [n]; mov.u32 %r2, %r1; add.u32 %r3, %r29, %r2;" USE("%r3"), "0 0 1 1"},
        {"mov.u32 %r1, %ntid.x; mov.u32 %r2, %ctaid.x; add.u32 %r3, %r1, %r2;" USE("%r3"),
         "0 1 1 1"},
        /* one constant per instruction: the other one is put into a register */
        {"ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; mad.lo.u32 %r3, %r29, %r1, %r2;" USE("%r3"),
         "0 0 2 1"},
        /* a stored value must be in a register; zero is one */
        {"st.volatile.shared.u32 [64], 5; st.volatile.shared.u32 [64], 0;", "2 1"},
        {"ld.param.u64 %d1, [a]; cvta.to.global.u64 %d2, %d1; ld.global.u32 %r1, [%d2];" USE("%r1"),
         "0 0 3 1"},
    };
    CHECK(cases);
}

static void test_what_is_added_shifted_and_multiplied_together_is_one_instruction(void **state) {
    (void)state;
    static const Case cases[] = {
        {VALUES "add.u32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3;" USE("%r5"), "1 1 1 0 1 1"},
        {VALUES "add.u32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3;" USE("%r5") USE("%r4"),
         "1 1 1 1 1 1 1"},
        {VALUES "mul.lo.u32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3;" USE("%r5"), "1 1 1 0 1 1"},
        {VALUES "mul.lo.u32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3;" USE("%r5") USE("%r4"),
         "1 1 1 1 1 1 1"},
        {VALUES "shl.b32 %r4, %r1, 2; add.u32 %r5, %r4, %r3;" USE("%r5"), "1 1 1 0 1 1"},
        {VALUES "shl.b32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3;" USE("%r5"), "1 1 1 1 1 1"},
        {VALUES "shl.b32 %r4, %r1, 5; shr.u32 %r5, %r1, 27; add.u32 %r6, %r4, %r5;" USE("%r6"),
         "1 1 1 0 0 1 1"},
        {VALUES "shr.b32 %r4, %r1, 27; shl.b32 %r5, %r1, 5; or.b32 %r6, %r4, %r5; xor.b32 %r7, "
                "%r6, %r2;" USE("%r7"),
         "1 1 1 0 0 1 1 1"},
        {VALUES "shl.b32 %r4, %r1, 5; shr.u32 %r5, %r1, 26; add.u32 %r6, %r4, %r5;" USE("%r6"),
         "1 1 1 0 1 1 1"},
        {VALUES "shl.b32 %r4, %r1, 5; shr.s32 %r5, %r1, 27; add.u32 %r6, %r4, %r5;" USE("%r6"),
         "1 1 1 0 1 1 1"},
        {VALUES "shl.b32 %r4, %r1, 5; shr.u32 %r5, %r2, 27; or.b32 %r6, %r4, %r5;" USE("%r6"),
         "1 1 1 1 1 1 1"},
        {VALUES "and.b32 %r4, %r1, %r2; xor.b32 %r5, %r4, %r3;" USE("%r5"), "1 1 1 0 1 1"},
        {VALUES "and.b32 %r4, %r1, %r2; xor.b32 %r5, %r4, %r3;" USE("%r5") USE("%r4"),
         "1 1 1 1 1 1 1"},
        {VALUES
         "and.b32 %r4, %r1, 3; setp.eq.u32 %p1, %r4, 0; selp.u32 %r5, %r2, %r3, %p1;" USE("%r5"),
         "1 1 1 0 1 1 1"},
    };
    CHECK(cases);
}

static void test_bits_of_a_fixed_place_are_cut_out_by_one_or_two(void **state) {
    (void)state;
    static const Case cases[] = {
        {VALUES "bfe.u32 %r4, %r1, 3, 5;" USE("%r4"), "1 1 1 2 1"},
        {VALUES "bfe.u32 %r4, %r1, 0, 5;" USE("%r4"), "1 1 1 1 1"},
        {VALUES "bfe.u32 %r4, %r1, 16, 8;" USE("%r4"), "1 1 1 1 1"},
        {VALUES "bfe.s32 %r4, %r1, 16, 8;" USE("%r4"), "1 1 1 2 1"},
    };
    CHECK(cases);
}

static void test_products_and_sums_contract_where_no_rounding_is_asked_for(void **state) {
    (void)state;
#define FLOATS "ld.shared.f32 %f1, [0]; ld.shared.f32 %f2, [64]; ld.shared.f32 %f3, [132];"
#define USE_F  " st.volatile.shared.f32 [64], %f5;"
    static const Case cases[] = {
        {FLOATS "mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;" USE_F, "1 1 1 0 1 1"},
        {FLOATS "mul.rn.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;" USE_F, "1 1 1 1 1 1"},
        {FLOATS "mul.f32 %f4, %f1, %f2; add.rn.f32 %f5, %f4, %f3;" USE_F, "1 1 1 1 1 1"},
        {FLOATS "neg.f32 %f4, %f1; add.f32 %f5, %f4, %f3;" USE_F, "1 1 1 0 1 1"},
        {FLOATS "neg.f32 %f5, %f1;" USE_F, "1 1 1 1 1"},
        {FLOATS "fma.rn.f32 %f4, %f1, %f2, %f3; cvt.sat.f32.f32 %f5, %f4;" USE_F, "1 1 1 1 0 1"},
        {FLOATS "cvt.sat.f32.f32 %f5, %f1;" USE_F, "1 1 1 1 1"},
        {FLOATS "cvt.f64.f32 %d1, %f1; mul.f64 %d2, %d1, %d1; cvt.rn.f32.f64 %f5, %d2;" USE_F,
         "1 1 1 1 1 1 1"},
        {FLOATS "cvt.f64.f32 %d1, %f1; cvt.rn.f32.f64 %f5, %d1;" USE_F, "1 1 1 1 1 1"},
        {FLOATS "div.rn.f32 %f5, %f1, %f2;" USE_F, "1 1 1 10 1"},
        {FLOATS "div.full.f32 %f5, %f1, %f2;" USE_F, "1 1 1 8 1"},
        {FLOATS "sqrt.approx.ftz.f32 %f5, %f1;" USE_F, "1 1 1 1 1"},
    };
    CHECK(cases);
}

static void test_64_bits_are_two_instructions_unless_half_of_them_does(void **state) {
    (void)state;
    static const Case cases[] = {
        {WIDE_VALUES "add.u64 %d3, %d1, %d2;" USE64("%d3"), "1 1 2 1"},
        {WIDE_VALUES "xor.b64 %d3, %d1, %d2;" USE64("%d3"), "1 1 2 1"},
        {WIDE_VALUES "add.u64 %d3, %d1, %d2; cvt.u32.u64 %r1, %d3;" USE("%r1"), "1 1 1 0 1"},
        {WIDE_VALUES "add.u64 %d3, %d1, %d2; ld.shared.u32 %r1, [%d3];" USE("%r1"), "1 1 1 1 1"},
        {WIDE_VALUES "add.u64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3];" USE("%r1"), "1 1 2 1 1"},
        {WIDE_VALUES "mul.lo.u64 %d3, %d1, %d2;" USE64("%d3"), "1 1 4 1"},
        {VALUES "cvt.u64.u32 %d1, %r1;" USE64("%d1"), "1 1 1 0 1"},
        /* a constant may leave work in only one half, or in none */
        {WIDE_VALUES "shr.u64 %d3, %d1, 36;" USE64("%d3"), "1 1 1 1"},
        {WIDE_VALUES "shr.u64 %d3, %d1, 31;" USE64("%d3"), "1 1 2 1"},
        {WIDE_VALUES "shr.s64 %d3, %d1, 36;" USE64("%d3"), "1 1 2 1"},
        {WIDE_VALUES "and.b64 %d3, %d1, -256;" USE64("%d3"), "1 1 1 1"},
        {WIDE_VALUES "and.b64 %d3, %d1, 4294967295;" USE64("%d3"), "1 1 0 1"},
        {WIDE_VALUES "xor.b64 %d3, %d1, -1;" USE64("%d3"), "1 1 2 1"},
        {VALUES "cvt.s64.s32 %d1, %r1;" USE64("%d1"), "1 1 1 1 1"},
    };
    CHECK(cases);
}

static void test_addresses_are_one_multiply_add_and_an_offset(void **state) {
    (void)state;
#define BASE "ld.shared.u64 %d1, [0]; ld.shared.u32 %r1, [64];"
    static const Case cases[] = {
        {"ld.volatile.shared.u64 %d1, [%r29]; mul.wide.u32 %d2, %r29, 4; add.s64 %d3, %d1, %d2;"
         "ld.global.u32 %r2, [%d3];" USE("%r2"),
         "1 0 1 1 1"},
        /* with a parameter as base there is no place for the 4 */
        {"ld.param.u64 %d1, [a]; mul.wide.u32 %d2, %r29, 4; add.s64 %d3, %d1, %d2;"
         "ld.global.u32 %r2, [%d3];" USE("%r2"),
         "0 0 2 1 1"},
        {"ld.volatile.shared.u64 %d1, [%r29]; cvt.u64.u32 %d4, %r29; shl.b64 %d2, %d4, 2;"
         "add.s64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3];" USE("%r2"),
         "1 0 0 2 1 1"},
        {"ld.volatile.shared.u64 %d1, [%r29]; add.s64 %d3, %d1, 4096; ld.global.u32 %r2, "
         "[%d3];" USE("%r2"),
         "1 0 1 1"},
        {"ld.volatile.shared.u64 %d1, [%r29]; add.s64 %d3, %d1, 4096; ld.global.u32 %r2, "
         "[%d3];" USE("%r2") USE64("%d3"),
         "1 2 1 1 1"},
        /* in shared memory only the product remains */
        {"mov.u64 %d1, room; mul.wide.u32 %d2, %r29, 4; add.s64 %d3, %d1, %d2;"
         "ld.shared.u32 %r2, [%d3];" USE("%r2"),
         "0 1 0 1 1"},
    };
    CHECK(cases);
}

static void test_shared_words_side_by_side_are_one_load(void **state) {
    (void)state;
#define ROW "mov.u64 %d1, room; mul.wide.u32 %d2, %r29, 16; add.s64 %d3, %d1, %d2;"
#define SUM                                                                                        \
    "add.f32 %f5, %f1, %f2; add.f32 %f6, %f3, %f4; add.f32 %f7, %f5, %f6;"                         \
    "st.volatile.shared.f32 [64], %f7;"
    static const Case cases[] = {
        {ROW "ld.shared.f32 %f1, [%d3]; ld.shared.f32 %f2, [%d3+4]; ld.shared.f32 %f3, [%d3+8];"
             "ld.shared.f32 %f4, [%d3+12];" SUM,
         "0 1 0 1 0 0 0 1 1 1 1"},
        {ROW "ld.shared.f32 %f1, [%d3+4]; ld.shared.f32 %f2, [%d3+8]; ld.shared.f32 %f3, [%d3+16];"
             "ld.shared.f32 %f4, [%d3+20];" SUM,
         "0 1 0 1 1 1 0 1 1 1 1"},
        {ROW "ld.shared.f32 %f1, [%d3]; bar.sync 0; ld.shared.f32 %f2, [%d3+4];"
             "ld.shared.f32 %f3, [%d3+36]; ld.shared.f32 %f4, [%d3+12];" SUM,
         "0 1 0 1 1 1 1 1 1 1 1 1"},
    };
    CHECK(cases);
}

static void test_a_word_is_loaded_once_where_nothing_comes_between(void **state) {
    (void)state;
    static const Case cases[] = {
        /* between them is an instruction that has no operands to compare */
        {"ld.shared.u32 %r1, [room]; cp.async.commit_group; ld.shared.u32 %r2, [room];"
         "ld.global.u32 %r4, [%d1]; cp.async.commit_group; ld.global.u32 %r5, [%d1];",
         "1 1 0 1 1 0"},
        {"ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1]; add.u32 %r3, %r1, %r2;" USE("%r3"),
         "1 0 1 1"},
        {"ld.global.u32 %r1, [%d1]; st.global.u32 [%d2], %r1; ld.global.u32 %r2, [%d1];"
         "add.u32 %r3, %r1, %r2;" USE("%r3"),
         "1 1 1 1 1"},
        {"ld.volatile.global.u32 %r1, [%d1]; ld.volatile.global.u32 %r2, [%d1];"
         "add.u32 %r3, %r1, %r2;" USE("%r3"),
         "1 1 1 1"},
        /* pointer chasing */
        {"ld.global.u64 %d1, [%d1]; ld.global.u64 %d1, [%d1]; ld.global.v2.u64 {%d1, %d2}, [%d1];"
         "ld.global.v2.u64 {%d1, %d2}, [%d1];",
         "1 1 1 1"},
    };
    CHECK(cases);
}

static void test_atomics_to_one_place_are_gathered_by_the_warp(void **state) {
    (void)state;
    static const Case cases[] = {
        {"ld.param.u64 %d1, [a]; red.global.add.u32 [%d1], %r29;", "0 9-"},
        {"mul.wide.u32 %d2, %r29, 4; red.global.add.u32 [%d2], %r29;", "1 1-"},
        {"atom.shared.add.f32 %f1, [0], %f2;", "7-"},
    };
    CHECK(cases);
}

static void test_an_atomic_brings_a_result_where_someone_reads_it(void **state) {
    (void)state;
    static const Case cases[] = {
        {"atom.global.min.u32 %r1, [%d29], %r29;", "1-"},
        {"atom.global.min.u32 %r1, [%d29], %r29; atom.global.min.u32 %r1, [%d29+4], %r29;",
         "1- 1-"},
        {"atom.global.min.u32 %r1, [%d29], %r29; add.u32 %r2, %r1, 1; st.global.u32 [%d29], %r2;",
         "1 1 1"},
        {"atom.global.min.u32 %r1, [%d29], %r1; atom.global.min.u32 %r1, [%d29+4], %r1;", "1 1"},
        {"atom.global.exch.b32 _, [%d29], %r29;", "1-"},
    };
    CHECK(cases);
}

static void test_short_branches_are_predicates_and_count_what_they_skip(void **state) {
    (void)state;
    static const Case cases[] = {
        /* no instruction in the body waits, so the body is issued even if no lane needs it */
        {"setp.eq.u32 %p1, %r29, 5; @%p1 bra L; st.volatile.shared.u32 [64], %r29;"
         "st.volatile.shared.u32 [68], %r29; L: bar.sync 0; st.volatile.shared.u32 [72], %r29;",
         "1 0/2/0 1 1 1 1"},
        {"setp.eq.u32 %p1, %r29, 5; @%p1 bra L; bar.sync 1; L: bar.sync 0;"
         "st.volatile.shared.u32 [72], %r29;",
         "1 3 1 1 1"},
        {"setp.eq.u32 %p1, %r29, 5; @%p1 bra E; st.volatile.shared.u32 [64], %r29; bra.uni L; E:"
         "st.volatile.shared.u32 [68], %r29; L: bar.sync 0; st.volatile.shared.u32 [72], %r29;",
         "1 0/1/1 1 0 1 1 1"},
        /* a guarded exit includes the slot of the exit that it leads to */
        {"setp.eq.u32 %p1, %r29, 5; @%p1 bra L; bar.sync 0; st.volatile.shared.u32 [72], %r29; L:",
         "1 1/0/1 1 1"},
    };
    CHECK(cases);
}

static void test_loops_are_turned_and_mark_where_lanes_meet(void **state) {
    (void)state;
    static const Case cases[] = {
        {"mov.u32 %r1, %r29; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 77; @%p1 bra L;"
         "bar.sync 0; st.volatile.shared.u32 [72], %r1;",
         "0 1 1 1/1/3 1 1"},
        {"ld.param.u32 %r2, [n]; mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1;"
         "setp.lt.u32 %p1, %r1, %r2; @%p1 bra L; bar.sync 0; st.volatile.shared.u32 [72], %r1;",
         "0 1 1 1 1 1 1"},
    };
    CHECK(cases);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_and_moves_are_operands),
        cmocka_unit_test(test_what_is_added_shifted_and_multiplied_together_is_one_instruction),
        cmocka_unit_test(test_bits_of_a_fixed_place_are_cut_out_by_one_or_two),
        cmocka_unit_test(test_products_and_sums_contract_where_no_rounding_is_asked_for),
        cmocka_unit_test(test_64_bits_are_two_instructions_unless_half_of_them_does),
        cmocka_unit_test(test_addresses_are_one_multiply_add_and_an_offset),
        cmocka_unit_test(test_shared_words_side_by_side_are_one_load),
        cmocka_unit_test(test_a_word_is_loaded_once_where_nothing_comes_between),
        cmocka_unit_test(test_atomics_to_one_place_are_gathered_by_the_warp),
        cmocka_unit_test(test_an_atomic_brings_a_result_where_someone_reads_it),
        cmocka_unit_test(test_short_branches_are_predicates_and_count_what_they_skip),
        cmocka_unit_test(test_loops_are_turned_and_mark_where_lanes_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
