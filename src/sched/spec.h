/* How the user names a policy: `name`, or `name:parameter=value,parameter=value`. The parameters'
 * rows (tyto/policy.h) say which there are, and what values they take. */
#ifndef TYTO_SCHED_SPEC_H
#define TYTO_SCHED_SPEC_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "tyto/policy.h"

/* Whose parameters they are. */
typedef struct SpecOwner {
    const char *name; /* of the policy, for messages */
    const TytoPolicyParameter *rows;
    uint32_t count; /* of the rows */
} SpecOwner;

/* The values of every row, owned by `arena`: what `text` says, else the rows' initial values.
 * `text` is what follows the policy's name: empty, or `:parameter=value,...`. NULL, with every
 * mistake told to `diag`, when a parameter is unknown or named twice, or a value is of the wrong
 * kind or out of bounds. */
const double *spec_read(const SpecOwner *owner, const char *text, Arena *arena, Diag *diag);

/* The policy as the user would name it, with those values that are not initial ones:
 * `two-level:group=2,inner=gto`. Owned by `arena`. */
const char *spec_write(const SpecOwner *owner, const char *name, const double *values,
                       Arena *arena);

/* Writes one value: a choice's name, else the number. */
void spec_write_value(Text *out, const TytoPolicyParameter *row, double value);

/* Writes what a row takes: `1 to 64`, or `lrr|gto`. */
void spec_write_bounds(Text *out, const TytoPolicyParameter *row);

/* Tells that there is no `kind` (such as "warp scheduler") of this name, and the nearest name. */
void spec_unknown(const char *kind, const char *name, const char *const *names, int count,
                  Diag *diag);

/* What is wrong with rows of parameters (of a plug-in); NULL when nothing is. */
const char *spec_check_rows(const TytoPolicyParameter *rows, uint32_t count);

#endif
