/* tyto compare: one program under several schedulers, side by side, in the order of the command
 * line. The engine makes the runs; they are stored only if --database names a file. */
#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/engine/bars.h"
#include "cli/engine/engine.h"
#include "cli/engine/gnuplot.h"
#include "cli/engine/signals.h"
#include "cli/files.h"
#include "cli/names.h"
#include "cli/program.h"

enum { MOST_RUNS = 1024 };
#define LEAST_REACH 0.1 /* least length of the axis on either side of 1 */

typedef struct Contest {
    const Arguments *arguments;
    Names schedulers, cta_schedulers; /* as named */
    int count;                        /* of runs, one for each pair of them */
    TaskForm form;                    /* common to all runs; the schedulers differ */
    Engine *engine;
    int *tasks; /* the engine's task numbers, in order */
} Contest;

/* ---- Reading the command line ---- */

static bool check_ranges(const char *option, const Names *names) {
    if (names->empty) say_error("%s " NAMES_EMPTY_RANGE, option, names->empty);
    return !names->empty;
}

/* Without either option the warp schedulers are the default ones. With only the option for CTA
 * schedulers, the warp scheduler is the machine's. False after a message. */
static bool read_schedulers(Contest *contest) {
    const char *warps = arguments_value(contest->arguments, "--schedulers");
    const char *ctas = arguments_value(contest->arguments, "--cta-schedulers");
    if (!warps && !ctas) warps = "lrr,gto,two-level";
    contest->schedulers = names_read(warps, MOST_RUNS, NAMES_ALL_SCHEDULERS);
    contest->cta_schedulers = names_read(ctas, MOST_RUNS, NAMES_ALL_CTA_SCHEDULERS);
    int most = MOST_RUNS / (contest->schedulers.count ? contest->schedulers.count : 1);
    contest->count = contest->schedulers.count * contest->cta_schedulers.count;
    if (!check_ranges("--schedulers", &contest->schedulers) ||
        !check_ranges("--cta-schedulers", &contest->cta_schedulers))
        return false;
    if (!contest->count) {
        say_error("%s is empty", contest->schedulers.count ? "--cta-schedulers" : "--schedulers");
        return false;
    }
    if (!contest->schedulers.is_cut && !contest->cta_schedulers.is_cut &&
        contest->cta_schedulers.count <= most)
        return true;
    say_error("%s more than %d runs",
              ctas ? "--schedulers and --cta-schedulers make" : "--schedulers names", MOST_RUNS);
    return false;
}

/* Rejects options whose file every run would overwrite, and options that the comparison varies. */
static bool check_options(const Contest *contest) {
    if (contest->form.cta_scheduler && arguments_value(contest->arguments, "--cta-schedulers")) {
        say_error("--cta-scheduler and --cta-schedulers cannot both be given");
        return false;
    }
    return arguments_check_runs(contest->arguments, "compare");
}

/* ---- Running ---- */

/* Reports each wrong name of a scheduler as an error of the command line. */
static bool check_schedulers(const Contest *contest, const char *option, const Names *names) {
    bool is_right = true;
    for (int i = 0; i < names->count && names->list[i]; i++) {
        const char *words[] = {option, names->list[i]};
        char message[2048];
        if (tyto_check_options(2, words, message, sizeof message) == TYTO_OK) continue;
        fprintf(stderr, "tyto: %s\n", message);
        is_right = false;
    }
    return is_right && contest->count;
}

static bool plan(Contest *contest) {
    contest->tasks = allocate((size_t)contest->count, sizeof *contest->tasks);
    int count = 0;
    for (int w = 0; w < contest->schedulers.count; w++)
        for (int c = 0; c < contest->cta_schedulers.count; c++) {
            TaskForm form = contest->form;
            form.scheduler = contest->schedulers.list[w];
            if (contest->cta_schedulers.list[c])
                form.cta_scheduler = contest->cta_schedulers.list[c];
            char *why;
            int task = engine_add(contest->engine, &form, &why);
            if (why) say_error("%s", why);
            free(why);
            if (task < 0) return false;
            contest->tasks[count++] = task;
        }
    return true;
}

