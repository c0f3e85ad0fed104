/* tyto run: starts a workload or a program on Tyto.
 *
 * TYTO_OPTIONS passes the options to the program. The library in the program writes the results at
 * its end; this process waits, and writes the results that the program could not write
 * (supervise.h). */
#include "cli/command.h"
#include "cli/live.h"
#include "cli/program.h"
#include "cli/supervise.h"

static int run_run(Arguments *arguments) {
    if (!program_export_library()) return EXIT_FAILED;
    int status = live_start(arguments);
    if (status != EXIT_DONE) return status;
    program_export_options(arguments->simulator_count, arguments->simulator);
    return supervise_run(arguments->operands);
}

static const TytoOption options[] = {LIVE_OPTION};

const Command command_run = {
    .name = "run",
    .operands = "WORKLOAD|PROGRAM [arguments]",
    .summary = "Run a workload or any CUDA program",
    .text =
        "A WORKLOAD is one that comes with Tyto; `tyto run matmul --help` shows its arguments.\n"
        "Options of Tyto may be among them. A PROGRAM is found as the shell finds it, and all\n"
        "words after its name belong to the program.\n"
        "\n"
        "The program loads Tyto's libcudart and libcuda instead of the vendor's, so it need not "
        "be\n"
        "rebuilt. This includes programs with the static runtime, unless they are stripped. A\n"
        "program that is started without this command reads the same options from the environment\n"
        "variable TYTO_OPTIONS.\n"
        "\n"
        "  tyto run --machine owl --scheduler ccws matmul --size 128\n"
        "  tyto run --check race,init --json out.json ./my-program input.txt\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .lists_workloads = true,
    .ends_at_operand = true,
    .shares_options = program_is_workload,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_run,
};
