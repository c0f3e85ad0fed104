/* tyto run: starts a workload or a program on Tyto.
 *
 * The options travel in TYTO_OPTIONS. The library in the program reports at its end; this process
 * waits for that, and delivers what the program could not (supervise.h). */
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
    .summary = "Run a workload, or any CUDA program",
    .text =
        "A WORKLOAD is one of those that come with Tyto; `tyto run matmul --help` shows its\n"
        "arguments, among which options of Tyto's may stand too. A PROGRAM is found as by the\n"
        "shell, and what follows its name is the program's own.\n"
        "\n"
        "The program finds Tyto's libcudart and libcuda in the place of the vendor's, so nothing\n"
        "has to be rebuilt: with the static runtime too, unless it is stripped. Started by other\n"
        "means, it takes the same options from the environment variable TYTO_OPTIONS.\n"
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
