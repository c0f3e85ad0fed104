/* Statements with one instruction: the forms of the conformance suite, with random operands. */
#include <stdlib.h>
#include <string.h>

#include "conformance/kernel.h"
#include "conformance/lanes.h"
#include "conformance/values.h"

#include "maker.h"

/* ---- Which forms ---- */

enum { MAX_ROWS = 512 };

struct FormList {
    Form *forms;
    int count, capacity;
    int first[MAX_ROWS + 1]; /* first form of each row */
    int rows;
    bool has_approximate;
};

static bool is_opcode(const Form *form, const char *const *opcodes) {
    for (; *opcodes; opcodes++)
        if (strcmp(form_word(form, 0), *opcodes) == 0) return true;
    return false;
}

/* Without a rounding modifier, ptxas may fuse a multiplication with an addition. */
static bool may_be_fused(const Form *form) {
    static const char *const opcodes[] = {"add", "sub", "mul", "mad", NULL};
    static const char *const rounds[] = {"rn", "rz", "rm", "rp", NULL};
    return is_opcode(form, opcodes) && form->operands[0]->kind == KIND_FLOAT &&
           form_which(form, rounds) < 0;
}

/* ptxas 13.0 makes wrong code of these (docs/machine-code.md). */
static bool is_wrong(const Form *form) {
    static const char *const starts[] = {
        "abs.s",   "cnot",     "mad.hi.sat", "mad24.hi.sat", "neg.s16", "neg.f16",  "neg.f32",
        "neg.ftz", "neg.bf16", "szext",      "cvt.pack",     "lop3.or", "lop3.and", NULL};
    static const char *const parts[] = {".e4m3x2.f", ".e5m2x2.f", ".sat.f64", NULL};
    static const char *const sums[] = {"add", "sub", NULL};
    const bool is_float = form->operands[0]->kind == KIND_FLOAT;
    for (const char *const *start = starts; *start; start++)
        if (strncmp(form->text, *start, strlen(*start)) == 0) return true;
    for (const char *const *part = parts; *part; part++)
        if (strstr(form->text, *part)) return true;
    if (is_opcode(form, sums) && form_has(form, "sat") && !is_float) return true;
    if (strncmp(form->text, "madc.hi", 7) == 0 && form->register_bits[0] == 64) return true;
    if (strncmp(form->text, "slct", 4) == 0 && form_has(form, "f32")) return true;
    if (strncmp(form->text, "cvt.rzi", 7) == 0 && form_has(form, "f16")) return true;
    if (strncmp(form->text, "cvt.r", 5) == 0 && (form_has(form, "s16") || form_has(form, "u16")))
        return true;
    if (form->ftz && strcmp(form_word(form, 0), "setp") == 0) return true;
    return strncmp(form->text, "cvt", 3) == 0 && form_has(form, "bf16") && form_has(form, "f16");
}

/* Forms that a GPU computes differently from the ISA (docs/real-gpu.md) or that the ISA leaves
 * open. */
static bool is_open(const Form *form) {
    static const char *const opcodes[] = {"fns", "elect", "activemask", NULL};
    if (is_opcode(form, opcodes)) return true;
    if (strncmp(form->text, "cvt.rna", 7) == 0) return true;
    return form->ftz && strncmp(form->text, "cvt.r", 5) == 0 && strstr(form->text, ".f16.f32") &&
           (form->round == MPFR_RNDD || form->round == MPFR_RNDU);
}

static bool is_wanted(const FormList *list, const Form *form) {
    if (form->row->selectors || may_be_fused(form) || is_open(form) || is_wrong(form)) return false;
    if (form->row->warp && !form_has(form, "sync")) return false;
    return form->row->ulps == 0 || list->has_approximate;
}

static void add_form(void *user, const Form *form) {
    FormList *list = user;
    if (!is_wanted(list, form)) return;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 1024;
        list->forms = realloc(list->forms, (size_t)list->capacity * sizeof *list->forms);
    }
    list->forms[list->count++] = *form;
}

