/* tyto sweep: runs every combination of programs, machines, values of the machine, schedulers,
 * sizes and seeds. Finished runs are stored in a database; an interrupted command resumes when it
 * is repeated. */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/engine/gnuplot.h"
#include "cli/files.h"
#include "cli/program.h"
#include "cli/sweep/league_page.h"
#include "cli/sweep/output.h"
#include "cli/sweep/plan.h"

/* The work of one command line. */
typedef struct Work {
    const Arguments *arguments;
    Sweep *sweep;
    Store *store;
    const Executor *executor;
    char folder[PATH_MAX]; /* shared by a remote executor and its jobs; "": none */
    int jobs;
} Work;

/* ---- Results ---- */

typedef bool WriteForm(const Work *work, FILE *to);

static bool write_csv(const Work *work, FILE *to) {
    return sweep_write_csv(work->sweep, work->store, to);
}

static bool write_json(const Work *work, FILE *to) {
    return sweep_write_json(work->sweep, work->store, &work->arguments->command, to);
}

/* Writes a form of the results to the file of its option, if the option is given. */
static bool write_file(const Work *work, const char *option, WriteForm *form) {
    const char *path = arguments_value(work->arguments, option);
    char *text = NULL;
    size_t length;
    if (!path) return true;
    FILE *to = open_memstream(&text, &length);
    bool is_written = to && form(work, to);
    if (to) fclose(to);
    is_written = is_written && file_write(path, text, length);
    free(text);
    return is_written;
}

static bool show(const Work *work) {
    const char *plot = arguments_value(work->arguments, "--plot");
    const char *page = arguments_value(work->arguments, "--markdown");
    const Words *command = &work->arguments->command;
    bool is_shown = sweep_write_text(work->sweep, work->store, stdout);
    fflush(stdout);
    is_shown = is_shown && write_file(work, "--csv", write_csv) &&
               write_file(work, "--json", write_json) &&
               (!page || league_write_page(work->sweep, work->store, command, page)) &&
               (!plot || sweep_plot(work->sweep, work->store, plot, command));
    return is_shown && sweep_write_failures(work->sweep, work->store, stderr);
}

/* Whether all runs have results: none is missing, and none has failed. */
static bool is_whole(const Engine *engine) {
    return engine_count_state(engine, RUN_DONE) == engine_count(engine);
}

/* ---- Watching ---- */

/* The progress of the sweep, also if another process runs it. */
static bool write_state(const Work *work, FILE *to) {
    const Engine *engine = work->sweep->engine;
    double idle;
    if (!store_idle_seconds(work->store, &idle)) return false;
    int done = engine_count_state(engine, RUN_DONE),
        failed = engine_count_state(engine, RUN_FAILED);
    fprintf(to, "%d of %d runs done", done, engine_count(engine));
    if (failed) fprintf(to, ", %d failed", failed);
    int running, waiting;
    if (work->executor->count && work->executor->count(work->folder, &running, &waiting))
        fprintf(to, ", %d running, %d waiting", running, waiting);
    if (done + failed && !isnan(idle)) fprintf(to, ", the last %.0f s ago", idle);
    return true;
}

/* Shows the state repeatedly until all runs are done: on a terminal in one line, otherwise as a
 * line for each change. */
static int watch(const Work *work) {
    Engine *engine = work->sweep->engine;
    bool is_terminal = isatty(STDOUT_FILENO), is_read = true;
    int before = -1, finished;
    for (;;) {
        finished = engine_count(engine) - engine_count_state(engine, RUN_MISSING);
        if (is_terminal) printf("\r\x1b[K");
        if (is_terminal || finished != before) is_read = write_state(work, stdout);
        if (!is_terminal && finished != before) printf("\n");
        before = finished;
        if (fflush(stdout) || !is_read || finished == engine_count(engine)) break;
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        is_read = engine_refresh(engine);
    }
    if (is_terminal) printf("\n");
    return is_read && is_whole(engine) ? EXIT_DONE : EXIT_FAILED;
}

/* ---- The command ---- */

static int run_all(const Work *work) {
    EngineOrder order = {.title = "sweep",
                         .executor = work->executor,
                         .folder = work->folder,
                         .jobs = work->jobs,
                         .is_retrying = arguments_has(work->arguments, "--retry")};
    int signal = 0;
    EngineEnd end = ENGINE_DONE;
    if (!arguments_has(work->arguments, "--stored"))
        end = engine_run(work->sweep->engine, &order, &signal);
    if (end == ENGINE_INTERRUPTED) engine_end_interrupted(signal);
    if (!show(work)) return EXIT_FAILED;
    int missing = engine_count_state(work->sweep->engine, RUN_MISSING);
    if (missing)
        fprintf(stderr, "%d of %d runs are missing\n", missing, engine_count(work->sweep->engine));
    return end == ENGINE_DONE && is_whole(work->sweep->engine) ? EXIT_DONE : EXIT_FAILED;
}