/* ---- Results ---- */

/* Writes one form of the comparison if its option was given. */
static bool write_form(const Contest *contest, const char *option,
                       char *(*form)(const TytoComparison *), const TytoComparison *comparison) {
    const char *path = arguments_value(contest->arguments, option);
    if (!path) return true;
    char *text = form(comparison);
    bool is_written = file_write(path, text, strlen(text));
    free(text);
    return is_written;
}

static bool add_runs(const Contest *contest, Store *store, TytoComparison *comparison) {
    bool is_right = true;
    for (int i = 0; i < contest->count && is_right; i++) {
        const Task *task = engine_task(contest->engine, contest->tasks[i]);
        char *json = NULL;
        is_right = store_result(store, &task->key, &json);
        if (is_right && tyto_comparison_add(comparison, json) != TYTO_OK) {
            say_error("%s had no timed launch", task->key.program);
            is_right = false;
        }
        free(json);
    }
    return is_right;
}

/* ---- The plot ---- */

/* "gto", "gto with limit:ctas=2", or only the part that was named. The caller frees it. */
static char *make_label(const Contest *contest, int run) {
    const char *warps = contest->schedulers.list[run / contest->cta_schedulers.count];
    const char *ctas = contest->cta_schedulers.list[run % contest->cta_schedulers.count];
    char *label = NULL;
    size_t length;
    FILE *to = open_memstream(&label, &length);
    if (!to) return words_copy_text("");
    if (warps && ctas) fprintf(to, "%s with %s", warps, ctas);
    else fputs(warps ? warps : ctas, to);
    fclose(to);
    return label;
}

static char *make_title(const Contest *contest) {
    const RunKey *key = &engine_task(contest->engine, contest->tasks[0])->key;
    char *title = NULL;
    size_t length;
    FILE *to = open_memstream(&title, &length);
    if (!to) return words_copy_text("");
    fprintf(to, "%s on %s", key->program, key->machine);
    if (*key->overrides) fprintf(to, " with %s", key->overrides);
    if (*key->size) fprintf(to, ", size %s", key->size);
    fclose(to);
    return title;
}

static void format_speedup(const void *context, double value, char *text, int size_bytes) {
    (void)context;
    snprintf(text, (size_t)size_bytes, "%.3fx", value);
}

/* Draws speed-ups over the first run as bars, with a line at 1, no speed-up. */
static bool plot(const Contest *contest, Store *store) {
    const char *path = arguments_value(contest->arguments, "--plot");
    double first = NAN, cycles;
    bool is_right = true;
    if (!path) return true;
    BarChart chart = bars_new(contest->count, 1, false);
    chart.base = 1;
    chart.begins_at_zero = true;
    chart.least_reach = LEAST_REACH;
    chart.shows_values = chart.draws_all = true;
    chart.format = format_speedup;
    char **labels = allocate((size_t)contest->count, sizeof *labels), axis[256];
    for (int i = 0; i < contest->count; i++) {
        const Task *task = engine_task(contest->engine, contest->tasks[i]);
        chart.row_labels[i] = labels[i] = make_label(contest, i);
        is_right &= store_value(store, &task->key, NULL, "cycles", &cycles);
        if (i == 0) first = cycles;
        bars_at(&chart, i, 0)->value = first / cycles;
    }
    snprintf(axis, sizeof axis, "speed-up over %s (ratio of cycles)", labels[0]);
    char *title = make_title(contest);
    is_right = is_right && bars_draw(&chart, path, &contest->arguments->command, title, axis);
    free(title);
    for (int i = 0; i < contest->count; i++)
        free(labels[i]);
    free((void *)labels);
    bars_free(&chart);
    return is_right;
}

/* ---- All of it ---- */

