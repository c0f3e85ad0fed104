/* Results for people: one run as text, several runs side by side, speed-ups over many programs. */
#ifndef TYTO_STATS_REPORT_H
#define TYTO_STATS_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "stats/run.h"

/* One line on launch i of a run. */
void report_launch(const RunStats *run, int i, Text *out);

/* One run: for each kernel (when they are few) and, when there are several, for all of them, the
 * figures that matter most and bars of where the scheduler cycles went. With `has_all` each kernel,
 * and every counter and ratio. A functional run is one line. Of a profile's lines as much is shown
 * as a terminal of `columns` has room for; 0: all. */
void report_run(const RunStats *run, bool has_all, int columns, Text *out);

/* Runs of one program under several policies: a table (cycles, IPC, speed-up over the first, miss
 * rates, row hits, a bar of the scheduler cycles), its legend, and one sentence on why the fastest
 * is. */
void report_comparison(const RunStats *const *runs, int count, Text *out);

#endif
