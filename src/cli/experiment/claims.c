/* The page begins with tallies of all sections, so it is written after all of them are complete. */
#include "cli/experiment/claims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/experiment/output.h"
#include "cli/experiment/verdicts.h"
#include "cli/files.h"

enum { CELL_BYTES = 32, PAPER_BYTES = 32, MOST_PAPERS = 32 };

/* Numbers of claims by verdict; VERDICT_NONE: not run. */
typedef struct Tally {
    int counts[VERDICT_COUNT];
} Tally;

/* Why a published number is not in a tally. */
typedef enum Outside { OUTSIDE_REPEATED, OUTSIDE_DERIVED, OUTSIDE_FITTED, OUTSIDE_COUNT } Outside;

/* The tallies of a paper's claims. */
typedef struct PaperTally {
    char paper[PAPER_BYTES];
    Tally distinct; /* of all kinds, and runs that count as one claim */
    Tally kinds[CLAIM_KIND_COUNT];
    Tally close; /* values, which agree in this tally if they differ by at most a quarter */
    Tally outside[OUTSIDE_COUNT];
} PaperTally;

/* Text that grows. */
typedef struct Stream {
    FILE *file;
    char *text;
    size_t length; /* bytes */
} Stream;

struct Claims {
    const char *size;
    Group group;                     /* of the experiments */
    PaperTally tallies[MOST_PAPERS]; /* in the order of their first experiments */
    int papers;
    Stream headlines; /* rows of the table of headlines */
    Stream sections;
};

static void open_stream(Stream *stream) {
    stream->file = open_memstream(&stream->text, &stream->length);
    if (!stream->file) {
        say_error("out of memory");
        exit(EXIT_FAILED);
    }
}

Claims *claims_new(const char *size) {
    Claims *claims = allocate(1, sizeof *claims);
    *claims = (Claims){.size = size};
    open_stream(&claims->headlines);
    open_stream(&claims->sections);
    return claims;
}

void claims_free(Claims *claims) {
    if (!claims) return;
    fclose(claims->headlines.file);
    fclose(claims->sections.file);
    free(claims->headlines.text);
    free(claims->sections.text);
    free(claims);
}

/* ---- Sections ---- */

/* The tally of a paper; papers beyond MOST_PAPERS share the last. */
static PaperTally *find_tally(Claims *claims, const char *paper) {
    for (int i = 0; i < claims->papers; i++) {
        if (strcmp(claims->tallies[i].paper, paper) == 0) return &claims->tallies[i];
    }
    if (claims->papers < MOST_PAPERS) claims->papers++;
    PaperTally *tally = &claims->tallies[claims->papers - 1];
    snprintf(tally->paper, sizeof tally->paper, "%s", paper);
    return tally;
}

static bool is_headline(const Claim *claim, const char *row) {
    for (int i = 0; i < claim->headline.count; i++) {
        if (strcmp(claim->headline.list[i], row) == 0) return true;
    }
    return false;
}

static const char *const bound_signs[BOUND_COUNT] = {"", "at least ", "at most "};

/* The published number with its bounds. */
static void format_published(const Table *table, int row, int column, char *text, int size_bytes) {
    const Cell *cell = table_cell(table, row, column);
    const Form form = table_form(table, row, column);
    char number[CELL_BYTES], most[CELL_BYTES];
    table_format(form, cell->published, number, sizeof number);
    table_format(form, cell->claim->most, most, sizeof most);
    const bool has_most = cell->claim->most != 0;
    snprintf(text, (size_t)size_bytes, "%s%s%s%s", bound_signs[cell->claim->bound], number,
             has_most ? ", at most " : "", has_most ? most : "");
}

/* Why a claim is not in a tally; NULL: it is. */
static const char *find_outside(const Claim *claim, Outside *outside) {
    const char *const reasons[OUTSIDE_COUNT] = {claim->repeats, claim->derived, claim->fitted};
    for (*outside = 0; *outside < OUTSIDE_COUNT; ++*outside) {
        if (reasons[*outside]) return reasons[*outside];
    }
    return NULL;
}

