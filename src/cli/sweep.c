/* tyto sweep: every combination of programs, machines, values of the machine, schedulers, sizes and
 * seeds. Finished runs stay in a database, so that a command that was interrupted goes on where it
 * was when it is given again. */
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
#include "cli/sweep/output.h"
#include "cli/sweep/plan.h"

/* The work of one command line. */
typedef struct Work {
    const Arguments *arguments;
    Sweep *sweep;
    Store *store;
    const Executor *executor;
    char folder[PATH_MAX]; /* that a remote executor shares with its jobs */
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

/* Writes a form of the results to the file of its option, if that is given. */
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
    bool is_shown = sweep_write_text(work->sweep, work->store, stdout);
    fflush(stdout);
    is_shown = is_shown && write_file(work, "--csv", write_csv) &&
               write_file(work, "--json", write_json) &&
               (!plot || sweep_plot(work->sweep, work->store, plot, &work->arguments->command));
    return is_shown && sweep_write_failures(work->sweep, work->store, stderr);
}

/* Whether all runs are there: none is missing, and none has failed. */
static bool is_whole(const Engine *engine) {
    return engine_count_state(engine, RUN_DONE) == engine_count(engine);
}

/* ---- Watching ---- */

/* The progress of the sweep, whichever process runs it. */
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

/* Shows the state again and again, until all is done: on a terminal in one line, else a line for
 * each change. */
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

/* Chooses the executor, and the folder that it shares with its jobs: the database's folder, if none
 * is named. False after a message. */
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
        say_error("--engine %s: there is local and slurm%s%s%s", wanted, MEANT(nearest));
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

