/* How the user names a policy: `name`, or `name:parameter=value,parameter=value`. The parameters' rows
 * (tyto/policy.h) say which there are, and what values they take. */
#ifndef TYTO_SCHED_SPEC_H
#define TYTO_SCHED_SPEC_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"
#include "tyto/policy.h"

/* Sets values[i] of every row: what `text` (`parameter=value,...`; NULL or empty: nothing) says, else the
 * row's initial value. False, with every mistake told to `diag` under the policy's name, when a
 * parameter is unknown or named twice, or a value is of the wrong kind or out of bounds. */
bool spec_read_values(const char *policy, const char *text, const TytoParameter *rows, uint32_t count,
                      double *values, Diag *diag);

/* Writes `value` as the user would: a choice's name, else the number. */
void spec_write_value(Text *out, const TytoParameter *row, double value);

/* Writes the bounds of a row: `1 to 64`, or `lrr|gto`. */
void spec_write_bounds(Text *out, const TytoParameter *row);

/* Writes the policy with those values that are not initial ones: `two-level:group=2,inner=gto`. */
void spec_write(Text *out, const char *policy, const TytoParameter *rows, uint32_t count,
                const double *values);

/* What is wrong with rows of parameters (of a plug-in); NULL when nothing is. */
const char *spec_check_rows(const TytoParameter *rows, uint32_t count);

#endif
