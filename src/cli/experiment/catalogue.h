/* Finds experiments: those that come with Tyto, by their ids, and the user's own files. */
#ifndef TYTO_CLI_EXPERIMENT_CATALOGUE_H
#define TYTO_CLI_EXPERIMENT_CATALOGUE_H

#include <stdbool.h>

#include "cli/experiment/experiment.h"

/* Adds the ids of Tyto's experiments, in order. False after a message if there are none. */
bool catalogue_list(Words *ids);
/* Reads an experiment by its id, or from the user's file, and checks that the experiments it
 * repeats exist. NULL after messages. */
Experiment *catalogue_find(const char *id, bool allows_plugins);

#endif
