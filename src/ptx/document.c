/* Writes the table of instructions as a page. */
#include "ptx/document.h"

#include <string.h>

#include "ptx/shape.h"

/* A form as code in a table's cell, where '|' must be escaped. */
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

static void add_special_registers(Text *out) {
    for (int i = 0; i < PTX_SREG_COUNT; i++)
        text_printf(out, "%s`%s`", i ? " " : "", ptx_sreg_name((PtxSreg)i));
    text_add(out, "\n");
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
             "Written from the table of instructions (`src/ptx/opcode.c`).\n\n"
             "Braces hold what may be left out, parentheses what one must be chosen of. Modifiers "
             "may stand in any order; of\nseveral types, the order is that of the form. `d`, `p` "
             "and `q` are written to, the rest is read; `[a]` is an\naddress; `d|p` is a register, "
             "or a pair of one and a predicate. Memory orders and scopes\n"
             "are accepted and have no effect. Of textures and surfaces `[a]` is "
             "`[a, {x, y}]`, with a sampler between\nthe two if there is one; of `tex` and `tld4` "
             "offsets in texels may follow. Registers of video instructions may be parts:\n`.b0`, "
             "`.h1`; of packed ones several, `.b3210`.\n\n"
             "| instruction | written |\n|---|---|\n");
    add_forms(out);
    text_add(out, "\n## Special registers\n\n");
    add_special_registers(out);
    text_add(out, "\n## Not supported\n\n"
                  "A kernel that holds one of these, or calls what does, cannot be launched; "
                  "others of its module can.\n\n"
                  "| instruction | what it is |\n|---|---|\n");
    add_unsupported(out);
}
