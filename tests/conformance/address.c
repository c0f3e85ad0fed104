/* cvta and isspacep: a variable in each space, its generic address, and the conversion back. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

/* A variable in each space; `word` is the name of the space in instructions. */
typedef struct Variable {
    const char *word, *name;
} Variable;

static const Variable variables[] = {{"const", "in_const"},
                                     {"global", "in_global"},
                                     {"local", "in_local"},
                                     {"param", "in2"},
                                     {"shared", "in_shared"}};
enum { VARIABLES = sizeof variables / sizeof *variables };

#define MODULE_VARIABLES ".const .b32 in_const[4] = {1};\n.global .b32 in_global[4];"
#define KERNEL_VARIABLES                                                                           \
    ".shared .b32 in_shared[4];\n.local .b32 in_local[4];\n.reg .b64 v, wide;\n.reg .pred p;\n"

/* The place with this name of a space; "param::entry" is accepted too. */
static int variable_of(const char *word) {
    for (int i = 0; i < VARIABLES; i++)
        if (strncmp(word, variables[i].word, strlen(variables[i].word)) == 0) return i;
    return -1;
}

static void begin(Trial *trial, const char *spelling, int bits) {
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, MODULE_VARIABLES);
    text_printf(&trial->ptx,
                KERNEL_VARIABLES ".reg .b%d a, b, c;\nmad.wide.u32 out, tid, 64, out;\n", bits);
}

/* Sets register `to` to the address of a variable in its own space. */
static void take_address(Trial *trial, const char *to, int variable, int bits) {
    if (bits == 64) text_printf(&trial->ptx, "mov.u64 %s, %s;\n", to, variables[variable].name);
    else
        text_printf(&trial->ptx, "mov.u64 wide, %s;\ncvt.u32.u64 %s, wide;\n",
                    variables[variable].name, to);
}

static void write_slot(Trial *trial, int slot, const char *name, int bits) {
    text_printf(&trial->ptx, "cvt.u64.u%d v, %s;\nst.global.u64 [out+%d], v;\n", bits, name,
                slot * 8);
}

static void expect_all(Trial *trial, int slot, uint64_t value) {
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        trial->expected[thread * 8 + slot] = value;
    trial->slots = TRIAL_THREADS * 8;
}

/* ---- cvta ---- */

/* An address plus 8, converted and converted back, differs by 8 bytes. A variable's name and its
 * address in a register give the same result (names are addresses of 64 bits). Each kernel uses
 * both directions. */
static void visit_cvta(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const char *space = form_word(&form, form_has(&form, "to") ? 2 : 1);
    int bits = form.types[0]->bits, variable = variable_of(space);
    begin(trial, spelling, bits);
    take_address(trial, "a", variable, bits);
    text_printf(&trial->ptx,
                "cvta.%1$s.u%2$d b, a;\nadd.u%2$d b, b, 8;\ncvta.to.%1$s.u%2$d c, b;\n"
                "sub.u%2$d c, c, a;\n",
                space, bits);
    write_slot(trial, 0, "c", bits);
    expect_all(trial, 0, 8);
    text_printf(&trial->ptx, "cvta.%1$s.u%2$d c, %3$s;\nadd.u%2$d c, c, 8;\nsub.u%2$d c, c, b;\n",
                space, bits, bits == 64 ? variables[variable].name : "a");
    write_slot(trial, 1, "c", bits);
    expect_all(trial, 1, 0);
    trial_run(trial);
}

/* ---- isspacep ---- */

/* Tests the generic address of each space; the result is true for one of them. */
static void visit_isspacep(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    int own = variable_of(form_word(&form, 1));
    for (int bits = 32; bits <= 64; bits *= 2) {
        begin(trial, spelling, bits);
        for (int i = 0; i < VARIABLES; i++) {
            take_address(trial, "a", i, bits);
            text_printf(&trial->ptx, "cvta.%s.u%d b, a;\n%s p, b;\nselp.u%d c, 1, 0, p;\n",
                        variables[i].word, bits, spelling, bits);
            write_slot(trial, i, "c", bits);
            expect_all(trial, i, i == own);
        }
        trial_run(trial);
    }
}

#define SPACES "(.const,.global,.local,.param,.param::entry,.shared,.shared::cta)"

void address_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    form_expand("cvta", "{.to}" SPACES "(.u32,.u64)", visit_cvta, trial);
    form_expand("isspacep", SPACES, visit_isspacep, trial);
    trial_free(trial);
}
