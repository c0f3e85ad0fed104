/* How the user names a policy: `name`, or `name:parameter=value,parameter=value`. The parameters'
 * rows (tyto/policy.h) define the parameters and their values. */
#ifndef TYTO_SCHED_SPEC_H
#define TYTO_SCHED_SPEC_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "tyto/policy.h"

/* The policy that has the parameters. */
typedef struct SpecOwner {
    const char *name; /* name of the policy, for messages */
    const TytoPolicyParameter *rows;
    uint32_t count; /* number of rows */
} SpecOwner;

/* The values of all rows, owned by `arena`: from `text`, else the rows' initial values. `text` is
 * what follows the policy's name: empty, or `:parameter=value,...`. Returns NULL, with every
 * mistake in `diag`, if a parameter is unknown or named twice, or a value has the wrong kind or is
 * out of bounds. */
const double *spec_read(const SpecOwner *owner, const char *text, Arena *arena, Diag *diag);

/* The policy as the user would name it, with the values that differ from the defaults:
 * `two-level:group=2,inner=gto`. Owned by `arena`. */
const char *spec_write(const SpecOwner *owner, const char *name, const double *values,
                       Arena *arena);

/* Writes one value: the name of a choice, else the number. */
void spec_write_value(Text *out, const TytoPolicyParameter *row, double value);

/* Writes the values that a row takes: `1 to 64`, or `lrr|gto`. */
void spec_write_bounds(Text *out, const TytoPolicyParameter *row);

/* Reports that there is no `kind` (such as "warp scheduler") of this name, and the nearest name. */
void spec_unknown(const char *kind, const char *name, const char *const *names, int count,
                  Diag *diag);

/* The error in the rows of a plug-in's parameters; NULL: none. */
const char *spec_check_rows(const TytoPolicyParameter *rows, uint32_t count);

#endif