FormList *forms_new(bool has_approximate) {
    static const Row *const tables[] = {ROWS_INTEGER, ROWS_BITS,        ROWS_COMPARE, ROWS_FLOAT,
                                        ROWS_CONVERT, ROWS_APPROXIMATE, ROWS_WARP};
    FormList *list = calloc(1, sizeof *list);
    list->has_approximate = has_approximate;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Row *row = tables[t]; row->pattern && list->rows < MAX_ROWS; row++) {
            form_each(row, add_form, list);
            if (list->count > list->first[list->rows]) list->first[++list->rows] = list->count;
        }
    return list;
}

void forms_free(FormList *forms) {
    free(forms->forms);
    free(forms);
}

/* For these, ptxas also writes lanes that do not execute (docs/real-gpu.md). */
static bool must_be_converged(const Form *form) {
    static const char *const opcodes[] = {"set", "testp", NULL};
    return form->row->warp || is_opcode(form, opcodes);
}

/* In a loop in a branch, or behind an exit, ptxas 13.0 takes the value of a predicate that the
 * condition implies, although the loop changes that predicate. */
static bool may_be_implied(const Maker *maker, const Form *form) {
    const bool is_implied = maker->implied_loops || (maker->loops && maker->has_exit);
    return is_implied && pool_of_operand(form, 0) == POOL_PRED;
}

/* An unrolled loop of ptxas 13.0 has two products for four turns. */
static bool may_be_lost(const Maker *maker, const Form *form) {
    return maker->loops && strncmp(form->text, "mad.hi", 6) == 0;
}

static const Form *choose_form(Maker *maker) {
    const FormList *list = maker->forms;
    for (;;) {
        const int row = maker_choose(maker, list->rows);
        const int count = list->first[row + 1] - list->first[row];
        const Form *form = &list->forms[list->first[row] + maker_choose(maker, count)];
        if (may_be_implied(maker, form) || may_be_lost(maker, form)) continue;
        if (maker->is_converged || !must_be_converged(form)) return form;
    }
}

/* ---- Sources ---- */

static bool is_division(const Form *form) {
    static const char *const opcodes[] = {"div", "rem", NULL};
    return is_opcode(form, opcodes) && form->operands[0]->kind != KIND_FLOAT;
}

/* A position or a length. Only its low 8 bits count. */
static bool is_field(const Form *form, int operand) {
    static const char *const opcodes[] = {"bfe", "bfi", NULL};
    return is_opcode(form, opcodes) && form->letters[operand] == 'n';
}

/* The sign of a NaN must not matter, so these take operands from registers of bits. */
static bool takes_sign(const Form *form) {
    return form->xorsign || strcmp(form_word(form, 0), "copysign") == 0;
}

static bool is_immediate(Maker *maker, const Form *form, int source) {
    /* ptxas 13.0 handles these wrongly */
    static const char *const folded[] = {"bfe", "bfi", "slct", NULL};
    const bool is_last = source == form->sources - 1;
    if (is_opcode(form, folded)) return false;
    if (is_last && form->row->flags & ROW_NO_CONSTANT) return false;
    return kernel_takes_constant(form, source) && maker_chance(maker, 5);
}

static uint64_t immediate_of(Maker *maker, const Form *form, int operand) {
    uint64_t edges[VALUES_MAX_EDGES];
    const size_t count = values_edges(form, operand, edges);
    uint64_t value = edges[values_next(&maker->state) % count];
    if (maker_chance(maker, 2)) value = values_random(form, operand, &maker->state);
    if (is_field(form, operand)) value &= 0xff;
    if (form->letters[operand] == 'n') value &= 0xffff; /* ptxas 13.0 truncates counts of shr.s16 */
    return is_division(form) ? value | 1 : value;
}

/* Writes a register operand. If the instruction needs a restricted value, writes statements to
 * `before` that make one. */
static void write_register(Maker *maker, const Form *form, int source, Text *before,
                           Text *operands) {
    const int operand = form->destinations + source, bits = form->register_bits[operand];
    Pool pool = pool_of_operand(form, operand);
    if (POOL_INFO[pool].bits == 32 && (takes_sign(form) || maker_chance(maker, 5))) pool = POOL_B32;
    if (POOL_INFO[pool].bits == 16 && (takes_sign(form) || maker_chance(maker, 5))) pool = POOL_B16;
    if (POOL_INFO[pool].bits == 64 && (takes_sign(form) || maker_chance(maker, 5))) pool = POOL_B64;
    const Name name = maker_register(maker, pool);
    if (is_field(form, operand)) {
        text_printf(before, "and.b32 %%t%d, %s, 0xff;\n", source, name.text);
        text_printf(operands, "%%t%d", source);
    } else if (is_division(form) && source == 1) {
        const char scratch = bits == 16 ? 's' : bits == 32 ? 't' : 'u';
        text_printf(before, "or.b%d %%%c1, %s, 1;\n", bits, scratch, name.text);
        text_printf(operands, "%%%c1", scratch);
    } else {
        text_add(operands, name.text);
    }
}