/* Chooses the executor, and the folder that it shares with its jobs, by default the database's
 * folder. False after a message. */
static bool choose_engine(Work *work, const char *database) {
    static const Executor *const executors[] = {&executor_local, &executor_slurm};
    const char *wanted = arguments_value(work->arguments, "--engine");
    const char *folder = arguments_value(work->arguments, "--folder");
    const char *names[] = {executors[0]->name, executors[1]->name};
    char beside[PATH_MAX];
    for (int i = 0; i < 2 && !work->executor; i++) {
        if (!wanted || strcmp(wanted, names[i]) == 0) work->executor = executors[i];
    }
    if (!work->executor) {
        const char *nearest = tyto_nearest(wanted, names, 2);
        say_error("--engine %s: expected local or slurm%s%s%s", wanted, MEANT(nearest));
        return false;
    }
    if (!work->executor->is_remote) return true;
    if (!arguments_has(work->arguments, "--jobs")) work->jobs = 0;
    snprintf(beside, sizeof beside, "%.4000s.%s", database, work->executor->name);
    if (!folder) folder = beside;
    if ((mkdir(folder, 0700) == 0 || errno == EEXIST) && realpath(folder, work->folder))
        return true;
    say_error("cannot make the folder %s: %s", folder, strerror(errno));
    return false;
}

static int run_work(Work *work, const SweepDefaults *defaults) {
    const char *given = arguments_value(work->arguments, "--database");
    const char *database = given ? given : "tyto-runs.sqlite";
    if (!choose_engine(work, database)) return EXIT_USAGE;
    work->sweep = sweep_read(work->arguments, defaults);
    if (!work->sweep) return EXIT_USAGE;
    if (arguments_value(work->arguments, "--plot") && !sweep_can_plot(work->sweep))
        return EXIT_USAGE;
    if (arguments_value(work->arguments, "--markdown") && work->sweep->baseline < 0) {
        say_error("--markdown writes speed-ups: name their --baseline");
        return EXIT_USAGE;
    }
    if (!program_export_library()) return EXIT_FAILED;
    if (arguments_has(work->arguments, "--watch") && access(database, F_OK) != 0) {
        say_error("--watch: there is no database %s; start the sweep first, or name its database "
                  "with --database",
                  database);
        return EXIT_USAGE;
    }
    bool is_stored = arguments_has(work->arguments, "--stored");
    work->store = is_stored ? store_poll(database) : store_open(database);
    if (!work->store) return EXIT_FAILED;
    if (!sweep_plan(work->sweep, work->store)) return store_plan_status(work->store);
    return arguments_has(work->arguments, "--watch") ? watch(work) : run_all(work);
}

/* Checks that `one` is not given together with `several`. */
static bool check_alone(const Arguments *arguments, const char *one, const char *several) {
    if (!arguments_gave(arguments, one) || !arguments_has(arguments, several)) return true;
    say_error("%s and %s cannot both be given", one, several);
    return false;
}

static int run_with(Arguments *arguments, const SweepDefaults *defaults) {
    Work work = {.arguments = arguments};
    if (!check_alone(arguments, "--machine", "--machines") ||
        !check_alone(arguments, "--cta-scheduler", "--cta-schedulers") ||
        !arguments_jobs(arguments, &work.jobs) || !arguments_check_runs(arguments, "sweep") ||
        !gnuplot_check_path(arguments_value(arguments, "--plot")) ||
        !arguments_check_environment("sweep"))
        return EXIT_USAGE;
    int status = run_work(&work, defaults);
    sweep_free(work.sweep);
    store_close(work.store);
    return status;
}

static int run_sweep(Arguments *arguments) {
    static const SweepDefaults none;
    return run_with(arguments, &none);
}

