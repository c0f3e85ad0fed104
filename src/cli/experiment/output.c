/* Writes tables as text and CSV. */
#include "cli/experiment/output.h"

#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/origin.h"

enum { CELL_BYTES = 32, LABEL_WIDTH = 10, CELL_WIDTH = 10 };

static const char *label_of(const Table *table, int column) {
    return table->experiment->columns.list[column].label;
}

/* ---- Text ---- */

static bool is_published(const Table *table, int column) {
    for (int row = 0; row < table->rows; row++) {
        if (table_cell(table, row, column)->claim) return true;
    }
    return false;
}

static int width_of_labels(const Table *table) {
    int width = LABEL_WIDTH;
    for (int row = 0; row < table->rows; row++) {
        int columns = tyto_columns(table_row_label(table, row));
        if (columns > width) width = columns;
    }
    return width;
}

/* The width of a column: enough for its label, and for the paper's number next to ours. */
static int width_of_column(const Table *table, int column) {
    int least = is_published(table, column) ? 2 * CELL_WIDTH : CELL_WIDTH;
    int width = tyto_columns(label_of(table, column)) + 2;
    return width > least ? width : least;
}

static void write_heading(const Table *table, FILE *to) {
    int left = width_of_labels(table);
    fprintf(to, "%-*s", left, "");
    for (int column = 0; column < table->columns; column++) {
        const char *label = label_of(table, column);
        fprintf(to, "%*s", pad_text(label, width_of_column(table, column)), label);
    }
    fprintf(to, "\n%-*s", left, "");
    for (int column = 0; column < table->columns; column++) {
        int width = width_of_column(table, column);
        if (is_published(table, column))
            fprintf(to, "%*s%*s", width - CELL_WIDTH, "paper", CELL_WIDTH, "ours");
        else fprintf(to, "%*s", width, "ours");
    }
    fprintf(to, "\n");
}

static void write_row(const Table *table, int row, FILE *to) {
    const char *label = table_row_label(table, row);
    fprintf(to, "%-*s", pad_text(label, width_of_labels(table)), label);
    for (int column = 0; column < table->columns; column++) {
        const Cell *cell = table_cell(table, row, column);
        char ours[CELL_BYTES], theirs[CELL_BYTES] = "";
        int width = width_of_column(table, column);
        table_format(table_form(table, row, column), cell->value, ours, sizeof ours);
        if (cell->claim)
            table_format(table_form(table, row, column), cell->published, theirs, sizeof theirs);
        fprintf(to, "%*s%*s", width - CELL_WIDTH, theirs, CELL_WIDTH, ours);
    }
    fprintf(to, "\n");
}

/* Writes how many claims of a column agree. */
static void write_verdicts(const Table *table, int column, FILE *to) {
    int counts[VERDICT_COUNT] = {0};
    int published = 0;
    for (int row = 0; row < table->rows; row++) {
        const Cell *cell = table_cell(table, row, column);
        counts[cell->verdict] += cell->claim != NULL;
        published += cell->claim != NULL;
    }
    if (!published) return;
    fprintf(to, "%s: %d of %d published numbers agree", label_of(table, column),
            counts[VERDICT_AGREES], published);
    if (counts[VERDICT_DIRECTION])
        fprintf(to, ", %d in direction alone", counts[VERDICT_DIRECTION]);
    if (counts[VERDICT_DIFFERS]) fprintf(to, ", %d differ", counts[VERDICT_DIFFERS]);
    if (counts[VERDICT_NONE]) fprintf(to, ", %d without our value", counts[VERDICT_NONE]);
    fprintf(to, "\n");
}

void output_sides(const Table *table, FILE *to) {
    for (int column = 0; column < table->columns; column++) {
        double threshold = table->experiment->columns.list[column].threshold;
        int same, all;
        if (threshold <= 0) continue;
        table_count_sides(table, column, &same, &all);
        if (!all) continue;
        fprintf(to, "%s: %d of %d programs on the paper's side of %g\n", label_of(table, column),
                same, all, threshold);
    }
}

void output_absent(const Experiment *experiment, FILE *to) {
    for (int i = 0; i < experiment->absent.count; i++)
        fprintf(to, "%s%s", i ? ", " : "not among our workloads: ", experiment->absent.list[i]);
    if (experiment->absent.count) fprintf(to, "\n");
}

void output_text(const Table *table, const char *size, FILE *to) {
    const Experiment *experiment = table->experiment;
    fprintf(to, "%s, %s: %s\nmachine %s, size %s\n\n", experiment->paper, experiment->place,
            experiment->title, experiment->machine, size);
    write_heading(table, to);
    for (int row = 0; row < table->rows; row++) {
        if (row == experiment->programs.count) fprintf(to, "\n");
        write_row(table, row, to);
    }
    fprintf(to, "\n");
    for (int column = 0; column < table->columns; column++)
        write_verdicts(table, column, to);
    output_sides(table, to);
    output_absent(experiment, to);
    if (experiment->published.count && strcmp(size, "paper") != 0)
        fprintf(to,
                "Published numbers are for the papers' inputs: compare them at --size paper, not "
                "at %s.\n",
                size);
}

/* ---- CSV ---- */

static void write_quoted(const char *text, FILE *to) {
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

/* Writes an identifier from the file, quoted unless every reader of CSV takes it as one field. */
static void write_name(const char *name, FILE *to) {
    if (strpbrk(name, ",;\" \t'")) write_quoted(name, to);
    else fputs(name, to);
}

static void write_number(double number, FILE *to) {
    if (isnan(number)) fputc(',', to);
    else fprintf(to, ",%.9g", number);
}

void output_csv_heading(FILE *to) {
    fprintf(to, "experiment,size,row,column,ours,published,verdict,place,experiment_hash,");
    origin_write_names("run_", to);
    fprintf(to, "over_command\n");
}

/* Writes the command that repeats a run; nothing for NULL. */
static bool write_command(const Study *study, const Run *run, FILE *to) {
    char **texts;
    if (!run) return true;
    if (!origin_read(study->store, study_key(study, run), &texts)) return false;
    for (int i = 0; tyto_origin(i); i++) {
        if (strcmp(tyto_origin(i), "command") == 0) csv_write_field(texts[i], to);
    }
    origin_free(texts);
    return true;
}

bool output_csv(const Table *table, const Study *study, FILE *to) {
    bool is_read = true;
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns && is_read; column++) {
            const Cell *cell = table_cell(table, row, column);
            write_name(table->experiment->id, to);
            fprintf(to, ",%s,", study->size);
            write_quoted(table_row_label(table, row), to);
            fputc(',', to);
            write_quoted(label_of(table, column), to);
            write_number(cell->value, to);
            write_number(cell->published, to);
            fprintf(to, ",%s,", table_verdict_name(cell->verdict));
            write_quoted(cell->claim ? cell->claim->place : "", to);
            fprintf(to, ",x%016llx,", (unsigned long long)table->experiment->hash);
            is_read =
                origin_write(study->store, cell->run ? study_key(study, cell->run) : NULL, to) &&
                write_command(study, cell->over, to);
            fputc('\n', to);
        }
    }
    return is_read;
}
