/* tyto machines: lists all machines, or prints one in full. tyto schedulers: lists the schedulers.
 */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>

static void list_machines(void) {
    char *text = tyto_machines_text();
    fputs(text, stdout);
    free(text);
}

static int run_machines(Arguments *arguments) {
    char message[4096];
    if (arguments->operand_count == 0) {
        list_machines();
        return EXIT_DONE;
    }
    const char **sets = allocate((size_t)arguments->option_count, sizeof *sets);
    for (int i = 0; i < arguments->option_count; i++)
        sets[i] = arguments->options[i].value;
    char *text = tyto_machine_text(arguments->operands[0], arguments->option_count, sets, message,
                                   sizeof message);
    if (text) fputs(text, stdout);
    else fprintf(stderr, "tyto: %s", message);
    free(text);
    free(sets);
    return text ? EXIT_DONE : EXIT_USAGE;
}

static const TytoOption options[] = {
    {"--set", "KEY=VALUE", NULL, "Change a value, for example gpu.sms=16. Can be repeated.", NULL,
     0},
};

const Command command_machines = {
    .name = "machines",
    .operands = "[MACHINE|FILE.yaml]",
    .summary = "List the machines, or print one with every value and its origin",
    .text =
        "What is printed is a machine file: save it, change it, and name the file in place of the\n"
        "machine.\n"
        "\n"
        "  tyto machines\n"
        "  tyto machines owl --set l1d.size=64KiB > mine.yaml\n"
        "  tyto run --machine mine.yaml spmv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 1,
    .run = run_machines,
};

static int run_schedulers(Arguments *arguments) {
    (void)arguments;
    char *text = tyto_schedulers_text();
    fputs(text, stdout);
    free(text);
    return EXIT_DONE;
}

const Command command_schedulers = {
    .name = "schedulers",
    .operands = "",
    .summary = "List the warp and thread block schedulers with their parameters",
    .text = "  tyto run --scheduler ccws:k_throttle=16 spmv\n",
    .most_operands = 0,
    .run = run_schedulers,
};
