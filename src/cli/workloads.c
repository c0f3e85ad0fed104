/* tyto workloads: lists the benchmark programs by suite. Their descriptions come from the table in
 * workloads/README.md. */
#include "cli/workloads.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/program.h"

enum { MOST_SUITES = 32, LINE_WIDTH = 92 };

/* A row of the table: "| `aes` | CUDA SDK | OWL AES, PRO AES | AES-128 of ... |". */
typedef struct Workload {
    char *name, *suite, *papers, *algorithm; /* parts of the page's text */
} Workload;

typedef struct Workloads {
    char *text; /* the page; owned, as the list */
    Workload *list;
    int count;
} Workloads;

/* The next cell of a row, without the blanks and marks around it; NULL: none. */
static char *take_cell(char **rest) {
    char *cell = *rest ? strsep(rest, "|") : NULL;
    if (!cell || !*rest) return NULL;
    cell += strspn(cell, " `");
    for (char *end = cell + strlen(cell); end > cell && strchr(" `", end[-1]);)
        *--end = '\0';
    return cell;
}

static bool read_workloads(Workloads *workloads) {
    char folder[PATH_MAX], path[PATH_MAX + sizeof "/README.md"];
    size_t length;
    program_find_workloads(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/README.md", folder);
    *workloads = (Workloads){.text = file_read(path, FILE_TEXT_MAX, &length)};
    if (!workloads->text) return false;
    char *rest = workloads->text, *line;
    workloads->list =
        allocate(length / 4 + 1, sizeof *workloads->list); /* more items than the page has lines */
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (strncmp(line, "| `", 3) != 0) continue;
        line++;
        Workload row = {take_cell(&line), take_cell(&line), take_cell(&line), take_cell(&line)};
        if (row.algorithm && program_is_workload(row.name))
            workloads->list[workloads->count++] = row;
    }
    return true;
}

static void free_workloads(Workloads *workloads) {
    free(workloads->text);
    free(workloads->list);
}

/* The suites in the order of their first programs. */
static int list_suites(const Workloads *workloads, const char *suites[MOST_SUITES]) {
    int count = 0;
    for (int i = 0; i < workloads->count; i++) {
        int s = 0;
        while (s < count && strcmp(suites[s], workloads->list[i].suite) != 0)
            s++;
        if (s == count && count < MOST_SUITES) suites[count++] = workloads->list[i].suite;
    }
    return count;
}

void workloads_print_names(void) {
    Workloads workloads;
    const char *suites[MOST_SUITES];
    if (!read_workloads(&workloads)) return;
    int count = list_suites(&workloads, suites);
    for (int s = 0; s < count; s++) {
        int at = printf("  %-10s", suites[s]);
        for (int i = 0; i < workloads.count; i++) {
            const Workload *row = &workloads.list[i];
            if (strcmp(row->suite, suites[s]) != 0) continue;
            if (at + 1 + (int)strlen(row->name) > LINE_WIDTH) at = printf("\n%-12s", "") - 1;
            at += printf(" %s", row->name);
        }
        printf("\n");
    }
    free_workloads(&workloads);
}

/* Adds the names of all workloads except those of one suite. */
static void list_without(const char *suite, Words *words) {
    Workloads workloads;
    if (!read_workloads(&workloads)) return;
    for (int i = 0; i < workloads.count; i++)
        if (strcmp(workloads.list[i].suite, suite) != 0) words_add(words, workloads.list[i].name);
    free_workloads(&workloads);
}

void workloads_list(Words *words) { list_without("", words); }

void workloads_list_suites(Words *words) { list_without("Tyto", words); }

static int run_workloads(Arguments *arguments) {
    Workloads workloads;
    const char *suites[MOST_SUITES];
    const char *word = arguments->operand_count ? arguments->operands[0] : NULL;
    if (!read_workloads(&workloads)) return EXIT_FAILED;
    int count = list_suites(&workloads, suites), shown = 0;
    for (int s = 0; s < count; s++) {
        bool has_heading = false;
        for (int i = 0; i < workloads.count; i++) {
            const Workload *row = &workloads.list[i];
            if (strcmp(row->suite, suites[s]) != 0) continue;
            if (word && !strcasestr(row->name, word) && !strcasestr(row->suite, word) &&
                !strcasestr(row->papers, word) && !strcasestr(row->algorithm, word))
                continue;
            if (!has_heading) printf("%s%s\n", shown ? "\n" : "", suites[s]);
            has_heading = true;
            shown++;
            printf("  %-15s %s\n", row->name, row->algorithm);
            if (*row->papers) printf("  %-15s in the papers: %s\n", "", row->papers);
        }
    }
    free_workloads(&workloads);
    if (shown) return EXIT_DONE;
    say_error("no workload has '%s' in its name, suite or description", word ? word : "");
    return EXIT_USAGE;
}

const Command command_workloads = {
    .name = "workloads",
    .operands = "[WORD]",
    .summary = "List the workloads by suite, or those that mention a word",
    .text = "  tyto workloads\n"
            "  tyto workloads CCWS\n"
            "  tyto run spmv --help         its own arguments\n",
    .most_operands = 1,
    .run = run_workloads,
};
