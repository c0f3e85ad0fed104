/* Decoding and printing: known instructions, the contents of operands, and bits without a
 * meaning. */
#include "sass/sass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_BYTES = 256 };

typedef struct Sample {
    unsigned sm;
    uint64_t high, low, pc;
    const char *text;
} Sample;

static const Sample samples[] = {
#include "instructions.def"
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static SassInst decoded(unsigned sm, uint64_t high, uint64_t low) {
    SassInst inst;
    assert_true(sass_decode(sm, (const uint64_t[]){low, high}, &inst));
    assert_int_equal(inst.unknown[0] | inst.unknown[1], 0);
    return inst;
}

static void known_instructions_have_their_text(void **state) {
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const Sample *s = &samples[i];
        char text[TEXT_BYTES];
        SassInst inst = decoded(s->sm, s->high, s->low);
        assert_int_equal(sass_print(&inst, s->pc, text, sizeof text), strlen(s->text));
        assert_string_equal(text, s->text);
    }
}

/* IADD3.X R8, P1, R20, ~R3.reuse, R17, P4, !P2 */
static void operands_have_their_places(void **state) {
    (void)state;
    SassInst inst = decoded(90, 0x080fe40002734411, 0x8000000314087210);
    assert_int_equal(inst.op, SASS_OP_IADD3);
    assert_int_equal(inst.operand_count, 8);
    assert_int_equal(inst.modifier[SASS_MOD_X], 1);
    const SassOperand *o = inst.operand;
    assert_true(o[0].kind == SASS_REG && o[0].is_destination && o[0].value == 8);
    assert_true(o[1].kind == SASS_PRED && o[1].is_destination && o[1].value == 1 &&
                !o[1].is_hidden);
    assert_true(o[2].kind == SASS_PRED && o[2].is_destination && o[2].value == SASS_PT &&
                o[2].is_hidden);
    assert_true(o[3].kind == SASS_REG && !o[3].is_destination && o[3].value == 20 &&
                !o[3].is_reused);
    assert_true(o[4].kind == SASS_REG && o[4].value == 3 && o[4].is_inverted && o[4].is_reused);
    assert_true(o[5].kind == SASS_REG && o[5].value == 17 && !o[5].is_inverted && !o[5].is_negated);
    assert_true(o[6].kind == SASS_PRED && o[6].value == 4 && !o[6].is_negated);
    assert_true(o[7].kind == SASS_PRED && o[7].value == 2 && o[7].is_negated);
}

static void the_third_source_may_be_the_wide_one(void **state) {
    (void)state;
    /* FFMA R27, R20, R29.reuse, 0.5: the immediate is where the second source usually is */
    SassInst inst = decoded(80, 0x080fe2000000001d, 0x3f000000141b7423);
    assert_true(inst.operand[2].kind == SASS_REG && inst.operand[2].value == 29 &&
                inst.operand[2].is_reused);
    assert_true(inst.operand[3].kind == SASS_F32 && inst.operand[3].value == 0x3f000000);
    /* FFMA R3, R17, c[0x0][0x188], R19 */
    inst = decoded(80, 0x13, 0x0000620011037a23);
    assert_true(inst.operand[2].kind == SASS_CONST && inst.operand[2].bank == 0 &&
                inst.operand[2].value == 0x188);
    assert_true(inst.operand[3].kind == SASS_REG && inst.operand[3].value == 19);
}

static void immediates_have_their_types(void **state) {
    (void)state;
    /* DADD R8, R6, 1: the upper half of a double */
    SassInst inst = decoded(80, 0, 0x3ff0000006087429);
    assert_true(inst.operand[2].kind == SASS_F64 && inst.operand[2].value == 0x3ff0000000000000);
    /* IADD3 R10, R5, -0x1, RZ */
    inst = decoded(86, 0x0000000007ffe0ff, 0xffffffff050a7810);
    assert_true(inst.operand[4].kind == SASS_IMM && inst.operand[4].value == -1);
    /* HFMA2.MMA R40, -RZ, RZ, 0.662109375, -0.01166534423828125 */
    inst = decoded(86, 0x00000000000001ff, 0x394ca1f9ff287435);
    assert_true(inst.operand[1].is_negated && inst.operand[3].kind == SASS_F16X2);
    assert_int_equal(inst.operand[3].value, 0x394ca1f9);
    /* HFMA2.BF16_V2 R26, R20.H0_H0, 1, 1, R21.H0_H0 */
    inst = decoded(86, 0x0000000000240815, 0x3f803f80141a7831);
    assert_true(inst.operand[2].kind == SASS_BF16X2 && inst.modifier[SASS_MOD_BF16]);
    assert_int_equal(inst.operand[1].suffix, SASS_SUFFIX_H0_H0);
}

