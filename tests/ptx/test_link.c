/* Joining modules. */
#include "ptx_test.h"

#include <stdlib.h>

enum { MAX_MODULES = 3 };

/* Reads and links up to three texts; `errors` receives the messages. Returns NULL, with everything
 * freed, if they do not link. */
static PtxModule *link_texts(PtxModule **modules, const char *const *texts, int count,
                             Text *errors) {
    Diag *diag = diag_new();
    char name[] = "a.ptx";
    for (int i = 0; i < count; i++, name[0]++) {
        modules[i] = ptx_read(name, texts[i], strlen(texts[i]), diag);
        if (!modules[i]) fail_msg("%s", diag_text(diag));
    }
    bool is_linked = ptx_link(modules, count, diag);
    text_clear(errors);
    text_add(errors, diag_text(diag));
    diag_free(diag);
    if (is_linked) return modules[0];
    for (int i = 0; i < count; i++)
        ptx_module_free(modules[i]);
    return NULL;
}

static void free_all(PtxModule **modules, int count) {
    for (int i = 0; i < count; i++)
        ptx_module_free(modules[i]);
}

static void test_definitions_are_bound(void **state) {
    (void)state;
    static const char *const texts[] = {
        PTX_HEADER ".file 1 \"a.cu\"\n"
                   ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
                   ".extern .global .align 4 .b8 shared_name[16];\n"
                   ".global .u64 pointer = shared_name;\n"
                   ".visible .entry k() { .reg .b32 r; .reg .b64 d; .param .b32 a; .param .b32 b;\n"
                   "ld.global.b32 r, [shared_name+4]; st.param.b32 [a], r;\n"
                   "call (b), twice, (a); mov.u64 d, twice; ret; }\n",
        PTX_HEADER ".file 1 \"b.cu\"\n"
                   ".func hidden() { .loc 1 7 1\n ret; }\n"
                   ".visible .global .align 4 .b8 shared_name[16] = {1, 2};\n"
                   ".visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 v<40>;\n"
                   ".loc 1 5 1\n ld.param.b32 v1, [x]; call hidden; st.param.b32 [r], v1; ret; }\n",
    };
    PtxModule *modules[MAX_MODULES];
    Text errors = {0};
    PtxModule *m = link_texts(modules, texts, 2, &errors);
    assert_non_null(m);
    PtxFunction *k = ptx_find_function(m, "k"), *twice = ptx_find_function(m, "twice");
    assert_true(twice->is_defined);
    assert_int_equal(m->function_count, 3); /* k, hidden and twice; the declaration is gone */
    for (int i = 0; i < m->function_count; i++)
        assert_int_equal(m->functions[i]->index, i);
    assert_ptr_equal(k->insts[0].operands[1].var, ptx_find_var(m, "shared_name"));
    assert_ptr_equal(k->insts[2].operands[0].function, twice);
    assert_ptr_equal(k->insts[3].operands[1].function, twice);
    assert_ptr_equal(ptx_find_var(m, "pointer")->inits[0].var, ptx_find_var(m, "shared_name"));
    assert_int_equal(ptx_find_var(m, "shared_name")->init_count, 1);
    assert_int_equal(m->var_count, 2);
    assert_string_equal(m->source_files[m->locs[twice->insts[0].loc - 1].file], "b.cu");
    free_all(modules, 2);
    text_free(&errors);
}

/* Names without .visible are local to their module. */
static void test_hidden_names(void **state) {
    (void)state;
    static const char *const texts[] = {
        PTX_HEADER ".global .u32 x = 1; .func f() { ret; }\n"
                   ".visible .entry a() { .reg .b32 r; ld.global.b32 r, [x]; call f; ret; }",
        PTX_HEADER ".global .u32 x = 2; .func f() { trap; }\n"
                   ".visible .entry b() { .reg .b32 r; ld.global.b32 r, [x]; call f; ret; }",
    };
    PtxModule *modules[MAX_MODULES];
    Text errors = {0};
    PtxModule *m = link_texts(modules, texts, 2, &errors);
    const PtxInst *a = ptx_find_function(m, "a")->insts, *b = ptx_find_function(m, "b")->insts;
    assert_ptr_not_equal(a[0].operands[1].var, b[0].operands[1].var);
    assert_ptr_not_equal(a[1].operands[0].function, b[1].operands[0].function);
    assert_int_equal(b[1].operands[0].function->insts[0].op, PTX_OP_TRAP);
    free_all(modules, 2);
    text_free(&errors);
}

