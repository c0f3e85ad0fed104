/* The experiments that there are: those that come with Tyto, by their ids, and files of the user's.
 */
#ifndef TYTO_CLI_EXPERIMENT_CATALOGUE_H
#define TYTO_CLI_EXPERIMENT_CATALOGUE_H

#include <stdbool.h>

#include "cli/experiment/experiment.h"

/* Adds the ids of those that come with Tyto, in order. False after a message: there are none. */
bool catalogue_list(Words *ids);
/* An experiment by its id, or of a file of the user's. What it says to repeat is there. NULL after
 * messages. */
Experiment *catalogue_find(const char *id, bool allows_plugins);

#endif
