/* Bars of a table as a paper prints them: a group for each row, a bar for each column of the
 * figure, from the value that means no difference, with what was published as marks beside ours.
 *
 * Of the table's columns a figure has those that are shown as the first is and measured by the same
 * setup; the others are there for a claim, and would dwarf the bars. A value far beyond the others
 * is cut at the edge and written there. */
#ifndef TYTO_CLI_EXPERIMENT_BARS_H
#define TYTO_CLI_EXPERIMENT_BARS_H

#include <stdio.h>

#include "cli/experiment/table.h"

/* Pixels that the figure is wide, its key below it included. */
int bars_width(const Table *table);
/* gnuplot's commands; ARG1 is the file of data. */
void bars_write_script(const Table *table, FILE *to);
/* The data: a block of rows, one of what was published, one of what was cut. */
void bars_write_data(const Table *table, FILE *to);

#endif
