/* tyto reproduce: runs the tables and figures of papers, and prints the published numbers next to
 * ours. A file in experiments/ describes each experiment. Finished runs are stored in a
 * database; an interrupted command resumes when it is repeated. */
#include "cli/reproduce.h"

#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/engine/engine.h"
#include "cli/engine/gnuplot.h"
#include "cli/experiment/catalogue.h"
#include "cli/experiment/claims.h"
#include "cli/experiment/experiment.h"
#include "cli/experiment/output.h"
#include "cli/experiment/study.h"
#include "cli/experiment/table.h"
#include "cli/files.h"
#include "cli/program.h"

/* A text that is written to memory, then to the file of an option. */
typedef struct Page {
    const char *path; /* NULL: not wanted */
    FILE *file;
    char *text;
    size_t length; /* bytes */
} Page;

/* The work of one command line. */
typedef struct Work {
    const Arguments *arguments;
    const char *size;
    int jobs;
    bool is_stored;      /* run nothing */
    bool allows_plugins; /* load code that an experiment or its machine names */
    Store *store;
    Page csv;
    Claims *claims;    /* NULL: not wanted */
    int asked, tables; /* number of experiments, and of those that have a table */
    int interrupt;     /* the signal with which the user ended it; 0: none */
} Work;

/* The operand that runs each group. */
static const char *const group_words[] = {[GROUP_PAPERS] = "all", [GROUP_LATER] = "later"};
_Static_assert(sizeof group_words / sizeof group_words[0] == GROUP_COUNT, "a word for each group");

/* GROUP_COUNT: the word is not a group's. */
static Group find_group(const char *word) {
    Group group = 0;
    while (group < GROUP_COUNT && strcmp(group_words[group], word) != 0)
        group++;
    return group;
}

/* ---- The list ---- */

static void widen(int *width, const char *text) {
    const int columns = tyto_columns(text);
    if (columns > *width) *width = columns;
}

/* Lists the experiments of a group; files that could not be read are NULL. */
static void list_group(Experiment *const *list, int count, Group group) {
    int id = 0, paper = 0, place = 0; /* widths */
    for (int i = 0; i < count; i++) {
        if (!list[i] || list[i]->group != group) continue;
        widen(&id, list[i]->id);
        widen(&paper, list[i]->paper);
        widen(&place, list[i]->place);
    }
    for (int i = 0; i < count; i++) {
        const Experiment *one = list[i];
        if (!one || one->group != group) continue;
        printf("%-*s  %-*s  %-*s  %s\n", pad_text(one->id, id), one->id,
               pad_text(one->paper, paper), one->paper, pad_text(one->place, place), one->place,
               one->title);
    }
}

static int list_experiments(void) {
    Words ids = {0};
    bool is_right = catalogue_list(&ids);
    Experiment **list = allocate((size_t)ids.count, sizeof *list);
    for (int i = 0; i < ids.count; i++) {
        list[i] = catalogue_find(ids.list[i], true); /* loads no code */
        is_right &= list[i] != NULL;
    }
    for (Group group = 0; group < GROUP_COUNT; group++)
        list_group(list, ids.count, group);
    for (int i = 0; i < ids.count; i++)
        experiment_free(list[i]);
    free(list);
    words_free(&ids);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}

void reproduce_list(Words *words) { catalogue_list(words); }

/* ---- One experiment ---- */

static bool show_table(Work *work, const Study *study, const Table *table) {
    const char *plot = arguments_value(work->arguments, "--plot");
    output_text(table, work->size, stdout);
    if (work->csv.file && !output_csv(table, study, work->csv.file)) return false;
    if (work->claims) claims_add(work->claims, table);
    work->tables++;
    return !plot || output_plot(table, work->size, plot, &work->arguments->command);
}

static int show_study(Work *work, Study *study) {
    Table table;
    EngineOrder order = {.title = study->experiment->id,
                         .executor = &executor_local,
                         .jobs = work->jobs,
                         .is_retrying = true};
    EngineEnd end =
        work->is_stored ? ENGINE_DONE : engine_run(study->engine, &order, &work->interrupt);
    int status = end == ENGINE_DONE ? EXIT_DONE : EXIT_FAILED;
    if (end == ENGINE_INTERRUPTED) return status;
    if (!table_make(&table, study) || !show_table(work, study, &table)) status = EXIT_FAILED;
    table_free(&table);
    int missing = study_count_missing(study);
    if (missing) printf("%d of %d runs are missing\n", missing, study->count);
    return missing ? EXIT_FAILED : status;
}

static int reproduce(Work *work, const Experiment *experiment) {
    Study study = {.experiment = experiment,
                   .store = work->store,
                   .size = work->size,
                   .allows_plugins = work->allows_plugins};
    int status = study_plan(&study) ? show_study(work, &study) : store_plan_status(work->store);
    study_free(&study);
    return status;
}

static int reproduce_one(Work *work, const char *id) {
    Experiment *experiment = catalogue_find(id, work->allows_plugins);
    work->asked = 1;
    int status = experiment ? reproduce(work, experiment) : EXIT_USAGE;
    experiment_free(experiment);
    return status;
}

/* Continues after an experiment that failed, but not after one that was interrupted. Returns the
 * status of the first failure. A file that cannot be read could be of any group. */
static int reproduce_group(Work *work, Group group) {
    Words ids = {0};
    int status = catalogue_list(&ids) ? EXIT_DONE : EXIT_FAILED;
    for (int i = 0; i < ids.count && !work->interrupt; i++) {
        Experiment *experiment = catalogue_find(ids.list[i], work->allows_plugins);
        if (!experiment || experiment->group == group) {
            if (work->asked++) printf("\n");
            int one = experiment ? reproduce(work, experiment) : EXIT_USAGE;
            if (!status) status = one;
        }
        experiment_free(experiment);
    }
    words_free(&ids);
    return status;
}

