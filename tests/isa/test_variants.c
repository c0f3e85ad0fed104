/* Every instruction form decodes, and all execution variants compute the same bits: for special and
 * random values, with all lanes and with some. Other lanes stay unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "forms.h"
#include "rig.h"

enum { ROUNDS = 6, MAX_FRAME = 1 << 16 };

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Values at which operations differ most: limits, zeros, subnormals, infinities, NaN. */
static uint64_t pick_value(uint64_t *state, bool is_wide) {
    static const uint64_t words[] = {0,          1,          31,         32,         33,
                                     0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000,
                                     0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
                                     0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345,
                                     0x3c003c00, 0x7c00fc00, 0x7e010001, 0x83ff7bff, 0x4f000000,
                                     0x4effffff, 0xcf000000, 0x33800000, 0x42fe0000, 0x3effffff};
    static const uint64_t longs[] = {0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
                                     0xfff0000000000000, 0x7ff8000000000000, 0xfff4000000000001,
                                     0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
                                     0x7fefffffffffffff, 0x41e0000000000000, 0x43e0000000000000,
                                     0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
    const uint64_t random = next_random(state);
    const uint64_t choice = next_random(state) % 4;
    if (choice == 0 && is_wide) return longs[random % (sizeof longs / sizeof longs[0])];
    if (choice < 2) return words[random % (sizeof words / sizeof words[0])];
    if (choice == 2) return random & 63; /* bit counts and positions */
    return random;
}

/* Fills registers and predicates with the values of one round. Small registers stay zero-extended.
 */
static void fill_frame(Rig *rig, uint64_t seed) {
    const PtxFunction *function = rig->module->functions[0];
    for (int i = 0; i < function->reg_count; ++i) {
        const PtxReg *reg = &function->regs[i];
        if (reg->slot < 0) continue;
        uint64_t state = seed + (uint64_t)i * 1000003;
        if (reg->type == PTX_PRED) {
            rig->warp->preds[reg->slot] = (uint32_t)next_random(&state);
            continue;
        }
        uint8_t *row = rig->warp->base[0] + (size_t)reg->slot * ISA_ROW_BYTES;
        for (int lane = 0; lane < ISA_LANES; ++lane) {
            const int bits = ptx_type_bits(reg->type);
            const uint64_t value = pick_value(&state, bits == 64);
            if (bits == 64) ((uint64_t *)(void *)row)[lane] = value;
            else ((uint32_t *)(void *)row)[lane] = (uint32_t)(bits == 16 ? value & 0xffff : value);
        }
    }
    rig->warp->carry = (uint32_t)seed;
}

static uint32_t mask_of_round(int round) {
    return round % 2 == 0 ? UINT32_MAX : round == 1 ? 0x80000001 : 0xdeadbeef;
}

static void check_form(const char *line, void *user) {
    int *failures = user;
    static uint8_t first[MAX_FRAME];
    Rig *rigs[8] = {0};
    const int count = isa_variant_count();
    for (int v = 0; v < count; ++v) {
        const IsaVariant *variant = isa_variant(v);
        rigs[v] = variant ? rig_new(line, variant) : NULL;
        if (variant && !rigs[v]) ++*failures;
    }
    const Rig *base = rigs[count - 1];
    for (int round = 0; base && round < ROUNDS; ++round) {
        uint32_t carry = 0;
        bool has_first = false;
        for (int v = count - 1; v >= 0; --v) {
            if (!rigs[v]) continue;
            const size_t bytes = base->program->functions[0].frame_bytes;
            fill_frame(rigs[v], (uint64_t)round * 77777 + 12345);
            rig_run(rigs[v], mask_of_round(round));
            if (!has_first) {
                memcpy(first, rigs[v]->warp->base[0], bytes);
                carry = rigs[v]->warp->carry;
                has_first = true;
            } else if (memcmp(first, rigs[v]->warp->base[0], bytes) != 0 ||
                       carry != rigs[v]->warp->carry) {
                printf("%s: variant %s differs in round %d\n", line, isa_variant(v)->name, round);
                ++*failures;
            }
        }
    }
    for (int v = 0; v < count; ++v)
        if (rigs[v]) rig_free(rigs[v]);
}

static void test_all_variants_agree(void **state) {
    (void)state;
    int failures = 0;
    const int count = forms_walk(getenv("FORMS"), check_form, &failures);
    print_message("%d instruction forms\n", count);
    assert_true(count > 2000);
    assert_int_equal(failures, 0);
}

/* Lanes outside the mask keep their destination. */
static void check_masked(const char *line, void *user) {
    static uint8_t before[MAX_FRAME];
    const uint32_t mask = 0x0000ffff;
    if (strchr(line, ';')[1]) return; /* several instructions: the first result is a source */
    Rig *rig = rig_new(line, isa_find_variant(NULL));
    if (!rig) return;
    const PtxFunction *function = rig->module->functions[0];
    fill_frame(rig, 99);
    memcpy(before, rig->warp->base[0], rig->program->functions[0].frame_bytes);
    rig_run(rig, mask);
    for (int i = 0; i < function->reg_count; ++i) {
        const PtxReg *reg = &function->regs[i];
        if (reg->slot < 0 || reg->type == PTX_PRED) continue;
        const size_t width = ptx_type_bits(reg->type) == 64 ? 8 : 4;
        const size_t at = (size_t)reg->slot * ISA_ROW_BYTES + 16 * width;
        if (memcmp(before + at, rig->warp->base[0] + at, 16 * width) != 0) {
            printf("%s: writes %s of lanes that do not execute\n", line, reg->name);
            ++*(int *)user;
        }
    }
    rig_free(rig);
}

static void test_other_lanes_are_left_alone(void **state) {
    (void)state;
    int failures = 0;
    forms_walk(getenv("FORMS"), check_masked, &failures);
    assert_int_equal(failures, 0);
}

static void test_variants_are_found_by_name(void **state) {
    (void)state;
    assert_non_null(isa_find_variant("base"));
    assert_null(isa_find_variant("v9"));
    const IsaVariant *best = isa_find_variant(NULL);
    for (int i = 0; i < isa_variant_count(); ++i)
        if (isa_variant(i)) {
            assert_ptr_equal(isa_variant(i), best);
            break;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_variants_agree),
        cmocka_unit_test(test_other_lanes_are_left_alone),
        cmocka_unit_test(test_variants_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
