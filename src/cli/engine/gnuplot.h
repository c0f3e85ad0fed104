/* Pictures drawn by gnuplot.
 *
 * Nothing that a user or a file names is part of a script, which could run commands: labels stand
 * in a file of data, titles are arguments, and of the script only numbers vary. gnuplot writes to a
 * pipe; the file is ours to write. */
#ifndef TYTO_CLI_ENGINE_GNUPLOT_H
#define TYTO_CLI_ENGINE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/engine/words.h"

typedef void PictureWriter(const void *context, FILE *to);

typedef struct Picture {
    const char *path;            /* of the file; "-": standard output */
    const Words *command;        /* that draws it, which an SVG says */
    const char *title;           /* ARG2 of the script */
    const char *texts;           /* ARG3: words of the script's own choice; "": none */
    PictureWriter *write_script; /* ARG1 is the file of data */
    PictureWriter *write_data;   /* fields between tabs */
    const void *context;         /* for both */
} Picture;

/* Whether a picture can be drawn there: an ending, where there is one, is .svg or .pdf. NULL, for
 * no picture, is right too. False after a message. */
bool gnuplot_check_path(const char *path);
/* Draws a picture, or says on stderr that gnuplot is not installed. False after a message. */
bool gnuplot_draw(const Picture *picture);
/* Adds a tab and a label to data. Quotes would group letters, so they become others that look like
 * them. */
void gnuplot_write_label(const char *text, FILE *to);
/* Adds to a script the terminal that the ending of a path asks for (.pdf, else SVG), in pixels, and
 * what every picture has: texts mean just their letters, fields end at tabs, missing values are
 * NaN.
 */
void gnuplot_write_terminal(const char *path, int width, int height, FILE *to);
/* That, and what every graph of a table has: ARG2 as its title, ARG3 at its axis, rules across, the
 * key below. */
void gnuplot_write_settings(const char *path, int width, int height, FILE *to);
/* Adds line types 1 to 12, which stay apart in print and for the colour-blind. */
void gnuplot_write_colours(FILE *to);

#endif