static void write_source(Maker *maker, const Form *form, int source, Text *before, Text *operands) {
    const int operand = form->destinations + source;
    const char letter = form->letters[operand];
    if (letter == 'k') {
        const Name name = maker_register(maker, POOL_B32);
        text_printf(before, "add.cc.u32 %%t3, %s, 0xffffffff;\n", name.text);
        return;
    }
    text_add(operands, ", ");
    if (letter == 'm') text_add(operands, "0xffffffff");
    else if (letter == 'i') text_printf(operands, "%d", form->constant);
    else if (is_immediate(maker, form, source))
        kernel_write_immediate(form_source(form, source), immediate_of(maker, form, operand),
                               operands);
    else write_register(maker, form, source, before, operands);
}

/* ---- The instruction ---- */

static void write_destinations(Maker *maker, const Form *form, Text *operands) {
    int taken = -1;
    for (int d = 0; d < form->destinations; d++) {
        if (form->letters[d] == 'k') continue;
        const Pool pool = pool_of_operand(form, d);
        const bool is_same = d > 0 && pool == pool_of_operand(form, 0);
        const Name name = maker_result(maker, pool, is_same ? taken : -1, &taken);
        text_printf(operands, "%s%s", d ? "|" : " ", name.text);
    }
}

static bool has_carry(const Form *form) {
    return memchr(form->letters, 'k', sizeof form->letters) != NULL;
}

/* ptxas 13.0 moves a conversion to 8-bit floats past an instruction that changes its guard. */
static bool is_moved(const Form *form) {
    return form_has(form, "e4m3x2") || form_has(form, "e5m2x2");
}

static void write_guard(Maker *maker, Text *out) {
    const Name name = maker_register(maker, POOL_PRED);
    text_printf(out, "@%s%s ", maker_chance(maker, 2) ? "!" : "", name.text);
}

void forms_write(Maker *maker) {
    const Form *form = choose_form(maker);
    Text before = {0}, operands = {0};
    write_destinations(maker, form, &operands);
    for (int s = 0; s < form->sources; s++)
        write_source(maker, form, s, &before, &operands);
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    text_add(out, text_string(&before));
    if (!must_be_converged(form) && !has_carry(form) && !is_moved(form) && maker_chance(maker, 4))
        write_guard(maker, out);
    text_printf(out, "%s%s;\n", form->text, text_string(&operands));
    for (int d = 0; d < form->destinations; d++) {
        int number;
        if (form->letters[d] == 'k')
            /* ptxas 13.0 makes a float of the sum of two zeros as if it were 0 or 1.0 */
            text_printf(out, "addc.u32 %s, 0, 2;\n",
                        maker_result(maker, POOL_B32, -1, &number).text);
    }
    maker->body->statements[maker->body->count].form = form;
    maker_end(maker);
    text_free(&before);
    text_free(&operands);
}

void forms_write_chain(Maker *maker) {
    const bool is_wide = maker_chance(maker, 4);
    const Pool pool = is_wide ? POOL_B64 : POOL_B32;
    const char *opcode = maker_chance(maker, 3) ? "sub" : "add";
    const int steps = 2 + maker_choose(maker, 3);
    Text *out = maker_begin(maker, STATEMENT_SIMPLE);
    for (int i = 0; i < steps; i++) {
        int number;
        const Name result = maker_result(maker, pool, -1, &number);
        const Name a = maker_register(maker, pool), b = maker_register(maker, pool);
        text_printf(out, "%s%s%s.u%d %s, %s, %s;\n", opcode, i ? "c" : "",
                    i < steps - 1 ? ".cc" : "", is_wide ? 64 : 32, result.text, a.text, b.text);
    }
    maker_end(maker);
}
