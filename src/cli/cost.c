/* tyto cost: the hardware that a warp scheduler adds to a machine. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_cost(Arguments *arguments) {
    const char *machine = TYTO_DEFAULT_MACHINE;
    const char **sets = allocate((size_t)arguments->option_count + 1, sizeof *sets);
    int set_count = 0;
    for (int i = 0; i < arguments->option_count; i++) {
        const GivenOption *given = &arguments->options[i];
        if (!strcmp(given->option->name, "--machine")) machine = given->value;
        else sets[set_count++] = given->value;
    }
    char message[4096];
    char *text =
        tyto_cost_text(arguments->operands[0], machine, set_count, sets, message, sizeof message);
    if (text) put_text("%s", text);
    else fprintf(stderr, "tyto: %s", message);
    free(text);
    free(sets);
    return text ? EXIT_DONE : EXIT_USAGE;
}

static const TytoOption options[] = {
    {"--machine", "NAME", TYTO_DEFAULT_MACHINE,
     "The machine: one of tyto machines, or a file.yaml.", NULL, 0},
    {"--set", "KEY=VALUE", NULL, "Change a value of the machine, for example gpu.sms=16.", NULL, 0},
};

const Command command_cost = {
    .name = "cost",
    .operands = "SCHEDULER[:P=V,...]",
    .summary = "Count the storage bits that a warp scheduler adds, by its paper's own formula",
    .text = "  tyto cost ccws:vta_ways=16 --machine ccws\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = 1,
    .run = run_cost,
};
