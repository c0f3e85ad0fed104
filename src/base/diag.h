/* Diagnostics: messages about user input (PTX, machine files, options). A reader continues after an
 * error, so that one run reports several. Its caller prints them all and decides what to do. Format
 * of a line: `file:line:column: error: what: why`. */
#ifndef TYTO_BASE_DIAG_H
#define TYTO_BASE_DIAG_H

#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct Diag Diag;

enum { DIAG_MAX_ERRORS = 20 }; /* errors (warnings) beyond this are only counted */

Diag *diag_new(void);
void diag_free(Diag *diag);
/* Adds an error. `file` may be NULL, then only the text is printed. Line and column start at 1; 0
 * leaves them out. */
void diag_error(Diag *diag, const char *file, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void diag_warning(Diag *diag, const char *file, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void diag_verror(Diag *diag, const char *file, int line, int column, const char *format,
                 va_list args);
int diag_error_count(const Diag *diag);
int diag_warning_count(const Diag *diag);
/* All messages in order, one per line, each ending with '\n'; a last line says how many more errors
 * there were. Owned by `diag`, valid until the next call on it. Never NULL. */
const char *diag_text(Diag *diag);
void diag_print(Diag *diag, FILE *stream);

/* The most similar entry of `names` (count entries), or NULL if none is close enough to suggest
 * (edit distance over a third of the name's length). */
const char *diag_nearest(const char *name, const char *const *names, int count);

#endif