static void count_claim(PaperTally *tally, const Table *table, int row, int column) {
    const Cell *cell = table_cell(table, row, column);
    Outside outside;
    if (find_outside(cell->claim, &outside)) {
        tally->outside[outside].counts[cell->verdict]++;
        return;
    }
    const ClaimKind kind = table_claim_kind(table, row, column);
    tally->distinct.counts[cell->verdict]++;
    tally->kinds[kind].counts[cell->verdict]++;
    if (kind != CLAIM_VALUE) return;
    Verdict verdict = table_is_close(table, row, column) ? VERDICT_AGREES : VERDICT_DIFFERS;
    tally->close.counts[cell->verdict ? verdict : VERDICT_NONE]++;
}

/* Adds the mean without the program that it depends on most. */
static void add_rest(FILE *to, const Table *table, int row, int column) {
    char rest[CELL_BYTES];
    double without;
    const char *program = table_rests_on(table, row, column, &without);
    if (!program) return;
    table_format(table->experiment->columns.list[column].form, without, rest, sizeof rest);
    fprintf(to, "%s: %s without it", program, rest);
}

static const char *const outside_words[OUTSIDE_COUNT] = {"counted in", "derived from", "fitted:"};

static void add_claim(Claims *claims, const Table *table, int row, int column) {
    const Experiment *experiment = table->experiment;
    const Cell *cell = table_cell(table, row, column);
    const Column *of = &experiment->columns.list[column];
    const char *label = table_row_label(table, row);
    const char *verdict = cell->verdict ? table_verdict_name(cell->verdict) : "not run";
    const char *examined = cell->claim->examined;
    char ours[CELL_BYTES], theirs[3 * CELL_BYTES];
    Outside outside;
    const char *reason = find_outside(cell->claim, &outside);
    table_format(table_form(table, row, column), cell->value, ours, sizeof ours);
    format_published(table, row, column, theirs, sizeof theirs);
    fprintf(claims->sections.file, "| %s | %s | %s | %s | %s | %s | ", of->label, label,
            cell->claim->place, theirs, ours, verdict);
    if (reason) fprintf(claims->sections.file, "%s %s ", outside_words[outside], reason);
    fprintf(claims->sections.file, "%s |\n",
            examined && cell->verdict > VERDICT_AGREES ? examined : "");
    if (experiment->counting == COUNT_EACH)
        count_claim(find_tally(claims, experiment->paper), table, row, column);
    if (!is_headline(cell->claim, label)) return;
    if (claims->group == GROUP_LATER) {
        verdicts_write_row(table, row, column, theirs, ours, verdict, claims->headlines.file);
        return;
    }
    fprintf(claims->headlines.file, "| %s %s | %s: %s, %s | %s | %s | %s | ", experiment->paper,
            experiment->place, experiment->title, of->label, label, theirs, ours, verdict);
    add_rest(claims->headlines.file, table, row, column);
    fprintf(claims->headlines.file, " |\n");
}

/* Counts all numbers of a run as one claim. */
static void add_as_one(Claims *claims, const Table *table) {
    int counts[VERDICT_COUNT], all = 0;
    Verdict verdict = table_verdict_as_one(table);
    table_count_verdicts(table, counts);
    for (int i = 0; i < VERDICT_COUNT; i++)
        all += counts[i];
    find_tally(claims, table->experiment->paper)->distinct.counts[verdict]++;
    fprintf(claims->sections.file,
            "One run counts as one claim. %d of its %d numbers agree: %s.\n\n",
            counts[VERDICT_AGREES], all, verdict ? table_verdict_name(verdict) : "not run");
}

static bool has_value(const Table *table) {
    for (int i = 0; i < table->rows * table->columns; i++) {
        if (!isnan(table->cells[i].value)) return true;
    }
    return false;
}

/* Writes our value of every cell. */
static void add_values(FILE *to, const Table *table) {
    fprintf(to, "| of |");
    for (int column = 0; column < table->columns; column++)
        fprintf(to, " %s |", table->experiment->columns.list[column].label);
    fprintf(to, "\n|---|");
    for (int column = 0; column < table->columns; column++)
        fprintf(to, "---|");
    for (int row = 0; row < table->rows; row++) {
        fprintf(to, "\n| %s |", table_row_label(table, row));
        for (int column = 0; column < table->columns; column++) {
            char ours[CELL_BYTES];
            table_format(table_form(table, row, column), table_cell(table, row, column)->value,
                         ours, sizeof ours);
            fprintf(to, " %s |", ours);
        }
    }
    fprintf(to, "\n");
}

