/* Helpers of the PTX tests: reading texts, and wrapping statements into a kernel with registers of
 * every type. */
#ifndef TYTO_TESTS_PTX_TEST_H
#define TYTO_TESTS_PTX_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ptx/ptx.h"

#define PTX_HEADER ".version 8.0\n.target sm_80\n.address_size 64\n"

/* Line 4 of a wrapped text; the statements are on line 5. */
#define PTX_KERNEL                                                                                 \
    PTX_HEADER                                                                                     \
    ".global .align 4 .b8 data[64]; .shared .align 4 .b8 tile[64]; .visible .entry k(.param .u64 " \
    "p0, .param .u32 p1) { .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 "      \
    "%rd<10>; .reg .f32 %f<10>; .reg .f64 %d<10>; .reg .u32 %u<10>; .reg .s32 %s<10>; .reg .f16 "  \
    "%hf<4>; .reg .b8 %c<4>; .reg .u16 %us<4>; .reg .u64 %ud<4>;\n"

/* Returns the linked module of a text that must be correct. */
static inline PtxModule *ptx_test_read(const char *text) {
    Diag *diag = diag_new();
    PtxModule *module = ptx_read("test.ptx", text, strlen(text), diag);
    if (!module || !ptx_link(&module, 1, diag)) {
        print_message("%s\nof:\n%s\n", diag_text(diag), text);
        fail();
    }
    diag_free(diag);
    return module;
}

/* A function by its name; NULL if there is none. */
static inline PtxFunction *ptx_find_function(const PtxModule *module, const char *name) {
    for (int i = 0; i < module->function_count; i++) {
        if (!strcmp(module->functions[i]->name, name)) return module->functions[i];
    }
    return NULL;
}

/* Appends to `out` the messages of a text that must be wrong. */
static inline void ptx_test_errors(const char *text, Text *out) {
    Diag *diag = diag_new();
    PtxModule *module = ptx_read("test.ptx", text, strlen(text), diag);
    text_clear(out);
    bool is_linked = module && ptx_link(&module, 1, diag);
    text_add(out, diag_text(diag));
    if (is_linked) fail_msg("accepted, but is wrong:\n%s", text);
    assert_true(diag_error_count(diag) > 0);
    ptx_module_free(module);
    diag_free(diag);
}

/* A module with statements inside the kernel of PTX_KERNEL. */
static inline PtxModule *ptx_test_read_body(const char *statements) {
    Text text = {0};
    text_printf(&text, "%s%s\n}\n", PTX_KERNEL, statements);
    PtxModule *module = ptx_test_read(text_string(&text));
    text_free(&text);
    return module;
}

#endif
