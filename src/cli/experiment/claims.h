/* The page of claims of a group of experiments, such as docs/reproduction.md: each number that the
 * papers' texts publish, next to ours. */
#ifndef TYTO_CLI_EXPERIMENT_CLAIMS_H
#define TYTO_CLI_EXPERIMENT_CLAIMS_H

#include <stdbool.h>

#include "cli/experiment/table.h"

typedef struct Claims Claims;

Claims *claims_new(const char *size);
void claims_free(Claims *claims); /* NULL is allowed */
/* Adds an experiment's section, and counts its claims by verdict. All experiments of a page are of
 * one group, which decides what the page begins with. */
void claims_add(Claims *claims, const Table *table);
/* Writes the page: the counts, the headlines, the sections. False after a message. */
bool claims_write(Claims *claims, const char *path);

#endif
