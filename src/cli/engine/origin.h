/* All that decided a run, as columns of CSV and keys of JSON: what the run itself says of it
 * (tyto_origin), and what it was asked for where there is no run yet. */
#ifndef TYTO_CLI_ENGINE_ORIGIN_H
#define TYTO_CLI_ENGINE_ORIGIN_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/engine/store.h"

/* A text for each name of tyto_origin, "" where there is none. What was asked for has precedence
 * over what the run says, so that the request distinguishes rows of one sweep. False after a
 * message. */
bool origin_read(Store *store, const RunKey *key, char ***texts);
void origin_free(char **texts); /* NULL is allowed */

/* A field of CSV, in quotes where it must be. */
void csv_write_field(const char *text, FILE *to);
/* The names, `before` in front of each, and the texts of a run; a comma after each. A NULL key:
 * nothing but commas. */
void origin_write_names(const char *before, FILE *to);
bool origin_write(Store *store, const RunKey *key, FILE *to);

#endif
