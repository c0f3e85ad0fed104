/* Which launches of a timed run are timed: --kernels names kernels, and --skip excludes the first
 * launches. The others run functionally. */
#ifndef TYTO_SIMULATOR_SELECTION_H
#define TYTO_SIMULATOR_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"

typedef struct Selection Selection;

/* `names`: patterns separated by commas; NULL: every kernel. `skip`: number of launches of those
 * kernels that are not timed. Returns NULL with errors in `diag`. */
Selection *selection_new(const char *names, uint64_t skip, Diag *diag);
void selection_free(Selection *selection); /* NULL is allowed */

/* Whether `name` is the source name of the kernel with a mangled name: "space::kernel" or its last
 * part, without template arguments; * and ? are wildcards. */
bool selection_is_named(const char *kernel, const char *name);

/* Whether the next launch of this kernel is timed. */
bool selection_takes(const Selection *selection, const char *kernel);
/* Called after the kernel was launched, timed or not. */
void selection_count(Selection *selection, const char *kernel);

/* Warns about patterns that no launch matched, and about a --skip that excluded all launches. The
 * keys of `launched` are the names of all kernels launched. */
void selection_check(const Selection *selection, const Map *launched, Diag *diag);

#endif
