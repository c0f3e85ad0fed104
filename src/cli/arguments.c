/* Parses command lines by two tables of options: the command's own and the simulator's. */
#include "cli/command.h"

#include "cli/program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NAMES_MAX = 128, /* most options of one command, for suggestions */
    MOST_JOBS = 4096
};

void *allocate(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (block) return block;
    say_error("out of memory");
    exit(EXIT_FAILED);
}

/* Replaces control characters, because a quoted name must not control the terminal. */
static void show_controls(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        const bool is_wide = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0; /* U+0080 to U+009F */
        if ((*at < ' ' && !strchr("\n\t", *at)) || *at == 0x7f || is_wide) *at = '?';
        if (is_wide) *++at = '?';
    }
}

void put_text(const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    if (!text) return;
    show_controls(text);
    fputs(text, stdout);
    free(text);
}

void say_error(const char *format, ...) {
    bool is_coloured = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    char *message;
    va_list args;
    va_start(args, format);
    if (vasprintf(&message, format, args) < 0) message = NULL;
    va_end(args);
    if (message) show_controls(message);
    fprintf(stderr, "tyto: %serror:%s %s\n", is_coloured ? "\x1b[1;31m" : "",
            is_coloured ? "\x1b[0m" : "", message ? message : format);
    free(message);
}

int pad_text(const char *text, int columns) {
    return columns + (int)strlen(text) - tyto_columns(text);
}

/* ---- Looking options up ---- */

const TytoOption *option_find(const char *name) {
    int i = 0;
    while (i < tyto_option_count() && strcmp(tyto_option(i)->name, name) != 0)
        i++;
    return i < tyto_option_count() ? tyto_option(i) : NULL;
}

static bool is_named(const TytoOption *option, const char *word, size_t length) {
    return strlen(option->name) == length && memcmp(option->name, word, length) == 0;
}

static const TytoOption *find(const Command *command, const char *word, size_t length,
                              bool *is_simulators) {
    *is_simulators = false;
    for (int i = 0; i < command->option_count; i++) {
        if (is_named(&command->options[i], word, length)) return &command->options[i];
    }
    *is_simulators = true;
    for (int i = 0; command->has_simulator && i < tyto_option_count(); i++) {
        if (is_named(tyto_option(i), word, length)) return tyto_option(i);
    }
    return NULL;
}

bool command_takes(const Command *command, const TytoOption *option) {
    if (!command->has_simulator) return false;
    if (command->makes_runs && option->traits & TYTO_OPTION_ONE_RUN) return false;
    for (int i = 0; i < command->option_count; i++) {
        if (strcmp(command->options[i].name, option->name) == 0) return false;
    }
    return true;
}

static bool is_known(const Command *command, const char *word) {
    bool is_simulators;
    return find(command, word, strcspn(word, "="), &is_simulators) != NULL;
}

/* Whether two words differ by at most one letter. */
static bool is_near(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    if (!*a || !*b) return strlen(a) + strlen(b) <= 1;
    return strcmp(a + 1, b) == 0 || strcmp(a, b + 1) == 0 || strcmp(a + 1, b + 1) == 0 ||
           (a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0);
}

/* Index of the first word from words[1] on that names a program the command can start; 0: none. */
static int find_program(const Command *command, int count, char **words) {
    for (int i = 1; command->ends_at_operand && !command->makes_runs && i < count; i++) {
        char *why = *words[i] == '-' ? NULL : program_find_problem(words[i]);
        const bool is_program = *words[i] != '-' && !why;
        free(why);
        if (is_program) return i;
    }
    return 0;
}

/* Reports that words[0] is not an option of the command. After the name of a program it may be an
 * option of the program. */
