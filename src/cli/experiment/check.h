/* Whether what an experiment's file says fits together: names lead somewhere, nothing is there
 * twice, and every cell of its table can have a value. */
#ifndef TYTO_CLI_EXPERIMENT_CHECK_H
#define TYTO_CLI_EXPERIMENT_CHECK_H

#include "cli/experiment/experiment.h"

/* Tells the mistakes at their places in the file, which counts them. */
void check_experiment(FieldFile *file, const Experiment *experiment);

#endif
