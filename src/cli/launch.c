/* tyto launch: runs one kernel of a PTX file, with arguments from the command line. */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/argument.h"
#include "cli/files.h"
#include "cli/live.h"

typedef struct Session {
    const Arguments *arguments;
    TytoSimulator *simulator;
    TytoModule *module;
    const char *path; /* name of the PTX file */
    TytoLaunch launch;
    Argument *list; /* of the kernel's arguments */
    int count;
} Session;

/* For Ctrl-C: the simulator whose launch it ends, and whether the user has pressed it. */
static TytoSimulator *volatile running;
static volatile sig_atomic_t is_interrupted;

/* Ctrl-C ends the launch early. A second Ctrl-C, or SIGTERM, kills the process at once. It then
 * reports whether a policy's function was running, since such a function may never return. */
static void on_interrupt(int number) {
    static const char before[] = "tyto: error: ", after[] = " was under way\n";
    char call[600];
    if (running && number == SIGINT && !is_interrupted) {
        is_interrupted = 1;
        tyto_interrupt(running);
        return;
    }
    if (running && tyto_policy_call(running, call, sizeof call)) {
        const struct iovec parts[] = {{(void *)(uintptr_t)before, sizeof before - 1},
                                      {call, strlen(call)},
                                      {(void *)(uintptr_t)after, sizeof after - 1}};
        if (writev(STDERR_FILENO, parts, 3) < 0) _exit(EXIT_FAILED);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* ---- Reading the command line ---- */

/* "16", "16,4" or "16,4,2" into three sizes of at least 1. */
static bool read_shape(const char *name, const char *text, uint32_t shape[3]) {
    shape[0] = shape[1] = shape[2] = 1;
    const char *rest = text;
    for (int axis = 0; rest && axis < 3; axis++) {
        char *end;
        errno = 0;
        unsigned long value = strtoul(rest, &end, 10);
        if (end == rest || *rest == '-' || (*end && *end != ',') || errno || !value ||
            value > UINT32_MAX)
            break;
        shape[axis] = (uint32_t)value;
        if (!*end) return true;
        rest = end + 1;
    }
    say_error("%s %s: write x, x,y or x,y,z with whole numbers above 0", name, text);
    return false;
}

static bool read_shared(const char *text, uint32_t *bytes) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *bytes = (uint32_t)value;
    if (end != text && *text != '-' && !*end && !errno && value <= UINT32_MAX) return true;
    say_error("--shared %s: not a whole number of bytes", text);
    return false;
}

static bool read_launch(Session *session) {
    const Arguments *arguments = session->arguments;
    const char *grid = arguments_value(arguments, "--grid");
    const char *block = arguments_value(arguments, "--block");
    const char *shared = arguments_value(arguments, "--shared");
    session->launch.is_cooperative = arguments_has(arguments, "--cooperative");
    return read_shape("--grid", grid ? grid : "1", session->launch.grid) &&
           read_shape("--block", block ? block : "1", session->launch.block) &&
           read_shared(shared ? shared : "0", &session->launch.shared_bytes);
}

/* The kernel that was named, or the file's only kernel. */
static bool choose_kernel(Session *session) {
    const char *name = arguments_value(session->arguments, "--kernel");
    if (name) {
        session->launch.kernel = find_kernel(session->module, session->path, name);
        return session->launch.kernel >= 0;
    }
    int count = tyto_kernel_count(session->module);
    if (count == 1) return true;
    say_error("%s has %d kernels%s", session->path, count,
              count ? "; choose one with --kernel (tyto ptx lists them)" : "");
    return false;
}

/* Reads the kernel's arguments. Returns EXIT_DONE, or the exit status. */
static int read_arguments(Session *session) {
    const Arguments *arguments = session->arguments;
    session->list = allocate((size_t)arguments->option_count, sizeof *session->list);
    for (int i = 0; i < arguments->option_count; i++) {
        if (strcmp(arguments->options[i].option->name, "--arg") != 0) continue;
        Argument *argument = &session->list[session->count++];
        int status = argument_read(argument, session->simulator, arguments->options[i].value);
        if (status != EXIT_DONE) return status;
    }
    return EXIT_DONE;
}

/* ---- Checking the files of the arguments ---- */

/* Whether the argument's output file can be written and receives no other result. */
static bool check_output(const Session *session, const Argument *argument) {
    const char *place,
        *writer = arguments_find_writer(session->arguments, argument->output, &place);
    if (writer)
        say_error("%s: both %s and --arg %s write this file", place, writer, argument->word);
    for (const Argument *before = session->list; before < argument && !writer; before++) {
        if (!before->output) continue;
        writer = place = tyto_common_output(before->output, argument->output);
        if (writer)
            say_error("%s: both --arg %s and --arg %s write this file", place, before->word,
                      argument->word);
    }
    if (writer || tyto_can_write(argument->output)) return !writer;
    say_error("--arg %s: cannot be written: %s", argument->word, strerror(errno));
    return false;
}

/* Checks the output files. Returns EXIT_DONE, or the exit status. If an argument is written to
 * standard output, nothing else goes there. */
static int check_outputs(const Session *session) {
    bool is_claimed = true;
    for (int i = 0; i < session->count; i++) {
        const Argument *argument = &session->list[i];
        if (!argument->output) continue;
        if (!check_output(session, argument)) return EXIT_USAGE;
        if (strcmp(argument->output, "-") == 0) is_claimed = tyto_claim_output();
    }
    if (is_claimed) return EXIT_DONE;
    say_error("standard output: cannot be kept for results: %s", strerror(errno));
    return EXIT_FAILED;
}

/* ---- Checking the arguments against the kernel ---- */

static void say_parameters(const TytoKernel *kernel) {
    for (int i = 0; i < kernel->parameter_count; i++) {
        const TytoParameter *parameter = &kernel->parameters[i];
        fprintf(stderr, "  %d: %s %s, %llu bytes\n", i + 1, parameter->type, parameter->name,
                (unsigned long long)parameter->size_bytes);
    }
}

static bool check_arguments(const Session *session) {
    const TytoKernel *kernel = tyto_kernel(session->module, session->launch.kernel);
    if (kernel->refusal) return true; /* the launch reports why; its parameters may be unknown */
    if (session->count != kernel->parameter_count) {
        say_error("kernel %s takes %d argument%s, %d %s given%s", kernel->name,
                  kernel->parameter_count, kernel->parameter_count == 1 ? "" : "s", session->count,
                  session->count == 1 ? "is" : "are", kernel->parameter_count ? ":" : "");
        say_parameters(kernel);
        return false;
    }
    for (int i = 0; i < session->count; i++) {
        const TytoParameter *parameter = &kernel->parameters[i];
        if (session->list[i].size_bytes == parameter->size_bytes) continue;
        say_error("--arg %s has %llu bytes; kernel %s takes as argument %d a %s of %llu bytes (%s)",
                  session->list[i].word, (unsigned long long)session->list[i].size_bytes,
                  kernel->name, i + 1, parameter->type, (unsigned long long)parameter->size_bytes,
                  parameter->name);
        return false;
    }
    return true;
}

/* ---- Running ---- */

static TytoStatus launch(Session *session) {
    const void **values = allocate((size_t)session->count, sizeof *values);
    for (int i = 0; i < session->count; i++)
        values[i] = &session->list[i].bits;
    session->launch.module = session->module;
    session->launch.arguments = values;
    session->launch.argument_count = session->count;
    running = session->simulator;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    tyto_name_crashes(session->simulator);
    TytoStatus status = tyto_launch(session->simulator, &session->launch);
    running = NULL;
    const char *message = tyto_message(session->simulator);
    if (status != TYTO_OK && status != TYTO_STOPPED) say_error("%s", message);
    if (status == TYTO_STOPPED && !arguments_gave(session->arguments, "--quiet"))
        fprintf(stderr, "tyto: %s\n", message);
    free(values);
    return status;
}

/* Writes the results and returns the exit status. A kernel that was stopped (--stop-after) has no
 * output yet. */
static int write_results(Session *session, TytoStatus launched) {
    bool is_written = true, is_done = launched == TYTO_OK || launched == TYTO_STOPPED;
    for (int i = 0; launched == TYTO_OK && i < session->count; i++)
        is_written &= argument_write_output(&session->list[i], session->simulator);
    TytoStatus status = tyto_finish(session->simulator, session->path);
    if (status != TYTO_OK) fprintf(stderr, "tyto: %s\n", tyto_message(session->simulator));
    if (status == TYTO_CHECKS_FAILED && is_done && is_written) return EXIT_FOUND;
    return status == TYTO_OK && is_done && is_written ? EXIT_DONE : EXIT_FAILED;
}

/* Passes the options after the file's name to the simulator, so that the results contain the
 * command that repeats the run. */
static void name_command(const Session *session) {
    const Arguments *arguments = session->arguments;
    const char **words = allocate(2 * (size_t)arguments->option_count, sizeof *words);
    int count = 0;
    for (int i = 0; i < arguments->option_count; i++) {
        words[count++] = arguments->options[i].option->name;
        if (arguments->options[i].value) words[count++] = arguments->options[i].value;
    }
    tyto_name_command(session->simulator, "tyto launch", count, words);
    free(words);
}

static int run_session(Session *session) {
    size_t length;
    char *text = file_read(session->path, FILE_TEXT_MAX, &length);
    if (!text) return EXIT_FAILED;
    TytoStatus loaded =
        tyto_load(session->simulator, session->path, text, length, &session->module);
    free(text);
    if (loaded != TYTO_OK) {
        fprintf(stderr, "%s\n", tyto_message(session->simulator));
        return EXIT_FAILED;
    }
    if (!choose_kernel(session)) return EXIT_USAGE;
    int status = read_arguments(session);
    if (status == EXIT_DONE) status = check_outputs(session);
    if (status != EXIT_DONE) return status;
    if (!check_arguments(session)) return EXIT_USAGE;
    name_command(session);
    return write_results(session, launch(session));
}

static int run_launch(Arguments *arguments) {
    Session session = {.arguments = arguments, .path = arguments->operands[0]};
    char message[1024];
    if (!arguments_check_environment("launch") || !read_launch(&session)) return EXIT_USAGE;
    int status = live_start(arguments);
    if (status != EXIT_DONE) return status;
    session.simulator =
        tyto_new(arguments->simulator_count, arguments->simulator, message, sizeof message);
    if (!session.simulator) {
        fprintf(stderr, "tyto: %s\n", message);
        return EXIT_FAILED;
    }
    status = run_session(&session);
    for (int i = 0; i < session.count; i++)
        argument_free(&session.list[i]);
    free(session.list);
    tyto_free(session.simulator);
    return status;
}

static const TytoOption options[] = {
    {"--kernel", "NAME", NULL,
     "The kernel, by its name in the PTX or in the source; not needed if the file has only one.",
     NULL, 0},
    {"--grid", "X[,Y[,Z]]", "1", "Thread blocks.", NULL, 0},
    {"--block", "X[,Y[,Z]]", "1", "Threads of a thread block.", NULL, 0},
    {"--shared", "BYTES", "0", "Dynamic shared memory of a thread block.", NULL, 0},
    {"--arg", "FORM", NULL, "The next argument of the kernel, in one of the forms above.", NULL, 0},
    {"--cooperative", NULL, NULL, "All thread blocks must be resident at once.", NULL, 0},
    LIVE_OPTION,
};

const Command command_launch = {
    .name = "launch",
    .operands = "FILE.ptx",
    .summary = "Run one kernel of a PTX file, without a host program",
    .text = "Arguments are given in order, each as one --arg:\n"
            "\n"
            "  u32:7  s32:-1  u64:7  s64:-7     whole numbers (also 0x10)\n"
            "  f32:1.5  f64:2                   floating-point numbers (also nan, inf)\n"
            "  zero:BYTES                       a buffer of zeros\n"
            "  in:FILE                          a buffer with the file's bytes\n"
            "  out:FILE:BYTES                   a buffer of zeros, written to FILE afterwards\n"
            "  inout:FILE:OUTFILE               a buffer with a file's bytes, written to another\n"
            "\n"
            "  tyto launch saxpy.ptx --grid 4 --block 256 --arg u32:1024 --arg f32:2 \\\n"
            "       --arg in:x.bin --arg inout:y.bin:result.bin\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .lowest_operands = 1,
    .most_operands = 1,
    .run = run_launch,
};
