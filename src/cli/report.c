/* tyto report: results as one page that explains itself.
 *
 * The page is made at build time (cli/report/); here the results go into it, as JSON that no
 * browser takes for anything else: every '<', '>' and '&' of it is written as \u003c and so on. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/report/json.h"
#include "cli/report/page.h"

static const char default_output[] = "report.html";

/* A file of results. */
typedef struct Document {
    const char *path;
    char *text; /* owned */
    size_t length;
    bool is_table; /* CSV of tyto reproduce; else JSON */
} Document;

static void write_json(const char *text, size_t length, FILE *to) {
    for (size_t i = 0; i < length; i++) {
        if (strchr("<>&", text[i]) && text[i]) fprintf(to, "\\u%04x", (unsigned)text[i]);
        else fputc(text[i], to);
    }
}

static void write_string(const char *text, FILE *to) {
    fputc('"', to);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (strchr("\"\\<>&", *text) || byte < ' ') fprintf(to, "\\u%04x", byte);
        else fputc(*text, to);
    }
    fputc('"', to);
}

/* ---- Reading ---- */

/* Says where the fault stands. */
static bool refuse(const Document *document, const char *fault, size_t at) {
    int line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = document->text[i] == '\n' ? 1 : column + 1;
        line += document->text[i] == '\n';
    }
    say_error("%s:%d:%d: this is no JSON: %s", document->path, line, column, fault);
    return false;
}

static bool read_document(const char *path, Document *document) {
    static const char heading[] = "experiment,size,row,column,";
    size_t at;
    *document = (Document){.path = path, .text = file_read(path, FILE_DATA_MAX, &document->length)};
    if (!document->text) return false;
    document->length = strlen(document->text); /* a NUL ends it: no JSON goes on behind one */
    document->is_table = strncmp(document->text, heading, sizeof heading - 1) == 0;
    const char *fault =
        document->is_table ? NULL : json_fault(document->text, document->length, &at);
    return fault ? refuse(document, fault, at) : true;
}

/* ---- Writing ---- */

/* The files of the machines that the documents name, for what bounds a kernel. */
static void write_machines(const Document *documents, int count, FILE *to) {
    const char *before = "";
    fputs("\"machines\":{", to);
    for (int i = 0; i < tyto_machine_count(); i++) {
        char named[128];
        const char *name = tyto_machine_name(i);
        bool is_named = false;
        snprintf(named, sizeof named, "\"machine\": \"%s\"", name);
        for (int d = 0; d < count; d++)
            is_named |= strstr(documents[d].text, named) != NULL;
        char *text = is_named ? tyto_machine_text(name, 0, NULL, named, sizeof named) : NULL;
        if (!text) continue;
        fprintf(to, "%s\"%s\":", before, name);
        write_string(text, to);
        free(text);
        before = ",";
    }
    fputc('}', to);
}

static void write_page(const Document *documents, int count, FILE *to) {
    fputs(report_page_head, to);
    fputs("{\"documents\":[", to);
    for (int i = 0; i < count; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", to);
        write_string(documents[i].path, to);
        if (documents[i].is_table) {
            fputs(",\"text\":", to);
            write_string(documents[i].text, to);
        } else {
            fputs(",\"data\":", to);
            write_json(documents[i].text, documents[i].length, to);
        }
        fputc('}', to);
    }
    fputs("],", to);
    write_machines(documents, count, to);
    fputc('}', to);
    fputs(report_page_tail, to);
}

static bool write_report(const Document *documents, int count, const char *path) {
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (!to) {
        say_error("no memory for the report");
        return false;
    }
    write_page(documents, count, to);
    bool is_written = fclose(to) == 0 && file_write(path, text, length);
    free(text);
    return is_written;
}

static int run_report(Arguments *arguments) {
    const char *path = arguments_value(arguments, "--output");
    Document *documents = allocate((size_t)arguments->operand_count, sizeof *documents);
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
    {"--output", "FILE", default_output, "The page to write, - being standard output.", NULL,
     TYTO_OPTION_FILE},
};

const Command command_report = {
    .name = "report",
    .operands = "FILE...",
    .summary = "Make a page with pictures of what runs, comparisons and experiments came to",
    .text =
        "A FILE is what --json of tyto run, launch, compare or sweep wrote, or --csv of tyto "
        "reproduce;\n"
        "several are shown side by side. The page is one file that opens in any browser, and asks\n"
        "the network for nothing. It shows what it is given: where warps stood by line with\n"
        "--profile, the course of a run with --sample, thread blocks with --ctas.\n"
        "\n"
        "  tyto run --profile --sample 1000 --ctas ctas.csv --json gto.json --scheduler gto spmv\n"
        "  tyto report --output spmv.html gto.json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_report,
};
