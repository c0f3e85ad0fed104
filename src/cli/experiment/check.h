/* Checks that an experiment's file is consistent: names are defined once, and every cell of its
 * table can have a value. */
#ifndef TYTO_CLI_EXPERIMENT_CHECK_H
#define TYTO_CLI_EXPERIMENT_CHECK_H

#include "cli/experiment/experiment.h"

/* Reports the mistakes with their places in the file, which counts them. */
void check_experiment(FieldFile *file, const Experiment *experiment);

#endif
