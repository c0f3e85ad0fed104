/* Lists of the workloads that come with Tyto. */
#ifndef TYTO_CLI_WORKLOADS_H
#define TYTO_CLI_WORKLOADS_H

#include "cli/engine/words.h"

/* Prints their names for the help, a paragraph for each suite. */
void workloads_print_names(void);
void workloads_list(Words *words); /* adds the names */
/* Adds the names of those from suites and papers: without Tyto's own, which measure a machine. */
void workloads_list_suites(Words *words);

#endif