static bool answer(const Contest *contest, Store *store) {
    TytoComparison *comparison = tyto_comparison_new();
    bool is_right = add_runs(contest, store, comparison);
    if (is_right) {
        char *text = tyto_comparison_text(comparison);
        put_text("%s", text);
        free(text);
    }
    is_right = is_right && write_form(contest, "--json", tyto_comparison_json, comparison) &&
               write_form(contest, "--csv", tyto_comparison_csv, comparison) &&
               plot(contest, store);
    tyto_comparison_free(comparison);
    return is_right;
}

/* ---- The command ---- */

static int run_contest(Contest *contest, Store *store, int jobs) {
    int signal;
    EngineOrder order = {
        .title = "compare", .executor = &executor_local, .jobs = jobs, .is_retrying = true};
    contest->engine = engine_new(store);
    if (!plan(contest)) return store_plan_status(store);
    EngineEnd end = engine_run(contest->engine, &order, &signal);
    if (end == ENGINE_INTERRUPTED) {
        say_error("interrupted: nothing is compared");
        signals_obey(signal);
    }
    return end == ENGINE_DONE && answer(contest, store) ? EXIT_DONE : EXIT_FAILED;
}

static bool check(Contest *contest) {
    return check_options(contest) && read_schedulers(contest) &&
           check_schedulers(contest, "--scheduler", &contest->schedulers) &&
           check_schedulers(contest, "--cta-scheduler", &contest->cta_schedulers) &&
           arguments_check_environment("compare");
}

static int compare(Contest *contest) {
    int jobs, status = EXIT_FAILED;
    if (!arguments_jobs(contest->arguments, &jobs) || !check(contest) ||
        !gnuplot_check_path(arguments_value(contest->arguments, "--plot")))
        return EXIT_USAGE;
    if (!program_export_library()) return EXIT_FAILED;
    Store *store = store_open(arguments_value(contest->arguments, "--database"));
    if (store) status = run_contest(contest, store, jobs);
    store_close(store);
    return status;
}

static int run_compare(Arguments *arguments) {
    Contest contest = {.arguments = arguments};
    task_form_take(&contest.form, arguments);
    int status = compare(&contest);
    engine_free(contest.engine);
    task_form_free(&contest.form);
    free(contest.tasks);
    names_free(&contest.schedulers);
    names_free(&contest.cta_schedulers);
    return status;
}

static const TytoOption options[] = {
    {"--schedulers", "NAME,NAME,...", "lrr,gto,two-level",
     "The warp schedulers; the others are compared with the first. P=1..8 is one for each value, "
     "best-swl is swl:limit=1..32, all is every scheduler that comes with Tyto.",
     NULL, 0},
    {"--cta-schedulers", "NAME,NAME,...", NULL,
     "The thread block (CTA) schedulers, each with each of the warp schedulers; without "
     "--schedulers, with the machine's own warp scheduler.",
     NULL, 0},
    {"--jobs", "N", NULL, "Runs at once; default: the number of the host's processors.", NULL, 0},
    {"--database", "FILE", NULL,
     "Store finished runs in this file, and reuse the runs that it has.", NULL, 0},
    {"--json", "FILE", NULL, "Write all runs as JSON; - is standard output.", NULL,
     TYTO_OPTION_FILE},
    {"--csv", "FILE", NULL, "Write every counter of every run as CSV.", NULL, TYTO_OPTION_FILE},
    {"--plot", "FILE.svg|.pdf", NULL, "Draw the speed-ups as bars, with gnuplot.", NULL,
     TYTO_OPTION_FILE},
};

const Command command_compare = {
    .name = "compare",
    .operands = "WORKLOAD|PROGRAM [arguments]",
    .summary = "Run a program under several schedulers, and report which is best and why",
    .text =
        "  tyto compare --machine ccws --schedulers lrr,gto,ccws:k_throttle=16 spmv --size 20000\n"
        "  tyto compare --machine md --cta-schedulers round-robin,md,limit:ctas=1..8 spmv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .makes_runs = true,
    .lists_workloads = true,
    .ends_at_operand = true,
    .shares_options = program_is_workload,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_compare,
};
