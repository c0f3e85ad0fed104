/* Policies that are named by their C file: compiled with cc into a shared object in a folder that
 * no other user can write to. */
#ifndef TYTO_SCHED_COMPILE_H
#define TYTO_SCHED_COMPILE_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"

/* Whether a path names a C file. */
bool compile_is_source(const char *path);

/* A shared object made of a C file. */
typedef struct Compiled {
    Text path;   /* of the shared object */
    Text folder; /* that goes with it, in compile_end; empty: both stay for the next time */
} Compiled;

/* Compiles a C file, unless that was done before; the compiler's own messages go to standard error.
 * False with an error in `diag`. */
bool compile_begin(const char *source, Compiled *out, Diag *diag);
/* The shared object has been opened, or is not wanted. */
void compile_end(Compiled *compiled);

#endif
