/* Input that no compiler produces: truncated at any position, binary, nested, repeated a hundred
 * thousand times. Each ends soon with one clear error or a module, and without a fault under the
 * sanitizers. */
#include "ptx_test.h"

#include <stdlib.h>

#include "../thin.h"

static const char *corpus; /* folder, set only by main */

enum {
    REPEATS = 100000, /* more than any limit, of which the largest is 65535 */
    FEWER = 10000     /* with is_thin, where no limit is larger than this */
};

#define KERNEL PTX_HEADER ".entry k() { .reg .pred p; .reg .b32 r;\n"

/* A text consists of `head`, then `repeat` (with %d for the number of the repetition) many times,
 * then `tail`. It is refused with `message`, or accepted if that is NULL. */
typedef struct Hostile {
    const char *head, *repeat, *tail;
    const char *message;
} Hostile;

static const Hostile inputs[] = {
    {KERNEL, "{", "", "scopes are nested more than 64 deep"},
    {KERNEL "mov.u32 r, ", "(", "", "constant expression: nested more than 64 deep"},
    {KERNEL "mov.u32 r, ", "-", "1; ret; }", "constant expression: nested more than 64 deep"},
    {KERNEL "mov.u32 r, ", "1?", "1; ret; }", "constant expression: nested more than 64 deep"},
    {KERNEL "mov.u32 r, 1", "+1", "; ret; }", NULL},
    {KERNEL "add.s32 ", "r,", "r;}", "'add.s32' has more than 10 operands"},
    {KERNEL "mov.b64 r, {", "r,", "r};}", "vector of more than 128 elements"},
    {KERNEL "T: .branchtargets ", "L,", "L; L: ret; }", "more than 65535 targets"},
    {KERNEL "add", ".s32", " r,r,r; } .global .u32 x = y;",
     "instruction of more than 200 characters"},
    {KERNEL, "bogus %d;\n", "} .global .u32 x = y;", "no instruction 'bogus'"},
    {KERNEL, ".bogus%d {\n", "", "the body of 'k' is not closed"},
    {PTX_HEADER, ".bogus%d x%d;\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER, ".bogus .entry .attribute ", ".entry k() { ret; }", NULL},
    {PTX_HEADER, ".bogus .entry .attribute;\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER, ".bogus .func .attribute (\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER, ".global .b31 x%d = {;\n", "", "this is not closed: '}' is missing"},
    {PTX_HEADER ".bogus ", "{ x%d ", "", "this is not closed: '}' is missing"},
    {PTX_HEADER ".func f(", ".param .b31 p%d,", ".param .b32 q) { ret; }", NULL},
    {PTX_HEADER, ".func (.reg .b31 r f;\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER ".entry k() ", ".bogus%d (", ") { ret; }", NULL},
    {KERNEL, "bra L%d;\n", "}", " more errors"},
    {KERNEL, "mov.b32 r, x%d;\n", "}", " more errors"},
    {KERNEL, "L%d:\n", "ret; }", NULL},
    {KERNEL, "L%d: @p bra L%d;\n", "ret; }", NULL},
    {KERNEL, "{ L: @p bra L; }\n", "ret; }", NULL},
    {KERNEL, "call k, (", "", "'call' is not declared"},
    {PTX_HEADER ".global .u32 x = ", "{", "", "initialiser has more braces than dimensions"},
    {PTX_HEADER ".global .b8 x[] = {", "1,", "1}; .entry k() { ret; }", NULL},
    {PTX_HEADER ".global .u64 x[] = {", "x,", "x}; .entry k() { ret; }", NULL},
    {PTX_HEADER ".global .u32 ", "aaaaa", "; .entry k() { ret; }",
     "name of more than 65535 characters"},
    {PTX_HEADER ".func f(", ".param .b32 p%d,", ".param .b32 q) { ret; }",
     "more than 65535 parameters"},
    {PTX_HEADER ".func f0() { ret; } .func f1();\n", ".alias f1, f0;\n", ".entry k() { ret; }",
     NULL},
    {PTX_HEADER, ".func f%d() { ret; }\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER, ".shared .b8 s%d[64];\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER, ".file %d \"f\"\n", "", "file index is out of range"},
    {PTX_HEADER ".pragma \"", "aaaa", "", "string is not closed"},
    {PTX_HEADER "/*", "****", "", "comment is not closed"},
    {PTX_HEADER, "/**/ // %d\n", ".entry k() { ret; }", NULL},
    {PTX_HEADER, "\n\n\n\n", "bogus", "expected a directive, not 'bogus'"},
    {"", ".version 8.0\n", "", "the .target directive is missing"},
    {"", "\x01\xff\x80\n", "", "cannot read this: character that PTX does not use"},
};

static void add_repeated(Text *text, const char *repeat, int count) {
    for (int i = 0; i < count; i++) {
        for (const char *p = repeat; *p; p++) {
            if (p[0] == '%' && p[1] == 'd') {
                text_printf(text, "%d", i);
                p++;
            } else {
                text_add_bytes(text, p, 1);
            }
        }
    }
}

static int repeats_of(const Hostile *input) {
    const char *message = input->message;
    const bool is_large = message && (strstr(message, "65535") || strstr(message, "file index"));
    return is_thin() && !is_large ? FEWER : REPEATS;
}

static void test_repeated(void **state) {
    (void)state;
    Text text = {0}, errors = {0};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        text_clear(&text);
        text_add(&text, inputs[i].head);
        add_repeated(&text, inputs[i].repeat, repeats_of(&inputs[i]));
        text_add(&text, inputs[i].tail);
        if (!inputs[i].message) {
            ptx_module_free(ptx_test_read(text_string(&text)));
            continue;
        }
        ptx_test_errors(text_string(&text), &errors);
        bool is_there = strstr(text_string(&errors), inputs[i].message) != NULL;
        if (!is_there || errors.length > 10000)
            fail_msg("input %zu: wanted %s, got %.2000s", i, inputs[i].message,
                     text_string(&errors));
    }
    text_free(&text);
    text_free(&errors);
}

/* Registers that are live everywhere, and kernels that reach everything, are refused instead of
 * analyzed. */
static void test_too_complex(void **state) {
    (void)state;
    enum { MANY = 30000 };
    if (is_thin()) skip(); /* the analyses take all the steps that their limits allow */
    Text text = {0}, errors = {0};
    text_add(&text, KERNEL);
    add_repeated(&text, ".reg .b32 x%d; mov.b32 x%d, 1;\n", MANY);
    add_repeated(&text, "L%d: @p bra L%d;\n", MANY);
    add_repeated(&text, "st.shared.u32 [0], x%d;\n", MANY);
    text_add(&text, "ret; }");
    ptx_test_errors(text_string(&text), &errors);
    assert_non_null(strstr(text_string(&errors),
                           ":4:8: error: 'k' is too complex: its registers are live across too "
                           "many branches"));
    text_clear(&text);
    text_add(&text, PTX_HEADER ".func f0() { ret; }\n");
    for (int i = 1; i < MANY; i++)
        text_printf(&text, ".func f%d() { call f%d; ret; } .entry k%d() { call f%d; ret; }\n", i,
                    i - 1, i, i);
    ptx_test_errors(text_string(&text), &errors);
    assert_non_null(strstr(text_string(&errors), "too many kernels that call too many functions"));
    text_clear(&text);
    text_add(&text, KERNEL "L: T: .branchtargets ");
    add_repeated(&text, "L,", 60000);
    text_add(&text, "L;\n");
    add_repeated(&text, "brx.idx r, T;\n", MANY);
    text_add(&text, "}");
    ptx_test_errors(text_string(&text), &errors);
    assert_non_null(strstr(text_string(&errors), "too many branches and calls with long lists"));
    text_free(&text);
    text_free(&errors);
}

static void read_part(const char *text, size_t length) {
    Diag *diag = diag_new();
    char *exact = malloc(length ? length : 1); /* without a NUL after it */
    memcpy(exact, text, length);
    PtxModule *module = ptx_read("cut.ptx", exact, length, diag);
    if (module) ptx_link(&module, 1, diag);
    assert_true(module || diag_error_count(diag) > 0);
    ptx_module_free(module);
    diag_free(diag);
    free(exact);
}

/* Every file of the corpus, truncated after each of its bytes, and with each byte replaced. */
static void test_cut_and_spoilt(void **state) {
    (void)state;
    static const char *const names[] = {"control.ptx", "directives.ptx", "old.ptx", "operands.ptx",
                                        "vecadd.ptx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        size_t length;
        snprintf(path, sizeof path, "%s/%s", corpus, names[i]);
        char *text = text_read_file(path, 1 << 20, &length);
        if (!text) fail_msg("cannot read %s", path);
        for (size_t cut = 0; cut <= length; cut += (size_t)thin_step())
            read_part(text, cut);
        for (size_t at = 0; at < length; at += (size_t)thin_step()) {
            char kept = text[at];
            text[at] = "\0{};\"%.,09"[at % 10];
            read_part(text, length);
            text[at] = kept;
        }
        free(text);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repeated),
                                       cmocka_unit_test(test_too_complex),
                                       cmocka_unit_test(test_cut_and_spoilt)};
    corpus = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