/* Why a section has no claims. */
static const char *const unpublished[GROUP_COUNT] = {
    [GROUP_PAPERS] = "The paper's text has no numbers for this figure.",
    [GROUP_LATER] = "No number of the paper is published here, because none could be verified."};

static void add_unpublished(Claims *claims, const Table *table) {
    FILE *to = claims->sections.file;
    const bool has_ours = has_value(table);
    fprintf(to, "%s%s\n", unpublished[claims->group], has_ours ? " Ours:\n" : "");
    if (has_ours) add_values(to, table);
    if (claims->group == GROUP_LATER) verdicts_write_unpublished(table, claims->headlines.file);
}

void claims_add(Claims *claims, const Table *table) {
    const Experiment *experiment = table->experiment;
    FILE *to = claims->sections.file;
    claims->group = experiment->group;
    fprintf(to, "%s## %s, %s: %s\n\n`tyto reproduce %s --size %s`\n\n", ftell(to) ? "\n" : "",
            experiment->paper, experiment->place, experiment->title, experiment->id, claims->size);
    long heading_end = ftell(to);
    output_sides(table, to);
    output_absent(experiment, to);
    if (ftell(to) > heading_end) fprintf(to, "\n");
    if (!experiment->published.count) {
        add_unpublished(claims, table);
        return;
    }
    if (experiment->counting == COUNT_AS_ONE) add_as_one(claims, table);
    fprintf(to, "| claim about | of | place | paper | ours | verdict | why |\n"
                "|---|---|---|---|---|---|---|\n");
    for (int column = 0; column < table->columns; column++) {
        for (int row = 0; row < table->rows; row++) {
            if (table_cell(table, row, column)->claim) add_claim(claims, table, row, column);
        }
    }
    if (claims->group != GROUP_LATER || !has_value(table)) return;
    fprintf(to, "\nOurs:\n\n");
    add_values(to, table);
}

/* ---- The page ---- */

static const char papers_heading[] =
    "# Reproduction\n"
    "\n"
    "Every number that the papers' texts publish for the experiments, "
    "next to ours, from runs at size `%s`. Written by\n"
    "`tyto reproduce --markdown`. [Experiments](experiments.md) explains "
    "how to make and read this page. It links to the\n"
    "choices behind the figures and the reasons for differences.\n"
    "\n"
    "## Claims\n"
    "\n";

static const char rules[] =
    "| verdict | ours |\n"
    "|---|---|\n"
    "| agrees | differs by at most half of the claim, so the sign is the same; for a claim of no "
    "change, by at most one percentage point, or 0.01 of a ratio |\n"
    "| direction | has the same direction and is at least a third of the claim |\n"
    "| differs | anything else |\n"
    "\n"
    "Verdicts use the digits that the page prints. For a bound (\"at least\", \"at most\"), our "
    "number must be within it.\n"
    "\n";

static const char kinds[] =
    "* *Distinct claims* are all claims that the papers print, each counted once: effects, values, "
    "one-sided claims,\n"
    "  claims of no change, and runs whose numbers count as one claim.\n"
    "* *Effects* are gains and losses with a published size.\n"
    "* *Absolute values* are counts, shares and latencies. Their verdict below allows half of the "
    "value; this tally allows a\n"
    "  quarter.\n"
    "* *One-sided* claims say \"at least\" or \"at most\".\n"
    "\n";

static void add_tally(Tally *sum, const Tally *tally) {
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        sum->counts[verdict] += tally->counts[verdict];
}

static int count_all(const Tally *tally) {
    int all = 0;
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        all += tally->counts[verdict];
    return all;
}

static void add_paper(PaperTally *sum, const PaperTally *paper) {
    add_tally(&sum->distinct, &paper->distinct);
    add_tally(&sum->close, &paper->close);
    for (int kind = 0; kind < CLAIM_KIND_COUNT; kind++)
        add_tally(&sum->kinds[kind], &paper->kinds[kind]);
    for (int outside = 0; outside < OUTSIDE_COUNT; outside++)
        add_tally(&sum->outside[outside], &paper->outside[outside]);
}

static void write_heading(const char *title, const char *of, FILE *to) {
    if (title) fprintf(to, "%s\n\n", title);
    fprintf(
        to,
        "| %s | claims | agree | direction alone | differ | not run |\n|---|---|---|---|---|---|\n",
        of);
}

