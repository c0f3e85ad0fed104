/* The page of a report: its frame, made at build time from the files of this folder
 * (embed_page.py), and a page that contains data. */
#ifndef TYTO_CLI_REPORT_PAGE_H
#define TYTO_CLI_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The parts of the page. The address to which it may connect goes between the first two, the data
 * between the last two. */
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

/* The page with these documents. If `is_live`, it asks its server for updates. The caller frees it.
 * NULL after a message. */
char *report_page_text(const ReportDocument *documents, int count, bool is_live, size_t *length);

#endif
