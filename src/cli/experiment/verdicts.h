/* The beginning of docs/reproduction-later.md, the page of claims of later schedulers: a table with
 * a row for each headline, which has the scheduler, the machine and the programs. */
#ifndef TYTO_CLI_EXPERIMENT_VERDICTS_H
#define TYTO_CLI_EXPERIMENT_VERDICTS_H

#include <stdio.h>

#include "cli/experiment/table.h"

/* Writes the row of a cell; the three texts are what the page prints. */
void verdicts_write_row(const Table *table, int row, int column, const char *published,
                        const char *ours, const char *verdict, FILE *to);
/* Writes the row of an experiment without published numbers: its first mean in its first column. */
void verdicts_write_unpublished(const Table *table, FILE *to);
/* Writes the page's heading and the table of these rows. */
void verdicts_begin_page(const char *size, const char *rows, FILE *to);

#endif
