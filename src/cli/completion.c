/* tyto completion: the words that a shell offers when the user presses Tab. The shell scripts call
 * this command, which completes from its tables: commands, options, their values, workloads,
 * machines, schedulers, metrics and experiments. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "cli/reproduce.h"
#include "cli/workloads.h"

static const char bash_script[] =
    "# Completion of tyto for bash: source it, or put it into\n"
    "# ~/.local/share/bash-completion/completions/tyto. Made by `tyto completion bash`.\n"
    "_tyto() {\n"
    "    local IFS=$'\\n' found\n"
    "    found=$(\"${COMP_WORDS[0]}\" completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null)\n"
    "    COMPREPLY=($(compgen -W \"$found\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
    "}\n"
    "complete -o bashdefault -o default -F _tyto tyto\n";

static const char zsh_script[] =
    "#compdef tyto\n"
    "# Completion of tyto for zsh: a file _tyto in a folder of $fpath. Made by `tyto completion "
    "zsh`.\n"
    "local -a found\n"
    "found=(\"${(@f)$(\"${words[1]}\" completion words \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\")\n"
    "{ [[ -n \"$found\" ]] && compadd -- \"${found[@]}\"; } || _files\n";

/* ---- Lists ---- */

typedef void Lister(Words *words);

static void list_commands(Words *words) {
    for (int i = 0; i < command_count; i++)
        words_add(words, commands[i]->name);
}

static void list_machines(Words *words) {
    for (int i = 0; i < tyto_machine_count(); i++)
        words_add(words, tyto_machine_name(i));
}

static void list_rules(Words *words) {
    for (int i = 0; tyto_rule_name(i); i++)
        words_add(words, tyto_rule_name(i));
}

static void list_metrics(Words *words) {
    for (int i = 0; i < tyto_counter_count(); i++)
        words_add(words, tyto_counter(i)->name);
}

static void list_sizes(Words *words) {
    static const char *const sizes[] = {"test", "small", "paper"};
    for (int i = 0; i < 3; i++)
        words_add(words, sizes[i]);
}

/* The list of words for each placeholder in a command's operands, and for each option. */
static const struct Source {
    const char *word;
    Lister *list;
} sources[] = {
    {"WORKLOAD", workloads_list},
    {"METRIC", list_metrics},
    {"RULE", list_rules},
    {"COMMAND", list_commands},
    {"MACHINE", list_machines},
    {"SCHEDULER", names_list_schedulers},
    {"ID", reproduce_list},
    {"--machine", list_machines},
    {"--machines", list_machines},
    {"--scheduler", names_list_schedulers},
    {"--schedulers", names_list_schedulers},
    {"--cta-scheduler", names_list_cta_schedulers},
    {"--cta-schedulers", names_list_cta_schedulers},
    {"--metrics", list_metrics},
    {"--sizes", list_sizes},
};

static bool add_source(const char *word, size_t length, Words *words) {
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (strlen(sources[i].word) != length || memcmp(sources[i].word, word, length) != 0)
            continue;
        sources[i].list(words);
        return true;
    }
    return false;
}

/* Adds the alternatives of a text such as "list|all|ID|FILE.yaml", up to its first blank.
 * Lower-case alternatives are literal words, if there are several alternatives. */
static void add_alternatives(const char *text, Words *words) {
    static const char small[] = "abcdefghijklmnopqrstuvwxyz-";
    size_t end = strcspn(text, " "), length;
    bool has_several = memchr(text, '|', end) != NULL;
    for (const char *at = text; at < text + end; at += length + 1) {
        at += *at == '[';
        length = strcspn(at, "| ");
        size_t name = strcspn(at, "|,. []");
        if (!add_source(at, name, words) && has_several && strspn(at, small) == length) {
            char *word = strndup(at, length);
            if (word) words_add(words, word);
            free(word);
        }
    }
}

/* ---- The cursor's position ---- */

static void add_options(const Command *command, Words *words) {
    for (int i = 0; i < command->option_count; i++)
        words_add(words, command->options[i].name);
    for (int i = 0; i < tyto_option_count(); i++) {
        if (command_takes(command, tyto_option(i))) words_add(words, tyto_option(i)->name);
    }
}

/* The option that a word names, if the option takes a value. */
static const TytoOption *find_option(const Command *command, const char *word) {
    for (int i = 0; i < command->option_count; i++) {
        const TytoOption *option = &command->options[i];
        if (option->argument && strcmp(option->name, word) == 0) return option;
    }
    for (int i = 0; command->has_simulator && i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        if (option->argument && strcmp(option->name, word) == 0) return option;
    }
    return NULL;
}

static void add_values(const TytoOption *option, Words *words) {
    if (!add_source(option->name, strlen(option->name), words) && strchr(option->argument, '|'))
        add_alternatives(option->argument, words);
}

/* Completes the last item of a comma-separated list and keeps the items before it. */
static void print_words(const Words *words, const char *current) {
    const char *comma = strrchr(current, ',');
    int kept = comma ? (int)(comma + 1 - current) : 0;
    for (int i = 0; i < words->count; i++)
        printf("%.*s%s\n", kept, current, words->list[i]);
}

/* Prints the completions of the last word of `line`; `line` holds the words after "tyto". */
static void complete(int count, char *const *line) {
    const char *current = count ? line[count - 1] : "";
    const Command *command = count > 1 ? command_find(line[0]) : NULL;
    Words words = {0};
    if (count < 2) {
        list_commands(&words);
    } else if (command) {
        bool has_equals = strcmp(current, "=") != 0 && strcmp(line[count - 2], "=") == 0;
        const char *before = line[has_equals && count > 2 ? count - 3 : count - 2];
        const TytoOption *option = count > 2 ? find_option(command, before) : NULL;
        if (option) add_values(option, &words);
        else if (*current == '-') add_options(command, &words);
        else add_alternatives(command->operands, &words);
    }
    print_words(&words, current);
    words_free(&words);
}

static bool takes_all(const char *operand) {
    (void)operand;
    return false;
}

static int run_completion(Arguments *arguments) {
    static const char *const shells[] = {"bash", "zsh"};
    const char *what = arguments->operands[0];
    if (strcmp(what, "words") == 0) complete(arguments->operand_count - 1, arguments->operands + 1);
    else if (strcmp(what, "bash") == 0) fputs(bash_script, stdout);
    else if (strcmp(what, "zsh") == 0) fputs(zsh_script, stdout);
    else {
        const char *nearest = tyto_nearest(what, shells, 2);
        say_error("tyto completion %s: expected bash or zsh%s%s%s", what, MEANT(nearest));
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

const Command command_completion = {
    .name = "completion",
    .operands = "bash|zsh",
    .summary = "Print a script that completes tyto's command lines in a shell",
    .text = "An installation contains both scripts. Without an installation:\n"
            "\n"
            "  source <(tyto completion bash)\n"
            "  tyto completion zsh > ~/.zfunc/_tyto        where ~/.zfunc is in $fpath\n",
    .ends_at_operand = true,
    .shares_options = takes_all,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_completion,
};
