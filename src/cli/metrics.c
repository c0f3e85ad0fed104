/* tyto metrics: lists the counters and ratios of a run. tyto explain: explains one of them, or a
 * rule of advice. */
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
    .summary = "List the counters and ratios of a run, or those that mention a word",
    .text = "  tyto metrics dram\n",
    .most_operands = 1,
    .run = run_metrics,
};

/* The index of the rule of advice with this name, -1: none. */
static int find_rule(const char *name) {
    for (int i = 0; tyto_rule_name(i); i++)
        if (strcmp(tyto_rule_name(i), name) == 0) return i;
    return -1;
}

static int say_unknown(const char *name) {
    int count = tyto_counter_count(), rules = 0;
    while (tyto_rule_name(rules))
        rules++;
    const char **names = allocate((size_t)(count + rules), sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = tyto_counter(i)->name;
    for (int i = 0; i < rules; i++)
        names[count + i] = tyto_rule_name(i);
    const char *nearest = tyto_nearest(name, names, count + rules);
    if (nearest) say_error("there is no metric '%s'; did you mean '%s'?", name, nearest);
    else
        say_error(
            "there is no metric '%s'; `tyto metrics WORD` lists those that mention a word, `tyto "
            "schedulers` and `tyto machines` list these",
            name);
    free((void *)names);
    return EXIT_USAGE;
}

/* Prints the meaning of a name; false: there is no such name. */
static bool explain(const char *name) {
    const int counter = tyto_find_counter(name), rule = find_rule(name);
    if (counter < 0 && rule < 0) return false;
    if (counter >= 0 && strcmp(name, tyto_counter(counter)->name) != 0)
        printf("%s is the former name of %s\n", name, tyto_counter(counter)->name);
    char *text = counter >= 0 ? tyto_counter_text(counter) : tyto_rule_text(rule);
    fputs(text, stdout);
    free(text);
    return true;
}

static int run_explain(Arguments *arguments) {
    int status = EXIT_DONE;
    for (int i = 0; i < arguments->operand_count; i++) {
        if (i) putchar('\n');
        if (!explain(arguments->operands[i])) status = say_unknown(arguments->operands[i]);
    }
    return status;
}

const Command command_explain = {
    .name = "explain",
    .operands = "METRIC|RULE...",
    .summary = "Explain what a counter, a ratio or a rule of advice means, and how it is computed",
    .text = "  tyto explain l1d_miss_rate\n"
            "  tyto explain memory-latency\n",
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_explain,
};
