/* The `tyto` command: finds the subcommand and runs it. */
#include "cli/command.h"
#include "cli/toolchain/toolkit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Command *const commands[] = {
    &command_run,       &command_compare, &command_sweep,      &command_league,
    &command_reproduce, &command_report,  &command_launch,     &command_cc,
    &command_ptx,       &command_disasm,  &command_machines,   &command_schedulers,
    &command_workloads, &command_metrics, &command_explain,    &command_new,
    &command_cost,      &command_cache,   &command_completion, &command_help};
const int command_count = sizeof commands / sizeof commands[0];

const Command *command_find(const char *name) {
    for (int i = 0; i < command_count; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    }
    return NULL;
}

static int say_unknown(const char *name) {
    const char *names[sizeof commands / sizeof commands[0]];
    for (int i = 0; i < command_count; i++)
        names[i] = commands[i]->name;
    const char *nearest = tyto_nearest(name, names, command_count);
    if (nearest) say_error("there is no command '%s'; did you mean '%s'?", name, nearest);
    else say_error("there is no command '%s'; tyto help lists them", name);
    return EXIT_USAGE;
}

/* Whether --help comes before any operand. */
static bool asks_for_help(const Command *command, int count, char **words) {
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return true;
        if (command->ends_at_operand && words[i][0] != '-') return false;
    }
    return false;
}

/* Checks that the output was written: a full disk is a failure. */
static int end_output(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    say_error("cannot write to standard output");
    return status ? status : EXIT_FAILED;
}

/* If a result goes to standard output, all other output of the command, and of a program that it
 * starts, goes to standard error. */
static bool claim_output(const Arguments *arguments) {
    if (!arguments_writes_output(arguments) || tyto_claim_output()) return true;
    say_error("standard output: cannot be kept for results: %s", strerror(errno));
    return false;
}

static int run(const Command *command, int count, char **words) {
    Arguments arguments;
    int status = EXIT_USAGE;
    if (asks_for_help(command, count, words)) {
        words[0] = (char *)(uintptr_t)command->name;
        words[1] = NULL;
        command = &command_help;
        count = 1;
    }
    if (arguments_parse(command, count, words, &arguments))
        status = claim_output(&arguments) ? command->run(&arguments) : EXIT_FAILED;
    arguments_free(&arguments);
    return end_output(status);
}

int main(int argc, char **argv) {
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    ToolkitTool *tool = argc ? toolkit_find(slash ? slash + 1 : argv[0]) : NULL;
    if (tool) return tool(argc - 1, argv + 1);
    if (argc < 2) {
        run(&command_help, 0, argv);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error like a full disk */
    if (strcmp(name, "--version") == 0) {
        printf("tyto %s\n", tyto_version());
        return end_output(EXIT_DONE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    const Command *command = command_find(name);
    return command ? run(command, argc - 2, argv + 2) : say_unknown(name);
}