static const TytoOption options[] = {
    {"--machines", "NAME,...", TYTO_DEFAULT_MACHINE,
     "The machines: names that tyto machines lists, or files.", NULL, 0},
    {"--set", "KEY=VALUE,...", NULL,
     "Values of the machine to try, for example l1d.size=16KiB,32KiB. Can be repeated.", NULL, 0},
    {"--schedulers", "NAME,...", NULL,
     "The warp schedulers. P=1..8 is one for each value, all is every scheduler that comes with "
     "Tyto. Default: the machine's own.",
     NULL, 0},
    {"--cta-schedulers", "NAME,...", NULL, "The thread block (CTA) schedulers, in the same form.",
     NULL, 0},
    {"--sizes", "SIZE,...", "small", "Input sizes: test, small, paper or a number.", NULL, 0},
    {"--seeds", "N,...", "1", "Seeds of the input; 1..8 is each of these numbers.", NULL, 0},
    {"--input", "PATH", NULL,
     "A file that the programs read although their arguments do not name it, such as an imported "
     "script. Can be repeated.",
     NULL, 0},
    {"--variable", "NAME", NULL, "An environment variable that the programs read. Can be repeated.",
     NULL, 0},
    {"--metrics", "NAME,...", "ipc",
     "The metrics to show, one table for each; tyto metrics lists them.", NULL, 0},
    {"--jobs", "N", NULL, "Runs at once; default: the number of the host's processors.", NULL, 0},
    {"--engine", "local|slurm", "local", "Where to run: on this host, or on a Slurm cluster.", NULL,
     0},
    {"--folder", "FOLDER", NULL,
     "A folder that all nodes of the cluster share, for the results of its jobs. Default: next to "
     "the database.",
     NULL, 0},
    {"--retry", NULL, NULL, "Repeat runs that failed before.", NULL, 0},
    {"--stored", NULL, NULL, "Run nothing: show what the database has.", NULL, 0},
    {"--watch", NULL, NULL, "Run nothing: show how far the sweep is, until it is done.", NULL, 0},
    {"--database", "FILE", "tyto-runs.sqlite", "The file that stores finished runs.", NULL, 0},
    {"--csv", "FILE", NULL, "Write a line for each run, with every counter; - is standard output.",
     NULL, TYTO_OPTION_FILE},
    {"--json", "FILE", NULL, "Write the runs with their whole results.", NULL, TYTO_OPTION_FILE},
    {"--markdown", "FILE", NULL,
     "Write a page with the rankings and their reasons; needs --baseline. If the file has the "
     "lines "
     "<!-- league --> and <!-- end -->, only what is between them changes.",
     NULL, TYTO_OPTION_FILE},
    {"--plot", "FILE.svg|.pdf", NULL, "Plot the first metric, with gnuplot.", NULL,
     TYTO_OPTION_FILE},
    {"--baseline", "VALUE", NULL,
     "Show and plot speed-ups over this scheduler, or over this value of the columns' dimension, "
     "and their means.",
     NULL, 0},
    {"--x", "NAME", NULL,
     "The dimension along the plot's axis. Default: the first value of the machine.", NULL, 0},
};

const Command command_sweep = {
    .name = "sweep",
    .operands = "WORKLOAD|PROGRAM...|FILE.yaml",
    .summary = "Run every combination of programs, machines, their values and schedulers",
    .text =
        "A PROGRAM is a workload or a path, quoted together with its arguments; all is every\n"
        "workload of the suites. FILE.yaml can replace the options (docs/sweep.md).\n"
        "\n"
        "  tyto sweep spmv bfs --machines ccws --set l1d.size=16KiB,32KiB --schedulers lrr,gto\n"
        "  tyto sweep './a.out {size}' --sizes 100,1000 --metrics ipc,l1d_miss_rate\n"
        "  tyto sweep spmv --machines ccws --set l1d.size=16KiB,32KiB --plot l1d.svg\n"
        "  tyto sweep all --sizes test --schedulers lrr,gto --baseline lrr --plot league.svg\n"
        "\n"
        "Finished runs are stored: an interrupted command resumes when it is repeated. A run that\n"
        "fails is reported at the end, and repeated with --retry.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .makes_runs = true,
    .lists_workloads = true,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_sweep,
};

static int run_league(Arguments *arguments) {
    static const SweepDefaults defaults = {
        .programs = "all", .schedulers = "all", .baseline = "gto"};
    return run_with(arguments, &defaults);
}

const Command command_league = {
    .name = "league",
    .operands = "[WORKLOAD|PROGRAM...|FILE.yaml]",
    .summary = "Run every workload under every warp scheduler, and rank the schedulers",
    .text =
        "A sweep (tyto help sweep) with other defaults: all workloads of the suites, --schedulers\n"
        "all and --baseline gto. Below the speed-ups are their means, the share of rows that gain\n"
        "or lose 2%, the worst speed-up, a confidence interval of the mean (from drawing programs\n"
        "repeatedly), and the storage that each scheduler adds. Name your own scheduler's file to\n"
        "include it. --markdown writes the rankings, and which scheduler to pick when, to a page.\n"
        "\n"
        "  tyto league --sizes test --machines gtx480,h100\n"
        "  tyto league spmv kmeans bfs --schedulers all,./mine.c --machines ccws\n"
        "\n"
        "Finished runs are stored: an interrupted command resumes when it is repeated.\n"
        "",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .makes_runs = true,
    .lists_workloads = true,
    .lowest_operands = 0,
    .most_operands = -1,
    .run = run_league,
};
