/* Results for people: a run as text, several runs compared, speed-ups over many programs. */
#ifndef TYTO_STATS_REPORT_H
#define TYTO_STATS_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "stats/run.h"

/* Adds one line about launch i of a run. */
void report_launch(const RunStats *run, int i, Text *out);

/* Adds the text of a run: the most important figures and bars of the scheduler cycles, for each
 * kernel if there are few, and for all together if there are several. `has_all`: each kernel, and
 * every counter and ratio. A functional run is one line. Of a profile's lines, as much is shown as
 * fits on a terminal with `columns` columns; 0: all. */
void report_run(const RunStats *run, bool has_all, int columns, Text *out);

/* Adds a comparison of runs of one program under several policies: a table (cycles, IPC, speed-up
 * over the first, miss rates, row hits, a bar of the scheduler cycles), its legend, and a sentence
 * about why the fastest is fastest. */
void report_comparison(const RunStats *const *runs, int count, Text *out);

#endif
