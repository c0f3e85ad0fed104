/* Tables as text, CSV and pictures. */
#ifndef TYTO_CLI_EXPERIMENT_OUTPUT_H
#define TYTO_CLI_EXPERIMENT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/experiment/table.h"

/* The paper's numbers next to ours, and whether its claims hold. */
void output_text(const Table *table, const char *size, FILE *to);
void output_csv_heading(FILE *to);
/* A line for each program or mean and column: ours, published, verdict, place; the run that it is
 * of, with all that decided it, and the command of the one that it is divided by. False after a
 * message. */
bool output_csv(const Table *table, const Study *study, FILE *to);
/* Lines that other pages have too: the programs on the paper's side of each threshold, and those
 * that we do not have. */
void output_sides(const Table *table, FILE *to);
void output_absent(const Experiment *experiment, FILE *to);
/* A picture drawn by gnuplot, PDF if the path ends so and else SVG; says so on stderr when there is
 * no gnuplot. False after a message. */
bool output_plot(const Table *table, const char *size, const char *path, const Words *command);

#endif
