/* The page of a report: what stands before its data, and behind them. Made at build time from the
 * files of this folder (embed_page.py). */
#ifndef TYTO_CLI_REPORT_PAGE_H
#define TYTO_CLI_REPORT_PAGE_H

extern const char report_page_head[];
extern const char report_page_tail[];

#endif
