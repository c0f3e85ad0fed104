/* Writes the page of a league (see the header). Columns of the sweep are rows of most tables here:
 * a page has room for many lines, not for many columns. */
#include "cli/sweep/league_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/sweep/causes.h"
#include "cli/sweep/league.h"
#include "cli/sweep/output.h"

static const char BEGIN[] = "<!-- league -->\n", END[] = "<!-- end -->\n";

typedef struct Page {
    const Sweep *sweep;
    Store *store;
    const League *league;
    const int *order;     /* columns of the league, the best first */
    const Words *columns; /* their names */
    bool *is_in;          /* a set of the league's rows, for one table or cell */
    FILE *to;
} Page;

/* Writes a name as code in a cell: nothing in it can end the cell or the code. */
static void write_code(const char *name, FILE *to) {
    fputc('`', to);
    for (; *name; name++) {
        if (*name == '|') fputs("\\|", to);
        else fputc((unsigned char)*name < ' ' || *name == '`' ? '?' : *name, to);
    }
    fputc('`', to);
}

static void write_column(const Page *page, int column) {
    const char *name = page->columns->list[column];
    if (*name) write_code(name, page->to);
    else fputs("machine's own", page->to);
}

static void write_ratio(double value, FILE *to) {
    if (isnan(value)) fputs(" - |", to);
    else fprintf(to, " %.3f |", value);
}

/* ---- The ranking ---- */

static int machines_of(const Sweep *sweep) {
    for (int i = 0; i < sweep->dimension_count; i++)
        if (sweep->dimensions[i].vary == VARY_MACHINE) return i;
    return -1;
}

/* The geometric mean of a column on one machine. */
static double mean_on(const Page *page, int column, int machine) {
    const int dimension = machines_of(page->sweep);
    int rows;
    for (int row = 0; row < page->league->rows; row++)
        page->is_in[row] = page->league->choices[row][dimension] == machine;
    return league_mean_of(page->league, column, page->is_in, &rows);
}

/* The machines, if there are several. */
static const Words *listed_machines(const Sweep *sweep) {
    static const Words none;
    const int dimension = machines_of(sweep);
    return dimension >= 0 && sweep_varies(sweep, dimension) ? &sweep->dimensions[dimension].values
                                                            : &none;
}

static void write_ranking_heading(const Page *page) {
    const Words *machines = listed_machines(page->sweep);
    fprintf(page->to, "\n## Ranking\n\n| scheduler | geo. mean |");
    for (int i = 0; i < machines->count; i++) {
        char *machine = sweep_label(page->sweep, machines_of(page->sweep), i);
        fputc(' ', page->to);
        write_code(machine, page->to);
        fputs(" |", page->to);
        free(machine);
    }
    for (int f = 0; f < LEAGUE_FIGURES; f++)
        fprintf(page->to, " %s |", league_figure_names[f]);
    fprintf(page->to, " host time |\n|---|");
    for (int i = 0; i < machines->count + LEAGUE_FIGURES + 2; i++)
        fprintf(page->to, "---|");
    fputc('\n', page->to);
}

static void write_worst(const Page *page, int column) {
    const double worst = page->league->figures[LEAGUE_WORST][column];
    int row = 0;
    while (row < page->league->rows && !(league_is_complete(page->league, row) &&
                                         league_at(page->league, row, column) == worst))
        row++;
    fprintf(page->to, " %.3f", worst);
    if (row < page->league->rows && worst < 1) {
        fputc(' ', page->to);
        write_code(page->league->labels[row], page->to);
    }
    fputs(" |", page->to);
}

static void write_figure(const Page *page, LeagueFigure figure, int column) {
    const double value = page->league->figures[figure][column];
    if (figure == LEAGUE_WORST) write_worst(page, column);
    else if (figure == LEAGUE_GAIN || figure == LEAGUE_LOSS)
        fprintf(page->to, " %.0f%% |", 100 * value);
    else if (figure == LEAGUE_STORAGE && !isnan(value)) fprintf(page->to, " %.0f |", value);
    else write_ratio(value, page->to);
}

/* The host's seconds for a column's runs of the complete rows; NAN if one of them has none. */
static bool read_host_seconds(const Page *page, int column, double *sum) {
    const int across = sweep_across(page->sweep);
    bool is_read = true;
    *sum = 0;
    for (int row = 0; row < page->league->rows && is_read; row++) {
        int *choice = page->league->choices[row];
        double seconds = NAN;
        if (!league_is_complete(page->league, row)) continue;
        choice[across] = column;
        const Point *point = sweep_find(page->sweep, choice);
        if (point) is_read = sweep_host_seconds(page->sweep, page->store, point, &seconds);
        choice[across] = 0;
        *sum += seconds;
    }
    return is_read;
}

