/* Sampled time series: the counters' growth in each interval of N SM cycles (--sample N). Memory is
 * bounded: when the series is full, neighbouring intervals are joined and N doubles, so the same
 * run always gives the same series. */
#ifndef TYTO_STATS_TIMESERIES_H
#define TYTO_STATS_TIMESERIES_H

#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"

enum { TIMESERIES_MAX_SAMPLES = 4096 }; /* of --sample; even: they are joined in pairs */

typedef struct TimeSeries TimeSeries;

/* An empty series with `interval` > 0 SM cycles between samples, of at most `most` samples (even).
 * Freed by timeseries_free. */
TimeSeries *timeseries_new(uint64_t interval, int most);
void timeseries_free(TimeSeries *series);

/* The SM cycle at which the next sample is due. */
uint64_t timeseries_due(const TimeSeries *series);

/* Ends an interval at `cycle` with the run's counters so far (which only grow). Called when a
 * sample is due, or once more at the end of the run; several intervals may have passed. */
void timeseries_sample(TimeSeries *series, uint64_t cycle, const Counters *counters);

int timeseries_count(const TimeSeries *series);
/* Present interval, SM cycles. */
uint64_t timeseries_interval(const TimeSeries *series);
/* The growth in interval i, and the cycle at which the interval ended. */
const Counters *timeseries_at(const TimeSeries *series, int i, uint64_t *end_cycle);

/* Adds {"interval": N, "end_cycle": [...], "<counter>": [...], ...} with the counters that grew. */
void timeseries_write_json(const TimeSeries *series, Json *json);

#endif
