/* Help: the overview, a command's page, and the manual page, all from the commands' tables. */
#include "cli/command.h"
#include "cli/workloads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 30, COLUMNS = 100 }; /* the first and last column of an option's description */

static const char overview[] =
    "Tyto simulates GPUs: it runs CUDA programs and PTX kernels without a GPU, and reports what "
    "they\n"
    "did. Results are the same in every run.\n"
    "\n"
    "  tyto run matmul              a workload that comes with Tyto\n"
    "  tyto run ./my-program 1024   your program, built for CUDA's driver API\n"
    "  tyto ptx kernel.ptx          check a PTX file and list its kernels\n"
    "  tyto launch kernel.ptx ...   try one kernel without a host program\n"
    "  tyto compare spmv            which warp scheduler is fastest, and why\n";

/* ---- Options ---- */

typedef void PrintOption(const TytoOption *option);
typedef void PrintHeading(const char *heading);

/* The blank before the operands, "" if there are none. */
static const char *gap(const Command *command) { return *command->operands ? " " : ""; }

/* " [options]" if the command has any. */
static const char *with_options(const Command *command) {
    return command->option_count || command->has_simulator ? " [options]" : "";
}

/* Calls a function for each of the command's options, then the simulator's, and prints a heading
 * before each group. */
static void walk_options(const Command *command, PrintHeading *print_heading,
                         PrintOption *print_option) {
    if (command->option_count) print_heading("Options");
    for (int i = 0; i < command->option_count; i++)
        print_option(&command->options[i]);
    const char *group = "";
    for (int i = 0; i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        if (!command_takes(command, option)) continue;
        if (strcmp(option->group, group) != 0) print_heading(option->group);
        group = option->group;
        print_option(option);
    }
}

static void print_heading(const char *heading) { printf("\n%s:\n", heading); }

/* The text between an option and its value: empty for an optional value. */
static const char *blank_before(const char *argument) {
    return argument && argument[0] == '[' ? "" : " ";
}

/* Prints words from column `at` on, and breaks long lines with an indent of INDENT columns. Returns
 * the final column. */
static int print_words(const char *words, int at) {
    while (*words) {
        int length = (int)strcspn(words, " ");
        bool is_first = at == INDENT;
        if (!is_first && at + 1 + length > COLUMNS) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
            is_first = true;
        }
        printf("%s%.*s", is_first ? "" : " ", length, words);
        at += length + !is_first;
        words += length + (words[length] == ' ');
    }
    return at;
}

static void print_option(const TytoOption *option) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", option->name, blank_before(option->argument),
             option->argument ? option->argument : "");
    if (strlen(left) > INDENT - 3) printf("  %s\n%*s", left, INDENT, "");
    else printf("  %-*s", INDENT - 2, left);
    int at = print_words(option->help, INDENT);
    if (option->initial) {
        snprintf(left, sizeof left, "[%s]", option->initial);
        print_words(left, at);
    }
    printf("\n");
}

/* ---- Pages ---- */

