/* Reduces a sweep's results to the values that a page shows of each launch. Whole results of
 * hundreds of runs would make a page of tens of megabytes. */
#ifndef TYTO_CLI_REPORT_PRUNE_H
#define TYTO_CLI_REPORT_PRUNE_H

#include <stddef.h>
#include <stdio.h>

/* Writes JSON, which must be valid, without the values that a page of several runs does not show,
 * and without blanks between its parts. */
void prune_write(const char *json, FILE *to);

#endif
