/* Which launches of a run in detail are timed: --kernels names them, --skip passes over the first
 * ones. The others run functionally. */
#ifndef TYTO_SIMULATOR_SELECTION_H
#define TYTO_SIMULATOR_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"

typedef struct Selection Selection;

/* `names`: patterns with commas between them, NULL: every kernel. `skip`: launches of those kernels
 * that are not timed yet. NULL with errors in `diag`. */
Selection *selection_new(const char *names, uint64_t skip, Diag *diag);
void selection_free(Selection *selection); /* NULL is allowed */

/* Whether the kernel, by its mangled name, has `name` in the source: "space::kernel" or its last
 * part, without a template's arguments; * and ? stand for any letters. */
bool selection_is_named(const char *kernel, const char *name);

/* Whether the next launch, if of this kernel, is timed. */
bool selection_takes(const Selection *selection, const char *kernel);
/* The kernel was launched, timed or not. */
void selection_count(Selection *selection, const char *kernel);

/* Warns of patterns that no launch matched, and of a --skip that left nothing. The keys of
 * `launched` are the names of all kernels launched. */
void selection_check(const Selection *selection, const Map *launched, Diag *diag);

#endif