static void say_unknown(const Command *command, int word_count, char **words) {
    const char *word = words[0];
    const char *names[NAMES_MAX];
    int count = 0;
    for (int i = 0; i < command->option_count; i++)
        names[count++] = command->options[i].name;
    for (int i = 0; i < tyto_option_count() && count < NAMES_MAX; i++) {
        if (command_takes(command, tyto_option(i))) names[count++] = tyto_option(i)->name;
    }
    const char *nearest = tyto_nearest(word, names, count);
    const int program = find_program(command, word_count, words);
    if (program && (!nearest || !is_near(word, nearest))) {
        say_error("tyto %s has no option %s; a program's options follow its name: tyto %s %s "
                  "%s%s%s",
                  command->name, word, command->name, words[program], word, program == 2 ? " " : "",
                  program == 2 ? words[1] : "");
        return;
    }
    const char *own = command->ends_at_operand ? " (a program's options follow its name)" : "";
    if (nearest)
        say_error("tyto %s has no option %s%s; did you mean '%s'?", command->name, word, own,
                  nearest);
    else
        say_error("tyto %s has no option %s%s; tyto help %s lists them all", command->name, word,
                  own, command->name);
}

const char *arguments_value(const Arguments *arguments, const char *name) {
    const char *value = NULL;
    for (int i = 0; i < arguments->option_count; i++) {
        if (strcmp(arguments->options[i].option->name, name) == 0)
            value = arguments->options[i].value;
    }
    return value;
}

bool arguments_has(const Arguments *arguments, const char *name) {
    for (int i = 0; i < arguments->option_count; i++) {
        if (strcmp(arguments->options[i].option->name, name) == 0) return true;
    }
    return false;
}

bool arguments_gave(const Arguments *arguments, const char *name) {
    for (int i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given[i]->name, name) == 0) return true;
    }
    return false;
}

/* The number of runs that fill the host if each has the number of threads that the user asked for.
 */
static long jobs_of_host(const Arguments *arguments) {
    const char *threads = arguments_value(arguments, "--threads");
    long count = sysconf(_SC_NPROCESSORS_ONLN), each = threads ? strtol(threads, NULL, 10) : 1;
    return each < 1 ? 1 : count / each; /* 0: every run uses all threads */
}

bool arguments_jobs(const Arguments *arguments, int *jobs) {
    const char *text = arguments_value(arguments, "--jobs");
    long count = text ? 0 : jobs_of_host(arguments);
    if (text) {
        char *end;
        count = strtol(text, &end, 10);
        if (end == text || *end || count < 1 || count > MOST_JOBS) {
            say_error("--jobs %s: not a number of processes, 1 to %d", text, MOST_JOBS);
            return false;
        }
    }
    *jobs = count < 1 ? 1 : (int)count;
    return true;
}

bool arguments_check_runs(const Arguments *arguments, const char *command) {
    for (int i = 0; i < arguments->given_count; i++) {
        const TytoOption *option = arguments->given[i];
        if (!(option->traits & TYTO_OPTION_ONE_RUN)) continue;
        say_error("%s is not an option of tyto %s; use it with tyto run", option->name, command);
        return false;
    }
    return true;
}

bool arguments_check_environment(const char *command) {
    if (!getenv("TYTO_OPTIONS")) return true;
    say_error(
        "TYTO_OPTIONS is set. Only tyto run and programs started without the command use it: the "
        "runs of tyto %s depend on its command line alone. Unset TYTO_OPTIONS",
        command);
    return false;
}

/* ---- Files that are written ---- */

/* The files of options; for a repeated option, the file of its last occurrence. */
typedef struct Outputs {
    GivenOption *items;
    int count;
} Outputs;

static void add_output(Outputs *outputs, const TytoOption *option, const char *path) {
    int i = 0;
    if (!(option->traits & TYTO_OPTION_FILE)) return;
    while (i < outputs->count && outputs->items[i].option != option)
        i++;
    outputs->items[i] = (GivenOption){option, path};
    if (i == outputs->count) outputs->count++;
}

/* The files of the command's options and of the simulator's. */
static Outputs list_outputs(const Arguments *arguments) {
    size_t most = (size_t)(arguments->option_count + arguments->given_count);
    Outputs outputs = {.items = allocate(most, sizeof *outputs.items)};
    for (int i = 0; i < arguments->option_count; i++)
        add_output(&outputs, arguments->options[i].option, arguments->options[i].value);
    const char *const *word = arguments->simulator;
    for (int i = 0; i < arguments->given_count; i++) {
        const TytoOption *option = arguments->given[i];
        add_output(&outputs, option, word[1]);
        word += option->argument ? 2 : 1;
    }
    return outputs;
}

