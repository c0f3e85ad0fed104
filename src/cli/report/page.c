/* Puts results into the page as JSON, in which '<', '>' and '&' are escaped (\u003c etc.), so that
 * a browser cannot take it for markup. The page itself is made at build time. */
#include "cli/report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/report/prune.h"

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

/* A sweep's results include the dimensions of the sweep. */
static bool is_sweep(const ReportDocument *document) {
    return strstr(document->text, "\"dimensions\":") && strstr(document->text, "\"metrics\":");
}

static void write_data(const ReportDocument *document, FILE *to) {
    char *text = NULL;
    size_t length;
    FILE *pruned = is_sweep(document) ? open_memstream(&text, &length) : NULL;
    if (pruned) prune_write(document->text, pruned);
    if (pruned) fclose(pruned);
    if (text) write_json(text, length, to);
    else write_json(document->text, document->length, to);
    free(text);
}

/* Writes the files of the machines that the documents name; the page needs them for the limits of a
 * kernel. If there are no documents yet, writes all machines. */
static void write_machines(const ReportDocument *documents, int count, bool is_live, FILE *to) {
    const char *before = "";
    fputs("\"machines\":{", to);
    for (int i = 0; i < tyto_machine_count(); i++) {
        char named[128];
        const char *name = tyto_machine_name(i);
        bool is_named = is_live;
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

/* A live page may connect to its own server; a page on disk may not connect at all. */
static void write_page(const ReportDocument *documents, int count, bool is_live, FILE *to) {
    fputs(report_page_head, to);
    fputs(is_live ? "'self'" : "'none'", to);
    fputs(report_page_middle, to);
    fprintf(to, "{\"live\":%s,\"documents\":[", is_live ? "true" : "false");
    for (int i = 0; i < count; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", to);
        write_string(documents[i].path, to);
        if (documents[i].is_table) {
            fputs(",\"text\":", to);
            write_string(documents[i].text, to);
        } else {
            fputs(",\"data\":", to);
            write_data(&documents[i], to);
        }
        fputc('}', to);
    }
    fputs("],", to);
    write_machines(documents, count, is_live, to);
    fputc('}', to);
    fputs(report_page_tail, to);
}

char *report_page_text(const ReportDocument *documents, int count, bool is_live, size_t *length) {
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    if (to) write_page(documents, count, is_live, to);
    if (to && fclose(to) == 0) return text;
    say_error("no memory for the report");
    free(text);
    return NULL;
}