static bool write_ranking(const Page *page) {
    const League *league = page->league;
    const int machines = listed_machines(page->sweep)->count;
    double base, seconds;
    if (!read_host_seconds(page, page->sweep->baseline, &base)) return false;
    write_ranking_heading(page);
    for (int i = 0; i < league->columns; i++) {
        const int column = page->order[i];
        fputs("| ", page->to);
        write_column(page, column);
        fputs(" |", page->to);
        write_ratio(league->means[LEAGUE_GEOMETRIC][column], page->to);
        for (int machine = 0; machine < machines; machine++)
            write_ratio(mean_on(page, column, machine), page->to);
        for (int f = 0; f < LEAGUE_FIGURES; f++)
            write_figure(page, (LeagueFigure)f, column);
        if (!read_host_seconds(page, column, &seconds)) return false;
        if (isnan(seconds / base)) fprintf(page->to, " - |\n");
        else fprintf(page->to, " %.2f |\n", seconds / base);
    }
    fprintf(page->to, "| *best of each row* |");
    write_ratio(league->oracle, page->to);
    for (int machine = 0; machine < machines; machine++)
        write_ratio(mean_on(page, LEAGUE_BEST, machine), page->to);
    for (int f = 0; f <= LEAGUE_FIGURES; f++)
        fputs("  |", page->to);
    fputc('\n', page->to);
    return true;
}

/* ---- Causes ---- */

static void write_cause(Cause cause, bool is_mean, double value, FILE *to) {
    if (isnan(value)) fputs(" - |", to);
    else if (!is_mean) fprintf(to, " %+.2f |", value);
    else if (cause == CAUSE_WARPS) fprintf(to, " %.1f |", value);
    else fprintf(to, " %.1f%% |", 100 * value);
}

static void write_causes_table(const Page *page, const char *title, double *const values[CAUSES],
                               bool is_mean) {
    fprintf(page->to, "\n## %s\n\n| scheduler |", title);
    for (int cause = 0; cause < CAUSES; cause++)
        fprintf(page->to, " %s |", cause_rows[cause].name);
    fprintf(page->to, "\n|---|");
    for (int cause = 0; cause < CAUSES; cause++)
        fputs("---|", page->to);
    for (int i = 0; i < page->league->columns; i++) {
        fputs("\n| ", page->to);
        write_column(page, page->order[i]);
        fputs(" |", page->to);
        for (int cause = 0; cause < CAUSES; cause++)
            write_cause((Cause)cause, is_mean, values[cause][page->order[i]], page->to);
    }
    fputc('\n', page->to);
}

static bool write_causes(const Page *page) {
    Causes *causes = causes_new(page->sweep, page->store, page->league);
    if (!causes) return false;
    write_causes_table(page, "What changed", causes->means, true);
    if (page->league->complete >= CAUSES_LEAST_ROWS)
        write_causes_table(page, "What goes with a speed-up", causes->agreement, false);
    causes_free(causes);
    return true;
}

/* ---- Which scheduler, when ---- */

/* A property of a row's run under the baseline. The bounds are ours. */
typedef struct Trait {
    const char *name;
    const char *metric, *of; /* the quantity: a metric, divided by another one unless NULL */
    double from, below;      /* a row has the property if the quantity is in this interval */
} Trait;

static const Trait traits[] = {
    {"all rows", "cycles", NULL, 0, INFINITY},
    {"L1D evictions: at least one in four lookups", "l1d_evictions", "l1d_accesses", 0.25,
     INFINITY},
    {"DRAM bus busy: at least 30% of the time", "dram_bandwidth_use", NULL, 0.3, INFINITY},
    {"issued: at least half of scheduler cycles", "issued_share", NULL, 0.5, INFINITY},
    {"warps on an SM: 24 or more", "resident_warps", NULL, 24, INFINITY},
    {"warps on an SM: fewer than 8", "resident_warps", NULL, 0, 8},
};

enum { TRAITS = sizeof traits / sizeof traits[0], PICKS = 3 };

/* Finds the rows that have a property. */
static bool find_rows(const Page *page, const Trait *trait) {
    const int across = sweep_across(page->sweep);
    bool is_read = true;
    for (int row = 0; row < page->league->rows && is_read; row++) {
        int *choice = page->league->choices[row];
        double value = NAN, of = 1;
        choice[across] = page->sweep->baseline;
        const Point *point = sweep_find(page->sweep, choice);
        choice[across] = 0;
        page->is_in[row] = false;
        if (!point) continue;
        is_read = sweep_number(page->sweep, page->store, point, trait->metric, &value) &&
                  (!trait->of || sweep_number(page->sweep, page->store, point, trait->of, &of));
        value = of > 0 ? value / of : NAN;
        page->is_in[row] = value >= trait->from && value < trait->below;
    }
    return is_read;
}

/* Finds the columns with the highest means over the rows of page->is_in, the best first. Columns
 * with equal means keep the order of the ranking. Returns the number of rows. */
static int find_picks(const Page *page, int picks[PICKS], double means[PICKS]) {
    int rows = 0, count = 0;
    for (int i = 0; i < page->league->columns; i++) {
        const double mean = league_mean_of(page->league, page->order[i], page->is_in, &rows);
        int at = count < PICKS ? count++ : PICKS - 1;
        if (count == PICKS && at == PICKS - 1 && i >= PICKS && !(mean > means[at])) continue;
        for (; at && means[at - 1] < mean; at--) {
            picks[at] = picks[at - 1];
            means[at] = means[at - 1];
        }
        picks[at] = page->order[i];
        means[at] = mean;
    }
    return rows;
}

