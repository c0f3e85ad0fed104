/* The tables of forms are consistent. */
#include "sass/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const unsigned architectures[] = {70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120};

static void rows_go_by_opcode(void **state) {
    (void)state;
    for (size_t i = 1; i < sass_form_count; i++)
        assert_true(sass_forms[i - 1].opcode <= sass_forms[i].opcode);
}

static void bits_belong_to_one_row(void **state) {
    (void)state;
    for (size_t i = 0; i < sass_form_count; i++)
        for (size_t j = i + 1; j < sass_form_count && sass_forms[j].opcode == sass_forms[i].opcode;
             j++) {
            const SassForm *a = &sass_forms[i], *b = &sass_forms[j];
            bool together = a->first_sm <= b->last_sm && b->first_sm <= a->last_sm;
            assert_false(together && (a->encodings & b->encodings));
        }
}

/* Marks the bits of a plain number's field as used; fails if one has another meaning. */
static void add_bits(const SassForm *form, const SassField *f, uint64_t used[2]) {
    if (f->kind == SASS_FIELD_FILLER && f->bit == 0) return;
    for (unsigned i = f->bit; i < f->bit + f->width + 0u; i++) {
        if (used[i / 64] >> i % 64 & 1) fail_msg("%s: bit %u has two meanings", form->name, i);
        used[i / 64] |= UINT64_C(1) << i % 64;
    }
    for (unsigned i = f->high_bit; i < f->high_bit + f->high_width + 0u; i++) {
        if (used[i / 64] >> i % 64 & 1) fail_msg("%s: bit %u has two meanings", form->name, i);
        used[i / 64] |= UINT64_C(1) << i % 64;
    }
}

static bool is_plain(const SassField *f) {
    return f->kind == SASS_FIELD_MODIFIER || f->kind == SASS_FIELD_CHOICE ||
           f->kind == SASS_FIELD_ORDER || f->kind == SASS_FIELD_PRED ||
           f->kind == SASS_FIELD_UPRED || f->kind == SASS_FIELD_IMM;
}

/* Exception: modifiers whose text depends on a part of another modifier. */
static void bits_have_one_meaning(void **state) {
    (void)state;
    for (size_t i = 0; i < sass_form_count; i++) {
        uint64_t used[2] = {0xffff, 0};
        for (const SassField *f = sass_forms[i].fields; f->kind; f++) {
            bool is_part = f->modifier == SASS_MOD_BAR_REDUCES || f->modifier == SASS_MOD_DOT_A ||
                           f->modifier == SASS_MOD_F2FP_FROM;
            if (is_plain(f) && !is_part) add_bits(&sass_forms[i], f, used);
        }
    }
}

static void modifiers_have_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sass_form_count; i++)
        for (const SassField *f = sass_forms[i].fields; f->kind; f++) {
            bool has_modifier = f->kind == SASS_FIELD_MODIFIER || f->kind == SASS_FIELD_CHOICE ||
                                f->kind == SASS_FIELD_SET;
            assert_true(f->modifier < SASS_MODIFIERS && (f->modifier != 0) == has_modifier);
            unsigned values = 0;
            for (unsigned v = 0; has_modifier && v < 64; v++)
                values += sass_value_text(f->modifier, v) != NULL;
            if (has_modifier) assert_true(values > 0);
            if (f->kind == SASS_FIELD_SET) assert_non_null(sass_value_text(f->modifier, f->value));
            assert_true(f->shown_by < SASS_MODIFIERS && f->hidden_by < SASS_MODIFIERS);
        }
}

static void every_mnemonic_has_a_row(void **state) {
    (void)state;
    static const char *const names[SASS_OPS] = {
        "",
#define SASS_MNEMONIC(name) #name,
#include "sass/mnemonics.def"
#undef SASS_MNEMONIC
    };
    bool seen[SASS_OPS] = {true};
    for (size_t i = 0; i < sass_form_count; i++) {
        assert_string_equal(sass_forms[i].name, names[sass_forms[i].op]);
        assert_true(sass_forms[i].unit < SASS_UNITS);
        seen[sass_forms[i].op] = true;
    }
    for (int op = 0; op < SASS_OPS; op++)
        if (!seen[op]) fail_msg("%s has no row", names[op]);
}

static void every_modifier_is_of_a_row(void **state) {
    (void)state;
    bool seen[SASS_MODIFIERS] = {
        [SASS_MOD_NONE] = true, [SASS_MOD_ORDER] = true, [SASS_MOD_SCOPE] = true};
    for (size_t i = 0; i < sass_form_count; i++)
        for (const SassField *f = sass_forms[i].fields; f->kind; f++)
            seen[f->modifier] = true;
    for (int modifier = 0; modifier < SASS_MODIFIERS; modifier++)
        if (!seen[modifier]) fail_msg("modifier %d is of no row", modifier);
}

/* Every row can be decoded by each of its encodings, and its operands are valid. */
static void every_row_is_found(void **state) {
    (void)state;
    for (size_t i = 0; i < sass_form_count; i++)
        for (unsigned encoding = 0; encoding < 8; encoding++)
            for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
                const SassForm *form = &sass_forms[i];
                unsigned sm = architectures[a];
                if (!(form->encodings >> encoding & 1) || sm < form->first_sm || sm > form->last_sm)
                    continue;
                uint64_t words[2] = {form->opcode | encoding << 9, 0};
                SassInst inst;
                assert_true(sass_decode(sm, words, &inst));
                assert_ptr_equal(inst.form, form);
                unsigned fields = 0;
                for (const SassField *f = form->fields; f->kind; f++)
                    fields +=
                        f->kind >= SASS_FIELD_CHOICE ? f->kind == SASS_FIELD_TEXTURE ? 2 : 1 : 0;
                assert_int_equal(inst.operand_count, fields);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_by_opcode),        cmocka_unit_test(bits_belong_to_one_row),
        cmocka_unit_test(bits_have_one_meaning),    cmocka_unit_test(modifiers_have_texts),
        cmocka_unit_test(every_mnemonic_has_a_row), cmocka_unit_test(every_modifier_is_of_a_row),
        cmocka_unit_test(every_row_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
