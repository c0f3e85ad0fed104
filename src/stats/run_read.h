/* Reads a run from its JSON object: everything except histograms, thread blocks and samples, which
 * comparisons do not use. */
#ifndef TYTO_STATS_RUN_READ_H
#define TYTO_STATS_RUN_READ_H

#include "stats/run.h"

/* Creates a run; free it with run_free. NULL if the text is not the object of a run. */
RunStats *run_read_json(const char *text);

#endif