static void write_tally(const char *label, const Tally *tally, FILE *to) {
    /* in the order of the table's columns */
    static const Verdict columns[] = {VERDICT_AGREES, VERDICT_DIRECTION, VERDICT_DIFFERS,
                                      VERDICT_NONE};
    const int all = count_all(tally);
    fprintf(to, "| %s | %d |", label, all);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const int count = tally->counts[columns[i]];
        if (count) fprintf(to, " %d (%.1f%%) |", count, 100.0 * count / all);
        else fprintf(to, " 0 |");
    }
    fprintf(to, "\n");
}

/* Writes the published numbers that are in no tally, and how many of them agree. */
static void write_outside(const PaperTally *paper, FILE *to) {
    fprintf(to, "| %s |", paper->paper);
    for (int outside = 0; outside < OUTSIDE_COUNT; outside++) {
        const Tally *tally = &paper->outside[outside];
        const int all = count_all(tally);
        if (all) fprintf(to, " %d, %d agree |", all, tally->counts[VERDICT_AGREES]);
        else fprintf(to, " 0 |");
    }
    fprintf(to, "\n");
}

static void write_tallies(const Claims *claims, FILE *to) {
    PaperTally sum = {.paper = "all"};
    const PaperTally *papers = claims->tallies;
    for (int i = 0; i < claims->papers; i++)
        add_paper(&sum, &papers[i]);
    const bool has_sum = claims->papers > 1;
    write_heading(NULL, "tally", to);
    write_tally("distinct claims", &sum.distinct, to);
    write_tally("effects", &sum.kinds[CLAIM_EFFECT], to);
    write_tally("absolute values, within 25%", &sum.close, to);
    write_tally("one-sided", &sum.kinds[CLAIM_ONE_SIDED], to);
    fprintf(to, "\n%s%s", rules, kinds);
    write_heading("Distinct claims by paper:", "paper", to);
    for (int i = 0; i < claims->papers; i++)
        write_tally(papers[i].paper, &papers[i].distinct, to);
    if (has_sum) write_tally(sum.paper, &sum.distinct, to);
    fprintf(to, "\n");
    write_heading("Effects by paper:", "effects of", to);
    for (int i = 0; i < claims->papers; i++)
        write_tally(papers[i].paper, &papers[i].kinds[CLAIM_EFFECT], to);
    if (has_sum) write_tally(sum.paper, &sum.kinds[CLAIM_EFFECT], to);
    fprintf(
        to,
        "\nNot in any tally: numbers that another figure repeats, numbers that are derived from "
        "printed ones, and\n"
        "numbers to which our model was fitted. The table counts them, and how "
        "many of them agree.\n\n"
        "| not in a tally | repeated | derived | fitted |\n|---|---|---|---|\n");
    for (int i = 0; i < claims->papers; i++)
        write_outside(&papers[i], to);
    if (has_sum) write_outside(&sum, to);
    fprintf(to, "\n");
}

static void begin_papers(const Claims *claims, FILE *to) {
    fprintf(to, papers_heading, claims->size);
    write_tallies(claims, to);
    if (claims->headlines.length)
        fprintf(
            to,
            "## Headlines\n\nA mean rests on a program if less than half of its effect remains "
            "without "
            "that program.\n\n"
            "| of | claim | paper | ours | verdict | rests on |\n|---|---|---|---|---|---|\n%s\n",
            claims->headlines.text);
}

static void begin_later(const Claims *claims, FILE *to) {
    Tally all = {0};
    for (int i = 0; i < claims->papers; i++)
        add_tally(&all, &claims->tallies[i].distinct);
    verdicts_begin_page(claims->size, claims->headlines.text, to);
    write_heading(NULL, "tally", to);
    write_tally("published numbers", &all, to);
    fprintf(to, "\n%s", rules);
}

bool claims_write(Claims *claims, const char *path) {
    Stream page;
    open_stream(&page);
    fflush(claims->headlines.file);
    fflush(claims->sections.file);
    if (claims->group == GROUP_LATER) begin_later(claims, page.file);
    else begin_papers(claims, page.file);
    fputs(claims->sections.text, page.file);
    fclose(page.file);
    bool is_written = file_write(path, page.text, page.length);
    free(page.text);
    return is_written;
}
