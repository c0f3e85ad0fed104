/* Checks the table of instructions against itself and against the reader: every word that a form
 * uses is a known modifier, and every form can be written, with each of its types, and can be
 * read. */
#include "ptx_test.h"

#include <stdlib.h>

#include "ptx/shape.h"
#include "ptx/texture.h"

enum { MAX_ITEMS = 20 };

/* A register of PTX_KERNEL of a suitable type. */
static const char *register_for(PtxType type) {
    static const char *const names[PTX_TYPE_COUNT] = {
        [PTX_TYPE_NONE] = "%rd1", [PTX_B8] = "%c1",     [PTX_U8] = "%c1",     [PTX_S8] = "%c1",
        [PTX_B16] = "%h1",        [PTX_U16] = "%h1",    [PTX_S16] = "%h1",    [PTX_F16] = "%h1",
        [PTX_BF16] = "%h1",       [PTX_E4M3X2] = "%h1", [PTX_E5M2X2] = "%h1", [PTX_B32] = "%r1",
        [PTX_U32] = "%u1",        [PTX_S32] = "%s1",    [PTX_F32] = "%f1",    [PTX_TF32] = "%r1",
        [PTX_F16X2] = "%r1",      [PTX_BF16X2] = "%r1", [PTX_U16X2] = "%r1",  [PTX_S16X2] = "%r1",
        [PTX_B64] = "%rd1",       [PTX_U64] = "%rd1",   [PTX_S64] = "%rd1",   [PTX_F64] = "%d1",
        [PTX_F32X2] = "%rd1",     [PTX_PRED] = "%p1",
    };
    return names[type];
}

static void add_value(const PtxSlot *slot, Text *out) {
    const char *name = register_for(slot->type);
    if (slot->elements <= 1) {
        text_add(out, name);
        return;
    }
    for (int i = 0; i < slot->elements; i++)
        text_printf(out, "%s%s", i ? "," : "{", name);
    text_add(out, "}");
}

static void add_list(const char *first, const char *other, int count, Text *out) {
    for (int i = 0; i < count; i++)
        text_printf(out, "%s%s", i ? "," : "{", i ? other : first);
    text_add(out, "}");
}

/* A texture or surface, and coordinates in it. */
static void add_place(const PtxInst *inst, Text *out) {
    text_add(out, "[%rd1");
    if (inst->op != PTX_OP_TXQ && inst->op != PTX_OP_SUQ) {
        const PtxGeometry *geometry = ptx_geometry(inst->sub2);
        const PtxType type = inst->op == PTX_OP_TEX    ? inst->type2
                             : inst->op == PTX_OP_TLD4 ? PTX_F32
                                                       : PTX_S32;
        text_add(out, ", ");
        add_list(geometry->has_layer ? "%u1" : register_for(type), register_for(type),
                 geometry->coordinates, out);
    }
    text_add(out, "]");
}

/* A value, or, after the operand of a texture, a level or a gradient. */
static void add_behind(const PtxShape *shape, const PtxSlot *slot, Text *out) {
    const PtxInst *inst = &shape->inst;
    const bool is_behind = shape->slots[1].kind == PTX_SLOT_TEXTURE && slot != shape->slots;
    if (!is_behind) add_value(slot, out);
    else if (inst->op == PTX_OP_TXQ) text_add(out, "%u1");
    else if (inst->sub == PTX_SUB_TEX_LEVEL) text_add(out, register_for(inst->type2));
    else {
        const int axes = ptx_geometry(inst->sub2)->axes;
        add_list("%f1", "%f1", axes == 3 ? 4 : axes, out);
    }
}

static void add_operand(const PtxShape *shape, const PtxSlot *slot, Text *out) {
    switch (slot->kind) {
    case PTX_SLOT_MEMORY: text_add(out, "[%rd1+8]"); break;
    case PTX_SLOT_CONSTANT: text_add(out, "3"); break;
    case PTX_SLOT_SPECIAL: text_add(out, "%tid"); break;
    case PTX_SLOT_LABEL: text_add(out, "L"); break;
    case PTX_SLOT_TARGETS: text_add(out, "T"); break;
    case PTX_SLOT_CALL: text_add(out, "%rd1, (%rd1, %r1), P"); break;
    case PTX_SLOT_TEXTURE: add_place(&shape->inst, out); break;
    case PTX_SLOT_MOVE:
        text_add(out, slot->type == PTX_B128 ? "{%rd1,%rd1}" : register_for(slot->type));
        break;
    default: add_behind(shape, slot, out);
    }
    if (slot->can_pair) text_add(out, "|%p2");
}