bool arguments_writes_output(const Arguments *arguments) {
    Outputs outputs = list_outputs(arguments);
    bool is_written = false;
    for (int i = 0; i < outputs.count; i++)
        is_written |= strcmp(outputs.items[i].value, "-") == 0;
    free(outputs.items);
    return is_written;
}

const char *arguments_find_writer(const Arguments *arguments, const char *path,
                                  const char **place) {
    Outputs outputs = list_outputs(arguments);
    const char *writer = NULL;
    for (int i = 0; i < outputs.count && !writer; i++) {
        *place = tyto_common_output(outputs.items[i].value, path);
        if (*place) writer = outputs.items[i].option->name;
    }
    free(outputs.items);
    return writer;
}

/* Whether all results go to different files. */
static bool check_outputs(const Arguments *arguments) {
    Outputs outputs = list_outputs(arguments);
    const char *common = NULL;
    for (int i = 0; i < outputs.count; i++) {
        const GivenOption *given = &outputs.items[i];
        for (int before = 0; before < i && !common; before++) {
            common = tyto_common_output(outputs.items[before].value, given->value);
            if (common)
                say_error("%s: both %s and %s write this file", common,
                          outputs.items[before].option->name, given->option->name);
        }
    }
    free(outputs.items);
    return !common;
}

/* Whether a value names a file, as that of a machine or a scheduler may. Built-in names, sizes and
 * numbers contain neither '/' nor '.'. */
static bool names_file(const char *value) { return strpbrk(value, "/.") != NULL; }

/* The files that a command line reads: its operands, the FILE of an option that does not write one
 * (the default database too), and the files that the simulator's options name. The caller frees the
 * list. */
static Words list_inputs(const Command *command, const Arguments *arguments) {
    int most = arguments->operand_count + command->option_count + arguments->given_count;
    Words inputs = {.list = allocate((size_t)most, sizeof *inputs.list)};
    for (int i = 0; i < arguments->operand_count; i++)
        if (access(arguments->operands[i], F_OK) == 0) /* otherwise a workload or a size */
            inputs.list[inputs.count++] = arguments->operands[i];
    for (int i = 0; i < command->option_count; i++) {
        const TytoOption *option = &command->options[i];
        const char *given = arguments_value(arguments, option->name);
        if (!option->argument || strcmp(option->argument, "FILE") != 0) continue;
        if (option->traits & TYTO_OPTION_FILE) continue;
        if (given || option->initial) inputs.list[inputs.count++] = given ? given : option->initial;
    }
    const char *const *word = arguments->simulator;
    for (int i = 0; i < arguments->given_count; i++) {
        const TytoOption *option = arguments->given[i];
        if (option->argument && !(option->traits & TYTO_OPTION_FILE) && names_file(word[1]))
            inputs.list[inputs.count++] = word[1];
        word += option->argument ? 2 : 1;
    }
    return inputs;
}

/* Whether no output would overwrite a file that the command reads. */
static bool check_inputs(const Command *command, const Arguments *arguments) {
    Outputs outputs = list_outputs(arguments);
    Words inputs = list_inputs(command, arguments);
    const char *common = NULL;
    for (int i = 0; i < outputs.count && !common; i++) {
        for (int input = 0; input < inputs.count && !common; input++)
            common = tyto_common_output(outputs.items[i].value, inputs.list[input]);
        if (common)
            say_error("%s: tyto %s reads this file, and %s would overwrite it", common,
                      command->name, outputs.items[i].option->name);
    }
    free((void *)inputs.list);
    free(outputs.items);
    return !common;
}

/* ---- Parsing words ---- */

/* Parses the option at words[0] and its value. Returns the number of words used, 0 after a message.
 */
static int take_option(const Command *command, int count, char **words, Arguments *out) {
    const char *equals = strchr(words[0], '=');
    size_t length = equals ? (size_t)(equals - words[0]) : strlen(words[0]);
    bool is_simulators;
    const TytoOption *option = find(command, words[0], length, &is_simulators);
    if (!option) {
        say_unknown(command, count, words);
        return 0;
    }
    bool needs_value = option->argument && option->argument[0] != '[';
    int taken = needs_value && !equals ? 2 : 1;
    if (taken > count) {
        say_error("%s needs a value: %s", option->name, option->argument);
        return 0;
    }
    if (equals && !option->argument) {
        say_error("%s takes no value", option->name);
        return 0;
    }
    const char *value = equals ? equals + 1 : needs_value ? words[1] : NULL;
    if (is_simulators) {
        out->given[out->given_count++] = option;
        out->simulator[out->simulator_count++] = option->name;
        if (option->argument) out->simulator[out->simulator_count++] = value;
    } else {
        out->options[out->option_count++] = (GivenOption){option, value};
    }
    return taken;
}

