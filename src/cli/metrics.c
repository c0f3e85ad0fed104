/* tyto metrics: the counters and ratios of a run. tyto explain: one of them. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_metrics(Arguments *arguments) {
    const char *word = arguments->operand_count ? arguments->operands[0] : NULL;
    int shown = 0;
    for (int i = 0; i < tyto_counter_count(); i++) {
        const TytoCounter *counter = tyto_counter(i);
        if (word && !strcasestr(counter->name, word) && !strcasestr(counter->meaning, word) &&
            !strcasestr(counter->unit, word))
            continue;
        printf("%-32s %-20s %s\n", counter->name, counter->unit, counter->meaning);
        shown++;
    }
    if (shown) return EXIT_DONE;
    say_error("no metric has '%s' in its name, unit or meaning", word);
    return EXIT_USAGE;
}

const Command command_metrics = {
    .name = "metrics",
    .operands = "[WORD]",
    .summary = "List the counters and ratios of a run, or those that have to do with a word",
    .text = "  tyto metrics dram\n",
    .most_operands = 1,
    .run = run_metrics,
};

static int say_unknown(const char *name) {
    int count = tyto_counter_count();
    const char **names = allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = tyto_counter(i)->name;
    const char *nearest = tyto_nearest(name, names, count);
    if (nearest) say_error("there is no metric '%s'; did you mean '%s'?", name, nearest);
    else say_error("there is no metric '%s'; tyto metrics lists them all", name);
    free((void *)names);
    return EXIT_USAGE;
}

static int run_explain(Arguments *arguments) {
    int status = EXIT_DONE;
    for (int i = 0; i < arguments->operand_count; i++) {
        int counter = tyto_find_counter(arguments->operands[i]);
        if (counter < 0) {
            status = say_unknown(arguments->operands[i]);
            continue;
        }
        const char *name = arguments->operands[i], *present = tyto_counter(counter)->name;
        char *text = tyto_counter_text(counter);
        if (i) putchar('\n');
        if (strcmp(name, present) != 0) printf("%s is the former name of %s\n", name, present);
        fputs(text, stdout);
        free(text);
    }
    return status;
}

const Command command_explain = {
    .name = "explain",
    .operands = "METRIC...",
    .summary = "Say what a counter or ratio counts, and how it comes about",
    .text = "  tyto explain l1d_miss_rate\n",
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_explain,
};