static bool write_picks(const Page *page) {
    fprintf(page->to, "\n## Which scheduler, when\n\n"
                      "| rows, by what they do under the baseline | rows | best | second | third | "
                      "best of each row |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < TRAITS; i++) {
        int picks[PICKS], same;
        double means[PICKS];
        if (!find_rows(page, &traits[i])) return false;
        const int rows = find_picks(page, picks, means);
        fprintf(page->to, "| %s | %d |", traits[i].name, rows);
        for (int pick = 0; pick < PICKS; pick++) {
            if (!rows || pick >= page->league->columns) {
                fputs(" - |", page->to);
                continue;
            }
            fputc(' ', page->to);
            write_column(page, picks[pick]);
            write_ratio(means[pick], page->to);
        }
        write_ratio(league_mean_of(page->league, LEAGUE_BEST, page->is_in, &same), page->to);
        fputc('\n', page->to);
    }
    return true;
}

/* ---- The best of each row ---- */

static void write_best(const Page *page) {
    const League *league = page->league;
    fprintf(page->to, "\n## The best of each row\n\n| row | best | speed-up | worst | speed-up |\n"
                      "|---|---|---|---|---|\n");
    for (int row = 0; row < league->rows; row++) {
        int best = page->order[0], worst = best;
        if (!league_is_complete(league, row)) continue;
        for (int i = 0; i < league->columns; i++) {
            const int column = page->order[i];
            const double value = league_at(league, row, column);
            if (value > league_at(league, row, best)) best = column;
            if (value < league_at(league, row, worst)) worst = column;
        }
        fputs("| ", page->to);
        write_code(league->labels[row], page->to);
        fputs(" | ", page->to);
        write_column(page, best);
        fprintf(page->to, " | %.3f | ", league_at(league, row, best));
        write_column(page, worst);
        fprintf(page->to, " | %.3f |\n", league_at(league, row, worst));
    }
}

/* ---- The page ---- */

static void write_heading(const Page *page, const Words *command) {
    const League *league = page->league;
    char *what = sweep_describe(page->sweep), *line = words_join(command);
    fprintf(page->to, "Tyto %s, %s.\nThe numbers are speed-ups over ", tyto_version(), what);
    write_column(page, page->sweep->baseline);
    fprintf(page->to, ", as ratios of cycles.\n");
    if (league->complete < league->rows)
        fprintf(page->to, "The tables leave out %d of %d rows, which lack a run.\n",
                league->rows - league->complete, league->rows);
    fprintf(page->to, "[Sweeps](sweep.md#a-league) defines the columns. Written by\n\n    ");
    for (const char *letter = line; *letter; letter++)
        fputc((unsigned char)*letter < ' ' ? '?' : *letter, page->to);
    fputc('\n', page->to);
    free(line);
    free(what);
}

static bool write_all(const Page *page, const Words *command) {
    write_heading(page, command);
    if (!write_ranking(page) || !write_picks(page) || !write_causes(page)) return false;
    write_best(page);
    return true;
}

/* Puts `text` between the marks of the file that exists, if it has them, or after a title. */
static bool put(const char *path, const char *text) {
    char *old = NULL, *whole = NULL;
    size_t length;
    struct stat is;
    if (strcmp(path, "-") != 0 && stat(path, &is) == 0 && S_ISREG(is.st_mode)) {
        old = file_read(path, FILE_TEXT_MAX, &length);
        if (!old) return false;
    }
    char *begin = old ? strstr(old, BEGIN) : NULL, *end = begin ? strstr(begin, END) : NULL;
    FILE *to = open_memstream(&whole, &length);
    if (!to) {
        free(old);
        say_error("out of memory");
        return false;
    }
    if (end) fprintf(to, "%.*s%s\n%s\n%s", (int)(begin - old), old, BEGIN, text, end);
    else fprintf(to, "# League\n\n%s", text);
    fclose(to);
    const bool is_written = file_write(path, whole, length);
    free(whole);
    free(old);
    return is_written;
}

bool league_write_page(const Sweep *sweep, Store *store, const Words *command, const char *path) {
    League *league = league_new(sweep, store);
    char *text = NULL;
    size_t length;
    if (!league) return false;
    int *order = league_rank(league);
    const Page page = {.sweep = sweep,
                       .store = store,
                       .league = league,
                       .order = order,
                       .columns = &sweep->dimensions[sweep_across(sweep)].values,
                       .is_in = allocate((size_t)league->rows + 1, sizeof *page.is_in),
                       .to = open_memstream(&text, &length)};
    bool is_written = page.to && write_all(&page, command);
    if (page.to) fclose(page.to);
    is_written = is_written && put(path, text);
    free(text);
    free(page.is_in);
    free(order);
    league_free(league);
    return is_written;
}