/* An instruction of this shape, with all its operands or only with the required ones. */
static void add_instruction(const PtxShape *shape, bool is_full, Text *out) {
    const char *separator = " ";
    text_add(out, shape->spelling);
    for (int i = 0; i < shape->slot_count; i++) {
        if (shape->slots[i].is_optional && !is_full) continue;
        text_add(out, separator);
        add_operand(shape, &shape->slots[i], out);
        separator = ", ";
    }
    text_add(out, ";");
}

static void read_instruction(const PtxShape *shape, bool is_full) {
    Text text = {0};
    text_add(&text, "T: .branchtargets L;\nP: .callprototype _ (.param .u64 a, .param .u32 b);\n");
    add_instruction(shape, is_full, &text);
    text_add(&text, "\nL: ret;");
    PtxModule *module = ptx_test_read_body(text_string(&text));
    assert_int_equal(module->functions[0]->insts[0].op, shape->inst.op);
    ptx_module_free(module);
    text_free(&text);
}

/* The `choice`-th spelling of a form: takes word number `choice` of each list of words (the last
 * word if the list has fewer), and optional words only if `is_full`. */
static int add_spelling(const PtxForm *form, int choice, bool is_full, Text *out) {
    int longest = 0;
    text_add(out, form->name);
    for (const char *p = form->modifiers; *p;) {
        bool is_list = *p == '(' || *p == '{', is_optional = *p == '{';
        const char *start = is_list ? p + 1 : p;
        size_t length = is_list ? strcspn(start, ")}") : 1 + strcspn(start + 1, ".({");
        p = start + length + (is_list ? 1 : 0);
        const char *end = start + length;
        int words = 1;
        for (const char *c = start; c < end; c++)
            words += *c == ',';
        if (words > longest) longest = words;
        for (int skip = choice < words ? choice : words - 1; skip > 0; start++)
            skip -= *start == ',';
        if (!is_optional || is_full)
            text_add_bytes(out, start,
                           strcspn(start, ",#)}") < (size_t)(end - start) ? strcspn(start, ",#)}")
                                                                          : (size_t)(end - start));
    }
    return longest;
}

static void test_forms_are_read(void **state) {
    (void)state;
    int count, spellings = 0;
    const PtxForm *forms = ptx_forms(&count);
    for (int i = 0; i < count; i++) {
        for (int choice = 0, longest = 1; choice < longest; choice++) {
            for (int is_full = 0; is_full < 2; is_full++) {
                Arena *arena = arena_new();
                Text spelling = {0}, why = {0};
                longest = add_spelling(&forms[i], choice, is_full, &spelling);
                const PtxShape *shape = ptx_shape_new(arena, text_string(&spelling), &why);
                if (!shape) fail_msg("%s: %s", text_string(&spelling), text_string(&why));
                assert_int_equal(shape->inst.op, forms[i].op);
                read_instruction(shape, false);
                read_instruction(shape, true);
                spellings++;
                text_free(&spelling);
                text_free(&why);
                arena_free(arena);
            }
        }
    }
    print_message("%d forms, %d spellings read\n", count, spellings);
}

/* Every opcode has a form, and forms are sorted by name. */
static void test_table(void **state) {
    (void)state;
    int count;
    const PtxForm *forms = ptx_forms(&count);
    bool has_form[PTX_OP_COUNT] = {false};
    for (int i = 0; i < count; i++) {
        has_form[forms[i].op] = true;
        if (i > 0) assert_true(strcmp(forms[i - 1].name, forms[i].name) <= 0);
    }
    for (int op = 0; op < PTX_OP_COUNT; op++) {
        if (!has_form[op]) fail_msg("%s has no form", ptx_opcode_name((PtxOpcode)op));
    }
}

static bool is_modifier(const char *word, size_t length) {
    int count;
    const PtxModifier *modifiers = ptx_modifiers(&count);
    for (int i = 0; i < count; i++) {
        if (strlen(modifiers[i].word) == length && !strncmp(modifiers[i].word, word, length))
            return true;
    }
    return false;
}

static void test_words_are_known(void **state) {
    (void)state;
    int count;
    const PtxForm *forms = ptx_forms(&count);
    for (int i = 0; i < count; i++) {
        for (const char *p = forms[i].modifiers; *p;) {
            size_t length = *p == '.' ? 1 + strcspn(p + 1, ".,(){}") : 1;
            if (*p == '.' && !is_modifier(p, length))
                fail_msg("%s: unknown word %.*s", forms[i].name, (int)length, p);
            p += length;
        }
    }
}

static void test_form_text(void **state) {
    (void)state;
    int count;
    const PtxForm *forms = ptx_forms(&count);
    Text text = {0};
    for (int i = 0; i < count; i++) {
        text_clear(&text);
        ptx_form_write(&forms[i], &text);
        assert_null(strchr(text_string(&text), '#'));
        assert_null(strstr(text_string(&text), ":p"));
    }
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_words_are_known),
        cmocka_unit_test(test_forms_are_read), cmocka_unit_test(test_form_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