static void print_overview(void) {
    printf("%s\nCommands:\n", overview);
    for (int i = 0; i < command_count; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n`tyto help COMMAND` explains a command; `tyto --version` prints the version.\n");
}

static void print_command(const Command *command) {
    printf("usage: tyto %s%s%s%s\n\n%s.\n", command->name, with_options(command), gap(command),
           command->operands, command->summary);
    if (command->text[0]) printf("\n%s", command->text);
    if (command->lists_workloads) {
        print_heading("Workloads, by suite (tyto workloads describes them)");
        workloads_print_names();
    }
    walk_options(command, print_heading, print_option);
}

/* ---- The manual page ---- */

/* Prints text for troff: escapes a dot at the start of a line, and writes hyphens as minus signs.
 */
static void print_roff(const char *text) {
    bool is_line_start = true;
    for (; *text; text++) {
        if (is_line_start && (*text == '.' || *text == '\'')) printf("\\&");
        if (*text == '\\') printf("\\\\");
        else if (*text == '-') printf("\\-");
        else putchar(*text);
        is_line_start = *text == '\n';
    }
}

static void print_roff_heading(const char *heading) { printf(".PP\n%s:\n", heading); }

static void print_roff_option(const TytoOption *option) {
    printf(".TP\n\\fB");
    print_roff(option->name);
    printf("\\fR");
    if (option->argument) printf("%s\\fI%s\\fR", blank_before(option->argument), option->argument);
    printf("\n");
    print_roff(option->help);
    if (option->initial) printf(" Default: %s.", option->initial);
    printf("\n");
}

static void print_roff_command(const Command *command) {
    printf(".SS tyto %s%s%s%s\n", command->name, with_options(command), gap(command),
           command->operands);
    printf("%s.\n", command->summary);
    if (command->text[0]) {
        printf(".PP\n.nf\n");
        print_roff(command->text);
        printf(".fi\n");
    }
    walk_options(command, print_roff_heading, print_roff_option);
}

static void print_manual(void) {
    printf(".TH TYTO 1 \"\" \"Tyto %s\"\n", tyto_version());
    printf(".SH NAME\ntyto \\- run CUDA programs on a simulated GPU\n");
    printf(".SH SYNOPSIS\n");
    for (int i = 0; i < command_count; i++) {
        const Command *command = commands[i];
        printf(".B tyto %s\n", command->name);
        if (*with_options(command)) printf("[options]%s%s\n", gap(command), command->operands);
        else if (*command->operands) printf("%s\n", command->operands);
        printf(".br\n");
    }
    printf(".SH DESCRIPTION\n.nf\n");
    print_roff(overview);
    printf(".fi\n.SH COMMANDS\n");
    for (int i = 0; i < command_count; i++)
        print_roff_command(commands[i]);
    printf(
        ".SH ENVIRONMENT\n.TP\n.B TYTO_OPTIONS\n"
        "Options for every program that uses the library, quoted as for a shell. Options of the\n"
        "command line override them.\n"
        ".TP\n.B TYTO_WORKLOAD_DIR\nFolder of the workloads.\n"
        ".TP\n.B NO_COLOR\nIf set, messages have no colours.\n");
    printf(".SH EXIT STATUS\n"
           ".TP\n.B 0\nDone.\n"
           ".TP\n.B 1\nThe kernel failed, the input (PTX, data, a recording, results, a database) "
           "cannot\n"
           "be read or has errors, or a file could not be written at the end.\n"
           ".TP\n.B 2\nNothing was started: the command line is wrong, or it names a machine, a "
           "scheduler,\n"
           "a program to compare, a sweep or an experiment that does not exist or has errors,\n"
           "or a file for results that cannot be written.\n"
           ".TP\n.B 3\nThe run finished, and the checks found errors.\n"
           ".TP\n.B 126, 127\nThe program that tyto run or tyto cc starts cannot be executed; "
           "there is no such "
           "program.\n"
           ".PP\n.B tyto run\nexits with the status of its program.\n");
}

/* ---- The command ---- */

static int run_help(Arguments *arguments) {
    if (arguments_has(arguments, "--man")) {
        print_manual();
        return EXIT_DONE;
    }
    if (arguments->operand_count == 0) {
        print_overview();
        return EXIT_DONE;
    }
    const Command *command = command_find(arguments->operands[0]);
    if (command) {
        print_command(command);
        return EXIT_DONE;
    }
    say_error("there is no command '%s'; tyto help lists them", arguments->operands[0]);
    return EXIT_USAGE;
}

static const TytoOption options[] = {
    {"--man", NULL, NULL, "Print the manual page (docs/tyto.1).", NULL, 0},
};

const Command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "Explain Tyto or one command",
    .text = "",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 1,
    .run = run_help,
};
