/* tyto ptx: checks PTX files, lists their kernels, draws their control flow. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"

static void print_kernel(const TytoKernel *kernel) {
    put_text("  %-32s %9u %8u %8u %6d (%u B) %12u %6d\n", kernel->name, kernel->registers,
             kernel->shared_bytes, kernel->local_bytes, kernel->parameter_count,
             kernel->parameter_bytes, kernel->instructions, kernel->line);
    if (strcmp(kernel->source_name, kernel->name) != 0) put_text("    %s\n", kernel->source_name);
    if (kernel->refusal) put_text("    cannot run: %s\n", kernel->refusal);
}

static void print_table(const TytoModule *module, const char *path, int only) {
    int count = tyto_kernel_count(module);
    put_text("%s: %d kernel%s\n", path, count, count == 1 ? "" : "s");
    if (count)
        put_text("  %-32s %9s %8s %8s %10s %12s %6s\n", "kernel", "registers", "shared", "local",
                 "parameters", "instructions", "line");
    for (int i = 0; i < count; i++) {
        if (only < 0 || only == i) print_kernel(tyto_kernel(module, i));
    }
}

int find_kernel(const TytoModule *module, const char *path, const char *name) {
    int kernel = tyto_find_kernel(module, name);
    if (kernel >= 0) return kernel;
    int count = tyto_kernel_count(module);
    const char **names = allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = tyto_kernel(module, i)->name;
    const char *nearest = tyto_nearest(name, names, count);
    if (nearest) say_error("%s has no kernel %s; did you mean '%s'?", path, name, nearest);
    else say_error("%s has no kernel %s; tyto ptx %s lists them", path, name, path);
    free(names);
    return -1;
}

/* Prints one loaded file in the form that the options select; false after a message. */
static bool show(const Arguments *arguments, const TytoModule *module, const char *path) {
    const char *name = arguments_value(arguments, "--kernel");
    int only = name ? find_kernel(module, path, name) : -1;
    if (name && only < 0) return false;
    char *text = NULL;
    if (arguments_has(arguments, "--dot")) text = tyto_control_flow(module, only);
    else if (arguments_has(arguments, "--json")) text = tyto_module_json(module, path);
    else print_table(module, path, only);
    if (text) puts(text);
    free(text);
    return true;
}

static bool check(const Arguments *arguments, TytoSimulator *simulator, const char *path) {
    size_t length;
    char *text = file_read(path, FILE_TEXT_MAX, &length);
    if (!text) return false;
    TytoModule *module;
    bool is_right = tyto_load(simulator, path, text, length, &module) == TYTO_OK;
    if (is_right) is_right = show(arguments, module, path);
    else fprintf(stderr, "%s\n", tyto_message(simulator));
    tyto_unload(module);
    free(text);
    return is_right;
}

static int run_ptx(Arguments *arguments) {
    static const char *const words[] = {"--functional", "--code", "ptx"}; /* nothing runs */
    char message[1024];
    TytoSimulator *simulator = tyto_new(3, words, message, sizeof message);
    if (!simulator) {
        fprintf(stderr, "tyto: %s\n", message);
        return EXIT_FAILED;
    }
    int status = EXIT_DONE;
    for (int i = 0; i < arguments->operand_count; i++) {
        if (!check(arguments, simulator, arguments->operands[i])) status = EXIT_FAILED;
    }
    tyto_free(simulator);
    return status;
}

static const TytoOption options[] = {
    {"--kernel", "NAME", NULL, "Show this kernel only.", NULL, 0},
    {"--dot", NULL, NULL, "Print the control flow as Graphviz DOT.", NULL, 0},
    {"--json", NULL, NULL, "Print the list as JSON.", NULL, 0},
};

const Command command_ptx = {
    .name = "ptx",
    .operands = "FILE...",
    .summary = "Check PTX files and list their kernels",
    .text = "Mistakes and unsupported instructions are reported as file:line:column.\n"
            "Registers are 32-bit registers per thread; shared and local memory are in bytes.\n"
            "FILE - is standard input.\n"
            "\n"
            "  tyto ptx kernel.ptx\n"
            "  tyto ptx --dot --kernel spmv kernel.ptx | dot -Tsvg > spmv.svg\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_ptx,
};