static void addresses_have_their_parts(void **state) {
    (void)state;
    /* LDG.E.128 R12, desc[UR4][R28.64+0x10] */
    SassInst inst = decoded(90, 0x000ea2000c1e1d00, 0x000010041c0c7981);
    const SassOperand *address = &inst.operand[2];
    assert_true(address->kind == SASS_ADDRESS && address->reg == 28 && address->descriptor == 4);
    assert_true(address->value == 16 && address->suffix == SASS_SUFFIX_R64 && !address->has_ureg);
    assert_int_equal(inst.modifier[SASS_MOD_MEM_TYPE], SASS_MEM_TYPE_B128);
    assert_int_equal(inst.modifier[SASS_MOD_ORDER], SASS_ORDER_WEAK);
    assert_true(inst.form->is_variable && inst.form->unit == SASS_UNIT_MEMORY);
    /* LDS.128 R4, [R195.X16+UR6+-0x10] */
    inst = decoded(86, 0x000000000800cc00, 0xfffff006c3047984);
    address = &inst.operand[1];
    assert_true(address->reg == 195 && address->ureg == 6 && address->has_ureg &&
                address->value == -16);
    assert_int_equal(address->suffix, SASS_SUFFIX_X16);
}

/* Their fields have 6 bits before sm_100 and 8 bits since. */
static void uniform_registers_have_their_numbers(void **state) {
    (void)state;
    SassInst inst = decoded(90, 0x000fe20008000000, 0x0000003f00057c82); /* UMOV UR5, URZ */
    assert_true(inst.operand[0].value == 5 && inst.operand[1].value == SASS_URZ);
    inst = decoded(100, 0x000fe20008000000, 0x000000ff00057c82); /* UMOV UR5, URZ */
    assert_true(inst.operand[0].value == 5 && inst.operand[1].value == SASS_URZ);
    inst = decoded(100, 0x000fe20008000000, 0x0000003f00fe7c82); /* UMOV UR254, UR63 */
    assert_true(inst.operand[0].value == 254 && inst.operand[1].value == 63);
    /* LDGSTS.E.BYPASS.LTC128B.128 [R2], desc[UR12][R28.64] */
    inst = decoded(120, 0x0025e2000b981a0c, 0x000000001c027fae);
    assert_true(inst.operand[1].descriptor == 12 && inst.operand[1].reg == 28);
    assert_int_equal(inst.operand[1].suffix, SASS_SUFFIX_R64);
    /* @!UP1 LDCU UR6, c[0x0][0x380] */
    inst = decoded(120, 0x000e220008000800, 0x00007000ff0697ac);
    assert_true(inst.guard_is_uniform && inst.guard_is_negated && inst.guard == 1);
    assert_true(inst.operand[1].kind == SASS_CONST && inst.operand[1].value == 0x380 &&
                !inst.operand[1].has_ureg);
}

static void copies_go_below_their_base(void **state) {
    (void)state;
    /* LDGSTS.E.BYPASS.LTC128B.128 [R5+-0x1800], desc[UR14][R12.64+0x80] */
    const SassInst inst = decoded(90, 0x0005e8000b901d4e, 0xfe8000800c057fae);
    assert_int_equal(inst.operand[0].value, -0x1800);
}

/* 64-bit operations of sm_120. */
static void wide_immediates_have_all_bits(void **state) {
    (void)state;
    /* MOV.64 R16, 0x3e21eed8eff8d898 */
    SassInst inst = decoded(120, 0x001fde00003e21ee, 0xd8eff8d898107402);
    assert_int_equal(inst.operand[1].value, 0x3e21eed8eff8d898);
    inst = decoded(120, 0x000fe40000800001, 0xffffffff08087407); /* SEL.64 R8, R8, -0x1, P1 */
    assert_int_equal(inst.operand[2].value, -1);
    inst = decoded(120, 0x000fe40000800000, 0xffffffff08087407); /* SEL.64 R8, R8, 0xffffffff, P1 */
    assert_int_equal(inst.operand[2].value, 0xffffffff);
}

static void orders_are_the_same_for_all_architectures(void **state) {
    (void)state;
    /* LDG.E.128.STRONG.GPU R8, [R28] in the codes of sm_75 and of sm_80 */
    SassInst old = decoded(75, 0x1f4d00, 0x1c087381), new = decoded(80, 0x1eed00, 0x1c087381);
    assert_true(old.modifier[SASS_MOD_ORDER] == SASS_ORDER_STRONG &&
                new.modifier[SASS_MOD_ORDER] == SASS_ORDER_STRONG);
    assert_true(old.modifier[SASS_MOD_SCOPE] == SASS_SCOPE_GPU &&
                new.modifier[SASS_MOD_SCOPE] == SASS_SCOPE_GPU);
}