static int run_work(Work *work) {
    const char *given = arguments_value(work->arguments, "--database");
    const char *database = given ? given : "tyto-runs.sqlite";
    if (!choose_engine(work, database)) return EXIT_USAGE;
    work->sweep = sweep_read(work->arguments);
    if (!work->sweep) return EXIT_USAGE;
    if (arguments_value(work->arguments, "--plot") && !sweep_can_plot(work->sweep))
        return EXIT_USAGE;
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

static int run_sweep(Arguments *arguments) {
    Work work = {.arguments = arguments};
    if (!check_alone(arguments, "--machine", "--machines") ||
        !check_alone(arguments, "--cta-scheduler", "--cta-schedulers") ||
        !arguments_jobs(arguments, &work.jobs) || !arguments_check_runs(arguments, "sweep") ||
        !gnuplot_check_path(arguments_value(arguments, "--plot")) ||
        !arguments_check_environment("sweep"))
        return EXIT_USAGE;
    int status = run_work(&work);
    sweep_free(work.sweep);
    store_close(work.store);
    return status;
}

/* The option of a league's command line, unless it is given. */
static void assume(Arguments *arguments, const TytoOption *options, int count, const char *name,
                   const char *value) {
    for (int i = 0; i < count && !arguments_has(arguments, name); i++)
        if (!strcmp(options[i].name, name))
            arguments->options[arguments->option_count++] = (GivenOption){&options[i], value};
}

static const TytoOption options[] = {
    {"--machines", "NAME,...", TYTO_DEFAULT_MACHINE, "The machines: of tyto machines, or files.",
     NULL, 0},
    {"--set", "KEY=VALUE,...", NULL,
     "Values of the machine to go through: l1d.size=16KiB,32KiB. As often as needed.", NULL, 0},
    {"--schedulers", "NAME,...", NULL,
     "The warp schedulers; P=1..8 for each value; all: every one that comes with Tyto; else the "
     "machine's own.",
     NULL, 0},
    {"--cta-schedulers", "NAME,...", NULL, "The thread block (CTA) schedulers; likewise.", NULL, 0},
    {"--sizes", "SIZE,...", "small", "Input sizes: test, small, paper or a number.", NULL, 0},
    {"--seeds", "N,...", "1", "Seeds of the input; 1..8 for each of these.", NULL, 0},
    {"--input", "PATH", NULL,
     "A file that the programs read without being told its name: a script that they import. As "
     "often "
     "as needed.",
     NULL, 0},
    {"--variable", "NAME", NULL,
     "A variable of the environment that the programs look at. As often as needed.", NULL, 0},
    {"--metrics", "NAME,...", "ipc", "What the tables show, a table each; tyto metrics lists them.",
     NULL, 0},
    {"--jobs", "N", NULL, "Runs at once; else as many as the host has processors.", NULL, 0},
    {"--engine", "local|slurm", "local", "What runs them: this host, or a Slurm cluster.", NULL, 0},
    {"--folder", "FOLDER", NULL,
     "Where jobs of a cluster leave their results, seen by all its nodes; else next to the "
     "database.",
     NULL, 0},
    {"--retry", NULL, NULL, "Try those again that failed before.", NULL, 0},
    {"--stored", NULL, NULL, "Run nothing: show what the database has.", NULL, 0},
    {"--watch", NULL, NULL, "Run nothing: show how far the sweep is, until it is done.", NULL, 0},
    {"--database", "FILE", "tyto-runs.sqlite", "Where finished runs are kept.", NULL, 0},
    {"--csv", "FILE", NULL, "Write a line for each run, with every counter; - is standard output.",
     NULL, TYTO_OPTION_FILE},
    {"--json", "FILE", NULL, "Write the runs with their whole results.", NULL, TYTO_OPTION_FILE},
    {"--plot", "FILE.svg|.pdf", NULL, "Plot the first metric, with gnuplot.", NULL,
     TYTO_OPTION_FILE},
    {"--baseline", "VALUE", NULL,
     "Show speed-ups over this scheduler, or value of whatever is in the columns, and their means; "
     "a plot is of these.",
     NULL, 0},
    {"--x", "NAME", NULL, "What varies along the plot's axis; else the first value of the machine.",
     NULL, 0},
};

const Command command_sweep = {
    .name = "sweep",
    .operands = "WORKLOAD|PROGRAM...|FILE.yaml",
    .summary = "Run every combination of programs, machines, their values and schedulers",
    .text =
        "A PROGRAM is a workload or a path, quoted together with its arguments; all is every\n"
        "workload of the suites. FILE.yaml says the same as the options (docs/sweep.md).\n"
        "\n"
        "  tyto sweep spmv bfs --machines ccws --set l1d.size=16KiB,32KiB --schedulers lrr,gto\n"
        "  tyto sweep './a.out {size}' --sizes 100,1000 --metrics ipc,l1d_miss_rate\n"
        "  tyto sweep spmv --machines ccws --set l1d.size=16KiB,32KiB --plot l1d.svg\n"
        "  tyto sweep all --sizes test --schedulers lrr,gto --baseline lrr --plot league.svg\n"
        "\n"
        "Finished runs are kept: a command that was interrupted goes on where it was. A run that\n"
        "fails is reported at the end, and tried again with --retry.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .makes_runs = true,
    .lists_workloads = true,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_sweep,
};

/* A sweep of all programs under all schedulers, unless others are named. */
static int run_league(Arguments *arguments) {
    static char all[] = "all";
    char *operands[] = {all, NULL};
    const size_t given = (size_t)arguments->option_count;
    GivenOption *own = allocate(given + 2, sizeof *own);
    Arguments league = *arguments;
    if (given) memcpy(own, arguments->options, given * sizeof *own);
    league.options = own;
    assume(&league, options, sizeof options / sizeof options[0], "--schedulers", "all");
    assume(&league, options, sizeof options / sizeof options[0], "--baseline", "gto");
    if (!league.operand_count) league.operands = operands, league.operand_count = 1;
    const int status = run_sweep(&league);
    free(own);
    return status;
}

const Command command_league = {
    .name = "league",
    .operands = "[WORKLOAD|PROGRAM...]",
    .summary = "Run every workload under every warp scheduler, and rank the schedulers",
    .text =
        "A sweep (tyto help sweep) with other defaults: all workloads of the suites, --schedulers\n"
        "all and --baseline gto. Below the speed-ups are their means, the share of rows that gain\n"
        "or lose 2%, the worst, an interval of the mean by redrawing programs, and the storage\n"
        "that each scheduler adds. A scheduler of one's own takes part by its file.\n"
        "\n"
        "  tyto league --sizes test --machines gtx480,h100\n"
        "  tyto league spmv kmeans bfs --schedulers all,./mine.c --machines ccws\n"
        "\n"
        "Finished runs are kept: a command that was interrupted goes on where it was.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .makes_runs = true,
    .lists_workloads = true,
    .lowest_operands = 0,
    .most_operands = -1,
    .run = run_league,
};
