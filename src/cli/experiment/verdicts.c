/* Writes the page of later schedulers (see the header). */
#include "cli/experiment/verdicts.h"

enum { CELL_BYTES = 32 };

static void write_words(const Words *words, FILE *to) {
    for (int i = 0; i < words->count; i++)
        fprintf(to, "%s`%s`", i ? ", " : "", words->list[i]);
}

/* The schedulers of the column's setup. */
static void write_schedulers(const Experiment *experiment, int column, FILE *to) {
    const Setup *setup = experiment_find_setup(experiment, experiment->columns.list[column].setup);
    write_words(&setup->schedulers, to);
    if (setup->cta_schedulers.count) fprintf(to, " with ");
    write_words(&setup->cta_schedulers, to);
}

static const char heading[] =
    "# Headlines of other schedulers\n"
    "\n"
    "The headline of each scheduler that is not of the four papers of\n"
    "[reproduction](reproduction.md), next to ours, from runs at size `%s`. Written by\n"
    "`tyto reproduce later --markdown`. This page is for those who choose a scheduler, or\n"
    "compare one with its paper.\n"
    "\n"
    "Tyto does not model the machines of these papers, and has only some of their programs.\n"
    "An experiment takes the nearest of our machines and programs. Nothing is tuned for it,\n"
    "so a verdict is information and not a target. No number of this page is in the counts of\n"
    "the four papers. The file of an experiment says where its number is from, and how its\n"
    "programs were chosen ([experiments](experiments.md#groups)).\n"
    "\n"
    "## Verdicts\n"
    "\n";

void verdicts_begin_page(const char *size, const char *rows, FILE *to) {
    fprintf(to, heading, size);
    fprintf(to,
            "| scheduler | paper | claim | published | ours | verdict | machine | programs |\n"
            "|---|---|---|---|---|---|---|---|\n%s\n",
            rows);
}

void verdicts_write_row(const Table *table, int row, int column, const char *published,
                        const char *ours, const char *verdict, FILE *to) {
    const Experiment *experiment = table->experiment;
    fprintf(to, "| ");
    write_schedulers(experiment, column, to);
    fprintf(to, " | %s | %s: %s, %s | %s | %s | %s | `%s` | ", experiment->paper, experiment->title,
            experiment->columns.list[column].label, table_row_label(table, row), published, ours,
            verdict, experiment->machine);
    for (int i = 0; i < experiment->programs.count; i++)
        fprintf(to, "%s%s", i ? ", " : "", experiment->programs.list[i].label);
    fprintf(to, " |\n");
}

void verdicts_write_unpublished(const Table *table, FILE *to) {
    const Experiment *experiment = table->experiment;
    const int row = experiment->means.count ? experiment->programs.count : 0;
    char ours[CELL_BYTES];
    table_format(table_form(table, row, 0), table_cell(table, row, 0)->value, ours, sizeof ours);
    verdicts_write_row(table, row, 0, "", ours, "", to);
}
