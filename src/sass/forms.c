/* The tables of forms, and the search for a form. */
#include "sass/form.h"

#include <stddef.h>
#include <stdint.h>

#include "sass/layout.h"

/* Sets of encodings, one bit for each value of bits 9 to 11 (form.h). */
enum { E1 = 1 << 1, E2 = 1 << 2, E3 = 1 << 3, E4 = 1 << 4, E5 = 1 << 5, E6 = 1 << 6, E7 = 1 << 7 };
enum { FIXED, VARIABLE };

#define FORM(code, mnemonic, which, unit_name, latency, first, last, ...)                          \
    {.name = #mnemonic,                                                                            \
     .op = SASS_OP_##mnemonic,                                                                     \
     .opcode = (code),                                                                             \
     .encodings = (which),                                                                         \
     .unit = SASS_UNIT_##unit_name,                                                                \
     .is_variable = (latency),                                                                     \
     .first_sm = (first),                                                                          \
     .last_sm = (last),                                                                            \
     .fields = (const SassField[]){__VA_ARGS__, {.kind = SASS_FIELD_END}}},

const SassForm sass_forms[] = {
#include "sass/ops_alu.def"
#include "sass/ops_uniform.def"
#include "sass/ops_convert.def"
#include "sass/ops_flow.def"
#include "sass/ops_texture.def"
#include "sass/ops_memory.def"
};
const size_t sass_form_count = sizeof sass_forms / sizeof sass_forms[0];

static const char *const texts[SASS_MODIFIERS][64] = {
#define SASS_VALUE(modifier, name, value, text) [SASS_MOD_##modifier][value] = text,
#include "sass/modifiers.def"
#undef SASS_VALUE
};

const char *sass_value_text(unsigned modifier, unsigned value) {
    return modifier < SASS_MODIFIERS && value < 64 ? texts[modifier][value] : NULL;
}

/* The first row whose opcode is not less. */
static size_t first_row(unsigned opcode) {
    size_t low = 0, high = sass_form_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sass_forms[middle].opcode < opcode) low = middle + 1;
        else high = middle;
    }
    return low;
}

const SassForm *sass_form_find(unsigned sm, const uint64_t words[2]) {
    unsigned opcode = words[0] & 0x1ff, encoding = words[0] >> 9 & 7;
    for (size_t i = first_row(opcode); i < sass_form_count && sass_forms[i].opcode == opcode; i++) {
        const SassForm *form = &sass_forms[i];
        if (form->encodings >> encoding & 1 && sm >= form->first_sm && sm <= form->last_sm)
            return form;
    }
    return NULL;
}
