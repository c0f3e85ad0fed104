/* Everything that determines a run, as columns of CSV and keys of JSON: the values that the run
 * itself reports (tyto_origin), or the requested values if there is no run yet. */
#ifndef TYTO_CLI_ENGINE_ORIGIN_H
#define TYTO_CLI_ENGINE_ORIGIN_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/engine/store.h"

/* A text for each name of tyto_origin, "" if there is none. Requested values have precedence over
 * the run's, so that rows of one sweep differ as requested. False after a message. */
bool origin_read(Store *store, const RunKey *key, char ***texts);
void origin_free(char **texts); /* NULL is allowed */

/* Writes a field of CSV, in quotes if necessary. */
void csv_write_field(const char *text, FILE *to);
/* Write the names, each after `before`, and the texts of a run; a comma follows each. For a NULL
 * key they write only commas. */
void origin_write_names(const char *before, FILE *to);
bool origin_write(Store *store, const RunKey *key, FILE *to);

#endif
