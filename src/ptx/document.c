/* Writes the table of instructions as a document. */
#include "ptx/document.h"

#include <string.h>

#include "ptx/shape.h"

/* A form as code in a table cell, where '|' must be escaped. */
static void add_code(const Text *form, Text *out) {
    text_add(out, "`");
    for (const char *p = text_string(form); *p; p++)
        text_printf(out, *p == '|' ? "\\%c" : "%c", *p);
    text_add(out, "`");
}

static void add_forms(Text *out) {
    int count;
    const PtxForm *forms = ptx_forms(&count);
    Text form = {0};
    for (int i = 0; i < count; i++) {
        bool is_first = i == 0 || strcmp(forms[i].name, forms[i - 1].name) != 0;
        text_clear(&form);
        ptx_form_write(&forms[i], &form);
        if (is_first) text_printf(out, "%s| `%s` | ", i ? " |\n" : "", forms[i].name);
        if (!is_first) text_add(out, "<br>");
        add_code(&form, out);
    }
    text_add(out, " |\n");
    text_free(&form);
}

/* A table of four names a row. */
static void add_special_registers(Text *out) {
    text_add(out, "| | | | |\n|---|---|---|---|\n");
    for (int i = 0; i < PTX_SREG_COUNT; i++)
        text_printf(out, "| `%s` %s", ptx_sreg_name((PtxSreg)i), i % 4 == 3 ? "|\n" : "");
    if (PTX_SREG_COUNT % 4) text_add(out, "|\n");
}

static void add_unsupported(Text *out) {
    int count;
    const PtxUnsupported *unsupported = ptx_unsupported(&count);
    for (int i = 0; i < count; i++)
        text_printf(out, "| `%s` | %s |\n", unsupported[i].name, unsupported[i].what);
}

void ptx_document(Text *out) {
    text_add(out,
             "# Instructions\n\n"
             "This page lists every PTX instruction that Tyto supports, in all its forms. It is "
             "for those who write PTX, or need to\nknow why a kernel is refused. It is made from "
             "the table of instructions (`src/ptx/opcode.c`).\n\n"
             "Parts in braces may be left out; one of the parts in parentheses must be chosen. "
             "Modifiers may be in any order;\nseveral types are in the order of the form. `d`, "
             "`p` and `q` are written to, other operands are read. `[a]` is an\naddress, `d|p` a "
             "register or a pair of a register and a predicate. Memory orders and scopes are "
             "accepted and\nhave no effect. For textures and surfaces `[a]` means `[a, {x, y}]`, "
             "with a sampler between the two if there is one;\nfor `tex` and `tld4` offsets in "
             "texels may follow. Registers of video instructions may be parts of registers,\nsuch "
             "as `.b0` or `.h1`, and several parts for packed ones, such as `.b3210`.\n\n"
             "| instruction | forms |\n|---|---|\n");
    add_forms(out);
    text_add(out, "\n## Special registers\n\n");
    add_special_registers(out);
    text_add(out, "\n## Not supported\n\n"
                  "A kernel that contains one of these, or calls a function that does, cannot be "
                  "launched; other kernels of its module can.\n\n"
                  "| instruction | what it is |\n|---|---|\n");
    add_unsupported(out);
}
