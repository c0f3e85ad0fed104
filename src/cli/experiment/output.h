/* Writes tables as text, CSV and pictures. */
#ifndef TYTO_CLI_EXPERIMENT_OUTPUT_H
#define TYTO_CLI_EXPERIMENT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/experiment/table.h"

/* Writes the paper's numbers next to ours, and whether its claims hold. */
void output_text(const Table *table, const char *size, FILE *to);
void output_csv_heading(FILE *to);
/* Writes a line for each program or mean and column: our value, published value, verdict, place;
 * the run of the value with everything that determines it, and the command of the run that divides
 * it. False after a message. */
bool output_csv(const Table *table, const Study *study, FILE *to);
/* Writes lines that other pages have too: the programs on the paper's side of each threshold, and
 * the programs that we do not have. */
void output_sides(const Table *table, FILE *to);
void output_absent(const Experiment *experiment, FILE *to);
/* Draws a picture with gnuplot, as PDF if the path ends in .pdf, else as SVG. Reports on stderr if
 * gnuplot is not installed. False after a message. */
bool output_plot(const Table *table, const char *size, const char *path, const Words *command);

#endif
