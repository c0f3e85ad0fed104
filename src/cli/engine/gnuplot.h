/* Draws pictures with gnuplot.
 *
 * A script could run commands, so it contains no text from a user or a file: labels are in a file
 * of data, titles are arguments, and only numbers vary in the script. gnuplot writes to a pipe, and
 * this process writes the file. */
#ifndef TYTO_CLI_ENGINE_GNUPLOT_H
#define TYTO_CLI_ENGINE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/engine/words.h"

typedef void PictureWriter(const void *context, FILE *to);

typedef struct Picture {
    const char *path;            /* of the file; "-": standard output */
    const Words *command;        /* that draws it; an SVG contains it */
    const char *title;           /* ARG2 of the script */
    const char *texts;           /* ARG3: words with a meaning defined by the script; "": none */
    PictureWriter *write_script; /* ARG1 is the file of data */
    PictureWriter *write_data;   /* fields between tabs */
    const void *context;         /* for both */
} Picture;

/* Whether the path is valid for a picture: if it has an ending, that is .svg or .pdf. NULL, for no
 * picture, is valid too. False after a message. */
bool gnuplot_check_path(const char *path);
/* Draws a picture, or reports on stderr that gnuplot is not installed. False after a message. */
bool gnuplot_draw(const Picture *picture);
/* Adds a tab and a label to data. gnuplot would treat quotes as grouping, so similar letters
 * replace them. */
void gnuplot_write_label(const char *text, FILE *to);
/* Adds to a script the terminal for the ending of a path (.pdf, else SVG), with a size in pixels,
 * and the settings of every picture: texts are literal, tabs separate fields, missing values are
 * NaN. */
void gnuplot_write_terminal(const char *path, int width, int height, FILE *to);
/* Adds the same and the settings of every graph of a table: ARG2 as its title, ARG3 at its axis,
 * horizontal grid lines, and the key below. */
void gnuplot_write_settings(const char *path, int width, int height, FILE *to);
/* Adds line types 1 to 12, which are distinct in print and for the colour-blind. */
void gnuplot_write_colours(FILE *to);

#endif
