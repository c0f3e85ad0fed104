/* Prints docs/machine-code-operations.md from the tables of forms. */
#include <stdio.h>
#include <string.h>

#include "sass/form.h"

static const unsigned architectures[] = {70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static const char *const units[SASS_UNITS] = {
    [SASS_UNIT_ALU] = "ALU",         [SASS_UNIT_FMA] = "FMA",       [SASS_UNIT_HALF] = "half",
    [SASS_UNIT_DOUBLE] = "double",   [SASS_UNIT_TENSOR] = "tensor", [SASS_UNIT_SFU] = "SFU",
    [SASS_UNIT_UNIFORM] = "uniform", [SASS_UNIT_MEMORY] = "memory", [SASS_UNIT_TEXTURE] = "texture",
    [SASS_UNIT_BRANCH] = "branch",
};

static const char *const head =
    "# Operations of machine code\n\n"
    "This page lists the operations of machine code that the decoder knows, by architecture. It is "
    "for those who need to\n"
    "know whether an instruction can be printed. It is made from the tables of forms, "
    "`src/sass/ops_*.def`, and the test\n"
    "`sass_page` checks it.\n\n"
    "An operation is a mnemonic. A form is an operation with one kind of operands, given by bits 0 "
    "to 11 of an\n"
    "instruction: `IADD3` has forms with a register, an immediate, a constant or a uniform "
    "register as\n"
    "its second or third source. sm_70 is covered as far as it is the same as sm_75.\n\n";

static int has(const SassForm *form, unsigned sm) {
    return sm >= form->first_sm && sm <= form->last_sm;
}

static int encodings(const SassForm *form) {
    int count = 0;
    for (int i = 0; i < 8; i++)
        count += form->encodings >> i & 1;
    return count;
}

/* Counts the operations and forms of an architecture; those of one operation, or of all
 * (SASS_OPS). */
static void count(unsigned sm, unsigned op, int *operations, int *forms) {
    int seen[SASS_OPS] = {0};
    *operations = *forms = 0;
    for (size_t i = 0; i < sass_form_count; i++) {
        const SassForm *form = &sass_forms[i];
        if (!has(form, sm) || (op != SASS_OPS && form->op != op)) continue;
        *operations += !seen[form->op]++;
        *forms += encodings(form);
    }
}

static void print_sums(void) {
    printf("| | ");
    for (int a = 0; a < ARCHITECTURES; a++)
        printf("sm_%u |%s", architectures[a], a + 1 < ARCHITECTURES ? " " : "\n|---|");
    for (int a = 0; a < ARCHITECTURES; a++)
        printf("--:|%s", a + 1 < ARCHITECTURES ? "" : "\n");
    for (int which = 0; which < 2; which++) {
        printf("| %s |", which ? "forms" : "operations");
        for (int a = 0; a < ARCHITECTURES; a++) {
            int counts[2];
            count(architectures[a], SASS_OPS, &counts[0], &counts[1]);
            printf(" %d |", counts[which]);
        }
        printf("\n");
    }
}

/* The first row of an operation. */
static const SassForm *first_of(unsigned op) {
    const SassForm *form = sass_forms;
    while (form->op != op)
        form++;
    return form;
}

static void print_operation(unsigned op) {
    const SassForm *form = first_of(op);
    printf("| `%s` | %03x | %s | %s |", form->name, form->opcode, units[form->unit],
           form->is_variable ? "variable" : "fixed");
    for (int a = 0; a < ARCHITECTURES; a++) {
        int operations, forms;
        count(architectures[a], op, &operations, &forms);
        if (forms) printf(" %d |", forms);
        else printf(" |");
    }
    printf("\n");
}

int main(void) {
    fputs(head, stdout);
    print_sums();
    printf("\n## Forms of each operation\n\nThe opcode is bits 0 to 8 of an operation's first row. "
           "The result of an operation of fixed latency is ready\n"
           "when its stall count says; one of variable latency releases a dependence counter.\n\n"
           "| operation | opcode | unit | latency |");
    for (int a = 0; a < ARCHITECTURES; a++)
        printf(" sm_%u |", architectures[a]);
    printf("\n|---|---|---|---|");
    for (int a = 0; a < ARCHITECTURES; a++)
        printf("--:|");
    printf("\n");
    for (unsigned op = SASS_OP_NONE + 1; op < SASS_OPS; op++)
        print_operation(op);
    return 0;
}
