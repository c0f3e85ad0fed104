/* A run read back from its JSON object: all but histograms, thread blocks and samples, which no
 * comparison wants. */
#ifndef TYTO_STATS_RUN_READ_H
#define TYTO_STATS_RUN_READ_H

#include "stats/run.h"

/* A new run, freed by run_free; NULL when the text is not a run's object. */
RunStats *run_read_json(const char *text);

#endif