static void branches_say_how_far(void **state) {
    (void)state;
    SassInst inst = decoded(86, 0x000000000383ffff, 0xfffffff000007947); /* to itself */
    assert_int_equal(inst.operand[inst.operand_count - 1].value, -16);
    inst = decoded(90, 0x000fea000383ffff, 0xfffffff8003ca947); /* low bits from bit 16 on */
    assert_int_equal(inst.operand[inst.operand_count - 1].value, -0x710);
    assert_true(inst.guard == 2 && inst.guard_is_negated && !inst.guard_is_uniform);
}

static void control_bits_are_read(void **state) {
    (void)state;
    uint64_t bits = UINT64_C(5) << 41 | UINT64_C(0) << 45 | UINT64_C(2) << 46 | UINT64_C(7) << 49 |
                    UINT64_C(0x29) << 52 | UINT64_C(5) << 58;
    SassInst inst = decoded(80, bits, 0x7918); /* NOP */
    assert_int_equal(inst.control.stall, 5);
    assert_true(inst.control.yields);
    assert_int_equal(inst.control.write_counter, 2);
    assert_int_equal(inst.control.read_counter, SASS_NO_COUNTER);
    assert_int_equal(inst.control.wait_mask, 0x29);
    assert_int_equal(inst.control.reuse, 5);
}

static void what_is_not_known_is_said(void **state) {
    (void)state;
    SassInst inst;
    char text[TEXT_BYTES];
    assert_false(sass_decode(80, (const uint64_t[]){0x3fff, 0}, &inst)); /* no such operation */
    assert_null(inst.form);
    assert_int_equal(inst.guard, 3);
    sass_print(&inst, 0, text, sizeof text);
    assert_string_equal(text, "@P3 ?fff");
    /* a bit that FADD does not use; a value of a modifier without a meaning */
    assert_true(sass_decode(80, (const uint64_t[]){0x7221, UINT64_C(1) << 30}, &inst));
    assert_true(inst.unknown[0] == 0 && inst.unknown[1] == UINT64_C(1) << 30);
    assert_true(sass_decode(80, (const uint64_t[]){0x7308, UINT64_C(63) << 10}, &inst)); /* MUFU */
    assert_int_equal(inst.unknown[1], UINT64_C(63) << 10);
    sass_print(&inst, 0, text, sizeof text);
    assert_string_equal(text, "MUFU.INVALID63 R0, R0");
    /* operations of sm_90 */
    assert_true(sass_decode(90, (const uint64_t[]){0x7236, 0}, &inst) && inst.op == SASS_OP_VIADD);
    assert_true(sass_decode(75, (const uint64_t[]){0x7236, 0}, &inst) && inst.op == SASS_OP_HMMA);
    assert_false(sass_decode(80, (const uint64_t[]){0x7236, 0}, &inst));
    /* what sm_100 does not have, or has in another form */
    assert_true(sass_decode(90, (const uint64_t[]){0x7235, 0}, &inst) && inst.op == SASS_OP_HFMA2);
    assert_false(sass_decode(100, (const uint64_t[]){0x7235, 0}, &inst));
    assert_true(sass_decode(120, (const uint64_t[]){0x7235, 0}, &inst) && inst.op == SASS_OP_IADD);
    assert_true(sass_decode(100, (const uint64_t[]){0x724a, 0}, &inst) && inst.op == SASS_OP_FMUL2);
    assert_true(sass_decode(120, (const uint64_t[]){0x724a, 0}, &inst) &&
                inst.op == SASS_OP_UVIMNMX);
}

static void text_stays_within_its_size(void **state) {
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const Sample *s = &samples[i];
        SassInst inst = decoded(s->sm, s->high, s->low);
        size_t length = strlen(s->text);
        for (size_t size = 0; size <= length + 1; size++) {
            char *text = malloc(size + 1);
            memset(text, '#', size + 1);
            assert_int_equal(sass_print(&inst, s->pc, text, size), length);
            assert_int_equal(text[size], '#');
            if (size) assert_int_equal(strlen(text), size - 1 < length ? size - 1 : length);
            free(text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_instructions_have_their_text),
        cmocka_unit_test(operands_have_their_places),
        cmocka_unit_test(the_third_source_may_be_the_wide_one),
        cmocka_unit_test(immediates_have_their_types),
        cmocka_unit_test(addresses_have_their_parts),
        cmocka_unit_test(uniform_registers_have_their_numbers),
        cmocka_unit_test(copies_go_below_their_base),
        cmocka_unit_test(wide_immediates_have_all_bits),
        cmocka_unit_test(orders_are_the_same_for_all_architectures),
        cmocka_unit_test(branches_say_how_far),
        cmocka_unit_test(control_bits_are_read),
        cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(text_stays_within_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