/* ---- The command ---- */

static bool read_size(Work *work) {
    static const char *const sizes[] = {"test", "small", "paper"};
    const char *size = arguments_value(work->arguments, "--size");
    work->size = size ? size : "small";
    for (int i = 0; i < 3; i++) {
        if (strcmp(sizes[i], work->size) == 0) return true;
    }
    say_error("--size %s: not one of test, small, paper", work->size);
    return false;
}

static void open_page(const Work *work, Page *page, const char *option) {
    page->path = arguments_value(work->arguments, option);
    if (page->path) page->file = open_memstream(&page->text, &page->length);
}

static bool close_page(Page *page, bool is_whole) {
    if (!page->file) return true;
    fclose(page->file);
    bool is_written = is_whole && file_write(page->path, page->text, page->length);
    free(page->text);
    return is_written;
}

/* Reports files that are not written: an older complete file is better than one that lacks the
 * missing results. */
static void say_left(const Arguments *arguments) {
    static const char *const files[] = {"--csv", "--markdown"};
    for (int i = 0; i < 2; i++) {
        const char *path = arguments_value(arguments, files[i]);
        if (path) fprintf(stderr, "tyto: note: %s %s: not written\n", files[i], path);
    }
}

static int run_work(Work *work) {
    char *const *ids = work->arguments->operands;
    const Group group = find_group(ids[0]);
    open_page(work, &work->csv, "--csv");
    const char *page = arguments_value(work->arguments, "--markdown");
    if (page) work->claims = claims_new(work->size);
    if (work->csv.file) output_csv_heading(work->csv.file);
    int status = group < GROUP_COUNT ? reproduce_group(work, group) : reproduce_one(work, ids[0]);
    const bool is_whole = work->tables == work->asked && !work->interrupt;
    bool is_written = close_page(&work->csv, is_whole);
    if (!is_whole) say_left(work->arguments);
    else if (page) is_written &= claims_write(work->claims, page);
    claims_free(work->claims);
    return status || is_written ? status : EXIT_FAILED;
}

/* A list is not a table, so it cannot be written to a file. */
static bool check_list(const Arguments *arguments) {
    bool is_right = true;
    for (int i = 0; i < arguments->option_count; i++) {
        const TytoOption *option = arguments->options[i].option;
        if (!(option->traits & TYTO_OPTION_FILE)) continue;
        say_error("%s needs an experiment: tyto reproduce list writes no file", option->name);
        is_right = false;
    }
    return is_right;
}

static int run_reproduce(Arguments *arguments) {
    Work work = {.arguments = arguments,
                 .is_stored = arguments_has(arguments, "--stored"),
                 .allows_plugins = arguments_has(arguments, "--allow-plugins")};
    const char *database = arguments_value(arguments, "--database");
    if (strcmp(arguments->operands[0], "list") == 0)
        return check_list(arguments) ? list_experiments() : EXIT_USAGE;
    if (!arguments_jobs(arguments, &work.jobs) || !read_size(&work)) return EXIT_USAGE;
    if (arguments_has(arguments, "--plot") && find_group(arguments->operands[0]) < GROUP_COUNT) {
        say_error("--plot needs a single experiment");
        return EXIT_USAGE;
    }
    if (!gnuplot_check_path(arguments_value(arguments, "--plot")) ||
        !arguments_check_environment("reproduce"))
        return EXIT_USAGE;
    if (!program_export_library()) return EXIT_FAILED;
    if (!database) database = "tyto-runs.sqlite";
    work.store = work.is_stored ? store_poll(database) : store_open(database);
    if (!work.store) return EXIT_FAILED;
    int status = run_work(&work);
    store_close(work.store);
    if (work.interrupt) engine_end_interrupted(work.interrupt);
    return status;
}

static const TytoOption options[] = {
    {"--size", "test|small|paper", "small", "Input size of every program.", NULL, 0},
    {"--jobs", "N", NULL, "Runs at once; default: the number of the host's processors.", NULL, 0},
    {"--csv", "FILE", NULL, "Write the table as CSV; - is standard output.", NULL,
     TYTO_OPTION_FILE},
    {"--plot", "FILE.svg|.pdf", NULL, "Plot the table, with gnuplot.", NULL, TYTO_OPTION_FILE},
    {"--markdown", "FILE", NULL, "Write a page with each claim, the paper's number and ours.", NULL,
     TYTO_OPTION_FILE},
    {"--database", "FILE", "tyto-runs.sqlite", "The file that stores finished runs.", NULL, 0},
    {"--stored", NULL, NULL, "Run nothing: show what the database has.", NULL, 0},
    {"--allow-plugins", NULL, NULL,
     "Load the shared objects that an experiment, or a machine file of its own, names as "
     "schedulers.",
     NULL, 0},
};

const Command command_reproduce = {
    .name = "reproduce",
    .operands = "list|all|later|ID|FILE.yaml",
    .summary = "Run a table or figure of a paper, and print its numbers next to ours",
    .text = "  tyto reproduce list\n"
            "  tyto reproduce owl-table-2 --size test --csv table.csv --plot table.svg\n"
            "\n"
            "Finished runs are stored: an interrupted command resumes when it is repeated. Runs of "
            "other\n"
            "builds of Tyto are not taken for runs of this one.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = 1,
    .run = run_reproduce,
};
