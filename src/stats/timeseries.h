/* Sampled time series: the growth of the counters in each interval of N SM cycles (--sample N).
 * Memory is bounded: when the series is full, neighbouring intervals are merged and N doubles. So
 * the same run always gives the same series. */
#ifndef TYTO_STATS_TIMESERIES_H
#define TYTO_STATS_TIMESERIES_H

#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"

enum { TIMESERIES_MAX_SAMPLES = 4096 }; /* of --sample; even: they are merged in pairs */

typedef struct TimeSeries TimeSeries;

/* Creates an empty series with `interval` > 0 SM cycles between samples and at most `most` samples
 * (an even number). Free it with timeseries_free. */
TimeSeries *timeseries_new(uint64_t interval, int most);
void timeseries_free(TimeSeries *series);

/* The SM cycle at which the next sample is due. */
uint64_t timeseries_due(const TimeSeries *series);

/* Ends an interval at `cycle` with the run's counters so far, which only grow. Called when a sample
 * is due, and once more at the end of the run; several intervals may have passed. */
void timeseries_sample(TimeSeries *series, uint64_t cycle, const Counters *counters);

int timeseries_count(const TimeSeries *series);
/* The present interval in SM cycles. */
uint64_t timeseries_interval(const TimeSeries *series);
/* The growth in interval i, and the cycle at which the interval ended. */
const Counters *timeseries_at(const TimeSeries *series, int i, uint64_t *end_cycle);

/* Adds {"interval": N, "end_cycle": [...], "<counter>": [...], ...} with the counters that grew. */
void timeseries_write_json(const TimeSeries *series, Json *json);

#endif
