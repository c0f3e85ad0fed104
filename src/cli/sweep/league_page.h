/* The page of a league, in Markdown: the ranking on each machine and on all, what each scheduler
 * changed, which one to pick for which programs, and the best one of each row. */
#ifndef TYTO_CLI_SWEEP_LEAGUE_PAGE_H
#define TYTO_CLI_SWEEP_LEAGUE_PAGE_H

#include <stdbool.h>

#include "cli/sweep/plan.h"

/* Writes the page of a sweep that has a baseline. If the file exists and has the lines
 * "<!-- league -->" and "<!-- end -->", only what is between them changes. False after a message.
 */
bool league_write_page(const Sweep *sweep, Store *store, const Words *command, const char *path);

#endif
