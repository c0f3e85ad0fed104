/* tyto report: writes results as one self-contained page. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/report/json.h"
#include "cli/report/page.h"

static const char default_output[] = "report.html";

/* ---- Reading ---- */

/* Reports the place of a syntax error. */
static bool refuse(const ReportDocument *document, const char *fault, size_t at) {
    int line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = document->text[i] == '\n' ? 1 : column + 1;
        line += document->text[i] == '\n';
    }
    say_error("%s:%d:%d: not JSON: %s", document->path, line, column, fault);
    return false;
}

/* Whether the file contains runs in the form that the page reads. */
static bool has_runs(const char *json) {
    return strstr(json, "\"kernels\":") && strstr(json, "\"total\":");
}

static bool read_document(const char *path, ReportDocument *document) {
    static const char heading[] = "experiment,size,row,column,";
    size_t at;
    *document =
        (ReportDocument){.path = path, .text = file_read(path, FILE_DATA_MAX, &document->length)};
    if (!document->text) return false;
    document->length = strlen(document->text); /* JSON contains no NUL, so a NUL ends the text */
    document->is_table = strncmp(document->text, heading, sizeof heading - 1) == 0;
    const char *fault =
        document->is_table ? NULL : json_fault(document->text, document->length, &at);
    if (fault) return refuse(document, fault, at);
    if (document->is_table || has_runs(document->text)) return true;
    say_error(
        "%s has no results: a report needs files that tyto run, launch, compare or sweep wrote "
        "with --json, or tyto reproduce with --csv",
        path);
    return false;
}

/* Prints the page's address as a URL, which browsers accept and terminals make clickable. */
static void say_written(const char *path, size_t length) {
    char *whole = realpath(path, NULL);
    put_text("%s: %.1f MB; open it in a browser: file://%s\n", path, (double)length / 1e6,
             whole ? whole : path);
    free(whole);
}

static bool write_report(const ReportDocument *documents, int count, const char *path) {
    size_t length;
    char *text = report_page_text(documents, count, false, &length);
    bool is_written = text && file_write(path, text, length);
    free(text);
    if (is_written && strcmp(path, "-") != 0) say_written(path, length);
    return is_written;
}

static int run_report(Arguments *arguments) {
    const char *path = arguments_value(arguments, "--output");
    ReportDocument *documents = allocate((size_t)arguments->operand_count, sizeof *documents);
    bool is_right = true;
    for (int i = 0; i < arguments->operand_count && is_right; i++)
        is_right = read_document(arguments->operands[i], &documents[i]);
    if (is_right)
        is_right = write_report(documents, arguments->operand_count, path ? path : default_output);
    for (int i = 0; i < arguments->operand_count; i++)
        free(documents[i].text);
    free(documents);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}

static const TytoOption options[] = {
    {"--output", "FILE", default_output, "The page to write; - is standard output.", NULL,
     TYTO_OPTION_FILE},
};

const Command command_report = {
    .name = "report",
    .operands = "FILE...",
    .summary = "Make a page that shows the results of runs, comparisons and experiments",
    .text =
        "A FILE is what --json of tyto run, launch, compare or sweep wrote, or --csv of tyto "
        "reproduce.\n"
        "Several files are shown side by side. The page is one file that opens in any browser and\n"
        "needs no network. It shows what the files contain: with --profile where warps waited, by\n"
        "line; with --sample the run over time; with --ctas the thread blocks.\n"
        "\n"
        "  tyto run --profile --sample 1000 --ctas ctas.csv --json gto.json --scheduler gto spmv\n"
        "  tyto report --output spmv.html gto.json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_report,
};