static void test_weak_and_common(void **state) {
    (void)state;
    static const char *const texts[] = {
        PTX_HEADER ".weak .func f() { ret; } .weak .global .u32 w = 1; .common .global .b8 c[4];\n"
                   ".visible .entry a() { call f; ret; }",
        PTX_HEADER
        ".visible .func f() { trap; } .weak .global .u32 w = 2; .common .global .b8 c[9];\n"
        ".visible .entry b() { .reg .b32 r; call f; ld.global.b32 r, [w]; ld.global.b8 r, "
        "[c]; ret; }",
    };
    PtxModule *modules[MAX_MODULES];
    Text errors = {0};
    PtxModule *m = link_texts(modules, texts, 2, &errors);
    assert_int_equal(m->function_count, 3);
    assert_int_equal(ptx_find_function(m, "f")->insts[0].op, PTX_OP_TRAP); /* the strong one */
    assert_ptr_equal(ptx_find_function(m, "a")->insts[0].operands[0].function,
                     ptx_find_function(m, "f"));
    assert_int_equal(m->var_count, 2);
    assert_int_equal(ptx_find_var(m, "w")->inits[0].bytes[0], 1); /* the first of the weak ones */
    assert_int_equal(ptx_find_var(m, "c")->size, 9);              /* the largest */
    free_all(modules, 2);
    text_free(&errors);
}

static void test_errors(void **state) {
    (void)state;
    static const char *const twice[] = {PTX_HEADER ".visible .entry k() { ret; }",
                                        PTX_HEADER "\n.visible .entry k() { ret; }"};
    PtxModule *modules[MAX_MODULES];
    Text errors = {0};
    assert_null(link_texts(modules, twice, 2, &errors));
    assert_string_equal(text_string(&errors),
                        "b.ptx:5: error: 'k' is defined twice: first at a.ptx:4\n");
    static const char *const missing[] = {
        PTX_HEADER ".extern .func f();\n.extern .func g();\n.visible .entry k() { call f; ret; }"};
    assert_null(link_texts(modules, missing, 1, &errors));
    assert_string_equal(text_string(&errors), "a.ptx:4: error: 'f' is used but not defined: no "
                                              "module that is loaded has it\n"); /* g is not used */
    text_free(&errors);
}

static void test_builtins(void **state) {
    (void)state;
    static const char *const text = PTX_HEADER
        ".extern .func (.param .b64 p) malloc(.param .b64 n);\n"
        ".visible .entry %s() { .param .b64 n; .param .b64 p; call (p), malloc, (n); ret; }";
    char first[512], second[512];
    snprintf(first, sizeof first, text, "a");
    snprintf(second, sizeof second, text, "b");
    PtxModule *modules[MAX_MODULES];
    Text errors = {0};
    PtxModule *m = link_texts(modules, (const char *[]){first, second}, 2, &errors);
    assert_int_equal(m->function_count, 3); /* one malloc for both */
    assert_true(ptx_is_builtin("vprintf") && ptx_is_builtin("__assertfail"));
    assert_false(ptx_is_builtin("printf"));
    free_all(modules, 2);
    text_free(&errors);
}

/* Register needs propagate from callees to callers, through recursion and function pointers. */
static void test_registers_spread(void **state) {
    (void)state;
    static const char *const text[] = {
        PTX_HEADER
        ".func leaf(.param .b32 x) .maxnreg 200;\n"
        ".func other() { ret; }\n"
        ".visible .entry direct() { .param .b32 a; call leaf, (a); ret; }\n"
        ".visible .entry indirect() { .reg .b64 d; mov.u64 d, other; P: .callprototype _ "
        "(); call d, P; ret; }\n"
        ".visible .entry alone() { ret; }\n"
        ".global .u64 table[1] = {leaf};\n"
        ".func leaf(.param .b32 x) { .reg .b32 %r<60>; .reg .b64 a;\n"
        "%s .param .b32 b; call leaf, (b); ret; }\n"};
    Text body = {0}, whole = {0}, errors = {0};
    for (int i = 0; i < 50; i++)
        text_printf(&body, "ld.param.b32 %%r%d, [x];\n", i);
    for (int i = 0; i < 50; i++)
        text_printf(&body, "st.global.b32 [a], %%r%d;\n", i);
    const char *gap = strstr(text[0], "%s");
    text_add_bytes(&whole, text[0], (size_t)(gap - text[0]));
    text_add(&whole, text_string(&body));
    text_add(&whole, gap + 2);
    PtxModule *modules[MAX_MODULES];
    PtxModule *m = link_texts(modules, (const char *[]){text_string(&whole)}, 1, &errors);
    int32_t leaf = ptx_find_function(m, "leaf")->registers;
    assert_true(leaf > 50);
    assert_int_equal(ptx_find_function(m, "direct")->registers, leaf);
    assert_int_equal(ptx_find_function(m, "indirect")->registers, leaf);
    assert_int_equal(ptx_find_function(m, "alone")->registers, 8);
    free_all(modules, 1);
    text_free(&body);
    text_free(&whole);
    text_free(&errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definitions_are_bound),
                                       cmocka_unit_test(test_hidden_names),
                                       cmocka_unit_test(test_weak_and_common),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_builtins),
                                       cmocka_unit_test(test_registers_spread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
