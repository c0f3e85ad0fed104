/* Policies given as a C file: they are compiled with cc into a shared object, in a folder that no
 * other user can write to. */
#ifndef TYTO_SCHED_COMPILE_H
#define TYTO_SCHED_COMPILE_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"

/* Whether a path names a C file. */
bool compile_is_source(const char *path);

/* A shared object compiled from a C file. */
typedef struct Compiled {
    Text path;   /* path of the shared object */
    Text folder; /* folder that compile_end removes with it; empty: the object is kept */
} Compiled;

/* Compiles a C file, unless a kept object can be used. The compiler's own messages go to standard
 * error. Returns false with an error in `diag`. */
bool compile_begin(const char *source, Compiled *out, Diag *diag);
/* Must be called when the shared object has been opened, or is not wanted. */
void compile_end(Compiled *compiled);

#endif
