/* What a page needs of a sweep's results: of each launch the few values that it shows. Whole
 * results of hundreds of runs would make a page of tens of megabytes. */
#ifndef TYTO_CLI_REPORT_PRUNE_H
#define TYTO_CLI_REPORT_PRUNE_H

#include <stddef.h>
#include <stdio.h>

/* Writes JSON, which must have no fault, without what no page shows of several runs, and without
 * blanks between its parts. */
void prune_write(const char *json, FILE *to);

#endif
