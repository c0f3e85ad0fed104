/* The workloads that come with Tyto, as lists. */
#ifndef TYTO_CLI_WORKLOADS_H
#define TYTO_CLI_WORKLOADS_H

#include "cli/engine/words.h"

/* Prints their names, a paragraph for each suite, for the help. */
void workloads_print_names(void);
void workloads_list(Words *words); /* adds the names */
/* The same of those that are from suites and papers: without Tyto's own, which measure a machine.
 */
void workloads_list_suites(Words *words);

#endif