static bool check_simulator(const Arguments *arguments) {
    char message[1024];
    if (tyto_check_options(arguments->simulator_count, arguments->simulator, message,
                           sizeof message) == TYTO_OK)
        return true;
    fprintf(stderr, "tyto: %s\n", message);
    return false;
}

/* Checks the command's own files; the simulator checks those of its own options. */
static bool check_files(const Arguments *arguments) {
    for (int i = 0; i < arguments->option_count; i++) {
        const GivenOption *given = &arguments->options[i];
        if (!(given->option->traits & TYTO_OPTION_FILE)) continue;
        if (!*given->value) {
            say_error("%s '': cannot be empty", given->option->name);
            return false;
        }
        if (tyto_can_write(given->value)) continue;
        say_error("%s %s: cannot be written: %s", given->option->name, given->value,
                  strerror(errno));
        return false;
    }
    return true;
}

static bool check_operands(const Command *command, const Arguments *arguments) {
    if (arguments->operand_count < command->lowest_operands) {
        say_error("tyto %s needs %s; tyto help %s shows the usage", command->name,
                  command->operands, command->name);
        return false;
    }
    if (command->most_operands >= 0 && arguments->operand_count > command->most_operands) {
        say_error("unexpected argument '%s'; tyto help %s shows the usage",
                  arguments->operands[command->most_operands], command->name);
        return false;
    }
    return true;
}

/* Notes the first word after a program's name that looks like an option of Tyto: it goes to the
 * program. */
static void note_options(const Command *command, int count, char **words) {
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (strncmp(words[i], "--", 2) != 0 || !is_known(command, words[i])) continue;
        fprintf(
            stderr,
            "tyto: note: %s comes after the program's name, so it belongs to the program; options "
            "of tyto %s come before the name\n",
            words[i], command->name);
        return;
    }
}

bool arguments_parse(const Command *command, int count, char **words, Arguments *out) {
    *out = (Arguments){.options = allocate((size_t)count, sizeof(GivenOption)),
                       .simulator = allocate(2 * (size_t)count, sizeof(char *)),
                       .given = allocate((size_t)count, sizeof(TytoOption *)),
                       .operands = allocate((size_t)count + 1, sizeof(char *))};
    out->command.list = allocate((size_t)count + 2, sizeof(char *));
    out->command.list[out->command.count++] = "tyto";
    out->command.list[out->command.count++] = command->name;
    for (int i = 0; i < count; i++)
        out->command.list[out->command.count++] = words[i];
    bool is_open = true;    /* options may still come */
    bool is_shared = false; /* later options are Tyto's or the workload's, whose names differ */
    for (int i = 0; i < count;) {
        bool is_option = is_open && words[i][0] == '-' && words[i][1] != '\0';
        if (is_shared && is_option && strcmp(words[i], "--") != 0)
            is_option = is_known(command, words[i]);
        if (is_option && command->takes_unknown && !is_known(command, words[i]))
            is_open = is_option = false;
        if (is_option && strcmp(words[i], "--") == 0) {
            is_open = false;
            i++;
        } else if (is_option) {
            int taken = take_option(command, count - i, words + i, out);
            if (!taken) return false;
            i += taken;
        } else {
            out->operands[out->operand_count++] = words[i++];
            if (command->ends_at_operand && out->operand_count == 1) {
                is_open = is_shared = command->shares_options(out->operands[0]);
                if (!is_open) note_options(command, count - i, words + i);
            }
        }
    }
    return check_simulator(out) && check_files(out) && check_outputs(out) &&
           check_operands(command, out) && check_inputs(command, out);
}

void arguments_free(Arguments *arguments) {
    free(arguments->options);
    free(arguments->simulator);
    free(arguments->given);
    free(arguments->operands);
    free(arguments->snapshot);
    free((void *)arguments->command.list);
}
