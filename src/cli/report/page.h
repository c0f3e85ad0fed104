/* The page of a report: its frame, made at build time from the files of this folder
 * (embed_page.py), and a page that contains data. */
#ifndef TYTO_CLI_REPORT_PAGE_H
#define TYTO_CLI_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Between the first two: where the page may connect to; between the others: the data. */
extern const char report_page_head[];
extern const char report_page_middle[];
extern const char report_page_tail[];

/* A file of results. */
typedef struct ReportDocument {
    const char *path;
    char *text; /* owned by the code that read it */
    size_t length;
    bool is_table; /* CSV of tyto reproduce; else JSON */
} ReportDocument;

/* The page of these documents; `is_live`: it asks where it came from for a newer one. The caller
 * frees it. NULL after a message. */
char *report_page_text(const ReportDocument *documents, int count, bool is_live, size_t *length);

#endif
